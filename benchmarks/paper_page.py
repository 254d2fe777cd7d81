"""The page docs/findings/paper.md: the paper's tables on our tasks, its numbers beside, case study and close-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.mine import EMBEDDINGS
from cube2net.records import Comparison, Cube, Query, Setup, Trial
from cube2net.referee.report.closeups import CloseUp, close_ups
from cube2net.select import Cube2net
from cube2net.select.learn.episodes import Space
from cube2net.select.learn.presets import PRESETS

FINDINGS = Path(__file__).with_name("paper_findings.md")
MINERS = {"deepwalk": "DeepWalk", "line": "LINE", "node2vec": "node2vec"}
MEASURES = ("F1", "JC", "NMI")
LOOKS, FIRST, RUNS = 3, 5, 10
CASES: dict[str, Any] = {"greedy": "greedy", "cube2net": Cube2net()}

# The paper's rows, and what each is called here.
ROWS = {
    "NoCube": "none",
    "NoCube+": "hops",
    "NoCube++": "hops 2",
    "MaxDisc": "maxdisc",
    "CubeRandom": "random",
    "CubeGreedy": "greedy",
    "cube2net, the default": "cube2net",
    "cube2net, to the letter": "cube2net paper",
}
CELLS = ("random", "greedy", "cube2net", "cube2net paper")

# Table II: F1, JC and NMI by DeepWalk, LINE and node2vec, of the smaller and the larger set of authors.
THEIRS = {
    "labs": {
        "NoCube": (0.7034, 0.5620, 0.6195, 0.4828, 0.4621, 0.5179, 0.4013, 0.3642, 0.3976),
        "NoCube+": (0.6559, 0.5263, 0.5812, 0.4359, 0.4178, 0.4763, 0.2928, 0.2814, 0.3058),
        "NoCube++": (0.6794, 0.5247, 0.5874, 0.4678, 0.4155, 0.4616, 0.3799, 0.3152, 0.3654),
        "MaxDisc": (0.7162, 0.5423, 0.6299, 0.4983, 0.4437, 0.5305, 0.4052, 0.3246, 0.4122),
        "CubeRandom": (0.5839, 0.5087, 0.5748, 0.4681, 0.4194, 0.5069, 0.3693, 0.3105, 0.3930),
        "CubeGreedy": (0.7445, 0.5988, 0.6432, 0.5492, 0.4850, 0.5343, 0.3981, 0.3369, 0.4086),
        "cube2net": (0.7628, 0.6295, 0.6913, 0.5720, 0.5312, 0.5834, 0.4196, 0.3784, 0.4517),
    },
    "areas": {
        "NoCube": (0.4336, 0.3044, 0.3708, 0.2541, 0.1759, 0.2195, 0.0809, 0.0426, 0.0439),
        "NoCube+": (0.5207, 0.3212, 0.5113, 0.3022, 0.1773, 0.3362, 0.1105, 0.0454, 0.0996),
        "NoCube++": (0.5515, 0.3261, 0.4984, 0.3989, 0.1725, 0.3465, 0.2174, 0.0436, 0.1086),
        "MaxDisc": (0.5859, 0.3282, 0.5619, 0.4249, 0.1950, 0.4071, 0.2120, 0.0484, 0.2278),
        "CubeRandom": (0.4018, 0.2972, 0.3416, 0.2158, 0.1543, 0.1766, 0.0620, 0.4021, 0.0376),
        "CubeGreedy": (0.6125, 0.3509, 0.5768, 0.4526, 0.1954, 0.4186, 0.2513, 0.0595, 0.2224),
        "cube2net": (0.6447, 0.3718, 0.6214, 0.4865, 0.2288, 0.4623, 0.2597, 0.0646, 0.2418),
    },
}
# Table III: seconds of DeepWalk, LINE, node2vec and of the construction, nodes and edges.
THEIR_TIMES = {
    "labs": {
        "NoCube": (1, 1, 1, 2, 116, 318),
        "NoCube+": (25, 58, 65, 5, 3853, 32882),
        "NoCube++": (732, 652, 904, 62, 55724, 540780),
        "MaxDisc": (1, 2, 3, 794, 140, 440),
        "CubeRandom": (56, 59, 62, 4, 2512, 24578),
        "CubeGreedy": (28, 43, 32, 3082, 1464, 14892),
        "cube2net": (7, 11, 10, 296, 526, 2953),
    },
    "areas": {
        "NoCube": (11, 74, 23, 3, 4236, 4678),
        "NoCube+": (270, 127, 2147, 84, 74459, 120803),
        "NoCube++": (2450, 1514, 8485, 1128, 434941, 1372892),
        "MaxDisc": (18, 78, 113, 3390, 4718, 7004),
        "CubeRandom": (104, 108, 430, 4, 21126, 31481),
        "CubeGreedy": (62, 96, 208, 4194, 10046, 16259),
        "cube2net": (23, 83, 92, 314, 6842, 12497),
    },
}
ABOUT = {
    "labs": "116 authors of four institutions; the paper's smaller set is 116 authors of four groups, of DBLP",
    "labs2": "116 authors of four other institutions",
    "areas": "1,820 authors in four areas, volumes of the labels left out; the paper's larger set is 4,236 of DBLP",
    "areas2": "1,428 authors in four other areas, volumes of the labels left out",
    "planted": "600 objects in four of twenty planted communities, 40 % noise (m = 16)",
    "scifi00": "films of 2000–2009 and their users, latest links hidden (m = 50), the paper's ILKID",
}


def write_page(done: Mapping[str, tuple[Cube, Query, Comparison]], case: tuple[Cube, Query], path: Path) -> None:
    """Write the page of all that is there."""
    parts = [FINDINGS.read_text(encoding="utf-8").rstrip(), "\n".join(missing(done))]
    for name, (_, _, comparison) in done.items():
        lines = effectiveness if comparison.task == "clustering" else links
        parts += ["\n".join(lines(name, comparison)), "\n".join(efficiency(name, comparison))]
    if "labs" in done:
        parts.append("\n".join(sweep(done["labs"][2])))
    parts += ["\n".join(letter(*case)), "\n".join(cells(*case)), "\n".join(shown(path.parent))]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    print(f"wrote {path}")


def setup_of(method: str, comparison: Comparison) -> Setup:
    """Return the setup of a method in the tables; the sweep has others."""
    if method not in CELLS:
        return Setup(method=method)
    known = [setup.m for setup in comparison.setups if setup.method == method]
    return Setup(method=method, objective="jaccard", form="objects", m=20 if 20 in known or not known else known[0])


def missing(done: Mapping[str, tuple[Cube, Query, Comparison]]) -> Iterator[str]:
    """Yield what the tables below do not have yet."""
    lacks = []
    for name in ABOUT:
        if name not in done:
            lacks.append(f"all of `{name}`")
            continue
        comparison = done[name][2]
        own = {
            title: len(comparison.of(setup_of(method, comparison), comparison.miners[-1]))
            for title, method in ROWS.items()
        }
        none = [title for title, runs in own.items() if not runs]
        few = [
            f"{title} {runs}" for title, runs in own.items() if 0 < runs < RUNS and title not in ("NoCube+", "NoCube++")
        ]
        if none:
            lacks.append(f"on `{name}` {', '.join(none)}")
        if few:
            lacks.append(f"on `{name}` runs up to {RUNS} ({', '.join(few)})")
    if lacks:
        yield f"**Not made yet** (the command goes on where it stopped): {'; '.join(lacks)}."


def scores(trials: Sequence[Trial], measure: str) -> str:
    return f"{np.mean([trial.scores[measure] for trial in trials]):.3f}" if trials else "–"


def effectiveness(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield Table II: the means of three measures by three embeddings, and the paper's below."""
    yield f"## Table II on `{name}`"
    yield ""
    yield f"{ABOUT[name]}. Means over the runs; D, L, n are DeepWalk, LINE and node2vec."
    yield ""
    yield "| | runs | " + " | ".join(f"{measure} {short}" for measure in MEASURES for short in "DLn") + " |"
    yield "| --- " * 11 + "|"
    for title, method in ROWS.items():
        found = [comparison.of(setup_of(method, comparison), miner) for miner in MINERS]
        found = [[trial for trial in trials if trial.scores] for trials in found]
        row = [scores(trials, measure) for measure in MEASURES for trials in found]
        yield f"| {title} | {max(map(len, found))} | {' | '.join(row)} |"
        theirs = THEIRS.get(name, {}).get(title.partition(",")[0])
        if theirs and method != "cube2net":
            yield f"| *the paper's {title.partition(',')[0]}* | | {' | '.join(f'*{one:.3f}*' for one in theirs)} |"


def links(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield the paper's Figure 5 as a table: precision and recall of hidden links."""
    measures = comparison.measures[:4]
    yield f"## Hidden links: `{name}`"
    yield ""
    yield f"{ABOUT[name]}. Means over the runs; the paper shows its numbers only in a picture."
    yield ""
    yield "| | runs | " + " | ".join(f"{miner}: {one}" for miner in comparison.miners for one in measures) + " |"
    yield "| --- " * (2 + len(measures) * len(comparison.miners)) + "|"
    for title, method in ROWS.items():
        found = [comparison.of(setup_of(method, comparison), miner) for miner in comparison.miners]
        found = [[trial for trial in trials if trial.scores] for trials in found]
        row = [scores(trials, measure) for trials in found for measure in measures]
        yield f"| {title} | {max(map(len, found))} | {' | '.join(row)} |"


def efficiency(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield Table III: seconds with warm kernels, medians over the runs, and sizes; the paper's below."""
    yield f"### Table III on `{name}`"
    yield ""
    miners = list(comparison.miners)
    heads = [
        *(f"{MINERS.get(one, one)}, s" for one in miners),
        "construction, s",
        "nodes",
        "links, and by both ends",
        "value",
    ]
    yield f"| | {' | '.join(heads)} |"
    yield "| --- " * (5 + len(miners)) + "|"
    for title, method in ROWS.items():
        found = [comparison.of(setup_of(method, comparison), miner) for miner in miners]
        found = [[trial for trial in trials if trial.scores] for trials in found]
        first = next((trials for trials in found if trials), [])
        if not first:
            yield f"| {title} | {' | '.join('–' for _ in range(len(miners) + 4))} |"
            continue
        mined = [seconds([trial.seconds["mine"] for trial in trials]) for trials in found]
        made = seconds([sum(spent for part, spent in trial.seconds.items() if part != "mine") for trial in first])
        nodes, count = (np.mean([getattr(trial, what) for trial in first]) for what in ("nodes", "links"))
        values = [trial.value for trial in first if trial.value is not None]
        value = f"{np.mean(values):.4f}" if values else ""
        yield f"| {title} | {' | '.join(mined)} | {made} | {nodes:,.0f} | {count:,.0f}, {2 * count:,.0f} | {value} |"
        theirs = THEIR_TIMES.get(name, {}).get(title.partition(",")[0])
        if theirs and method != "cube2net":
            yield f"| *the paper's {title.partition(',')[0]}* | {' | '.join(f'*{one:,}*' for one in theirs)} | |"


def seconds(spent: Sequence[float]) -> str:
    """Return the median of times in a few digits."""
    if not spent:
        return "–"
    middle = float(np.median(spent))
    return f"{middle:.0f}" if middle >= 10 else f"{middle:.1f}" if middle >= 1 else f"{middle:.3f}"


def sweep(comparison: Comparison) -> Iterator[str]:
    """Yield F1 by the number of cells, the paper's Figure 3."""
    swept = [setup for setup in comparison.setups if setup.method in CELLS and setup.form == "objects"]
    counts = sorted({setup.m for setup in swept})
    yield "## Figure 3: how many cells, on `labs`"
    yield ""
    yield "F1, means over the runs in brackets. The paper shows its numbers only in a picture."
    yield ""
    yield f"| | embedding | {' | '.join(f'm = {count}' for count in counts)} |"
    yield "| --- " * (len(counts) + 2) + "|"
    for title, method in ROWS.items():
        for miner in ("deepwalk", "node2vec") if method in CELLS else ():
            row = []
            for count in counts:
                setup = Setup(method=method, objective="jaccard", form="objects", m=count)
                trials = [trial for trial in comparison.of(setup, miner) if trial.scores]
                row.append(f"{scores(trials, 'F1')} ({len(trials)})" if trials else "–")
            yield f"| {title} | {MINERS[miner]} | {' | '.join(row)} |"


def letter(cube: Cube, query: Query) -> Iterator[str]:
    """Yield what the paper's first actions can reach."""
    values = c2n.pipeline.embed_cells(cube, "words", scale="none").values.astype(np.float64)
    rng = np.random.default_rng(0)
    actions = rng.normal(0.5, PRESETS["paper"].spread, size=(2_000, values.shape[1])).astype(np.float32)
    nearest = ((values**2).sum(1) - 2 * actions @ values.T).argmin(1)
    space = Space.of([values], directions=None)
    steps, points = space.on_grid(actions).astype(np.int64), space.points.astype(np.int64)
    agree = np.mean(((points**2).sum(1) - 2 * steps @ points.T).argmin(1) == nearest)
    width = values.shape[1] // len(cube.dimensions)
    bounds = range(0, values.shape[1] + 1, width)
    lengths = [float(np.linalg.norm(values[:, first:last], axis=1).mean()) for first, last in pairwise(bounds)]
    told = ", ".join(f"{dimension.name} {one:.0f}" for dimension, one in zip(cube.dimensions, lengths, strict=True))
    taken = f"{len(np.unique(nearest))} of {len(values):,}"
    yield "## Why the letter does not learn"
    yield ""
    yield f"Mean length of the raw vectors, by dimension: {told}. Of 2,000 first actions (means of ½, a sigmoid's"
    yield f"middle, and σ = {PRESETS['paper'].spread}) the nearest cell is one of **{taken}** cells, those with the"
    yield "shortest vectors. What is never taken is never rewarded, and a sigmoid cannot leave the unit cube."
    yield f"(On the grid that our distances use, {100 * agree:.1f} % of these actions have the same nearest cell.)"


def cells(cube: Cube, query: Query) -> Iterator[str]:
    """Yield the first cells that are chosen for labs, as in the paper's Table IV."""
    yield "## Table IV: cells chosen for the 116 authors"
    yield ""
    names = [dimension.name for dimension in cube.dimensions]
    yield f"| method | rank | {' | '.join(names)} | objects | of the query |"
    yield "| --- " * (len(names) + 4) + "|"
    for title, method in CASES.items():
        network = c2n.construct(cube, query, method, form="objects")
        for rank, cell in enumerate(network.selection.cells[:FIRST].tolist(), 1):
            members = cube.cells.members[cell]
            inside = len(np.intersect1d(members, query.objects))
            yield f"| {title} | {rank} | {' | '.join(cube.cell(cell))} | {len(members):,} | {inside} |"


def shown(folder: Path) -> Iterator[str]:
    """Yield the close-ups that are there as pictures."""
    found = sorted(folder.glob("paper-*.png"))
    if found:
        yield "## Close-ups"
        yield ""
        yield "The network of the default's cells. Coloured: the query, by institution; white: objects of the cells."
        yield "The pair with the largest rise and the one with the largest fall of the cosine of its DeepWalk vectors."
        for path in found:
            yield f"\n![{path.stem.removeprefix('paper-')}]({path.name})"


def pictures(cube: Cube, query: Query, folder: Path) -> None:
    """Draw the pair that cube2net's network draws closer, and the pair that it draws apart."""
    network, alone = (c2n.construct(cube, query, method, form="objects") for method in (Cube2net(), "none"))
    embedding = EMBEDDINGS["deepwalk"]()
    before, after = (
        np.stack([embedding.embed(one, seed=seed)[: len(query)] for seed in range(LOOKS)]) for one in (alone, network)
    )
    for found in close_ups(network, before, after, query.labels, most=18):
        print(found, draw(found, folder / f"paper-{found.kind}.png"))


def draw(found: CloseUp, path: Path) -> Path:
    """Draw the pair, what both are linked to between them, and what one is linked to outside."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    network, (one, other) = found.network, found.pair
    names, labels = (network.nodes[column].to_pylist() for column in ("name", "label"))
    linked = {frozenset(ends) for ends in zip(network.source.tolist(), network.target.tolist(), strict=True)}
    shared = [node for node in found.nodes[2:] if node in found.shared]
    sides = [
        [node for node in found.nodes[2:] if node not in found.shared and frozenset((node, end)) in linked]
        for end in found.pair
    ]
    places = {one: (-1.0, 0.0), other: (1.0, 0.0)}
    for nodes, x in ((shared, 0.0), (sides[0], -2.2), (sides[1], 2.2)):
        for number, node in enumerate(nodes):
            places[node] = (x, 0.5 * (number - (len(nodes) - 1) / 2) + (0.25 if x == 0.0 and len(nodes) % 2 else 0.0))
    known = sorted({label for label in labels[: len(network.query)] if label})
    colours = dict(zip(known, ("#1f6f8b", "#b3541e", "#2e7d32", "#7b3fa0"), strict=False))
    figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for a, b in (sorted(pair) for pair in linked if pair <= places.keys() and len(pair) == 2):
        inside = b < len(network.query)
        axis.plot(*zip(places[a], places[b], strict=True), color="#888888", linewidth=2.4 if inside else 0.8, zorder=1)
    for node, (x, y) in places.items():
        fill = colours.get(labels[node], "white") if node < len(network.query) else "white"
        axis.scatter([x], [y], s=150 if node in found.pair else 60, color=fill, edgecolor="#444444", zorder=2)
        side = {True: "left", False: "right"}[x > 0] if abs(x) > 1.5 else "center"
        away = (0.12 if x > 0 else -0.12) if abs(x) > 1.5 else 0.0
        weight = "bold" if node in found.pair else "normal"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        up = 0.0 if away else 0.17
        axis.text(x + away, y + up, names[node], ha=side, va="center", fontsize=8, weight=weight, bbox=behind)
    said = {"closer": "Drawn closer: same institution", "apart": "Drawn apart: different institutions"}[found.kind]
    axis.set_title(f"{said}; cosine {found.before:+.2f} → {found.after:+.2f}", fontsize=10)
    for label, colour in colours.items():
        axis.scatter([], [], color=colour, label=label)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    axis.set_xlim(-4.0, 4.0)
    axis.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
