"""Links that grow: new ones are packed on both their ends, or add their weights to those that are there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import merge_links, offsets, sum_links
from cube2net.cube.format.ledger import RESTS
from cube2net.cube.format.parts import Allocate, in_memory
from cube2net.cube.grow.cell_members import longer, offsets_of
from cube2net.records import Links
from cube2net.records.corpus import table
from cube2net.records.link_weights import left_over


def grow_links(
    links: Links, rests: pa.Table, brought: pa.Table, objects: int, selfish: int, allocate: Allocate = in_memory
) -> tuple[Links, pa.Table]:
    """Return links with others added, and the rests of their sums; the same link adds its weights.

    ``rests(source, target, rest)`` is what weights lack of their sums for being rounded. ``selfish`` is how many of the
    others go from an object to itself: they are left out. Where there are no links the others are packed as they come.
    """
    if len(links.indices) == 0:
        packed = pack_links(brought, objects, allocate)
        return packed, _rests_of(brought, packed, selfish)
    from cube2net.kernels.csr import add_links

    low, high, total = sum_links(*_columns(brought), objects)
    if len(low) == 0:
        return Links(longer(links.indptr, objects), links.indices, links.weights), rests
    rows, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((ends, rows))
    used, place = np.unique(rows[order], return_inverse=True)
    which = np.full(objects, -1, np.int64)
    which[used] = np.arange(len(used))
    pairs = rows[order].astype(np.int64) * objects + ends[order]
    known = rests["source"].to_numpy().astype(np.int64) * objects + rests["target"].to_numpy()
    lacking = np.zeros(len(pairs))
    for both in (known, rests["target"].to_numpy().astype(np.int64) * objects + rests["source"].to_numpy()):
        at = np.minimum(np.searchsorted(pairs, both), len(pairs) - 1)
        hit = pairs[at] == both
        lacking[at[hit]] = rests["rest"].to_numpy()[hit]
    indptr, indices, weights = add_links(
        links.indptr,
        links.indices,
        links.weights,
        offsets(place, len(used)),
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


def pack_links(rows: pa.Table, objects: int, allocate: Allocate = in_memory) -> Links:
    """Return undirected links on both ends; repeated links add their weights, self-links are dropped.

    Links that come once each, from the lower object to the higher and ascending, are packed as they come. Others are
    put into that order first, in memory.

    >>> table = pa.table({"source": [0, 1, 2], "target": [1, 0, 2], "weight": [1.0, 1.0, 1.0]})
    >>> links = pack_links(table, 3)
    >>> links, links.weights.tolist()
    (Links(3 objects, 1 links), [2.0, 2.0])
    """
    from cube2net.kernels.csr import count_ends, fill_links

    below, above = np.zeros(objects, np.int64), np.zeros(objects, np.int64)
    last = (-1, -1)
    for source, target, _ in _batches(rows):
        if len(source) and (last >= (source[0], target[0]) or count_ends(source, target, below, above) >= 0):
            return pack_links(_in_order(rows, objects), objects, allocate)
        last = (source[-1], target[-1]) if len(source) else last
    indptr = offsets_of(below + above, allocate("links.indptr", objects + 1, np.int64))
    above, below = indptr[:-1] + below, np.array(indptr[:-1])
    indices = allocate("links.indices", int(indptr[-1]), np.int32)
    weights = allocate("links.weights", int(indptr[-1]), np.float32)
    for source, target, weight in _batches(rows):
        fill_links(source, target, weight, below, above, indices, weights)
    return Links(indptr, indices, weights)


def count_left_out(links: pa.Table, made: Mapping[str, pa.Table]) -> tuple[int, int]:
    """Return how many links go from an object to itself, and how many items are too crowded to make links."""
    if "crowded" in made:  # links by co-mention: none of them is selfish
        return 0, made["crowded"].num_rows
    return int((links["source"].to_numpy() == links["target"].to_numpy()).sum()), 0


def _rests_of(rows: pa.Table, links: Links, selfish: int) -> pa.Table:
    """Return what the weights of links lack of their sums; a link that is given once lacks nothing."""
    if rows.num_rows - selfish == links.count:
        return table(RESTS)
    low, high, total = sum_links(*_columns(rows), len(links))
    return _make_rests(low, high, left_over(total))


def _make_rests(source: Array, target: Array, rest: Array) -> pa.Table:
    """Return the rests that are not nothing, by their links."""
    some = np.flatnonzero(rest)
    some = some[np.lexsort((target[some], source[some]))]
    return table(RESTS, source=pa.array(source[some]), target=pa.array(target[some]), rest=pa.array(rest[some]))


def _batches(rows: pa.Table) -> list[tuple[Array, Array, Array]]:
    """Return the columns of every batch; nothing is copied."""
    return [_columns(batch) for batch in rows.to_batches()]


def _columns(rows: pa.Table | pa.RecordBatch) -> tuple[Array, Array, Array]:
    """Return the sources, targets and weights of links."""
    return rows["source"].to_numpy(), rows["target"].to_numpy(), rows["weight"].to_numpy()


def _in_order(rows: pa.Table, objects: int) -> pa.Table:
    merged = merge_links(*_columns(rows), objects)
    return pa.table(dict(zip(("source", "target", "weight"), merged, strict=True)))
