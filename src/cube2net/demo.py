"""The main job on data that ships with the package, from papers to a network around 116 authors."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np

from cube2net import pipeline
from cube2net.aside import check_folder, write_table
from cube2net.commands import show_network
from cube2net.interfaces import Progress
from cube2net.pipeline.comparing import WRITTEN
from cube2net.records import Comparison
from cube2net.terminal import say, show_table

CELLS, RUNS = 20, 3
EMBEDDING = "deepwalk"
FORMS = ("objects", "woven")
PICTURES = ("network.png", "woven.png")
PARTS = ("cube", "query.csv", "network.graphml", *PICTURES, "report", "compared")


def run(out: Path, *, seed: int = 0, progress: Progress | None = None) -> None:
    """Build the bundled cube, answer the query of the labelled authors, and write all of it to a folder."""
    check_folder(out, PARTS, "a demo's")
    check_folder(out / "report", WRITTEN, "a report's")
    corpus = pipeline.load_bundled()
    labels = pipeline.load_labs()
    say(
        f"Data: {corpus.items.num_rows:,} papers by {corpus.objects.num_rows:,} authors since 2016.",
        f"      {corpus.attribution}.",
        f"Query: {len(labels)} authors of {len(set(labels.values()))} institutions, the same number of each.",
        "",
    )
    cube = pipeline.build_cube(corpus, out=out / "cube", seed=seed, progress=progress)
    write_table(out / "query.csv", ("object", "label"), labels.items())
    query = pipeline.read_query(cube, out / "query.csv")
    say(f"{cube}", "A cell holds the authors of all papers with its labels; a link joins two authors of a paper.", "")

    network = pipeline.construct(cube, query, "greedy", CELLS, seed=seed)
    show_network(network)
    say(
        "gain: what the cell adds to jaccard, the authors in both the query and the chosen cells as a share of the",
        "authors in either. greedy takes exactly m cells, as in the paper; --best-prefix stops where gains end.",
        "",
    )
    if progress is not None:
        progress(f"comparing the methods: {RUNS} runs of each, a minute or two", 1, 1)
    for name in pipeline.METHODS:  # once untimed: the first use loads compiled code
        pipeline.construct(cube, query, name, 1, seed=seed)
    comparison = pipeline.compare(
        cube,
        query,
        objectives=("jaccard",),
        forms=FORMS,
        m=CELLS,
        miners=(EMBEDDING,),
        runs=RUNS,
        as_large=False,
        seed=seed,
        methods=list(pipeline.METHODS),
        progress=progress,
    )
    _show_compared(comparison)
    if progress is not None:
        progress("drawing", 0, 2)
    pipeline.write_network(network, out / "network.graphml")
    title = f"{len(query)} authors and the {len(network) - len(query)} others that {CELLS} cells bring"
    pipeline.draw_network(network, out / PICTURES[0], title=title, seed=seed)
    if progress is not None:
        progress("drawing", 1, 2)
    woven = pipeline.construct(cube, query, "greedy", CELLS, form="woven", seed=seed)
    title = f"{len(query)} authors, {len(woven.cells)} cells chosen for them and as many authors nearest by links"
    pipeline.draw_network(woven, out / PICTURES[1], title=title, seed=seed)
    tool = "cube2net" if shutil.which("cube2net") else sys.argv[0]
    command = (
        f"{tool} compare {out}/cube --query {out}/query.csv --methods {','.join(pipeline.METHODS)} "
        f"--objectives jaccard --forms {','.join(FORMS)} --embeddings {EMBEDDING} --runs {RUNS} --no-as-large "
        f"--out {out}/report"
    )
    pipeline.write_report(cube, query, comparison, out / "report", command=command, title="The demo: did it help?")
    say(
        "",
        f"Verdict: {pipeline.judge(comparison).sentence}.",
        "",
        f"Written to {out}/:",
        "  report/report.html  the verdict, all tables, plots and the network: open it in a browser",
        "  network.graphml     the network of the first table",
        "  network.png         the same as a picture: the query by label, the others white",
        "  woven.png           the query, the chosen cells as nodes, and the nearest authors",
        "  cube/, query.csv    the cube and the query; ask again with",
        f"                      {tool} query {out}/cube --query {out}/query.csv -m 10",
        "                      and compare all methods, forms and objectives (an hour; -h says how to ask for less)",
        f"                      {tool} compare {out}/cube --query {out}/query.csv --out {out}/compared",
    )


def _show_compared(comparison: Comparison) -> None:
    rows: list[tuple[str, ...]] = []
    for setup in comparison.setups:
        trials = comparison.of(setup, EMBEDDING)
        if not trials:
            rows.append((setup.title, *"–––––", *comparison.reasons(setup)[:1]))
            continue
        scores = [trial.scores["F1"] for trial in trials]
        worths = [trial.value for trial in trials if trial.value is not None]
        worth = f"{float(np.mean(worths)):.4f}" if worths else "–"
        making = [sum(part for name, part in trial.seconds.items() if name != "mine") for trial in trials]
        sizes = [f"{np.mean([getattr(trial, size) for trial in trials]):,.0f}" for size in ("nodes", "links", "loose")]
        ms = f"{float(np.mean(making)) * 1e3:,.0f}"
        rows.append((setup.title, *sizes, worth, f"{float(np.mean(scores)):.3f}", ms))
    columns = ("network", "nodes", "links", "loose", "jaccard", "F1", "ms")
    show_table("the methods at hand, for the same query", columns, rows, right=columns[1:])
    say(
        "loose: authors of the query without any link. jaccard is of chosen cells, so methods without cells have none;",
        "exact finds the most there can be, if 15 seconds suffice. F1: how well clusters of the query, found on the",
        f"network by DeepWalk and k-means, agree with the institutions. ms: to make it. All are means of {RUNS} runs.",
    )
