"""Attributes become dimensions: every item gets its labels, every label its parent; labels that are there stay.

A label has one parent in every level above. Where it is read from another attribute (city → state) it is the one that
most items of the label have, and the items that have another are counted; bins above bins must hold whole ones.

A dimension grows from what a cube and its ledger have of it. A cube to which nothing was added yet has dimensions
without labels, and an empty ledger: then its specs say what is read, and the corpus where parents come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.building.attribute_labels import (
    NONE,
    Column,
    GrownLabels,
    by_bins,
    by_name,
    examples_of,
    in_order,
    kind_of,
    read_labels,
    read_topics,
)
from cube2net.cube.building.concatenation import join_labels, join_topics
from cube2net.cube.building.levels_above import bins_of, dimension_of, from_topics, grow_levels, sources_of_levels
from cube2net.cube.storage.ledger import Families, Ledger
from cube2net.errors import ParameterError, SourceError, listed, unknown
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics
from cube2net.records.corpus import LABELS
from cube2net.records.dimension import TOP

ANY_NUMBERS = ("whole numbers", "halffloat", "float", "double")
DATES = ("date", "timestamp")


@dataclass(frozen=True, eq=False)
class Labelled:
    """Dimensions with the labels of a corpus added, its items' labels in them, and what the ledger learns.

    ``table(item, dimension, label)`` is of the corpus. ``places`` holds, by dimension, the number that every label
    which was there has now, ascending. ``strays`` counts, by level and level above, the items that have another
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
    if not specs:
        raise ParameterError(f"a cube needs a dimension: choose among the attributes {listed(corpus.attributes)}")
    learned = _learn(ledger, corpus, specs, topics)
    tables, places, levels, unlabelled = [], [], [], {}
    strays: dict[tuple[str, str], int] = {}
    numbers: dict[str, Array] = {}
    families: dict[str, Families] = {}
    for number, (spec, old) in enumerate(zip(specs, dimensions, strict=True)):
        labels = _labels(spec, old, learned, corpus, topics)
        rungs = grow_levels(spec, old, labels, learned, corpus)
        for name, rung in rungs.items():
            if name in learned.numbers and rung.read is not None:
                numbers[name] = examples_of(rung.read.numbers, rung.read.codes, len(rung.names))
            if rung.families is not None:
                families[name] = rung.families
        strays |= {(level.below, level.name): rungs[level.name].strays for level in spec.levels}
        lost = int((np.bincount(labels.column.items, minlength=corpus.items.num_rows) == 0).sum())
        if lost + ledger.unlabelled.get(spec.name, 0):
            unlabelled[spec.name] = lost + ledger.unlabelled.get(spec.name, 0)
        levels.append(dimension_of(spec, rungs, learned.labels))
        places.append(labels.places)
        tables.append(_rows(number, labels.column))
    after = replace(learned, numbers=numbers, families=families, unlabelled=unlabelled)
    strays = {pair: count for pair, count in strays.items() if count}
    return Labelled(tuple(levels), pa.concat_tables(tables), tuple(places), strays, after)


def empty_dimensions(specs: Sequence[DimensionSpec]) -> tuple[Dimension, ...]:
    """Return dimensions that have no labels yet."""
    _check_names(specs)
    return tuple(
        Dimension(
            tuple(
                Level(name, (), (), {level.name: NONE for level in spec.levels if level.below == name})
                for name in (spec.name, *(level.name for level in spec.levels))
            )
        )
        for spec in specs
    )


def _check_names(specs: Sequence[DimensionSpec]) -> None:
    """Raise where two dimensions or levels have the same name."""
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {listed(names)}")
    for name in (name for spec in specs for name in (spec.name, *(level.name for level in spec.levels))):
        if name in TOP:
            raise ParameterError(f"{name!r} is the top of every dimension: give the level another name")
    taken = {name: name for name in names}
    for spec in specs:
        for level in spec.levels:
            if level.name == spec.name:
                raise ParameterError(f"dimension {spec.name!r} cannot be its own parent")
            if level.name in taken:
                raise ParameterError(
                    f"the level {level.name!r} above {level.below!r} has the name of a level of dimension "
                    f"{taken[level.name]!r}: every dimension and level of a cube needs its own name"
                )
            taken[level.name] = spec.name


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
    above: dict[str, str] = {}
    kinds: dict[str, str] = {}
    numbers: dict[str, Array] = {}
    for spec in specs:
        above |= sources_of_levels(spec, corpus, topics)
        for name, attribute, bins in _read_from(spec, above, topics):
            if attribute in corpus.attributes:
                kinds[attribute] = kind_of(corpus.items.schema.field(attribute).type)
            if bins is not None:
                numbers[name] = np.empty(0)
    return replace(
        ledger,
        labels=said,
        above=above,
        kinds=kinds,
        numbers=numbers,
        topics=None if topics is None else topics.names,
        topic_parents=None if topics is None else topics.parents,
    )


def _read_from(spec: DimensionSpec, above: Mapping[str, str], topics: object) -> list[tuple[str, str, str | None]]:
    """Return the levels of a dimension that are read from attributes of the items, with these and their bins."""
    found = [] if from_topics(spec, topics) else [(spec.name, spec.attribute, spec.bins)]
    levels = (level for level in spec.levels if above.get(level.name) == "attribute")
    return [*found, *((level.name, level.source, level.bins) for level in levels)]


def _labels_of(corpus: Corpus, specs: Sequence[DimensionSpec]) -> pa.Table:
    """Return what a corpus says of the labels of the attributes that dimensions and their levels are made of."""
    names = {spec.attribute for spec in specs} | {level.source for spec in specs for level in spec.levels}
    wanted = pa.array(sorted(names), pa.string())
    return corpus.labels.select(list(LABELS)).filter(pc.is_in(corpus.labels["attribute"], value_set=wanted))


def _check_grows(spec: DimensionSpec, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> None:
    """Raise unless new items can have labels in a dimension without moving old ones."""
    coarser = [bins_of(level) for level in spec.levels if ledger.above.get(level.name) == "bins"]
    read = _read_from(spec, ledger.above, ledger.topics)
    for bins in (spec.bins, *coarser, *(bins for _, _, bins in read)):
        if (bins or "").startswith("quantiles:"):
            raise ParameterError(
                f"dimension {spec.name!r} has the bins {bins!r}, which new items would move: build the cube of all "
                "items again, or one with edges:A,B,C, which stay"
            )
    if from_topics(spec, ledger.topics) and topics is None:
        raise ParameterError(
            f"dimension {spec.name!r} needs the topics of the new items: find them by the topic model of the cube"
        )
    for _, attribute, bins in read:
        if attribute not in corpus.attributes:
            raise SourceError(
                f"the new items have no attribute {attribute!r}, which dimension {spec.name!r} of the cube reads: "
                f"they have {listed(corpus.attributes)}"
            )
        kind, known = kind_of(corpus.items.schema.field(attribute).type), ledger.kinds[attribute]
        if not (kind in (known, "null") or (bins is not None and _alike(kind, known))):
            raise SourceError(
                f"attribute {attribute!r} of the new items holds {kind}, and {known} in the cube: give it the same type"
            )


def _alike(kind: str, known: str) -> bool:
    """Return whether the numbers or years of two kinds of values are the same."""
    return (kind in ANY_NUMBERS and known in ANY_NUMBERS) or (kind.startswith(DATES) and known.startswith(DATES))


def _labels(spec: DimensionSpec, old: Dimension, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> GrownLabels:
    """Return the labels of a dimension: topics in their order, bins from low to high, texts by name."""
    known = old.levels[0].labels
    by_topics = ledger.topics is not None and from_topics(spec, topics)
    if spec.attribute not in corpus.attributes and not by_topics:
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


def _rows(number: int, column: Column) -> pa.Table:
    return pa.table(
        {
            "item": pa.array(column.items, pa.int32()),
            "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
            "label": pa.array(column.codes, pa.int32()),
        }
    )
