"""Attributes become dimensions: every item gets its labels, every label its parent.

A label has one parent. Where the parent is read from another attribute (city → state) it is the one that most
items of the label have, and the items that have another are counted; bins above bins must hold whole ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.cube.bins import bin_numbers, is_bins, parse_bins
from cube2net.errors import ParameterError, SourceError, some, unknown
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics
from cube2net.records.ragged import Array

TOPIC = "topic"
NUMBER = r"(?i)^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)$"


@dataclass(frozen=True, eq=False)
class Labelled:
    """The dimensions of a corpus, a table ``(item, dimension, label)``, and what does not fit.

    ``unlabelled`` counts the items without a label by dimension. ``strays`` counts, by dimension and level
    above, the items that have another parent there than their label has.
    """

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    unlabelled: dict[str, int]
    strays: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Column:
    """The labels of one attribute: the item and the label of every pair, and the labels' names."""

    items: Array
    codes: Array
    names: tuple[str, ...]


def label_items(corpus: Corpus, specs: Sequence[DimensionSpec], topics: Topics | None = None) -> Labelled:
    """Return the labels of every item in every dimension."""
    if not specs:
        raise ParameterError(f"a cube needs a dimension: choose among the attributes {', '.join(corpus.attributes)}")
    _check_names(specs)
    dimensions, tables, unlabelled, strays = [], [], {}, {}
    for number, spec in enumerate(specs):
        column = _read(corpus, spec.attribute, spec.bins, topics)
        if not column.names:
            raise SourceError(
                f"dimension {spec.name!r} would have no label: no item has a value of the attribute "
                f"{spec.attribute!r}; read another attribute, or leave the dimension out"
            )
        dimension, apart = _dimension(corpus, spec, column, topics)
        dimensions.append(dimension)
        if apart and spec.parent is not None:
            strays[spec.name, spec.parent] = apart
        lost = corpus.items.num_rows - len(np.unique(column.items))
        if lost:
            unlabelled[spec.name] = lost
        tables.append(
            pa.table(
                {
                    "item": pa.array(column.items, pa.int32()),
                    "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
                    "label": pa.array(column.codes, pa.int32()),
                }
            )
        )
    return Labelled(tuple(dimensions), pa.concat_tables(tables), unlabelled, strays)


def _check_names(specs: Sequence[DimensionSpec]) -> None:
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {', '.join(names)}")
    for spec in specs:
        if spec.parent == spec.name:
            raise ParameterError(f"dimension {spec.name!r} cannot be its own parent")
    taken = {name: name for name in names}
    for spec in specs:
        if spec.parent is None:
            continue
        if spec.parent in taken:
            raise ParameterError(
                f"the level {spec.parent!r} above {spec.name!r} has the name of a level of dimension "
                f"{taken[spec.parent]!r}: every dimension and level of a cube needs its own name"
            )
        taken[spec.parent] = spec.name


def _dimension(corpus: Corpus, spec: DimensionSpec, column: _Column, topics: Topics | None) -> tuple[Dimension, int]:
    """Return a dimension with its levels, and how many items have another parent than their label."""
    known = corpus.labels.filter(pc.equal(corpus.labels["attribute"], spec.attribute))
    full = dict(zip(known["label"].to_pylist(), known["full_name"].to_pylist(), strict=True))
    full_names = tuple(full.get(name) or name for name in column.names)
    if spec.parent is None:
        return Dimension((Level(spec.name, column.names, full_names),)), 0
    if spec.attribute == TOPIC and topics is not None and topics.parents is not None:
        parents = dict(zip(topics.names, topics.parents, strict=True))
        return _with_parents(spec, column, full_names, [parents[name] for name in column.names]), 0
    if spec.parent in corpus.attributes or (is_bins(spec.parent) and spec.bins is not None):
        by_bins = spec.parent not in corpus.attributes
        above = _read(corpus, spec.attribute if by_bins else spec.parent, spec.parent if by_bins else None, None)
        family = _Family.of(column, above)
        codes = family.majority()
        missing = [name for name, code in zip(column.names, codes.tolist(), strict=True) if code < 0]
        if missing:
            raise SourceError(f"{len(missing):,} labels of {spec.name!r} have no {spec.parent!r}: {some(missing)}")
        apart = family.strays(codes)
        if by_bins and len(apart):
            row = int(apart[0])
            raise ParameterError(
                f"the bins {spec.parent!r} do not hold whole bins of {spec.bins!r}: "
                f"{column.names[column.codes[row]]!r} lies in {family.parents_of(int(column.codes[row]))}"
            )
        level = Level(spec.name, column.names, full_names, codes)
        dimension = Dimension((level, Level(spec.parent, above.names, above.names)))
        return dimension, len(np.unique(column.items[apart]))
    given = dict(zip(known["label"].to_pylist(), known["parent"].to_pylist(), strict=True))
    if not any(given.values()):
        raise ParameterError(
            f"nothing says which {spec.parent!r} a label of {spec.name!r} belongs to: name an attribute of the items "
            f"({', '.join(corpus.attributes)}), or coarser bins for a number"
        )
    return _with_parents(spec, column, full_names, [given.get(name) or "other" for name in column.names]), 0


def _with_parents(
    spec: DimensionSpec, column: _Column, full_names: tuple[str, ...], parents: Sequence[str]
) -> Dimension:
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    above = tuple(str(name) for name in names)
    level = Level(spec.name, column.names, full_names, codes.astype(np.int32))
    return Dimension((level, Level(spec.parent or "", above, above)))


def _read(corpus: Corpus, attribute: str, bins: str | None, topics: Topics | None) -> _Column:
    if attribute == TOPIC and topics is not None:
        codes = topics.assigned["topic"].to_numpy()
        used, dense = np.unique(codes, return_inverse=True)
        names = tuple(topics.names[code] for code in used.tolist())
        return _Column(topics.assigned["item"].to_numpy(), dense.astype(np.int32), names)
    if attribute not in corpus.attributes:
        raise unknown("attribute", attribute, corpus.attributes)
    column = corpus.items[attribute].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if bins is not None:
        parse_bins(bins)
        items, values = _numbers(column, attribute)
        codes, labels = bin_numbers(values, bins, f"attribute {attribute!r}")
        return _Column(items, codes, labels)
    return _categories(column)


def _numbers(column: pa.Array, attribute: str) -> tuple[Array, Array]:
    """Return the items that have a number, and the numbers; a date stands for its year, a blank text for none."""
    try:
        if pa.types.is_temporal(column.type):
            column = pc.year(column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(texts, ""), None, texts)
            bad = column.filter(pc.invert(pc.match_substring_regex(column, NUMBER))).to_pylist()
            if bad:
                raise _not_numbers(attribute, bad)
        values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        bad = [value for value in column.to_pylist() if value is not None]
        if bad:
            raise _not_numbers(attribute, bad) from None
        values = np.full(len(column), np.nan)
    items = np.flatnonzero(np.isfinite(values)).astype(np.int32)
    return items, values[items]


def _not_numbers(attribute: str, bad: Sequence[object]) -> SourceError:
    return SourceError(f"attribute {attribute!r} is {bad[0]!r} in an item, expected a number (in {len(bad):,} items)")


def _categories(column: pa.Array) -> _Column:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        items = pc.list_parent_indices(column).to_numpy()
        column = pc.list_flatten(column)
    else:
        items = np.arange(len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    keep = np.asarray(pc.fill_null(pc.not_equal(texts, ""), False))
    encoded = texts.filter(pa.array(keep)).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    pairs = np.unique(np.stack([items[keep].astype(np.int64), place[codes].astype(np.int64)]), axis=1)
    return _Column(pairs[0].astype(np.int32), pairs[1].astype(np.int32), tuple(names[i] for i in order))


@dataclass(frozen=True, eq=False)
class _Family:
    """Every label of an item beside every parent that the item has: rows of ``below``, and parents' numbers."""

    below: _Column
    above: _Column
    rows: Array
    parents: Array

    @classmethod
    def of(cls, below: _Column, above: _Column) -> _Family:
        order = np.argsort(above.items, kind="stable")
        items, codes = above.items[order], above.codes[order]
        starts = np.searchsorted(items, below.items, side="left")
        counts = np.searchsorted(items, below.items, side="right") - starts
        rows = np.repeat(np.arange(len(below.items)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(below, above, rows, codes[starts[rows] + within])

    def majority(self) -> Array:
        """Return for every label the parent that most of its items have (the first by name on ties), or -1."""
        width = max(len(self.above.names), 1)
        keys = self.below.codes[self.rows].astype(np.int64) * width + self.parents
        pairs, counts = np.unique(keys, return_counts=True)
        order = np.lexsort((pairs, -counts, pairs // width))
        labels, first = np.unique(pairs[order] // width, return_index=True)
        best = np.full(len(self.below.names), -1, dtype=np.int32)
        best[labels] = pairs[order][first] % width
        return best

    def strays(self, best: Array) -> Array:
        """Return the rows whose item has parents, but not that of its label."""
        size = len(self.below.items)
        right = self.rows[self.parents == best[self.below.codes[self.rows]]]
        return np.flatnonzero(np.bincount(self.rows, minlength=size) * (np.bincount(right, minlength=size) == 0))

    def parents_of(self, label: int) -> str:
        """Return the names of the parents that the items of a label have."""
        used = np.unique(self.parents[self.below.codes[self.rows] == label])
        return " and ".join(repr(self.above.names[code]) for code in used.tolist())
