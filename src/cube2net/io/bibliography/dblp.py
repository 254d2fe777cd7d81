"""dblp: authors and their papers, from dblp.xml as it is published.

It is read element by element: its records go by one at a time, and no entity is ever declared or fetched.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cube2net._util.progress import Progress, silent
from cube2net._util.xml import SafeXml
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, join_names, unknown_name
from cube2net.io.bibliography.papers import MAX_VENUE_LENGTH, YEARS, Papers, strip_part
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.model.corpus import Corpus

STAGE = "reading dblp"
ATTRIBUTION = "dblp computer science bibliography (https://dblp.org), CC0 1.0"
EXPECTED = "dblp.xml or dblp.xml.gz"
ENDINGS = (".xml",)
FIELDS = frozenset(("author", "title", "year", "journal", "booktitle", "school"))
KINDS = ("article", "inproceedings", "incollection", "phdthesis")
VENUES = ("streams", "titles")
STREAM_PATTERN = re.compile(r"((?:conf|journals)/[^/]+)/")
ORDINAL = (
    r"(?:(?:twenty|thirty|forty|fifty|sixty)[- ])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    r"|(?:ten|eleven|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)th|twelfth|[a-z]+tieth"
)
NOISE_PATTERN = re.compile(
    rf"\b(?:proceedings|proc\.) (?:of )?(?:the )?|\b[0-9]+(?:st|nd|rd|th)?\b|\b(?:{ORDINAL})\b", re.I
)


@dataclass(frozen=True, kw_only=True)
class Dblp:
    """Reads dblp.xml, plain or packed (gz, zip, tar).

    Objects are authors under their name in dblp, with the number of namesakes ("Wei Wang 0001") as id and without
    it as name. Items are papers of the given ``kinds`` with ``year``, ``venue``, ``title`` and ``text`` (the
    title). With ``venues="streams"`` all papers of a series (``conf/kdd/``) have one venue, the most frequent of
    its short names ("KDD"); with ``"titles"`` each has its journal or book title. Full names come from the titles
    of proceedings. Unusable records are counted in ``dropped`` and the first few are shown; ``strict`` makes them
    errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    kinds: tuple[str, ...] = ("article", "inproceedings")
    venues: str = "streams"
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        kinds: object = self.kinds
        if isinstance(kinds, str):
            raise ParameterError(f"kinds is the text {kinds!r}, expected a tuple such as ('article',)")
        for kind in self.kinds or ("",):
            if kind not in KINDS:
                raise unknown_name("kind of record", kind, KINDS)
        if self.venues not in VENUES:
            raise unknown_name("way to name venues", self.venues, VENUES)

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the file, read once from front to back."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files = InputFiles(find_data_files(paths, ENDINGS, EXPECTED), ENDINGS, meter)
        dropped = Dropped(self.strict, progress)
        papers = Papers(dropped, texts=False)
        builder = _PaperBuilder(papers, dropped, self.venues == "streams")

        def report() -> None:
            progress(STAGE, files.done, files.total)

        for name, file in files:
            builder.file = name
            read_records(name, file, {*self.kinds, "proceedings"}, builder.add, report, dropped)
        report()
        labels = builder.label_series()
        full_names = {labels.get(venue, venue): names.most_common(1)[0][0] for venue, names in builder.long.items()}
        return papers.corpus(ATTRIBUTION, join_names(paths), labels=labels, full_names=full_names)


@dataclass
class Record:
    """One record of dblp: its kind, its key, the line it starts on, and the texts of its fields."""

    kind: str
    key: str
    line: int
    authors: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


class _PaperBuilder:
    """Makes papers of records, and learns from all of them what venues are called."""

    def __init__(self, papers: Papers, dropped: Dropped, by_stream: bool) -> None:
        self.papers, self.dropped, self.by_stream = papers, dropped, by_stream
        self.file = ""
        self.short: dict[str, Counter[str]] = {}
        self.long: dict[str, Counter[str]] = {}

    def add(self, record: Record) -> None:
        texts = record.texts
        venue = self.find_venue(record)
        if record.kind == "proceedings":
            self.dropped.leave_out("records that are no papers")
            name = extract_series_name(texts.get("title", ""))
            if venue and name:
                self.long.setdefault(venue, Counter())[name] += 1
            return
        title, year = texts.get("title", ""), texts.get("year", "")
        if not record.key:
            self.drop(record, "papers without an id", "it has no key")
        elif not title:
            self.drop(record, "papers without a title", "it has no title")
        elif not (year.isascii() and year.isdecimal() and len(year) == 4 and int(year) in YEARS):
            allowed = f"a whole number from {YEARS[0]} to {YEARS[-1]}"
            self.drop(record, "papers without a year", f"its year is {year[:40]!r}, expected {allowed}")
        else:
            keys = [author for author in record.authors if author]
            if len(keys) < len(record.authors):
                self.drop(record, "authors without a name", "an author of it has no name")
            names = [strip_number(key) for key in keys]
            self.papers.add((self.file, record.line, record.key, int(year), venue, title, title, keys, names))

    def find_venue(self, record: Record) -> str | None:
        """Return the series of a record, or else the title of its journal, book or school."""
        texts = record.texts
        title = strip_part(texts.get("journal") or texts.get("booktitle") or texts.get("school") or "")
        series = STREAM_PATTERN.match(record.key) if self.by_stream else None
        if series is None:
            return title or None
        stream = series[1][:MAX_VENUE_LENGTH]
        title_counts = self.short.get(stream)
        if title_counts is None:
            title_counts = self.short[stream] = Counter()
        if title and record.kind != "proceedings":
            title_counts[title] += 1
        return stream

    def label_series(self) -> dict[str, str]:
        """Return what every series is called; where two would be called the same, the smaller says which it is."""
        stream_by_label: dict[str, str] = {}
        for stream, titles in sorted(self.short.items(), key=lambda pair: (-pair[1].total(), pair[0])):
            label = titles.most_common(1)[0][0] if titles else stream.partition("/")[2]
            stream_by_label[label if label not in stream_by_label else f"{label} ({stream})"] = stream
        return {stream: label for label, stream in stream_by_label.items()}

    def drop(self, record: Record, reason: str, sentence: str) -> None:
        self.dropped.drop_one(reason, f"{self.file} line {record.line:,}, {record.kind} {record.key[:80]!r}", sentence)


def strip_number(author: str) -> str:
    """Return an author's name without the number that tells namesakes apart.

    >>> strip_number("Wei Wang 0001"), strip_number("Jiawei Han")
    ('Wei Wang', 'Jiawei Han')
    """
    name, _, number = author.rpartition(" ")
    return name if name and len(number) == 4 and number.isascii() and number.isdecimal() else author


def extract_series_name(title: str) -> str:
    """Return the long name of a series from the title of one of its proceedings, empty if there is none.

    >>> extract_series_name("Proceedings of the 25th ACM SIGKDD International Conference on Knowledge Discovery & Data "
    ...           "Mining, KDD 2019, Anchorage, AK, USA, August 4-8, 2019.")
    'ACM SIGKDD International Conference on Knowledge Discovery & Data Mining'
    >>> extract_series_name("Computer Vision - ECCV 2018 - 15th European Conference, Munich, Germany")
    'Computer Vision European Conference'
    """
    parts = re.split(r" - |: ", title[:MAX_VENUE_LENGTH].partition(",")[0])
    kept = [part for part in parts if not re.fullmatch(r"\S+ ?(?:[0-9]{4}|'[0-9]{2})", part)]
    name = " ".join(NOISE_PATTERN.sub(" ", " ".join(kept)).split()).strip(" .")
    return name if " " in name else ""


def read_records(
    name: str,
    file: io.BufferedReader,
    kinds: Container[str],
    take: Callable[[Record], None],
    report: Callable[[], None],
    dropped: Dropped,
) -> None:
    """Hand every record of the kinds wanted to ``take``, and call ``report`` after every piece of the file."""
    reader = _Reader(name, kinds, take, dropped)
    too_long = "a record takes more than 16 MiB, which no paper does"
    reader.xml.read(file, since=reader.since, too_long=too_long, report=report)


class _Reader:
    """Follows the elements of one file; text is only gathered inside a field that is wanted."""

    def __init__(self, name: str, kinds: Container[str], take: Callable[[Record], None], dropped: Dropped) -> None:
        self.kinds, self.take, self.dropped = kinds, take, dropped
        self.record: Record | None = None
        self.text: list[str] = []
        self.begins = 0
        self.xml = SafeXml(name, start=self.start, end=self.end, characters=self.character, unknown=self.unknown)
        self.expat = self.xml.expat

    def since(self) -> int:
        return self.begins if self.xml.depth > 1 else max(self.expat.CurrentByteIndex, 0)

    def character(self, character: str) -> None:
        if self.expat.CharacterDataHandler is not None:
            self.text.append(character)

    def unknown(self, sentence: str) -> None:
        if self.expat.CharacterDataHandler is not None:
            self.dropped.drop_one("characters of unknown name", self.xml.place, sentence)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        depth = self.xml.depth
        if depth == 3:
            if self.record is not None and tag in FIELDS:
                self.text = []
                self.expat.CharacterDataHandler = self.text.append
        elif depth == 2:
            self.begins = self.expat.CurrentByteIndex
            if tag in self.kinds:
                self.record = Record(tag, attributes.get("key", "").strip(), self.expat.CurrentLineNumber)
            else:
                self.dropped.leave_out("records that are no papers")
        elif depth == 1 and tag != "dblp":
            raise self.xml.error(f"the first element is {tag[:40]!r}, expected 'dblp'")

    def end(self, tag: str) -> None:
        record, depth = self.record, self.xml.depth
        if record is None or depth > 2:
            return
        if depth == 1:
            self.record = None
            self.take(record)
        elif self.expat.CharacterDataHandler is not None:
            self.expat.CharacterDataHandler = None
            text = " ".join("".join(self.text).split())
            if tag == "author":
                record.authors.append(text)
            elif text:
                record.texts.setdefault(tag, text)
