"""Which cells a budget still allows: the same rule for every method that chooses cells."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Budget, Cube, Query


class Limits:
    """What is left of ``max_nodes`` and ``max_links``; the network starts as the query and its own links.

    Objects and links never leave a growing network, so a cell that does not fit now never will.
    """

    def __init__(self, cube: Cube, query: Query, budget: Budget) -> None:
        from cube2net.kernels.limits import NO_LIMIT, bring

        self._m = budget.m
        self.any = budget.max_nodes is not None or budget.max_links is not None
        if not self.any:
            return
        self._cube = cube
        self._present = np.zeros(len(cube.objects), dtype=np.int8)
        self._nodes = NO_LIMIT if budget.max_nodes is None else budget.max_nodes
        self._links = NO_LIMIT if budget.max_links is None else budget.max_links
        links = cube.links
        new, more = bring(query.objects, self._present, links.indptr, links.indices, self._nodes, self._links)
        self._full = new < 0
        if not self._full:
            self._spend(new, more)

    def admit(self, cells: Array, want: int) -> Array:
        """Return the places of the first ``want`` cells, in the order given, that fit; they are in from now on."""
        if not self.any:
            return np.arange(min(want, len(cells)))
        if self._full:
            return np.arange(0)
        from cube2net.kernels.limits import bring_first

        members, links = self._cube.cells.members, self._cube.links
        places, nodes, more = bring_first(
            cells,
            want,
            members.indptr,
            members.indices,
            self._present,
            links.indptr,
            links.indices,
            self._nodes,
            self._links,
        )
        self._spend(nodes, more)
        return np.asarray(places)

    def note(self, chosen: int, lacks: str) -> str:
        """Return the sentence for fewer cells than asked for: what every other cell lacks; no text where m were."""
        if chosen >= self._m:
            return ""
        cells = "1 cell" if chosen == 1 else f"{chosen:,} cells"
        other = "other " if chosen else ""
        return f"{cells}, not {self._m:,}: no {other}cell {lacks}{' and fits the limits' if self.any else ''}"

    def _spend(self, nodes: int, links: int) -> None:
        from cube2net.kernels.limits import NO_LIMIT

        self._nodes -= 0 if self._nodes == NO_LIMIT else nodes
        self._links -= 0 if self._links == NO_LIMIT else links
