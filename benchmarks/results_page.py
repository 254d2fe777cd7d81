"""The page docs/findings/results.md: the default network beside the query alone, PageRank and hops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from cube2net.evaluation.configurations import DEFAULT
from cube2net.evaluation.statistics import ALL, Difference, differences, estimates
from cube2net.evaluation.verdict import judge_comparison
from cube2net.model.comparison import Comparison, Configuration

# Networks made as large as another have a row of their own only where they are among so many best.
PEERS = 3

FINDINGS = Path(__file__).with_name("results_findings.md")

ABOUT = {
    "labs": "116 authors from four institutions (`labs.csv`), in a cube of the ACL Anthology (decade × venue × topic).",
    "labs2": "116 authors from four other institutions, in the same cube.",
    "areas": "Authors in four areas (`areas.csv`), in a cube without the volumes from which the labels were derived.",
    "areas2": "Authors in four other areas, in a cube without the volumes of these areas.",
    "demo": "The query of `make demo`: 574 authors in four areas, in the cube of the bundled papers.",
    "fourarea": "116 authors in four areas, in a cube of conference × topic.",
    "fourarea-large": "1,941 authors in four areas, in the same cube.",
    "debian": "1,600 packages labelled by section, in a cube of maintainer × topic.",
    "reviews": "1,651 authors labelled by the review to which a work belongs, in a cube of concept × decade × topic.",
    "planted": "600 objects in four of twenty planted communities; 40 % of the items and of the links are noise.",
    "scifi00": "Half of the science fiction films 2000–2009 and 80 % of their users, without the latest 20 % of links.",
    "drama10": "Half of the dramas of 2010–2019 and 80 % of their users, without the latest 20 % of links.",
}
Done = Mapping[tuple[str, str], Comparison]


def write_page(done: Done, path: Path) -> None:
    """Write the page of all comparisons."""
    parts = [FINDINGS.read_text(encoding="utf-8").rstrip(), "\n".join(in_short(done))]
    parts += ["\n".join(section(name, judge, comparison)) for (name, judge), comparison in done.items()]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"wrote {path}")


def in_short(done: Done) -> Iterator[str]:
    """Yield one row per task and judge: the default network and its baselines."""
    yield "## The default network, task by task"
    yield ""
    yield (
        "Scores are means over runs, one for each embedding (for films, each recommender). Differences are between the "
        "default and the network named, over all models. Intervals are corrected for the three differences of their "
        "row, and differences in **bold** are significant. The sections below name a network by its method, objective, "
        "form and further options, such as `greedy · cover · hybrid` for the default."
    )
    yield ""
    columns = ("task", "judged by", "runs", "query alone", "default", "nodes", "PageRank as large", "hops as large")
    over = ("over the query alone", "over PageRank", "over hops")
    yield f"| {' | '.join((*columns, *over))} |"
    yield "| --- " * (len(columns) + len(over)) + "|"
    for (name, judge), comparison in done.items():
        own = next((config for config in comparison.configurations if config == DEFAULT), None)
        if own is None or not any(comparison.of(own, model) for model in comparison.models):
            continue
        peers = {config.method: config for config in comparison.peers(own)}
        baselines = [comparison.alone, *(peers[method] for method in ("pagerank", "hops") if method in peers)]
        found = {each.other: each for each in differences(comparison, [(own, baseline) for baseline in baselines])}
        runs = len(comparison.of(own, comparison.models[0]))
        cells = [means(comparison, config) for config in (comparison.alone, own)]
        cells += [f"{comparison.nodes(own):,.0f}", *(means(comparison, baseline) for baseline in baselines[1:])]
        cells += [said(found.get(baseline)) for baseline in baselines]
        measure = comparison.measures[0]
        by = f"{comparison.settings['pairs']:,} hidden links ({measure})" if judge == "hidden" else measure
        yield f"| `{name}` | {by} | {runs} | {' | '.join(cells)} |"


def means(comparison: Comparison, config: Configuration) -> str:
    """Return the mean score of a configuration by each deciding model."""
    found = [
        [trial.scores[comparison.measures[0]] for trial in comparison.of(config, model)]
        for model in comparison.deciding
    ]
    scores = [f"{float(np.mean(each)):.3f}" if each else "–" for each in found]
    return f"{' / '.join(scores)}"


def section(name: str, judge: str, comparison: Comparison) -> Iterator[str]:
    """Yield the verdict on a task and one row per network, best first; equal networks share a row."""
    judged = judge_comparison(comparison)
    peers = {
        (found.one, found.other.method): found
        for found in differences(
            comparison, [(each.one, peer) for each in judged.differences for peer in comparison.peers(each.one)]
        )
    }
    yield f"## {name}, by {'hidden links' if judge == 'hidden' else 'labels' if comparison.truth else 'later links'}"
    yield ""
    models = " and ".join(f"`{model}`" for model in comparison.deciding)
    yield f"{ABOUT[name]} The query is `{comparison.settings['query']}`, and scores are means over {models}."
    yield ""
    if judged.helps:
        best = title(judged.top.configuration)
        yield f"**The best network, `{best}`, is significantly better than the query alone.**"
    else:
        yield "**No network tested is significantly better than the query alone.**"
    yield ""
    shown = {"clustering": ("F1", "JC", "NMI"), "links": ("P@5", "R@5", "AUC"), "hidden": ("AUC",)}[comparison.task]
    means = {measure: estimates(comparison, measure, models=[ALL]) for measure in shown}
    columns = [*shown, "over the query alone", "over PageRank", "over hops", "nodes", "without links", "runs"]
    yield f"| network | {' | '.join(columns)} |"
    yield "| --- " * (len(columns) + 1) + "|"
    alone = {each.one: each for each in judged.differences}
    shown_rows = [config for place, config in enumerate(alone) if not config.like or place < PEERS]
    for config in [comparison.alone, *shown_rows]:
        trials = [trial for model in comparison.models for trial in comparison.of(config, model)]
        first = means[shown[0]][config, ALL]
        cells = [f"{first.mean:.3f} [{first.low:.3f}, {first.high:.3f}]"]
        cells += [f"{means[other][config, ALL].mean:.3f}" for other in shown[1:]]
        cells += [
            said(alone.get(config)),
            said(peers.get((config, "pagerank"))),
            said(peers.get((config, "hops"))),
        ]
        cells += [f"{comparison.nodes(config):,.0f}", f"{np.mean([trial.loose for trial in trials]):.0f}"]
        yield f"| {title(config)} | {' | '.join(cells)} | {first.runs} |"
    failed = [
        (config, comparison.reasons(config)) for config in comparison.configurations if comparison.reasons(config)
    ]
    if failed:
        yield ""
        yield from (f"- {config.name}: {'; '.join(reasons)}" for config, reasons in failed)


def title(config: Configuration) -> str:
    """Return the name of a configuration; baselines as large as another network share one."""
    return f"{config.method}, same size" if config.like else config.name


def said(found: Difference | None) -> str:
    """Return a difference with its interval, bold if it is significant."""
    if found is None:
        return ""
    text = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return f"**{text}**" if found.is_significant else text
