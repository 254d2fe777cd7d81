"""Suggested dimensions, and the reasons for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cube2net._util.display import Shown
from cube2net._util.text import format_count
from cube2net.errors import Message, quote_unsafe
from cube2net.model.dimension import MIN_OBJECTS, DimensionSpec
from cube2net.model.results import pick_plain

KIND_WORDS = {"labels": "labels", "several labels": "labels", "years": "years", "dates": "days"}


@dataclass(frozen=True)
class Dependency:
    """That the labels of one attribute nearly decide another: nearly all items of a city have the same state.

    ``items`` are those whose label stands on two items or more, ``strays`` those of them that have another parent
    than most items of their label. Two items of one label have the same parent with the share ``agreement``, any two
    items with the share ``chance``. Where labels are ``lacking`` a parent on all of their items, it is no level.

    >>> print(Dependency("city", "state", items=200, strays=3, agreement=0.97, chance=0.2))
    city → state (3 of 200 items differ)
    """

    child: str
    parent: str
    items: int
    strays: int
    agreement: float
    chance: float
    lacking: int = 0

    def __str__(self) -> str:
        differ = f"{self.strays:,} of {self.items:,} items differ" if self.strays else f"all of {self.items:,} items"
        lacking = f"; no level, for {self.lacking:,} labels have no {self.parent}" if self.lacking else ""
        return f"{self.child} → {self.parent} ({differ}{lacking})"


@dataclass(frozen=True)
class Attribute:
    """What an attribute of items is: its kind, how many labels or numbers it has, and on which share of the items.

    ``kind`` is ``constant``, ``id``, ``nearly unique``, ``text``, ``labels``, ``several labels``, ``few numbers``,
    ``numbers``, ``years``, ``dates`` or ``unusable``. ``dimension`` is what it would become, None where it can become
    none; ``reason`` says why, in a sentence.
    """

    name: str
    kind: str
    distinct: int
    filled: float
    reason: str
    dimension: DimensionSpec | None = None


@dataclass(frozen=True)
class SampleCell:
    """A cell of one dimension: its label, its objects, and the items with this label.

    >>> print(SampleCell("Rome", objects=1200, items=300))
    Rome (1,200 objects, 300 items)
    """

    label: str
    objects: int
    items: int

    def __str__(self) -> str:
        counts = f"{format_count(self.objects, 'object')}, {format_count(self.items, 'item')}"
        return f"{quote_unsafe(self.label, 40)} ({counts})"


@dataclass(frozen=True)
class CellCounts:
    """What cells some dimensions make: those that a cube keeps, those it sets aside, and how much they tell.

    ``share`` of the objects are in a cell that is kept. ``dead`` cells have too few objects to be kept, ``giant`` ones
    hold more than a quarter of all. ``bits`` is how often, on average over all objects, a cell that an object is in
    halves the number of objects that one has to look at; cells that are not kept count 0. The objects of ``single``
    kept cells are those of one item alone, which such a cell repeats. ``together`` is which
    part of what tells items apart is no chance, from 0 to 1: it holds together what belongs together, two items of an
    object or of two that are linked; None where the corpus does not show that.
    """

    cells: int
    share: float
    dead: int
    giant: int
    bits: float
    together: float | None = None
    single: int = 0

    def sentence(self, min_objects: int) -> str:
        """Return how good the cells are, in words.

        >>> CellCounts(cells=40, share=0.96, dead=3, giant=0, bits=5.0, together=0.4).sentence(10)
        '96% of the objects are in cells of 10 or more, and a cell leaves one object of 32 on average'
        """
        share = f"{self.share:.0%} of the objects are in cells of {min_objects} or more"
        return f"{share}, and a cell leaves one object of {2**self.bits:,.0f} on average"


@dataclass(frozen=True)
class Held:
    """Which share of the hidden half of a query chosen cells hold, over several splits: mean, and where it lies."""

    mean: float
    low: float
    high: float
    splits: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True)
class Proposal:
    """Some dimensions, the cells they would make, and what they hold of a query's hidden half where one was given.

    ``reads`` are the attributes of the dimensions and of their levels.
    """

    dimensions: tuple[DimensionSpec, ...]
    counts: CellCounts
    score: float
    reads: frozenset[str] = frozenset()
    held: Held | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the proposal as JSON has it."""
        names = [str(spec) for spec in self.dimensions]
        return {"dimensions": names, **vars(self.counts), **pick_plain(self, "score held")}

    def __repr__(self) -> str:
        names = " × ".join(map(str, self.dimensions))
        held = "" if self.held is None else f", holds {self.held}"
        return f"Proposal({names}: {format_count(self.counts.cells, 'cell')}, {self.counts.share:.0%} of objects{held})"


@dataclass(frozen=True, eq=False)
class Suggestion(Shown):
    """The dimensions proposed for a corpus, and what they were chosen from.

    ``dimensions`` is for :func:`build`; it is empty where nothing makes cells, and ``reason`` says why.
    ``attributes`` says what every attribute is, ``alone`` has every dimension by itself, best first, ``others`` the
    combinations that came next. ``dependencies`` are the levels that were found. ``topics`` is how many topics
    the texts are enough for, None without texts; ``text`` names the attribute that holds them where the corpus has no
    text under that name. ``looked_at`` of the ``items`` were looked at.
    """

    dimensions: tuple[DimensionSpec, ...]
    best: Proposal | None
    others: tuple[Proposal, ...]
    alone: tuple[Proposal, ...]
    attributes: tuple[Attribute, ...]
    dependencies: tuple[Dependency, ...]
    why: Message
    items: int
    looked_at: int
    min_objects: int = MIN_OBJECTS
    topics: int | None = None
    text: str = ""
    query: int | None = None
    sample_cells: Mapping[str, tuple[SampleCell, ...]] = field(default_factory=dict)
    """The largest cells of each dimension alone, in the items that were looked at."""

    def __repr__(self) -> str:
        return f"Suggestion({self.describe() or f'nothing: {self.reason}'})"

    def describe(self) -> str:
        """Return the dimensions with the size of their cells, or an empty text without dimensions."""
        if self.best is None:
            return ""
        names = " × ".join(map(str, self.dimensions))
        counts = self.best.counts
        return f"{names}: about {format_count(counts.cells, 'cell')}, {counts.share:.0%} of objects in them"

    @property
    def explanations(self) -> tuple[str, ...]:
        """A sentence for every dimension: what it is, how many objects its cells hold, and the largest of them."""
        attributes = {each.name: each for each in self.attributes}
        counts = {each.dimensions[0]: each.counts for each in self.alone}
        sentences = []
        for spec in self.dimensions:
            attribute, cells = attributes.get(spec.attribute), counts.get(spec)
            what = f"about {self.topics} topics of {self.text or 'the texts'}"
            if attribute is not None:
                word = KIND_WORDS.get(attribute.kind, "values")
                what = f"{attribute.distinct:,} {word} on {attribute.filled:.0%} of the items"
            parts = [f"{spec.name}: {what}"]
            if cells is not None:
                cells_of = f"{format_count(cells.cells, 'cell')} of {self.min_objects} objects or more"
                parts.append(f"{cells_of} hold {cells.share:.0%} of the objects")
            if examples := self.sample_cells.get(spec.name):
                parts.append(f"for example {', '.join(map(str, examples))}")
            sentences.append("; ".join(parts))
        return tuple(sentences)

    @property
    def reason(self) -> str:
        """Why the dimensions were chosen, or what would help where none was."""
        return str(self.why)

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """The best combination and those that came next."""
        return self.others if self.best is None else (self.best, *self.others)

    @property
    def table(self) -> pa.Table:
        """Every attribute in a row: what it is, what it would become and why."""
        types = {"attribute": pa.string(), "kind": pa.string(), "distinct": pa.int64(), "filled": pa.float64()}
        types |= {"dimension": pa.string(), "reason": pa.string()}
        rows = [
            {**vars(each), "attribute": each.name, "dimension": each.dimension and str(each.dimension)}
            for each in self.attributes
        ]
        return pa.Table.from_pylist(rows, pa.schema(types))

    @property
    def needs_topics(self) -> bool:
        """Whether one of the dimensions is of topics that are to be found in texts."""
        return self.topics is not None and any(spec.attribute == "topic" for spec in self.dimensions)

    def record(self) -> dict[str, Any]:
        """Return all of it in texts and numbers that JSON can carry."""
        return {
            "dimensions": [str(spec) for spec in self.dimensions],
            **pick_plain(self, "reason explanations items looked_at min_objects query dependencies proposals alone"),
            "topics": self.topics if self.needs_topics else None,
            "text": self.text if self.needs_topics else "",
            "attributes": self.table.to_pylist(),
        }

    def why_not(self, most: int = 6) -> str:
        """Return why no attribute makes a dimension, a few words for each."""
        reasons = [f"{quote_unsafe(each.name)} {each.reason}" for each in self.attributes]
        return "; ".join(reasons[:most]) + ("; …" if len(reasons) > most else "") or "items have no attribute"
