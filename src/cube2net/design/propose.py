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
    AttributeProfile,
    Chains,
    ItemLabels,
    Sample,
    choose_bins,
    count_labels_without_parent,
    draw_sample,
    find_chains,
    profile_attribute,
    read_texts,
    read_values,
)
from cube2net.design.combinations import (
    LABELS,
    MIN_BITS,
    NUMBERS,
    TIMES,
    Agreement,
    CandidateDimension,
    Combination,
    combine,
    compute_meaningful_share,
    rank,
    search,
)
from cube2net.errors import Message, Setting, check_int, join_names
from cube2net.model.corpus import Corpus, decode, texts_of_rows
from cube2net.model.dimension import MIN_OBJECTS, DimensionSpec, LevelSpec
from cube2net.model.suggestion import Attribute, Proposal, SampleCell, Suggestion
from cube2net.topics.lda import choose_topic_count

TOPIC = "topic"
MAX_PROFILED_ITEMS = 100_000
"""Maximum items in which attributes are profiled."""
MAX_SEARCHED_ITEMS, MAX_SEARCHED_MENTIONS = 20_000, 50_000
"""Maximum items and mentions of the sample in which combinations are compared."""
MAX_COUNTED_MENTIONS = 5_000_000
"""Up to this many mentions, the cells of shown proposals are counted in all items."""
MIN_TEXTS = 30
"""Minimum number of texts for topics."""
MIN_MEANINGFUL_SHARE = 0.1
"""If every attribute has a smaller share that is not chance, pairs that belong together are ignored."""
MIN_SPAN_YEARS = 5
"""Dates that span fewer years are grouped by months."""
MAX_SHOWN_PROPOSALS = 4
MAX_SAMPLE_CELLS, NAME_DIGITS = 3, 6
MAX_LEFT_OUT_SHARE = 0.2
"""Maximum share of the objects without a cell in a design of the source that is used unchanged."""
SMALLER_MIN_OBJECTS = (5, 3, 2)
"""Smaller minimum numbers of objects per cell to try if no attribute makes cells."""

Bins = Callable[[str], Callable[[Array], tuple[Array, Any]]]
"""Maps a spelling of bins to a function that returns the bin of each number, and a function that names bins."""


def propose(
    corpus: Corpus,
    bins: Bins,
    *,
    min_objects: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Suggestion:
    """Return suitable dimensions for a corpus, and why; those of its source are kept if they leave few objects out.

    Without ``min_objects``, it is that of :func:`choose_min_objects`. If this gives no dimensions, smaller numbers are
    tried, and then larger ones, whose cells seldom hold the objects of a single item.
    """
    if min_objects is not None:
        check_int("min_objects", min_objects, 1, what="objects")
        return _propose(corpus, bins, min_objects, seed, progress)
    default = choose_min_objects(corpus.objects.num_rows)
    suggestion = _propose(corpus, bins, default, seed, progress)
    if suggestion.dimensions:
        return suggestion
    others = (
        _propose(corpus, bins, size, seed, progress)
        for size in (*range(default - 1, 0, -1), *range(default + 1, MIN_OBJECTS + 1))
    )
    return next((other for other in others if other.dimensions), suggestion)


def _propose(corpus: Corpus, bins: Bins, min_objects: int, seed: int, progress: Progress) -> Suggestion:
    progress("looking at the attributes", 0, None)
    sample = draw_sample(corpus, MAX_PROFILED_ITEMS, 10 * MAX_PROFILED_ITEMS, seed)
    profiles = {name: profile_attribute(name, sample.column(name)) for name in corpus.attributes}
    single_labels = {
        name: profile.labels.by_item(len(sample))
        for name, profile in profiles.items()
        if profile.labels is not None and profile.kind != "several labels"
    }
    readable = {name: profile.length for name, profile in profiles.items()}
    chains = find_chains(single_labels, readable, partial(count_labels_without_parent, corpus))
    text, n_texts = _find_texts(corpus, profiles)
    max_labels_per_item = max(
        (len(profile.labels.codes) / len(sample) for profile in profiles.values() if profile.labels),
        default=1.0,
    )
    search_sample = draw_sample(
        corpus, MAX_SEARCHED_ITEMS, int(MAX_SEARCHED_MENTIONS / max(1.0, max_labels_per_item / 2)), seed
    )
    design_profiles = _Profiles(corpus, profiles, chains, bins, text, n_texts)
    candidates = design_profiles.candidates(search_sample, seed)
    meaningful_share = max(
        (compute_meaningful_share([part.agreement]) for part in candidates if part.agreement is not None), default=0.0
    )
    search_sample = _weigh_pairs(search_sample, meaningful_share)
    progress("looking at combinations of them", 0, None)
    alone = [
        combination for part in candidates if (combination := combine(search_sample, [part], min_objects)) is not None
    ]
    ranked, counted_sample = search(search_sample, alone, min_objects), search_sample
    if search_sample.share < 1 and corpus.mentions.num_rows <= MAX_COUNTED_MENTIONS:
        counted_sample = _weigh_pairs(
            draw_sample(corpus, corpus.items.num_rows, corpus.mentions.num_rows, seed), meaningful_share
        )
        recounted_candidates = {str(part.spec): part for part in design_profiles.candidates(counted_sample, seed)}
        alone = [_recount(combination, recounted_candidates, counted_sample, min_objects) for combination in alone]
        ranked = rank(
            [
                _recount(combination, recounted_candidates, counted_sample, min_objects)
                for combination in ranked[: MAX_SHOWN_PROPOSALS * 2]
            ]
        )
        ranked = [combination for combination in ranked if combination.works]
    own_design = (
        combine(counted_sample, parts, min_objects)
        if (parts := design_profiles.own_design(counted_sample, seed))
        else None
    )
    if own_design is not None and _is_kept(own_design, ranked):
        ranked = [own_design, *(combination for combination in ranked if combination.specs != own_design.specs)]
    best = next(iter(ranked or rank([combination for combination in alone if combination.has_cells])), None)
    used_specs = best.specs if best is not None else ()
    descriptions = tuple(
        _describe_attribute(profile, design_profiles, alone, best, min_objects) for profile in profiles.values()
    )
    return Suggestion(
        dimensions=used_specs,
        best=None if best is None else best.proposal(),
        others=tuple(combination.proposal() for combination in ranked[1:MAX_SHOWN_PROPOSALS]),
        alone=tuple(_sort_proposals([combination.proposal() for combination in alone])),
        attributes=descriptions,
        dependencies=chains.dependencies,
        why=_explain_choice(best, search_sample, alone, min_objects),
        items=corpus.items.num_rows,
        looked_at=len(sample),
        min_objects=min_objects,
        topics=design_profiles.topics,
        text=text,
        sample_cells={
            spec.name: design_profiles.list_largest_cells(spec, counted_sample)
            for spec in used_specs
            if spec.attribute in profiles
        },
    )


def covers_with_own_design(corpus: Corpus, bins: Bins, *, min_objects: int, seed: int = 0) -> bool:
    """Return whether the design of a corpus's source leaves at most a fifth of the objects in no cell."""
    attributes = {spec.attribute for spec in corpus.dimensions} & set(corpus.attributes)
    max_items, max_mentions = MAX_PROFILED_ITEMS, 10 * MAX_PROFILED_ITEMS
    if corpus.mentions.num_rows <= MAX_COUNTED_MENTIONS:
        max_items, max_mentions = corpus.items.num_rows, corpus.mentions.num_rows
    sample = draw_sample(corpus, max_items, max_mentions, seed)
    profiles = {name: profile_attribute(name, sample.column(name)) for name in attributes}
    design_profiles = _Profiles(
        corpus,
        profiles,
        find_chains({}, {}, partial(count_labels_without_parent, corpus)),
        bins,
        *_find_texts(corpus, profiles),
    )
    parts = design_profiles.own_design(sample, seed)
    design = combine(sample, parts, min_objects) if parts else None
    return design is not None and 1 - design.counts.share <= MAX_LEFT_OUT_SHARE


def _weigh_pairs(sample: Sample, meaningful_share: float) -> Sample:
    """Return a sample that uses pairs that belong together only if some attribute agrees with them.

    ``meaningful_share`` is the share of the best attribute that is not chance, which is assumed for topics, too.
    """
    return (
        replace(sample, pairs=None)
        if meaningful_share < MIN_MEANINGFUL_SHARE
        else replace(sample, guess=meaningful_share)
    )


@dataclass(frozen=True, eq=False)
class _Profiles:
    """The profiles of the attributes of a corpus, and the dimensions that they may become."""

    corpus: Corpus
    profiles: Mapping[str, AttributeProfile]
    chains: Chains
    bins: Bins
    text: str
    texts: int

    @property
    def topics(self) -> int | None:
        """How many topics to find in the texts; None if there are topics already, or too few texts."""
        if TOPIC in self.profiles or self.texts < MIN_TEXTS:
            return None
        return choose_topic_count(self.texts)

    def candidates(self, sample: Sample, seed: int) -> list[CandidateDimension]:
        """Return the dimensions that attributes may become, with their labels in a sample."""
        candidates = []
        for order, profile in enumerate(self.profiles.values()):
            if profile.name in self.chains.same or (profile.labels is None and profile.numbers is None):
                continue
            sample_profile = profile_attribute(profile.name, sample.column(profile.name))
            for spec in self.specs(profile):
                labels = self._labels(spec, sample_profile, sample)
                if labels is not None and labels.count:
                    reads = frozenset({profile.name, *(level.name for level in spec.levels)})
                    agreement = Agreement.of(sample, labels)
                    dimension_kind = (
                        LABELS if profile.labels is not None else NUMBERS if profile.kind == "numbers" else TIMES
                    )
                    candidates.append(CandidateDimension(spec, labels, reads, order, agreement, dimension_kind))
        if self.topics is not None:
            spec = DimensionSpec(TOPIC, TOPIC)
            candidates.append(
                CandidateDimension(
                    spec, self._make_placeholder_topics(sample, seed), frozenset({TOPIC}), len(self.profiles)
                )
            )
        return candidates

    def own_design(self, sample: Sample, seed: int) -> list[CandidateDimension]:
        """Return the dimensions that the source of the corpus prefers, with their labels in a sample."""
        candidates = []
        for order, spec in enumerate(self.corpus.dimensions):
            if spec.attribute in self.profiles:
                sample_profile = profile_attribute(spec.attribute, sample.column(spec.attribute))
                labels = self._labels(spec, sample_profile, sample)
            else:
                labels = self._make_placeholder_topics(sample, seed) if spec.attribute == TOPIC else None
            if labels is None:
                return []
            reads = frozenset({spec.attribute, *(level.name for level in spec.levels)})
            candidates.append(CandidateDimension(spec, labels, reads, order, Agreement.of(sample, labels)))
        return candidates

    def specs(self, profile: AttributeProfile) -> list[DimensionSpec]:
        """Return the dimensions that an attribute may become, the finest first."""
        if profile.labels is not None:
            return [
                make_spec(
                    profile.name,
                    profile.name,
                    above=self.chains.paths.get(profile.name) or self._known_parents(profile),
                )
            ]
        if profile.numbers is None:
            return []
        if profile.kind not in ("years", "dates"):
            return [make_spec(profile.name, profile.name, choose_bins(profile.numbers))]
        decade = "decade" if profile.name == "year" and "decade" not in self.profiles else profile.name
        by_years = make_spec(profile.name, profile.name, "years", [("decades",)])
        by_decades = make_spec(decade, profile.name, "decades")
        if profile.days is None or np.ptp(profile.numbers) >= MIN_SPAN_YEARS:
            return [by_years, by_decades]
        return [
            make_spec(profile.name, profile.name, "months", [("years",)]),
            make_spec(profile.name, profile.name, "years"),
        ]

    def _known_parents(self, profile: AttributeProfile) -> tuple[tuple[str, ...], ...]:
        """Return the level above an attribute if the corpus has the parents of most of its labels."""
        label_table = self.corpus.labels
        rows = label_table.filter(
            pc.and_(pc.equal(label_table["attribute"], profile.name), pc.is_valid(label_table["parent"]))
        )
        parent_name = f"{profile.name} group"
        return ((parent_name,),) if 2 * rows.num_rows > profile.distinct and parent_name not in self.profiles else ()

    def _labels(self, spec: DimensionSpec, sample_profile: AttributeProfile, sample: Sample) -> ItemLabels | None:
        if spec.bins is None:
            return (
                sample_profile.labels
                if sample_profile.labels is not None
                else read_texts(sample.column(spec.attribute))
            )
        if sample_profile.numbers is None or sample_profile.items is None:
            return None
        numbers = (
            sample_profile.days if spec.bins == "months" and sample_profile.days is not None else sample_profile.numbers
        )
        _, codes = np.unique(self.bins(spec.bins)(numbers)[0], return_inverse=True)
        return ItemLabels(sample_profile.items, codes, int(codes.max(initial=-1)) + 1)

    def list_largest_cells(self, spec: DimensionSpec, sample: Sample) -> tuple[SampleCell, ...]:
        """Return the cells of a dimension with the most items of a sample."""
        column = sample.column(spec.attribute)
        sample_profile = profile_attribute(spec.attribute, column)
        labels = self._labels(spec, sample_profile, sample)
        numbers = (
            sample_profile.days if spec.bins == "months" and sample_profile.days is not None else sample_profile.numbers
        )
        if labels is None:
            return ()
        if spec.bins is not None and numbers is not None:
            codes, name_bin = self.bins(spec.bins)(numbers)
            names = [name_bin(code, NAME_DIGITS) for code in np.unique(codes).tolist()]
        elif sample_profile.kind == "few numbers":
            names = [f"{value:g}" for value in np.unique(read_values(column)[1]).tolist()]
        else:
            names = texts_of_rows(column)[1].dictionary_encode().dictionary.to_pylist()
        largest = np.argsort(-np.bincount(labels.codes, minlength=labels.count), kind="stable")[:MAX_SAMPLE_CELLS]
        cells = []
        for code in largest.tolist():
            items = labels.items[labels.codes == code]
            objects = len(np.unique(sample.object[np.isin(sample.item, items)]))
            cells.append(SampleCell(names[code], objects, len(items)))
        return tuple(cells)

    def _make_placeholder_topics(self, sample: Sample, seed: int) -> ItemLabels:
        """Return random topics as placeholders, with one more for all items without a text."""
        count = choose_topic_count(self.texts)
        topics = stream(seed, "suggest", "topics").integers(count, size=self.corpus.items.num_rows)
        topics[~_find_items_with_text(self.corpus, self.text)] = count
        return ItemLabels(np.arange(len(sample)), topics[sample.rows], count + 1, is_guess=True)


def make_spec(name: str, attribute: str, bins: str | None = None, above: Sequence[Sequence[str]] = ()) -> DimensionSpec:
    """Return a dimension with a name, an attribute, bins and paths of levels above.

    >>> print(make_spec("city", "city", above=[("state/province", "country"), ("climate",)]))
    city/"state/province"/country|climate
    """
    levels = "|".join("/".join(str(LevelSpec(level, "")) for level in path) for path in above)
    return DimensionSpec(name, attribute, bins, above=levels or None)


def find_text_attribute(corpus: Corpus) -> str:
    """Return the attribute that holds texts if a corpus has no texts of its own; empty if none does.

    >>> from cube2net.model.corpus import MENTIONS, OBJECTS, table
    >>> items = pa.table({"item": ["a", "b"], "about": ["a long tale of two old towns by the sea"] * 2})
    >>> find_text_attribute(Corpus(table(OBJECTS), items, table(MENTIONS)))
    ''
    """
    sample = draw_sample(corpus, MAX_SEARCHED_ITEMS, MAX_SEARCHED_MENTIONS, 0)
    return _find_texts(corpus, {name: profile_attribute(name, sample.column(name)) for name in corpus.attributes})[0]


def add_text(corpus: Corpus, attribute: str) -> Corpus:
    """Return a corpus with the texts of an attribute, which remains an attribute as well."""
    texts = pc.cast(decode(corpus.items[attribute]), pa.string())
    return replace(corpus, items=corpus.items.append_column("text", texts))


def _find_texts(corpus: Corpus, profiles: Mapping[str, AttributeProfile]) -> tuple[str, int]:
    """Return the attribute that holds the texts (empty if the corpus has texts of its own), and how many there are."""
    if "text" in corpus.items.column_names or corpus.terms is not None:
        return "", int(_find_items_with_text(corpus, "").sum())
    longest = max(
        (profile for profile in profiles.values() if profile.kind == "text"),
        key=lambda profile: profile.length,
        default=None,
    )
    if longest is None:
        return "", 0
    return longest.name, int(_find_items_with_text(corpus, longest.name).sum())


def _find_items_with_text(corpus: Corpus, attribute: str) -> Array:
    has_text = np.zeros(corpus.items.num_rows, dtype=bool)
    if attribute or "text" in corpus.items.column_names:
        column = corpus.items[attribute or "text"]
        has_text |= np.asarray(pc.fill_null(pc.greater(pc.binary_length(column), 0), False))
    if corpus.terms is not None:
        has_text[corpus.terms["item"].to_numpy()] = True
    return has_text


def _is_kept(own: Combination, ranked: Sequence[Combination]) -> bool:
    """Return whether to use the design of a source: it covers enough, or no other leaves out half as many objects."""
    left_out = 1 - own.counts.share
    return not ranked or left_out <= MAX_LEFT_OUT_SHARE or 2 * (1 - ranked[0].counts.share) > left_out


def _recount(
    combination: Combination, candidates: Mapping[str, CandidateDimension], sample: Sample, min_objects: int
) -> Combination:
    """Return a combination with its cells counted in another sample, if possible."""
    parts = [candidates[str(part.spec)] for part in combination.parts if str(part.spec) in candidates]
    recounted = combine(sample, parts, min_objects) if len(parts) == len(combination.parts) else None
    return combination if recounted is None else recounted


def _sort_proposals(proposals: list[Proposal]) -> list[Proposal]:
    return sorted(proposals, key=lambda proposal: -proposal.score)


def _describe_attribute(
    profile: AttributeProfile,
    design_profiles: _Profiles,
    alone: Sequence[Combination],
    best: Combination | None,
    min_objects: int,
) -> Attribute:
    """Return what an attribute is, what becomes of it, and why."""
    own_combinations = [combination for combination in alone if combination.parts[0].spec.attribute == profile.name]
    used_parts = [] if best is None else [part for part in best.parts if part.spec.attribute == profile.name]
    parts_above = (
        [] if best is None else [part for part in best.parts if profile.name in part.reads - {part.spec.attribute}]
    )
    spec = used_parts[0].spec if used_parts else own_combinations[0].parts[0].spec if own_combinations else None
    if used_parts:
        verdict = "a dimension"
    elif profile.name in design_profiles.chains.same:
        verdict = f"it says the same as {design_profiles.chains.same[profile.name]!r}"
    elif parts_above:
        verdict = f"a level above {parts_above[0].spec.name!r}"
    elif profile.kind == "text":
        has_topics = design_profiles.topics is not None and profile.name == design_profiles.text
        verdict = "its topics are a dimension" if has_topics else "topics are not made of it"
    elif not own_combinations:
        verdict = "it tells no groups apart"
    elif not any(combination.works for combination in own_combinations):
        verdict = _explain_failure(own_combinations[0], min_objects)
    elif profile.kind == "numbers" and best is not None and all(part.made_of != NUMBERS for part in best.parts):
        verdict = "labels make the dimensions, and numbers none beside them"
    else:
        verdict = "beside the others it adds too little or leaves too many objects out"
    return Attribute(profile.name, profile.kind, profile.distinct, profile.filled, f"{profile.reason}: {verdict}", spec)


def _explain_failure(combination: Combination, min_objects: int) -> str:
    counts = combination.counts
    if combination.repeats_items:
        return f"{counts.single:,} of {counts.cells:,} cells would hold a single record"
    if counts.cells < 2 and counts.dead > counts.cells:
        return f"nearly no label has {min_objects} objects"
    if counts.bits < MIN_BITS and counts.share > 0.5:
        return "one label holds nearly all objects"
    return f"only {counts.share:.0%} of the objects would be in a cell"


def _explain_choice(
    best: Combination | None, sample: Sample, alone: Sequence[Combination], min_objects: int
) -> Message:
    """Return why a combination was chosen, in a sentence, or what would help if none was."""
    if best is not None:
        caveat = "" if best.works else "no attribute tells objects apart well; "
        return Message(f"{caveat}{best.counts.sentence(min_objects)}")
    if not sample.corpus.attributes and sample.corpus.terms is None and "text" not in sample.corpus.items.column_names:
        return Message(
            "there is nothing to make dimensions of: add a column such as a city or a year, or give a table of nodes "
            "beside the links"
        )
    for smaller_size in (smaller_size for smaller_size in SMALLER_MIN_OBJECTS if smaller_size < min_objects):
        recounted = [combine(sample, combination.parts, smaller_size) for combination in alone]
        names = [
            combination.specs[0].name for combination in recounted if combination is not None and combination.works
        ]
        if names:
            return Message(
                f"no attribute makes two cells of {min_objects} objects: "
                f"with {smaller_size} in a cell {join_names(names)} would",
                " (",
                Setting("min_objects", smaller_size),
                ")",
            )
    return Message("no attribute tells groups of objects apart: give the items one that does, such as a city or a year")


CELL_SIZES = ((2_000, MIN_OBJECTS), (500, 5), (100, 3), (0, 2))
"""Default ``min_objects``, by the minimum number of all objects."""
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
"""Descriptions of columns by role."""


def choose_min_objects(objects: int) -> int:
    """Return how many objects a cell needs by default, given the number of all objects.

    >>> [choose_min_objects(objects) for objects in (72, 100, 2_000_000)]
    [2, 3, 10]
    """
    return next(min_objects for min_total, min_objects in CELL_SIZES if objects >= min_total)


def describe_columns(
    corpus: Corpus, suggestion: Suggestion, dimensions: Sequence[DimensionSpec]
) -> list[dict[str, Any]]:
    """Return how every column is used and why: first the columns with a role, then the attributes."""
    uses: dict[str, str] = {}
    for spec in dimensions:
        uses[spec.attribute] = f"dimension {spec}" if str(spec) != spec.attribute else "dimension"
        for level in spec.levels:
            uses.setdefault(level.source, f"level above {level.below}")
    rows: list[dict[str, Any]] = []
    has_own_links = False
    for role, name in (corpus.source.get("columns") or {}).items():
        table, _, meaning = role.rpartition(".")
        if meaning == "source" and name in [row["column"] for row in rows]:
            has_own_links = True
        elif name:
            meaning = "names" if meaning == "target" and has_own_links else meaning
            rows.append(
                {"table": table, "column": name, "what": ROLE_WORDS.get(meaning, meaning), "why": "", "is_used": True}
            )
    for attribute in suggestion.attributes:
        meaning = uses.get(attribute.name, "kept, no dimension")
        is_used = attribute.name in uses
        rows.append(
            {"table": "", "column": attribute.name, "what": meaning, "why": str(attribute.reason), "is_used": is_used}
        )
    return rows
