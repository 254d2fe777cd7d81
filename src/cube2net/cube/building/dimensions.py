"""Make dimensions from the attributes of items: the labels of every item, and the parents of every label.

A label has one parent in every level above. If the parents are another attribute (city → state), the parent is the one
that most items of the label have, and items with another one are counted. Coarser bins must consist of whole bins.

A dimension is extended from a cube and its ledger. A new cube has dimensions without labels and an empty ledger: then
the specs say what to read, and the corpus says where parents come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.cube.building.concatenation import join_labels, join_topics
from cube2net.cube.building.labels import (
    CONTAINED_BINS,
    NO_CODES,
    TOPIC,
    Column,
    GrownLabels,
    bin_numbers,
    describe_kind,
    is_bins,
    label_by_bins,
    label_by_name,
    order_labels,
    pick_examples,
    read_labels,
    read_topics,
)
from cube2net.cube.storage.ledger import Families, Ledger
from cube2net.errors import ParameterError, SourceError, join_names, quote, quote_few, unknown_name
from cube2net.model.corpus import LABELS, Corpus, Topics
from cube2net.model.dimension import TOP, Dimension, DimensionSpec, Level, LevelSpec

ANY_NUMBERS = ("whole numbers", "halffloat", "float", "double")
DATES = ("date", "timestamp")


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """Dimensions extended by the labels of a corpus, the labels of its items, and the extended ledger.

    ``table(item, dimension, label)`` has the labels of the corpus's items. ``places`` holds, by dimension, the new
    number of every old label, ascending. ``strays`` counts, by level and level above, all items whose parent there
    is not that of their label.
    """

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    places: tuple[Array, ...]
    strays: dict[tuple[str, str], int]
    ledger: Ledger


def label_items(
    corpus: Corpus,
    specs: Sequence[DimensionSpec],
    topics: Topics | None = None,
    *,
    dimensions: Sequence[Dimension] | None = None,
    ledger: Ledger | None = None,
) -> LabelledItems:
    """Return the labels of every item in every dimension, and the dimensions extended by these labels."""
    dimensions = empty_dimensions(specs) if dimensions is None else dimensions
    ledger = Ledger.empty(derived=corpus.links is None) if ledger is None else ledger
    if not specs:
        raise ParameterError(f"a cube needs a dimension: choose among the attributes {join_names(corpus.attributes)}")
    new_ledger = _extend_ledger(ledger, corpus, specs, topics)
    tables, places, levels, unlabelled = [], [], [], {}
    strays: dict[tuple[str, str], int] = {}
    numbers: dict[str, Array] = {}
    families: dict[str, Families] = {}
    for number, (spec, old_dimension) in enumerate(zip(specs, dimensions, strict=True)):
        labels = _read_labels(spec, old_dimension, new_ledger, corpus, topics)
        rungs = grow_levels(spec, old_dimension, labels, new_ledger, corpus)
        for name, rung in rungs.items():
            if name in new_ledger.numbers and rung.read is not None:
                numbers[name] = pick_examples(rung.read.numbers, rung.read.codes, len(rung.names))
            if rung.families is not None:
                families[name] = rung.families
        strays |= {(level.below, level.name): rungs[level.name].strays for level in spec.levels}
        unlabelled_count = int((np.bincount(labels.column.items, minlength=corpus.items.num_rows) == 0).sum())
        if unlabelled_count + ledger.unlabelled.get(spec.name, 0):
            unlabelled[spec.name] = unlabelled_count + ledger.unlabelled.get(spec.name, 0)
        levels.append(make_dimension(spec, rungs, new_ledger.labels))
        places.append(labels.places)
        tables.append(_make_label_rows(number, labels.column))
    final_ledger = replace(new_ledger, numbers=numbers, families=families, unlabelled=unlabelled)
    strays = {pair: count for pair, count in strays.items() if count}
    return LabelledItems(tuple(levels), pa.concat_tables(tables), tuple(places), strays, final_ledger)


def empty_dimensions(specs: Sequence[DimensionSpec]) -> tuple[Dimension, ...]:
    """Return dimensions without labels."""
    _check_names(specs)
    return tuple(
        Dimension(
            tuple(
                Level(name, (), (), {level.name: NO_CODES for level in spec.levels if level.below == name})
                for name in (spec.name, *(level.name for level in spec.levels))
            )
        )
        for spec in specs
    )


def _check_names(specs: Sequence[DimensionSpec]) -> None:
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {join_names(names)}")
    for name in (name for spec in specs for name in (spec.name, *(level.name for level in spec.levels))):
        if name in TOP:
            raise ParameterError(f"{name!r} is the top of every dimension: give the level another name")
    dimension_of_level = {name: name for name in names}
    for spec in specs:
        for level in spec.levels:
            if level.name == spec.name:
                raise ParameterError(f"dimension {spec.name!r} cannot be its own parent")
            if level.name in dimension_of_level:
                raise ParameterError(
                    f"the level {level.name!r} above {level.below!r} has the name of a level of dimension "
                    f"{dimension_of_level[level.name]!r}: every dimension and level of a cube needs its own name"
                )
            dimension_of_level[level.name] = spec.name


def _extend_ledger(ledger: Ledger, corpus: Corpus, specs: Sequence[DimensionSpec], topics: Topics | None) -> Ledger:
    """Return a ledger extended by the labels and topics of a corpus; a corpus that does not fit it is refused."""
    label_texts = _select_labels(corpus, specs)
    if not ledger.is_empty:
        for spec in specs:
            _check_grows(spec, ledger, corpus, topics)
        names, parents = ledger.topics, ledger.topic_parents
        if names is not None and topics is not None:
            names, parents = join_topics((names, parents), topics)
        return replace(ledger, labels=join_labels(ledger.labels, label_texts), topics=names, topic_parents=parents)
    above: dict[str, str] = {}
    kinds: dict[str, str] = {}
    numbers: dict[str, Array] = {}
    for spec in specs:
        above |= find_level_sources(spec, corpus, topics)
        for name, attribute, bins in _list_attributes_read(spec, above, topics):
            if attribute in corpus.attributes:
                kinds[attribute] = describe_kind(corpus.items.schema.field(attribute).type)
            if bins is not None:
                numbers[name] = np.empty(0)
    return replace(
        ledger,
        labels=label_texts,
        above=above,
        kinds=kinds,
        numbers=numbers,
        topics=None if topics is None else topics.names,
        topic_parents=None if topics is None else topics.parents,
    )


def _list_attributes_read(
    spec: DimensionSpec, above: Mapping[str, str], topics: object
) -> list[tuple[str, str, str | None]]:
    """Return name, attribute and bins of the levels of a dimension that are read from attributes of the items."""
    read_levels = [] if is_from_topics(spec, topics) else [(spec.name, spec.attribute, spec.bins)]
    levels = (level for level in spec.levels if above.get(level.name) == "attribute")
    return [*read_levels, *((level.name, level.source, level.bins) for level in levels)]


def _select_labels(corpus: Corpus, specs: Sequence[DimensionSpec]) -> pa.Table:
    """Return the full names and parents in a corpus for labels of the attributes that dimensions use."""
    names = {spec.attribute for spec in specs} | {level.source for spec in specs for level in spec.levels}
    wanted = pa.array(sorted(names), pa.string())
    return corpus.labels.select(list(LABELS)).filter(pc.is_in(corpus.labels["attribute"], value_set=wanted))


def _check_grows(spec: DimensionSpec, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> None:
    """Raise unless new items can be added to a dimension without moving old ones."""
    coarser_bins = [get_bins(level) for level in spec.levels if ledger.above.get(level.name) == "bins"]
    attributes_read = _list_attributes_read(spec, ledger.above, ledger.topics)
    for bins in (spec.bins, *coarser_bins, *(bins for _, _, bins in attributes_read)):
        if (bins or "").startswith("quantiles:"):
            raise ParameterError(
                f"dimension {spec.name!r} has the bins {bins!r}, which new items would move: build the cube of all "
                "items again, or one with edges:A,B,C, which stay"
            )
    if is_from_topics(spec, ledger.topics) and topics is None:
        raise ParameterError(
            f"dimension {spec.name!r} needs the topics of the new items: find them by the topic model of the cube"
        )
    for _, attribute, bins in attributes_read:
        if attribute not in corpus.attributes:
            raise SourceError(
                f"the new items have no attribute {attribute!r}, which dimension {spec.name!r} of the cube reads: "
                f"they have {join_names(corpus.attributes)}"
            )
        kind, cube_kind = describe_kind(corpus.items.schema.field(attribute).type), ledger.kinds[attribute]
        if not (kind in (cube_kind, "null") or (bins is not None and _are_alike(kind, cube_kind))):
            raise SourceError(
                f"attribute {attribute!r} of the new items holds {kind}, and {cube_kind} in the cube: "
                "give it the same type"
            )


def _are_alike(first: str, second: str) -> bool:
    """Return whether two kinds of values can share bins: both are numbers, or both dates."""
    return (first in ANY_NUMBERS and second in ANY_NUMBERS) or (first.startswith(DATES) and second.startswith(DATES))


def _read_labels(
    spec: DimensionSpec, old_dimension: Dimension, ledger: Ledger, corpus: Corpus, topics: Topics | None
) -> GrownLabels:
    """Return the labels of a dimension: topics in their order, bins from low to high, texts sorted."""
    old_names = old_dimension.levels[0].labels
    by_topics = ledger.topics is not None and is_from_topics(spec, topics)
    if spec.attribute not in corpus.attributes and not by_topics:
        raise unknown_name("attribute", spec.attribute, corpus.attributes)
    if by_topics and topics is not None and ledger.topics is not None:
        column = read_topics(topics)
        used_names = {*old_names, *column.names}
        labels = order_labels(tuple(name for name in ledger.topics if name in used_names), old_names, column)
    elif spec.bins is not None:
        labels = label_by_bins(corpus, spec.attribute, spec.bins, ledger.numbers[spec.name])
    else:
        labels = label_by_name(old_names, read_labels(corpus, spec.attribute))
    if not labels.names:
        raise SourceError(
            f"dimension {spec.name!r} would have no label: no item has a value of the attribute "
            f"{spec.attribute!r}; read another attribute, or leave the dimension out"
        )
    return labels


def _make_label_rows(number: int, column: Column) -> pa.Table:
    return pa.table(
        {
            "item": pa.array(column.items, pa.int32()),
            "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
            "label": pa.array(column.codes, pa.int32()),
        }
    )


OTHER = "other"
"""The parent of a label without one in the source."""


@dataclass(frozen=True, eq=False)
class Rung:
    """One level of a dimension, extended by the labels of a corpus.

    ``source`` is its attribute in the data, ``bins`` are its bins. ``read`` holds the labels that items have at this
    level; if they have none, ``base`` is the nearest level below at which they have, and ``places`` maps its labels to
    this level's. ``codes`` are the bins of the finest level's numbers. ``parents`` are those of the labels of the
    level below, ``families`` the counts that decided them, and ``strays`` the number of items with another parent.
    """

    name: str
    names: tuple[str, ...]
    source: str
    bins: str | None = None
    read: GrownLabels | None = None
    base: Rung | None = None
    places: Array | None = None
    codes: Array | None = None
    parents: Array | None = None
    families: Families | None = None
    strays: int = 0


def is_from_topics(spec: DimensionSpec, topics: object) -> bool:
    """Return whether a dimension is made of topics, not of an attribute."""
    return spec.attribute == TOPIC and topics is not None


def find_level_sources(spec: DimensionSpec, corpus: Corpus, topics: Topics | None) -> dict[str, str]:
    """Return where the labels of every level above come from: ``attribute``, ``bins``, ``labels`` or ``topics``."""
    sources: dict[str, str] = {}
    binned = {spec.name} if spec.bins is not None and not is_from_topics(spec, topics) else set[str]()
    for level in spec.levels:
        if (
            level.below == spec.name
            and level.bins is None
            and topics is not None
            and is_from_topics(spec, topics)
            and topics.parents is not None
        ):
            sources[level.name] = "topics"
        elif level.bins is not None and level.attribute is None and level.below in binned:
            sources[level.name] = "bins"
        elif level.source in corpus.attributes:
            sources[level.name] = "attribute"
        elif level.below in binned and level.attribute is None and is_bins(level.name):
            sources[level.name] = "bins"
        else:
            sources[level.name] = "labels"
        if sources[level.name] == "bins":
            binned.add(level.name)
    _check_sources(spec, sources, corpus)
    return sources


def _check_sources(spec: DimensionSpec, sources: dict[str, str], corpus: Corpus) -> None:
    parent_levels: dict[str, str] = {}
    attributes = {spec.name: spec.attribute}
    for level in spec.levels:
        source = sources[level.name]
        if source == "labels" and level.bins is not None:
            raise ParameterError(
                f"the level {level.name!r} above {level.below!r} has the bins {level.bins!r} of nothing: it needs bins "
                f"below it, or an attribute of the items ({join_names(corpus.attributes)})"
            )
        if source in ("labels", "topics"):
            if level.below in parent_levels:
                raise ParameterError(
                    f"{parent_levels[level.below]!r} and {level.name!r} above {level.below!r} would be the same: the "
                    "source has one parent for a label, so make one of them an attribute of the items"
                )
            parent_levels[level.below] = level.name
        if source == "labels":
            _check_not_skipped(level, attributes[level.below], corpus.labels)
        attributes[level.name] = level.source


def _check_not_skipped(level: LevelSpec, below: str, label_texts: pa.Table) -> None:
    """Raise if the parents of a level's labels are labels of another level than the one above it."""
    parents = {parent for parent in _look_up(label_texts, below, "parent").values() if parent}
    labels = set(_look_up(label_texts, level.source, "label"))
    if not parents or not labels or parents & labels:
        return
    for name in sorted(set(label_texts["attribute"].to_pylist()) - {below, level.source}):
        if parents <= set(_look_up(label_texts, name, "label")):
            raise ParameterError(
                f"the parents of {level.below!r}, {quote_few(sorted(parents))}, are labels of {name!r} and not of "
                f"{level.name!r}: write {level.below}/{name}/{level.name}"
            )


def get_bins(level: LevelSpec) -> str:
    """Return the bins of a level that is made of coarser bins."""
    return level.bins or level.name


def grow_levels(
    spec: DimensionSpec, old_dimension: Dimension, labels: GrownLabels, ledger: Ledger, corpus: Corpus
) -> dict[str, Rung]:
    """Return all levels of a dimension by name, the finest first."""
    finest = Rung(spec.name, labels.names, spec.attribute, spec.bins, read=labels, codes=labels.codes)
    rungs = {spec.name: finest}
    old_labels = {level.name: level.labels for level in old_dimension.levels}
    for level in spec.levels:
        below, source = rungs[level.below], ledger.above[level.name]
        if source == "attribute":
            rungs[level.name] = _make_attribute_level(level, below, old_labels.get(level.name, ()), ledger, corpus)
        elif source == "bins":
            rungs[level.name] = _make_binned_level(level, below, finest, labels)
        elif source == "topics":
            group_of_topic = dict(zip(ledger.topics or (), ledger.topic_parents or (), strict=True))
            rungs[level.name] = _make_named_level(level, below, [group_of_topic[name] for name in below.names])
        else:
            parents = _look_up(ledger.labels, below.source, "parent")
            if not any(parents.values()):
                raise ParameterError(
                    f"labels of {level.below!r} have no {level.name!r}: name an attribute of the items "
                    f"({join_names(corpus.attributes)}), or coarser bins for a number"
                )
            rungs[level.name] = _make_named_level(level, below, [parents.get(name) or OTHER for name in below.names])
    return rungs


def make_dimension(spec: DimensionSpec, rungs: dict[str, Rung], label_texts: pa.Table) -> Dimension:
    """Return the dimension of some levels, with the full names of their labels."""
    levels = []
    for rung in rungs.values():
        full_names = _look_up(label_texts, rung.source, "full_name")
        parents_by_level = {
            level.name: parents
            for level in spec.levels
            if level.below == rung.name and (parents := rungs[level.name].parents) is not None
        }
        levels.append(
            Level(rung.name, rung.names, tuple(full_names.get(name) or name for name in rung.names), parents_by_level)
        )
    return Dimension(tuple(levels))


def _look_up(label_texts: pa.Table, attribute: str, column: str) -> dict[str, str | None]:
    rows = label_texts.filter(pc.equal(label_texts["attribute"], attribute))
    return dict(zip(rows["label"].to_pylist(), rows[column].to_pylist(), strict=True))


def _get_base(rung: Rung) -> Rung:
    return rung if rung.base is None else rung.base


def _lift_parents(rung: Rung, parents: Array) -> Array:
    """Return the parents of the labels of a level's base, given those of its own labels."""
    return parents if rung.places is None else parents[rung.places]


def _make_named_level(level: LevelSpec, below: Rung, parents: Sequence[str]) -> Rung:
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    numbers = codes.astype(np.int32)
    label_names = tuple(str(name) for name in names)
    return Rung(
        level.name,
        label_names,
        level.source,
        base=_get_base(below),
        places=_lift_parents(below, numbers),
        parents=numbers,
    )


def _make_binned_level(level: LevelSpec, below: Rung, finest: Rung, labels: GrownLabels) -> Rung:
    bins, bins_below = get_bins(level), below.bins or ""
    if bins_below in CONTAINED_BINS and bins in CONTAINED_BINS and bins not in CONTAINED_BINS[bins_below]:
        raise ParameterError(
            f"the bins {bins!r} do not hold whole bins of {bins_below!r}: put them on a path of their own"
        )
    subject = f"attribute {finest.source!r}"
    codes, names = bin_numbers(labels.numbers, bins, subject, are_days=labels.are_days)
    codes_below = below.codes if below.codes is not None else labels.codes
    parents = np.empty(len(below.names), np.int32)
    parents[codes_below] = codes
    conflicts = np.flatnonzero(parents[codes_below] != codes)
    if len(conflicts):
        label = int(codes_below[conflicts[0]])
        used_codes = np.unique(codes[codes_below == label]).tolist()
        more = f" and {len(used_codes) - 3:,} others" if len(used_codes) > 3 else ""
        raise ParameterError(
            f"the bins {bins!r} do not hold whole bins of {bins_below!r}: {below.names[label]!r} lies in "
            f"{' and '.join(quote(names[code]) for code in used_codes[:3])}{more}"
        )
    places = _lift_parents(below, parents)
    return Rung(level.name, names, level.source, bins, base=finest, places=places, codes=codes, parents=parents)


def _make_attribute_level(
    level: LevelSpec, below: Rung, old_names: tuple[str, ...], ledger: Ledger, corpus: Corpus
) -> Rung:
    """Return the level of an attribute, with the parents that most items of each label have."""
    if level.bins is None:
        level_labels = label_by_name(old_names, read_labels(corpus, level.source))
    else:
        level_labels = label_by_bins(corpus, level.source, level.bins, ledger.numbers[level.name])
    base = _get_base(below)
    base_labels = base.read or GrownLabels((), np.empty(0, np.int32), Column(np.empty(0), np.empty(0), ()))
    pairs = [(labels.column.items, labels.column.codes) for labels in (base_labels, level_labels)]
    families = Families.of(pairs[0], pairs[1], corpus.items.num_rows)
    if level.name in ledger.families:
        families = ledger.families[level.name].renumber(base_labels.places, level_labels.places).plus(families)
    lifted_families = families if below.places is None else families.lift(below.places)
    parents = lifted_families.majority(len(below.names), len(level_labels.names))
    without_parent = [name for name, code in zip(below.names, parents.tolist(), strict=True) if code < 0]
    if without_parent:
        raise SourceError(
            f"{len(without_parent):,} labels of {level.below!r} have no {level.name!r}: {quote_few(without_parent)}"
        )
    return Rung(
        level.name,
        level_labels.names,
        level.source,
        level.bins,
        read=level_labels,
        parents=parents,
        families=families,
        strays=lifted_families.strays(parents),
    )
