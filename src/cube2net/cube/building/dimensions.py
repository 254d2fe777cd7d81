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

from cube2net._util.arrays import Array
from cube2net.cube.building.concatenation import join_labels, join_topics
from cube2net.cube.building.labels import (
    HOLD,
    NONE,
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
from cube2net.errors import ParameterError, SourceError, listed, quoted, some, unknown
from cube2net.model.corpus import LABELS, Corpus, Topics
from cube2net.model.dimension import TOP, Dimension, DimensionSpec, Level, LevelSpec

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
    learned = _extend_ledger(ledger, corpus, specs, topics)
    tables, places, levels, unlabelled = [], [], [], {}
    strays: dict[tuple[str, str], int] = {}
    numbers: dict[str, Array] = {}
    families: dict[str, Families] = {}
    for number, (spec, old) in enumerate(zip(specs, dimensions, strict=True)):
        labels = _read_labels(spec, old, learned, corpus, topics)
        rungs = grow_levels(spec, old, labels, learned, corpus)
        for name, rung in rungs.items():
            if name in learned.numbers and rung.read is not None:
                numbers[name] = pick_examples(rung.read.numbers, rung.read.codes, len(rung.names))
            if rung.families is not None:
                families[name] = rung.families
        strays |= {(level.below, level.name): rungs[level.name].strays for level in spec.levels}
        lost = int((np.bincount(labels.column.items, minlength=corpus.items.num_rows) == 0).sum())
        if lost + ledger.unlabelled.get(spec.name, 0):
            unlabelled[spec.name] = lost + ledger.unlabelled.get(spec.name, 0)
        levels.append(make_dimension(spec, rungs, learned.labels))
        places.append(labels.places)
        tables.append(_make_label_rows(number, labels.column))
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


def _extend_ledger(ledger: Ledger, corpus: Corpus, specs: Sequence[DimensionSpec], topics: Topics | None) -> Ledger:
    """Return a ledger with what a corpus says of labels and topics; an empty one learns where all comes from.

    What is in a ledger stays: a corpus that does not fit to it is refused.
    """
    said = _select_labels(corpus, specs)
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
        above |= find_level_sources(spec, corpus, topics)
        for name, attribute, bins in _list_attributes_read(spec, above, topics):
            if attribute in corpus.attributes:
                kinds[attribute] = describe_kind(corpus.items.schema.field(attribute).type)
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


def _list_attributes_read(
    spec: DimensionSpec, above: Mapping[str, str], topics: object
) -> list[tuple[str, str, str | None]]:
    """Return the levels of a dimension that are read from attributes of the items, with these and their bins."""
    found = [] if is_from_topics(spec, topics) else [(spec.name, spec.attribute, spec.bins)]
    levels = (level for level in spec.levels if above.get(level.name) == "attribute")
    return [*found, *((level.name, level.source, level.bins) for level in levels)]


def _select_labels(corpus: Corpus, specs: Sequence[DimensionSpec]) -> pa.Table:
    """Return what a corpus says of the labels of the attributes that dimensions and their levels are made of."""
    names = {spec.attribute for spec in specs} | {level.source for spec in specs for level in spec.levels}
    wanted = pa.array(sorted(names), pa.string())
    return corpus.labels.select(list(LABELS)).filter(pc.is_in(corpus.labels["attribute"], value_set=wanted))


def _check_grows(spec: DimensionSpec, ledger: Ledger, corpus: Corpus, topics: Topics | None) -> None:
    """Raise unless new items can have labels in a dimension without moving old ones."""
    coarser = [get_bins(level) for level in spec.levels if ledger.above.get(level.name) == "bins"]
    read = _list_attributes_read(spec, ledger.above, ledger.topics)
    for bins in (spec.bins, *coarser, *(bins for _, _, bins in read)):
        if (bins or "").startswith("quantiles:"):
            raise ParameterError(
                f"dimension {spec.name!r} has the bins {bins!r}, which new items would move: build the cube of all "
                "items again, or one with edges:A,B,C, which stay"
            )
    if is_from_topics(spec, ledger.topics) and topics is None:
        raise ParameterError(
            f"dimension {spec.name!r} needs the topics of the new items: find them by the topic model of the cube"
        )
    for _, attribute, bins in read:
        if attribute not in corpus.attributes:
            raise SourceError(
                f"the new items have no attribute {attribute!r}, which dimension {spec.name!r} of the cube reads: "
                f"they have {listed(corpus.attributes)}"
            )
        kind, known = describe_kind(corpus.items.schema.field(attribute).type), ledger.kinds[attribute]
        if not (kind in (known, "null") or (bins is not None and _are_alike(kind, known))):
            raise SourceError(
                f"attribute {attribute!r} of the new items holds {kind}, and {known} in the cube: give it the same type"
            )


def _are_alike(kind: str, known: str) -> bool:
    """Return whether the numbers or years of two kinds of values are the same."""
    return (kind in ANY_NUMBERS and known in ANY_NUMBERS) or (kind.startswith(DATES) and known.startswith(DATES))


def _read_labels(
    spec: DimensionSpec, old: Dimension, ledger: Ledger, corpus: Corpus, topics: Topics | None
) -> GrownLabels:
    """Return the labels of a dimension: topics in their order, bins from low to high, texts by name."""
    known = old.levels[0].labels
    by_topics = ledger.topics is not None and is_from_topics(spec, topics)
    if spec.attribute not in corpus.attributes and not by_topics:
        raise unknown("attribute", spec.attribute, corpus.attributes)
    if by_topics and topics is not None and ledger.topics is not None:
        column = read_topics(topics)
        used = {*known, *column.names}
        labels = order_labels(tuple(name for name in ledger.topics if name in used), known, column)
    elif spec.bins is not None:
        labels = label_by_bins(corpus, spec.attribute, spec.bins, ledger.numbers[spec.name])
    else:
        labels = label_by_name(known, read_labels(corpus, spec.attribute))
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
"""The parent of a label of which the source says none."""


@dataclass(frozen=True, eq=False)
class Rung:
    """One level of a dimension with the labels of a corpus added.

    ``source`` is what it is called in the data and ``bins`` those it is made of. ``read`` is what items have of it
    themselves. Where they do not, ``base`` is the nearest level below of which they do, and ``places`` the label here
    of every label there. ``codes`` are bins of the numbers of the finest level. ``parents`` are those of the labels of
    the level below, ``families`` what they were decided by, and ``strays`` how many items have another.
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
    """Return whether a dimension is made of topics that were found, not of an attribute."""
    return spec.attribute == TOPIC and topics is not None


def find_level_sources(spec: DimensionSpec, corpus: Corpus, topics: Topics | None) -> dict[str, str]:
    """Return where the labels of every level above come from, in the words of the ledger."""
    found: dict[str, str] = {}
    binned = {spec.name} if spec.bins is not None and not is_from_topics(spec, topics) else set[str]()
    for level in spec.levels:
        if (
            level.below == spec.name
            and level.bins is None
            and topics is not None
            and is_from_topics(spec, topics)
            and topics.parents is not None
        ):
            found[level.name] = "topics"
        elif level.bins is not None and level.attribute is None and level.below in binned:
            found[level.name] = "bins"
        elif level.source in corpus.attributes:
            found[level.name] = "attribute"
        elif level.below in binned and level.attribute is None and is_bins(level.name):
            found[level.name] = "bins"
        else:
            found[level.name] = "labels"
        if found[level.name] == "bins":
            binned.add(level.name)
    _check_sources(spec, found, corpus)
    return found


def _check_sources(spec: DimensionSpec, sources: dict[str, str], corpus: Corpus) -> None:
    told: dict[str, str] = {}
    called = {spec.name: spec.attribute}
    for level in spec.levels:
        source = sources[level.name]
        if source == "labels" and level.bins is not None:
            raise ParameterError(
                f"the level {level.name!r} above {level.below!r} has the bins {level.bins!r} of nothing: it needs bins "
                f"below it, or an attribute of the items ({listed(corpus.attributes)})"
            )
        if source in ("labels", "topics"):
            if level.below in told:
                raise ParameterError(
                    f"nothing tells {told[level.below]!r} and {level.name!r} above {level.below!r} apart: the source "
                    "says one parent of a label, so make one of them an attribute of the items"
                )
            told[level.below] = level.name
        if source == "labels":
            _check_not_skipped(level, called[level.below], corpus.labels)
        called[level.name] = level.source


def _check_not_skipped(level: LevelSpec, below: str, said: pa.Table) -> None:
    """Raise where the parents of a level's labels are known to be labels of another level than the one above it."""
    parents = {parent for parent in _look_up(said, below, "parent").values() if parent}
    known = set(_look_up(said, level.source, "label"))
    if not parents or not known or parents & known:
        return
    for name in sorted(set(said["attribute"].to_pylist()) - {below, level.source}):
        if parents <= set(_look_up(said, name, "label")):
            raise ParameterError(
                f"the parents of {level.below!r}, {some(sorted(parents))}, are labels of {name!r} and not of "
                f"{level.name!r}: write {level.below}/{name}/{level.name}"
            )


def get_bins(level: LevelSpec) -> str:
    """Return the bins of a level that is made of coarser bins."""
    return level.bins or level.name


def grow_levels(
    spec: DimensionSpec, old: Dimension, labels: GrownLabels, ledger: Ledger, corpus: Corpus
) -> dict[str, Rung]:
    """Return all levels of a dimension by name, the finest first."""
    finest = Rung(spec.name, labels.names, spec.attribute, spec.bins, read=labels, codes=labels.codes)
    rungs = {spec.name: finest}
    known = {level.name: level.labels for level in old.levels}
    for level in spec.levels:
        below, source = rungs[level.below], ledger.above[level.name]
        if source == "attribute":
            rungs[level.name] = _make_attribute_level(level, below, known.get(level.name, ()), ledger, corpus)
        elif source == "bins":
            rungs[level.name] = _make_binned_level(level, below, finest, labels)
        elif source == "topics":
            group = dict(zip(ledger.topics or (), ledger.topic_parents or (), strict=True))
            rungs[level.name] = _make_named_level(level, below, [group[name] for name in below.names])
        else:
            said = _look_up(ledger.labels, below.source, "parent")
            if not any(said.values()):
                raise ParameterError(
                    f"nothing says which {level.name!r} a label of {level.below!r} belongs to: name an attribute of "
                    f"the items ({listed(corpus.attributes)}), or coarser bins for a number"
                )
            rungs[level.name] = _make_named_level(level, below, [said.get(name) or OTHER for name in below.names])
    return rungs


def make_dimension(spec: DimensionSpec, rungs: dict[str, Rung], said: pa.Table) -> Dimension:
    """Return the dimension of its levels, with the full names that are known of their labels."""
    levels = []
    for rung in rungs.values():
        full = _look_up(said, rung.source, "full_name")
        above = {
            level.name: parents
            for level in spec.levels
            if level.below == rung.name and (parents := rungs[level.name].parents) is not None
        }
        levels.append(Level(rung.name, rung.names, tuple(full.get(name) or name for name in rung.names), above))
    return Dimension(tuple(levels))


def _look_up(known: pa.Table, attribute: str, what: str) -> dict[str, str | None]:
    rows = known.filter(pc.equal(known["attribute"], attribute))
    return dict(zip(rows["label"].to_pylist(), rows[what].to_pylist(), strict=True))


def _get_base(rung: Rung) -> Rung:
    return rung if rung.base is None else rung.base


def _lift_parents(rung: Rung, parents: Array) -> Array:
    """Return the parents of the labels of a level's base, given those of its own."""
    return parents if rung.places is None else parents[rung.places]


def _make_named_level(level: LevelSpec, below: Rung, parents: Sequence[str]) -> Rung:
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    numbers = codes.astype(np.int32)
    every = tuple(str(name) for name in names)
    return Rung(
        level.name, every, level.source, base=_get_base(below), places=_lift_parents(below, numbers), parents=numbers
    )


def _make_binned_level(level: LevelSpec, below: Rung, finest: Rung, labels: GrownLabels) -> Rung:
    bins, finer = get_bins(level), below.bins or ""
    if finer in HOLD and bins in HOLD and bins not in HOLD[finer]:
        raise ParameterError(f"the bins {bins!r} do not hold whole bins of {finer!r}: put them on a path of their own")
    what = f"attribute {finest.source!r}"
    codes, names = bin_numbers(labels.numbers, bins, what, are_days=labels.are_days)
    of_below = below.codes if below.codes is not None else labels.codes
    parents = np.empty(len(below.names), np.int32)
    parents[of_below] = codes
    apart = np.flatnonzero(parents[of_below] != codes)
    if len(apart):
        label = int(of_below[apart[0]])
        used = np.unique(codes[of_below == label]).tolist()
        others = f" and {len(used) - 3:,} others" if len(used) > 3 else ""
        raise ParameterError(
            f"the bins {bins!r} do not hold whole bins of {finer!r}: {below.names[label]!r} lies in "
            f"{' and '.join(quoted(names[code]) for code in used[:3])}{others}"
        )
    places = _lift_parents(below, parents)
    return Rung(level.name, names, level.source, bins, base=finest, places=places, codes=codes, parents=parents)


def _make_attribute_level(
    level: LevelSpec, below: Rung, known: tuple[str, ...], ledger: Ledger, corpus: Corpus
) -> Rung:
    """Return the level of an attribute, with the parents that most items of each label have."""
    if level.bins is None:
        above = label_by_name(known, read_labels(corpus, level.source))
    else:
        above = label_by_bins(corpus, level.source, level.bins, ledger.numbers[level.name])
    base = _get_base(below)
    read = base.read or GrownLabels((), np.empty(0, np.int32), Column(np.empty(0), np.empty(0), ()))
    pairs = [(one.column.items, one.column.codes) for one in (read, above)]
    families = Families.of(pairs[0], pairs[1], corpus.items.num_rows)
    if level.name in ledger.families:
        families = ledger.families[level.name].renumber(read.places, above.places).plus(families)
    lifted = families if below.places is None else families.lifted(below.places)
    parents = lifted.majority(len(below.names), len(above.names))
    missing = [name for name, code in zip(below.names, parents.tolist(), strict=True) if code < 0]
    if missing:
        raise SourceError(f"{len(missing):,} labels of {level.below!r} have no {level.name!r}: {some(missing)}")
    return Rung(
        level.name,
        above.names,
        level.source,
        level.bins,
        read=above,
        parents=parents,
        families=families,
        strays=lifted.strays(parents),
    )
