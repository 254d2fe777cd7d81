"""AMiner's DBLP citation network: authors and their papers, from its JSON (V10 and later) or its older text."""

from __future__ import annotations

import io
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import join_names
from cube2net.io.bibliography.papers import MAX_VENUE_LENGTH, YEARS, Papers, strip_part
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.io.text_records import Lines, Records, decode_lines, parse_json_records, read_lines
from cube2net.model.corpus import Corpus

STAGE = "reading AMiner's papers"
ATTRIBUTION = (
    "AMiner's DBLP citation network (https://www.aminer.org/citation): J. Tang, J. Zhang, L. Yao, J. Li, L. Zhang "
    "and Z. Su, ArnetMiner: extraction and mining of academic social networks, KDD 2008"
)
EXPECTED = "AMiner's file or folder, such as dblp-ref-0.json, dblp.v12.json, dblp.v10.zip or dblp.txt"
ENDINGS = (".json", ".jsonl", ".txt")
RECORDS_PER_REPORT = 20_000
TAG_PATTERN = re.compile(r"#(index|conf|year|citation|arnetid|[*@!%oct])")
FIELD_OF_TAG = {
    **{"*": "title", "@": "authors", "!": "abstract", "index": "id"},
    **{"t": "year", "year": "year", "c": "venue", "conf": "venue"},
}
SUFFIXES = ("jr", "jr.", "sr", "sr.", "ii", "iii", "iv")


@dataclass(frozen=True, kw_only=True)
class Aminer:
    """Reads AMiner's citation network: files or folders, plain or packed (gz, zip, tar).

    Objects are authors: by id where the file has ids (V11 and later), else by name. Items are papers with
    ``year``, ``venue``, ``title`` and ``text``: title and abstract, or with ``abstracts=False`` the title alone,
    which takes less than half the memory. Unusable lines and papers are counted in ``dropped`` and the first few
    are shown; ``strict`` makes them errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    abstracts: bool = True
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files, each read once from front to back."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files = InputFiles(find_data_files(paths, ENDINGS, EXPECTED), ENDINGS, meter)
        dropped = Dropped(self.strict, progress)
        papers = Papers(dropped, texts=self.abstracts)
        builder = _PaperBuilder(papers, dropped, self.abstracts)
        record_count = 0
        for name, file in files:
            for line, record in read_records(name, file, dropped):
                builder.add(name, line, record)
                record_count += 1
                if record_count % RECORDS_PER_REPORT == 0:
                    progress(STAGE, files.done, files.total)
        progress(STAGE, files.total, files.total)
        return papers.corpus(ATTRIBUTION, join_names(paths), full_names=builder.full_names)


class _PaperBuilder:
    """Makes papers of records, whatever version they are of."""

    def __init__(self, papers: Papers, dropped: Dropped, abstracts: bool) -> None:
        self.papers, self.dropped, self.abstracts = papers, dropped, abstracts
        self.full_names: dict[str, str] = {}

    def add(self, name: str, line: int, record: dict[str, Any]) -> None:
        place = name, line
        key = _find_key(record)
        title = _clean_text(record.get("title"))
        year = _parse_year(record.get("year"))
        authors = record.get("authors")
        if not key:
            self.drop(place, "papers without an id", record, "id", "a text or whole number")
        elif not title:
            self.drop(place, "papers without a title", record, "title", "a text")
        elif year not in YEARS:
            allowed = f"a whole number from {YEARS[0]} to {YEARS[-1]}"
            self.drop(place, "papers without a year", record, "year", allowed)
        elif type(authors) is not list and authors is not None:
            self.drop(place, "papers whose authors are no list", record, "authors", "a list")
        else:
            venue = self.find_venue(place, record)
            abstract = self.find_abstract(place, record) if self.abstracts else ""
            text = title
            if abstract:
                text = f"{title} {abstract}" if title.endswith((".", "?", "!")) else f"{title}. {abstract}"
            self.papers.add((name, line, key, year, venue, title, text, *self.find_authors(place, authors or [])))

    def drop(self, place: tuple[str, int], reason: str, record: dict[str, Any], field: str, allowed: str) -> None:
        state = f"is {reprlib.repr(record[field])}" if record.get(field) is not None else "is missing"
        self.dropped.drop_one(reason, f"{place[0]} line {place[1]:,}", f"{field!r} {state}, expected {allowed}")

    def find_authors(self, place: tuple[str, int], authors: list[Any]) -> tuple[list[str], list[str]]:
        """Return the keys and the names of authors given by name (V10 and before) or as objects."""
        keys, names = [], []
        for author in authors:
            if type(author) is str:
                key = name = author.strip()
            elif type(author) is dict:
                name = _clean_text(author.get("name"))
                key = _find_key(author) or name
            else:
                key = name = ""
            if key:
                keys.append(key)
                names.append(name or key)
            else:
                faulty_record = {"author": author}
                self.drop(place, "authors without a name", faulty_record, "author", "a name, or an object with one")
        return keys, names

    def find_venue(self, place: tuple[str, int], record: dict[str, Any]) -> str | None:
        """Return the venue's name, without the number of a part; where there is a longer one it is noted."""
        venue = record.get("venue")
        if type(venue) is dict:
            full_name = _clean_text(venue.get("name_d"))[:MAX_VENUE_LENGTH]
            label = strip_part(_clean_text(venue.get("raw"))) or full_name
            if full_name and full_name != label:
                self.full_names.setdefault(label, full_name)
        else:
            label = strip_part(_clean_text(venue))
            if venue is not None and type(venue) is not str:
                self.drop(place, "venues that are no text", record, "venue", "a text, or an object with one in 'raw'")
        return label or None

    def find_abstract(self, place: tuple[str, int], record: dict[str, Any]) -> str:
        """Return the abstract, put together from an index of its words where that is what there is."""
        abstract = record.get("abstract")
        index = record.get("indexed_abstract")
        if type(abstract) is str and (abstract := abstract.strip()):
            return abstract
        if type(index) is dict and type(words := index.get("InvertedIndex")) is dict:
            return join_inverted_index(words)
        for field, value in (("abstract", abstract), ("indexed_abstract", index)):
            if value not in (None, "", {}):
                self.drop(place, "abstracts that are no text", record, field, "a text, or an index of its words")
                break
        return ""


def join_inverted_index(words: dict[str, Any]) -> str:
    """Return the text of an index from words to their places.

    >>> join_inverted_index({"to": [0, 4], "be": [1, 5], "not": [3], "or": [2]})
    'to be or not to be'
    """
    words_by_place = [
        (position, word)
        for word, positions in words.items()
        if type(positions) is list
        for position in positions
        if type(position) is int
    ]
    words_by_place.sort(key=lambda pair: pair[0])
    return " ".join([word for _, word in words_by_place]).strip()


def _find_key(record: dict[str, Any]) -> str:
    key = record.get("id")
    if key is None or key == "":
        key = record.get("_id")
    if type(key) is str:
        return key.strip()
    return str(key) if type(key) is int else ""


def _clean_text(value: object) -> str:
    return value.strip() if type(value) is str else ""


def _parse_year(value: object) -> int:
    """Return a year given as a number or in digits, 0 if it is neither."""
    if type(value) is int:
        return value
    if type(value) is str and len(value) == 4 and value.isascii() and value.isdecimal():
        return int(value)
    return int(value) if type(value) is float and value.is_integer() else 0


def read_records(name: str, file: io.BufferedReader, dropped: Dropped) -> Records:
    """Return the papers of a file, each with its line, whichever format the file has."""
    start = file.peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"#") or start[:1].isdigit():
        return parse_tagged(name, decode_lines(name, enumerate(read_lines(file), start=1), dropped), dropped)
    return parse_json_records(name, decode_lines(name, enumerate(read_lines(file), start=1), dropped), dropped)


def parse_tagged(name: str, tagged: Lines, dropped: Dropped) -> Records:
    """Return the records of tagged text (V1 to V9): ``#*`` title, ``#@`` authors, ``#index`` id, and so on.

    A blank line ends a record, and so does a second title or id. The file may begin with the number of papers.

    >>> some = enumerate(["2", "#*Sorting.", "#@A. Hoare,B. Lee, Jr.", "#t1962", "#cBIT", "#index7", "#%3"], start=1)
    >>> next(parse_tagged("few.txt", some, Dropped()))
    (2, {'title': 'Sorting.', 'authors': ['A. Hoare', 'B. Lee, Jr.'], 'year': '1962', 'venue': 'BIT', 'id': '7'})
    """
    record: dict[str, Any] = {}
    first_line = 0
    for number, line in tagged:
        text = line.strip("\ufeff \t\r\n")
        match = TAG_PATTERN.match(text)
        field = FIELD_OF_TAG.get(match[1], "") if match else ""
        if record and (not text or (field in ("title", "id") and field in record)):
            yield first_line, record
            record = {}
        if not text or (number == 1 and text.isdecimal()):
            continue
        if match is None:
            excerpt = text[:40] + ("…" if len(text) > 40 else "")
            dropped.drop_one(
                "lines without a known tag", f"{name} line {number:,}", f"{excerpt!r} begins with no known tag"
            )
        elif field:
            first_line = first_line if record else number
            value = text[match.end() :].strip()
            record[field] = _split_names(value) if field == "authors" else value
    if record:
        yield first_line, record


def _split_names(text: str) -> list[str]:
    names: list[str] = []
    for part in text.split(";" if ";" in text else ","):
        name = part.strip()
        if names and name.casefold() in SUFFIXES:
            names[-1] += f", {name}"
        elif name:
            names.append(name)
    return names
