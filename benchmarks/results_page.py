"""The page docs/results.md, made from comparisons: what helped, what did not, and the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from cube2net.records import Comparison, Setup
from cube2net.referee.statistics import ALL, Difference, differences, estimates
from cube2net.referee.verdict import verdict

# Networks made as large as another have a row of their own only where they are among so many best.
PEERS = 3

FINDINGS = Path(__file__).with_name("results_findings.md")

ABOUT = {
    "labs": "116 authors of four institutions (`labs.csv`), cube of the whole ACL Anthology: decade × venue × topic.",
    "labs2": "116 authors of four other institutions, the same cube; seen before `woven` was settled (see above).",
    "areas": "Authors in four areas (`areas.csv`), cube without the volumes that the labels come from.",
    "areas2": "Authors in four other areas, cube without their volumes; seen before `woven` was settled (see above).",
    "planted": "600 objects in four of twenty planted communities; 40 % of the items and of the links are noise.",
    "scifi00": "Films: half of the science fiction of 2000–2009 and 80 % of its users, latest 20 % of links hidden.",
    "drama10": "Films: half of the dramas of 2010–2019 and 80 % of their users, latest 20 % of links hidden.",
}

# The paper's rows: our setup for each, and its F1 by DeepWalk, LINE and node2vec on the smaller and the larger set.
PAPER = {
    "NoCube": (Setup(method="none"), (0.7034, 0.5620, 0.6195), (0.4336, 0.3044, 0.3708)),
    "NoCube+": (Setup(method="hops"), (0.6559, 0.5263, 0.5812), (0.5207, 0.3212, 0.5113)),
    "NoCube++": (Setup(method="hops 2"), (0.6794, 0.5247, 0.5874), (0.5515, 0.3261, 0.4984)),
    "MaxDisc": (Setup(method="maxdisc"), (0.7162, 0.5423, 0.6299), (0.5859, 0.3282, 0.5619)),
    **{
        name: (Setup(method=method, objective="jaccard", form="objects", m=20), small, large)
        for name, method, small, large in (
            ("CubeRandom", "random", (0.5839, 0.5087, 0.5748), (0.4018, 0.2972, 0.3416)),
            ("CubeGreedy", "greedy", (0.7445, 0.5988, 0.6432), (0.6125, 0.3509, 0.5768)),
            ("cube2net", "cube2net", (0.7628, 0.6295, 0.6913), (0.6447, 0.3718, 0.6214)),
        )
    },
}
SWEPT = ("random", "greedy", "cube2net")
EMBEDDINGS = ("deepwalk", "line", "node2vec")


def write_page(done: Mapping[str, Comparison], path: Path) -> None:
    """Write the page of all comparisons that are there."""
    parts = [FINDINGS.read_text(encoding="utf-8").rstrip()]
    parts += [
        "\n".join(paper_table(name, done[name], place)) for place, name in ((1, "labs"), (2, "areas")) if name in done
    ]
    parts.append("\n".join(learners(done)))
    parts += ["\n".join(sweep("labs", done["labs"]))] if "labs" in done else []
    parts += ["\n".join(section(name, comparison)) for name, comparison in done.items()]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"wrote {path}")


def paper_table(name: str, comparison: Comparison, place: int) -> Iterator[str]:
    """Yield the paper's methods with our F1, and beside it the paper's, measured on other data."""
    size = "smaller" if place == 1 else "larger"
    yield f"## The paper's table II beside `{name}`"
    yield ""
    yield f"F1, mean over the runs. The paper's columns are its own, for its {size} set of DBLP authors: other data."
    yield ""
    yield "| | DeepWalk | LINE | node2vec | runs | nodes | paper: DeepWalk | LINE | node2vec |"
    yield "| --- " * 9 + "|"
    for title, row in PAPER.items():
        setup = row[0]
        found = [comparison.of(setup, miner) for miner in EMBEDDINGS]
        means = [f"{np.mean([trial.scores['F1'] for trial in trials]):.3f}" if trials else "–" for trials in found]
        first = next((trials for trials in found if trials), [])
        nodes = f"{np.mean([trial.nodes for trial in first]):,.0f}" if first else "–"
        theirs = " | ".join(f"{score:.3f}" for score in row[place])
        yield f"| {title} (`{setup.title}`) | {' | '.join(means)} | {len(first)} | {nodes} | {theirs} |"


def learners(done: Mapping[str, Comparison]) -> Iterator[str]:
    """Yield what the paper's learner adds to greedy, for the same objective and form, task by task."""
    yield "## cube2net over greedy"
    yield ""
    yield "The same objective, form and number of cells; corrected within each task."
    yield ""
    yield "| task | objective · form | over greedy | runs |"
    yield "| --- " * 4 + "|"
    for name, comparison in done.items():
        pairs = [(setup, replace(setup, method="greedy")) for setup in comparison.setups if setup.method == "cube2net"]
        for found in differences(comparison, [pair for pair in pairs if pair[1] in comparison.setups]):
            yield f"| {name} | {found.one.objective} · {found.one.form} | {said(found)} | {found.runs} |"


def sweep(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield F1 by the number of cells, as in the paper's Figure 3: its three methods, DeepWalk and node2vec."""
    lines = [setup for setup in comparison.setups if setup.objective == "jaccard" and setup.method in SWEPT]
    counts = sorted({setup.m for setup in lines})
    yield f"## How many cells, on `{name}`"
    yield ""
    yield "F1, means over the runs that all numbers of cells have (the paper's Figure 3; objective jaccard)."
    yield ""
    yield f"| method · form | embedding | runs | {' | '.join(f'm = {count}' for count in counts)} |"
    yield "| --- " * (len(counts) + 3) + "|"
    for method, form in dict.fromkeys((setup.method, setup.form) for setup in lines):
        for miner in ("deepwalk", "node2vec"):
            own = {
                setup.m: comparison.of(setup, miner) for setup in lines if (setup.method, setup.form) == (method, form)
            }
            runs = min(len(own.get(count, ())) for count in counts)
            if runs:
                means = [np.mean([trial.scores["F1"] for trial in own[count][:runs]]) for count in counts]
                yield f"| {method} · {form} | {miner} | {runs} | {' | '.join(f'{mean:.3f}' for mean in means)} |"


def section(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield the verdict on a task and a row for every network, best first; equal networks have one row."""
    judged = verdict(comparison)
    peers = {
        (found.one, found.other.method): found
        for found in differences(
            comparison, [(each.one, peer) for each in judged.differences for peer in comparison.peers(each.one)]
        )
    }
    yield f"## {name}"
    yield ""
    yield f"{ABOUT[name]} {comparison.settings['query']}."
    yield ""
    yield f"**{judged.sentence}.**"
    yield ""
    shown = {"clustering": ("F1", "JC", "NMI"), "links": ("P@5", "R@5", "AUC"), "hidden": ("AUC",)}[comparison.task]
    means = {measure: estimates(comparison, measure, miners=[ALL]) for measure in shown}
    columns = [*shown, "over the query alone", "over PageRank as large", "over hops as large", "nodes", "loose", "runs"]
    yield f"| network | {' | '.join(columns)} |"
    yield "| --- " * (len(columns) + 1) + "|"
    alone = {each.one: each for each in judged.differences}
    shown_rows = [setup for place, setup in enumerate(alone) if not setup.like or place < PEERS]
    for setup in [comparison.alone, *shown_rows]:
        trials = [trial for miner in comparison.miners for trial in comparison.of(setup, miner)]
        first = means[shown[0]][setup, ALL]
        cells = [f"{first.mean:.3f} [{first.low:.3f}, {first.high:.3f}]"]
        cells += [f"{means[other][setup, ALL].mean:.3f}" for other in shown[1:]]
        cells += [said(alone.get(setup)), said(peers.get((setup, "pagerank"))), said(peers.get((setup, "hops")))]
        cells += [f"{comparison.nodes(setup):,.0f}", f"{np.mean([trial.loose for trial in trials]):.0f}"]
        title = f"{setup.method}, that large" if setup.like else setup.name
        yield f"| {title} | {' | '.join(cells)} | {first.runs} |"
    failed = [(setup, comparison.reasons(setup)) for setup in comparison.setups if comparison.reasons(setup)]
    if failed:
        yield ""
        yield from (f"- {setup.name}: {'; '.join(reasons)}" for setup, reasons in failed)


def said(found: Difference | None) -> str:
    """Return a difference with its interval, bold where it is sure."""
    if found is None:
        return ""
    text = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return f"**{text}**" if found.sure else text
