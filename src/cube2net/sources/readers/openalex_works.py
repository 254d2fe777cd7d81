"""Tables of parsed works become columns of items: filtered, with labels as numbers and abstracts as texts.

Every generation of OpenAlex is read by the same rules: what a work does not say is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.readers.openalex_abstracts import abstracts_of
from cube2net.sources.readers.openalex_columns import entries, flags_of, is_known, numbers, part, values_of, whole
from cube2net.sources.readers.openalex_labels import Labels, NamedThings
from cube2net.sources.readers.openalex_lines import Block

TOPICS = {"topic": (), "subfield": ("subfield",), "field": ("field",), "domain": ("domain",)}
CONCEPTS = {"concept": 2, "concept_area": 1, "concept_field": 0}
"""The levels of OpenAlex's concepts, which were there before topics were."""
SINGLE = ("source", "publisher", *TOPICS, *CONCEPTS, "type", "language")
SEVERAL = ("country", "institution")
FILTERS = (*SINGLE, *SEVERAL)
CHAINS = (("source", "publisher"), tuple(TOPICS), tuple(CONCEPTS))
"""Levels, the finest first: what has a label has one of every level above it."""
OTHER = "other"


@dataclass(eq=False)
class Batch:
    """Some works: ids, when each was changed, columns of items with labels as numbers, and who is mentioned.

    ``mentions`` are the numbers of objects, ``sizes[i]`` of them for work ``i``; ``homes`` the number of the
    institution of each. ``people`` are names of objects, and ``cited`` the works that are cited, likewise.
    """

    ids: Array
    stamps: Array
    items: pa.RecordBatch
    texts: pa.RecordBatch
    sizes: Array
    mentions: Array
    homes: Array
    people: pa.RecordBatch | None = None
    citations: Array = field(default_factory=lambda: np.empty(0, np.int64))
    cited: Array = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(eq=False)
class WorkColumns:
    """Makes batches of parsed works, and knows the labels met so far.

    ``objects`` says who is mentioned; works outside ``years``, without a label of every filter, and retracted ones
    where they are not wanted, are left out and counted. ``withdrawn`` are the ids of these last.
    """

    dropped: Dropped
    objects: str
    where: Mapping[str, Sequence[str]]
    years: tuple[int | None, int | None]
    retracted: bool
    labels: dict[str, Labels] = field(default_factory=lambda: {name: Labels() for name in (*SINGLE, "country")})
    sources: NamedThings = field(default_factory=lambda: NamedThings("S"))
    institutions: NamedThings = field(default_factory=lambda: NamedThings("I"))
    countries: dict[int, int] = field(default_factory=dict)
    cut_lists: int = 0
    withdrawn: list[Array] = field(default_factory=list)

    def batch(self, block: Block, works: pa.Table) -> Batch | None:
        """Return the works of a block that are wanted, or None where none is."""
        works, ids = self._works(block, works.combine_chunks())
        works, ids = self._in_years(works, ids)
        if not self.retracted:
            kept = ~flags_of(works["is_retracted"])
            self.dropped.leave_out("retracted works", int((~kept).sum()))
            self.withdrawn.append(ids[~kept])
            works, ids = works.filter(pa.array(kept)), ids[kept]
        codes = self._labels(works)
        several = self._places(works)
        kept = self._chosen(codes, several, len(ids))
        if not kept.all():
            self.dropped.leave_out("works outside the filters", int((~kept).sum()))
            works, ids = works.filter(pa.array(kept)), ids[kept]
            codes = {name: code[kept] for name, code in codes.items()}
            several = self._places(works)
        return self._batch(block, works, ids, codes, several) if len(ids) else None

    def known(self, name: str) -> Sequence[str]:
        """Return the labels of an attribute that were met so far, by their numbers."""
        things = {"source": self.sources, "institution": self.institutions}
        return things[name].names if name in things else self.labels[name].texts()

    def _works(self, block: Block, works: pa.Table) -> tuple[pa.Table, Array]:
        """Return what is a work, by its id, with the numbers of these ids."""
        ids = numbers(works["id"], "W")
        for row in np.flatnonzero(ids < 0).tolist():
            given = works["id"][row].as_py()
            got = "is missing" if given is None else f"is {given[:80]!r}"
            self.dropped.drop_one(
                "records that are not works",
                block.place(row),
                f"'id' {got}, expected that of a work such as 'W2741809807'",
            )
        kept = ids >= 0
        return (works, ids) if kept.all() else (works.filter(pa.array(kept)), ids[kept])

    def _in_years(self, works: pa.Table, ids: Array) -> tuple[pa.Table, Array]:
        first, last = self.years
        if first is None and last is None:
            return works, ids
        years = works["publication_year"].fill_null(-1).to_numpy()
        kept = (years >= (0 if first is None else first)) & (years <= (9999 if last is None else last))
        self.dropped.leave_out("works of other years", int((~kept).sum()))
        return works.filter(pa.array(kept)), ids[kept]

    def _labels(self, works: pa.Table) -> dict[str, Array]:
        """Return the numbers of the labels of which a work has one of each kind."""
        codes: dict[str, Array] = {}
        source, venue = (whole(works["primary_location"]).field("source"), whole(works["host_venue"]))
        key = pc.coalesce(part(source, "id"), part(venue, "id"))
        name = pc.coalesce(part(source, "display_name"), part(venue, "display_name"))
        codes["source"] = self.sources.codes(numbers(key, "S"), name)
        publishers = part(source, "host_organization_name"), part(source, "publisher"), part(venue, "publisher")
        codes["publisher"] = self.labels["publisher"].codes(pc.coalesce(*publishers))
        topic = whole(works["primary_topic"])
        for level, path in TOPICS.items():
            codes[level] = self.labels[level].codes(part(topic, *path, "display_name"))
        codes |= self._concepts(whole(works["concepts"]))
        for name in ("type", "language"):
            codes[name] = self.labels[name].codes(works[name])
        for finest, *above in CHAINS:
            for level in above:
                lacking = (codes[finest] >= 0) & (codes[level] < 0)
                if lacking.any():
                    codes[level][lacking] = self.labels[level].code(OTHER)
        return codes

    def _concepts(self, concepts: pa.ListArray) -> dict[str, Array]:
        """Return the numbers of the concepts with the highest score, one of every level."""
        from cube2net.kernels.number_ids import heaviest

        starts, inner = entries(concepts)
        level = values_of(part(inner, "level"), -1, np.int32)
        score = values_of(part(inner, "score"), -1.0, np.float64)
        names = part(inner, "display_name")
        level = np.where(is_known(names), level, -1).astype(np.int32)
        found = {}
        for name, wanted in CONCEPTS.items():
            best = heaviest(starts, level, score, wanted)
            found[name] = self.labels[name].codes(names.take(pa.array(best, mask=best < 0)))
        return found

    def _places(self, works: pa.Table) -> _Places:
        """Return the institutions and countries of works, and of each author."""
        author_starts, authorships = entries(whole(works["authorships"]))
        starts, inner = entries(part(authorships, "institutions"))
        names, country = part(inner, "display_name"), self.labels["country"].codes(part(inner, "country_code"))
        numbers_met = numbers(part(inner, "id"), "I")
        codes = np.full(len(numbers_met), -1, np.int32)
        known = numbers_met >= 0
        codes[known] = self.institutions.codes(numbers_met[known], names.filter(pa.array(known)))
        said = known & (country >= 0)
        self.countries.update(zip(codes[said].tolist(), country[said].tolist(), strict=True))
        more_starts, more = entries(part(authorships, "countries"))
        more_codes = self.labels["country"].codes(more)
        rows = np.repeat(np.arange(works.num_rows), np.diff(author_starts))
        at, more_at = np.repeat(rows, np.diff(starts)), np.repeat(rows, np.diff(more_starts))
        return _Places(
            authors=author_starts,
            authorships=authorships,
            home=_first(starts, codes),
            institution=_pairs(at, codes, works.num_rows),
            country=_pairs(np.append(at, more_at), np.append(country, more_codes), works.num_rows),
            unknown=int((~known).sum()),
        )

    def _chosen(self, codes: Mapping[str, Array], several: _Places, count: int) -> Array:
        """Return which works have a label of every filter."""
        kept = np.ones(count, bool)
        for name, wanted in self.where.items():
            numbered = [code for code, label in enumerate(self.known(name)) if label in wanted]
            if name in SEVERAL:
                sizes, values = getattr(several, name)
                rows = np.repeat(np.arange(count), sizes)
                kept &= np.bincount(rows[np.isin(values, numbered)], minlength=count) > 0
            else:
                kept &= np.isin(codes[name], numbered)
        return kept

    def _batch(self, block: Block, works: pa.Table, ids: Array, codes: Mapping[str, Array], places: _Places) -> Batch:
        stamps = works["updated_date"].cast(pa.int64())
        usual = int(np.datetime64(block.day or "1970-01-01", "us").astype(np.int64))
        title = pc.coalesce(works["title"], works["display_name"]).combine_chunks()
        columns: dict[str, Any] = {
            "year": works["publication_year"].combine_chunks(),
            "date": works["publication_date"].combine_chunks(),
            "cited_by_count": works["cited_by_count"].combine_chunks(),
            **{name: pa.array(codes[name]) for name in SINGLE},
            **{name: _lists(*getattr(places, name)) for name in SEVERAL},
        }
        text = {"title": title}
        if "abstract_inverted_index" in works.column_names:
            index, plain = (works[name].combine_chunks() for name in ("abstract_inverted_index", "abstract"))
            text["text"] = abstracts_of(title, index, plain, self.dropped)
        self.cut_lists += int(flags_of(works["is_authors_truncated"]).sum())
        self.dropped.leave_out("institutions without an id", places.unknown)
        made = Batch(
            ids=ids,
            stamps=stamps.fill_null(usual).to_numpy(),
            items=pa.RecordBatch.from_pydict(columns),
            texts=pa.RecordBatch.from_pydict(text),
            sizes=np.ones(len(ids), np.int64),
            mentions=ids,
            homes=np.empty(0, np.int32),
        )
        if self.objects == "authors":
            self._mention_authors(made, places)
        elif self.objects == "institutions":
            made.sizes, codes_met = places.institution
            made.mentions = codes_met.astype(np.int64)
        else:
            starts, cited = entries(whole(works["referenced_works"]))
            numbered = numbers(cited, "W")
            made.citations = np.bincount(
                np.repeat(np.arange(len(ids)), np.diff(starts))[numbered >= 0], minlength=len(ids)
            )
            made.cited = numbered[numbered >= 0]
        return made

    def _mention_authors(self, made: Batch, places: _Places) -> None:
        """Say who wrote the works: everybody once on each, with the first institution named there."""
        from cube2net.kernels.number_ids import first_met

        author = part(places.authorships, "author")
        numbered = numbers(part(author, "id"), "A")
        kept = first_met(places.authors, numbered)
        self.dropped.leave_out("authors without an id", int((numbered < 0).sum()))
        self.dropped.leave_out("authors named twice on a work", int((~kept & (numbered >= 0)).sum()))
        rows = np.repeat(np.arange(len(made.ids)), np.diff(places.authors))
        made.sizes = np.bincount(rows[kept], minlength=len(made.ids))
        made.mentions, made.homes = numbered[kept], places.home[kept]
        every, first = np.unique(made.mentions, return_index=True)
        at = pa.array(np.flatnonzero(kept)[first])
        people = {"author": pa.array(every), "name": part(author, "display_name").take(at)}
        made.people = pa.RecordBatch.from_pydict({**people, "orcid": part(author, "orcid").take(at)})


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the authors of some works are: of each author the first institution, of each work all of them."""

    authors: Array
    authorships: pa.StructArray
    home: Array
    institution: tuple[Array, Array]
    country: tuple[Array, Array]
    unknown: int


def _first(starts: Array, codes: Array) -> Array:
    """Return the first code of every row, -1 where it has none."""
    first = np.full(len(starts) - 1, -1, np.int32)
    some = np.diff(starts) > 0
    first[some] = codes[starts[:-1][some]]
    return first


def _pairs(rows: Array, codes: Array, count: int) -> tuple[Array, Array]:
    """Return how many different codes every row has, and these in the order they come; negative ones do not count."""
    kept = codes >= 0
    rows, codes = rows[kept], codes[kept]
    _, first = np.unique(rows.astype(np.int64) << 32 | codes, return_index=True)
    first.sort()
    first = first[np.argsort(rows[first], kind="stable")]
    return np.bincount(rows[first], minlength=count), codes[first].astype(np.int32)


def _lists(sizes: Array, values: Array) -> pa.ListArray:
    starts = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=starts[1:])
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(values))
