"""Given links one by one, with direction, kind, time and item: packed from a corpus, merged with those there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrays import offsets
from cube2net.cube.building.cells_and_links import pack_links
from cube2net.cube.building.columns import join_columns
from cube2net.records import Corpus, LinkDetails, Links
from cube2net.records.corpus import LINK_DETAILS
from cube2net.records.link_details import DETAILS, FORWARD, ITEM, KIND, MORE


def no_details(corpus: Corpus) -> LinkDetails | None:
    """Return details of no links, with the columns that those of a corpus have; None where its links say nothing."""
    if corpus.links is None:
        return None
    said = {name: corpus.links.schema.field(name).type for name in LINK_DETAILS if name in corpus.links.column_names}
    if not said and not corpus.directed:
        return None
    kinds = {name: MORE.get(name, kind) for name, kind in said.items()}
    if corpus.directed:
        kinds = {FORWARD: MORE[FORWARD]} | kinds
    return LinkDetails(np.zeros(1, np.int64), pa.schema(list((DETAILS | kinds).items())).empty_table())


def grow_details(old: LinkDetails, links: pa.Table, objects: int, items: int) -> LinkDetails:
    """Return details with those of other links added, of which only what the old ones say is kept.

    Rows of the same two ends stay in the order in which they came. ``objects`` is how many there are now, and ``items``
    how many there were: those that state the new links are counted on from there.
    """
    lower, new = _rows_of(links, old.columns, items)
    columns = {}
    for name in old.rows.column_names:
        join = _join_kinds if name == KIND else join_columns
        columns[name] = join(old.rows[name], new[name], f"the column {name!r} of links")
    rows = pa.table(columns)
    if len(old) == 0:
        return LinkDetails(offsets(lower, objects), rows.combine_chunks())
    keys = old.lower.astype(np.int64) * objects + old.higher
    more = lower.astype(np.int64) * objects + new["higher"].to_numpy()
    place = np.searchsorted(keys, more, side="right") + np.arange(len(more))
    order = np.empty(len(keys) + len(more), np.int64)
    is_new = np.zeros(len(order), dtype=bool)
    is_new[place] = True
    order[place] = len(keys) + np.arange(len(more))
    order[~is_new] = np.arange(len(keys))
    counts = np.bincount(lower, minlength=objects)
    counts[: len(old.indptr) - 1] += np.diff(old.indptr)
    indptr = np.zeros(objects + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    return LinkDetails(indptr, rows.take(pa.array(order)).combine_chunks())


def links_of_rows(details: LinkDetails, kept: Array) -> tuple[Links, LinkDetails]:
    """Return the links of the rows that are marked, as if no others had been given, and these rows."""
    rows = details.rows.filter(pa.array(kept)).combine_chunks()
    left = LinkDetails(offsets(details.lower[kept], len(details.indptr) - 1), rows)
    columns = {"source": left.lower, "target": left.higher, "weight": left.column("weight")}
    return pack_links(pa.table(columns), len(left.indptr) - 1), left


def details_without(load: Callable[[], LinkDetails], source: Array, target: Array) -> LinkDetails:
    """Return the rows of links without those of some pairs."""
    details = load()
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    inside = np.zeros(len(details) + 1, np.int64)
    np.add.at(inside, begin, 1)
    np.add.at(inside, end, -1)
    return links_of_rows(details, np.cumsum(inside[:-1]) == 0)[1]


def _rows_of(links: pa.Table, columns: Sequence[str], items: int) -> tuple[Array, pa.Table]:
    """Return the lower ends of links, ascending, and their rows; one that goes from an object to itself is left out."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = np.lexsort((high, low))
    order = order[(low != high)[order]]
    rows = pa.array(order)
    made: dict[str, pa.Array | pa.ChunkedArray] = {
        "higher": pa.array(high[order], pa.int32()),
        "weight": links["weight"].take(rows),
    }
    for name in columns:
        if name == FORWARD:
            made[name] = pa.array((source < target)[order])
        elif name not in links.column_names:
            made[name] = pa.nulls(len(order), MORE.get(name, pa.null()))
        elif name == KIND:
            made[name] = _coded(links[name].take(rows))
        elif name == ITEM:
            made[name] = pc.cast(pc.add(links[name].take(rows), items), pa.int32())
        else:
            made[name] = links[name].take(rows)
    return low[order], pa.table(made)


def _coded(kinds: pa.ChunkedArray) -> pa.Array:
    """Return kinds by their numbers, in the order of their names."""
    names = pc.unique(kinds.drop_null()).sort()
    return _by_number(pc.index_in(kinds, value_set=names), names)


def _join_kinds(first: pa.ChunkedArray, second: pa.ChunkedArray, what: str) -> pa.Array:
    """Return the kinds of some links and of others; ``what`` they are is said by others of this kind."""
    parts = [one for column in (first, second) for one in column.chunks]
    names = pa.array(sorted({name for one in parts for name in one.dictionary.to_pylist()}), pa.string())
    numbers = [pc.index_in(one.dictionary, value_set=names).take(one.indices) for one in parts]
    return _by_number(pa.concat_arrays(numbers), names)


def _by_number(numbers: pa.Array | pa.ChunkedArray, names: pa.Array) -> pa.Array:
    numbers = pa.concat_arrays(numbers.chunks) if isinstance(numbers, pa.ChunkedArray) and numbers.chunks else numbers
    numbers = pa.array([], pa.int32()) if isinstance(numbers, pa.ChunkedArray) else numbers
    return pa.DictionaryArray.from_arrays(pc.cast(numbers, pa.int32()), names)
