"""Remove items or links from a cube, and hide pairs of a query that way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from cube2net._util.arrays import (
    Array,
    Links,
    Ragged,
    links_from_pairs,
    ragged_from_pairs,
    row_of_entries,
    sum_links,
    take_rows,
)
from cube2net._util.random import stream
from cube2net.cube.building.cells import (
    compute_cell_keys,
    empty_items,
    pack_object_cells,
)
from cube2net.cube.building.links import drop_ends, drop_entries, drop_pairs
from cube2net.errors import CubeError, ParameterError, QueryError, check_int, quote_few
from cube2net.model.comparison import Hidden
from cube2net.model.cube import Cells, Cube, require_own_cells
from cube2net.model.dimension import MAX_MENTIONS, MIN_OBJECTS, SMALL
from cube2net.model.items import ItemIndex
from cube2net.model.query import Query

REMOVAL_COST = 3
"""How much longer it takes to remove an item's cells and links than to make those of an item that stays."""
INCONSISTENT_ITEMS = "the items of the cube are not those that its cells and links were made from"


def without_items(cube: Cube, items: Sequence[int] | Sequence[str] | Array) -> Cube:
    """Return a cube without some of its items, as if they had never been there.

    An object leaves a cell if no other item that mentions it has all of the cell's labels; a cell that becomes too
    small joins the small ones. Links that come from items lose the weight that these added, and are dropped at 0;
    given links stay. Objects, labels and items keep their numbers, so queries stay valid: unused labels remain, and
    removed items mention nothing. The settings count the remaining items; items without a label are not counted again.

    Parameters
    ----------
    cube
        A cube that keeps its items, also one that was rolled up, sliced or diced.
    items
        Numbers or ids of items.

    Returns
    -------
    Cube
        The cube without these items.
    """
    require_own_cells(cube, "made without items")
    index = _require_index(cube)
    gone = np.zeros(len(index), dtype=bool)
    gone[_find_items(index, items)] = True
    if not gone.any():
        return cube
    return remove_items(cube, gone, f"without {len(np.flatnonzero(gone)):,} of the items")


def remove_items(cube: Cube, gone: Array, view: str) -> Cube:
    """Return the cube without the marked items, as :func:`without_items` does; ``view`` describes the result.

    Unless most items stay, cells and links are made again from those that do; the result is the same.
    """
    index = _require_index(cube)
    out, stay = np.flatnonzero(gone), np.flatnonzero(~gone)
    anew = _estimate_work(index, stay) < REMOVAL_COST * _estimate_work(index, out)
    links, crowded = cube.links, 0
    if index.derived:
        linking = _mark_linking(cube, index, out)
        crowded = int((~linking).sum())
        if anew:
            low, high = _pair_objects(index, stay[_mark_linking(cube, index, stay)])
            links = links_from_pairs(low, high, np.ones(len(low), np.float32), len(cube.objects))
        else:
            links = _subtract_links(cube.links, index, out[linking])
    return _remove_marked(cube, gone, links, crowded, view, anew=anew)


def without_links(cube: Cube, source: Array, target: Array) -> Cube:
    """Return the cube without some of its links, each given once."""
    require_own_cells(cube, "made without links")
    links = drop_ends(cube.links, _find_links(cube.links, source, target))
    finest = None if cube.finest is None else without_links(cube.finest, source, target)
    settings = _add_view(cube, f"without {len(source):,} of the links")
    details = None if cube.details is None else cache(partial(drop_pairs, cube.details, source, target))
    return replace(cube, links=links, finest=finest, settings=settings, details=details)


def _require_index(cube: Cube) -> ItemIndex:
    if cube.items is None:
        raise CubeError("the cube does not keep its items: build it again, with them, to take some out")
    return cube.items()


def _mark_linking(cube: Cube, index: ItemIndex, items: Array) -> Array:
    """Return which items link the objects that they mention: those with at most ``max_mentions`` objects."""
    most = cube.settings.get("max_mentions", MAX_MENTIONS)
    return np.asarray(index.objects.indptr[items + 1] - index.objects.indptr[items] <= most)


def _find_items(index: ItemIndex, items: Sequence[int] | Sequence[str] | Array) -> Array:
    numbers = np.asarray(items)
    if len(numbers) and numbers.dtype.kind in "UO":
        return index.find([str(item) for item in items])
    if len(numbers) and (numbers.ndim != 1 or numbers.dtype.kind not in "iu"):
        raise ParameterError(f"items are numbers or ids, got {quote_few(numbers.tolist())}")
    outside = numbers[(numbers < 0) | (numbers >= len(index))].tolist()
    if outside:
        raise ParameterError(f"the cube has {len(index):,} items, and no item of the number {quote_few(outside)}")
    return numbers.astype(np.int64)


def _remove_marked(cube: Cube, gone: Array, links: Links, crowded: int, view: str, *, anew: bool) -> Cube:
    """Return the cube without the marked items, ``crowded`` of which made no links, and with the given links.

    With ``anew`` the members of cells are made from the items that stay, else those of removed items are dropped.
    """
    index = _require_index(cube)
    members = cube.join_members()
    if int(index.cells.indices.max(initial=-1)) >= len(members):
        raise CubeError(INCONSISTENT_ITEMS)
    if anew:
        who, where = _pair_members(index, np.flatnonzero(~gone))
        left = ragged_from_pairs(where, who, len(members))
    else:
        lost_objects, lost_cells = _find_lost_members(index, np.flatnonzero(gone), gone, len(cube.objects))
        left = drop_entries(members, _find_entries(members, lost_cells, lost_objects))
    labels = cube.join_labels()
    least = cube.settings.get("min_objects", MIN_OBJECTS)
    kept = np.arange(len(labels)) < len(cube.cells)  # a small cell never grows
    is_large = kept & (left.sizes >= least)
    large, tiny = np.flatnonzero(is_large), np.flatnonzero((left.sizes > 0) & ~is_large)
    tiny = tiny[np.argsort(compute_cell_keys(labels[tiny], [len(dimension.labels) for dimension in cube.dimensions]))]
    numbers = np.full(len(labels), -1, np.int32)
    numbers[np.concatenate([large, tiny])] = np.arange(len(large) + len(tiny))
    cells = Cells(labels[large], take_rows(left, large))
    return replace(
        cube,
        cells=cells,
        small=Cells(labels[tiny], take_rows(left, tiny)),
        object_cells=pack_object_cells(cells.members, len(cube.objects)),
        links=links,
        finest=None if cube.finest is None else _remove_marked(cube.finest, gone, links, crowded, view, anew=anew),
        settings=_update_settings(cube, view, index.newly(gone), crowded, len(tiny)),
        items=cache(lambda: empty_items(index, gone, numbers)),
    )


def _find_lost_members(index: ItemIndex, items: Array, gone: Array, objects: int) -> tuple[Array, Array]:
    """Return the pairs of an object and a cell that only removed items had."""
    from cube2net.kernels.item_rows import mark_held

    mentioned, cells = index.objects, index.cells
    who, where = _pair_members(index, items)
    used, rows = np.unique(who, return_inverse=True)
    candidates = ragged_from_pairs(rows.ravel(), where, len(used))
    which = np.full(objects, -1, np.int64)
    which[used] = np.arange(len(used))
    held = np.zeros(len(candidates.indices), dtype=bool)
    mark_held(
        mentioned.indptr,
        mentioned.indices,
        cells.indptr,
        cells.indices,
        gone,
        which,
        candidates.indptr,
        candidates.indices,
        held,
    )
    return used[row_of_entries(candidates)[~held]], candidates.indices[~held]


def _subtract_links(links: Links, index: ItemIndex, items: Array) -> Links:
    low, high = _pair_objects(index, items)
    if len(low) == 0:
        return links
    low, high, total = sum_links(low, high, np.ones(len(low)), len(links))
    places = _find_links(links, low, high)
    weights = np.array(links.weights)
    weights[places] -= np.concatenate([total, total]).astype(np.float32)
    return drop_ends(Links(links.indptr, links.indices, weights), places[weights[places] <= 0])


def _pair_members(index: ItemIndex, items: Array) -> tuple[Array, Array]:
    """Return the pairs of an object and a cell of some items, with repeats."""
    from cube2net.kernels.item_rows import cross_rows

    mentioned, cells = index.objects, index.cells
    return cross_rows(items, mentioned.indptr, mentioned.indices, cells.indptr, cells.indices)


def _pair_objects(index: ItemIndex, items: Array) -> tuple[Array, Array]:
    """Return the pairs of objects that some items mention together, the lower first, with repeats."""
    from cube2net.kernels.item_rows import pair_rows

    return pair_rows(items, index.objects.indptr, index.objects.indices)


def _estimate_work(index: ItemIndex, items: Array) -> int:
    """Return the number of pairs of an object and a cell, and of two objects, that some items make."""
    objects = index.objects.indptr[items + 1] - index.objects.indptr[items]
    cells = index.cells.indptr[items + 1] - index.cells.indptr[items]
    return int((objects * (cells + objects)).sum())


def _find_links(links: Links, source: Array, target: Array) -> Array:
    """Return the places of links among the neighbours of their sources, then of their targets."""
    return _find_entries(links.rows, np.concatenate([source, target]), np.concatenate([target, source]))


def _find_entries(rows: Ragged, which: Array, entries: Array) -> Array:
    from cube2net.kernels.item_rows import find_entries

    places = find_entries(rows.indptr, rows.indices, which, entries)
    if bool(np.any(places < 0)):
        raise CubeError(INCONSISTENT_ITEMS)
    return places


def _update_settings(cube: Cube, view: str, items: int, crowded: int, small: int) -> dict[str, Any]:
    """Return the settings of a cube after removing items, with the counts of what it leaves out updated."""
    settings = _add_view(cube, view)
    settings["items"] = settings.get("items", items) - items
    dropped = dict(settings.get("dropped", {}))
    dropped[SMALL.format(settings.get("min_objects", MIN_OBJECTS))] = small
    if crowded:
        reason = f"items with more than {settings.get('max_mentions', MAX_MENTIONS)} objects, which make no links"
        dropped[reason] = dropped.get(reason, crowded) - crowded
    settings["dropped"] = {why: count for why, count in dropped.items() if count}
    return settings


def _add_view(cube: Cube, view: str) -> dict[str, Any]:
    return {**cube.settings, "views": [*cube.settings.get("views", []), view]}


def hide_pairs(cube: Cube, query: Query, share: float = 0.2, seed: int = 0) -> Hidden:
    """Return the cube without a share of the items that link two objects of a query, and the pairs this unlinks.

    At least one item is drawn among those that mention two or more objects of the query and make links, and removed
    as by :func:`without_items`; a pair is hidden if no other item links it. If links were given, or the cube does not
    keep its items, a share of the links inside the query is removed instead, and cells stay as they are.

    Parameters
    ----------
    cube
        A cube.
    query
        The objects whose links are hidden.
    share
        The share of these items, or links, above 0 and up to 1.
    seed
        The seed of the random draw.

    Returns
    -------
    Hidden
        The cube, the hidden pairs, and what was removed.
    """
    if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 < float(share) <= 1:
        raise ParameterError(f"share is {share!r}, expected a number above 0 and up to 1")
    before = _find_linked_pairs(cube.links, query)
    if len(before) == 0:
        raise QueryError(f"nothing links two of the {len(query):,} objects of the query: there is no pair to hide")
    rng = stream(seed, "cube", "hidden")
    index = None if cube.items is None else cube.items()
    if index is None or not index.derived:
        drawn = np.sort(rng.choice(before, _count_share(len(before), share), replace=False))
        low, high = _split_pair_numbers(drawn)
        source, target = query.objects[low], query.objects[high]
        return Hidden(without_links(cube, source, target), source, target, "links", len(drawn))
    joining = index.mentioning(query.objects, least=2)
    joining = joining[_mark_linking(cube, index, joining)]
    drawn = rng.choice(joining, _count_share(len(joining), share), replace=False)
    left = without_items(cube, drawn)
    low, high = _split_pair_numbers(np.setdiff1d(before, _find_linked_pairs(left.links, query), assume_unique=True))
    order = np.lexsort((high, low))
    return Hidden(left, query.objects[low[order]], query.objects[high[order]], "items", len(drawn))


def draw_unlinked_pairs(cube: Cube, query: Query, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return ``count`` random pairs of a query's objects without a link, or all if there are fewer.

    The pairs are distinct and ascending, the lower object of each first.
    """
    count = check_int("count", count, 0, what="pairs")
    linked = _find_linked_pairs(cube.links, query)
    free = len(query) * (len(query) - 1) // 2 - len(linked)
    drawn = np.arange(free) if count >= free else stream(seed, "cube", "unlinked").choice(free, count, replace=False)
    ranks = drawn + np.searchsorted(linked - np.arange(len(linked)), drawn, side="right")
    low, high = _split_pair_numbers(ranks)
    order = np.lexsort((high, low))
    return query.objects[low[order]], query.objects[high[order]]


def _find_linked_pairs(links: Links, query: Query) -> Array:
    """Return the numbers of the pairs of a query that are linked, ascending.

    The pair of the query's ``i``-th and ``j``-th object, i < j, has the number j · (j − 1) / 2 + i.
    """
    rows = take_rows(links.rows, query.objects)
    other = np.searchsorted(query.objects, rows.indices)
    hit = query.objects[np.minimum(other, len(query) - 1)] == rows.indices
    high, low = row_of_entries(rows)[hit].astype(np.int64), other[hit]
    once = low < high
    return np.sort(high[once] * (high[once] - 1) // 2 + low[once])


def _split_pair_numbers(numbers: Array) -> tuple[Array, Array]:
    """Return the two places in the query of every numbered pair, the lower first.

    >>> [part.tolist() for part in _split_pair_numbers(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 3, 3]]
    """
    high = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers
    high += high * (high + 1) // 2 <= numbers
    return numbers - high * (high - 1) // 2, high


def _count_share(count: int, share: float) -> int:
    return max(1, round(float(share) * count))
