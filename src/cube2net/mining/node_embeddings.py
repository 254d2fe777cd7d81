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

# A thread does so many walks before it looks whether it should stop.
PART = 1024

# So many nodes of walks are kept at a time, or one walk where it is longer.
MAX_STEPS = 131_072

# With fewer nodes for each thread, threads would mostly wait for each other's memory.
NODES_PER_THREAD = 256


def collect_links(network: Network) -> Links:
    """Return the links of a network on both ends, by the positions of its nodes."""
    return links_from_pairs(network.source, network.target, network.weight, len(network))


def draw_bits(seed: int, *purpose: str) -> np.uint64:
    """Return the 64 bits that stand for a seed and a purpose in compiled code."""
    return np.uint64(stream(seed, "mine", *purpose).integers(0, 2**64, dtype=np.uint64))


def threads(workers: int, nodes: int) -> int:
    """Return how many threads to use for some nodes; ``workers`` of 0 is one for every core at hand.

    >>> threads(4, 600), threads(4, 100), threads(1, 10_000)
    (2, 1, 1)
    """
    if not workers:
        workers = cores()
    return max(1, min(workers, nodes // NODES_PER_THREAD))


def side_by_side(work: Callable[[int], Iterator[None]], workers: int) -> None:
    """Go through ``work(0), …, work(workers - 1)`` at the same time, each in a thread of its own.

    Where one of them fails, or the caller is interrupted, the others stop at their next step.
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
    """The walks of all nodes that have a link: ``rounds`` of them from each, of ``length`` nodes.

    A step goes along a link as likely as it is heavy; with ``p`` and ``q`` other than 1 it is node2vec's, where the
    weight counts 1/p times on the way back, once to a neighbour of where the walk came from, and 1/q times elsewhere.
    A walk depends on the seed, its first node and its round, on nothing else. Nothing is kept but a running sum for
    each end of a link, and not even these where all links weigh the same.

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
        """Return the walks over some links; links of weight 0 are as if they were not there."""
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
        """The links as compiled code takes them: offsets, neighbours and running sums."""
        return np.asarray(self.links.indptr), np.asarray(self.links.indices), self.sums

    @property
    def transition(self) -> Any:
        """What a compiled walk has to know: the links, the factors of steps, and the seed."""
        return (*self.ends, 1.0 / self.p, 1.0 / self.q, self.bits)

    @property
    def strengths(self) -> Array:
        """The weight of all links of every node together, in units of the one weight where there is only one."""
        indptr = np.asarray(self.links.indptr)
        if not len(self.sums):
            return np.diff(indptr).astype(np.float64)
        return np.where(indptr[1:] > indptr[:-1], self.sums[indptr[1:] - 1], 0.0)

    def paths(self, workers: int = 1) -> Array:
        """Return all walks: the first round's, a row a node, then the next round's."""
        from cube2net.kernels.node_embeddings import fill_walks

        found = np.empty((self.rounds, len(self.nodes), self.length), dtype=np.int32)

        def fill(worker: int) -> Iterator[None]:
            for turn, part in self._parts(worker, workers):
                yield fill_walks(self.transition, self.nodes[part], turn, found[turn, part])

        side_by_side(fill, workers)
        return found.reshape(-1, self.length)

    def visits(self, workers: int = 1) -> Array:
        """Return how often all walks together come to every node; the walks themselves are not kept."""
        seen = np.zeros((workers, len(self.links)), dtype=np.int64)

        def count(worker: int) -> Iterator[None]:
            for turn, part in self._parts(worker, workers):
                for _, paths in self.from_nodes(self.nodes[part], turn):
                    np.add.at(seen[worker], paths.ravel(), 1)
                yield

        side_by_side(count, workers)
        total: Array = seen.sum(axis=0)
        return total

    def from_nodes(self, nodes: Array, turn: int) -> Iterator[tuple[int, Array]]:
        """Yield the walks of some nodes in one round, a row each, few at a time; and the position of the first."""
        from cube2net.kernels.node_embeddings import fill_walks

        rows = max(1, MAX_STEPS // self.length)
        for start in range(0, len(nodes), rows):
            part = nodes[start : start + rows]
            paths = np.empty((len(part), self.length), dtype=np.int32)
            fill_walks(self.transition, part, turn, paths)
            yield start, paths

    def _parts(self, worker: int, workers: int) -> list[tuple[int, slice]]:
        """Return what one of several workers does: rounds, and parts of the nodes."""
        starts = range(0, len(self.nodes), PART)
        parts = [(turn, slice(start, start + PART)) for turn in range(self.rounds) for start in starts]
        return parts[worker::workers]


# Noise comes to a node as likely as this power of how often walks, or links, do (Mikolov et al. 2013).
POWER = 0.75

# The rate falls evenly to this share of its start.
LAST = 0.004

# The longest rows that the compiled code has room for.
MOST_DIMENSIONS = 1024

# Rows begin at a multiple of so many numbers (64 bytes).
ALIGNED = 16

# A thread draws so many links before it looks whether it should stop.
LINKS = 65_536
ORDERS = ("first", "second", "both")


def positive(name: str, value: object) -> float:
    """Return a parameter's value as a plain ``float`` when it is a finite number above 0.

    >>> positive("rate", "fast")
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
    """Raise unless the parameters that all methods share, and others with their least values, are in their ranges."""
    for name, lowest in {"dimensions": 1, "negatives": 1, "workers": 0, **least}.items():
        most = MOST_DIMENSIONS if name == "dimensions" else MAX_INT
        object.__setattr__(method, name, check_int(name, getattr(method, name), lowest, most))
    object.__setattr__(method, "rate", positive("rate", method.rate))


def chances(weights: Array) -> Any:
    """Return what compiled code draws nodes by, each as likely as its weight is great; not all may be 0.

    These are running sums that end at 2**52, and a guide: which node each of many equal parts of them begins with.

    >>> sums, guide = chances(np.array([1.0, 0.0, 3.0]))
    >>> (sums / 2.0**52).tolist(), guide.tolist()
    ([0.25, 0.25, 1.0], [0, 0, 2, 2, 2, 2, 2, 2])
    """
    from cube2net.kernels.node_embeddings import BITS

    totals = np.cumsum(weights, dtype=np.float64)
    sums = np.floor(totals / totals[-1] * 2.0**BITS).astype(np.uint64)
    parts = 2 ** (len(sums).bit_length() + 1)
    starts = np.arange(parts, dtype=np.uint64) * np.uint64(2**BITS // parts)
    return sums, np.searchsorted(sums, starts, side="right").astype(np.int32)


def blank(count: int, dimensions: int) -> Array:
    """Return rows of zeros, filled up to whole cache lines, that begin where one does."""
    width = -(-dimensions // ALIGNED) * ALIGNED
    room = np.zeros(count * width + ALIGNED, dtype=np.float32)
    first = -(room.ctypes.data // room.itemsize) % ALIGNED
    return room[first : first + count * width].reshape(count, width)


def small(nodes: Array, count: int, dimensions: int, size: float, rng: np.random.Generator) -> Array:
    """Return rows of random numbers within ±``size`` / 2 for some nodes, and of zeros for all others."""
    rows = blank(count, dimensions)
    start = rng.random((len(nodes), dimensions), dtype=np.float32)
    rows[nodes, :dimensions] = (start - np.float32(0.5)) * np.float32(size)
    return rows


def _learn_walks(method: DeepWalk | Node2vec, walks: Walks, seed: int) -> Array:
    """Return a row for every node, such that nodes that are near each other on many walks have near rows.

    Nodes without walks have rows of zeros. Several threads change the same rows without waiting for each other, so
    only the rows that one thread learns are the same from run to run; the walks always are.
    """
    from cube2net.kernels.node_embeddings import learn_walks, make_slots

    count, nodes, dimensions, rate = len(walks.links), walks.nodes, method.dimensions, method.rate
    # Word2vec starts √dimensions times smaller. On short corpora that costs much of them; on long ones nothing.
    inputs = small(nodes, count, dimensions, dimensions**-0.5, stream(seed, "mine", "start"))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = blank(count, dimensions)
    workers = threads(method.workers, len(nodes))
    noise = chances(walks.visits(workers) ** POWER)
    bits = draw_bits(seed, "skipgram")
    near = min(method.window, walks.length - 1)
    turns, negatives = method.epochs * walks.rounds, method.negatives
    fall = rate * (1.0 - LAST) / (turns * len(nodes))

    def learn(worker: int) -> Iterator[None]:
        slots = make_slots()
        for turn in range(turns):
            order = stream(seed, "mine", "order", turn).permutation(nodes)
            mine = np.ascontiguousarray(order[worker::workers])
            for first in range(0, len(mine), PART):
                now = rate - fall * (turn * len(nodes) + first * workers + worker)
                for start, paths in walks.from_nodes(mine[first : first + PART], turn % walks.rounds):
                    learn_walks(
                        paths, start, inputs, outputs, noise, near, negatives, bits, turn, now, fall * workers, *slots
                    )
                yield

    side_by_side(learn, workers)
    return inputs[:, :dimensions].copy()


def _learn_links(method: Line, links: Links, order: str, dimensions: int, seed: int) -> Array:
    """Return a row for every node, such that linked nodes, or nodes with the same neighbours, have near rows.

    Links are drawn as likely as they are heavy, ``samples`` times the number of nodes that have one. Nodes without
    links have rows of zeros. Only the rows that one thread learns are the same from run to run.
    """
    from cube2net.kernels.node_embeddings import learn_links, make_slots

    walks = Walks.of(links, rounds=1, length=2, seed=seed)
    count, nodes, rate = len(links), walks.nodes, method.rate
    inputs = small(nodes, count, dimensions, 1.0 / dimensions, stream(seed, "mine", "start", order))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = inputs if order == "first" else blank(count, dimensions)
    workers = threads(method.workers, len(nodes))
    ends, noise = chances(walks.strengths), chances(walks.strengths**POWER)
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

    side_by_side(learn, workers)
    return inputs[:, :dimensions].copy()


class _LinkEmbedding:
    """Embeds the nodes of a network as objects of its links."""

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one float32 row for every node of a network; a node without links has a row of zeros."""
        return self.embed_links(collect_links(network), seed=seed)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class DeepWalk(_LinkEmbedding):
    """Learn vectors by skip-gram from random walks (Perozzi, Al-Rfou and Skiena 2014), with negative sampling.

    From every node start ``walks`` walks of ``length`` nodes; a step takes a link as likely as it is heavy. Nodes up
    to ``window`` steps apart on a walk are near, others are represented by ``negatives`` nodes of noise. The walks are
    gone through ``epochs`` times, while the learning ``rate`` falls evenly to almost 0. ``workers`` is the number of
    threads at most (0: one for every core): the walks are the same for any number, and the vectors that one thread
    learns are the same from run to run; several are faster and do not repeat to the last bit.
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
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        return _learn_walks(self, Walks.of(links, rounds=self.walks, length=self.length, seed=seed), seed)


@dataclass(frozen=True, kw_only=True)
class Node2vec(_LinkEmbedding):
    """Learn vectors by skip-gram from biased walks (Grover and Leskovec 2016), with negative sampling.

    A step from v that came from t takes a link as likely as it is heavy, times 1/``p`` back to t, times 1 to a
    neighbour of t, and times 1/``q`` to any other node. So a great p avoids the way back, a great q stays near, and a
    small q goes far, which brings out groups in its authors' example (p = 1, q = 0.5, as here). With p = q = 1 it is
    DeepWalk to the last bit; all other parameters are DeepWalk's. Biased steps are drawn by rejection: no tables are
    made, and memory is linear in the links.
    """

    dimensions: int = 128
    walks: int = 10
    length: int = 80
    p: float = 1.0
    q: float = 0.5
    window: int = 5
    negatives: int = 5
    epochs: int = 1
    rate: float = 0.025
    workers: int = 1

    def __post_init__(self) -> None:
        check_learning(self, walks=1, length=2, window=1, epochs=1)
        for name in ("p", "q"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        walks = Walks.of(links, rounds=self.walks, length=self.length, p=self.p, q=self.q, seed=seed)
        return _learn_walks(self, walks, seed)


@dataclass(frozen=True, kw_only=True)
class Line(_LinkEmbedding):
    """Learn vectors from links drawn one by one (Tang et al. 2015), with negative sampling.

    ``order="first"``: linked nodes get near vectors. ``"second"``: nodes with the same neighbours do. ``"both"``: half
    of the ``dimensions`` come from each, every half scaled to length 1. Links are drawn as likely as they are heavy,
    ``samples`` times the number of nodes that have one; the more, the nearer the vectors come to the links themselves
    and the less they say of groups. ``negatives``, ``rate`` and ``workers`` are as for DeepWalk.
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
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        if self.order != "both":
            return _learn_links(self, links, self.order, self.dimensions, seed)
        parts = [_learn_links(self, links, order, self.dimensions // 2, seed) for order in ORDERS[:2]]
        return np.concatenate([scale_rows(part) for part in parts], axis=1)


def scale_rows(rows: Array) -> Array:
    """Return rows of length 1; rows of zeros stay as they are.

    >>> scale_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, np.float32(1.0))


EMBEDDINGS: dict[str, type[NodeEmbedder]] = {"deepwalk": DeepWalk, "node2vec": Node2vec, "line": Line}
"""All node embeddings by name, in the order one would teach them."""
