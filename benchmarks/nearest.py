"""Nearest-cell search compared with torch: 80,000 cells × 150, a batch of 40 actions, k = 1 and 64.

    python benchmarks/nearest.py [--cells 80000] [--batch 40] [--taken 20] [--repeats 21]

Cells are distinct products of 8 decades, 1,600 venues and 100 topics, whose vectors are sums of three words of the
bundled table. Actions are close to a cell, around the mean of all cells, or far away. All contestants get the same
actions and taken cells and take turns; medians are printed. torch has its cells prepared in a suitable form. The first
cell of each is compared with that of torch.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from cube2net._util.arrays import Array
from cube2net.model.vectors import Vectors
from cube2net.vectors.glove import load_default_words
from cube2net.vectors.nearest_cells import Nearest

LABELS = {"decade": 8, "venue": 1600, "topic": 100}
Run = Callable[[], Array]


def make_vectors(cells: int, rng: np.random.Generator) -> Vectors:
    words = load_default_words().values[500:].astype(np.float32)
    tables = {}
    for name, count in LABELS.items():
        table = words[rng.integers(0, len(words), (count, 3))].sum(axis=1)
        tables[name] = table / np.linalg.norm(table, axis=1).mean()
    every = int(np.prod(list(LABELS.values())))
    chosen = np.sort(rng.choice(every, size=cells, replace=False))
    return Vectors.product(tables, np.stack(np.unravel_index(chosen, tuple(LABELS.values())), axis=1).astype(np.int32))


def contestants(vectors: Vectors, actions: Array, taken: Array, k: int) -> dict[str, Run]:
    cells = torch.from_numpy(vectors.values.copy())
    halves = (cells**2).sum(1) / 2
    wanted, gone = torch.from_numpy(actions), torch.from_numpy(taken)
    tables, matmul = Nearest.of(vectors, way="tables"), Nearest.of(vectors, way="matmul")

    def by_torch() -> Array:
        scores = torch.addmm(halves, wanted, cells.T, alpha=-1)
        scores.scatter_(1, gone, torch.inf)
        return scores.topk(k, dim=1, largest=False).indices.numpy()

    def multiply_only() -> Array:
        return (wanted @ cells.T).numpy()

    return {
        "torch matmul alone": multiply_only,
        "torch matmul + topk": by_torch,
        "ours, matmul": lambda: matmul.find(actions, k=k, taken=taken)[0],
        "ours, tables": lambda: tables.find(actions, k=k, taken=taken)[0],
    }


def race(runs: dict[str, Run], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of all contestants, which take turns."""
    for run in runs.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: 1000 * statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", type=int, default=80_000)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--taken", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=21)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    vectors = make_vectors(asked.cells, rng)
    noise = rng.normal(size=(asked.batch, vectors.values.shape[1]))
    kinds = {
        "close to a cell": vectors.values[rng.integers(0, asked.cells, asked.batch)] + 0.05 * noise,
        "around the mean": vectors.values.mean(axis=0) + 0.1 * noise,
        "far out": noise,
    }
    taken = rng.integers(0, asked.cells, (asked.batch, asked.taken))
    print(f"{vectors}, batch {asked.batch}, {asked.taken} taken, torch on {torch.get_num_threads()} threads\n")
    print(f"{'actions':<16} {'k':>3}  {'contestant':<20} {'ms':>8} {'torch / it':>10} {'same first':>10}")
    for kind, actions in kinds.items():
        for k in (1, 64):
            runs = contestants(vectors, actions.astype(np.float32), taken, k)
            reference = runs["torch matmul + topk"]()[:, 0]
            times = race(runs, asked.repeats)
            for name, milliseconds in times.items():
                ratio = times["torch matmul + topk"] / milliseconds
                same = "" if name.endswith("alone") else f"{(runs[name]()[:, 0] == reference).mean():10.0%}"
                print(f"{kind:<16} {k:>3}  {name:<20} {milliseconds:8.2f} {ratio:9.1f}× {same}")


if __name__ == "__main__":
    main()
