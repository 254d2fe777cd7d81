"""The ledger of a cube: what it keeps of its items, besides cells and links, so that others can be added exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, flatten_texts
from cube2net.errors import CubeError
from cube2net.model.corpus import LABELS, table
from cube2net.model.cube import Cube

FORMAT = 2
METADATA = b"cube2net.ledger"
RESTS = {"source": pa.int32(), "target": pa.int32(), "rest": pa.float64()}
FAMILIES = {
    "level": pa.int32(),
    "labels": pa.list_(pa.int32()),
    "parents": pa.list_(pa.int32()),
    "items": pa.int64(),
}
TABLES = {"ledger": LABELS, "ledger.families": FAMILIES, "ledger.rests": RESTS}
"""The tables of a ledger and their columns."""
NULLABLE_COLUMNS = ("full_name", "parent")
METADATA_FIELDS = (
    *("derived", "above", "kinds", "numbers", "topics", "topic_parents"),
    *("dropped", "unlabelled", "selfish", "crowded"),
)


@dataclass(frozen=True, eq=False)
class Families:
    """Counts of the items that have exactly some labels of one level and some of the level above it.

    ``rows[k, l]`` holds the families of k labels and l parents: a row of k + l numbers for each, and the number of
    its items. Most items have one label and one parent.
    """

    rows: Mapping[tuple[int, int], tuple[Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, below: tuple[Array, Array], above: tuple[Array, Array], items: int) -> Families:
        """Return the families of ``items`` items, given pairs of item and label, and of item and parent."""
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
            rows[k, l] = _sum_rows(np.concatenate(parts, axis=1), np.ones(len(some), np.int64))
        return cls(rows)

    @classmethod
    def read(cls, table: pa.Table) -> Families:
        """Return the families of a table that :meth:`table` wrote."""
        sizes = [np.diff(_get_lists(table, name).offsets.to_numpy()) for name in ("labels", "parents")]
        rows = {}
        for k, l in np.unique(np.stack(sizes), axis=1).T.tolist():  # noqa: E741
            some = pa.array((sizes[0] == k) & (sizes[1] == l))
            part = table.filter(some)
            values = [
                _get_lists(part, name).flatten().to_numpy().reshape(part.num_rows, width)
                for name, width in (("labels", k), ("parents", l))
            ]
            rows[k, l] = (np.concatenate(values, axis=1), part["items"].to_numpy())
        return cls(rows)

    def table(self, level: int) -> pa.Table:
        """Return the families as a table."""
        schema = pa.schema(list(FAMILIES.items()))
        parts = [
            pa.table(
                {
                    "level": pa.array(np.full(len(counts), level), pa.int32()),
                    "labels": _make_lists(codes[:, :k]),
                    "parents": _make_lists(codes[:, k:]),
                    "items": pa.array(counts, pa.int64()),
                },
                schema=schema,
            )
            for (k, _), (codes, counts) in sorted(self.rows.items())
        ]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def plus(self, other: Families) -> Families:
        """Return the sum of these families and others."""
        rows = dict(self.rows)
        for shape, (codes, counts) in other.rows.items():
            old = rows.get(shape, (codes[:0], counts[:0]))
            rows[shape] = _sum_rows(np.concatenate([old[0], codes]), np.concatenate([old[1], counts]))
        return Families(rows)

    def renumber(self, labels: Array, parents: Array) -> Families:
        """Return the families with new numbers of labels and parents."""
        return Families(
            {
                (k, l): (np.concatenate([labels[codes[:, :k]], parents[codes[:, k:]]], axis=1), counts)
                for (k, l), (codes, counts) in self.rows.items()  # noqa: E741
            }
        )

    def lift(self, places: Array) -> Families:
        """Return the families of the coarser labels that ``places`` maps these labels to, distinct for every item."""
        families = Families()
        for (k, l), (codes, counts) in self.rows.items():  # noqa: E741
            labels = np.sort(places[codes[:, :k]], axis=1)
            first = np.ones(labels.shape, dtype=bool)
            first[:, 1:] = labels[:, 1:] != labels[:, :-1]
            widths = first.sum(axis=1)
            for width in np.unique(widths).tolist():
                some = widths == width
                below = labels[some][first[some]].reshape(-1, width)
                rows = np.concatenate([below, codes[some, k:]], axis=1)
                families = families.plus(Families({(width, l): (rows, counts[some])}))
        return families

    def majority(self, labels: int, parents: int) -> Array:
        """Return for every label the parent that most of its items have (ties: the lowest number), or -1."""
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
        with_parent, first = np.unique(pairs[order] // width, return_index=True)
        best = np.full(labels, -1, dtype=np.int32)
        best[with_parent] = pairs[order][first] % width
        return best

    def strays(self, best: Array) -> int:
        """Return how many items have a label without having the label's parent."""
        count = 0
        for (k, _), (codes, counts) in self.rows.items():
            parents = codes[:, k:]
            apart = np.zeros(len(codes), dtype=bool)
            for i in range(k):
                apart |= (parents != best[codes[:, i]][:, None]).all(axis=1)
            count += int(counts[apart].sum())
        return count


@dataclass(frozen=True, eq=False)
class Ledger:
    """What the cells and links of a cube do not hold of the items they were made from.

    Parameters
    ----------
    items
        64-bit hashes of the ids of all items, sorted.
    labels
        The full names and parents that the source has for labels, used or not.
    derived
        Whether links come from items that mention both ends.
    above
        By level: where its labels come from, ``attribute``, ``bins``, ``labels`` or ``topics``.
    kinds
        By attribute: the kind of its values.
    numbers
        By level: a number of every bin, a fraction if the bin has one.
    families
        By level: counts of its labels together with those of the nearest level below that items have themselves.
    topics, topic_parents
        The topics in their order, and their groups.
    rests
        The rounding errors of the weights of given links.
    dropped, unlabelled, selfish, crowded
        Counts: what the source left out, items without a label by dimension, self-links, and items that mention too
        many objects to make links.
    """

    items: Array
    labels: pa.Table
    derived: bool
    above: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, Array] = field(default_factory=dict)
    families: Mapping[str, Families] = field(default_factory=dict)
    topics: tuple[str, ...] | None = None
    topic_parents: tuple[str, ...] | None = None
    rests: pa.Table = field(default_factory=lambda: table(RESTS))
    dropped: Mapping[str, int] = field(default_factory=dict)
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    selfish: int = 0
    crowded: int = 0

    def __repr__(self) -> str:
        return f"Ledger({len(self.items):,} items)"

    @classmethod
    def empty(cls, *, derived: bool) -> Ledger:
        """Return the ledger of a cube without items."""
        return cls(items=np.empty(0, np.uint64), labels=table(LABELS), derived=derived)

    @property
    def is_empty(self) -> bool:
        """Whether no item was added yet: every dimension is made of an attribute or of topics."""
        return not self.kinds and self.topics is None

    def knows(self, numbers: Array) -> Array:
        """Return which items, given by the hashes of their ids, the cube has."""
        if len(self.items) == 0:
            return np.zeros(len(numbers), dtype=bool)
        place = np.minimum(np.searchsorted(self.items, numbers), len(self.items) - 1)
        return np.asarray(self.items[place] == numbers)

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables of the ledger by name; the hashes of items are not among them."""
        about = {"format": FORMAT} | {name: getattr(self, name) for name in METADATA_FIELDS}
        about["numbers"] = {name: numbers.tolist() for name, numbers in self.numbers.items()}
        about["families"] = list(self.families)
        tables = {"ledger": self.labels.replace_schema_metadata({METADATA: json.dumps(about).encode()})}
        if self.families:
            parts = [families.table(number) for number, families in enumerate(self.families.values())]
            tables["ledger.families"] = pa.concat_tables(parts)
        if self.rests.num_rows:
            tables["ledger.rests"] = self.rests
        return tables

    @classmethod
    def read(cls, items: Array, tables: Mapping[str, pa.Table]) -> Ledger:
        """Return the ledger of the hashes of its items and its tables."""
        about: dict[str, Any] = json.loads(tables["ledger"].schema.metadata[METADATA])
        if about["format"] != FORMAT:
            raise CubeError(f"the cube's ledger has format {about['format']}, and this cube2net reads {FORMAT}")
        values: dict[str, Any] = {name: about[name] for name in METADATA_FIELDS}
        values["numbers"] = {name: np.array(numbers) for name, numbers in values["numbers"].items()}
        for name in ("topics", "topic_parents"):
            values[name] = None if values[name] is None else tuple(values[name])
        rows = tables.get("ledger.families", table(FAMILIES))
        families = {
            name: Families.read(rows.filter(pc.equal(rows["level"], number)))
            for number, name in enumerate(about["families"])
        }
        labels = tables["ledger"].replace_schema_metadata(None)
        return cls(items, labels, families=families, rests=tables.get("ledger.rests", table(RESTS)), **values)


def require_ledger(cube: Cube) -> Ledger:
    """Return the ledger of a cube to which items can be added."""
    views = cube.settings.get("views")
    if views or cube.finest is not None:
        raise CubeError(f"the cube is a view of another ({'; '.join(views or ())}): add the items to that one")
    if cube.ledger is None:
        raise CubeError("the cube has no ledger of its items: build it again to add items to it")
    ledger: Ledger = cube.ledger()
    return ledger


def hash_column(ids: pa.ChunkedArray) -> Array:
    """Return a 64-bit hash of every text of a column, the same on every machine."""
    from cube2net.kernels.text import hash_texts

    return hash_texts(*flatten_texts(ids))


def _sum_rows(codes: Array, counts: Array) -> tuple[Array, Array]:
    """Return every row once, ascending, with the sum of its counts."""
    if codes.shape[1] == 2:
        keys, place = np.unique(codes[:, 0].astype(np.int64) << 32 | codes[:, 1], return_inverse=True)
        rows = np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)
    else:
        rows, place = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros(len(rows), np.int64)
    np.add.at(total, place.ravel(), counts)
    return rows.astype(np.int32), total


def _get_lists(table: pa.Table, name: str) -> pa.Array:
    """Return a column of lists as one array whose offsets start at 0."""
    column = table[name].combine_chunks()
    return column.take(pa.array(np.arange(len(column))))


def _make_lists(rows: Array) -> pa.Array:
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(offsets, pa.array(rows.reshape(-1), pa.int32()))
