"""Pack the links of a cube, merge new links with them, and find the given links that an update replaces.

Two given links are the same if their ends are, and their direction, kind and time as far as the cube's links have
these. Several rows of one link are compared together: they are unchanged if they have the same weights in the same
order. Links that name the item which states them are replaced with that item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import (
    Array,
    Links,
    Ragged,
    compute_offsets,
    compute_remainders,
    make_offsets,
    merge_links,
    row_of_entries,
    sum_links,
)
from cube2net.cube.building.cells import extend_offsets, fill_offsets
from cube2net.cube.building.concatenation import join_columns, place_corpus
from cube2net.cube.storage.ledger import RESTS, require_ledger
from cube2net.cube.storage.writer import Allocate, allocate_in_memory
from cube2net.model.corpus import LINK_DETAILS, Corpus, table
from cube2net.model.cube import DETAILS, FORWARD, ITEM, KIND, MORE, TIME, Cube, LinkDetails


def grow_links(
    links: Links,
    rests: pa.Table,
    brought: pa.Table,
    objects: int,
    self_links: int,
    allocate: Allocate = allocate_in_memory,
) -> tuple[Links, pa.Table]:
    """Return links with new links added, and the rests of their sums; the weights of equal links are added.

    ``rests(source, target, rest)`` holds the rounding errors of the sums. ``self_links`` is how many new links go from
    an object to itself; these are left out.
    """
    if len(links.indices) == 0:
        packed = pack_links(brought, objects, allocate)
        return packed, _compute_rests(brought, packed, self_links)
    from cube2net.kernels.csr import add_links

    low, high, total = sum_links(*_get_columns(brought), objects)
    if len(low) == 0:
        return Links(extend_offsets(links.indptr, objects), links.indices, links.weights), rests
    rows, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((ends, rows))
    used, place = np.unique(rows[order], return_inverse=True)
    which = np.full(objects, -1, np.int64)
    which[used] = np.arange(len(used))
    pairs = _make_pair_keys(rows[order], ends[order], objects)
    known = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), objects)
    lacking = np.zeros(len(pairs))
    for both in (known, _make_pair_keys(rests["target"].to_numpy(), rests["source"].to_numpy(), objects)):
        at = np.minimum(np.searchsorted(pairs, both), len(pairs) - 1)
        hit = pairs[at] == both
        lacking[at[hit]] = rests["rest"].to_numpy()[hit]
    indptr, indices, weights = add_links(
        links.indptr,
        links.indices,
        links.weights,
        compute_offsets(place, len(used)),
        ends[order],
        np.concatenate([total, total])[order],
        which,
        lacking,
    )
    once = rows[order] < ends[order]
    left = ~np.isin(known, pairs)
    return Links(indptr, indices, weights), _make_rests(
        np.concatenate([rests["source"].to_numpy()[left], rows[order][once]]),
        np.concatenate([rests["target"].to_numpy()[left], ends[order][once]]),
        np.concatenate([rests["rest"].to_numpy()[left], lacking[once]]),
    )


def pack_links(rows: pa.Table, objects: int, allocate: Allocate = allocate_in_memory) -> Links:
    """Return undirected links stored on both ends; repeated links add their weights, self-links are dropped.

    Links that are distinct, ascending, and lead from the lower object to the higher are packed without a copy. Others
    are sorted first, in memory.

    >>> table = pa.table({"source": [0, 1, 2], "target": [1, 0, 2], "weight": [1.0, 1.0, 1.0]})
    >>> links = pack_links(table, 3)
    >>> links, links.weights.tolist()
    (Links(3 objects, 1 links), [2.0, 2.0])
    """
    from cube2net.kernels.csr import count_ends, fill_links

    below, above = np.zeros(objects, np.int64), np.zeros(objects, np.int64)
    last = (-1, -1)
    for source, target, _ in _list_batches(rows):
        if len(source) and (last >= (source[0], target[0]) or count_ends(source, target, below, above) >= 0):
            return pack_links(_sort_links(rows, objects), objects, allocate)
        last = (source[-1], target[-1]) if len(source) else last
    indptr = fill_offsets(below + above, allocate("links.indptr", objects + 1, np.int64))
    above, below = indptr[:-1] + below, np.array(indptr[:-1])
    indices = allocate("links.indices", int(indptr[-1]), np.int32)
    weights = allocate("links.weights", int(indptr[-1]), np.float32)
    for source, target, weight in _list_batches(rows):
        fill_links(source, target, weight, below, above, indices, weights)
    return Links(indptr, indices, weights)


def count_left_out(links: pa.Table, tables: Mapping[str, pa.Table]) -> tuple[int, int]:
    """Return the number of self-links, and of items that mention too many objects to make links."""
    if "crowded" in tables:  # links by co-mention: none of them is a self-link
        return 0, tables["crowded"].num_rows
    return int((links["source"].to_numpy() == links["target"].to_numpy()).sum()), 0


def _compute_rests(rows: pa.Table, links: Links, self_links: int) -> pa.Table:
    """Return the rounding errors of the weights; a link that is given once has none."""
    if rows.num_rows - self_links == links.count:
        return table(RESTS)
    low, high, total = sum_links(*_get_columns(rows), len(links))
    return _make_rests(low, high, compute_remainders(total))


def _make_rests(source: Array, target: Array, rest: Array) -> pa.Table:
    """Return the rests that are not 0, in the order of their links."""
    some = np.flatnonzero(rest)
    some = some[np.lexsort((target[some], source[some]))]
    return table(RESTS, source=pa.array(source[some]), target=pa.array(target[some]), rest=pa.array(rest[some]))


def _make_pair_keys(low: Array, high: Array, width: int) -> Array:
    """Return a number for every pair of objects below ``width``, in the order of the pairs."""
    keys: Array = low.astype(np.int64) * width + high
    return keys


def _list_batches(rows: pa.Table) -> list[tuple[Array, Array, Array]]:
    return [_get_columns(batch) for batch in rows.to_batches()]


def _get_columns(rows: pa.Table | pa.RecordBatch) -> tuple[Array, Array, Array]:
    return rows["source"].to_numpy(), rows["target"].to_numpy(), rows["weight"].to_numpy()


def _sort_links(rows: pa.Table, objects: int) -> pa.Table:
    merged = merge_links(*_get_columns(rows), objects)
    return pa.table(dict(zip(("source", "target", "weight"), merged, strict=True)))


def make_empty_details(corpus: Corpus) -> LinkDetails | None:
    """Return empty link details with the columns of a corpus's links; None if these have only weights."""
    if corpus.links is None:
        return None
    types = {name: corpus.links.schema.field(name).type for name in LINK_DETAILS if name in corpus.links.column_names}
    if not types and not corpus.directed:
        return None
    kinds = {name: MORE.get(name, kind) for name, kind in types.items()}
    if corpus.directed:
        kinds = {FORWARD: MORE[FORWARD]} | kinds
    return empty_details(pa.schema(list((DETAILS | kinds).items())))


def empty_details(schema: pa.Schema) -> LinkDetails:
    """Return link details of no objects, with these columns."""
    return LinkDetails(np.zeros(1, np.int64), schema.empty_table())


def grow_details(old: LinkDetails, links: pa.Table, objects: int, items: int) -> LinkDetails:
    """Return link details with those of new links added, in the columns of the old ones.

    Rows of the same two ends keep their order. ``objects`` is the new number of objects, and ``items`` the old number
    of items, by which the items that state the new links are shifted.
    """
    lower, new = _make_rows(links, old.columns, items)
    columns = {}
    for name in old.rows.column_names:
        if name == KIND:
            columns[name] = _encode_kinds(old.rows[name], new[name])
        else:
            columns[name] = join_columns(old.rows[name], new[name], f"the column {name!r} of links")
    rows = pa.table(columns)
    if len(old) == 0:
        return LinkDetails(compute_offsets(lower, objects), rows.combine_chunks())
    keys = _make_pair_keys(old.lower, old.higher, objects)
    more = _make_pair_keys(lower, new["higher"].to_numpy(), objects)
    place = np.searchsorted(keys, more, side="right") + np.arange(len(more))
    order = np.empty(len(keys) + len(more), np.int64)
    is_new = np.zeros(len(order), dtype=bool)
    is_new[place] = True
    order[place] = len(keys) + np.arange(len(more))
    order[~is_new] = np.arange(len(keys))
    counts = np.bincount(lower, minlength=objects)
    counts[: len(old.indptr) - 1] += np.diff(old.indptr)
    return LinkDetails(make_offsets(counts), rows.take(pa.array(order)).combine_chunks())


def keep_link_rows(details: LinkDetails, kept: Array) -> tuple[Links, LinkDetails]:
    """Return the links of the marked rows, as if only these had been given, and the rows."""
    rows = details.rows.filter(pa.array(kept)).combine_chunks()
    left = LinkDetails(compute_offsets(details.lower[kept], len(details.indptr) - 1), rows)
    columns = {"source": left.lower, "target": left.higher, "weight": left.column("weight")}
    return pack_links(pa.table(columns), len(left.indptr) - 1), left


def drop_pairs(load: Callable[[], LinkDetails], source: Array, target: Array) -> LinkDetails:
    """Return link details without the rows of some pairs."""
    details = load()
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    inside = np.zeros(len(details) + 1, np.int64)
    np.add.at(inside, begin, 1)
    np.add.at(inside, end, -1)
    return keep_link_rows(details, np.cumsum(inside[:-1]) == 0)[1]


def _make_rows(links: pa.Table, columns: Sequence[str], items: int) -> tuple[Array, pa.Table]:
    """Return the lower ends of links, ascending, and their rows, without self-links."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = np.lexsort((high, low))
    order = order[(low != high)[order]]
    rows = pa.array(order)
    values: dict[str, pa.Array | pa.ChunkedArray] = {
        "higher": pa.array(high[order], pa.int32()),
        "weight": links["weight"].take(rows),
    }
    for name in columns:
        if name == FORWARD:
            values[name] = pa.array((source < target)[order])
        elif name not in links.column_names:
            values[name] = pa.nulls(len(order), MORE.get(name, pa.null()))
        elif name == KIND:
            values[name] = _encode_kinds(links[name].take(rows))
        elif name == ITEM:
            values[name] = pc.cast(pc.add(links[name].take(rows), items), pa.int32())
        else:
            values[name] = links[name].take(rows)
    return low[order], pa.table(values)


def _encode_kinds(*columns: pa.ChunkedArray) -> pa.Array:
    """Return the kinds of links as one dictionary array, its names sorted."""
    kinds = pa.chunked_array([chunk.cast(pa.string()) for column in columns for chunk in column.chunks], pa.string())
    names = pc.unique(kinds.drop_null()).sort()
    numbers = pc.index_in(kinds, value_set=names).combine_chunks()
    return pa.DictionaryArray.from_arrays(numbers, names)


@dataclass(frozen=True, eq=False)
class LinkChanges:
    """The given links of a cube that a corpus replaces or repeats.

    ``gone`` are the places of the replaced links: rows of the link details if the cube has these, else entries of
    the links of both ends. ``same`` marks the corpus's links that the cube has already.
    """

    gone: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    same: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))
    counts: dict[str, int] = field(default_factory=dict)


def compare_links(cube: Cube, corpus: Corpus) -> LinkChanges:
    """Return what the given links of a corpus change in a cube, with counts of new, replaced and unchanged links."""
    details = None if cube.details is None else cube.details()
    links = place_corpus(corpus, cube.objects).links
    if links is None:
        return LinkChanges()
    if details is not None and ITEM in details.columns:
        return LinkChanges(same=np.zeros(links.num_rows, dtype=bool))
    return _compare_pairs(cube, links) if details is None else _compare_rows(details, links)


def count_heavier(cube: Cube, corpus: Corpus) -> int:
    """Return how many links of a cube get a higher weight from the given links of a corpus."""
    links = place_corpus(corpus, cube.objects).links
    if links is None:
        return 0
    low, high, total = sum_links(*_get_columns(links), find_width(links))
    return int(((_find_places(cube.links, low, high) >= 0) & (total > 0)).sum())


def drop_given_links(cube: Cube, gone: Array) -> Cube:
    """Return a cube without some of its given links, whose places are ``gone``."""
    if len(gone) == 0:
        return cube
    ledger, width = require_ledger(cube), len(cube.objects)
    load_details: Callable[[], LinkDetails] | None = None
    if cube.details is not None:
        details = cube.details()
        inside = np.ones(len(details), dtype=bool)
        inside[gone] = False
        links, rests, left = regrow_links(details, convert_to_links(details, inside), width)
        load_details = lambda: left  # noqa: E731
    else:
        links, rests = drop_ends(cube.links, gone), ledger.rests
        dropped = _make_pair_keys(row_of_entries(cube.links.rows)[gone], cube.links.indices[gone], width)
        keys = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), width)
        rests = rests.filter(pa.array(~np.isin(keys, dropped)))
    after = replace(ledger, rests=rests)
    return replace(cube, links=links, details=load_details, ledger=lambda: after)


def drop_ends(links: Links, places: Array) -> Links:
    """Return links without the ends at some places; both ends of a link must be among them."""
    if len(places) == 0:
        return links
    rows = drop_entries(links.rows, places)
    return Links(rows.indptr, rows.indices, np.delete(links.weights, places))


def drop_entries(rows: Ragged, places: Array) -> Ragged:
    """Return rows without the entries at some places."""
    if len(places) == 0:
        return rows
    return Ragged(rows.indptr - np.searchsorted(np.sort(places), rows.indptr), np.delete(rows.indices, places))


def regrow_links(details: LinkDetails, rows: pa.Table, count: int) -> tuple[Links, pa.Table, LinkDetails]:
    """Return the links of ``rows`` among ``count`` objects, the rests of their sums, and their details."""
    links = pack_links(rows, count)
    return links, _compute_rests(rows, links, 0), grow_details(empty_details(details.rows.schema), rows, count, 0)


def convert_to_links(details: LinkDetails, inside: Array) -> pa.Table:
    """Return the marked rows of link details in the form of a corpus's links."""
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


def _compare_pairs(cube: Cube, links: pa.Table) -> LinkChanges:
    """Return what links with only a weight change: the cube has the sum for every pair."""
    width = max(find_width(links), len(cube.objects))
    source, target, weight = _get_columns(links)
    low, high, total = sum_links(source, target, weight, width)
    at = _find_places(cube.links, low, high)
    there = at >= 0
    before = cube.links.weights[at[there]].astype(np.float64)
    rests = require_ledger(cube).rests
    keys = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), width)
    order = np.argsort(keys)
    pairs = _make_pair_keys(low, high, width)
    if len(keys):
        found = np.minimum(np.searchsorted(keys, pairs[there], sorter=order), len(keys) - 1)
        hit = keys[order[found]] == pairs[there]
        before[hit] += rests["rest"].to_numpy()[order[found[hit]]]
    same = np.zeros(len(low), dtype=bool)
    same[there] = before == total[there]
    other = there & ~same
    gone = np.concatenate([at[other], _find_places(cube.links, high[other], low[other])])
    ends = _make_pair_keys(np.minimum(source, target), np.maximum(source, target), width)
    return LinkChanges(gone, np.isin(ends, pairs[same]), _count_changes(there, same))


def _compare_rows(details: LinkDetails, links: pa.Table) -> LinkChanges:
    """Return what links with a direction, kind or time change: the cube has them row by row."""
    apart = np.flatnonzero(links["source"].to_numpy() != links["target"].to_numpy())
    new = links.take(pa.array(apart))
    source, target, weight = _get_columns(new)
    low, high = np.minimum(source, target), np.maximum(source, target)
    width = max(find_width(links), len(details.indptr) - 1)
    pairs = _make_pair_keys(low, high, width)
    held = _make_pair_keys(details.lower, details.higher, width)
    rows = np.flatnonzero(np.isin(held, pairs))
    parts = [np.concatenate([held[rows], pairs])]
    if FORWARD in details.columns:
        parts.append(np.concatenate([details.column(FORWARD)[rows], source < target]))
    for name in (name for name in (KIND, TIME) if name in details.columns):
        old = details.rows[name].take(pa.array(rows))
        more = new[name] if name in new.column_names else pa.chunked_array([pa.nulls(len(apart), pa.null())])
        parts.append(encode_values(join_columns(old, more, f"the column {name!r} of links")))
    group = np.zeros(len(rows) + len(apart), np.int64)
    for part in parts:
        numbers = np.unique(part, return_inverse=True)[1]
        group = np.unique(group * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1]
    first, second = group[: len(rows)], group[len(rows) :]
    count = int(group.max(initial=-1)) + 1
    sizes = [np.bincount(part, minlength=count) for part in (first, second)]
    even = sizes[0] == sizes[1]
    ordered = []
    for part, weights in ((first, details.column("weight")[rows]), (second, weight)):
        among = np.argsort(part, kind="stable")
        among = among[even[part[among]]]
        ordered.append((part[among], weights[among]))
    differs = ordered[0][1] != ordered[1][1]
    even[ordered[0][0][differs]] = False
    comes, there = sizes[1] > 0, (sizes[0] > 0) & (sizes[1] > 0)
    same = np.zeros(links.num_rows, dtype=bool)
    same[apart] = even[second]
    return LinkChanges(rows[(there & ~even)[first]], same, _count_changes(there[comes], even[comes]))


def encode_values(column: pa.ChunkedArray) -> Array:
    """Return a number for every value of a column, null included."""
    return np.asarray(column.combine_chunks().dictionary_encode(null_encoding="encode").indices)


def _count_changes(there: Array, same: Array) -> dict[str, int]:
    replaced = int((there & ~same).sum())
    return {"new": int((~there).sum()), "replaced": replaced, "unchanged": int(same.sum())}


def find_width(links: pa.Table) -> int:
    """Return a number above every end of links, by which pairs become keys."""
    return 1 + max(int(links[end].to_numpy().max(initial=-1)) for end in ("source", "target"))


def _find_places(links: Links, low: Array, high: Array) -> Array:
    """Return the place of the second of two objects among the neighbours of the first, or -1."""
    from cube2net.kernels.item_rows import find_entries

    places = np.full(len(low), -1, np.int64)
    known = (low < len(links)) & (high < len(links))
    places[known] = find_entries(links.indptr, links.indices, low[known], high[known])
    return places
