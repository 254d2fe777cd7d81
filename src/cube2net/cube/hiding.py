"""Pairs of a query to be found again: linked ones that are hidden, and ones that nothing links."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, take_rows
from cube2net.cube.without import makes_links, without_items, without_links
from cube2net.errors import ParameterError, QueryError, whole_number
from cube2net.records import Cube, Hidden, Links, Query, Ragged
from cube2net.seeding import stream


def hide_pairs(cube: Cube, query: Query, share: float = 0.2, seed: int = 0) -> Hidden:
    """Return the cube without a share of the items that join two objects of a query, and the pairs this parts.

    Items are drawn among those that mention two or more objects of the query and make links, at least one, and taken
    out as :func:`without_items` does; a pair is hidden when no other item links it. Where links were given, or the cube
    does not keep its items, a share of the links inside the query is taken out instead, and cells stay as they are.
    """
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 < float(share) <= 1:
        raise ParameterError(f"share is {share!r}, expected a number above 0 and up to 1")
    before = _linked(cube.links, query)
    if len(before) == 0:
        raise QueryError(f"nothing links two of the {len(query):,} objects of the query: there is no pair to hide")
    rng = stream(seed, "cube", "hidden")
    index = None if cube.items is None else cube.items()
    if index is None or not index.derived:
        drawn = np.sort(rng.choice(before, _part(len(before), share), replace=False))
        low, high = _pairs(drawn)
        source, target = query.objects[low], query.objects[high]
        return Hidden(without_links(cube, source, target), source, target, "links", len(drawn))
    joining = index.mentioning(query.objects, least=2)
    joining = joining[makes_links(cube, index, joining)]
    drawn = rng.choice(joining, _part(len(joining), share), replace=False)
    left = without_items(cube, drawn)
    low, high = _pairs(np.setdiff1d(before, _linked(left.links, query), assume_unique=True))
    order = np.lexsort((high, low))
    return Hidden(left, query.objects[low[order]], query.objects[high[order]], "items", len(drawn))


def unlinked_pairs(cube: Cube, query: Query, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return so many pairs of a query's objects that no link of the cube joins, the lower object first.

    They are drawn without repeats, and come in ascending order; where there are fewer, all of them come.
    """
    count = whole_number("count", count, 0, what="pairs")
    linked = _linked(cube.links, query)
    free = len(query) * (len(query) - 1) // 2 - len(linked)
    drawn = np.arange(free) if count >= free else stream(seed, "cube", "unlinked").choice(free, count, replace=False)
    ranks = drawn + np.searchsorted(linked - np.arange(len(linked)), drawn, side="right")
    low, high = _pairs(ranks)
    order = np.lexsort((high, low))
    return query.objects[low[order]], query.objects[high[order]]


def _linked(links: Links, query: Query) -> Array:
    """Return the pairs of a query that are linked, by their numbers, ascending.

    The pair of the query's ``i``-th and ``j``-th object, i < j, has the number j · (j − 1) / 2 + i.
    """
    rows = take_rows(Ragged(links.indptr, links.indices), query.objects)
    other = np.searchsorted(query.objects, rows.indices)
    hit = query.objects[np.minimum(other, len(query) - 1)] == rows.indices
    high, low = row_of_entries(rows)[hit].astype(np.int64), other[hit]
    once = low < high
    return np.sort(high[once] * (high[once] - 1) // 2 + low[once])


def _pairs(numbers: Array) -> tuple[Array, Array]:
    """Return the pairs of such numbers, the lower first.

    >>> [part.tolist() for part in _pairs(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 3, 3]]
    """
    high = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers
    high += high * (high + 1) // 2 <= numbers
    return numbers - high * (high - 1) // 2, high


def _part(count: int, share: float) -> int:
    return max(1, round(float(share) * count))
