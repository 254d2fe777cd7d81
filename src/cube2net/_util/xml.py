"""Parse untrusted XML, and the cells of workbooks, which are XML in a ZIP archive."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import IO
from xml.parsers import expat

from cube2net._util.zip_files import BROKEN, Gauge, Meter, damage_error, open_member, open_raw, open_zip
from cube2net.errors import Cube2netError, SourceError, first_line

PIECE = 2**20
"""Bytes per read. ``pyexpat`` feeds expat at most 1 MiB at a time, so larger pieces save nothing."""
MAX_VALUE_BYTES = 16 * 2**20
"""The largest size of a value."""
MAX_DEPTH = 100


class SafeXml:
    """Parses an XML file, calls ``start`` and ``end`` for its elements, and names the line in errors.

    Set ``expat.CharacterDataHandler`` to receive text. Named characters of a document type go to ``characters``. The
    error for an unknown one goes to ``unknown``, or is raised without it. ``depth`` is the number of open elements.

    >>> import io
    >>> texts = []
    >>> xml = SafeXml("a.xml", start=lambda tag, attributes: None, end=lambda tag: None, characters=texts.append)
    >>> xml.read(io.BytesIO(b'<!DOCTYPE a SYSTEM "a.dtd"><a>&uuml;</a>'))
    >>> texts
    ['ü']
    """

    def __init__(
        self,
        name: str,
        *,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        characters: Callable[[str], None] = lambda text: None,
        unknown: Callable[[str], None] | None = None,
        encoding: str | None = None,
        allow_doctype: bool = True,
    ) -> None:
        self.name, self._characters, self._unknown = name, characters, unknown
        self.depth = 0
        self._last_tag: int | None = None
        self._on_start, self._on_end = start, end
        reader = self.expat = expat.ParserCreate(encoding)
        reader.buffer_text = True
        reader.StartElementHandler = self._start
        reader.EndElementHandler = self._end
        reader.StartDoctypeDeclHandler = self._doctype if allow_doctype else self._refuse_doctype
        reader.EntityDeclHandler = self._refuse
        reader.ExternalEntityRefHandler = self._refuse
        reader.SkippedEntityHandler = self._resolve_reference

    @property
    def place(self) -> str:
        """The file and the line, for errors."""
        return f"{self.name} line {self.expat.CurrentLineNumber:,}"

    def error(self, sentence: str) -> SourceError:
        """Return an error that names the current line."""
        return SourceError(f"{self.place}: {sentence}")

    def read(
        self,
        file: IO[bytes],
        *,
        since: Callable[[], int] | None = None,
        too_long: str = "a value takes more than 16 MiB",
        check: Callable[[bytes], None] = lambda piece: None,
        report: Callable[[], None] = lambda: None,
    ) -> None:
        """Read a file to its end; call ``check`` with every piece before it is parsed, and ``report`` afterwards.

        ``since`` returns the byte at which the open value began, by default the last tag; ``too_long`` is the error
        for a value of more than ``MAX_VALUE_BYTES`` bytes.
        """
        fed = 0
        while piece := file.read(PIECE):
            check(piece)
            self.feed(piece)
            fed += len(piece)
            if fed - (since() if since is not None else self._last_tag or 0) > MAX_VALUE_BYTES:
                raise self.error(too_long)
            report()
        self.feed(b"")

    def feed(self, piece: bytes) -> None:
        """Parse a piece of a file; an empty piece is its end."""
        try:
            self.expat.Parse(piece, not piece)
        except Cube2netError:
            raise
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise SourceError(f"{self.name} line {error.lineno:,}: not whole XML ({what})") from None
        except (LookupError, ValueError) as error:
            if self._last_tag is not None:
                raise  # an error of a handler: the encoding is read before the first tag
            raise self.error(f"its encoding cannot be read ({first_line(error).partition(';')[0]})") from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._last_tag = self.expat.CurrentByteIndex
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"elements are nested more than {MAX_DEPTH} deep")
        self._on_start(tag, attributes)

    def _end(self, tag: str) -> None:
        self._last_tag = self.expat.CurrentByteIndex
        self.depth -= 1
        self._on_end(tag)

    def _refuse_doctype(self, *_: object) -> None:
        raise self.error(
            "a document type declaration is refused, as its entities could read other files or grow without end"
        )

    def _doctype(self, _name: str, _system: str | None, _public: str | None, inside: bool) -> None:
        if inside:
            self._refuse()

    def _refuse(self, *_: object) -> int:
        raise self.error(
            "declarations inside the document type are refused, as entities could read other files or grow without end"
        )

    def _resolve_reference(self, name: str, _is_parameter: bool) -> None:
        character = html5.get(f"{name};")
        if character is not None:
            self._characters(character)
            return
        sentence = f"'&{name[:40]};' names no known character"
        if self._unknown is None:
            raise self.error(sentence)
        self._unknown(sentence)


OLE_MAGIC = b"\xd0\xcf\x11\xe0"


@dataclass
class Workbook:
    """An open workbook: its archive, and the archive members of its sheets by name."""

    path: Path
    archive: zipfile.ZipFile
    gauge: Gauge
    sheets: dict[str, str] = field(default_factory=dict)
    from_1904: bool = False


@contextmanager
def open_workbook(path: Path, meter: Meter) -> Iterator[Workbook]:
    """Open a workbook with its visible sheets; errors of its file become SourceErrors."""
    gauge = meter.gauge(path)
    with open_raw(path, gauge) as raw:
        if raw.peek(4).startswith(OLE_MAGIC):
            raise SourceError(
                f"{path.name} is locked by a password or of the time before 2007: save it as .xlsx without one"
            )
        try:
            with open_zip(raw, gauge) as archive:
                book = Workbook(path, archive, gauge)
                _list_sheets(book)
                yield book
        except SourceError:
            raise
        except zipfile.BadZipFile:
            raise SourceError(f"{path.name} is no whole Excel workbook: save it as .xlsx or .csv") from None
        except BROKEN as error:
            raise damage_error(path.name, error) from None


def parse_part(
    book: Workbook,
    member: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda tag: None,
    text: Callable[[str], None] = lambda piece: None,
) -> None:
    """Parse a member of a workbook; tags come without namespace prefixes."""
    try:
        about = book.archive.getinfo(member)
    except KeyError:
        raise SourceError(f"{book.path.name} is not a whole workbook: {member!r} is missing") from None
    xml = SafeXml(
        f"{book.path.name}: {member!r}",
        start=lambda tag, attributes: start(tag.rpartition(":")[2], attributes),
        end=lambda tag: end(tag.rpartition(":")[2]),
        allow_doctype=False,
    )
    xml.expat.CharacterDataHandler = text
    with open_member(book.archive, about, book.gauge) as file:
        xml.read(file)


def _list_sheets(book: Workbook) -> None:
    targets: dict[str, str] = {}

    def relation(tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship" and "/worksheet" in attributes.get("Type", "") and attributes.get("Id"):
            target = attributes.get("Target", "")
            targets[attributes["Id"]] = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"

    def sheet(tag: str, attributes: dict[str, str]) -> None:
        if tag == "workbookPr":
            book.from_1904 = attributes.get("date1904", "0") in ("1", "true")
        if tag == "sheet" and attributes.get("state", "visible") == "visible":
            places = [targets[value] for key, value in attributes.items() if key.endswith(":id") and value in targets]
            if places:
                book.sheets[attributes.get("name", "")] = places[0]

    parse_part(book, "xl/_rels/workbook.xml.rels", relation)
    parse_part(book, "xl/workbook.xml", sheet)
    if not book.sheets:
        raise SourceError(f"{book.path.name} has no sheet to read, expected one with a header and rows")


def read_shared_texts(book: Workbook) -> list[str]:
    """Return the texts that cells refer to, without phonetic hints."""
    texts: list[str] = []
    if "xl/sharedStrings.xml" not in book.archive.namelist():
        return texts
    pieces: list[str] = []
    state = {"t": False, "rPh": False}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag in state:
            state[tag] = True

    def end(tag: str) -> None:
        if tag in state:
            state[tag] = False
        elif tag == "si":
            texts.append("".join(pieces))
            pieces.clear()

    def text(piece: str) -> None:
        if state["t"] and not state["rPh"]:
            pieces.append(piece)

    parse_part(book, "xl/sharedStrings.xml", start, end, text)
    return texts


def read_sheet(book: Workbook, sheet: str) -> list[list[str]]:
    """Return the rows of a sheet as texts, numbers included."""
    shared = read_shared_texts(book)
    rows: list[list[str]] = []
    pieces: list[str] = []
    field_kind, collects = "", False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal field_kind, collects
        if tag == "row":
            rows.append([])
        elif tag == "c":
            field_kind = attributes.get("t", "")
            pieces.clear()
        collects = tag in ("v", "t")

    def end(tag: str) -> None:
        nonlocal collects
        collects = False
        if tag == "c" and rows:
            text = "".join(pieces)
            place = int(text) if field_kind == "s" and text.isdecimal() and len(text) < 10 else -1
            rows[-1].append(shared[place] if 0 <= place < len(shared) else text)

    def text(piece: str) -> None:
        if collects:
            pieces.append(piece)

    parse_part(book, book.sheets[sheet], start, end, text)
    return rows
