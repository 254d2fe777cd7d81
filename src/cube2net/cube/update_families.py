"""Which labels go with which parents, counted: what the parents of a growing dimension are decided by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array

FAMILIES = {"dimension": pa.int32(), "labels": pa.list_(pa.int32()), "parents": pa.list_(pa.int32())} | {
    "items": pa.int64()
}


@dataclass(frozen=True, eq=False)
class Families:
    """How many items have exactly these labels and these parents, for items that have both.

    ``rows[k, l]`` holds the families of k labels and l parents: a row of k + l numbers each, and how many
    items are such. Items of one label and one parent, which are most, are so many pairs.
    """

    rows: Mapping[tuple[int, int], tuple[Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, below: tuple[Array, Array], above: tuple[Array, Array], items: int) -> Families:
        """Return the families of ``items`` items, from the items and labels of pairs, and those of parents."""
        sizes = [np.bincount(pairs[0], minlength=items) for pairs in (below, above)]
        starts = [np.cumsum(size) - size for size in sizes]
        codes = [codes[np.lexsort((codes, numbers))] for numbers, codes in (below, above)]
        both = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))
        kinds = np.stack([size[both] for size in sizes])
        rows = {}
        for k, l in np.unique(kinds, axis=1).T.tolist():  # noqa: E741
            some = both[(kinds[0] == k) & (kinds[1] == l)]
            parts = [
                code[start[some][:, None] + np.arange(width)]
                for code, start, width in zip(codes, starts, (k, l), strict=True)
            ]
            rows[k, l] = _counted(np.concatenate(parts, axis=1), np.ones(len(some), np.int64))
        return cls(rows)

    @classmethod
    def read(cls, table: pa.Table) -> Families:
        """Return families from a table of their labels, parents and items."""
        sizes = [np.diff(_list(table, name).offsets.to_numpy()) for name in ("labels", "parents")]
        rows = {}
        for k, l in np.unique(np.stack(sizes), axis=1).T.tolist():  # noqa: E741
            some = pa.array((sizes[0] == k) & (sizes[1] == l))
            part = table.filter(some)
            values = [
                _list(part, name).flatten().to_numpy().reshape(part.num_rows, width)
                for name, width in (("labels", k), ("parents", l))
            ]
            rows[k, l] = (np.concatenate(values, axis=1), part["items"].to_numpy())
        return cls(rows)

    def table(self, dimension: int) -> pa.Table:
        """Return the families as a table; ``read`` takes it back."""
        schema = pa.schema(list(FAMILIES.items()))
        parts = [
            pa.table(
                {
                    "dimension": pa.array(np.full(len(counts), dimension), pa.int32()),
                    "labels": _lists(codes[:, :k]),
                    "parents": _lists(codes[:, k:]),
                    "items": pa.array(counts, pa.int64()),
                },
                schema=schema,
            )
            for (k, _), (codes, counts) in sorted(self.rows.items())
        ]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def plus(self, other: Families) -> Families:
        """Return these families and others, each once."""
        rows = dict(self.rows)
        for shape, (codes, counts) in other.rows.items():
            old = rows.get(shape, (codes[:0], counts[:0]))
            rows[shape] = _counted(np.concatenate([old[0], codes]), np.concatenate([old[1], counts]))
        return Families(rows)

    def renumber(self, labels: Array, parents: Array) -> Families:
        """Return the families with their labels and parents numbered anew."""
        return Families(
            {
                (k, l): (np.concatenate([labels[codes[:, :k]], parents[codes[:, k:]]], axis=1), counts)
                for (k, l), (codes, counts) in self.rows.items()  # noqa: E741
            }
        )

    def majority(self, labels: int, parents: int) -> Array:
        """Return for every label the parent that most of its items have (the first by name on ties), or -1."""
        width = max(parents, 1)
        keys, items = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for (k, l), (codes, counts) in self.rows.items():  # noqa: E741
            for i in range(k):
                for j in range(l):
                    keys.append(codes[:, i].astype(np.int64) * width + codes[:, k + j])
                    items.append(counts)
        pairs, place = np.unique(np.concatenate(keys), return_inverse=True)
        total = np.zeros(len(pairs), np.int64)
        np.add.at(total, place, np.concatenate(items))
        order = np.lexsort((pairs, -total, pairs // width))
        found, first = np.unique(pairs[order] // width, return_index=True)
        best = np.full(labels, -1, dtype=np.int32)
        best[found] = pairs[order][first] % width
        return best

    def strays(self, best: Array) -> int:
        """Return how many items have a label whose parent they do not have."""
        count = 0
        for (k, _), (codes, counts) in self.rows.items():
            parents = codes[:, k:]
            apart = np.zeros(len(codes), dtype=bool)
            for i in range(k):
                apart |= (parents != best[codes[:, i]][:, None]).all(axis=1)
            count += int(counts[apart].sum())
        return count


def _counted(codes: Array, counts: Array) -> tuple[Array, Array]:
    """Return every row once, ascending, with the sum of its counts."""
    if codes.shape[1] == 2:
        keys, place = np.unique(codes[:, 0].astype(np.int64) << 32 | codes[:, 1], return_inverse=True)
        rows = np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)
    else:
        rows, place = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros(len(rows), np.int64)
    np.add.at(total, place.ravel(), counts)
    return rows.astype(np.int32), total


def _list(table: pa.Table, name: str) -> pa.Array:
    """Return a column of lists in one piece that starts at its first entry."""
    column = table[name].combine_chunks()
    column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    return column.take(pa.array(np.arange(len(column))))


def _lists(rows: Array) -> pa.Array:
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(offsets, pa.array(rows.reshape(-1), pa.int32()))
