"""One XML file of the ACL Anthology, read element by element: its papers, and no more than that in memory."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from cube2net.errors import SourceError
from cube2net.safe_xml import SafeXml
from cube2net.sources.io.dropped import Dropped

WANTED = {
    *(("meta", tag) for tag in ("year", "venue", "sig")),
    *(("paper", tag) for tag in ("title", "abstract")),
    *(("author", tag) for tag in ("first", "last")),
}
UNSAID = ("url", "tex-math")
YEAR = re.compile("[0-9]{4}")
TWO_DIGITS = re.compile("W|C69$|D19$")


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


def volume_id(collection: str, volume: str) -> str:
    """Return the Anthology's id of a volume.

    >>> volume_id("2020.acl", "main"), volume_id("P18", "1"), volume_id("W18", "3")
    ('2020.acl-main', 'P18-1', 'W18-03')
    """
    if TWO_DIGITS.match(collection) and volume.isdecimal() and (collection != "D19" or int(volume) >= 5):
        return f"{collection}-{int(volume):02d}"
    return f"{collection}-{volume}"


def paper_id(collection: str, volume: str, paper: str) -> str:
    """Return the Anthology's id of a paper.

    >>> paper_id("2020.acl", "main", "1"), paper_id("P18", "1", "1"), paper_id("W18", "3", "7")
    ('2020.acl-main.1', 'P18-1001', 'W18-0307')
    """
    whole = volume_id(collection, volume)
    if collection[:1].isdigit() or not (volume.isdecimal() and paper.isdecimal()):
        return f"{whole}.{paper}"
    digits = 4 - len(whole.rpartition("-")[2])
    return f"{whole}{int(paper):0{digits}d}"


class _Reader:
    """Takes in one collection and keeps its papers; text is only gathered inside an element that is wanted."""

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
            elif tag in UNSAID and tags[self.depth - 1] == "abstract":
                self.expat.CharacterDataHandler = None
        elif not tags:
            if tag != "collection":
                raise self.xml.error(f"the first element is {tag!r}, expected 'collection'")
            self.collection = attributes.get("id", "").strip()
        elif (tags[-1], tag) in WANTED:
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
            self.volume = Volume(volume_id(self.collection, number), number)
        tags.append(tag)

    def end(self, tag: str) -> None:
        tags = self.tags
        tags.pop()
        if self.depth > len(tags):
            self.expat.CharacterDataHandler = None
            self.depth = 0
            self.take_text(tag, " ".join("".join(self.text).split()))
        elif self.depth:
            if tag in UNSAID:
                self.expat.CharacterDataHandler = self.text.append
        elif tag == "author":
            self.take_author()
        elif tag == "paper":
            self.take_paper()
        elif tag == "volume":
            self.volume = None

    def take_text(self, tag: str, text: str) -> None:
        if tag in ("first", "last"):
            self.author.setdefault(tag, text)
        elif self.paper is not None:
            self.paper.setdefault(tag, text)
        elif self.volume is not None and text:
            if tag == "venue":
                self.volume.venues.append(text)
            elif tag == "sig":
                self.volume.sigs.append(text.casefold())
            elif YEAR.fullmatch(text):
                self.volume.year = int(text)

    def take_author(self) -> None:
        name = f"{self.author.get('first', '')} {self.author.get('last', '')}".strip()
        key = self.author.get("id") or name
        if key:
            self.authors[key] = name or key
        else:
            self.drop("authors without a name", "an author has no name")

    def take_paper(self) -> None:
        paper, volume, self.paper = self.paper or {}, self.volume, None
        if volume is None or not (self.collection and volume.number and self.number):
            self.drop("papers without an id", "a paper has no id, or stands in no volume with one")
        elif not volume.year:
            self.drop("papers without a year", f"the volume of paper {self.number!r} has no year of four digits")
        elif not paper.get("title"):
            self.drop("papers without a title", f"paper {self.number!r} has no title")
        else:
            number = paper_id(self.collection, volume.number, self.number)
            rest = (paper["title"], paper.get("abstract", ""), self.authors)
            self.papers.append(Paper(self.name, self.line, number, volume, *rest))

    def drop(self, reason: str, sentence: str) -> None:
        self.dropped.drop_one(reason, self.xml.place, sentence)
