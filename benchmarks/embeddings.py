"""Node embeddings: time and clustering score of our DeepWalk and node2vec and of gensim on the same walks.

    python benchmarks/embeddings.py [CUBE LABELS] [--nodes 2000] [--runs 3] [--workers 1,2] [--window 5]

The networks are planted blocks and, if a cube and labelled objects are given, the greedy network of these. gensim gets
the same walks (whose time counts for both), window, noise, dimensions and rate, if it is installed. The score is the
NMI of labels and k-means. Times are processor and wall-clock time; ratios are more reliable.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import cube2net as c2n
from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.mining.node_embeddings import DeepWalk, Node2vec, Walks, make_links


@dataclass(frozen=True)
class Task:
    """Links, and the labels of their first nodes."""

    name: str
    links: Links
    labels: list[str]


def planted(count: int, blocks: int, inside: float, outside: float) -> Task:
    """Return blocks with given mean numbers of links inside and across."""
    rng = np.random.default_rng(0)
    label = np.arange(count) % blocks
    source = rng.integers(0, count, round(count * (inside + outside) / 2))
    same = rng.integers(0, count // blocks, len(source)) * blocks + label[source]
    within = rng.random(len(source)) < inside / (inside + outside)
    target = np.where(within, same, rng.integers(0, count, len(source)))
    weight = rng.random(len(source)) + 0.5
    return Task(f"{blocks} planted blocks", links_from_pairs(source, target, weight, count), label.astype(str).tolist())


def of_cube(folder: Path, labels: Path) -> Task:
    """Return the greedy network of labelled objects."""
    cube = c2n.open(folder)
    query = c2n.read_query(cube, labels, skip_missing=True)
    network = c2n.construct(cube, query, "greedy", form="objects")
    return Task(f"greedy, {labels.name}", make_links(network), list(query.labels or ()))


def score(vectors: Array, labels: list[str]) -> float:
    found = KMeans(len(set(labels)), n_init=10, random_state=0).fit_predict(vectors[: len(labels)])
    return float(normalized_mutual_info_score(labels, found))


def timed(work: Callable[[], Array]) -> tuple[Array, float, float]:
    """Return the result of a function, its processor time and its wall-clock time."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    return found, time.process_time() - processor, time.perf_counter() - clock


def walks_of(method: DeepWalk | Node2vec, links: Links, seed: int) -> Walks:
    bias = {"p": method.p, "q": method.q} if isinstance(method, Node2vec) else {}
    return Walks.of(links, rounds=method.walks, length=method.length, seed=seed, **bias)


def by_gensim(method: DeepWalk | Node2vec, links: Links, seed: int) -> Array:
    """Return the vectors that gensim learns from the walks of a method."""
    from gensim.models import Word2Vec

    paths = np.random.default_rng(seed).permutation(walks_of(method, links, seed).paths(method.workers))
    names = [str(node) for node in range(len(links))]
    model = Word2Vec(
        [[names[node] for node in path] for path in paths.tolist()],
        vector_size=method.dimensions,
        window=method.window,
        negative=method.negatives,
        epochs=method.epochs,
        alpha=method.rate,
        workers=method.workers,
        seed=seed + 1,
        sg=1,
        sample=0,
        min_count=0,
    )
    vectors = np.zeros((len(links), method.dimensions), dtype=np.float32)
    vectors[[int(name) for name in model.wv.index_to_key]] = model.wv.vectors
    return vectors


def compare(task: Task, method: DeepWalk | Node2vec, runs: int, gensim: bool) -> None:
    """Print times, scores and ratios of both."""
    columns: dict[str, list[tuple[float, float, float]]] = {"ours": [], "gensim": []}
    for seed in range(runs):
        for name in ("ours", "gensim") if gensim else ("ours",):
            learn = method.embed_links if name == "ours" else lambda links, seed: by_gensim(method, links, seed)
            vectors, processor, clock = timed(lambda learn=learn, seed=seed: learn(task.links, seed=seed))
            columns[name].append((processor, clock, score(vectors, task.labels)))
    kind = f"{type(method).__name__}, {method.workers} worker{'s' * (method.workers > 1)}"
    for name, rows in columns.items():
        if rows:
            processor, clock, _ = np.median(rows, axis=0)
            found = np.array(rows)[:, 2]
            print(
                f"{task.name:<22} {kind:<22} {name:<7} {processor:8.2f} {clock:8.2f} {found.mean():7.3f} ± "
                f"{found.std():.3f}",
                flush=True,
            )
    if gensim:
        ours, theirs = (np.array(columns[name])[:, :2] for name in ("ours", "gensim"))
        ratio = np.median(theirs / ours, axis=0)
        print(
            f"{'':<22} {'':<22} gensim takes {ratio[0]:.1f} × our time of the processor, {ratio[1]:.1f} × of the clock"
        )


def floor(task: Task, method: DeepWalk) -> None:
    """Print the speed of learning relative to matrix products on this machine."""
    tokens = method.walks * method.length * int((task.links.degrees > 0).sum())
    reach = np.arange(1, method.window + 1)
    at = np.arange(method.length)[:, None]
    near = np.minimum(at, reach) + np.minimum(method.length - 1 - at, reach)
    pairs = tokens * float(near.mean())
    work = pairs * (1 + method.negatives) * method.dimensions * 6.0
    square = np.random.default_rng(0).random((600, 600), dtype=np.float32)
    seconds = min(timed(lambda: method.embed_links(task.links, seed=0))[1] for _ in range(3))
    product = min(timed(lambda: square @ square)[1] for _ in range(20))
    speed, top = work / seconds / 1e9, 2 * 600.0**3 / product / 1e9
    print(
        f"\nfloor: {tokens:,} tokens × {near.mean():.1f} near × {1 + method.negatives} outputs × {method.dimensions}",
        end=" ",
    )
    print(
        f"dimensions × 6 = {work / 1e9:.1f} GFLOP in {seconds:.2f} s of one processor: {speed:.1f} GFLOP/s, walks and"
    )
    print(
        f"noise included; a product of large matrices reaches {top:.1f} GFLOP/s here. "
        f"{seconds / tokens * 1e6:.2f} µs a token"
    )


def memory(sizes: tuple[int, ...]) -> None:
    """Print the memory of node2vec, and that of tables of second-order steps."""
    print(
        f"\nnode2vec, {'nodes':>8} {'links':>10} {'MB at most':>11} {'beside vectors':>15} {'bytes a link':>13} "
        f"{'tables, MB':>11}"
    )
    method = Node2vec(walks=1, length=4)
    for size in sizes:
        links = planted(size, 8, 12.0, 6.0).links
        method.embed_links(links)
        tracemalloc.start()
        method.embed_links(links)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        beside = most - 3 * len(links) * method.dimensions * 4
        tables = 12.0 * float((links.degrees.astype(float) ** 2).sum())
        print(
            f"{'':<9} {size:>8,} {links.count:>10,} {most / 1e6:>11.1f} {beside / 1e6:>15.2f} "
            f"{beside / links.count:>13.0f} {tables / 1e6:>11.1f}",
            flush=True,
        )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("cube", nargs="?", type=Path, help="a cube's folder")
    ask.add_argument("labels", nargs="?", type=Path, help="a table object,label")
    ask.add_argument("--nodes", type=int, default=2000)
    ask.add_argument("--runs", type=int, default=3)
    ask.add_argument("--workers", default="1,2")
    ask.add_argument("--window", type=int, default=5)
    asked = ask.parse_args()
    tasks = [planted(asked.nodes, 8, 5.0, 6.0)]
    if asked.cube is not None and asked.labels is not None:
        tasks.append(of_cube(asked.cube, asked.labels))
    gensim = find_spec("gensim") is not None
    if not gensim:
        print("gensim is not installed, and left out")
    methods = [DeepWalk(window=asked.window), Node2vec(window=asked.window)]
    for task in tasks:
        print(f"{task.name}: {len(task.links):,} nodes, {task.links.count:,} links, {len(task.labels):,} labelled")
        for method in methods:  # compiled, and in memory
            replace(method, walks=1, length=4, workers=2).embed_links(task.links)
    print(f"\n{'network':<22} {'method':<22} {'':<7} {'processor':>8} {'clock':>8} {'NMI':>7}")
    for task in tasks:
        for method in methods:
            for workers in asked.workers.split(","):
                compare(task, replace(method, workers=int(workers)), asked.runs, gensim)
    floor(tasks[0], methods[0])
    memory((2_000, 8_000, 32_000))


if __name__ == "__main__":
    main()
