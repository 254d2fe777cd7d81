"""Links of a query hidden anew for every run: networks are made without them, and judged by finding them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import QueryError
from cube2net.evaluation.trials import Make, Mine
from cube2net.model.comparison import Configuration, Hidden
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

UNLINKED = 3
"""So many pairs without a link are held against every hidden one."""

Pairs = tuple[Array, Array]


class FindsAgain(Protocol):
    """What judges by hidden links; ``hidden`` are the ends of these, and of pairs without a link."""

    @property
    def mine(self) -> Mine:
        """Return the scores of a network, those of every object with a hidden link, and the seconds it took."""

    @property
    def hidden(self) -> tuple[Array, ...]:
        """The ends of the hidden links, and those of pairs without a link, by their positions in the query."""


J = TypeVar("J", bound=FindsAgain)


@dataclass(frozen=True, eq=False)
class HiddenRuns(Generic[J]):
    """Makes and judges networks by links of the query that are hidden anew for every seed.

    ``hide(seed)`` takes links out of the cube, ``unlinked(count, seed)`` finds pairs of the query without one,
    ``maker(cube)`` makes networks of what is left, and ``models(hidden, unlinked)`` is what scores them. Every
    run tells of other links, so that several tell of most. Evidence is a row for every object of the query, nan for
    those without a hidden link in the run. What one seed hides is kept until another's turn comes.
    """

    query: Query
    hide: Callable[[int], Hidden]
    unlinked: Callable[[int, int], Pairs]
    maker: Callable[[Cube], Make]
    models: Callable[[Pairs, Pairs], J]
    kept: dict[int, tuple[Make, J]] = field(default_factory=dict)

    def counts(self, seeds: Sequence[int]) -> dict[str, int]:
        """Return how many links every seed hides, by the seed."""
        return {str(seed): len(self.of(seed)[1].hidden[0]) for seed in seeds}

    def of(self, seed: int) -> tuple[Make, J]:
        """Return what makes networks without the links that a seed hides, and what judges by these."""
        if seed not in self.kept:
            found = self.hide(seed)
            models = self.models((found.source, found.target), self._apart(found, seed))
            self.kept.clear()
            self.kept[seed] = self.maker(found.cube), models
        return self.kept[seed]

    def make(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a configuration, made without what the seed hides."""
        return self.of(seed)[0](config, seed, nodes)

    def mine(self, network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every object of the query, and the seconds it took to learn."""
        models = self.of(seed)[1]
        scores, own, spent = models.mine(network, model, seed)
        evidence = np.full((len(self.query), own.shape[1]), np.nan)
        evidence[np.unique(np.concatenate(models.hidden[:2]))] = own
        return dict(scores), evidence, spent

    def _apart(self, found: Hidden, seed: int) -> Pairs:
        """Return the pairs of the query without a link that hidden ones are held against, three times as many."""
        apart = self.unlinked(UNLINKED * len(found.source), seed)
        if len(apart[0]) == 0:
            many = "every hidden link has another item behind it" if len(found.source) == 0 else "all pairs are linked"
            raise QueryError(
                f"links of the {len(self.query):,} objects of the query cannot be hidden and found again, since "
                f"{many}: give labels to judge by"
            )
        return apart
