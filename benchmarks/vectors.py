"""How well near cells predict shared members: vectors from words and from members, on one cube.

    python benchmarks/vectors.py CUBE [--words GLOVE] [--near 10] [--seed 0] [--show 3]

The objects are split into two halves. Member vectors are computed from the first half; all vectors are evaluated on the
second: the nearest cells of each cell are compared with the cells that share most members (Jaccard). Printed are the
mean Jaccard of the nearest cells relative to the best possible, the share of the true nearest cells found, and how
often the nearest share any member.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import cube2net as c2n
from cube2net._util.arrays import Array, ragged_from_pairs, row_of_entries, transpose
from cube2net.model.cube import Cells, Cube
from cube2net.model.vectors import Vectors
from cube2net.vectors.cell_vectors import MemberVectors, WordVectors
from cube2net.vectors.nearest_cells import Nearest


def half(cube: Cube, keep: Array) -> Cube:
    """Return the cube with only the members in ``keep``."""
    rows, objects = row_of_entries(cube.cells.members), cube.cells.members.indices
    kept = keep[objects]
    members = ragged_from_pairs(rows[kept], objects[kept], len(cube.cells))
    return replace(cube, cells=Cells(cube.cells.labels, members), object_cells=transpose(members, len(cube.objects)))


def overlaps(cube: Cube) -> sp.csr_array:
    """Return the Jaccard of all pairs of cells that share a member, without the diagonal."""
    members = cube.cells.members
    ones = np.ones(len(members.indices), dtype=np.float32)
    matrix = sp.csr_array((ones, members.indices, members.indptr), shape=(len(cube.cells), len(cube.objects)))
    shared = sp.coo_array(matrix @ matrix.T)
    apart = shared.row != shared.col
    row, col, both = shared.row[apart], shared.col[apart], shared.data[apart]
    return sp.csr_array((both / (members.sizes[row] + members.sizes[col] - both), (row, col)), shape=shared.shape)


def best(truth: sp.csr_array, near: int) -> tuple[Array, Array]:
    """Return the Jaccard of each cell's best cells, and the smallest of these."""
    top = np.zeros((truth.shape[0], near))
    for cell in range(truth.shape[0]):
        row = np.sort(truth.data[truth.indptr[cell] : truth.indptr[cell + 1]])[::-1][:near]
        top[cell, : len(row)] = row
    return top, top[:, -1]


def judge(near: Array, truth: sp.csr_array, top: Array, least: Array) -> tuple[float, float, float]:
    rows = np.repeat(np.arange(len(near)), near.shape[1])
    found = np.asarray(truth[rows, near.ravel()]).reshape(near.shape)
    possible = (top > 0).sum(axis=1)
    hits = np.minimum(((found >= least[:, None]) & (found > 0)).sum(axis=1), possible)
    seen = possible > 0
    return float(found.sum() / top.sum()), float((hits[seen] / possible[seen]).mean()), float((found > 0).mean())


def neighbours(vectors: Vectors, near: int) -> Array:
    own = np.arange(len(vectors))[:, None]
    return Nearest.of(vectors).find(vectors.values, k=near, taken=own)[0]


def by_labels(cube: Cube, near: int, rng: np.random.Generator) -> Array:
    """Return the cells with most common labels, ties in random order: the baseline without vectors."""
    labels = cube.cells.labels
    answer = np.empty((len(labels), near), dtype=np.int64)
    for cell in range(len(labels)):
        same = (labels == labels[cell]).sum(axis=1) + rng.random(len(labels))
        same[cell] = -1
        answer[cell] = np.argpartition(-same, near)[:near]
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--words", type=Path, help="a GloVe file larger than the table inside the package")
    parser.add_argument("--near", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="deals the objects into halves")
    parser.add_argument("--show", type=int, default=3)
    asked = parser.parse_args()
    cube = c2n.open(asked.cube)
    rng = np.random.default_rng(asked.seed)
    first = rng.random(len(cube.objects)) < 0.5
    seen, judged = half(cube, first), half(cube, ~first)
    truth = overlaps(judged)
    top, least = best(truth, asked.near)
    print(f"{cube}\n{truth.nnz:,} pairs of cells share one of {int((~first).sum()):,} objects\n")
    print(f"{'vectors':<34} {'columns':>7} {'seconds':>8} {'jaccard':>8} {'found':>7} {'share any':>9}")
    ways = {
        "words": WordVectors(),
        "words, unscaled (the paper)": WordVectors(scale="none"),
        **({"words, larger table": WordVectors(words=asked.words)} if asked.words else {}),
        **{f"members, {dims} dims": MemberVectors(dims=dims) for dims in (16, 32, 64, 128)},
        "members, 64 dims, 12 rounds": MemberVectors(rounds=12),
    }
    for name, way in ways.items():
        start = time.perf_counter()
        vectors = way.embed_cells(seen)
        seconds = time.perf_counter() - start
        scores = judge(neighbours(vectors, asked.near), truth, top, least)
        print(line(name, vectors.values.shape[1], seconds, scores))
    print(line("most labels in common", 0, 0, judge(by_labels(cube, asked.near, rng), truth, top, least)))
    anything = rng.integers(0, len(cube.cells), (len(cube.cells), asked.near))
    print(line("cells at random", 0, 0, judge(anything, truth, top, least)))
    show(cube, asked.show)


def line(name: str, columns: int, seconds: float, scores: tuple[float, float, float]) -> str:
    return f"{name:<34} {columns or '':>7} {seconds:8.2f} {scores[0]:8.1%} {scores[1]:7.1%} {scores[2]:9.1%}"


def show(cube: Cube, cells: int) -> None:
    """Print the nearest cells of the largest cells, by words and by members."""
    found = {
        name: neighbours(way.embed_cells(cube), 5)
        for name, way in (("words", WordVectors()), ("members", MemberVectors()))
    }
    for cell in np.argsort(-cube.cells.members.sizes, kind="stable")[: 8 * cells : 8].tolist():
        print(f"\n{' · '.join(cube.cell(cell))} ({cube.cells.members.sizes[cell]:,} objects)")
        for name, near in found.items():
            print(f"  {name}: " + "; ".join(" · ".join(cube.cell(int(other))) for other in near[cell]))
    words = WordVectors().embed_cells(cube)
    for dimension, labels in words.blank.items():
        print(f"\n{len(labels)} labels of {dimension!r} without a direction: {', '.join(labels[:10])}")
    print(f"unknown words: {', '.join(f'{word} {count}' for word, count in list(words.unknown.items())[:20])}")


if __name__ == "__main__":
    main()
