"""Read lines and JSON objects from text files, with their places.

Data sets are read once, line by line (``read_lines``, ``number_lines``, ``decode_lines``): lines that are too long or
not UTF-8 are skipped. Tables are read as often as needed, plain or packed, and are checked as a whole before
(``check_text``). JSON objects stand one a line, or in an array, on one line each or spread over many.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from cube2net._util.zip_files import PACKED, Meter, open_raw, unpack_as
from cube2net.errors import Message, Setting, SourceError
from cube2net.io.dropped import Dropped, Places

BLOCK_BYTES = 8 * 2**20
"""The number of bytes of a table checked or parsed at a time."""
Lines = Iterable[tuple[int, str]]
Records = Iterator[tuple[int, dict[str, Any]]]

JSON_MARGIN = "\ufeff \t\r\n[],"
JSON_SEPARATORS = re.compile(r"[\ufeff \t\r\n\[\],]*")
MONGO_NUMBER = re.compile(r'^(\s*"[^"\\]*"\s*:\s*)Number(?:Int|Long)\("?(-?[0-9]+)"?\)')
MAX_LINE_BYTES = 16 * 2**20
PIECE_BYTES = 2**16
"""The number of bytes recoded to UTF-8 at a time."""
BLANK_CHARACTERS = "\ufeff \t\r\n"
BLANK_BYTES = BLANK_CHARACTERS.encode()

UTF_8, UTF_16, WINDOWS_1252 = "utf-8", "utf-16", "windows-1252"
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAMPLED_BYTES, MIN_ZERO_SHARE = 1_000, 0.7
"""UTF-16 without a mark is recognised by its first bytes: the least share of zeros among every second one."""
CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1f]")
RUNS_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
MAX_GUESSED_BYTES, MAX_ODD_SHARE = 2**20, 0.1
SCRIPTS = (
    ("shift_jis", "[ぁ-ヺ]", 0.3, 1, 1),
    ("windows-1251", "[а-яё]", 0.6, 3, 1),
    ("euc_kr", "[가-힣]", 0.9, 3, 2),
    ("gb18030", "[一-龥]", 0.6, 3, 2),
)
"""Encodings of other scripts: their letters, the least share of these in the characters beyond ASCII, the least mean
length of the runs of bytes beyond ASCII, and what the length of most runs is a multiple of."""

Line = tuple[int, bytes | None]


def read_lines(file: io.BufferedReader) -> Iterator[bytes | None]:
    """Return the lines of a file as bytes; one of more than 16 MiB is passed over, and None stands for it.

    >>> list(read_lines(io.BufferedReader(io.BytesIO(b"one\\ntwo"))))
    [b'one\\n', b'two']
    """
    while line := file.readline(MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
        yield None


def number_lines(file: io.BufferedReader) -> Iterator[Line]:
    """Return the lines of a file that are not blank, with their numbers; None stands for one that is too long.

    >>> list(number_lines(io.BufferedReader(io.BytesIO(b"\\xef\\xbb\\xbfone\\r\\n\\n two"))))
    [(1, b'one'), (3, b'two')]
    """
    for number, line in enumerate(read_lines(file), start=1):
        if line is None:
            yield number, None
        elif text := line.strip(BLANK_BYTES if number == 1 else None):
            yield number, text


def decode_lines(name: str, numbered_lines: Iterable[Line], dropped: Dropped) -> Iterator[tuple[int, str]]:
    """Return numbered lines as text; lines that are too long (None) or not UTF-8 are dropped and counted."""
    for number, line in numbered_lines:
        if line is None:
            dropped.drop_one("lines longer than 16 MiB", f"{name} line {number:,}", "the line is longer than 16 MiB")
            continue
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            problem = f"byte 0x{line[error.start]:02x} is not UTF-8, expected text in UTF-8"
            dropped.drop_one("lines that are not UTF-8", f"{name} line {number:,}", problem)


def guess_encoding(data: bytes) -> str:
    """Return the likely encoding of text that is not UTF-8.

    It is that in which most bytes beyond ASCII are letters of another script, else Windows-1252. In languages with the
    Latin alphabet letters beyond ASCII stand alone or in pairs; in other scripts they make up words.

    >>> [guess_encoding(text.encode(name)) for text, name in (("Käse", "cp1252"), ("Большая семья", "cp1251"))]
    ['windows-1252', 'windows-1251']
    """
    data = data[:MAX_GUESSED_BYTES]
    runs = RUNS_BEYOND_ASCII.findall(data)
    for encoding, letters, min_share, min_length, multiple in SCRIPTS:
        n_odd = sum(len(run) % multiple > 0 for run in runs)
        if sum(map(len, runs)) < min_length * len(runs) or n_odd > MAX_ODD_SHARE * len(runs):
            continue
        text = codecs.getincrementaldecoder(encoding)("replace").decode(data)
        beyond_ascii = "".join(character for character in text if not character.isascii())
        if len(re.findall(letters, beyond_ascii)) > min_share * len(beyond_ascii):
            return encoding
    return WINDOWS_1252


def read_whole(file: IO[bytes], max_bytes: int) -> bytes | None:
    """Return all bytes of a file, or None if there are more than ``max_bytes``.

    >>> read_whole(io.BytesIO(b"abc"), 3), read_whole(io.BytesIO(b"abcd"), 3)
    (b'abc', None)
    """
    content = file.read(max_bytes + 1)
    return content if len(content) <= max_bytes else None


FORMATS = {
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv"},
    **{".jsonl": "json", ".ndjson": "json", ".json": "json"},
    **{".parquet": "parquet", ".pq": "parquet"},
    **{".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xls", ".xlsb": "xls", ".ods": "xls"},
    **{".txt": "txt", ".dat": "txt", ".edges": "txt", ".edgelist": "txt"},
}
"""The format of a table by the end of its file's name; ``xls`` are all workbooks but .xlsx."""
NEVER_PACKED = ("parquet", "xlsx", "xls")


def is_packed(path: Path) -> bool:
    """Return whether a file is packed (gz, xz, bz2), by its name."""
    return path.suffix.lower() in PACKED


def detect_format(path: Path) -> str | None:
    """Return the format of a table by the end of its name, None where that says none; only texts may be packed.

    >>> [detect_format(Path(name)) for name in ("items.csv.xz", "links.TAB", "links.pq.gz")]
    ['csv', 'tsv', None]
    """
    packed_by_name = is_packed(path)
    format_name = FORMATS.get(Path(path.stem if packed_by_name else path.name).suffix.lower())
    return None if packed_by_name and format_name in NEVER_PACKED else format_name


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by the end of its name."""
    return detect_format(path) in ("xlsx", "xls")


def strip_endings(path: Path) -> str:
    """Return the name of a table's file without what says its format.

    >>> strip_endings(Path("data/items.csv.gz")), strip_endings(Path("links.v2.tsv"))
    ('items', 'links.v2')
    """
    return Path(path.stem).stem if is_packed(path) else path.stem


def open_bytes(path: Path, meter: Meter, encoding: str = UTF_8) -> io.BufferedReader:
    """Return the bytes of a file, unpacked as far as a meter allows; text of another encoding comes as UTF-8."""
    gauge = meter.gauge(path)
    raw = open_raw(path, gauge)
    file = unpack_as(path.suffix.lower(), raw, gauge) if is_packed(path) else raw
    return file if encoding == UTF_8 else io.BufferedReader(_Recoded(file, encoding), BLOCK_BYTES)


def open_arrow_stream(path: Path, meter: Meter, encoding: str = UTF_8) -> pa.NativeFile:
    """Return the bytes of a file for Arrow's readers, unpacked as far as a meter allows."""
    if is_packed(path) or encoding != UTF_8:
        return pa.PythonFile(open_bytes(path, meter, encoding), mode="r")
    return pa.OSFile(str(path))


def read_physical_lines(path: Path, meter: Meter, encoding: str = UTF_8) -> Iterator[str]:
    """Return the lines of a file, one character a byte of UTF-8, whatever ends them."""
    with open_bytes(path, meter, encoding) as file, io.TextIOWrapper(file, encoding="latin-1", newline="") as text:
        yield from text


class _Recoded(io.RawIOBase):
    """Text of any encoding as bytes of UTF-8."""

    def __init__(self, inner: io.BufferedReader, encoding: str) -> None:
        self.inner, self.decoder = inner, codecs.getincrementaldecoder(encoding)()
        self.rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        while not self.rest:
            piece = self.inner.read(PIECE_BYTES)
            self.rest = self.decoder.decode(piece, final=not piece).encode()
            if not piece:
                break
        size = min(len(view), len(self.rest))
        view[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self.inner.close()
        super().close()


def check_text(path: Path, meter: Meter, encoding: str | None = UTF_8) -> str:
    """Return the encoding of a file that can be unpacked, holds something, is text, and has no line beyond 16 MiB.

    Without an encoding it is found: UTF-16 where the first bytes mark it, else UTF-8. What cannot be that, and has no
    sign beyond ASCII before, has the encoding of :func:`guess_encoding`; half a sign at the very end is UTF-8 that was
    cut short.
    """
    assumed_encoding = encoding or UTF_8
    decoder = codecs.getincrementaldecoder("utf-8")()
    bytes_before, line_length, is_blank, is_ascii = 0, 0, True, True
    try:
        with open_bytes(path, meter, assumed_encoding) as file:
            while block := file.read(BLOCK_BYTES):
                if encoding is None and bytes_before == 0 and block.startswith(UTF_16_MARKS):
                    return check_text(path, meter, UTF_16)
                if (
                    encoding is None
                    and bytes_before == 0
                    and (unmarked_encoding := _find_utf_16(block[:SAMPLED_BYTES]))
                ):
                    return check_text(path, meter, unmarked_encoding)
                text = decoder.decode(block)
                is_ascii = is_ascii and text.isascii()
                line_ends = [
                    position
                    for mark in (b"\n", b"\r")
                    for position in (block.find(mark), block.rfind(mark))
                    if position >= 0
                ]
                if line_length + min(line_ends, default=len(block)) > MAX_LINE_BYTES:
                    raise long_line_error(path, _count_line(path, bytes_before, meter, assumed_encoding))
                line_length = len(block) - 1 - max(line_ends) if line_ends else line_length + len(block)
                bytes_before += len(block)
                is_blank = is_blank and not text.strip(BLANK_CHARACTERS)
        is_ascii = False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        if (
            encoding is None
            and is_ascii
            and error.object[: error.start].isascii()
            and not CONTROL_BYTES.search(error.object)
        ):
            return check_text(path, meter, guess_encoding(error.object))
        invalid_byte = f"byte 0x{error.object[error.start]:02x}"
        if assumed_encoding != UTF_8:
            raise SourceError(
                f"{path.name} is not text in {assumed_encoding} ({invalid_byte} means nothing there): save it in UTF-8"
            ) from None
        position = bytes_before - len(decoder.getstate()[0]) + error.start
        other_hints = () if encoding == UTF_8 else (", or say which it has: ", Setting("encoding", WINDOWS_1252))
        raise SourceError(
            f"{path.name} line {_count_line(path, position, meter):,}: {invalid_byte} is not UTF-8, "
            "expected text in UTF-8",
            parameter="encoding",
            value=encoding,
            hint=Message("save the file in that encoding", *other_hints),
        ) from None
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror or error}") from None
    if is_blank:
        raise SourceError(f"{path.name} is empty, expected a header and rows")
    return assumed_encoding


def _find_utf_16(start: bytes) -> str | None:
    """Return which UTF-16 bytes without a mark are, None where they are something else: every second one is 0.

    >>> _find_utf_16("id;name".encode("utf-16-be")), _find_utf_16(b"id;name")
    ('utf-16-be', None)
    """
    for encoding, zeros, letters in (("utf-16-le", start[1::2], start[::2]), ("utf-16-be", start[::2], start[1::2])):
        if zeros.count(0) > MIN_ZERO_SHARE * len(start) / 2 and not letters.count(0):
            return encoding
    return None


def long_line_error(path: Path, line: int) -> SourceError:
    """Return the error for a line of a table that is longer than one may be."""
    return SourceError(f"{path.name} line {line:,} is longer than {MAX_LINE_BYTES:,} bytes, expected a row a line")


def _count_line(path: Path, position: int, meter: Meter, encoding: str = UTF_8) -> int:
    lines, remaining, last_byte = 1, position, b""
    with open_bytes(path, meter, encoding) as file:
        while remaining > 0 and (block := file.read(min(remaining, BLOCK_BYTES))):
            lines += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
            lines -= last_byte == b"\r" and block.startswith(b"\n")
            remaining, last_byte = remaining - len(block), block[-1:]
    return lines


def make_line_places(path: Path, records: Callable[[], Iterable[int]]) -> Places:
    """Return a function that turns rows into places, given the line on which every valid record starts.

    The file is read only when the function is called.
    """

    def find_places(rows: Sequence[int]) -> list[str]:
        wanted_rows = set(rows)
        line_by_row: dict[int, int] = {}
        for row, line in enumerate(records()):
            if row in wanted_rows:
                line_by_row[row] = line
                if len(line_by_row) == len(wanted_rows):
                    break
        return [
            f"{path.name} line {line_by_row[row]:,}" if row in line_by_row else f"{path.name} row {row + 1:,}"
            for row in rows
        ]

    return find_places


def parse_json_records(name: str, texts: Lines, dropped: Dropped) -> Records:
    """Return the objects of JSON lines, or of a JSON array, whether an object has one line or many.

    Commas stand before or after the objects of an array, and numbers may be written as NumberInt(2011). Yelp's files
    and AMiner's V10, V11 and V15 have an object a line, V12 and V14 an array, V13 one of objects spread over lines.

    >>> some = enumerate(['[', '{"id": 1}', ',{"id": 2}', '{', '  "year": NumberInt(2011)', '}', ']'], start=1)
    >>> list(parse_json_records("few.json", some, Dropped()))
    [(2, {'id': 1}), (3, {'id': 2}), (4, {'year': 2011})]
    """
    decode = json.JSONDecoder().raw_decode
    for number, text in _join_lines(texts):
        escaped = "\\" in text and ("\\ud" in text or "\\uD" in text)
        start = 0 if text.startswith("{") else _skip_separators(text, 0)
        while start < len(text):
            try:
                record, start = decode(text, start)
                if escaped:
                    json.dumps(record, ensure_ascii=False).encode()
                if type(record) is not dict:
                    raise ValueError("an object is expected")
            except (ValueError, RecursionError) as error:
                dropped.drop_one(
                    "lines that are no JSON objects", f"{name} line {number:,}", _explain_error(text, error)
                )
                break
            yield number, record
            start = _skip_separators(text, start)


def _skip_separators(text: str, start: int) -> int:
    """Return the position after the separators between objects."""
    match = JSON_SEPARATORS.match(text, start)
    return match.end() if match else start


def _explain_error(text: str, error: Exception) -> str:
    excerpt = text[:40].strip() + ("…" if len(text) > 40 else "")
    if isinstance(error, json.JSONDecodeError):
        return f"{excerpt!r} is not a JSON object ({error.msg} at character {error.pos + 1:,})"
    if isinstance(error, UnicodeEncodeError):
        return f"{excerpt!r} holds half a character, expected valid escapes"
    reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
    return f"{excerpt!r} is not a JSON object ({reason})"


def _join_lines(texts: Lines) -> Lines:
    """Return the lines, with those of an object that is spread over several lines joined.

    Such an object opens with a brace alone on its line, and closes with one that stands as far to the right.
    """
    object_lines: list[str] = []
    first_number = size = 0
    opening = closing = ""
    for number, text in texts:
        opens_object = len(text) < 80 and text.strip(JSON_MARGIN) == "{"
        if object_lines:
            if text.startswith(closing):
                yield first_number, "".join(object_lines) + text
                object_lines = []
                continue
            if size <= MAX_LINE_BYTES and not (opens_object and text.startswith(opening)):
                object_lines.append(MONGO_NUMBER.sub(r"\1\2", text) if "Number" in text else text)
                size += len(text)
                continue
            yield first_number, "".join(object_lines)
            object_lines = []
        if opens_object:
            indent = text[: len(text) - len(text.lstrip(" \t"))]
            opening, closing, object_lines, first_number, size = indent + "{", indent + "}", [text], number, len(text)
        else:
            yield number, text
    if object_lines:
        yield first_number, "".join(object_lines)
