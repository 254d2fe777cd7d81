"""DeepWalk: nodes that walks often meet together get near vectors."""

from __future__ import annotations

from dataclasses import dataclass

from cube2net.array_types import Array
from cube2net.mine.skipgram import check_learning, walk_vectors
from cube2net.mine.walks import Walks, links_of
from cube2net.records import Links, Network


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
