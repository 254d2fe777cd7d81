"""Time of each method that chooses cells, by the size of the cube and of the query: a table and a plot.

    python benchmarks/growth.py [--plot FILE.png] [--cells 1000,10000,80000] [--objects 100,1000,10000]

Cubes are random: cells have one of 8 decades, some venues and 100 topics; an object has a cell of its own and is in
others of the same topic, the same venue or any (nine on average, some many more). A query takes half of the members of
random cells until it is large enough. ``exact`` is stopped after 20 seconds, and omitted if more than 20,000 cells
touch the query.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Ragged, links_from_pairs, ragged_from_pairs, transpose
from cube2net._util.random import stream
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.interfaces import Method
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.selection import Budget
from cube2net.model.vectors import Vectors
from cube2net.selection.anneal import Anneal
from cube2net.selection.exact import Exact
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.selection.rl.cube2net import Cube2net

TOPICS, DECADES, M = 100, 8, 20
# With more cells than this, one step of a proof alone takes longer than its limit of time.
PROVABLE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", default="1000,10000,80000")
    parser.add_argument("--objects", default="100,1000,10000")
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    seconds: dict[str, dict[tuple[int, int], float]] = {}
    print("| cells | objects of the query | cells that touch it | method | value | seconds |")
    print("| --: | --: | --: | --- | --: | --: |")
    for cells in map(int, asked.cells.split(",")):
        cube, vectors = drawn_cube(cells)
        for size in map(int, asked.objects.split(",")):
            query = drawn_query(cube, size)
            weights = Jaccard().weigh(query, len(cube.objects))
            touched = len(np.unique(np.concatenate([cube.object_cells[int(one)] for one in query.objects])))
            for name, method in methods(vectors).items():
                if name == "exact" and touched > PROVABLE:
                    continue
                if not seconds.get(name):
                    method.select(cube, query, weights=weights, budget=Budget(n_cells=2))
                start = time.perf_counter()
                found = method.select(cube, query, weights=weights, budget=Budget(n_cells=M))
                took = time.perf_counter() - start
                seconds.setdefault(name, {})[cells, size] = took
                said = " proven" if found.proven else ""
                print(
                    f"| {cells:,} | {len(query):,} | {touched:,} | {name} | {found.value:.4f}{said} | {took:.3f} |",
                    flush=True,
                )
    if asked.plot is not None:
        draw(seconds, asked.plot)


def methods(vectors: Vectors) -> dict[str, Method]:
    return {
        "greedy": Greedy(),
        "greedy by price": Greedy(by="price"),
        "anneal": Anneal(),
        "cube2net": Cube2net().with_vectors(vectors),
        "exact": Exact(seconds=20.0),
    }


def drawn_cube(count: int) -> tuple[Cube, Vectors]:
    """Return a random cube with six objects per cell, and cell vectors."""
    rng = stream(count, "benchmarks", "growth")
    venues = max(2, count // 150)
    every = np.unique(rng.integers([DECADES, venues, TOPICS], size=(3 * count, 3)), axis=0)
    labels = every[np.sort(rng.choice(len(every), count, replace=False))]
    objects = 6 * count
    own = rng.integers(count, size=objects)
    more = np.minimum(rng.zipf(1.6, objects) + 4, 400)
    row = np.repeat(np.arange(objects), more)
    pick = rng.random(len(row))
    by_topic, by_venue = (np.argsort(labels[:, column], kind="stable") for column in (2, 1))
    cell = rng.integers(count, size=len(row))
    for order, column, low, high in ((by_topic, 2, 0.0, 0.5), (by_venue, 1, 0.5, 0.8)):
        rows = np.flatnonzero((pick >= low) & (pick < high))
        starts = np.searchsorted(labels[order, column], np.arange(labels[:, column].max() + 2))
        group = labels[own[row[rows]], column]
        size = starts[group + 1] - starts[group]
        cell[rows] = order[starts[group] + (rng.random(len(rows)) * size).astype(np.int64)]
    pairs = np.unique(np.concatenate([row, np.arange(objects)]) * count + np.concatenate([cell, own]))
    members = ragged_from_pairs(pairs % count, pairs // count, count)
    names = [[f"{kind} {i}" for i in range(size)] for kind, size in (("d", DECADES), ("v", venues), ("t", TOPICS))]
    ids = [f"o{i}" for i in range(objects)]
    nobody = np.empty(0, dtype=np.int64)
    cube = Cube(
        dimensions=tuple(
            Dimension((Level(kind, tuple(name), tuple(name)),))
            for kind, name in zip(("decade", "venue", "topic"), names, strict=True)
        ),
        cells=Cells(labels.astype(np.int32), members),
        object_cells=transpose(members, objects),
        small=Cells(np.empty((0, 3), np.int32), Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))),
        links=links_from_pairs(nobody, nobody, np.ones(0), objects),
        objects=Objects.of(pa.table({"object": ids, "name": ids, "kind": ["author"] * objects})),
    )
    tables = {kind: rng.normal(size=(size, 50)) for kind, size in (("d", DECADES), ("v", venues), ("t", TOPICS))}
    return cube, Vectors.product(tables, labels)


def drawn_query(cube: Cube, size: int) -> Query:
    """Return half of the members of random cells, until there are enough."""
    rng = stream(size, "benchmarks", "growth", "query")
    inside: set[int] = set()
    for cell in rng.permutation(len(cube.cells)).tolist():
        members = cube.cells.members[cell]
        inside.update(rng.choice(members, size=max(1, len(members) // 2), replace=False).tolist())
        if len(inside) >= size:
            break
    return Query(np.sort(np.array(sorted(inside)[:size])))


def draw(seconds: dict[str, dict[tuple[int, int], float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sizes = sorted({size for found in seconds.values() for _, size in found})
    figure, axes = plt.subplots(1, len(sizes), figsize=(9, 3.4), layout="constrained", sharey=True, squeeze=False)
    for axis, size in zip(axes[0], sizes, strict=True):
        for name, found in seconds.items():
            cells = sorted(cells for cells, one in found if one == size)
            axis.loglog(cells, [found[count, size] for count in cells], "o-", label=name, linewidth=1.6, markersize=4)
        axis.set_title(f"{size:,} objects in the query", fontsize=10)
        counts = sorted({count for one in seconds.values() for count, _ in one})
        axis.set_xticks(counts, [f"{count:,}" for count in counts])
        axis.minorticks_off()
        axis.set_xlabel("cells of the cube")
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("seconds, m = 20")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
