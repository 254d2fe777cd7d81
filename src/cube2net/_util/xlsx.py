"""Parts of an .xlsx workbook, read within limits.

A workbook is a zip: what comes out of it is metered, and its XML is read by :mod:`cube2net._util.xml`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cube2net._util.xml import SafeXml
from cube2net._util.zip_files import BROKEN, Gauge, Meter, damaged, open_member, open_raw, open_zip
from cube2net.errors import SourceError

OLD = b"\xd0\xcf\x11\xe0"


@dataclass
class Workbook:
    """A workbook that is open: its archive, and the parts of its sheets by their names."""

    path: Path
    archive: zipfile.ZipFile
    gauge: Gauge
    sheets: dict[str, str] = field(default_factory=dict)
    from_1904: bool = False


@contextmanager
def opened_workbook(path: Path, meter: Meter) -> Iterator[Workbook]:
    """Give a workbook with the sheets that are not hidden; what is wrong with its file becomes one sentence."""
    gauge = meter.gauge(path)
    with open_raw(path, gauge) as raw:
        if raw.peek(4).startswith(OLD):
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
            raise damaged(path.name, error) from None


def parse_part(
    book: Workbook,
    member: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda tag: None,
    text: Callable[[str], None] = lambda piece: None,
) -> None:
    """Go through one part of a workbook; tags come without the prefix of their namespace."""
    try:
        about = book.archive.getinfo(member)
    except KeyError:
        raise SourceError(f"{book.path.name} is not a whole workbook: {member!r} is missing") from None
    xml = SafeXml(
        f"{book.path.name}: {member!r}",
        start=lambda tag, given: start(tag.rpartition(":")[2], given),
        end=lambda tag: end(tag.rpartition(":")[2]),
        allow_doctype=False,
    )
    xml.expat.CharacterDataHandler = text
    with open_member(book.archive, about, book.gauge) as file:
        xml.read(file)


def _list_sheets(book: Workbook) -> None:
    targets: dict[str, str] = {}

    def relation(tag: str, given: dict[str, str]) -> None:
        if tag == "Relationship" and "/worksheet" in given.get("Type", "") and given.get("Id"):
            target = given.get("Target", "")
            targets[given["Id"]] = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"

    def sheet(tag: str, given: dict[str, str]) -> None:
        if tag == "workbookPr":
            book.from_1904 = given.get("date1904", "0") in ("1", "true")
        if tag == "sheet" and given.get("state", "visible") == "visible":
            places = [targets[value] for key, value in given.items() if key.endswith(":id") and value in targets]
            if places:
                book.sheets[given.get("name", "")] = places[0]

    parse_part(book, "xl/_rels/workbook.xml.rels", relation)
    parse_part(book, "xl/workbook.xml", sheet)
    if not book.sheets:
        raise SourceError(f"{book.path.name} has no sheet to read, expected one with a header and rows")


def shared_texts(book: Workbook) -> list[str]:
    """Return the texts that cells point to; how they are to be pronounced is passed over."""
    texts: list[str] = []
    if "xl/sharedStrings.xml" not in book.archive.namelist():
        return texts
    pieces: list[str] = []
    state = {"t": False, "rPh": False}

    def start(tag: str, given: dict[str, str]) -> None:
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


def sheet_texts(book: Workbook, sheet: str) -> list[list[str]]:
    """Return the rows of a sheet whose fields are texts; numbers are the texts that stand for them."""
    shared = shared_texts(book)
    found: list[list[str]] = []
    pieces: list[str] = []
    field_kind, collects = "", False

    def start(tag: str, given: dict[str, str]) -> None:
        nonlocal field_kind, collects
        if tag == "row":
            found.append([])
        elif tag == "c":
            field_kind = given.get("t", "")
            pieces.clear()
        collects = tag in ("v", "t")

    def end(tag: str) -> None:
        nonlocal collects
        collects = False
        if tag == "c" and found:
            text = "".join(pieces)
            place = int(text) if field_kind == "s" and text.isdecimal() and len(text) < 10 else -1
            found[-1].append(shared[place] if 0 <= place < len(shared) else text)

    def text(piece: str) -> None:
        if collects:
            pieces.append(piece)

    parse_part(book, book.sheets[sheet], start, end, text)
    return found
