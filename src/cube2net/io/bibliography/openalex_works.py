"""The works of OpenAlex: lines parsed by DuckDB, filtered, and made columns of items.

What has another type than it should becomes null. Lines that are no JSON objects are dropped one by one. Every
generation of OpenAlex is read by the same rules: what a work does not say is null.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import first_line
from cube2net.io.bibliography.openalex_files import (
    ABSTRACT_FIELDS,
    BASE_FIELDS,
    CITATION_FIELDS,
    Block,
    compute_starts,
    list_works,
    make_block,
)
from cube2net.io.dropped import Dropped

MEMORY_LIMIT = "500MB"


class LineReader:
    """Parses blocks of lines; of lines without one of the texts of a group in ``required``, ``skipped`` are skipped."""

    def __init__(
        self, dropped: Dropped, *, abstracts: bool, citations: bool, required: Sequence[Collection[str]] = ()
    ) -> None:
        import duckdb

        self.dropped = dropped
        fields = {**BASE_FIELDS, **(ABSTRACT_FIELDS if abstracts else {}), **(CITATION_FIELDS if citations else {})}
        fields["results"] = "JSON"
        self.statement = f"SELECT unnest(from_json(line, {_quote(json.dumps(fields))})) FROM lines"
        self.required = [" OR ".join(sorted({_write_condition(text) for text in texts})) for texts in required]
        self.skipped = 0
        self.connection = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY_LIMIT, "temp_directory": ""})
        self.connection.execute("SET enable_progress_bar = false")
        self.errors = duckdb.Error

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def parse(self, block: Block) -> Iterator[tuple[Block, pa.Table]]:
        """Return the works of a block with their lines; those of a saved page are a block of their own."""
        block = self._drop_non_utf8(block)
        if self.required:
            block = self._select_required(block)
        try:
            works = self._run(self.statement, block)
        except self.errors:
            block = self._drop_non_json(block)
            works = self._run(self.statement, block)
        pages = pc.and_(pc.is_null(works["id"]), pc.is_valid(works["results"])).to_numpy()
        if pages.any():
            for row in np.flatnonzero(pages).tolist():
                try:
                    all_rows = [json.dumps(work).encode() for work in list_works(json.loads(block.line(row)))]
                except (ValueError, RecursionError) as error:
                    self.dropped.drop_one("lines that are no JSON objects", block.place(row), first_line(error))
                    continue
                page = make_block(block.name, block.day, all_rows, [int(block.numbers[row])] * len(all_rows))
                yield page, self._run(self.statement, page).drop_columns("results")
            works, block = works.filter(pa.array(~pages)), block.select(~pages)
        yield block, works.drop_columns("results")

    def _run(self, statement: str, block: Block) -> pa.Table:
        self.connection.register("lines", pa.table({"line": block.texts()}))
        try:
            return self.connection.sql(statement).to_arrow_table()
        finally:
            self.connection.unregister("lines")

    def _drop_non_utf8(self, block: Block) -> Block:
        try:
            block.texts().validate(full=True)
            return block
        except pa.ArrowInvalid:
            pass
        kept = np.ones(len(block.numbers), bool)
        for row in range(len(kept)):
            line = block.line(row)
            try:
                line.decode()
            except UnicodeDecodeError as error:
                kept[row] = False
                invalid_byte = f"byte 0x{line[error.start]:02x} is not UTF-8, expected text in UTF-8"
                self.dropped.drop_one("lines that are not UTF-8", block.place(row), invalid_byte)
        return block.select(kept)

    def _drop_non_json(self, block: Block) -> Block:
        """Return a block without the lines that are not JSON."""
        kept: Array = self._run("SELECT json_valid(line) AS good FROM lines", block)["good"].to_numpy()
        for row in np.flatnonzero(~kept).tolist():
            text = block.line(row).decode().strip()
            excerpt = text[:40] + ("…" if len(text) > 40 else "")
            self.dropped.drop_one(
                "lines that are no JSON objects", block.place(row), f"{excerpt!r} is not a JSON object"
            )
        return block.select(kept)

    def _select_required(self, block: Block) -> Block:
        """Return a block without the lines that cannot hold a required text; any line with an escape may."""
        kept: Array = self._run(f"SELECT ({') AND ('.join(self.required)}) AS good FROM lines", block)[
            "good"
        ].to_numpy()
        self.skipped += int((~kept).sum())
        return block.select(kept)


def _write_condition(text: str) -> str:
    """Return the condition that a line may hold a text: as it is, or behind an escape.

    >>> _write_condition("PLoS ONE")
    "contains(line, 'PLoS ONE') OR contains(line, '\\\\u00')"
    """
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    escapes = ["\\u00" if text.isascii() else "\\u", *(["\\/"] if "/" in text else [])]
    return " OR ".join(f"contains(line, {_quote(form)})" for form in [plain, *escapes])


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def select_part(record: pa.Array, *names: str) -> pa.Array:
    """Return a part of records, null where the record or what leads to the part is."""
    for name in names:
        record = pc.struct_field(record, name)
    return record


def flatten_lists(lists: pa.ListArray) -> tuple[Array, pa.Array]:
    """Return the start of every list among the entries of all lists, and the entries; a null has none."""
    return compute_starts(pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)), lists.flatten()


def parse_id_numbers(texts: pa.Array | pa.ChunkedArray, letter: str) -> Array:
    """Return the numbers of ids that begin with a letter, -1 for what is none."""
    from cube2net.kernels.text import parse_ids

    starts, data = split_bytes(combine_chunks(texts))
    numbers: Array = parse_ids(starts, data, ord(letter))
    return numbers


def split_bytes(texts: pa.StringArray) -> tuple[Array, Array]:
    """Return the start of every text in the bytes of all texts, and these bytes; a null has none."""
    if texts.null_count:
        texts = texts.fill_null("")
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1] if offsets else np.zeros(1)
    return starts.astype(np.int64), np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)


def combine_chunks(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


MAX_LABEL_LENGTH = 500
"""The most characters of a label."""


class Labels:
    """Texts, each with a number, in the order in which they are met.

    >>> labels = Labels()
    >>> labels.codes(pa.array(["Oslo", None, " ", "Rome", "Oslo "])).tolist(), labels.texts()
    ([0, -1, -1, 1, 0], ['Oslo', 'Rome'])
    """

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def codes(self, texts: pa.Array | pa.ChunkedArray) -> Array:
        """Return the numbers of texts, -1 for what is missing or blank."""
        packed = combine_chunks(texts).dictionary_encode()
        codes = [self.code(text.strip()[:MAX_LABEL_LENGTH]) for text in packed.dictionary.to_pylist()]
        rows = packed.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
        text_codes: Array = np.array([*codes, -1], np.int32)[rows]
        return text_codes

    def code(self, text: str) -> int:
        """Return the number of a text, -1 where it is empty."""
        return self.known.setdefault(text, len(self.known)) if text else -1

    def texts(self) -> list[str]:
        """Return all texts, by their numbers."""
        return list(self.known)


class NamedThings:
    """Things with an id and a name, of which some have a name alone; each has a number."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.known: dict[int | str, int] = {}
        self.ids: list[int] = []
        self.names: list[str] = []

    def codes(self, ids: Array, names: pa.Array) -> Array:
        """Return the numbers of things, -1 for what has neither an id (-1) nor a name."""
        unique_ids, first_rows, inverse = np.unique(ids, return_index=True, return_inverse=True)
        codes_by_key = self.known
        id_codes = [codes_by_key.get(number, -1) for number in unique_ids.tolist()]
        for row in [row for row, code in enumerate(id_codes) if code < 0 and unique_ids[row] >= 0]:
            id_codes[row] = self._code(int(unique_ids[row]), names[int(first_rows[row])].as_py())
        codes = np.array(id_codes, np.int32)
        thing_codes: Array = codes[inverse.reshape(-1)]
        if len(unique_ids) and unique_ids[0] < 0:
            packed = names.filter(pa.array(ids < 0)).dictionary_encode()
            codes = np.array([*(self._code(-1, name) for name in packed.dictionary.to_pylist()), -1], np.int32)
            thing_codes[ids < 0] = codes[packed.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]
        return thing_codes

    def _code(self, number: int, name: str | None) -> int:
        name = (name or "").strip()[:MAX_LABEL_LENGTH]
        key: int | str = name if number < 0 else number
        if key == "":
            return -1
        if key not in self.known:
            self.known[key] = len(self.known)
            self.ids.append(number)
            self.names.append(name or f"{self.letter}{number}")
        return self.known[key]

    def labels(self) -> list[str]:
        """Return what each is called: of several ids with one name, all but the lowest have the id beside it.

        >>> things = NamedThings("S")
        >>> things.codes(np.array([9, 7, -1]), pa.array(["BMJ", "BMJ", "BMJ"])).tolist(), things.labels()
        ([1, 0, 2], ['BMJ', 'BMJ (S9)', 'BMJ'])
        """
        lowest: dict[str, int] = {}
        for number, name in zip(self.ids, self.names, strict=True):
            if number >= 0:
                lowest[name] = min(number, lowest.get(name, number))
        return [
            name if number < 0 or lowest[name] == number else f"{name} ({self.letter}{number})"
            for number, name in zip(self.ids, self.names, strict=True)
        ]


SENTENCE_END = r"[.?!]$"


def read_abstracts(title: pa.Array, index: pa.Array, plain_abstract: pa.Array, dropped: Dropped) -> pa.Array:
    """Return title and abstract of works; abstracts that cannot be read, or not to their end, are counted."""
    from cube2net.kernels.text import CUT, ODD, read_indexes

    index = _open_index(index)
    ends, data, states = read_indexes(*split_bytes(index))
    dropped.leave_out("abstracts that are cut", int((states == CUT).sum()))
    restored = pa.LargeStringArray.from_buffers(len(index), pa.py_buffer(ends), pa.py_buffer(data)).cast(pa.string())
    unreadable = np.flatnonzero(states == ODD)
    dropped.leave_out("abstracts that are no index of words", len(unreadable))
    abstract = pc.if_else(pc.equal(pc.binary_length(restored), 0), pc.coalesce(plain_abstract, pa.scalar("")), restored)
    title = title.fill_null("")
    separator = pc.if_else(pc.match_substring_regex(title, SENTENCE_END), " ", ". ")
    joined = pc.binary_join_element_wise(title, abstract, separator)
    text = pc.if_else(pc.equal(pc.binary_length(abstract), 0), title, joined)
    return pc.if_else(pc.equal(pc.binary_length(title), 0), abstract, text)


def _open_index(index: pa.Array) -> pa.Array:
    """Return indexes; those that are given as JSON texts are decoded."""
    is_text = pc.starts_with(index, '"').fill_null(False)
    if not pc.any(is_text).as_py():
        return index
    return pc.replace_with_mask(
        index, is_text, pa.array([json.loads(text) for text in index.filter(is_text).to_pylist()])
    )


TOPICS = {"topic": (), "subfield": ("subfield",), "field": ("field",), "domain": ("domain",)}
CONCEPTS = {"concept": 2, "concept_area": 1, "concept_field": 0}
"""The levels of OpenAlex's concepts, which were there before topics were."""
SINGLE_ATTRIBUTES = ("source", "publisher", *TOPICS, *CONCEPTS, "type", "language")
LIST_ATTRIBUTES = ("country", "institution")
FILTERS = (*SINGLE_ATTRIBUTES, *LIST_ATTRIBUTES)
CHAINS = (("source", "publisher"), tuple(TOPICS), tuple(CONCEPTS))
"""Levels, the finest first: what has a label has one of every level above it."""
OTHER_LABEL = "other"


@dataclass(eq=False)
class Batch:
    """Some works: ids, when each was changed, columns of items with labels as numbers, and who is mentioned.

    ``mentions`` are the numbers of objects, ``sizes[i]`` of them for work ``i``; ``affiliations`` the number of the
    institution of each. ``people`` are names of objects, and ``cited`` the works that are cited, likewise.
    """

    ids: Array
    stamps: Array
    items: pa.RecordBatch
    texts: pa.RecordBatch
    sizes: Array
    mentions: Array
    affiliations: Array
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
    labels: dict[str, Labels] = field(
        default_factory=lambda: {name: Labels() for name in (*SINGLE_ATTRIBUTES, "country")}
    )
    sources: NamedThings = field(default_factory=lambda: NamedThings("S"))
    institutions: NamedThings = field(default_factory=lambda: NamedThings("I"))
    countries: dict[int, int] = field(default_factory=dict)
    cut_lists: int = 0
    withdrawn: list[Array] = field(default_factory=list)

    def batch(self, block: Block, works: pa.Table) -> Batch | None:
        """Return the works of a block that are wanted, or None where none is."""
        works, ids = self._drop_non_works(block, works.combine_chunks())
        first, last = self.years
        if first is not None or last is not None:
            years = works["publication_year"].fill_null(-1).to_numpy()
            kept = (years >= (0 if first is None else first)) & (years <= (9999 if last is None else last))
            self.dropped.leave_out("works of other years", int((~kept).sum()))
            works, ids = works.filter(pa.array(kept)), ids[kept]
        if not self.retracted:
            kept = ~works["is_retracted"].fill_null(False).to_numpy()
            self.dropped.leave_out("retracted works", int((~kept).sum()))
            self.withdrawn.append(ids[~kept])
            works, ids = works.filter(pa.array(kept)), ids[kept]
        codes = self._number_labels(works)
        places = self._find_places(works)
        kept = self._select_works(codes, places, len(ids))
        if not kept.all():
            self.dropped.leave_out("works outside the filters", int((~kept).sum()))
            works, ids = works.filter(pa.array(kept)), ids[kept]
            codes = {name: code[kept] for name, code in codes.items()}
            places = self._find_places(works)
        return self._make_batch(block, works, ids, codes, places) if len(ids) else None

    def list_labels(self, name: str) -> Sequence[str]:
        """Return the labels of an attribute that were met so far, by their numbers."""
        named_things = {"source": self.sources, "institution": self.institutions}
        return named_things[name].names if name in named_things else self.labels[name].texts()

    def _drop_non_works(self, block: Block, works: pa.Table) -> tuple[pa.Table, Array]:
        """Return what is a work, by its id, with the numbers of these ids."""
        ids = parse_id_numbers(works["id"], "W")
        for row in np.flatnonzero(ids < 0).tolist():
            id_text = works["id"][row].as_py()
            state = "is missing" if id_text is None else f"is {id_text[:80]!r}"
            self.dropped.drop_one(
                "records that are not works",
                block.place(row),
                f"'id' {state}, expected that of a work such as 'W2741809807'",
            )
        kept = ids >= 0
        return (works, ids) if kept.all() else (works.filter(pa.array(kept)), ids[kept])

    def _number_labels(self, works: pa.Table) -> dict[str, Array]:
        """Return the numbers of the labels of which a work has one of each kind."""
        codes: dict[str, Array] = {}
        source, venue = (combine_chunks(works["primary_location"]).field("source"), combine_chunks(works["host_venue"]))
        key = pc.coalesce(select_part(source, "id"), select_part(venue, "id"))
        name = pc.coalesce(select_part(source, "display_name"), select_part(venue, "display_name"))
        codes["source"] = self.sources.codes(parse_id_numbers(key, "S"), name)
        publishers = (
            select_part(source, "host_organization_name"),
            select_part(source, "publisher"),
            select_part(venue, "publisher"),
        )
        codes["publisher"] = self.labels["publisher"].codes(pc.coalesce(*publishers))
        topic = combine_chunks(works["primary_topic"])
        for level, path in TOPICS.items():
            codes[level] = self.labels[level].codes(select_part(topic, *path, "display_name"))
        codes |= self._choose_concepts(combine_chunks(works["concepts"]))
        for name in ("type", "language"):
            codes[name] = self.labels[name].codes(works[name])
        for finest, *above in CHAINS:
            for level in above:
                is_missing = (codes[finest] >= 0) & (codes[level] < 0)
                if is_missing.any():
                    codes[level][is_missing] = self.labels[level].code(OTHER_LABEL)
        return codes

    def _choose_concepts(self, concepts: pa.ListArray) -> dict[str, Array]:
        """Return the numbers of the concepts with the highest score, one of every level."""
        from cube2net.kernels.text import find_heaviest

        starts, entries = flatten_lists(concepts)
        names = select_part(entries, "display_name")
        level = (
            pc.if_else(names.is_valid(), select_part(entries, "level"), -1).fill_null(-1).to_numpy(zero_copy_only=False)
        )
        score = select_part(entries, "score").fill_null(-1.0).to_numpy(zero_copy_only=False)
        codes = {}
        for name, concept_level in CONCEPTS.items():
            best_entries = find_heaviest(starts, level.astype(np.int32), score, concept_level)
            codes[name] = self.labels[name].codes(names.take(pa.array(best_entries, mask=best_entries < 0)))
        return codes

    def _find_places(self, works: pa.Table) -> _Places:
        """Return the institutions and countries of works, and of each author."""
        author_starts, authorships = flatten_lists(combine_chunks(works["authorships"]))
        starts, institutions = flatten_lists(select_part(authorships, "institutions"))
        names, country = (
            select_part(institutions, "display_name"),
            self.labels["country"].codes(select_part(institutions, "country_code")),
        )
        id_numbers = parse_id_numbers(select_part(institutions, "id"), "I")
        codes = np.full(len(id_numbers), -1, np.int32)
        has_id = id_numbers >= 0
        codes[has_id] = self.institutions.codes(id_numbers[has_id], names.filter(pa.array(has_id)))
        is_placed = has_id & (country >= 0)
        self.countries.update(zip(codes[is_placed].tolist(), country[is_placed].tolist(), strict=True))
        country_starts, country_names = flatten_lists(select_part(authorships, "countries"))
        country_codes = self.labels["country"].codes(country_names)
        rows = np.repeat(np.arange(works.num_rows), np.diff(author_starts))
        institution_rows, country_rows = np.repeat(rows, np.diff(starts)), np.repeat(rows, np.diff(country_starts))
        return _Places(
            authors=author_starts,
            authorships=authorships,
            affiliation=_find_first_codes(starts, codes),
            institution=_count_pairs(institution_rows, codes, works.num_rows),
            country=_count_pairs(
                np.append(institution_rows, country_rows), np.append(country, country_codes), works.num_rows
            ),
            unknown=int((~has_id).sum()),
        )

    def _select_works(self, codes: Mapping[str, Array], places: _Places, count: int) -> Array:
        """Return which works have a label of every filter."""
        kept = np.ones(count, bool)
        for name, labels in self.where.items():
            wanted_codes = [code for code, label in enumerate(self.list_labels(name)) if label in labels]
            if name in LIST_ATTRIBUTES:
                sizes, values = getattr(places, name)
                rows = np.repeat(np.arange(count), sizes)
                kept &= np.bincount(rows[np.isin(values, wanted_codes)], minlength=count) > 0
            else:
                kept &= np.isin(codes[name], wanted_codes)
        return kept

    def _make_batch(
        self, block: Block, works: pa.Table, ids: Array, codes: Mapping[str, Array], places: _Places
    ) -> Batch:
        stamps = works["updated_date"].cast(pa.int64())
        default_stamp = int(np.datetime64(block.day or "1970-01-01", "us").astype(np.int64))
        title = pc.coalesce(works["title"], works["display_name"]).combine_chunks()
        columns: dict[str, Any] = {
            "year": works["publication_year"].combine_chunks(),
            "date": works["publication_date"].combine_chunks(),
            "cited_by_count": works["cited_by_count"].combine_chunks(),
            **{name: pa.array(codes[name]) for name in SINGLE_ATTRIBUTES},
            **{name: _build_list_column(*getattr(places, name)) for name in LIST_ATTRIBUTES},
        }
        texts = {"title": title}
        if "abstract_inverted_index" in works.column_names:
            index, plain_abstract = (works[name].combine_chunks() for name in ("abstract_inverted_index", "abstract"))
            texts["text"] = read_abstracts(title, index, plain_abstract, self.dropped)
        self.cut_lists += pc.sum(works["is_authors_truncated"]).as_py() or 0
        self.dropped.leave_out("institutions without an id", places.unknown)
        batch = Batch(
            ids=ids,
            stamps=stamps.fill_null(default_stamp).to_numpy(),
            items=pa.RecordBatch.from_pydict(columns),
            texts=pa.RecordBatch.from_pydict(texts),
            sizes=np.ones(len(ids), np.int64),
            mentions=ids,
            affiliations=np.empty(0, np.int32),
        )
        if self.objects == "authors":
            self._mention_authors(batch, places)
        elif self.objects == "institutions":
            batch.sizes, institution_codes = places.institution
            batch.mentions = institution_codes.astype(np.int64)
        else:
            starts, cited = flatten_lists(combine_chunks(works["referenced_works"]))
            cited_numbers = parse_id_numbers(cited, "W")
            batch.citations = np.bincount(
                np.repeat(np.arange(len(ids)), np.diff(starts))[cited_numbers >= 0], minlength=len(ids)
            )
            batch.cited = cited_numbers[cited_numbers >= 0]
        return batch

    def _mention_authors(self, batch: Batch, places: _Places) -> None:
        """Set the authors of a batch: each author once per work, with the first institution named there."""
        from cube2net.kernels.text import mark_first

        author = select_part(places.authorships, "author")
        author_numbers = parse_id_numbers(select_part(author, "id"), "A")
        kept = mark_first(places.authors, author_numbers)
        self.dropped.leave_out("authors without an id", int((author_numbers < 0).sum()))
        self.dropped.leave_out("authors named twice on a work", int((~kept & (author_numbers >= 0)).sum()))
        rows = np.repeat(np.arange(len(batch.ids)), np.diff(places.authors))
        batch.sizes = np.bincount(rows[kept], minlength=len(batch.ids))
        batch.mentions, batch.affiliations = author_numbers[kept], places.affiliation[kept]
        unique_numbers, first_mentions = np.unique(batch.mentions, return_index=True)
        author_rows = pa.array(np.flatnonzero(kept)[first_mentions])
        people = {"author": pa.array(unique_numbers), "name": select_part(author, "display_name").take(author_rows)}
        batch.people = pa.RecordBatch.from_pydict({**people, "orcid": select_part(author, "orcid").take(author_rows)})


@dataclass(frozen=True, eq=False)
class _Places:
    """The affiliations of some works: the first institution of every author, and all of every work."""

    authors: Array
    authorships: pa.StructArray
    affiliation: Array
    institution: tuple[Array, Array]
    country: tuple[Array, Array]
    unknown: int


def _find_first_codes(starts: Array, codes: Array) -> Array:
    """Return the first code of every row, -1 where it has none."""
    first_codes = np.full(len(starts) - 1, -1, np.int32)
    has_entries = np.diff(starts) > 0
    first_codes[has_entries] = codes[starts[:-1][has_entries]]
    return first_codes


def _count_pairs(rows: Array, codes: Array, count: int) -> tuple[Array, Array]:
    """Return how many different codes every row has, and these in the order they come; negative ones do not count."""
    is_code = codes >= 0
    rows, codes = rows[is_code], codes[is_code]
    _, first_rows = np.unique(rows.astype(np.int64) << 32 | codes, return_index=True)
    first_rows.sort()
    first_rows = first_rows[np.argsort(rows[first_rows], kind="stable")]
    return np.bincount(rows[first_rows], minlength=count), codes[first_rows].astype(np.int32)


def _build_list_column(sizes: Array, values: Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(compute_starts(sizes).astype(np.int32)), pa.array(values))
