"""Links that a source gave, when they come again: which are there just so, which take the place of others.

A link is the same as another when its ends are, which of them it leads to where links have a direction, and its kind
and time where the cube's links have these. Several rows of one link count together: they are there just so when they
have the same weights, in the order in which they come. Where links say which item states them, they go with that item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, sum_links
from cube2net.cube.building.cells_and_links import grow_links
from cube2net.cube.building.columns import join_columns
from cube2net.cube.building.concatenation import place
from cube2net.cube.building.growing import ledger_of
from cube2net.cube.building.link_rows import grow_details
from cube2net.cube.storage.ledger import RESTS
from cube2net.cube.storage.parts import given
from cube2net.records import Corpus, Cube, LinkDetails, Links, Ragged
from cube2net.records.corpus import table
from cube2net.records.link_details import FORWARD, ITEM, KIND, TIME

NOWHERE: Array = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class LinksAgain:
    """What given links change in a cube that has some of them.

    ``gone`` says where the cube's links stand that come again otherwise: among its rows of links one by one where it
    has such, else among the neighbours of both ends. ``same`` marks the links that the cube has just so.
    """

    gone: Array = field(default_factory=lambda: NOWHERE)
    same: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))
    counts: dict[str, int] = field(default_factory=dict)


def links_again(cube: Cube, corpus: Corpus) -> LinksAgain:
    """Return what the given links of a corpus change in a cube, and how many are new, replaced and unchanged."""
    details = None if cube.details is None else cube.details()
    links = place(corpus, cube.objects).links
    if links is None or (details is not None and ITEM in details.columns):
        return LinksAgain(same=np.zeros(0 if links is None else links.num_rows, dtype=bool))
    return _pairs_again(cube, links) if details is None else _rows_again(details, links)


def count_heavier(cube: Cube, corpus: Corpus) -> int:
    """Return how many links of a cube get heavier by those that a corpus gives."""
    links = place(corpus, cube.objects).links
    if links is None:
        return 0
    source, target, weight = (links[name].to_numpy() for name in ("source", "target", "weight"))
    low, high, total = sum_links(source, target, weight, _width(links))
    return int(((_places(cube.links, low, high) >= 0) & (total > 0)).sum())


def without_given(cube: Cube, gone: Array) -> Cube:
    """Return a cube as if some of its given links had not come; ``gone`` says where these stand."""
    if len(gone) == 0:
        return cube
    ledger = ledger_of(cube)
    if cube.details is not None:
        details = cube.details()
        inside = np.ones(len(details), dtype=bool)
        inside[gone] = False
        summed, rests, left = regrown(details, as_links(details, inside), len(cube.objects))
        load: Callable[[], LinkDetails] | None = partial(given, left)
    else:
        links, load = cube.links, None
        ends = row_of_entries(Ragged(links.indptr, links.indices))[gone]
        summed = Links(
            links.indptr - np.searchsorted(np.sort(gone), links.indptr),
            np.delete(links.indices, gone),
            np.delete(links.weights, gone),
        )
        width = len(cube.objects)
        dropped = ends.astype(np.int64) * width + links.indices[gone]
        rests = ledger.rests
        keys = rests["source"].to_numpy().astype(np.int64) * width + rests["target"].to_numpy()
        rests = rests.filter(pa.array(~np.isin(keys, dropped)))
    after = replace(ledger, rests=rests)
    return replace(cube, links=summed, details=load, ledger=lambda: after)


def regrown(details: LinkDetails, rows: pa.Table, count: int) -> tuple[Links, pa.Table, LinkDetails]:
    """Return links that are given one by one among so many objects, the rests of their sums, and their details."""
    none = Links(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    empty = LinkDetails(np.zeros(1, np.int64), details.rows.schema.empty_table())
    summed, rests = grow_links(none, table(RESTS), rows, count, 0)
    return summed, rests, grow_details(empty, rows, count, 0)


def as_links(details: LinkDetails, inside: Array) -> pa.Table:
    """Return some links that are kept one by one as a corpus gives them."""
    lower, higher = details.lower[inside], details.higher[inside]
    forward = details.column(FORWARD)[inside] if FORWARD in details.columns else np.ones(len(lower), dtype=bool)
    mask = pa.array(inside)
    columns = {
        "source": pa.array(np.where(forward, lower, higher), pa.int32()),
        "target": pa.array(np.where(forward, higher, lower), pa.int32()),
        "weight": details.rows["weight"].filter(mask),
    }
    for name in details.columns:
        if name != FORWARD:
            column = details.rows[name].filter(mask)
            columns[name] = column.cast(pa.string()) if name == KIND else column
    return pa.table(columns)


def _pairs_again(cube: Cube, links: pa.Table) -> LinksAgain:
    """Return what links of nothing but a weight change: the cube has the sum for every pair."""
    width = max(_width(links), len(cube.objects))
    source, target, weight = (links[name].to_numpy() for name in ("source", "target", "weight"))
    low, high, total = sum_links(source, target, weight, width)
    at = _places(cube.links, low, high)
    there = at >= 0
    before = cube.links.weights[at[there]].astype(np.float64)
    rests = ledger_of(cube).rests
    keys = rests["source"].to_numpy().astype(np.int64) * width + rests["target"].to_numpy()
    order = np.argsort(keys)
    pairs = low.astype(np.int64) * width + high
    if len(keys):
        found = np.minimum(np.searchsorted(keys, pairs[there], sorter=order), len(keys) - 1)
        hit = keys[order[found]] == pairs[there]
        before[hit] += rests["rest"].to_numpy()[order[found[hit]]]
    same = np.zeros(len(low), dtype=bool)
    same[there] = before == total[there]
    other = there & ~same
    gone = np.concatenate([at[other], _places(cube.links, high[other], low[other])])
    ends = np.minimum(source, target).astype(np.int64) * width + np.maximum(source, target)
    return LinksAgain(gone, np.isin(ends, pairs[same]), _counts(there, same))


def _rows_again(details: LinkDetails, links: pa.Table) -> LinksAgain:
    """Return what links that say more than a weight change: the cube has them one by one."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    apart = np.flatnonzero(source != target)
    new = links.take(pa.array(apart))
    source, target = source[apart], target[apart]
    low, high = np.minimum(source, target), np.maximum(source, target)
    width = max(_width(links), len(details.indptr) - 1)
    pairs = low.astype(np.int64) * width + high
    held = details.lower.astype(np.int64) * width + details.higher
    rows = np.flatnonzero(np.isin(held, pairs))
    parts = [np.concatenate([held[rows], pairs])]
    if FORWARD in details.columns:
        parts.append(np.concatenate([details.column(FORWARD)[rows], source < target]))
    for name in (name for name in (KIND, TIME) if name in details.columns):
        old = details.rows[name].take(pa.array(rows))
        more = new[name] if name in new.column_names else pa.chunked_array([pa.nulls(len(apart), pa.null())])
        parts.append(_codes(join_columns(old, more, f"the column {name!r} of links")))
    group = np.zeros(len(rows) + len(apart), np.int64)
    for part in parts:
        numbers = np.unique(part, return_inverse=True)[1]
        group = np.unique(group * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1]
    first, second = group[: len(rows)], group[len(rows) :]
    count = int(group.max(initial=-1)) + 1
    sizes = [np.bincount(part, minlength=count) for part in (first, second)]
    even = sizes[0] == sizes[1]
    weights = [details.column("weight")[rows], new["weight"].to_numpy()]
    ordered = []
    for part, weight in zip((first, second), weights, strict=True):
        among = np.argsort(part, kind="stable")
        among = among[even[part[among]]]
        ordered.append((part[among], weight[among]))
    differs = ordered[0][1] != ordered[1][1]
    even[ordered[0][0][differs]] = False
    comes, there = sizes[1] > 0, (sizes[0] > 0) & (sizes[1] > 0)
    same = np.zeros(links.num_rows, dtype=bool)
    same[apart] = even[second]
    return LinksAgain(rows[(there & ~even)[first]], same, _counts(there[comes], even[comes]))


def _codes(column: pa.ChunkedArray) -> Array:
    """Return a number for every value of a column; no value is a value, too."""
    coded = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    return np.asarray(coded.dictionary_encode(null_encoding="encode").indices)


def _counts(there: Array, same: Array) -> dict[str, int]:
    replaced = int((there & ~same).sum())
    return {"new": int((~there).sum()), "replaced": replaced, "unchanged": int(same.sum())}


def _width(links: pa.Table) -> int:
    """Return more than any end of links, by which pairs become keys."""
    return 1 + max((int(links[end].to_numpy().max(initial=-1)) for end in ("source", "target")), default=-1)


def _places(links: Links, low: Array, high: Array) -> Array:
    """Return where the second of two objects stands among the neighbours of the first, or -1."""
    from cube2net.kernels.item_rows import find_entries

    places = np.full(len(low), -1, np.int64)
    known = (low < len(links)) & (high < len(links))
    places[known] = find_entries(links.indptr, links.indices, low[known], high[known])
    return places
