"""Attributes become dimensions: every item gets its labels, every label its parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.cube.bins import bin_numbers, is_bins, parse_bins
from cube2net.errors import ParameterError, SourceError, some, unknown
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics
from cube2net.records.ragged import Array

TOPIC = "topic"


@dataclass(frozen=True, eq=False)
class Labelled:
    """The dimensions of a corpus, a table ``(item, dimension, label)``, and items without a label by dimension."""

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    unlabelled: dict[str, int]


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
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {', '.join(names)}")
    dimensions, tables, unlabelled = [], [], {}
    for number, spec in enumerate(specs):
        column = _read(corpus, spec.attribute, spec.bins, topics)
        dimensions.append(_dimension(corpus, spec, column, topics))
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
    return Labelled(tuple(dimensions), pa.concat_tables(tables), unlabelled)


def _dimension(corpus: Corpus, spec: DimensionSpec, column: _Column, topics: Topics | None) -> Dimension:
    known = corpus.labels.filter(pc.equal(corpus.labels["attribute"], spec.attribute))
    full = dict(zip(known["label"].to_pylist(), known["full_name"].to_pylist(), strict=True))
    full_names = tuple(full.get(name) or name for name in column.names)
    if spec.parent is None:
        return Dimension((Level(spec.name, column.names, full_names),))
    if spec.parent == spec.name:
        raise ParameterError(f"dimension {spec.name!r} cannot be its own parent")
    if spec.attribute == TOPIC and topics is not None and topics.parents is not None:
        parents = dict(zip(topics.names, topics.parents, strict=True))
        return _with_parents(spec, column, full_names, [parents[name] for name in column.names])
    if spec.parent in corpus.attributes or (is_bins(spec.parent) and spec.bins is not None):
        by_bins = spec.parent not in corpus.attributes
        above = _read(corpus, spec.attribute if by_bins else spec.parent, spec.parent if by_bins else None, None)
        codes = _majority(column, above)
        missing = [name for name, code in zip(column.names, codes.tolist(), strict=True) if code < 0]
        if missing:
            raise SourceError(f"{len(missing):,} labels of {spec.name!r} have no {spec.parent!r}: {some(missing)}")
        level = Level(spec.name, column.names, full_names, codes)
        return Dimension((level, Level(spec.parent, above.names, above.names)))
    given = dict(zip(known["label"].to_pylist(), known["parent"].to_pylist(), strict=True))
    if not any(given.values()):
        raise ParameterError(
            f"nothing says which {spec.parent!r} a label of {spec.name!r} belongs to: name an attribute of the items "
            f"({', '.join(corpus.attributes)}), or coarser bins for a number"
        )
    return _with_parents(spec, column, full_names, [given.get(name) or "other" for name in column.names])


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
        codes, labels = bin_numbers(values, bins)
        return _Column(items, codes, labels)
    return _categories(column)


def _numbers(column: pa.Array, attribute: str) -> tuple[Array, Array]:
    if pa.types.is_temporal(column.type):
        column = pc.year(column)
    try:
        numbers = pc.cast(column, pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        bad = [value for value in column.to_pylist() if value is not None and not _is_number(value)]
        raise SourceError(
            f"attribute {attribute!r} is {bad[0]!r} in an item, expected a number (in {len(bad):,} items)"
        ) from None
    values = numbers.to_numpy(zero_copy_only=False)
    items = np.flatnonzero(np.isfinite(values)).astype(np.int32)
    return items, values[items]


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


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


def _majority(below: _Column, above: _Column) -> Array:
    """Return for every label the label above that most of its items have (the first by name on ties)."""
    first = np.full(int(max(below.items.max(initial=-1), above.items.max(initial=-1))) + 1, -1, dtype=np.int64)
    first[above.items[::-1]] = above.codes[::-1]
    parents = first[below.items]
    seen = parents >= 0
    width = max(len(above.names), 1)
    pairs, counts = np.unique(below.codes[seen].astype(np.int64) * width + parents[seen], return_counts=True)
    best = np.full(len(below.names), -1, dtype=np.int32)
    most = np.zeros(len(below.names), dtype=np.int64)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        label, parent = divmod(pair, width)
        if count > most[label]:
            most[label], best[label] = count, parent
    return best
