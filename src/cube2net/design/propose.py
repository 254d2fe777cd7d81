"""Propose dimensions for a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net._util.random import stream
from cube2net.design.attributes import (
    Chains,
    ItemLabels,
    Sample,
    Seen,
    bins_for,
    count_lacking,
    draw,
    find_chains,
    look_at,
    read_texts,
    read_values,
)
from cube2net.design.combinations import (
    LABELS,
    LEAST_BITS,
    NUMBERS,
    TIMES,
    Agreement,
    CandidateDimension,
    Combination,
    combine,
    rank,
    search,
    told_together,
)
from cube2net.errors import Message, Setting, check_int, join_names
from cube2net.model.corpus import Corpus, decode, texts_of_rows
from cube2net.model.dimension import MIN_OBJECTS, DimensionSpec, LevelSpec
from cube2net.model.suggestion import Attribute, Proposal, SampleCell, Suggestion

TOPIC = "topic"
LOOKED_AT = 100_000
"""So many items at most are looked at."""
SEARCHED, SEARCHED_MENTIONS = 20_000, 50_000
"""So many items and mentions are enough to compare combinations."""
COUNTED_MENTIONS = 5_000_000
"""Up to so many mentions the cells of what is shown are counted in all items."""
TOPICS = (100, 50, 20, 10, 5, 3)
TEXTS_OF_A_TOPIC = 50
FEWEST_TEXTS = 30
"""Below, texts make no topics."""
LEAST_REAL = 0.1
"""Where of no attribute so much is no chance, what belongs together says nothing of the attributes."""
LONG_SPAN = 5
"""Dates that lie fewer years apart are told by months."""
SHOWN = 4
SAMPLE_CELLS, NAME_DIGITS = 3, 6
MOST_LEFT_OUT = 0.2
"""A source's own design that leaves no larger share of the objects in no cell is used as it is."""
FEWER = (5, 3, 2)
"""Numbers of objects in a cell that are tried where no attribute makes cells."""

Bins = Callable[[str], Callable[[Array], tuple[Array, Any]]]
"""What spellings of bins mean: a function of numbers that gives the number of the bin of each."""


def propose(
    corpus: Corpus,
    bins: Bins,
    *,
    min_objects: int = MIN_OBJECTS,
    seed: int = 0,
    progress: Progress = silent,
) -> Suggestion:
    """Return the dimensions that suit a corpus, and why; those of its source stay where they leave few objects out."""
    check_int("min_objects", min_objects, 1, what="objects")
    progress("looking at the attributes", 0, None)
    sample = draw(corpus, LOOKED_AT, 10 * LOOKED_AT, seed)
    found = {name: look_at(name, sample.column(name)) for name in corpus.attributes}
    single = {
        name: each.labels.by_item(len(sample))
        for name, each in found.items()
        if each.labels is not None and each.kind != "several labels"
    }
    readable = {name: each.length for name, each in found.items()}
    chains = find_chains(single, readable, partial(count_lacking, corpus))
    text, texts = _texts(corpus, found)
    widest = max((len(each.labels.codes) / len(sample) for each in found.values() if each.labels), default=1.0)
    few = draw(corpus, SEARCHED, int(SEARCHED_MENTIONS / max(1.0, widest / 2)), seed)
    kinds = _Kinds(corpus, found, chains, bins, text, texts)
    candidates = kinds.candidates(few, seed)
    real = max((told_together([part.agreement]) for part in candidates if part.agreement is not None), default=0.0)
    few = _weigh_pairs(few, real)
    progress("looking at combinations of them", 0, None)
    alone = [each for part in candidates if (each := combine(few, [part], min_objects)) is not None]
    ranked, counted = search(few, alone, min_objects), few
    if few.share < 1 and corpus.mentions.num_rows <= COUNTED_MENTIONS:
        counted = _weigh_pairs(draw(corpus, corpus.items.num_rows, corpus.mentions.num_rows, seed), real)
        again = {str(part.spec): part for part in kinds.candidates(counted, seed)}
        alone = [_count_again(each, again, counted, min_objects) for each in alone]
        ranked = rank([_count_again(each, again, counted, min_objects) for each in ranked[: SHOWN * 2]])
        ranked = [each for each in ranked if each.works]
    own = combine(counted, parts, min_objects) if (parts := kinds.own_design(counted, seed)) else None
    if own is not None and _is_kept(own, ranked):
        ranked = [own, *(each for each in ranked if each.specs != own.specs)]
    best = next(iter(ranked or rank([each for each in alone if each.has_cells])), None)
    used = best.specs if best is not None else ()
    said = tuple(_describe_attribute(each, kinds, alone, best, min_objects) for each in found.values())
    return Suggestion(
        dimensions=used,
        best=None if best is None else best.proposal(),
        others=tuple(each.proposal() for each in ranked[1:SHOWN]),
        alone=tuple(_rank([each.proposal() for each in alone])),
        attributes=said,
        dependencies=chains.dependencies,
        why=_reason(best, few, alone, min_objects),
        items=corpus.items.num_rows,
        looked_at=len(sample),
        min_objects=min_objects,
        topics=kinds.topics,
        text=text,
        sample_cells={spec.name: kinds.list_largest_cells(spec, counted) for spec in used if spec.attribute in found},
    )


def covers_with_own_design(corpus: Corpus, bins: Bins, *, min_objects: int = MIN_OBJECTS, seed: int = 0) -> bool:
    """Return whether the design of a corpus's source leaves at most a fifth of the objects in no cell."""
    attributes = {spec.attribute for spec in corpus.dimensions} & set(corpus.attributes)
    most_items, most_mentions = LOOKED_AT, 10 * LOOKED_AT
    if corpus.mentions.num_rows <= COUNTED_MENTIONS:
        most_items, most_mentions = corpus.items.num_rows, corpus.mentions.num_rows
    sample = draw(corpus, most_items, most_mentions, seed)
    found = {name: look_at(name, sample.column(name)) for name in attributes}
    kinds = _Kinds(corpus, found, find_chains({}, {}, partial(count_lacking, corpus)), bins, *_texts(corpus, found))
    parts = kinds.own_design(sample, seed)
    design = combine(sample, parts, min_objects) if parts else None
    return design is not None and 1 - design.counts.share <= MOST_LEFT_OUT


def _weigh_pairs(sample: Sample, real: float) -> Sample:
    """Return a sample that heeds what belongs together only where some attribute follows it.

    ``real`` is which part of the best attribute is no chance; topics are taken to be as good.
    """
    return replace(sample, pairs=None) if real < LEAST_REAL else replace(sample, guess=real)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """What was found of the attributes of a corpus, and the dimensions that may come of it."""

    corpus: Corpus
    found: Mapping[str, Seen]
    chains: Chains
    bins: Bins
    text: str
    texts: int

    @property
    def topics(self) -> int | None:
        """How many topics to find in the texts; None where there are topics already, or too few texts."""
        if TOPIC in self.found or self.texts < FEWEST_TEXTS:
            return None
        return next((count for count in TOPICS if self.texts >= TEXTS_OF_A_TOPIC * count), TOPICS[-1])

    def candidates(self, sample: Sample, seed: int) -> list[CandidateDimension]:
        """Return the dimensions that attributes may become, with their labels in a sample."""
        made = []
        for order, each in enumerate(self.found.values()):
            if each.name in self.chains.same or (each.labels is None and each.numbers is None):
                continue
            here = look_at(each.name, sample.column(each.name))
            for spec in self.specs(each):
                labels = self._labels(spec, here, sample)
                if labels is not None and labels.count:
                    reads = frozenset({each.name, *(level.name for level in spec.levels)})
                    agreement = Agreement.of(sample, labels)
                    made_of = LABELS if each.labels is not None else NUMBERS if each.kind == "numbers" else TIMES
                    made.append(CandidateDimension(spec, labels, reads, order, agreement, made_of))
        if self.topics is not None:
            spec = DimensionSpec(TOPIC, TOPIC)
            made.append(CandidateDimension(spec, self._stand_in(sample, seed), frozenset({TOPIC}), len(self.found)))
        return made

    def own_design(self, sample: Sample, seed: int) -> list[CandidateDimension]:
        """Return the dimensions that the source of the corpus prefers, with their labels in a sample."""
        made = []
        for order, spec in enumerate(self.corpus.dimensions):
            if spec.attribute in self.found:
                here = look_at(spec.attribute, sample.column(spec.attribute))
                labels = self._labels(spec, here, sample)
            else:
                labels = self._stand_in(sample, seed) if spec.attribute == TOPIC else None
            if labels is None:
                return []
            reads = frozenset({spec.attribute, *(level.name for level in spec.levels)})
            made.append(CandidateDimension(spec, labels, reads, order, Agreement.of(sample, labels)))
        return made

    def specs(self, each: Seen) -> list[DimensionSpec]:
        """Return the dimensions that an attribute may become, the finest first."""
        if each.labels is not None:
            return [
                make_spec(each.name, each.name, above=self.chains.paths.get(each.name) or self._known_parents(each))
            ]
        if each.numbers is None:
            return []
        if each.kind not in ("years", "dates"):
            return [make_spec(each.name, each.name, bins_for(each.numbers))]
        decade = "decade" if each.name == "year" and "decade" not in self.found else each.name
        by_years = make_spec(each.name, each.name, "years", [("decades",)])
        by_decades = make_spec(decade, each.name, "decades")
        if each.days is None or np.ptp(each.numbers) >= LONG_SPAN:
            return [by_years, by_decades]
        return [make_spec(each.name, each.name, "months", [("years",)]), make_spec(each.name, each.name, "years")]

    def _known_parents(self, each: Seen) -> tuple[tuple[str, ...], ...]:
        """Return the level above an attribute where the corpus says the parents of most of its labels."""
        known = self.corpus.labels
        rows = known.filter(pc.and_(pc.equal(known["attribute"], each.name), pc.is_valid(known["parent"])))
        called = f"{each.name} group"
        return ((called,),) if 2 * rows.num_rows > each.distinct and called not in self.found else ()

    def _labels(self, spec: DimensionSpec, here: Seen, sample: Sample) -> ItemLabels | None:
        if spec.bins is None:
            return here.labels if here.labels is not None else read_texts(sample.column(spec.attribute))
        if here.numbers is None or here.items is None:
            return None
        numbers = here.days if spec.bins == "months" and here.days is not None else here.numbers
        _, codes = np.unique(self.bins(spec.bins)(numbers)[0], return_inverse=True)
        return ItemLabels(here.items, codes, int(codes.max(initial=-1)) + 1)

    def list_largest_cells(self, spec: DimensionSpec, sample: Sample) -> tuple[SampleCell, ...]:
        """Return the cells of a dimension that most items of a sample are in."""
        column = sample.column(spec.attribute)
        here = look_at(spec.attribute, column)
        labels = self._labels(spec, here, sample)
        numbers = here.days if spec.bins == "months" and here.days is not None else here.numbers
        if labels is None:
            return ()
        if spec.bins is not None and numbers is not None:
            codes, name_bin = self.bins(spec.bins)(numbers)
            names = [name_bin(code, NAME_DIGITS) for code in np.unique(codes).tolist()]
        elif here.kind == "few numbers":
            names = [f"{value:g}" for value in np.unique(read_values(column)[1]).tolist()]
        else:
            names = texts_of_rows(column)[1].dictionary_encode().dictionary.to_pylist()
        largest = np.argsort(-np.bincount(labels.codes, minlength=labels.count), kind="stable")[:SAMPLE_CELLS]
        cells = []
        for code in largest.tolist():
            items = labels.items[labels.codes == code]
            objects = len(np.unique(sample.object[np.isin(sample.item, items)]))
            cells.append(SampleCell(names[code], objects, len(items)))
        return tuple(cells)

    def _stand_in(self, sample: Sample, seed: int) -> ItemLabels:
        """Return topics as if they were spread evenly, and one for all items without a text; none is found for this."""
        count = self.topics or TOPICS[-1]
        drawn = stream(seed, "suggest", "topics").integers(count, size=self.corpus.items.num_rows)
        drawn[~_have_text(self.corpus, self.text)] = count
        return ItemLabels(np.arange(len(sample)), drawn[sample.rows], count + 1, is_guess=True)


def make_spec(name: str, attribute: str, bins: str | None = None, above: Sequence[Sequence[str]] = ()) -> DimensionSpec:
    """Return the dimension of a name, an attribute, bins and paths of levels above.

    >>> print(make_spec("city", "city", above=[("state/province", "country"), ("climate",)]))
    city/"state/province"/country|climate
    """
    levels = "|".join("/".join(str(LevelSpec(level, "")) for level in path) for path in above)
    return DimensionSpec(name, attribute, bins, above=levels or None)


def find_text_attribute(corpus: Corpus) -> str:
    """Return the attribute that reads as text where a corpus has no text of its own; empty where none does.

    >>> from cube2net.model.corpus import MENTIONS, OBJECTS, table
    >>> items = pa.table({"item": ["a", "b"], "about": ["a long tale of two old towns by the sea"] * 2})
    >>> find_text_attribute(Corpus(table(OBJECTS), items, table(MENTIONS)))
    ''
    """
    sample = draw(corpus, SEARCHED, SEARCHED_MENTIONS, 0)
    return _texts(corpus, {name: look_at(name, sample.column(name)) for name in corpus.attributes})[0]


def with_text(corpus: Corpus, attribute: str) -> Corpus:
    """Return a corpus whose texts are those of an attribute, which stays an attribute as well."""
    texts = pc.cast(decode(corpus.items[attribute]), pa.string())
    return replace(corpus, items=corpus.items.append_column("text", texts))


def _texts(corpus: Corpus, found: Mapping[str, Seen]) -> tuple[str, int]:
    """Return the attribute that holds the texts (empty where the corpus says them itself), and how many there are."""
    if "text" in corpus.items.column_names or corpus.terms is not None:
        return "", int(_have_text(corpus, "").sum())
    longest = max((each for each in found.values() if each.kind == "text"), key=lambda each: each.length, default=None)
    if longest is None:
        return "", 0
    return longest.name, int(_have_text(corpus, longest.name).sum())


def _have_text(corpus: Corpus, attribute: str) -> Array:
    has = np.zeros(corpus.items.num_rows, dtype=bool)
    if attribute or "text" in corpus.items.column_names:
        column = corpus.items[attribute or "text"]
        has |= np.asarray(pc.fill_null(pc.greater(pc.binary_length(column), 0), False))
    if corpus.terms is not None:
        has[corpus.terms["item"].to_numpy()] = True
    return has


def _is_kept(own: Combination, ranked: Sequence[Combination]) -> bool:
    """Return whether the design of a source is used: it covers enough, or nothing found leaves half as many out."""
    left_out = 1 - own.counts.share
    return not ranked or left_out <= MOST_LEFT_OUT or 2 * (1 - ranked[0].counts.share) > left_out


def _count_again(
    each: Combination, candidates: Mapping[str, CandidateDimension], sample: Sample, min_objects: int
) -> Combination:
    """Return a combination with its cells counted in another sample, where that can be."""
    parts = [candidates[str(part.spec)] for part in each.parts if str(part.spec) in candidates]
    counted = combine(sample, parts, min_objects) if len(parts) == len(each.parts) else None
    return each if counted is None else counted


def _rank(proposals: list[Proposal]) -> list[Proposal]:
    return sorted(proposals, key=lambda each: -each.score)


def _describe_attribute(
    each: Seen, kinds: _Kinds, alone: Sequence[Combination], best: Combination | None, min_objects: int
) -> Attribute:
    """Return what an attribute is, what becomes of it, and why."""
    own = [one for one in alone if one.parts[0].spec.attribute == each.name]
    used = [] if best is None else [part for part in best.parts if part.spec.attribute == each.name]
    above = [] if best is None else [part for part in best.parts if each.name in part.reads - {part.spec.attribute}]
    spec = used[0].spec if used else own[0].parts[0].spec if own else None
    if used:
        verdict = "a dimension"
    elif each.name in kinds.chains.same:
        verdict = f"it says the same as {kinds.chains.same[each.name]!r}"
    elif above:
        verdict = f"a level above {above[0].spec.name!r}"
    elif each.kind == "text":
        of_text = kinds.topics is not None and each.name == kinds.text
        verdict = "its topics are a dimension" if of_text else "topics are not made of it"
    elif not own:
        verdict = "it tells no groups apart"
    elif not any(one.works for one in own):
        verdict = _why_not(own[0], min_objects)
    elif each.kind == "numbers" and best is not None and all(part.made_of != NUMBERS for part in best.parts):
        verdict = "labels make the dimensions, and numbers none beside them"
    else:
        verdict = "beside the others it adds too little or leaves too many objects out"
    return Attribute(each.name, each.kind, each.distinct, each.filled, f"{each.reason}: {verdict}", spec)


def _why_not(one: Combination, min_objects: int) -> str:
    counts = one.counts
    if one.repeats_items:
        return f"{counts.single:,} of {counts.cells:,} cells would hold a single record"
    if counts.cells < 2 and counts.dead > counts.cells:
        return f"nearly no label has {min_objects} objects"
    if counts.bits < LEAST_BITS and counts.share > 0.5:
        return "one label holds nearly all objects"
    return f"only {counts.share:.0%} of the objects would be in a cell"


def _reason(best: Combination | None, few: Sample, alone: Sequence[Combination], min_objects: int) -> Message:
    """Return why a combination was chosen, in a sentence; or what would help where none was."""
    if best is not None:
        poor = "" if best.works else "no attribute tells objects apart well; "
        return Message(f"{poor}{best.counts.sentence(min_objects)}")
    if not few.corpus.attributes and few.corpus.terms is None and "text" not in few.corpus.items.column_names:
        return Message(
            "there is nothing to make dimensions of: add a column such as a city or a year, or give a table of nodes "
            "beside the links"
        )
    for least in (least for least in FEWER if least < min_objects):
        again = [combine(few, each.parts, least) for each in alone]
        would = [each.specs[0].name for each in again if each is not None and each.works]
        if would:
            return Message(
                f"no attribute makes two cells of {min_objects} objects: with {least} in a cell {join_names(would)} "
                "would",
                " (",
                Setting("min_objects", least),
                ")",
            )
    return Message("no attribute tells groups of objects apart: give the items one that does, such as a city or a year")


SIZES = ((2_000, 10), (500, 5), (100, 3), (0, 2))
"""Of so many objects or more, a cell needs so many."""
ROLE_WORDS = {
    "id": "identifier",
    "name": "name",
    "kind": "kind",
    "text": "text, in which topics are found",
    "source": "one end of a link",
    "target": "the other end of a link",
    "names": "links: names other rows",
    "weight": "weight of a link",
    "time": "time of a link",
    "item": "record",
    "object": "objects of a record",
}
"""What a column is, in words, by its role."""


def propose_for_tables(
    corpus: Corpus,
    bins: Bins,
    *,
    min_objects: int | None = None,
    may_shrink: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Suggestion:
    """Return what is proposed; without ``min_objects`` cells suit the size of the tables.

    Cells that nobody said the size of become smaller where else there would be none, if they ``may_shrink``.
    """
    least = cell_size(corpus.objects.num_rows) if min_objects is None else min_objects
    sizes: Sequence[int] = range(least, 0, -1) if may_shrink and min_objects is None else (least,)
    for size in sizes:
        found = propose(corpus, bins, min_objects=size, seed=seed, progress=progress)
        if found.dimensions:
            break
    return found


def cell_size(objects: int) -> int:
    """Return how many objects a cell needs where there are so many in all.

    >>> [cell_size(objects) for objects in (72, 100, 2_000_000)]
    [2, 3, 10]
    """
    return next(few for many, few in SIZES if objects >= many)


def columns_in_words(corpus: Corpus, found: Suggestion, chosen: Sequence[DimensionSpec]) -> list[dict[str, Any]]:
    """Return what every column was taken for and why: first those that have a role, then the attributes."""
    used: dict[str, str] = {}
    for spec in chosen:
        used[spec.attribute] = f"dimension {spec}" if str(spec) != spec.attribute else "dimension"
        for level in spec.levels:
            used.setdefault(level.source, f"level above {level.below}")
    rows: list[dict[str, Any]] = []
    own = False
    for role, name in (corpus.source.get("columns") or {}).items():
        table, _, what = role.rpartition(".")
        if what == "source" and name in [row["column"] for row in rows]:
            own = True
        elif name:
            what = "names" if what == "target" and own else what
            rows.append(
                {"table": table, "column": name, "what": ROLE_WORDS.get(what, what), "why": "", "is_used": True}
            )
    for each in found.attributes:
        what = used.get(each.name, "kept, no dimension")
        is_used = each.name in used
        rows.append({"table": "", "column": each.name, "what": what, "why": str(each.reason), "is_used": is_used})
    return rows
