"""Node embeddings: DeepWalk and node2vec learn from random walks, LINE from single links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, unknown
from cube2net.interfaces import NodeEmbedder
from cube2net.mine.random_walks import Walks, links_of
from cube2net.mine.skipgram import check_learning, link_vectors, positive, walk_vectors
from cube2net.records import Links, Network

ORDERS = ("first", "second", "both")


@dataclass(frozen=True, kw_only=True)
class DeepWalk:
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

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one float32 row for every node of a network; a node without links has a row of zeros."""
        return self.embed_links(links_of(network), seed=seed)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        return walk_vectors(
            Walks.of(links, rounds=self.walks, length=self.length, seed=seed),
            dimensions=self.dimensions,
            window=self.window,
            negatives=self.negatives,
            epochs=self.epochs,
            rate=self.rate,
            workers=self.workers,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class Node2vec:
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

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one float32 row for every node of a network; a node without links has a row of zeros."""
        return self.embed_links(links_of(network), seed=seed)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        return walk_vectors(
            Walks.of(links, rounds=self.walks, length=self.length, p=self.p, q=self.q, seed=seed),
            dimensions=self.dimensions,
            window=self.window,
            negatives=self.negatives,
            epochs=self.epochs,
            rate=self.rate,
            workers=self.workers,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class Line:
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
            raise unknown("order", self.order, ORDERS)
        if self.order == "both" and self.dimensions % 2:
            raise ParameterError(f"dimensions is {self.dimensions}, expected an even number where order is 'both'")

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one float32 row for every node of a network; a node without links has a row of zeros."""
        return self.embed_links(links_of(network), seed=seed)

    def embed_links(self, links: Links, *, seed: int = 0) -> Array:
        """Return one float32 row for every object of a table of links; one without links has a row of zeros."""
        if self.order != "both":
            return self._learn(links, self.order, self.dimensions, seed)
        parts = [self._learn(links, order, self.dimensions // 2, seed) for order in ORDERS[:2]]
        return np.concatenate([scaled(part) for part in parts], axis=1)

    def _learn(self, links: Links, order: str, dimensions: int, seed: int) -> Array:
        return link_vectors(
            Walks.of(links, rounds=1, length=2, seed=seed),
            first_order=order == "first",
            dimensions=dimensions,
            samples=self.samples,
            negatives=self.negatives,
            rate=self.rate,
            workers=self.workers,
            seed=seed,
        )


def scaled(rows: Array) -> Array:
    """Return rows of length 1; rows of zeros stay as they are.

    >>> scaled(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, np.float32(1.0))


EMBEDDINGS: dict[str, type[NodeEmbedder]] = {"deepwalk": DeepWalk, "node2vec": Node2vec, "line": Line}
"""All node embeddings by name, in the order one would teach them."""
