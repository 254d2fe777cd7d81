"""The ACL Anthology: papers with year, venues, kind, authors and abstract, from its XML files."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from cube2net._util.progress import Progress, silent
from cube2net._util.xml import SafeXml
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, SourceError, join_names, unknown_name
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles
from cube2net.io.text_records import read_whole
from cube2net.model.corpus import LABELS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.dimension import DimensionSpec

MAX_JSON_BYTES = 16 * 2**20
STAGE = "reading the ACL Anthology"
ATTRIBUTION = (
    "ACL Anthology (https://aclanthology.org): papers of 2016 and later under CC BY 4.0, "
    "earlier ones under CC BY-NC-SA 3.0"
)
DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)
NAME_TABLES = ("venues.json", "sigs.json")
ITEMS = {
    "item": pa.string(),
    "year": pa.int32(),
    "venue": pa.list_(pa.string()),
    "sig": pa.list_(pa.string()),
    "volume": pa.string(),
    "title": pa.string(),
    "text": pa.string(),
}
Entries = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Acl:
    """Reads the ACL Anthology: a folder with ``data/xml`` and ``data/json``, one of XML alone, or a tar of it.

    Objects are authors: the Anthology's id of a person where it has one, else "First Last". Items are papers with
    ``year``, ``venue`` (acronyms; several if a volume belongs to several), ``sig`` (special interest groups of the
    volume), ``volume``, ``title`` and ``text`` (title and abstract). ``without_sigs`` leaves out the volumes of
    some groups. Unusable papers are counted in ``dropped`` and the first few are shown; ``strict`` makes them
    errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    from_year: int | None = None
    to_year: int | None = None
    without_sigs: Sequence[str] = ()
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if isinstance(self.without_sigs, str):
            raise ParameterError(f"without_sigs is the text {self.without_sigs!r}, expected a tuple such as ('sigmt',)")
        if self.from_year is not None and self.to_year is not None and self.from_year > self.to_year:
            raise ParameterError(f"from_year is {self.from_year!r}, after to_year, which is {self.to_year!r}")

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of a folder or archive, read one file at a time."""
        papers: list[Paper] = []
        tables: dict[str, Entries] = {}
        dropped = Dropped(self.strict, progress)
        files, count = _find_files([Path(path) for path in paths])
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        for done, (name, file) in enumerate(InputFiles(files, (".xml", *NAME_TABLES), meter, guarded=True), start=1):
            if name.endswith(".json"):
                tables[Path(name).name] = _read_json(name, file)
            else:
                papers += read_xml(name, file, dropped)
            progress(STAGE, done, count)
        papers, left_out = self._select_papers(papers, tables.get("sigs.json", {}))
        papers = _drop_repeated(papers, dropped)
        dropped.close()
        for reason, number in left_out.items():
            dropped.leave_out(reason, number)
        if not papers:
            drop_reasons = ", ".join(dropped.reasons)
            raise SourceError(
                f"{join_names(paths)} holds no paper to read" + (f" ({drop_reasons})" if drop_reasons else "")
            )
        return _build_corpus(papers, tables, dropped.counts)

    def _select_papers(self, papers: list[Paper], sigs: Entries) -> tuple[list[Paper], Counter[str]]:
        """Return the papers of the years and groups asked for, and how many are not."""
        excluded = {sig.casefold() for sig in self.without_sigs}
        all_sigs = {sig for paper in papers for sig in paper.volume.sigs} | set(sigs)
        for sig in sorted(excluded - all_sigs):
            raise unknown_name("special interest group", sig, all_sigs)
        kept, left_out = [], Counter[str]()
        for paper in papers:
            if self.from_year is not None and paper.volume.year < self.from_year:
                left_out[f"papers before {self.from_year}"] += 1
            elif self.to_year is not None and paper.volume.year > self.to_year:
                left_out[f"papers after {self.to_year}"] += 1
            elif not excluded.isdisjoint(paper.volume.sigs):
                left_out["papers of groups not asked for"] += 1
            else:
                kept.append(paper)
        return kept, left_out


def _drop_repeated(papers: list[Paper], dropped: Dropped) -> list[Paper]:
    """Return every paper once, in the order of files and lines; each further one of its id is dropped."""
    kept: dict[str, Paper] = {}
    for paper in sorted(papers, key=lambda paper: (paper.file, paper.line)):
        if kept.setdefault(paper.id, paper) is not paper:
            place = f"{paper.file} line {paper.line:,}"
            dropped.drop_one("papers named twice", place, f"paper {paper.id!r} was there before")
    return list(kept.values())


def _find_files(paths: list[Path]) -> tuple[list[Path], int | None]:
    """Return the files to read, and how many they hold where that is known before they are read."""
    if not paths:
        raise SourceError("no path is given: name the Anthology's folder, or its tar.xz")
    for path in paths:
        if not path.exists():
            raise SourceError(f"{path} does not exist: name the Anthology's folder, or its tar.xz")
    files = [file for path in paths for file in (_list_folder(path) if path.is_dir() else [path])]
    return files, len(files) if all(path.suffix in (".xml", ".json") for path in files) else None


def _list_folder(path: Path) -> list[Path]:
    xml = next((folder for folder in (path / "data" / "xml", path / "xml") if folder.is_dir()), path)
    xml_files = sorted(xml.glob("*.xml"))
    if not xml_files:
        raise SourceError(f"{path} holds no XML: expected the Anthology's folder, with data/xml in it, or its tar.xz")
    return xml_files + [
        place / name for name in NAME_TABLES for place in (xml, xml.parent / "json") if (place / name).is_file()
    ]


def _read_json(name: str, file: IO[bytes]) -> Entries:
    content = read_whole(file, MAX_JSON_BYTES)
    if content is None:
        raise SourceError(f"{name} takes more than {MAX_JSON_BYTES:,} bytes, expected a table of names")
    try:
        entries = json.loads(content.decode())
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} line {error.lineno:,}: not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{name} cannot be read as JSON: {error}") from None
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise SourceError(f"{name} is not a table of names: expected an object with an object for every id")
    return entries


def _build_corpus(papers: list[Paper], tables: Mapping[str, Entries], dropped: Mapping[str, int]) -> Corpus:
    object_numbers: dict[str, int] = {}
    spellings: dict[str, Counter[str]] = {}
    items: list[int] = []
    objects: list[int] = []
    for item, paper in enumerate(papers):
        for key, name in paper.authors.items():
            items.append(item)
            objects.append(object_numbers.setdefault(key, len(object_numbers)))
            if name != key:
                spellings.setdefault(key, Counter())[name] += 1
    names = [spellings[key].most_common(1)[0][0] if key in spellings else key for key in object_numbers]
    venues = _look_up_names({venue for paper in papers for venue in paper.volume.venues}, tables.get("venues.json", {}))
    sigs = _look_up_names({sig for paper in papers for sig in paper.volume.sigs}, tables.get("sigs.json", {}))
    return Corpus(
        objects=table(OBJECTS, object=list(object_numbers), name=names, kind=["author"] * len(object_numbers)),
        items=table(
            ITEMS,
            item=[paper.id for paper in papers],
            year=[paper.volume.year for paper in papers],
            venue=[list(dict.fromkeys(venues[venue][0] for venue in paper.volume.venues)) for paper in papers],
            sig=[list(dict.fromkeys(sigs[sig][0] for sig in paper.volume.sigs)) for paper in papers],
            volume=[paper.volume.id for paper in papers],
            title=[paper.title for paper in papers],
            text=[_join_text(paper) for paper in papers],
        ),
        mentions=table(MENTIONS, item=items, object=objects),
        labels=_build_labels(venue=venues, sig=sigs),
        dimensions=DIMENSIONS,
        dropped=dict(dropped),
        attribution=ATTRIBUTION,
        time="year",
    )


def _look_up_names(keys: set[str], table_of_names: Entries) -> dict[str, tuple[str, str, str]]:
    """Return the acronym, the full name and the kind of every venue or group."""
    names_by_key = {}
    for key in keys:
        entry = table_of_names.get(key)
        if entry is None:
            names_by_key[key] = key, key, "other"
        else:
            acronym, name = (str(entry.get(field) or key).strip() or key for field in ("acronym", "name"))
            names_by_key[key] = acronym, name, str(entry.get("type") or "conference")
    return names_by_key


def _build_labels(**attributes: Mapping[str, tuple[str, str, str]]) -> pa.Table:
    rows = {
        (attribute, label): (full_name, kind if attribute == "venue" else None)
        for attribute, entries in attributes.items()
        for label, full_name, kind in sorted(entries.values())
    }
    return table(
        LABELS,
        attribute=[attribute for attribute, _ in rows],
        label=[label for _, label in rows],
        full_name=[full_name for full_name, _ in rows.values()],
        parent=[kind for _, kind in rows.values()],
    )


def _join_text(paper: Paper) -> str:
    if not paper.abstract:
        return paper.title
    return paper.title + ("" if paper.title.endswith((".", "?", "!")) else ".") + " " + paper.abstract


TEXT_ELEMENTS = {
    *(("meta", tag) for tag in ("year", "venue", "sig")),
    *(("paper", tag) for tag in ("title", "abstract")),
    *(("author", tag) for tag in ("first", "last")),
}
IGNORED_ELEMENTS = ("url", "tex-math")
YEAR_PATTERN = re.compile("[0-9]{4}")
TWO_DIGIT_VOLUMES = re.compile("W|C69$|D19$")


@dataclass
class Volume:
    """What the papers of a volume share; the year is 0 until one is read."""

    id: str
    number: str
    year: int = 0
    venues: list[str] = field(default_factory=list)
    sigs: list[str] = field(default_factory=list)


class Paper(NamedTuple):
    """One paper, where it stands (file and line), and its authors: id or name → name."""

    file: str
    line: int
    id: str
    volume: Volume
    title: str
    abstract: str
    authors: dict[str, str]


def read_xml(name: str, file: IO[bytes], dropped: Dropped) -> list[Paper]:
    """Return the papers of one file.

    Frontmatter is not a paper, and an editor is not an author. Formulas and addresses are left out of
    abstracts. A document type declaration is refused, so no entity can be declared.
    """
    reader = _Reader(name, dropped)
    text = codecs.getincrementaldecoder("utf-8")()
    lines = 1

    def check(piece: bytes) -> None:
        nonlocal lines
        try:
            text.decode(piece)
        except UnicodeDecodeError as error:
            lines += error.object[: error.start].count(b"\n")
            raise SourceError(f"{name} line {lines:,}: bytes that are not UTF-8") from None
        lines += piece.count(b"\n")

    reader.xml.read(file, check=check)
    return reader.papers


def format_volume_id(collection: str, volume: str) -> str:
    """Return the Anthology's id of a volume.

    >>> format_volume_id("2020.acl", "main"), format_volume_id("P18", "1"), format_volume_id("W18", "3")
    ('2020.acl-main', 'P18-1', 'W18-03')
    """
    if TWO_DIGIT_VOLUMES.match(collection) and volume.isdecimal() and (collection != "D19" or int(volume) >= 5):
        return f"{collection}-{int(volume):02d}"
    return f"{collection}-{volume}"


def format_paper_id(collection: str, volume: str, paper: str) -> str:
    """Return the Anthology's id of a paper.

    >>> format_paper_id("2020.acl", "main", "1"), format_paper_id("P18", "1", "1"), format_paper_id("W18", "3", "7")
    ('2020.acl-main.1', 'P18-1001', 'W18-0307')
    """
    volume_id = format_volume_id(collection, volume)
    if collection[:1].isdigit() or not (volume.isdecimal() and paper.isdecimal()):
        return f"{volume_id}.{paper}"
    digits = 4 - len(volume_id.rpartition("-")[2])
    return f"{volume_id}{int(paper):0{digits}d}"


class _Reader:
    """Reads one collection and keeps its papers; text is only gathered inside an element that is wanted."""

    def __init__(self, name: str, dropped: Dropped) -> None:
        self.name, self.dropped = name, dropped
        self.papers: list[Paper] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.depth = 0
        self.line = 0
        self.collection = self.number = ""
        self.volume: Volume | None = None
        self.paper: dict[str, str] | None = None
        self.authors: dict[str, str] = {}
        self.author: dict[str, str] = {}
        self.xml = SafeXml(name, start=self.start, end=self.end, encoding="UTF-8", allow_doctype=False)
        self.expat = self.xml.expat

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tags = self.tags
        if self.depth:
            if tag == "par":
                self.text.append(" ")
            elif tag in IGNORED_ELEMENTS and tags[self.depth - 1] == "abstract":
                self.expat.CharacterDataHandler = None
        elif not tags:
            if tag != "collection":
                raise self.xml.error(f"the first element is {tag!r}, expected 'collection'")
            self.collection = attributes.get("id", "").strip()
        elif (tags[-1], tag) in TEXT_ELEMENTS:
            self.depth = len(tags) + 1
            self.text = []
            self.expat.CharacterDataHandler = self.text.append
        elif tag == "author":
            self.author = {"id": attributes.get("id", "").strip()}
        elif tag == "paper":
            self.paper, self.authors, self.line = {}, {}, self.expat.CurrentLineNumber
            self.number = attributes.get("id", "").strip()
        elif tag == "volume":
            number = attributes.get("id", "").strip()
            self.volume = Volume(format_volume_id(self.collection, number), number)
        tags.append(tag)

    def end(self, tag: str) -> None:
        tags = self.tags
        tags.pop()
        if self.depth > len(tags):
            self.expat.CharacterDataHandler = None
            self.depth = 0
            self.add_text(tag, " ".join("".join(self.text).split()))
        elif self.depth:
            if tag in IGNORED_ELEMENTS:
                self.expat.CharacterDataHandler = self.text.append
        elif tag == "author":
            self.add_author()
        elif tag == "paper":
            self.add_paper()
        elif tag == "volume":
            self.volume = None

    def add_text(self, tag: str, text: str) -> None:
        if tag in ("first", "last"):
            self.author.setdefault(tag, text)
        elif self.paper is not None:
            self.paper.setdefault(tag, text)
        elif self.volume is not None and text:
            if tag == "venue":
                self.volume.venues.append(text)
            elif tag == "sig":
                self.volume.sigs.append(text.casefold())
            elif YEAR_PATTERN.fullmatch(text):
                self.volume.year = int(text)

    def add_author(self) -> None:
        name = f"{self.author.get('first', '')} {self.author.get('last', '')}".strip()
        key = self.author.get("id") or name
        if key:
            self.authors[key] = name or key
        else:
            self.drop("authors without a name", "an author has no name")

    def add_paper(self) -> None:
        paper, volume, self.paper = self.paper or {}, self.volume, None
        if volume is None or not (self.collection and volume.number and self.number):
            self.drop("papers without an id", "a paper has no id, or stands in no volume with one")
        elif not volume.year:
            self.drop("papers without a year", f"the volume of paper {self.number!r} has no year of four digits")
        elif not paper.get("title"):
            self.drop("papers without a title", f"paper {self.number!r} has no title")
        else:
            number = format_paper_id(self.collection, volume.number, self.number)
            texts = (paper["title"], paper.get("abstract", ""), self.authors)
            self.papers.append(Paper(self.name, self.line, number, volume, *texts))

    def drop(self, reason: str, sentence: str) -> None:
        self.dropped.drop_one(reason, self.xml.place, sentence)
