"""Attributes become dimensions: every item gets its labels, every label its parent; labels that are there stay.

A label has one parent. Where the parent is read from another attribute (city → state) it is the one that most
items of the label have, and the items that have another are counted; bins above bins must hold whole ones.

A dimension grows from what a cube and its ledger have of it. A cube to which nothing was added yet has dimensions
without labels, and an empty ledger: then its specs say what is read, and the corpus where parents come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.format.ledger import Families, Ledger
from cube2net.cube.grow.attribute_labels import (
    NONE,
    TOPIC,
    Column,
    GrownLabels,
    bin_numbers,
    by_bins,
    by_name,
    examples_of,
    in_order,
    is_bins,
    kind_of,
    read_labels,
    read_topics,
)
from cube2net.cube.grow.concatenation import join_labels, join_topics
from cube2net.errors import ParameterError, SourceError, listed, quoted, some, unknown
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics
from cube2net.records.corpus import LABELS

ANY_NUMBERS = ("whole numbers", "halffloat", "float", "double")
DATES = ("date", "timestamp")


@dataclass(frozen=True, eq=False)
class Labelled:
    """Dimensions with the labels of a corpus added, its items' labels in them, and what the ledger learns.

    ``table(item, dimension, label)`` is of the corpus. ``places`` holds, by dimension, the number that every label
    which was there has now, ascending. ``strays`` counts, by dimension and level above, the items that have another
    parent there than their label has, those that were there included. ``ledger`` is the one that was there with what
    the corpus says of labels, and with all items counted that lack a label.
    """

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    places: tuple[Array, ...]
    strays: dict[tuple[str, str], int]
    ledger: Ledger

    @property
    def unlabelled(self) -> dict[str, int]:
        """How many items have no label, by dimension."""
        return dict(self.ledger.unlabelled)


@dataclass(frozen=True, eq=False)
class _Parents:
    """The parent of every label of a dimension, and the level of the parents.

    ``families`` is what they were decided by where an attribute says them, ``strays`` how many items have another.
    """

    codes: Array
    names: tuple[str, ...]
    families: Families | None = None
    strays: int = 0


def label_items(
    corpus: Corpus,
    specs: Sequence[DimensionSpec],
    topics: Topics | None = None,
    *,
    dimensions: Sequence[Dimension] | None = None,
    ledger: Ledger | None = None,
) -> Labelled:
    """Return the labels of every item in every dimension, and the dimensions with these labels added."""
    dimensions = empty_dimensions(specs) if dimensions is None else dimensions
    ledger = Ledger.empty(derived=corpus.links is None) if ledger is None else ledger
    if ledger.is_empty:
        _check_specs(specs, corpus)
    learned = _learn(ledger, corpus, specs, topics)
    tables, places, levels, unlabelled, strays = [], [], [], {}, {}
    numbers: dict[str, Array] = {}
    families: dict[str, Families] = {}
    for number, (spec, old) in enumerate(zip(specs, dimensions, strict=True)):
        labels = _labels(spec, old, learned, corpus, topics)
        if spec.name in learned.numbers:
            numbers[spec.name] = examples_of(labels.numbers, labels.codes, len(labels.names))
        full_names, said = _said(learned.labels, spec, labels.names)
        parents = _parents(spec, old, labels, said, learned, corpus)
        if parents is not None and parents.families is not None:
            families[spec.name] = parents.families
        if parents is not None and parents.strays:
            strays[spec.name, spec.parent or ""] = parents.strays
        lost = int((np.bincount(labels.column.items, minlength=corpus.items.num_rows) == 0).sum())
        if lost + ledger.unlabelled.get(spec.name, 0):
            unlabelled[spec.name] = lost + ledger.unlabelled.get(spec.name, 0)
        levels.append(_dimension(spec, labels.names, full_names, parents))
        places.append(labels.places)
        tables.append(_rows(number, labels.column))
    after = replace(learned, numbers=numbers, families=families, unlabelled=unlabelled)
    return Labelled(tuple(levels), pa.concat_tables(tables), tuple(places), strays, after)


def empty_dimensions(specs: Sequence[DimensionSpec]) -> tuple[Dimension, ...]:
    """Return dimensions that have no labels yet."""
    return tuple(_dimension(spec, (), (), None if spec.parent is None else _Parents(NONE, ())) for spec in specs)


def _check_specs(specs: Sequence[DimensionSpec], corpus: Corpus) -> None:
    """Raise where no cube can have these dimensions."""
    if not specs:
        raise ParameterError(f"a cube needs a dimension: choose among the attributes {listed(corpus.attributes)}")
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {listed(names)}")
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


def _learn(ledger: Ledger, corpus: Corpus, specs: Sequence[DimensionSpec], topics: Topics | None) -> Ledger:
    """Return a ledger with what a corpus says of labels and topics; an empty one learns where all comes from.

    What is in a ledger stays: a corpus that does not fit to it is refused.
    """
    said = _labels_of(corpus, specs)
    if not ledger.is_empty:
        for spec in specs:
            _check_grows(spec, ledger, corpus, topics)
        names, parents = ledger.topics, ledger.topic_parents
        if names is not None and topics is not None:
            names, parents = join_topics((names, parents), topics)
        return replace(ledger, labels=join_labels(ledger.labels, said), topics=names, topic_parents=parents)
    above, kinds, numbers = {}, {}, {}
    for spec in specs:
        source = _source_of_parents(spec, corpus, topics)
        read = [] if _from_topics(spec, topics) else [spec.attribute]
        for attribute in [*read, spec.parent] if source == "attribute" else read:
            if attribute in corpus.attributes:
                kinds[attribute] = kind_of(corpus.items.schema.field(attribute).type)
        if source is not None:
            above[spec.name] = source
        if read and spec.bins is not None:
            numbers[spec.name] = np.empty(0)
    return replace(
        ledger,
        labels=said,
        above=above,
        kinds=kinds,
        numbers=numbers,
        topics=None if topics is None else topics.names,
        topic_parents=None if topics is None else topics.parents,
    )


def _source_of_parents(spec: DimensionSpec, corpus: Corpus, topics: Topics | None) -> str | None:
    """Return where the parents of a dimension's labels come from, in the words of the ledger; None if it has none."""
    if spec.parent is None:
        return None
    if topics is not None and _from_topics(spec, topics) and topics.parents is not None:
        return "topics"
    if spec.parent in corpus.attributes:
        return "attribute"
    return "bins" if spec.bins is not None and is_bins(spec.parent) else "labels"


def _from_topics(spec: DimensionSpec, topics: object) -> bool:
    """Return whether a dimension is made of topics that were found, not of an attribute."""
    return spec.attribute == TOPIC and topics is not None


def _labels_of(corpus: Corpus, specs: Sequence[DimensionSpec]) -> pa.Table:
    """Return what a corpus says of the labels of the attributes that dimensions read."""
    wanted = pa.array(sorted({spec.attribute for spec in specs}), pa.string())
    return corpus.labels.select(list(LABELS)).filter(pc.is_in(corpus.labels["attribute"], value_set=wanted))


def _check_grows(spec: DimensionSpec, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> None:
    """Raise unless new items can have labels in a dimension without moving old ones."""
    for bins in (spec.bins, spec.parent if ledger.above.get(spec.name) == "bins" else None):
        if (bins or "").startswith("quantiles:"):
            raise ParameterError(
                f"dimension {spec.name!r} has the bins {bins!r}, which new items would move: build the cube of all "
                "items again, or one with edges:A,B,C, which stay"
            )
    read = [spec.parent] if ledger.above.get(spec.name) == "attribute" else []
    if _from_topics(spec, ledger.topics):
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


def _labels(spec: DimensionSpec, old: Dimension, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> GrownLabels:
    """Return the labels of a dimension: topics in their order, bins from low to high, texts by name."""
    known = old.levels[0].labels
    by_topics = ledger.topics is not None and _from_topics(spec, topics)
    if spec.attribute not in corpus.attributes and (not by_topics or ledger.above.get(spec.name) == "bins"):
        raise unknown("attribute", spec.attribute, corpus.attributes)
    if by_topics and topics is not None and ledger.topics is not None:
        column = read_topics(topics)
        used = {*known, *column.names}
        labels = in_order(tuple(name for name in ledger.topics if name in used), known, column)
    elif spec.bins is not None:
        labels = by_bins(corpus, spec.attribute, spec.bins, ledger.numbers[spec.name])
    else:
        labels = by_name(known, read_labels(corpus, spec.attribute))
    if not labels.names:
        raise SourceError(
            f"dimension {spec.name!r} would have no label: no item has a value of the attribute "
            f"{spec.attribute!r}; read another attribute, or leave the dimension out"
        )
    return labels


def _said(known: pa.Table, spec: DimensionSpec, names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the full names of labels, and the parents that are known, by label."""
    rows = known.filter(pc.equal(known["attribute"], spec.attribute))
    labels = rows["label"].to_pylist()
    full = dict(zip(labels, rows["full_name"].to_pylist(), strict=True))
    return tuple(full.get(name) or name for name in names), dict(zip(labels, rows["parent"].to_pylist(), strict=True))


def _parents(
    spec: DimensionSpec, old: Dimension, labels: GrownLabels, said: dict[str, str], ledger: Ledger, corpus: Corpus
) -> _Parents | None:
    """Return the parents of a dimension's labels from where the ledger says that they come; None if it has none."""
    source = ledger.above.get(spec.name)
    if source == "topics" and ledger.topics is not None and ledger.topic_parents is not None:
        group = dict(zip(ledger.topics, ledger.topic_parents, strict=True))
        return _named([group[name] for name in labels.names])
    if source == "attribute":
        return _most_common(spec, old, labels, ledger, corpus)
    if source == "bins":
        return _coarser_bins(spec, labels)
    if source == "labels":
        if not any(said.values()):
            raise ParameterError(
                f"nothing says which {spec.parent!r} a label of {spec.name!r} belongs to: name an attribute of the "
                f"items ({listed(corpus.attributes)}), or coarser bins for a number"
            )
        return _named([said.get(name) or "other" for name in labels.names])
    return None


def _named(parents: Sequence[str]) -> _Parents:
    """Return the parents of labels, given by name."""
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    return _Parents(codes.astype(np.int32), tuple(str(name) for name in names))


def _most_common(spec: DimensionSpec, old: Dimension, labels: GrownLabels, ledger: Ledger, corpus: Corpus) -> _Parents:
    """Return the parents that most items of each label have in another attribute."""
    above = by_name(old.levels[1].labels, read_labels(corpus, spec.parent or ""))
    families = Families.of(
        (labels.column.items, labels.column.codes), (above.column.items, above.column.codes), corpus.items.num_rows
    )
    if spec.name in ledger.families:
        families = ledger.families[spec.name].renumber(labels.places, above.places).plus(families)
    parents = families.majority(len(labels.names), len(above.names))
    missing = [name for name, code in zip(labels.names, parents.tolist(), strict=True) if code < 0]
    if missing:
        raise SourceError(f"{len(missing):,} labels of {spec.name!r} have no {spec.parent!r}: {some(missing)}")
    return _Parents(parents, above.names, families, families.strays(parents))


def _coarser_bins(spec: DimensionSpec, labels: GrownLabels) -> _Parents:
    """Return the parents that are coarser bins, each of which holds whole bins."""
    codes, names = bin_numbers(labels.numbers, spec.parent or "", f"attribute {spec.attribute!r}")
    rows = np.arange(len(codes))
    parents = Families.of((rows, labels.codes), (rows, codes), len(rows)).majority(len(labels.names), len(names))
    apart = np.flatnonzero(parents[labels.codes] != codes)
    if len(apart):
        label = int(labels.codes[apart[0]])
        used = np.unique(codes[labels.codes == label]).tolist()
        others = f" and {len(used) - 3:,} others" if len(used) > 3 else ""
        raise ParameterError(
            f"the bins {spec.parent!r} do not hold whole bins of {spec.bins!r}: {labels.names[label]!r} lies in "
            f"{' and '.join(quoted(names[code]) for code in used[:3])}{others}"
        )
    return _Parents(parents, names)


def _dimension(
    spec: DimensionSpec, names: tuple[str, ...], full_names: tuple[str, ...], parents: _Parents | None
) -> Dimension:
    if parents is None:
        return Dimension((Level(spec.name, names, full_names),))
    above = Level(spec.parent or "", parents.names, parents.names)
    return Dimension((Level(spec.name, names, full_names, parents.codes), above))


def _rows(number: int, column: Column) -> pa.Table:
    return pa.table(
        {
            "item": pa.array(column.items, pa.int32()),
            "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
            "label": pa.array(column.codes, pa.int32()),
        }
    )
