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
    new_links: pa.Table,
    objects: int,
    self_links: int,
    allocate: Allocate = allocate_in_memory,
) -> tuple[Links, pa.Table]:
    """Return links with new links added, and the rests of their sums; the weights of equal links are added.

    ``rests(source, target, rest)`` holds the rounding errors of the sums. ``self_links`` is how many new links go from
    an object to itself; these are left out.
    """
    if len(links.indices) == 0:
        packed = pack_links(new_links, objects, allocate)
        return packed, _compute_rests(new_links, packed, self_links)
    from cube2net.kernels.csr import add_links

    low, high, total = sum_links(*_get_columns(new_links), objects)
    if len(low) == 0:
        return Links(extend_offsets(links.indptr, objects), links.indices, links.weights), rests
    rows, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((ends, rows))
    changed, row_places = np.unique(rows[order], return_inverse=True)
    new_rows = np.full(objects, -1, np.int64)
    new_rows[changed] = np.arange(len(changed))
    pair_keys = _make_pair_keys(rows[order], ends[order], objects)
    rest_keys = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), objects)
    remainders = np.zeros(len(pair_keys))
    for keys in (rest_keys, _make_pair_keys(rests["target"].to_numpy(), rests["source"].to_numpy(), objects)):
        positions = np.minimum(np.searchsorted(pair_keys, keys), len(pair_keys) - 1)
        matches = pair_keys[positions] == keys
        remainders[positions[matches]] = rests["rest"].to_numpy()[matches]
    indptr, indices, weights = add_links(
        links.indptr,
        links.indices,
        links.weights,
        compute_offsets(row_places, len(changed)),
        ends[order],
        np.concatenate([total, total])[order],
        new_rows,
        remainders,
    )
    is_first_end = rows[order] < ends[order]
    is_unchanged = ~np.isin(rest_keys, pair_keys)
    return Links(indptr, indices, weights), _make_rests(
        np.concatenate([rests["source"].to_numpy()[is_unchanged], rows[order][is_first_end]]),
        np.concatenate([rests["target"].to_numpy()[is_unchanged], ends[order][is_first_end]]),
        np.concatenate([rests["rest"].to_numpy()[is_unchanged], remainders[is_first_end]]),
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

    lower_counts, higher_counts = np.zeros(objects, np.int64), np.zeros(objects, np.int64)
    last_pair = (-1, -1)
    for source, target, _ in _list_batches(rows):
        if len(source) and (
            last_pair >= (source[0], target[0]) or count_ends(source, target, lower_counts, higher_counts) >= 0
        ):
            return pack_links(_sort_links(rows, objects), objects, allocate)
        last_pair = (source[-1], target[-1]) if len(source) else last_pair
    indptr = fill_offsets(lower_counts + higher_counts, allocate("links.indptr", objects + 1, np.int64))
    higher_starts, lower_starts = indptr[:-1] + lower_counts, np.array(indptr[:-1])
    indices = allocate("links.indices", int(indptr[-1]), np.int32)
    weights = allocate("links.weights", int(indptr[-1]), np.float32)
    for source, target, weight in _list_batches(rows):
        fill_links(source, target, weight, lower_starts, higher_starts, indices, weights)
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
    nonzero = np.flatnonzero(rest)
    nonzero = nonzero[np.lexsort((target[nonzero], source[nonzero]))]
    return table(
        RESTS, source=pa.array(source[nonzero]), target=pa.array(target[nonzero]), rest=pa.array(rest[nonzero])
    )


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
    lower, new_rows = _make_rows(links, old.columns, items)
    columns = {}
    for name in old.rows.column_names:
        if name == KIND:
            columns[name] = _encode_kinds(old.rows[name], new_rows[name])
        else:
            columns[name] = join_columns(old.rows[name], new_rows[name], f"the column {name!r} of links")
    rows = pa.table(columns)
    if len(old) == 0:
        return LinkDetails(compute_offsets(lower, objects), rows.combine_chunks())
    old_keys = _make_pair_keys(old.lower, old.higher, objects)
    new_keys = _make_pair_keys(lower, new_rows["higher"].to_numpy(), objects)
    positions = np.searchsorted(old_keys, new_keys, side="right") + np.arange(len(new_keys))
    order = np.empty(len(old_keys) + len(new_keys), np.int64)
    is_new = np.zeros(len(order), dtype=bool)
    is_new[positions] = True
    order[positions] = len(old_keys) + np.arange(len(new_keys))
    order[~is_new] = np.arange(len(old_keys))
    counts = np.bincount(lower, minlength=objects)
    counts[: len(old.indptr) - 1] += np.diff(old.indptr)
    return LinkDetails(make_offsets(counts), rows.take(pa.array(order)).combine_chunks())


def keep_link_rows(details: LinkDetails, kept: Array) -> tuple[Links, LinkDetails]:
    """Return the links of the marked rows, as if only these had been given, and the rows."""
    rows = details.rows.filter(pa.array(kept)).combine_chunks()
    kept_details = LinkDetails(compute_offsets(details.lower[kept], len(details.indptr) - 1), rows)
    columns = {"source": kept_details.lower, "target": kept_details.higher, "weight": kept_details.column("weight")}
    return pack_links(pa.table(columns), len(kept_details.indptr) - 1), kept_details


def drop_pairs(load: Callable[[], LinkDetails], source: Array, target: Array) -> LinkDetails:
    """Return link details without the rows of some pairs."""
    details = load()
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    coverage = np.zeros(len(details) + 1, np.int64)
    np.add.at(coverage, begin, 1)
    np.add.at(coverage, end, -1)
    return keep_link_rows(details, np.cumsum(coverage[:-1]) == 0)[1]


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
    ledger, object_count = require_ledger(cube), len(cube.objects)
    load_details: Callable[[], LinkDetails] | None = None
    if cube.details is not None:
        details = cube.details()
        kept = np.ones(len(details), dtype=bool)
        kept[gone] = False
        links, rests, kept_details = regrow_links(details, convert_to_links(details, kept), object_count)
        load_details = lambda: kept_details  # noqa: E731
    else:
        links, rests = drop_ends(cube.links, gone), ledger.rests
        dropped_keys = _make_pair_keys(row_of_entries(cube.links.rows)[gone], cube.links.indices[gone], object_count)
        rest_keys = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), object_count)
        rests = rests.filter(pa.array(~np.isin(rest_keys, dropped_keys)))
    new_ledger = replace(ledger, rests=rests)
    return replace(cube, links=links, details=load_details, ledger=lambda: new_ledger)


def drop_ends(links: Links, places: Array) -> Links:
    """Return links without the ends at some places; both ends of a link must be among them."""
    if len(places) == 0:
        return links
    remaining = drop_entries(links.rows, places)
    return Links(remaining.indptr, remaining.indices, np.delete(links.weights, places))


def drop_entries(rows: Ragged, places: Array) -> Ragged:
    """Return rows without the entries at some places."""
    if len(places) == 0:
        return rows
    return Ragged(rows.indptr - np.searchsorted(np.sort(places), rows.indptr), np.delete(rows.indices, places))


def regrow_links(details: LinkDetails, rows: pa.Table, count: int) -> tuple[Links, pa.Table, LinkDetails]:
    """Return the links of ``rows`` among ``count`` objects, the rests of their sums, and their details."""
    links = pack_links(rows, count)
    return links, _compute_rests(rows, links, 0), grow_details(empty_details(details.rows.schema), rows, count, 0)


def convert_to_links(details: LinkDetails, marked: Array) -> pa.Table:
    """Return the marked rows of link details in the form of a corpus's links."""
    lower, higher = details.lower[marked], details.higher[marked]
    forward = details.column(FORWARD)[marked] if FORWARD in details.columns else np.ones(len(lower), dtype=bool)
    mask = pa.array(marked)
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
    places = _find_places(cube.links, low, high)
    exists = places >= 0
    old_weights = cube.links.weights[places[exists]].astype(np.float64)
    rests = require_ledger(cube).rests
    rest_keys = _make_pair_keys(rests["source"].to_numpy(), rests["target"].to_numpy(), width)
    order = np.argsort(rest_keys)
    pair_keys = _make_pair_keys(low, high, width)
    if len(rest_keys):
        positions = np.minimum(np.searchsorted(rest_keys, pair_keys[exists], sorter=order), len(rest_keys) - 1)
        matches = rest_keys[order[positions]] == pair_keys[exists]
        old_weights[matches] += rests["rest"].to_numpy()[order[positions[matches]]]
    same = np.zeros(len(low), dtype=bool)
    same[exists] = old_weights == total[exists]
    replaced = exists & ~same
    gone = np.concatenate([places[replaced], _find_places(cube.links, high[replaced], low[replaced])])
    ends = _make_pair_keys(np.minimum(source, target), np.maximum(source, target), width)
    return LinkChanges(gone, np.isin(ends, pair_keys[same]), _count_changes(exists, same))


def _compare_rows(details: LinkDetails, links: pa.Table) -> LinkChanges:
    """Return what links with a direction, kind or time change: the cube has them row by row."""
    distinct = np.flatnonzero(links["source"].to_numpy() != links["target"].to_numpy())
    new_links = links.take(pa.array(distinct))
    source, target, weight = _get_columns(new_links)
    low, high = np.minimum(source, target), np.maximum(source, target)
    width = max(find_width(links), len(details.indptr) - 1)
    new_keys = _make_pair_keys(low, high, width)
    old_keys = _make_pair_keys(details.lower, details.higher, width)
    rows = np.flatnonzero(np.isin(old_keys, new_keys))
    parts = [np.concatenate([old_keys[rows], new_keys])]
    if FORWARD in details.columns:
        parts.append(np.concatenate([details.column(FORWARD)[rows], source < target]))
    for name in (name for name in (KIND, TIME) if name in details.columns):
        old_values = details.rows[name].take(pa.array(rows))
        new_values = (
            new_links[name]
            if name in new_links.column_names
            else pa.chunked_array([pa.nulls(len(distinct), pa.null())])
        )
        parts.append(encode_values(join_columns(old_values, new_values, f"the column {name!r} of links")))
    group = np.zeros(len(rows) + len(distinct), np.int64)
    for values in parts:
        numbers = np.unique(values, return_inverse=True)[1]
        group = np.unique(group * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1]
    old_groups, new_groups = group[: len(rows)], group[len(rows) :]
    count = int(group.max(initial=-1)) + 1
    sizes = [np.bincount(values, minlength=count) for values in (old_groups, new_groups)]
    is_unchanged = sizes[0] == sizes[1]
    ordered = []
    for values, weights in ((old_groups, details.column("weight")[rows]), (new_groups, weight)):
        order = np.argsort(values, kind="stable")
        order = order[is_unchanged[values[order]]]
        ordered.append((values[order], weights[order]))
    differs = ordered[0][1] != ordered[1][1]
    is_unchanged[ordered[0][0][differs]] = False
    in_corpus, in_both = sizes[1] > 0, (sizes[0] > 0) & (sizes[1] > 0)
    same = np.zeros(links.num_rows, dtype=bool)
    same[distinct] = is_unchanged[new_groups]
    return LinkChanges(
        rows[(in_both & ~is_unchanged)[old_groups]], same, _count_changes(in_both[in_corpus], is_unchanged[in_corpus])
    )


def encode_values(column: pa.ChunkedArray) -> Array:
    """Return a number for every value of a column, null included."""
    return np.asarray(column.combine_chunks().dictionary_encode(null_encoding="encode").indices)


def _count_changes(exists: Array, same: Array) -> dict[str, int]:
    replaced = int((exists & ~same).sum())
    return {"new": int((~exists).sum()), "replaced": replaced, "unchanged": int(same.sum())}


def find_width(links: pa.Table) -> int:
    """Return a number above every end of links, by which pairs become keys."""
    return 1 + max(int(links[end].to_numpy().max(initial=-1)) for end in ("source", "target"))


def _find_places(links: Links, low: Array, high: Array) -> Array:
    """Return the place of the second of two objects among the neighbours of the first, or -1."""
    from cube2net.kernels.item_rows import find_entries

    places = np.full(len(low), -1, np.int64)
    in_range = (low < len(links)) & (high < len(links))
    places[in_range] = find_entries(links.indptr, links.indices, low[in_range], high[in_range])
    return places
