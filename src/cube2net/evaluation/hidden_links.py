"""Evaluation by hidden links: networks are made without some links of the query and scored by predicting these."""

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
"""Pairs without a link per hidden link."""

Pairs = tuple[Array, Array]


class HiddenTask(Protocol):
    """Scores networks by hidden links."""

    @property
    def mine(self) -> Mine:
        """Return the scores of a network, those of every object with a hidden link, and the seconds."""

    @property
    def hidden(self) -> tuple[Array, ...]:
        """The ends of the hidden links, and those of pairs without a link, by their positions in the query."""


J = TypeVar("J", bound=HiddenTask)


@dataclass(frozen=True, eq=False)
class HiddenRuns(Generic[J]):
    """Makes and scores networks; every seed hides other links of the query.

    ``hide(seed)`` removes links from the cube, ``unlinked(count, seed)`` returns pairs of the query without a link,
    ``maker(cube)`` makes networks of the remaining cube, and ``models(hidden, unlinked)`` scores them. Evidence has a
    row for every object of the query, nan for those without a hidden link. The state of the last seed is cached.
    """

    query: Query
    hide: Callable[[int], Hidden]
    unlinked: Callable[[int, int], Pairs]
    maker: Callable[[Cube], Make]
    models: Callable[[Pairs, Pairs], J]
    cache: dict[int, tuple[Make, J]] = field(default_factory=dict)

    def count_links(self, seeds: Sequence[int]) -> dict[str, int]:
        """Return the number of links that every seed hides."""
        return {str(seed): len(self.prepare(seed)[1].hidden[0]) for seed in seeds}

    def prepare(self, seed: int) -> tuple[Make, J]:
        """Return the maker of networks without the links that a seed hides, and the task of predicting these."""
        if seed not in self.cache:
            hidden = self.hide(seed)
            models = self.models((hidden.source, hidden.target), self._find_unlinked(hidden, seed))
            self.cache.clear()
            self.cache[seed] = self.maker(hidden.cube), models
        return self.cache[seed]

    def make(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a configuration, made without the links that the seed hides."""
        return self.prepare(seed)[0](config, seed, nodes)

    def mine(self, network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every object of the query, and the seconds of learning."""
        models = self.prepare(seed)[1]
        scores, rows, seconds = models.mine(network, model, seed)
        evidence = np.full((len(self.query), rows.shape[1]), np.nan)
        evidence[np.unique(np.concatenate(models.hidden[:2]))] = rows
        return dict(scores), evidence, seconds

    def _find_unlinked(self, hidden: Hidden, seed: int) -> Pairs:
        """Return pairs of the query without a link, three times as many as hidden ones."""
        pairs = self.unlinked(UNLINKED * len(hidden.source), seed)
        if len(pairs[0]) == 0:
            reason = "all pairs are linked" if len(hidden.source) else "every hidden link has another item behind it"
            raise QueryError(
                f"links of the {len(self.query):,} objects of the query cannot be hidden and found again, since "
                f"{reason}: give labels to judge by"
            )
        return pairs
