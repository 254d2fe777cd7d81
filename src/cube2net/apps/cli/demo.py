"""The demo: build the bundled cube, make a network of 574 authors, and evaluate it."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from cube2net._util.files import check_folder, write_table
from cube2net._util.packages import EXTRAS, require
from cube2net._util.progress import Progress, silent
from cube2net.api.build import build
from cube2net.api.compare import WRITTEN, ComparisonOptions, compare
from cube2net.api.construct import construct
from cube2net.api.datasets import AREA_SIGS, load_areas, load_bundled, load_labs
from cube2net.api.explain import explain
from cube2net.api.query import read_query
from cube2net.apps.cli.output import say, show_table
from cube2net.apps.cli.query import show_network
from cube2net.evaluation.configurations import DEFAULT
from cube2net.model.comparison import Comparison, TaskName
from cube2net.model.cube import Cube
from cube2net.model.node_names import Node
from cube2net.model.query import Query
from cube2net.options import NetworkOptions

RUNS, FEW_RUNS = 10, 3
EMBEDDING, BASELINE = "deepwalk", "pagerank"
OUTPUT_NAMES = ("cube", "query.csv", "network.graphml", "network.png", "report", "compared")


def run(out: Path, *, seed: int = 0, progress: Progress = silent) -> None:
    """Build the bundled cube, make a network of the authors of four areas, evaluate it, and save everything."""
    require("the demo", *EXTRAS["report"])
    check_folder(out, OUTPUT_NAMES, "a demo's")
    check_folder(out / "report", WRITTEN, "a report's")
    corpus = load_bundled(without_sigs=AREA_SIGS)
    areas = load_areas()
    sizes = ", ".join(f"{area} {count}" for area, count in Counter(areas.values()).items())
    say(
        f"Data: {corpus.items.num_rows:,} papers since 2016 by {corpus.objects.num_rows:,} authors.",
        f"      {corpus.attribution}.",
        f"Query: {len(areas)} authors of four areas ({sizes}).",
        "      Their areas are those of the special interest groups whose volumes they publish in; the data excludes",
        "      these volumes.",
        "",
    )
    cube = build(corpus, out=out / "cube", seed=seed, progress=progress)
    write_table(out / "query.csv", ("object", "label"), areas.items())
    # The areas list ids, some of which are also the names of others.
    query = replace(read_query(cube, out / "query.csv"), shared=())
    say(
        f"{cube}",
        "A cell contains the authors of all papers with its labels; a link joins two authors of the same paper.",
        "",
    )
    network = construct(cube, query, seed=seed)
    show_network(network)
    nearest = Node("object", int(network.objects[len(query) + network.query_links[len(query) :].argmax()]))
    say("", f"Why is one of the neighbours included? {explain(network, nearest)}", "")

    comparisons = {task: _compare(cube, query, task, RUNS, seed, progress) for task in ("clustering", "hidden")}
    labels, links = (comparison.verdict().sentence for comparison in comparisons.values())
    _show_comparisons(comparisons)
    say(f"By labels: {labels}.", "", f"Without labels: {links}.", "", _describe_labs(cube, seed, progress), "")

    progress("writing the report", 0, None)
    network.save(out / "network.graphml")
    # Single-label cells have so many links that they would hide everything else in the picture.
    drawn_network = construct(cube, query, seed=seed, options=NetworkOptions(levels="full"))
    n_others = len(drawn_network.objects) - len(query)
    title = (
        f"{len(query)} authors, {len(drawn_network.cells)} full cells that contain them, and the {n_others} nearest "
        "authors"
    )
    drawn_network.plot(out / "network.png", title=title, seed=seed)
    tool = "cube2net" if shutil.which("cube2net") else sys.argv[0]
    compare_command = f"{tool} compare {out}/cube --query {out}/query.csv"
    network_options = f"--methods {DEFAULT.method} --objectives {DEFAULT.objective} --forms {DEFAULT.form}"
    command = (
        f"{compare_command} {network_options} --baselines {BASELINE} --models {EMBEDDING} --runs {RUNS} --out "
        f"{out}/report"
    )
    comparisons["clustering"].write_report(
        out / "report", cube, query, command=command, title="Demo: does the network help?"
    )
    say(
        f"Written to {out}/:",
        "  report/report.html  the comparison by labels with all tables and plots: open it in a browser",
        "  network.graphml     the network, for Gephi, Cytoscape or NetworkX",
        "  network.png         a picture with full cells only: the query coloured by area, cells as squares",
        "  cube/, query.csv    the cube and the query",
        "",
        "Next:",
        f"  make the network again        {tool} query {out}/cube --query {out}/query.csv",
        f"  change it in the browser      {tool} explore {out}/cube --query {out}/query.csv",
        "                                (needs the extra explore; `make explore` installs it)",
        f"  compare it with other methods {compare_command} --out {out}/compared",
    )


def _compare(cube: Cube, query: Query, task: TaskName, runs: int, seed: int, progress: Progress) -> Comparison:
    """Compare the default network with the query alone and a baseline of equal size."""
    return compare(
        cube,
        query,
        task,
        methods=[DEFAULT.method],
        models=[EMBEDDING],
        options=ComparisonOptions(objectives=[DEFAULT.objective], forms=[DEFAULT.form], baselines=[BASELINE]),
        runs=runs,
        seed=seed,
        progress=progress,
    )


def _show_comparisons(comparisons: dict[str, Comparison]) -> None:
    """Show the scores of every network with and without labels, and the gain over the query alone."""
    first = comparisons["clustering"]
    gains = {
        task: {difference.one: difference for difference in comparison.verdict().differences}
        for task, comparison in comparisons.items()
    }
    display_names = {first.alone.name: "the query alone", DEFAULT.name: "the default network"}
    rows = []
    for config in first.configurations:
        row = [f"{config.method}, same size" if config.like else display_names.get(config.name, config.title)]
        trials = first.of(config, EMBEDDING)
        row += [f"{np.mean([getattr(trial, size) for trial in trials]):,.0f}" for size in ("nodes", "links", "loose")]
        for task, comparison in comparisons.items():
            trials, gain = comparison.of(config, EMBEDDING), gains[task].get(config)
            row += [f"{np.mean([trial.scores[name] for trial in trials]):.3f}" for name in comparison.main_measures]
            row.append(f"{gain.low:+.3f} to {gain.high:+.3f}" if gain else "")
        rows.append(row)
    columns = ("network", "nodes", "links", "loose", "F1", "NMI", "F1 gain", "AUC", "AUC gain")
    show_table("does the network help?", columns, rows, right=columns[1:])
    say(
        "loose: authors of the query without links. F1, NMI: agreement of clusters of the query (DeepWalk and",
        "k-means) with the areas. AUC: how well links of the query are predicted after a fifth of the papers behind",
        "them has been removed; this needs no labels. gain: 95 % interval of the difference to the query alone,",
        f"corrected for two comparisons; significant if it excludes 0. Means of {RUNS} runs.",
        "",
    )


def _describe_labs(cube: Cube, seed: int, progress: Progress) -> str:
    """Compare the same networks for authors whose groups are already visible in the links."""
    labs = load_labs()
    query = cube.query(labs)
    comparison = _compare(cube, query, "clustering", FEW_RUNS, seed, progress)
    alone, default = (
        float(np.mean([trial.scores["F1"] for trial in comparison.of(config, EMBEDDING)]))
        for config in (comparison.alone, comparison.named(DEFAULT.name))
    )
    (gain,) = [difference for difference in comparison.verdict().differences if difference.one.name == DEFAULT.name]
    return (
        f"Little can be gained if links already separate the labels: for {len(labs)} authors of four institutions "
        f"the query alone has F1 {alone:.3f}, the default network {default:.3f}, difference "
        f"{'' if gain.is_significant else 'not '}significant [{gain.low:+.3f}, {gain.high:+.3f}] ({FEW_RUNS} runs)."
    )
