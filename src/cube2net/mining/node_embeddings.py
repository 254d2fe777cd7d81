"""Node embeddings by skip-gram with negative sampling: DeepWalk and node2vec from walks, LINE from single links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Real
from threading import Event
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net._util.progress import check_stop, cores, share_compile_time
from cube2net._util.random import stream
from cube2net.errors import MAX_INT, InputError, ParameterError, check_int, unknown_name
from cube2net.model.interfaces import NodeEmbedder
from cube2net.model.network import Network

WALKS_PER_BLOCK = 1024
"""Walks between two checks whether to stop."""
MAX_STEPS = 131_072
"""Nodes of walks that are kept at a time."""
NODES_PER_THREAD = 256
"""With fewer nodes per thread, threads mostly wait for each other's memory."""


def make_links(network: Network) -> Links:
    """Return the links of a network in both directions, by the positions of its nodes."""
    return links_from_pairs(network.source, network.target, network.weight, len(network))


def draw_bits(seed: int, *purpose: str) -> np.uint64:
    """Return 64 random bits for a seed and a purpose, as the seed of compiled code."""
    return np.uint64(stream(seed, "mine", *purpose).integers(0, 2**64, dtype=np.uint64))


def count_threads(workers: int, nodes: int) -> int:
    """Return the number of threads for some nodes; with ``workers=0`` one per core.

    >>> count_threads(4, 600), count_threads(4, 100), count_threads(1, 10_000)
    (2, 1, 1)
    """
    if not workers:
        workers = cores()
    return max(1, min(workers, nodes // NODES_PER_THREAD))


def run_in_parallel(work: Callable[[int], Iterator[None]], workers: int) -> None:
    """Run ``work(0), …, work(workers - 1)`` in parallel threads.

    If one fails or the caller is interrupted, the others stop at their next step.
    """
    stop = Event()

    def go(worker: int) -> None:
        try:
            for _ in work(worker):
                check_stop()
                if stop.is_set():
                    break
        except BaseException:
            stop.set()
            raise

    if workers == 1:
        return go(0)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(share_compile_time(go), range(workers)):
                pass
        finally:
            stop.set()


@dataclass(frozen=True, eq=False)
class Walks:
    """Random walks from all nodes with a link: ``rounds`` from each, of ``length`` nodes.

    A step takes a link with probability proportional to its weight. With ``p`` or ``q`` other than 1 it is node2vec's:
    weights are multiplied by 1/p for the way back, by 1 for neighbours of the previous node, and by 1/q for others. A
    walk depends only on the seed, its first node and its round. Only running sums of the weights are stored, and none
    if all weights are equal.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> pair = links_from_pairs(np.array([0]), np.array([2]), np.ones(1), 3)
    >>> Walks.of(pair, rounds=1, length=4).paths().tolist()
    [[0, 2, 0, 2], [2, 0, 2, 0]]
    """

    links: Links
    nodes: Array
    sums: Array
    rounds: int
    length: int
    p: float
    q: float
    bits: np.uint64

    @classmethod
    def of(cls, links: Links, *, rounds: int, length: int, p: float = 1.0, q: float = 1.0, seed: int = 0) -> Walks:
        """Return the walks over some links; links of weight 0 are ignored."""
        from cube2net.kernels.node_embeddings import running_sums

        indptr, weights = np.asarray(links.indptr), np.asarray(links.weights)
        bad = int((~(np.isfinite(weights) & (weights >= 0))).sum())
        if bad:
            raise InputError(f"{bad:,} ends of links have a weight that is negative or not finite, expected 0 or more")
        linked = indptr[1:] > indptr[:-1]
        sums = np.empty(0)
        if len(weights) and not (weights[0] > 0 and bool((weights == weights[0]).all())):
            sums = np.empty(len(weights))
            running_sums(indptr, weights, sums)
            linked[linked] = sums[indptr[1:][linked] - 1] > 0
        nodes = np.flatnonzero(linked).astype(np.int32)
        return cls(links, nodes, sums, rounds, length, p, q, draw_bits(seed, "walks"))

    @property
    def ends(self) -> Any:
        """The arguments of compiled code: offsets, neighbours and running sums."""
        return np.asarray(self.links.indptr), np.asarray(self.links.indices), self.sums

    @property
    def transition(self) -> Any:
        """The arguments of a compiled walk: the links, the factors of steps, and the seed."""
        return (*self.ends, 1.0 / self.p, 1.0 / self.q, self.bits)

    @property
    def strengths(self) -> Array:
        """The sum of the weights of every node's links, in units of the weight if all are equal."""
        indptr = np.asarray(self.links.indptr)
        if not len(self.sums):
            return np.diff(indptr).astype(np.float64)
        return np.where(indptr[1:] > indptr[:-1], self.sums[indptr[1:] - 1], 0.0)

    def paths(self, workers: int = 1) -> Array:
        """Return all walks, a row per node, round by round."""
        from cube2net.kernels.node_embeddings import fill_walks

        paths = np.empty((self.rounds, len(self.nodes), self.length), dtype=np.int32)

        def fill(worker: int) -> Iterator[None]:
            for turn, part in self._parts(worker, workers):
                yield fill_walks(self.transition, self.nodes[part], turn, paths[turn, part])

        run_in_parallel(fill, workers)
        return paths.reshape(-1, self.length)

    def visits(self, workers: int = 1) -> Array:
        """Return the number of visits of every node by all walks."""
        seen = np.zeros((workers, len(self.links)), dtype=np.int64)

        def count(worker: int) -> Iterator[None]:
            for turn, part in self._parts(worker, workers):
                for _, paths in self.from_nodes(self.nodes[part], turn):
                    np.add.at(seen[worker], paths.ravel(), 1)
                yield

        run_in_parallel(count, workers)
        total: Array = seen.sum(axis=0)
        return total

    def from_nodes(self, nodes: Array, turn: int) -> Iterator[tuple[int, Array]]:
        """Yield the walks of some nodes in one round in blocks, with the position of the first node."""
        from cube2net.kernels.node_embeddings import fill_walks

        rows = max(1, MAX_STEPS // self.length)
        for start in range(0, len(nodes), rows):
            part = nodes[start : start + rows]
            paths = np.empty((len(part), self.length), dtype=np.int32)
            fill_walks(self.transition, part, turn, paths)
            yield start, paths

    def _parts(self, worker: int, workers: int) -> list[tuple[int, slice]]:
        """Return the rounds and parts of the nodes of a worker."""
        starts = range(0, len(self.nodes), WALKS_PER_BLOCK)
        parts = [(turn, slice(start, start + WALKS_PER_BLOCK)) for turn in range(self.rounds) for start in starts]
        return parts[worker::workers]


POWER = 0.75
"""Power of the frequencies by which noise is drawn (Mikolov et al. 2013)."""
LAST = 0.004
"""Final learning rate as a share of the first."""
MAX_DIMENSIONS = 1024
"""Limit of the compiled code."""
ALIGNED = 16
"""Rows begin at multiples of this many numbers (64 bytes)."""
LINKS = 65_536
"""Links that a thread draws between two checks whether to stop."""
ORDERS = ("first", "second", "both")


def check_positive(name: str, value: object) -> float:
    """Return a parameter as a ``float``; raise unless it is a finite number above 0.

    >>> check_positive("rate", "fast")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: rate is 'fast', expected a finite number above 0
    """
    number = 0.0
    if not isinstance(value, bool) and isinstance(value, Real):
        number = float(value)
    if not 0.0 < number < math.inf:
        raise ParameterError(f"{name} is {value!r}, expected a finite number above 0")
    return number


def check_learning(method: Any, **least: int) -> None:
    """Check the common parameters of all methods, and others given with their least values."""
    for name, lowest in {"dimensions": 1, "negatives": 1, "workers": 0, **least}.items():
        most = MAX_DIMENSIONS if name == "dimensions" else MAX_INT
        object.__setattr__(method, name, check_int(name, getattr(method, name), lowest, most))
    object.__setattr__(method, "rate", check_positive("rate", method.rate))


def make_sampler(weights: Array) -> Any:
    """Return the tables by which compiled code draws nodes in proportion to their weights, not all 0.

    These are running sums that end at 2**52, and a guide table with the first node of equal parts of them.

    >>> sums, guide = make_sampler(np.array([1.0, 0.0, 3.0]))
    >>> (sums / 2.0**52).tolist(), guide.tolist()
    ([0.25, 0.25, 1.0], [0, 0, 2, 2, 2, 2, 2, 2])
    """
    from cube2net.kernels.node_embeddings import BITS

    totals = np.cumsum(weights, dtype=np.float64)
    sums = np.floor(totals / totals[-1] * 2.0**BITS).astype(np.uint64)
    parts = 2 ** (len(sums).bit_length() + 1)
    starts = np.arange(parts, dtype=np.uint64) * np.uint64(2**BITS // parts)
    return sums, np.searchsorted(sums, starts, side="right").astype(np.int32)


def allocate_rows(count: int, dimensions: int) -> Array:
    """Return rows of zeros that are aligned with cache lines."""
    width = -(-dimensions // ALIGNED) * ALIGNED
    room = np.zeros(count * width + ALIGNED, dtype=np.float32)
    first = -(room.ctypes.data // room.itemsize) % ALIGNED
    return room[first : first + count * width].reshape(count, width)


def draw_rows(nodes: Array, count: int, dimensions: int, size: float, rng: np.random.Generator) -> Array:
    """Return rows of random numbers within ±``size`` / 2 for some nodes, and zeros for others."""
    rows = allocate_rows(count, dimensions)
    start = rng.random((len(nodes), dimensions), dtype=np.float32)
    rows[nodes, :dimensions] = (start - np.float32(0.5)) * np.float32(size)
    return rows


def _learn_from_walks(method: DeepWalk, walks: Walks, seed: int) -> Array:
    """Return vectors of the nodes by skip-gram over walks; nodes without walks have zeros.

    Several threads update the same rows without locks, so only the result of one thread is reproducible.
    """
    from cube2net.kernels.node_embeddings import learn_walks, make_slots

    count, nodes, dimensions, rate = len(walks.links), walks.nodes, method.dimensions, method.rate
    # Word2vec starts √dimensions times smaller, which wastes much of a short corpus.
    inputs = draw_rows(nodes, count, dimensions, dimensions**-0.5, stream(seed, "mine", "start"))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = allocate_rows(count, dimensions)
    workers = count_threads(method.workers, len(nodes))
    noise = make_sampler(walks.visits(workers) ** POWER)
    bits = draw_bits(seed, "skipgram")
    near = min(method.window, walks.length - 1)
    turns, negatives = method.epochs * walks.rounds, method.negatives
    fall = rate * (1.0 - LAST) / (turns * len(nodes))

    def learn(worker: int) -> Iterator[None]:
        slots = make_slots()
        for turn in range(turns):
            order = stream(seed, "mine", "order", turn).permutation(nodes)
            mine = np.ascontiguousarray(order[worker::workers])
            for first in range(0, len(mine), WALKS_PER_BLOCK):
                now = rate - fall * (turn * len(nodes) + first * workers + worker)
                for start, paths in walks.from_nodes(mine[first : first + WALKS_PER_BLOCK], turn % walks.rounds):
                    learn_walks(
                        paths, start, inputs, outputs, noise, near, negatives, bits, turn, now, fall * workers, *slots
                    )
                yield

    run_in_parallel(learn, workers)
    return inputs[:, :dimensions].copy()


def _learn_from_links(method: Line, links: Links, order: str, dimensions: int, seed: int) -> Array:
    """Return vectors of the nodes by LINE of first or second order; nodes without links have zeros.

    Links are drawn in proportion to their weights, ``samples`` times the number of nodes with a link. Only the result
    of one thread is reproducible.
    """
    from cube2net.kernels.node_embeddings import learn_links, make_slots

    walks = Walks.of(links, rounds=1, length=2, seed=seed)
    count, nodes, rate = len(links), walks.nodes, method.rate
    inputs = draw_rows(nodes, count, dimensions, 1.0 / dimensions, stream(seed, "mine", "start", order))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = inputs if order == "first" else allocate_rows(count, dimensions)
    workers = count_threads(method.workers, len(nodes))
    ends, noise = make_sampler(walks.strengths), make_sampler(walks.strengths**POWER)
    bits = draw_bits(seed, "links", order)
    total = method.samples * len(nodes)
    fall = rate * (1.0 - LAST) / total

    def learn(worker: int) -> Iterator[None]:
        slots = make_slots()
        for first in range(worker * LINKS, total, workers * LINKS):
            drawn = min(LINKS, total - first)
            now = rate - fall * first
            yield learn_links(
                walks.ends, first, drawn, inputs, outputs, ends, noise, method.negatives, bits, now, fall, *slots
            )

    run_in_parallel(learn, workers)
    return inputs[:, :dimensions].copy()


class _LinkEmbedding:
    """Base of embeddings that learn from links."""

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return a float32 row for every node of a network; zeros for nodes without links."""
        return self.embed_links(make_links(network), seed=seed)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return a float32 row for every object of a table of links; zeros for objects without links."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class DeepWalk(_LinkEmbedding):
    """Learn vectors by skip-gram from random walks (Perozzi, Al-Rfou and Skiena 2014), with negative sampling.

    ``walks`` walks of ``length`` nodes start at every node; a step takes a link with probability proportional to its
    weight. Nodes up to ``window`` steps apart on a walk are positive examples, with ``negatives`` noise nodes each.
    There are ``epochs`` passes over the walks, while the learning ``rate`` falls linearly to almost 0. ``workers`` is
    the largest number of threads (0: one per core): walks do not depend on it, but vectors are reproducible only with
    one thread.
    """

    dimensions: int = 128
    walks: int = 10
    length: int = 80
    window: int = 5
    negatives: int = 5
    epochs: int = 1
    rate: float = 0.025
    workers: int = 1

    def __post_init__(self) -> None:
        check_learning(self, walks=1, length=2, window=1, epochs=1)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return a float32 row for every object of a table of links; zeros for objects without links."""
        return _learn_from_walks(self, Walks.of(links, rounds=self.walks, length=self.length, seed=seed), seed)


@dataclass(frozen=True, kw_only=True)
class Node2vec(DeepWalk):
    """Learn vectors by skip-gram from biased walks (Grover and Leskovec 2016), with negative sampling.

    A step from v, after t, takes a link with probability proportional to its weight, multiplied by 1/``p`` back to t,
    by 1 to a neighbour of t, and by 1/``q`` to any other node. A large p avoids the way back, a large q stays near, and
    a small q goes far, which separates groups in the authors' example (p = 1, q = 0.5, the defaults). With p = q = 1
    results equal DeepWalk's; all other parameters are DeepWalk's. Biased steps are drawn by rejection, with memory
    linear in the links.
    """

    p: float = 1.0
    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("p", "q"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return a float32 row for every object of a table of links; zeros for objects without links."""
        walks = Walks.of(links, rounds=self.walks, length=self.length, p=self.p, q=self.q, seed=seed)
        return _learn_from_walks(self, walks, seed)


@dataclass(frozen=True, kw_only=True)
class Line(_LinkEmbedding):
    """Learn vectors from links drawn one by one (Tang et al. 2015), with negative sampling.

    ``order="first"``: linked nodes get similar vectors. ``"second"``: nodes with the same neighbours do. ``"both"``:
    half of the ``dimensions`` come from each, each half scaled to length 1. Links are drawn in proportion to their
    weights, ``samples`` times the number of nodes with a link; with more samples vectors reflect single links more and
    groups less. ``negatives``, ``rate`` and ``workers`` are as for DeepWalk.
    """

    dimensions: int = 128
    order: str = "both"
    samples: int = 1000
    negatives: int = 5
    rate: float = 0.025
    workers: int = 1

    def __post_init__(self) -> None:
        check_learning(self, samples=1)
        if self.order not in ORDERS:
            raise unknown_name("order", self.order, ORDERS)
        if self.order == "both" and self.dimensions % 2:
            raise ParameterError(f"dimensions is {self.dimensions}, expected an even number where order is 'both'")

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return a float32 row for every object of a table of links; zeros for objects without links."""
        if self.order != "both":
            return _learn_from_links(self, links, self.order, self.dimensions, seed)
        parts = [_learn_from_links(self, links, order, self.dimensions // 2, seed) for order in ORDERS[:2]]
        return np.concatenate([normalize_rows(part) for part in parts], axis=1)


def normalize_rows(rows: Array) -> Array:
    """Return rows scaled to length 1; rows of zeros are unchanged.

    >>> normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, np.float32(1.0))


EMBEDDINGS: dict[str, type[NodeEmbedder]] = {"deepwalk": DeepWalk, "node2vec": Node2vec, "line": Line}
"""All node embeddings by name."""
