"""Dimensions that grow: the labels of new items beside those that a cube has, and where each old label is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.cube.bins import bin_numbers
from cube2net.cube.columns import Column, read_column, read_numbers
from cube2net.cube.families import Family
from cube2net.cube.update_corpus import join_labels, join_topics
from cube2net.cube.update_families import Families
from cube2net.cube.update_ledger import Ledger, examples, from_topics, kind_of, labels_of
from cube2net.errors import ParameterError, SourceError, listed, some
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics

ANY_NUMBERS = ("whole numbers", "halffloat", "float", "double")
DATES = ("date", "timestamp")


@dataclass(frozen=True, eq=False)
class Grown:
    """Dimensions with old and new labels, the new items' labels in them, and what the ledger learns.

    ``table(item, dimension, label)`` is of the new items. ``places`` holds, by dimension, the new number of every
    old label, ascending. ``unlabelled`` and ``strays`` count all items, as building does.
    """

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    places: tuple[Array, ...]
    unlabelled: dict[str, int]
    strays: dict[tuple[str, str], int]
    labels: pa.Table
    numbers: dict[str, Array]
    families: dict[str, Families]
    topics: tuple[str, ...] | None = None
    topic_parents: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class _Growth:
    """One dimension's labels, old and new: where the old ones are now, and the new items' column.

    For bins, ``values`` are an example of every old bin and then the new numbers, ``codes`` their bins.
    """

    names: tuple[str, ...]
    place: Array
    column: Column
    values: Array = field(default_factory=lambda: np.empty(0))
    codes: Array = field(default_factory=lambda: np.empty(0, np.int32))


def grow(
    dimensions: Sequence[Dimension],
    ledger: Ledger,
    specs: Sequence[DimensionSpec],
    corpus: Corpus,
    topics: Topics | None,
) -> Grown:
    """Return the dimensions of a cube with the labels of a corpus added."""
    order, groups = ledger.topics, ledger.topic_parents
    if order is not None and topics is not None:
        order, groups = join_topics((order, groups), topics)
    for spec in specs:
        _check(spec, ledger, corpus, topics)
    known = join_labels(ledger.labels, labels_of(corpus, specs))
    grown, tables, places, unlabelled, strays = [], [], [], {}, {}
    numbers: dict[str, Array] = {}
    families: dict[str, Families] = {}
    for number, (spec, old) in enumerate(zip(specs, dimensions, strict=True)):
        labels = old.levels[0].labels
        if order is not None and from_topics(spec, topics):
            growth = _topics(labels, read_column(corpus, spec.attribute, None, topics), order)
        elif spec.bins is not None:
            growth = _bins(spec, ledger.numbers[spec.name], corpus)
            numbers[spec.name] = examples(growth.values, growth.codes, len(growth.names))
        else:
            growth = _categories(labels, read_column(corpus, spec.attribute, None, None))
        level, above = _levels(spec, growth, known)
        source = ledger.above.get(spec.name)
        if source == "topics" and order is not None and groups is not None:
            group = dict(zip(order, groups, strict=True))
            dimension = _with_parents(level, spec, [group[name] for name in growth.names])
        elif source == "attribute":
            dimension, families[spec.name], apart = _by_attribute(spec, level, old, growth, ledger, corpus)
            if apart:
                strays[spec.name, spec.parent or ""] = apart
        elif source == "bins":
            dimension = _by_bins(spec, level, growth)
        elif source == "labels":
            dimension = _with_parents(level, spec, [above.get(name) or "other" for name in growth.names])
        else:
            dimension = Dimension((level,))
        lost = ledger.unlabelled.get(spec.name, 0) + corpus.items.num_rows - len(np.unique(growth.column.items))
        if lost:
            unlabelled[spec.name] = lost
        grown.append(dimension)
        places.append(growth.place)
        tables.append(_rows(number, growth.column))
    return Grown(
        dimensions=tuple(grown),
        table=pa.concat_tables(tables),
        places=tuple(places),
        unlabelled=unlabelled,
        strays=strays,
        labels=known,
        numbers=numbers,
        families=families,
        topics=order,
        topic_parents=groups,
    )


def _check(spec: DimensionSpec, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> None:
    """Raise unless new items can have labels in a dimension without moving old ones."""
    for bins in (spec.bins, spec.parent if ledger.above.get(spec.name) == "bins" else None):
        if (bins or "").startswith("quantiles:"):
            raise ParameterError(
                f"dimension {spec.name!r} has the bins {bins!r}, which new items would move: build the cube of all "
                "items again, or one with edges:A,B,C, which stay"
            )
    read = [spec.parent] if ledger.above.get(spec.name) == "attribute" else []
    if from_topics(spec, ledger.topics):
        if topics is None:
            raise ParameterError(
                f"dimension {spec.name!r} needs the topics of the new items: find them by the topic model of the cube"
            )
    else:
        read.append(spec.attribute)
    for attribute in read:
        if attribute not in corpus.attributes:
            raise SourceError(
                f"the new items have no attribute {attribute!r}, which dimension {spec.name!r} of the cube reads: "
                f"they have {listed(corpus.attributes)}"
            )
        kind, known = kind_of(corpus.items.schema.field(attribute).type), ledger.kinds[attribute]
        if not (kind in (known, "null") or (spec.bins is not None and _alike(kind, known))):
            raise SourceError(
                f"attribute {attribute!r} of the new items holds {kind}, and {known} in the cube: give it the same type"
            )


def _alike(kind: str, known: str) -> bool:
    """Return whether the numbers or years of two kinds of values are the same."""
    return (kind in ANY_NUMBERS and known in ANY_NUMBERS) or (kind.startswith(DATES) and known.startswith(DATES))


def _topics(labels: tuple[str, ...], column: Column, order: tuple[str, ...]) -> _Growth:
    used = {*labels, *column.names}
    return _placed(tuple(name for name in order if name in used), labels, column)


def _categories(labels: tuple[str, ...], column: Column) -> _Growth:
    return _placed(tuple(sorted({*labels, *column.names})), labels, column)


def _placed(names: tuple[str, ...], labels: tuple[str, ...], column: Column) -> _Growth:
    number = {name: place for place, name in enumerate(names)}
    place = np.array([number[name] for name in labels], dtype=np.int32)
    codes = np.array([number[name] for name in column.names], dtype=np.int32)[column.codes]
    return _Growth(names, place, Column(column.items, codes, names))


def _bins(spec: DimensionSpec, old: Array, corpus: Corpus) -> _Growth:
    items, new = read_numbers(corpus, spec.attribute)
    values = np.concatenate([old, new])
    codes, names = bin_numbers(values, spec.bins or "", f"attribute {spec.attribute!r}")
    return _Growth(names, codes[: len(old)], Column(items, codes[len(old) :], names), values, codes)


def _levels(spec: DimensionSpec, growth: _Growth, known: pa.Table) -> tuple[Level, dict[str, str]]:
    """Return the level of the labels with their full names, and the parents that are known by label."""
    rows = zip(*(known[name].to_pylist() for name in ("attribute", "label", "full_name", "parent")), strict=True)
    said = {label: (full, parent) for attribute, label, full, parent in rows if attribute == spec.attribute}
    full_names = tuple(said.get(name, ("", ""))[0] or name for name in growth.names)
    return Level(spec.name, growth.names, full_names), {label: parent for label, (_, parent) in said.items()}


def _with_parents(level: Level, spec: DimensionSpec, parents: Sequence[str]) -> Dimension:
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    above = tuple(str(name) for name in names)
    return _under(level, codes.astype(np.int32), Level(spec.parent or "", above, above))


def _under(level: Level, parents: Array, above: Level) -> Dimension:
    return Dimension((Level(level.name, level.labels, level.full_names, parents), above))


def _by_attribute(
    spec: DimensionSpec, level: Level, old: Dimension, growth: _Growth, ledger: Ledger, corpus: Corpus
) -> tuple[Dimension, Families, int]:
    """Return the dimension whose parents are those that most items have, and how many items have another."""
    above = _categories(old.levels[1].labels, read_column(corpus, spec.parent or "", None, None))
    new = Families.of(
        (growth.column.items, growth.column.codes), (above.column.items, above.column.codes), corpus.items.num_rows
    )
    families = ledger.families[spec.name].renumber(growth.place, above.place).plus(new)
    parents = families.majority(len(growth.names), len(above.names))
    missing = [name for name, code in zip(growth.names, parents.tolist(), strict=True) if code < 0]
    if missing:
        raise SourceError(f"{len(missing):,} labels of {spec.name!r} have no {spec.parent!r}: {some(missing)}")
    coarse = Level(spec.parent or "", above.names, above.names)
    return _under(level, parents, coarse), families, families.strays(parents)


def _by_bins(spec: DimensionSpec, level: Level, growth: _Growth) -> Dimension:
    """Return the dimension whose parents are coarser bins, each of which holds whole bins."""
    codes, names = bin_numbers(growth.values, spec.parent or "", f"attribute {spec.attribute!r}")
    rows = np.arange(len(codes))
    family = Family.of(Column(rows, growth.codes, growth.names), Column(rows, codes, names))
    parents = family.majority()
    apart = family.strays(parents)
    if len(apart):
        label = int(growth.codes[apart[0]])
        raise ParameterError(
            f"the bins {spec.parent!r} do not hold whole bins of {spec.bins!r}: "
            f"{growth.names[label]!r} lies in {family.parents_of(label)}"
        )
    return _under(level, parents, Level(spec.parent or "", names, names))


def _rows(number: int, column: Column) -> pa.Table:
    return pa.table(
        {
            "item": pa.array(column.items, pa.int32()),
            "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
            "label": pa.array(column.codes, pa.int32()),
        }
    )
