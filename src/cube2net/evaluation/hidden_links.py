"""Evaluation by hidden links: networks are made without some links of the query and scored by predicting these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cube2net._util.arrays import Array
from cube2net.cube.removal import draw_unlinked_pairs, hide_pairs
from cube2net.errors import QueryError
from cube2net.evaluation.trials import Make
from cube2net.mining.downstream import DownstreamTask, Models, make_hidden_task
from cube2net.model.comparison import Configuration, Hidden
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

UNLINKED = 3
"""Pairs without a link per hidden link."""


@dataclass(frozen=True, eq=False)
class HiddenRuns:
    """Makes and scores networks; every seed hides other links of the query.

    ``maker(cube)`` makes networks of a cube without the hidden links, which ``models`` predict. Evidence has a row for
    every object of the query, nan for those without a hidden link. The state of the last seed is cached.
    """

    cube: Cube
    query: Query
    maker: Callable[[Cube], Make]
    models: Models | None
    cache: dict[int, tuple[Make, DownstreamTask]] = field(default_factory=dict)

    def count_links(self, seeds: Sequence[int]) -> dict[str, int]:
        """Return the number of links that every seed hides."""
        return {str(seed): len(self.prepare(seed)[1].hidden[0]) for seed in seeds}

    def prepare(self, seed: int) -> tuple[Make, DownstreamTask]:
        """Return the maker of networks without the links that a seed hides, and the task of predicting these."""
        if seed not in self.cache:
            hidden = hide_pairs(self.cube, self.query, seed=seed)
            links, others = (hidden.source, hidden.target), self._find_unlinked(hidden, seed)
            task = make_hidden_task(self.query, links, others, self.models)
            self.cache.clear()
            self.cache[seed] = self.maker(hidden.cube), task
        return self.cache[seed]

    def make(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a configuration, made without the links that the seed hides."""
        return self.prepare(seed)[0](config, seed, nodes)

    def mine(self, network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every object of the query, and the seconds of learning."""
        task = self.prepare(seed)[1]
        scores, rows, seconds = task.mine(network, model, seed)
        evidence = np.full((len(self.query), rows.shape[1]), np.nan)
        evidence[np.unique(np.concatenate(task.hidden[:2]))] = rows
        return dict(scores), evidence, seconds

    def _find_unlinked(self, hidden: Hidden, seed: int) -> tuple[Array, Array]:
        """Return pairs of the query without a link, three times as many as hidden ones."""
        pairs = draw_unlinked_pairs(self.cube, self.query, UNLINKED * len(hidden.source), seed=seed)
        if len(pairs[0]) == 0:
            reason = "all pairs are linked" if len(hidden.source) else "every hidden link has another item behind it"
            raise QueryError(
                f"links of the {len(self.query):,} objects of the query cannot be hidden and found again, since "
                f"{reason}: give labels to judge by"
            )
        return pairs
