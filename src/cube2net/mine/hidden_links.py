"""Links that a network was made without: which may be asked for, and finding them again by recommenders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.compiling import Spent
from cube2net.errors import InputError, listed, some
from cube2net.fingerprints import network_fingerprint
from cube2net.interfaces import Recommender
from cube2net.mine.bipartite import bipartite
from cube2net.mine.link_prediction import choose, rank_links
from cube2net.records import Cube, Network, Query

KS = (5, 1, 10, 20)
LINK_MEASURES = (*(f"P@{k}" for k in KS), *(f"R@{k}" for k in KS), "AUC")

# Scores of single users are kept to so many digits.
DIGITS = 6


@dataclass(frozen=True, eq=False)
class HiddenLinks:
    """Links to be found again: the row in the cube of a user and of an item for each."""

    users: Array
    items: Array

    @classmethod
    def of(cls, cube: Cube, query: Query, source: Any, target: Any, users: str) -> HiddenLinks:
        """Return hidden links by the rows of their ends, in any order; one end is of the kind ``users``.

        Both ends must be in the query, and none of the links in the cube.
        """
        ends = _rows_of_ends(source, target, len(cube.objects))
        kinds = np.array(cube.objects.table["kind"].take(pa.array(ends.ravel())).to_pylist()).reshape(2, -1)
        is_user = kinds == users
        if not bool((is_user.sum(axis=0) == 1).all()):
            raise InputError(
                f"{int((is_user.sum(axis=0) != 1).sum()):,} hidden links do not join an object of the kind {users!r} "
                f"with one of another: kinds here are {listed(sorted(set(kinds.ravel().tolist())))}"
            )
        apart = ~np.isin(ends, query.objects).all(axis=0)
        if apart.any():
            raise InputError(f"{int(apart.sum()):,} hidden links have an end outside the query, expected both inside")
        there = [bool((cube.links.neighbours(int(a)) == b).any()) for a, b in ends.T]
        if any(there):
            raise InputError(
                f"{sum(there):,} of {len(there):,} hidden links are in the cube: build it without them, as the command "
                "task does"
            )
        turned = np.where(is_user[0], ends, ends[::-1])
        return cls(turned[0], turned[1])


def _rows_of_ends(source: Sequence[int], target: Sequence[int], count: int) -> Array:
    """Return the rows of both ends of hidden links among ``count`` objects, one above the other."""
    ends = _ends(source, target, "hidden links")
    outside = ends[(ends < 0) | (ends >= count)].tolist()
    if outside:
        raise InputError(
            f"hidden links name {len(outside):,} rows that the cube does not have: {some(outside)} "
            f"(it has {count:,} objects)"
        )
    return ends


def _ends(source: Sequence[int], target: Sequence[int], what: str) -> Array:
    """Return both ends of one or more pairs of rows, one above the other."""
    sides = [np.asarray(side) if len(side) else np.empty(0, np.int64) for side in (source, target)]
    if any(side.ndim != 1 or not np.issubdtype(side.dtype, np.integer) for side in sides):
        raise InputError(f"{what} are given by the rows of their ends, expected two lists of whole numbers")
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{what} have {len(sides[0]):,} ends on one side and {len(sides[1]):,} on the other, "
            "expected as many on both"
        )
    if not len(sides[0]):
        found = "to be found again" if what == "hidden links" else "to hold hidden links against"
        raise InputError(f"there are no {what}: give some {found}")
    return np.array(sides, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LinkMiner:
    """Finds hidden links again; the settings of a recommender are chosen once for a network, by its known links."""

    hidden: HiddenLinks
    kind: str
    tried: Mapping[str, tuple[Recommender, ...]]
    settled: dict[tuple[bytes, str], Any] = field(default_factory=dict)

    def __call__(self, network: Network, miner: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every user with hidden links, and the seconds it took to learn."""
        links = bipartite(network, users=self.kind)
        key = network_fingerprint(network), miner
        if key not in self.settled:
            self.settled[key] = choose(self.tried[miner], links.without_cells, items=links.query_items).best
        watch = Spent()
        fitted = self.settled[key].fit(links.matrix, seed=seed)
        spent = watch.seconds
        hidden = links.links(self.hidden.users, self.hidden.items)
        ranking = rank_links(fitted, links.matrix, hidden, ks=KS, items=links.query_items)
        columns = np.column_stack([ranking.precision, ranking.recall, ranking.auc]).round(DIGITS)
        means = ranking.means()
        return {name: means[name] for name in LINK_MEASURES}, columns, spent


def positions(what: str, pairs: tuple[Any, Any], query: Query) -> Array:
    """Return the positions in a query of both ends of pairs of rows, one above the other."""
    ends = _ends(*pairs, what)
    outside = ~np.isin(ends, query.objects).all(axis=0)
    if outside.any():
        raise InputError(f"{int(outside.sum()):,} {what} have an end outside the query, expected both inside")
    if (ends[0] == ends[1]).any():
        raise InputError(f"{int((ends[0] == ends[1]).sum()):,} {what} join an object with itself")
    return np.searchsorted(query.objects, ends)
