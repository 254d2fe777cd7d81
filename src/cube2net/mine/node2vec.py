"""node2vec: DeepWalk with walks that rather stay near, or rather go far."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.array_types import Array
from cube2net.mine.skipgram import check_learning, positive, walk_vectors
from cube2net.mine.walks import Walks, links_of
from cube2net.records import Links, Network


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
