"""The levels above the finest of a dimension: their labels, and the parent there of every label below.

A level is made of an attribute of the items, of coarser bins, of what the source says of labels, or of topics' own
groups. The parent that an attribute says is the one that most items of the label have. Where the level below is not
one that items have themselves (it is made of bins, labels or topics), they have its label by the nearest that they do
have: so families are kept of that one, which does not change when the corpus says something else of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.building.attribute_labels import (
    TOPIC,
    Column,
    GrownLabels,
    bin_numbers,
    by_bins,
    by_name,
    is_bins,
    read_labels,
)
from cube2net.cube.building.date_bins import HOLD
from cube2net.cube.storage.ledger import Families, Ledger
from cube2net.errors import ParameterError, SourceError, listed, quoted, some
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics
from cube2net.records.spec import LevelSpec

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


def from_topics(spec: DimensionSpec, topics: object) -> bool:
    """Return whether a dimension is made of topics that were found, not of an attribute."""
    return spec.attribute == TOPIC and topics is not None


def sources_of_levels(spec: DimensionSpec, corpus: Corpus, topics: Topics | None) -> dict[str, str]:
    """Return where the labels of every level above come from, in the words of the ledger."""
    found: dict[str, str] = {}
    binned = {spec.name} if spec.bins is not None and not from_topics(spec, topics) else set[str]()
    for level in spec.levels:
        if (
            level.below == spec.name
            and level.bins is None
            and topics is not None
            and from_topics(spec, topics)
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
    """Raise where levels cannot come from there."""
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
    parents = {parent for parent in _said(said, below, "parent").values() if parent}
    known = set(_said(said, level.source, "label"))
    if not parents or not known or parents & known:
        return
    for name in sorted(set(said["attribute"].to_pylist()) - {below, level.source}):
        if parents <= set(_said(said, name, "label")):
            raise ParameterError(
                f"the parents of {level.below!r}, {some(sorted(parents))}, are labels of {name!r} and not of "
                f"{level.name!r}: write {level.below}/{name}/{level.name}"
            )


def bins_of(level: LevelSpec) -> str:
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
            rungs[level.name] = _by_attribute(level, below, known.get(level.name, ()), ledger, corpus)
        elif source == "bins":
            rungs[level.name] = _by_bins(level, below, finest, labels)
        elif source == "topics":
            group = dict(zip(ledger.topics or (), ledger.topic_parents or (), strict=True))
            rungs[level.name] = _by_name(level, below, [group[name] for name in below.names])
        else:
            said = _said(ledger.labels, below.source, "parent")
            if not any(said.values()):
                raise ParameterError(
                    f"nothing says which {level.name!r} a label of {level.below!r} belongs to: name an attribute of "
                    f"the items ({listed(corpus.attributes)}), or coarser bins for a number"
                )
            rungs[level.name] = _by_name(level, below, [said.get(name) or OTHER for name in below.names])
    return rungs


def dimension_of(spec: DimensionSpec, rungs: dict[str, Rung], said: pa.Table) -> Dimension:
    """Return the dimension of its levels, with the full names that are known of their labels."""
    levels = []
    for rung in rungs.values():
        full = _said(said, rung.source, "full_name")
        above = {
            level.name: parents
            for level in spec.levels
            if level.below == rung.name and (parents := rungs[level.name].parents) is not None
        }
        levels.append(Level(rung.name, rung.names, tuple(full.get(name) or name for name in rung.names), above))
    return Dimension(tuple(levels))


def _said(known: pa.Table, attribute: str, what: str) -> dict[str, str | None]:
    """Return what is known of the labels of an attribute."""
    rows = known.filter(pc.equal(known["attribute"], attribute))
    return dict(zip(rows["label"].to_pylist(), rows[what].to_pylist(), strict=True))


def _base(rung: Rung) -> Rung:
    return rung if rung.base is None else rung.base


def _over(rung: Rung, parents: Array) -> Array:
    """Return the parents of the labels of a level's base, given those of its own."""
    return parents if rung.places is None else parents[rung.places]


def _by_name(level: LevelSpec, below: Rung, parents: Sequence[str]) -> Rung:
    """Return the level of parents that are given by name."""
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    numbers = codes.astype(np.int32)
    every = tuple(str(name) for name in names)
    return Rung(level.name, every, level.source, base=_base(below), places=_over(below, numbers), parents=numbers)


def _by_bins(level: LevelSpec, below: Rung, finest: Rung, labels: GrownLabels) -> Rung:
    """Return the level of coarser bins, each of which holds whole ones of the level below."""
    bins, finer = bins_of(level), below.bins or ""
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
    places = _over(below, parents)
    return Rung(level.name, names, level.source, bins, base=finest, places=places, codes=codes, parents=parents)


def _by_attribute(level: LevelSpec, below: Rung, known: tuple[str, ...], ledger: Ledger, corpus: Corpus) -> Rung:
    """Return the level of an attribute, with the parents that most items of each label have."""
    if level.bins is None:
        above = by_name(known, read_labels(corpus, level.source))
    else:
        above = by_bins(corpus, level.source, level.bins, ledger.numbers[level.name])
    base = _base(below)
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
