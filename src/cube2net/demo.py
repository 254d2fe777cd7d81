"""The main job on data that ships with the package, from papers to a network around 116 authors."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from cube2net import pipeline
from cube2net.commands import show_network
from cube2net.errors import Cube2netError
from cube2net.interfaces import Progress
from cube2net.records import Network
from cube2net.terminal import say, show_table

CELLS = 20


def run(out: Path, *, seed: int = 0, progress: Progress | None = None) -> None:
    """Build the bundled cube, answer the query of the labelled authors, and write all of it to a folder."""
    corpus = pipeline.load_bundled()
    labels = pipeline.load_labs()
    say(
        f"Data: {corpus.items.num_rows:,} papers by {corpus.objects.num_rows:,} authors since 2016.",
        f"      {corpus.attribution}.",
        f"Query: {len(labels)} authors of {len(set(labels.values()))} institutions.",
        "",
    )
    cube = pipeline.build_cube(corpus, out=out / "cube", seed=seed, progress=progress)
    _write_query(labels, out / "query.csv")
    query = pipeline.read_query(cube, out / "query.csv")
    say(f"{cube}", "A cell holds the authors of all papers with its labels; a link joins two authors of a paper.", "")

    network = pipeline.construct(cube, query, "greedy", CELLS, seed=seed)
    show_network(network)
    say(
        "gain: what the cell adds to jaccard, the authors in both the query and the chosen cells as a share of",
        "the authors in either.",
        "",
    )
    compared = pipeline.compare_methods(cube, query, m=CELLS, seed=seed)
    as_cells = pipeline.construct(cube, query, "greedy", CELLS, form="cells", seed=seed)
    compared.append(pipeline.Compared("greedy, cells as nodes", as_cells))
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
    say(
        "",
        *_verdict(compared),
        "",
        f"Written to {out}/:",
        "  cube/            the cube; ask it again with",
        f"                   cube2net query {out}/cube --query {out}/query.csv -m 10",
        "  query.csv        the query: object,label",
        "  network.graphml  the network of the table above",
        "  network.png      the same as a picture: the query by label, the others white",
        "  cells.png        the query with the chosen cells as nodes",
    )


def _show_compared(compared: list[pipeline.Compared]) -> None:
    rows: list[tuple[str, ...]] = []
    for entry in compared:
        if entry.network is None:
            rows.append((entry.method, "–", "–", "–", "–", "–", entry.reason))
            continue
        network = entry.network
        worth = f"{network.selection.value:.4f}" if len(network.selection.cells) else "–"
        ms = f"{sum(network.seconds.values()) * 1e3:,.0f}"
        nodes, links = f"{len(network):,}", f"{len(network.source):,}"
        rows.append((entry.method, nodes, links, str(loose_objects(network)), worth, ms, ""))
    show_table(
        "the methods at hand, for the same query",
        ("method", "nodes", "links", "loose", "jaccard", "ms", ""),
        rows,
        right=("nodes", "links", "loose", "jaccard", "ms"),
    )
    say("loose: authors of the query with no link at all. ms: choosing and linking, the first use compiles.")


def loose_objects(network: Network) -> int:
    """Return how many objects of the query have no link in the network."""
    linked = set(network.source.tolist()) | set(network.target.tolist())
    return len(network.query) - len(linked & set(range(len(network.query))))


def _verdict(compared: list[pipeline.Compared]) -> list[str]:
    made = {entry.method: entry.network for entry in compared if entry.network is not None}
    alone, cells, objects = made.get("none"), made.get("greedy, cells as nodes"), made.get("greedy")
    if alone is None or cells is None or objects is None:
        raise Cube2netError("the demo could not make its networks")
    return [
        f"Alone, the query is {len(alone)} authors with {len(alone.source)} links; {loose_objects(alone)} are loose.",
        f"With the chosen cells as nodes: {len(cells)} nodes, {loose_objects(cells)} loose; "
        f"with their authors: {len(objects):,} nodes, {loose_objects(objects)} loose.",
        f"Labels: {', '.join(f'{name} {count}' for name, count in Counter(alone.query.labels).most_common())}.",
    ]


def _write_query(labels: dict[str, str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("object", "label"))
        writer.writerows(labels.items())
