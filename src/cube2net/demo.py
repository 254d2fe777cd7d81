"""The main job on data that ships with the package, from papers to a network around 116 authors."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np

from cube2net import pipeline
from cube2net.aside import write_table
from cube2net.commands import show_network
from cube2net.interfaces import Progress
from cube2net.parameters import configured
from cube2net.records import Network
from cube2net.terminal import say, show_table

CELLS = 20
AS_CELLS = "greedy, cells as nodes"
PROOF = configured(pipeline.METHODS["exact"], {"seconds": "15"}, "method 'exact'")


def run(out: Path, *, seed: int = 0, progress: Progress | None = None) -> None:
    """Build the bundled cube, answer the query of the labelled authors, and write all of it to a folder."""
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
        progress("comparing methods", 0, None)
    methods = {name: PROOF if name == "exact" else name for name in pipeline.METHODS}
    pipeline.compare_methods(cube, query, methods, m=1, seed=seed)  # once untimed: the first use loads compiled code
    compared = pipeline.compare_methods(cube, query, methods, m=CELLS, seed=seed)
    as_cells = pipeline.construct(cube, query, "greedy", CELLS, form="cells", seed=seed)
    compared.append(pipeline.Compared(AS_CELLS, as_cells))
    _show_compared(compared)

    if progress is not None:
        progress("drawing", 0, 2)
    pipeline.write_network(network, out / "network.graphml")
    title = f"{len(query)} authors and the {len(network) - len(query)} others that {CELLS} cells bring"
    pipeline.draw_network(network, out / "network.png", title=title, seed=seed)
    if progress is not None:
        progress("drawing", 1, 2)
    title = f"{len(query)} authors and the {len(as_cells.cells)} cells chosen for them"
    pipeline.draw_network(as_cells, out / "cells.png", title=title, seed=seed)
    tool = "cube2net" if shutil.which("cube2net") else sys.argv[0]
    say(
        "",
        *_verdict(compared),
        "",
        f"Written to {out}/:",
        "  cube/            the cube; ask it again with",
        f"                   {tool} query {out}/cube --query {out}/query.csv -m 10",
        "  query.csv        the query: object,label",
        "  network.graphml  the network of the first table",
        "  network.png      the same as a picture: the query by label, the others white",
        "  cells.png        the query with the chosen cells as nodes",
    )


def loose_objects(network: Network) -> int:
    """Return how many objects of the query have no link in the network."""
    linked = np.zeros(len(network), dtype=bool)
    linked[network.source] = linked[network.target] = True
    return int((~linked[: len(network.query)]).sum())


def close_pairs(network: Network) -> tuple[int, int]:
    """Return how many pairs of query objects are at most two steps apart, with the same label and in all."""
    asked = len(network.query)
    steps = pipeline.to_scipy(network)
    steps.data[:] = 1
    near = (steps[:asked] @ steps[:, :asked] + steps[:asked, :asked]).toarray() > 0
    labels = np.array(network.query.labels or [""] * asked)
    same = labels[:, None] == labels[None, :]
    above = np.triu(np.ones((asked, asked), dtype=bool), k=1)
    return int((near & same & above).sum()), int((near & above).sum())


def _show_compared(compared: list[pipeline.Compared]) -> None:
    rows: list[tuple[str, ...]] = []
    for entry in compared:
        if entry.network is None:
            rows.append((entry.method, *"–––––––", entry.reason))
            continue
        network = entry.network
        same, pairs = close_pairs(network)
        worth = f"{network.selection.value:.4f}" if len(network.selection.cells) else "–"
        ms = f"{sum(network.seconds.values()) * 1e3:,.0f}"
        nodes, links = f"{len(network):,}", f"{len(network.source):,}"
        share = f"{same / pairs:.0%}" if pairs else "–"
        bound = network.selection.bound
        said = "" if bound is None else "proven best" if network.selection.proven else f"at most {bound:.4f}"
        rows.append((entry.method, nodes, links, str(loose_objects(network)), f"{pairs:,}", share, worth, ms, said))
    columns = ("method", "nodes", "links", "loose", "close pairs", "same label", "jaccard", "ms", "")
    show_table("the methods at hand, for the same query", columns, rows, right=columns[1:-1])
    say(
        "loose: authors of the query without any link. close pairs: pairs of them at most two steps apart, and how",
        "many of these are of one institution. jaccard is of chosen cells, so methods without cells have none; exact",
        "proves that no 20 cells have more, or says how much more is possible at most.",
    )


def _verdict(compared: list[pipeline.Compared]) -> list[str]:
    made = {entry.method: entry.network for entry in compared if entry.network is not None}
    lines = []
    for what, name in (("Alone", "none"), (f"With {CELLS} cells as nodes", AS_CELLS), ("With all neighbours", "hops")):
        same, pairs = close_pairs(made[name])
        lines.append(
            f"{what}: {len(made[name]):,} nodes; {pairs:,} pairs of the query are close, "
            f"{same / max(pairs, 1):.0%} of them of one institution."
        )
    return [*lines, "Whether a network helps your next step is for you to measure: always compare with `none`."]
