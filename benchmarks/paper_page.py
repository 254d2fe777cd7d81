"""The page docs/findings/paper.md: every table and figure of the paper beside ours, of the scores that are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from cube2net.evaluation.statistics import Estimate, estimates
from cube2net.model.comparison import Comparison, Configuration, Trial
from paper_claims import CELLS, CLUSTERED_BY, MODELS, ROWS, apart, get_configuration, values_of
from paper_learning import compare_corpora
from paper_scores import comparison_of
from paper_short import claims, in_short
from paper_verdicts import NBSP, mean_text, said

FINDINGS = Path(__file__).with_name("paper_findings.md")
MEASURES = ("F1", "JC", "NMI")
COLOURS = {"CubeRandom": "#888888", "CubeGreedy": "#b3541e", "cube2net, the default": "#1f6f8b"}

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
    "areas": "authors in four areas, volumes of the labels left out; the paper's larger set is 4,236 authors of DBLP",
    "areas2": "authors in four other areas, volumes of the labels left out",
    "areas-older": "the authors of `areas` on an older cube, where the learner to the letter and NoCube++ have run",
    "planted": "600 objects in four of twenty planted communities of four cells each, 40 % noise (m = 16)",
    "fourarea-large": "authors in four areas, a cube of conference × topic",
    "debian": "packages of Debian by section, a cube of maintainer × topic",
    "reviews": "authors by the systematic review to which a work of theirs belongs",
    "scifi00": "science fiction films of 2000–2009 and their users, the latest links hidden (m = 50)",
    "yelp": "businesses of a city and users, in tables like Yelp's without names, a fifth of links hidden (m = 50)",
    "drama10": "dramas of 2010–2019 and their users, the latest links hidden (m = 100)",
    "yelp-large": "the same tables, the city with the most businesses, a fifth of the links hidden (m = 100)",
}


def write_page(scores: Mapping[str, Any], path: Path) -> None:
    """Write the page, and draw Figure 3 beside it."""
    done = {name: comparison_of(kept) for name, kept in scores["tasks"].items()}
    path.write_text(page_of(scores, done), encoding="utf-8")
    if "labs" in done:
        draw_sweep(done["labs"], path.with_name("paper-cells.png"))
    print(f"wrote {path}")


def page_of(scores: Mapping[str, Any], done: Mapping[str, Comparison]) -> str:
    """Return the text of the page."""
    head = FINDINGS.read_text(encoding="utf-8").rstrip().replace("COMMAND", scores["command"])
    machines = {name: kept.get("machine", "") for name, kept in scores["tasks"].items()}
    head = head.replace("SHORT", in_short(done, scores["case"], machines))
    parts = [head, "\n".join(claims(done, scores["case"], machines)), "\n".join(data_used(scores))]
    clustered = {name: one for name, one in done.items() if one.task == "clustering"}
    parts += ["## Table II: effectiveness", *("\n".join(effectiveness(name, one)) for name, one in clustered.items())]
    parts += ["## Table III: efficiency", "\n".join(warning())]
    parts += ["\n".join(efficiency(name, one, machines[name])) for name, one in done.items()]
    if "labs" in done:
        parts.append("\n".join(sweep(done["labs"])))
    parts += ["\n".join(case_cells(scores["case"])), "\n".join(shown(scores["case"]))]
    parts += ["\n".join(told) for told in hidden_links(done)]
    parts.append("\n".join(letter(scores["case"], done)))
    parts.append("\n".join(bundled(done)))
    return "\n\n".join(block(text) for part in parts for text in part.split("\n\n") if text) + "\n"


def block(text: str) -> str:
    """Return a paragraph in lines of one length, code on one line; tables, lists, headings and pictures as they are."""
    if text.startswith(("|", "#", "!", "- ")):
        return text
    whole = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    return fill(whole, 118, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def data_used(scores: Mapping[str, Any]) -> Iterator[str]:
    """Yield Table I: the paper's data and ours."""
    yield "## Table I: the data"
    yield ""
    yield "The paper's: DBLP V10 with 3,079,007 papers, 534,407 authors and"
    yield "28,347,138 links; Yelp, round 11, with 174,567"
    yield "businesses, 1,326,101 customers and 5,261,669 links. Neither can be had here. Ours:"
    yield ""
    yield "| task | what | cube | query | runs, at most | ran on |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, kept in scores["tasks"].items():
        runs = len({seed for _, _, seed, *_ in kept["trials"]})
        where = kept.get("machine", "–")
        yield f"| `{name}` | {ABOUT[name]} | {kept['cube']} | {kept['query']} | {runs} | {where} |"
    if "areas-older" in scores["tasks"]:
        older = scores["tasks"]["areas-older"]["machine"]
        names = [f"`{name}`" for name, kept in scores["tasks"].items() if kept.get("machine") == older]
        yield ""
        yield f"The runs on {older} ({', '.join(names)}) are older than the others. The cubes of the Anthology"
        yield "have other cells since then: `areas` and `areas-older` are one query on two cubes, and `labs` and"
        yield "`labs2` have only been run on the older one."


def with_interval(found: Estimate | None, digits: int = 2) -> str:
    """Return a mean with its interval; with one run there is none."""
    if found is None:
        return "–"
    text = f"{found.mean:.3f}" + ("" if found.runs < 2 else f" [{found.low:.{digits}f}, {found.high:.{digits}f}]")
    return text.replace(" ", NBSP)


def runs_of(found: Iterable[Estimate | None]) -> str:
    """Return how many runs a row has, from the least to the most where its columns differ."""
    known = [each.runs if each else 0 for each in found]
    return str(known[0]) if len(set(known)) == 1 else f"{min(known)}–{max(known)}"


def effectiveness(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield Table II of a task: a table for every measure, the paper's numbers beside ours."""
    yield f"### On `{name}`"
    yield ""
    yield f"{ABOUT[name][0].upper()}{ABOUT[name][1:]}."
    theirs = THEIRS.get(name)
    for place, measure in enumerate(MEASURES):
        found = estimates(comparison, measure, models=list(CLUSTERED_BY))
        heads = [
            head
            for title in (MODELS[model] for model in CLUSTERED_BY)
            for head in ((title, "*paper*") if theirs else (title,))
        ]
        yield ""
        yield f"| {measure} | runs | {' | '.join(heads)} |"
        yield "| --- " * (2 + len(heads)) + "|"
        for title, method in ROWS.items():
            config = get_configuration(method, comparison)
            own = [found.get((config, model)) for model in CLUSTERED_BY]
            if not any(own) and not (theirs and title.partition(",")[0] in theirs):
                continue
            cells = []
            for number, each in enumerate(own):
                cells.append(with_interval(each))
                if theirs:
                    cells.append(f"*{theirs[title.partition(',')[0]][3 * place + number]:.3f}*")
            yield f"| {title} | {runs_of(own)} | {' | '.join(cells)} |"
        if (name, measure) == ("areas", "NMI"):
            yield ""
            yield "CubeRandom's *0.402* by LINE is as printed. Beside 0.04 to 0.07 in its column it looks like a"
            yield "misprint; as it stands, it is above the paper's own cube2net."


def warning() -> Iterator[str]:
    """Yield what is to be minded of seconds."""
    yield "Seconds are medians over the runs with warm kernels and one worker,"
    yield "in brackets the least and the most, on a machine with much other"
    yield "work: trust orders of magnitude, and compare no two tables of different machines. Links are"
    yield "counted once, and in brackets in both directions. How the paper counts is not said: its"
    yield "density of 4.77 % is 318 of 116·115 / 2 pairs, so each once; stored in both directions,"
    yield "its 318 links would be 159 pairs."
    yield "*Value* is the relevance of the chosen cells; rows that choose no cells have none."


def efficiency(name: str, comparison: Comparison, machine: str) -> Iterator[str]:
    """Yield Table III of a task, the paper's row below ours."""
    yield f"### On `{name}`, seconds and sizes"
    yield ""
    if machine:
        yield f"On {machine}."
        yield ""
    models = list(comparison.models)
    heads = [f"{MODELS[one]}, s" for one in models] + ["construction, s", "nodes", "links", "value"]
    yield f"| | {' | '.join(heads)} |"
    yield "| --- " * (5 + len(models)) + "|"
    for title, method in ROWS.items():
        found = [trials_of(comparison, get_configuration(method, comparison), model) for model in models]
        first = next((trials for trials in found if trials), [])
        if first:
            mined = [spent([trial.seconds["mine"] for trial in trials]) for trials in found]
            made = spent([trial.seconds["select"] for trial in first])
            nodes, count = (np.mean([getattr(trial, what) for trial in first]) for what in ("nodes", "links"))
            values = [trial.value for trial in first if trial.value is not None]
            value = f"{np.mean(values):.4f}" if values else ""
            both = f"{count:,.0f} ({2 * count:,.0f})"
            yield f"| {title} | {' | '.join(mined)} | {made} | {nodes:,.0f} | {both} | {value} |"
        theirs = THEIR_TIMES.get(name, {}).get(title.partition(",")[0])
        if theirs and method != "cube2net":
            yield f"| *paper's {title.partition(',')[0]}* | {' | '.join(f'*{one:,}*' for one in theirs)} | |"


def trials_of(comparison: Comparison, config: Configuration, model: str) -> list[Trial]:
    """Return the trials of a configuration by a model that have scores."""
    return [trial for trial in comparison.of(config, model) if trial.scores]


def spent(seconds: Sequence[float]) -> str:
    """Return the median of times, the least and the most, in a few digits."""

    def short(one: float) -> str:
        return f"{one:.{0 if one >= 10 else 1 if one >= 1 else 2 if one >= 0.01 else 3}f}"

    if not seconds:
        return "–"
    middle = short(float(np.median(seconds)))
    text = middle if len(seconds) < 2 else f"{middle} [{short(min(seconds))}, {short(max(seconds))}]"
    return text.replace(" ", NBSP)


def swept(comparison: Comparison) -> dict[tuple[str, str], dict[int, Estimate]]:
    """Return F1 by row and embedding, for every number of cells."""
    found = estimates(comparison, "F1", models=["deepwalk", "node2vec"])
    rows: dict[tuple[str, str], dict[int, Estimate]] = {}
    for (config, model), each in found.items():
        title = next((title for title, method in ROWS.items() if method == config.method), "")
        if config.method in CELLS and config.form == "objects" and config.n_cells:
            rows.setdefault((title, model), {})[config.n_cells] = each
    return {key: dict(sorted(each.items())) for key, each in rows.items() if len(each) > 1}


def sweep(comparison: Comparison) -> Iterator[str]:
    """Yield Figure 3: F1 by the number of cells."""
    rows = swept(comparison)
    counts = sorted({count for each in rows.values() for count in each})
    if not counts:
        return
    yield "## Figure 3: how many cells, on `labs`"
    yield ""
    yield "The paper shows its numbers only in a picture, and says of it:"
    yield "cube2net is best and most robust in all cases;"
    yield "greedy is close to it with few cells and gets worse with more; random"
    yield "cells keep getting worse. Ours, with bands"
    yield "of 95 % (runs and authors drawn anew; the dotted line is the query alone):"
    yield ""
    yield "![F1 by the number of cells, three ways to choose them, two embeddings](paper-cells.png)"
    yield ""
    titles = list(dict.fromkeys(title for title, _ in rows))
    yield f"| F1 | m | runs | {' | '.join(titles)} |"
    yield "| --- " * (len(titles) + 3) + "|"
    for model in dict.fromkeys(model for _, model in rows):
        for count in counts:
            cells = [rows.get((title, model), {}).get(count) for title in titles]
            yield f"| {MODELS[model]} | {count} | {runs_of(cells)} | {' | '.join(map(with_interval, cells))} |"
    settled = stops_at(comparison, counts)
    if settled:
        yield ""
        yield f"From m = {settled} on the networks of the default are the same: it takes at most m cells, stops where"
        yield f"no further one raises the relevance, and that is so by {settled}. The others take exactly m."


def stops_at(comparison: Comparison, counts: Sequence[int]) -> int | None:
    """Return the number of cells from which on the default's networks are the same in every run; None without one."""
    sizes = {}
    for count in counts:
        trials = comparison.of(get_configuration("cube2net", comparison, count), "deepwalk")
        sizes[count] = {(trial.seed, trial.nodes, trial.links, trial.value) for trial in trials}
    common = set.intersection(*({seed for seed, *_ in each} for each in sizes.values())) if sizes else set()
    last = {each for each in sizes[counts[-1]] if each[0] in common}
    same = [count for count in counts if last and {each for each in sizes[count] if each[0] in common} == last]
    return same[0] if len(same) > 1 else None


def draw_sweep(comparison: Comparison, path: Path) -> None:
    """Draw Figure 3 with its bands."""
    rows = swept(comparison)
    if not rows:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    alone = estimates(comparison, "F1", configs=[comparison.alone], models=["deepwalk", "node2vec"])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, model in zip(axes, ("deepwalk", "node2vec"), strict=True):
        for title, colour in COLOURS.items():
            points = rows.get((title, model), {})
            counts = list(points)
            axis.fill_between(
                counts,
                [one.low for one in points.values()],
                [one.high for one in points.values()],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
            axis.plot(counts, [one.mean for one in points.values()], "o-", color=colour, label=title, markersize=4)
        axis.axhline(alone[comparison.alone, model].mean, color="#444444", linestyle=":", linewidth=1)
        axis.set_xscale("log")
        axis.set_xticks(counts, [str(count) for count in counts])
        axis.minorticks_off()
        axis.set_xlabel("cells, m")
        axis.set_title(MODELS[model], fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("F1")
    axes[0].legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def case_cells(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield Table IV: the first cells that are chosen for the first query."""
    yield "## Table IV: the first cells chosen for the 116 authors"
    yield ""
    yield "The paper's, for its own 116 authors: 200X KDD *Recommender systems*,"
    yield "200X AAAI *Knowledge discovery*, 200X ICIC"
    yield "*Multi-task learning*, 200X ICML *Statistic models*, 200X EMNLP"
    yield "*Language models*. Ours (by luck a cell of 100"
    yield f"objects holds {100 * case['query'] / case['objects']:.1f} of the query):"
    yield ""
    yield f"| | rank | {' | '.join(case['dimensions'])} | objects | of the query |"
    yield "| --- " * (len(case["dimensions"]) + 4) + "|"
    for title, rank, labels, objects, inside in case["cells"]:
        yield f"| {title} | {rank} | {' | '.join(labels)} | {objects:,} | {inside} |"


def shown(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield the close-ups."""
    yield "## Figure 4: close-ups"
    yield ""
    yield "The network of the default's cells. Coloured: the query, by institution; white: objects of the cells."
    yield "The pair with the largest rise and the one with the largest fall of"
    yield "the cosine of its DeepWalk vectors: examples"
    yield "that were looked for, and no test."
    if case.get("twice"):
        yield f"In the query {', '.join(case['twice'])} stand twice, with different ids: the Anthology lists papers"
        yield "under a bare name and under an id, and whether both are one person it does not say."
    yield ""
    yield "![Two authors of one institution, drawn closer by others](paper-closer.png)"
    yield ""
    yield "![Two authors of different institutions, drawn apart by others](paper-apart.png)"


def hidden_links(done: Mapping[str, Comparison]) -> Iterator[Iterable[str]]:
    """Yield the paper's Figure 5 as sections."""
    found = {name: one for name, one in done.items() if one.task == "links"}
    if found:
        yield [
            "## Figure 5: hidden links, in place of Yelp's\n\nThe paper shows its numbers only in a picture. Ours are",
            "means over users of the precision (P), the recall (R) and their harmonic mean (F1) of the first K items",
            "that a model recommends to a user, by two models: *popularity* recommends what has the most links in the",
            "network, so that it hardly depends on how the network was made.",
        ]
    yield from (links(name, one) for name, one in found.items())


def links(name: str, comparison: Comparison) -> Iterator[str]:
    """Yield precision, recall and F1 of the first K items, a table for each."""
    yield f"### On `{name}`, hidden links"
    yield ""
    yield f"{ABOUT[name][0].upper()}{ABOUT[name][1:]}."
    configs = {title: get_configuration(method, comparison) for title, method in ROWS.items()}
    for kind in ("P", "R", "F1"):
        measures = [measure for measure in comparison.measures if measure.startswith(f"{kind}@")]
        found = {measure: estimates(comparison, measure) for measure in measures}
        columns = [(model, measure) for model in comparison.models for measure in measures]
        yield ""
        yield f"| {kind} | runs | {' | '.join(f'{MODELS[model]}, {measure}' for model, measure in columns)} |"
        yield "| --- " * (2 + len(columns)) + "|"
        for title, config in configs.items():
            own = [found[measure].get((config, model)) for model, measure in columns]
            if any(own):
                yield f"| {title} | {runs_of(own)} | {' | '.join(with_interval(each, 3) for each in own)} |"


def letter(case: Mapping[str, Any], done: Mapping[str, Comparison]) -> Iterator[str]:
    """Yield what the learner to the letter finds, and what its first actions can reach."""
    kept = case["letter"]
    told = ", ".join(f"{name} {length:.0f}" for name, length in kept["lengths"].items())
    yield "## The learner to the letter"
    yield ""
    found = {method: list(values_of(done["labs"], method).values()) for method in CELLS} if "labs" in done else {}
    if found.get("cube2net paper"):
        runs = len(found["cube2net paper"])
        yield f"For the 116 authors its plan has a relevance of {mean_text(found['cube2net paper'])}"
        yield f"({runs} run{'s' * (runs > 1)}), where"
        names = {"random": "random cells have", "greedy": "greedy has", "cube2net": "the default has"}
        yield ", ".join(f"{name} {mean_text(found[method])}" for method, name in names.items() if found[method]) + "."
    else:
        yield "It has no run of its own on this page; its relevance beside that of random cells stands in"
        yield "[Choosing cells](../explanation/choosing.md#does-reinforcement-learning-earn-its-place)."
    yield ""
    yield f"What it can reach: the mean length of the raw vectors is, by dimension, {told}. Of"
    yield f"{kept['actions']:,} first actions (means of ½, a sigmoid's"
    yield f"middle, and σ = {kept['spread']}) the nearest cell is one of"
    yield f"**{kept['reached']} of {kept['cells']:,}** cells, those with the"
    yield "shortest vectors. What is never taken is never rewarded, and a"
    yield "sigmoid cannot leave the unit cube. Each departure"
    yield "of the default from the letter, and its switch: [Choosing"
    yield "cells](../explanation/choosing.md#the-paper-to-the-letter)."


def bundled(done: Mapping[str, Comparison]) -> Iterator[str]:
    """Yield why the papers of the package give another result."""
    yield "## The papers of the package and all papers"
    yield ""
    yield "`make paper` without data runs on the papers of the package: the ACL Anthology since 2016,"
    yield "half of the authors and cells. What the default's network changes in F1 there, over the query alone"
    yield "(mean of DeepWalk and LINE; [What learning contributes](learning.md)), beside this page's"
    yield "(mean of all three):"
    yield ""
    yield "| query | papers of the package | all papers |"
    yield "| --- | --- | --- |"
    for task, gain in compare_corpora().items():
        pair = (get_configuration("cube2net", done[task]), done[task].alone) if task in done else None
        found = apart(done[task], [pair]) if pair else []
        yield f"| `{task}` | {gain} | {f'{said(found[0])}, {found[0].runs} runs' if found else '–'} |"
    yield ""
    yield "The corpora differ in what a query starts with: fewer years mean fewer links among its authors, so"
    yield "the query alone is clustered worse, and what is added has more to gain. Topics are found anew, so the cells"
    yield "are others too. An earlier run of three seeds on the package had +0.013 [−0.032, +0.057] for `labs`: three"
    yield "seeds were too few."
