"""Citation exports of reference managers and databases: authors, keywords, institutions or works, from any format."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from cube2net._util.progress import Progress, Stage, check_stop, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits, open_raw, unpack
from cube2net.errors import Cube2netError, Setting, SourceError, join_names, unknown_name
from cube2net.io.bibliography.author_names import identify_authors, reduce_letters
from cube2net.io.bibliography.reference_formats import (
    SAMPLED_CHARACTERS,
    Parsed,
    find_header,
    match_header,
    parse_references,
    parse_rows,
    recognize_tagged,
)
from cube2net.io.bibliography.reference_records import (
    Reference,
    clean_reference,
    find_doi,
    find_pmid,
    make_label_key,
    merge_duplicates,
    unify_labels,
)
from cube2net.io.dropped import MAX_EXAMPLES, Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.io.text_records import guess_encoding, is_workbook
from cube2net.model.corpus import CITED_ELSEWHERE, LINKS, MENTIONS, OBJECTS, Corpus, table

STAGE = "reading references"
EXPECTED = "citation exports such as library.ris, savedrecs.txt or scopus.csv"
ENDINGS = (
    *(".ris", ".bib", ".bibtex", ".nbib", ".txt", ".ciw", ".enw", ".xml", ".rdf", ".csv", ".tsv", ".tab"),
    *(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
)
"""The endings of files that may be citation exports; what a file is, its content tells."""
REFERENCE_ENDINGS = (".ris", ".bib", ".bibtex", ".nbib", ".ciw", ".enw", ".rdf")
"""Those of them that only citation exports have."""
MAX_FILE_BYTES = 2**30
MAX_WORKBOOK_BYTES = 2**24
"""Larger workbooks are not opened just to see what they are: they are read as tables where nothing else is said."""
MAX_LINKED_SOURCES = 50
"""An author who published in more sources does not link them."""
OBJECT_KINDS = {
    "authors": "author",
    "keywords": "keyword",
    "sources": "source",
    "institutions": "institution",
    "countries": "country",
    "works": "work",
    "references": "reference",
}
Objects = Literal["authors", "keywords", "sources", "institutions", "countries", "works", "references"]


@dataclass(frozen=True, kw_only=True)
class References:
    """Reads citation exports, also several of several formats.

    Formats are recognised by content: RIS, BibTeX, PubMed (nbib, XML, CSV), Web of Science (tagged,
    tab-delimited), EndNote (XML, tagged), Zotero (RDF, CSV), and tables of Scopus, Dimensions, Lens, IEEE,
    Cochrane, Embase, OpenAlex and others (CSV, TSV, Excel). Items are the records with ``year``, ``title``,
    ``source``, ``type``, ``language``, ``keyword``, ``institution`` and ``country`` (lists), and ``text``: title
    and abstract. ``objects`` are ``"authors"``, ``"keywords"``, ``"institutions"`` or ``"countries"``, linked if a
    record names both; ``"sources"``, linked by authors who published in both; ``"works"``, linked by citations; or
    ``"references"``, the cited works, linked if a record cites both. Records of the same work are merged unless
    ``keep_duplicates``; ``list_duplicates`` is a CSV file to list them in, with the reason. Unusable records are
    counted in ``dropped`` and the first few are shown; ``strict`` makes them errors.
    """

    objects: Objects = "authors"
    keep_duplicates: bool = False
    list_duplicates: str | None = None
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.objects not in OBJECT_KINDS:
            raise unknown_name("kind of objects", self.objects, OBJECT_KINDS)

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files."""
        dropped = Dropped(self.strict, progress)
        records = list(self._read_records(paths, dropped, progress))
        if not self.keep_duplicates:
            records = self._merge_duplicates(records, dropped)
        records = unify_labels(records)
        dropped.close()
        if not records:
            first_drop = f": {dropped.first}" if dropped.first else ""
            raise SourceError(f"{join_names(paths)} holds no reference with a title{first_drop}")
        progress(Stage("references", "putting records together"), 0, None)
        return _CorpusBuilder(records, self.objects, join_names([path.name for path in paths]), dropped).corpus()

    def _read_records(self, paths: Sequence[Path], dropped: Dropped, progress: Progress) -> Iterator[Reference]:
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        for path in find_data_files(paths, ENDINGS, EXPECTED):
            for name, form, parsed in parse_file(path, meter, dropped, progress):
                count = 0
                for line, fields in parsed:
                    count += 1
                    check_stop()
                    record = clean_reference(f"{name} line {line:,}", fields)
                    if record.title:
                        yield record
                    else:
                        dropped.drop_one("records without a title", record.place, "it has no title")
                dropped.say(f"{name}: {count:,} records of {form}")

    def _merge_duplicates(self, records: list[Reference], dropped: Dropped) -> list[Reference]:
        merged, duplicates = merge_duplicates(records)
        for reason, count in Counter(reason for _, _, reason in duplicates).items():
            pairs = [pair for pair in duplicates if pair[2] == reason][:MAX_EXAMPLES]
            shown = "; ".join(f"{extra.place} = {kept.place} {extra.title[:60]!r}" for kept, extra, _ in pairs)
            dropped.leave_out(f"duplicates with {reason}", count)
            dropped.say(f"merged duplicates with {reason}: {count:,} ({shown}{'; …' if count > MAX_EXAMPLES else ''})")
        if self.list_duplicates is not None:
            with Path(self.list_duplicates).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(("kept", "merged", "reason", "title"))
                writer.writerows((kept.place, extra.place, why, extra.title) for kept, extra, why in duplicates)
        return merged


def parse_file(
    path: Path, meter: Meter, dropped: Dropped, progress: Progress = silent
) -> Iterator[tuple[str, str, Parsed]]:
    """Return the name, the format and the records of a file, or of each in an archive."""
    if is_workbook(path):
        from cube2net.io.tables.read_rows import read_rows

        rows = read_rows(path, dropped=dropped, meter=meter).table
        header = match_header(rows.column_names)
        if header is None:
            raise SourceError(
                f"{path.name} is no export of references: it has the columns {join_names(rows.column_names, 8)}, "
                "expected some for title, authors, year, journal and DOI; read other tables as tables"
            )
        columns = (column.to_pylist() for column in rows.itercolumns())
        texts = ([str(value or "") for value in row] for row in zip(*columns, strict=True))
        yield path.name, header.name, parse_rows(enumerate(texts, start=2), header)
        return
    files = InputFiles([path], ENDINGS, meter)
    for name, file in files:
        data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise SourceError(f"{name} has more than {MAX_FILE_BYTES:,} bytes: export it in parts")
        progress(STAGE, files.done, files.total)
        yield name, *parse_references(name, decode_text(data), dropped)


def decode_text(data: bytes) -> str:
    """Return the text of an export: UTF-8, UTF-16 by its mark or its many zeros, or as guessed."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if data[:200].count(0) > len(data[:200]) // 4:
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(guess_encoding(data), "replace")


def is_reference_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a citation export, by its content."""
    path = Path(path)
    name = path.name.casefold().removesuffix(".gz")
    if not name.endswith(ENDINGS) or not path.is_file():
        return False
    try:
        if is_workbook(path):
            if path.stat().st_size > MAX_WORKBOOK_BYTES:
                return False
            from cube2net.io.tables.read_rows import read_rows

            return match_header(read_rows(path).table.column_names) is not None
        gauge = Meter().gauge(path)
        with open_raw(path, gauge) as raw:
            start = decode_text(unpack(raw, gauge).read(SAMPLED_CHARACTERS))
    except (Cube2netError, OSError):
        return name.endswith(REFERENCE_ENDINGS)
    return bool(recognize_tagged(start)) or find_header(start) is not None or name.endswith(REFERENCE_ENDINGS)


class _CorpusBuilder:
    """Makes a corpus of records."""

    def __init__(self, records: Sequence[Reference], kind: str, where: str, dropped: Dropped) -> None:
        self.records, self.kind, self.where, self.dropped = records, kind, where, dropped

    def corpus(self) -> Corpus:
        """Return the corpus; raise an error if nothing links its objects."""
        links = None
        if self.kind == "authors":
            objects, mentions = self._build_authors()
        elif self.kind == "works":
            objects, mentions, links = self._build_works()
        else:
            objects, mentions = self._build_labels(VALUES[self.kind])
            links = self._link_sources() if self.kind == "sources" else None
        self._check_linked(mentions, links)
        rows = [(item, number) for item, row_objects in enumerate(mentions) for number in row_objects]
        return Corpus(
            objects=objects,
            items=self._build_items(),
            mentions=table(MENTIONS, item=[item for item, _ in rows], object=[number for _, number in rows]),
            links=links,
            dropped=dict(self.dropped.counts),
            time="year",
            directed=self.kind == "works",
        )

    def _build_items(self) -> pa.Table:
        """Return the items; attributes that no record has are left out."""
        texts = [f"{record.title}. {record.abstract}".strip() for record in self.records]
        columns: dict[str, Any] = {
            "item": pa.array(make_unique(map(identify_record, self.records)), pa.string()),
            "year": pa.array([record.year for record in self.records], pa.int32()),
            "title": pa.array([record.title for record in self.records], pa.string()),
        }
        for name in ("source", "kind", "language"):
            values = [getattr(record, name) or None for record in self.records]
            columns["type" if name == "kind" else name] = pa.array(values, pa.string())
        for name in ("keywords", "institutions", "countries"):
            lists = [list(getattr(record, name)) for record in self.records]
            columns[OBJECT_KINDS[name]] = pa.array(lists, pa.list_(pa.string()))
        columns["text"] = pa.array(texts, pa.string())
        required = ("item", "year", "title", "text")
        return pa.table({name: column for name, column in columns.items() if name in required or _has_values(column)})

    def _build_authors(self) -> tuple[pa.Table, list[list[int]]]:
        persons, mentions = identify_authors([record.authors for record in self.records])
        variants = sum(len(person.names) > 1 for person in persons)
        if variants:
            self.dropped.say(f"{variants:,} authors are written in several ways and were merged")
        names = [person.name for person in persons]
        ids = make_unique(names, [person.orcid for person in persons])
        extra_columns: dict[str, Any] = {}
        if any(person.orcid for person in persons):
            extra_columns["orcid"] = pa.array([person.orcid or None for person in persons], pa.string())
        if variants:
            other_names = ["; ".join(sorted(person.names - {person.name})) or None for person in persons]
            extra_columns["also_written"] = pa.array(other_names, pa.string())
        objects = table(OBJECTS, object=ids, name=names, kind=["author"] * len(persons))
        for name, column in extra_columns.items():
            objects = objects.append_column(name, column)
        return objects, mentions

    def _build_labels(self, values: Callable[[Reference], Iterable[str]]) -> tuple[pa.Table, list[list[int]]]:
        """Return objects for texts; texts that differ in case and punctuation only are one object."""
        numbers: dict[str, int] = {}
        names: list[str] = []
        mentions: list[list[int]] = []
        for record in self.records:
            row: dict[int, None] = {}
            for text in values(record):
                key = (self.kind == "references" and find_doi(text)) or make_label_key(text)
                if key and key not in numbers:
                    numbers[key] = len(names)
                    names.append(text)
                if key:
                    row[numbers[key]] = None
            mentions.append(list(row))
        kinds = [OBJECT_KINDS[self.kind]] * len(names)
        return table(OBJECTS, object=make_unique(names), name=names, kind=kinds), mentions

    def _link_sources(self) -> pa.Table:
        """Return links of sources, weighted by the authors who published in both."""
        _, mentions = self._build_labels(VALUES["sources"])
        _, authors = identify_authors([record.authors for record in self.records])
        sources_by_person: dict[int, set[int]] = {}
        for sources, persons in zip(mentions, authors, strict=True):
            for person in persons:
                sources_by_person.setdefault(person, set()).update(sources)
        weights: dict[tuple[int, int], int] = {}
        for linked_sources in sources_by_person.values():
            if len(linked_sources) <= MAX_LINKED_SOURCES:
                for pair in combinations(sorted(linked_sources), 2):
                    weights[pair] = weights.get(pair, 0) + 1
        return _build_link_table(weights)

    def _build_works(self) -> tuple[pa.Table, list[list[int]], pa.Table]:
        ids = make_unique(map(identify_record, self.records))
        objects = table(OBJECTS, object=ids, name=[entry.title for entry in self.records], kind=["work"] * len(ids))
        index = CitationIndex(self.records)
        weights: dict[tuple[int, int], int] = {}
        cited_elsewhere = 0
        for number, record in enumerate(self.records):
            for reference in record.references:
                cited = index.find(reference)
                cited_elsewhere += cited is None
                if cited is not None and cited != number:
                    weights[number, cited] = 1
        self.dropped.leave_out(CITED_ELSEWHERE, cited_elsewhere)
        return objects, [[number] for number in range(len(ids))], _build_link_table(weights)

    def _check_linked(self, mentions: Sequence[Sequence[int]], links: pa.Table | None) -> None:
        if any(len(row_objects) > 1 for row_objects in mentions) if links is None else links.num_rows:
            return
        has_keywords = any(len(record.keywords) > 1 for record in self.records)
        alternative = "keywords" if self.kind != "keywords" and has_keywords else "authors"
        reason = {
            "works": "no record cites another one of them",
            "sources": "no author published in two sources",
        }.get(self.kind, f"no record names two {self.kind}")
        raise SourceError(
            f"nothing links the {self.kind} of {self.where}: {reason}; export more fields, or choose other objects: ",
            Setting("objects", alternative),
            parameter="objects",
            value=self.kind,
        )


VALUES: dict[str, Callable[[Reference], Iterable[str]]] = {
    "keywords": lambda record: record.keywords,
    "sources": lambda record: [record.source],
    "institutions": lambda record: record.institutions,
    "countries": lambda record: record.countries,
    "references": lambda record: record.references,
}


class CitationIndex:
    """Finds which record a cited reference is: by DOI or id, by author, year and page, or by the title in it."""

    def __init__(self, records: Sequence[Reference]) -> None:
        self.numbers: dict[str, int] = {}
        self.titles: dict[tuple[str, ...], list[tuple[tuple[str, ...], int]]] = {}
        for number, record in enumerate(records):
            for key in (record.doi, record.id, record.pmid and f"pmid {record.pmid}", shorten_citation(record)):
                if key:
                    self.numbers.setdefault(key, number)
            words = tuple(_split_words(record.title))
            if len(words) >= TITLE_WORDS:
                self.titles.setdefault(words[:TITLE_WORDS], []).append((words, number))

    def find(self, reference: str) -> int | None:
        """Return the number of the record that a reference names, None where it is none of them."""
        doi = find_doi(reference)
        id_ = reference.removeprefix("https://openalex.org/")
        pmid = find_pmid(reference)
        for key in (doi, id_, pmid and f"pmid {pmid}", _shorten_reference(reference)):
            if key and key in self.numbers:
                return self.numbers[key]
        words = _split_words(reference) if not doi else []
        for start in range(len(words) - TITLE_WORDS + 1):
            for title, number in self.titles.get(tuple(words[start : start + TITLE_WORDS]), ()):
                if tuple(words[start : start + len(title)]) == title:
                    return number
        return None


TITLE_WORDS = 4
"""The fewest words of a title that is recognised in a reference."""


def _split_words(text: str) -> list[str]:
    return [word for word in map(reduce_letters, text.replace("-", " ").split()) if word]


def shorten_citation(record: Reference) -> str:
    """Return a record as Web of Science cites it, without the source: family name, year, volume and page."""
    if not (record.first_author and record.year and record.volume and record.page):
        return ""
    return f"{record.first_author}, {record.year}, v{record.volume}, p{record.page}".lower()


def _shorten_reference(reference: str) -> str:
    """Return the short form of a cited reference such as "Moe NB, 2010, INFORM SOFTWARE TECH, V52, P480"."""
    parts = [part.strip() for part in reference.split(",")]
    if len(parts) < 5 or not parts[1].isdecimal():
        return ""
    volume, page = (next((part for part in parts[3:] if part[:1] == mark and part[1:2].isdigit()), "") for mark in "VP")
    family = reduce_letters(parts[0].rpartition(" ")[0] or parts[0])
    return f"{family}, {parts[1]}, {volume}, {page}".lower()


def identify_record(record: Reference) -> str:
    """Return the DOI of a record, else its PMID, its id in the database, or its title and year."""
    return record.doi or (record.pmid and f"PMID {record.pmid}") or record.id or f"{record.title} ({record.year})"


def make_unique(names: Iterable[str], marks: Sequence[str] = ()) -> list[str]:
    """Return names made unique: repeated ones are followed by their mark or a number.

    >>> make_unique(["Li, J.", "Wu, X.", "Li, J.", "Li, J."], ["", "", "0000-0001", ""])
    ['Li, J.', 'Wu, X.', 'Li, J. (0000-0001)', 'Li, J. (2)']
    """
    used_names: set[str] = set()
    unique: list[str] = []
    for place, name in enumerate(names):
        candidate, number = name, 2
        if name in used_names and marks and marks[place]:
            candidate = f"{name} ({marks[place]})"
        while candidate in used_names:
            candidate, number = f"{name} ({number})", number + 1
        used_names.add(candidate)
        unique.append(candidate)
    return unique


def _has_values(column: pa.Array) -> bool:
    return len(column.flatten()) > 0 if pa.types.is_list(column.type) else column.null_count < len(column)


def _build_link_table(weights: dict[tuple[int, int], int]) -> pa.Table:
    pairs = sorted(weights)
    return table(
        LINKS,
        source=[source for source, _ in pairs],
        target=[target for _, target in pairs],
        weight=[weights[pair] for pair in pairs],
    )
