"""dblp.xml, read element by element: its records go by one at a time, and no entity is ever declared or fetched."""

from __future__ import annotations

import io
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from html.entities import html5
from xml.parsers import expat

from cube2net.errors import Cube2netError, SourceError
from cube2net.sources.streams import LONGEST
from cube2net.sources.tally import Tally

PIECE = 2**18
DEEPEST = 100
FIELDS = frozenset(("author", "title", "year", "journal", "booktitle", "school"))


@dataclass
class Record:
    """One record of dblp: its kind, its key, the line it starts on, and the texts of its fields."""

    kind: str
    key: str
    line: int
    authors: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


def read_records(
    name: str,
    file: io.BufferedReader,
    kinds: Container[str],
    take: Callable[[Record], None],
    tell: Callable[[], None],
    tally: Tally,
) -> None:
    """Hand every record of the kinds wanted to ``take``, and call ``tell`` after every piece of the file.

    The file names a document type, dblp.dtd, which is not read: the characters it declares (``&uuml;``) are
    those of HTML. A file with declarations of its own is refused, as they could grow without end or name
    other files.
    """
    reader = _Reader(name, kinds, take, tally)
    parser, fed = reader.parser, 0
    try:
        while piece := file.read(PIECE):
            parser.Parse(piece, False)
            fed += len(piece)
            since = reader.begins if reader.depth > 1 else max(parser.CurrentByteIndex, 0)
            if fed - since > LONGEST:
                raise reader.error("a record takes more than 16 MiB, which no paper does")
            tell()
        parser.Parse(b"", True)
    except Cube2netError:
        raise
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise SourceError(f"{name} line {error.lineno:,}: not whole XML ({what})") from None
    except (LookupError, ValueError) as error:
        raise reader.error(f"its encoding cannot be read ({error})") from None


class _Reader:
    """Follows the elements of one file; text is only gathered inside a field that is wanted."""

    def __init__(self, name: str, kinds: Container[str], take: Callable[[Record], None], tally: Tally) -> None:
        self.name, self.kinds, self.take, self.tally = name, kinds, take, tally
        self.record: Record | None = None
        self.text: list[str] = []
        self.depth = self.begins = 0
        parser = self.parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse
        parser.SkippedEntityHandler = self.entity

    def error(self, sentence: str) -> SourceError:
        return SourceError(f"{self.name} line {self.parser.CurrentLineNumber:,}: {sentence}")

    def doctype(self, _name: str, _system: str | None, _public: str | None, inside: bool) -> None:
        if inside:
            self.refuse()

    def refuse(self, *_: object) -> int:
        raise self.error(
            "declarations inside the document type are refused, as entities could read other files or grow without end"
        )

    def entity(self, name: str, _is_parameter: bool) -> None:
        if self.parser.CharacterDataHandler is None:
            return
        character = html5.get(f"{name};")
        if character is None:
            place = f"{self.name} line {self.parser.CurrentLineNumber:,}"
            self.tally.drop("characters of unknown name", place, f"'&{name[:40]};' names no known character")
        else:
            self.text.append(character)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        depth = self.depth
        self.depth = depth + 1
        if depth == 2:
            if self.record is not None and tag in FIELDS:
                self.text = []
                self.parser.CharacterDataHandler = self.text.append
        elif depth == 1:
            self.begins = self.parser.CurrentByteIndex
            if tag in self.kinds:
                self.record = Record(tag, attributes.get("key", "").strip(), self.parser.CurrentLineNumber)
            else:
                self.tally.leave("records that are no papers")
        elif depth == 0:
            if tag != "dblp":
                raise self.error(f"the first element is {tag[:40]!r}, expected 'dblp'")
        elif depth > DEEPEST:
            raise self.error(f"elements stand more than {DEEPEST} deep in each other")

    def end(self, tag: str) -> None:
        self.depth -= 1
        record = self.record
        if record is None or self.depth > 2:
            return
        if self.depth == 1:
            self.record = None
            self.take(record)
        elif self.parser.CharacterDataHandler is not None:
            self.parser.CharacterDataHandler = None
            text = " ".join("".join(self.text).split())
            if tag == "author":
                record.authors.append(text)
            elif text:
                record.texts.setdefault(tag, text)
