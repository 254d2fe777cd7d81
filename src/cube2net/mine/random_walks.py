"""Random walks over a network: from where, how long, how biased; each is made when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import links_from_pairs
from cube2net.compiling import lent
from cube2net.errors import InputError
from cube2net.interrupts import step
from cube2net.records import Links, Network
from cube2net.seeding import stream
from cube2net.threads import cores

# A thread does so many walks before it looks whether it should stop.
PART = 1024

# So many nodes of walks are kept at a time, or one walk where it is longer.
MAX_STEPS = 131_072

# With fewer nodes for each thread, threads would mostly wait for each other's memory.
NODES_PER_THREAD = 256


def links_of(network: Network) -> Links:
    """Return the links of a network on both ends, by the positions of its nodes."""
    return links_from_pairs(network.source, network.target, network.weight, len(network))


def bits_of(seed: int, *purpose: str) -> np.uint64:
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
                step()
                if stop.is_set():
                    break
        except BaseException:
            stop.set()
            raise

    if workers == 1:
        return go(0)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(lent(go), range(workers)):
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

    >>> from cube2net.arrays import links_from_pairs
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
        from cube2net.kernels.walks import running_sums

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
        return cls(links, nodes, sums, rounds, length, p, q, bits_of(seed, "walks"))

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
        from cube2net.kernels.walks import fill_walks

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
        from cube2net.kernels.walks import fill_walks

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
