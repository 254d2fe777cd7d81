"""The formats of AMiner's papers: JSON, an object a line or an array, and tagged text; all become records."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cube2net.sources.streams import LONGEST, lines
from cube2net.sources.tally import Tally, decoded

Lines = Iterable[tuple[int, str]]
Records = Iterator[tuple[int, dict[str, Any]]]

AROUND = "\ufeff \t\r\n[],"
SKIPPED = re.compile(r"[\ufeff \t\r\n\[\],]*")
NUMBER = re.compile(r'^(\s*"[^"\\]*"\s*:\s*)Number(?:Int|Long)\("?(-?[0-9]+)"?\)')
TAG = re.compile(r"#(index|conf|year|citation|arnetid|[*@!%oct])")
FIELDS = {
    **{"*": "title", "@": "authors", "!": "abstract", "index": "id"},
    **{"t": "year", "year": "year", "c": "venue", "conf": "venue"},
}
SUFFIXES = ("jr", "jr.", "sr", "sr.", "ii", "iii", "iv")


def read_records(name: str, file: io.BufferedReader, tally: Tally) -> Records:
    """Return the papers of a file, each with its line, whichever format the file has."""
    start = file.peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"#") or start[:1].isdigit():
        return text_records(name, decoded(name, enumerate(lines(file), start=1), tally), tally)
    return json_records(name, decoded(name, enumerate(lines(file), start=1), tally), tally)


def json_records(name: str, texts: Lines, tally: Tally) -> Records:
    """Return the objects of JSON lines, or of a JSON array, whether an object has one line or many.

    V10, V11 and V15 have an object a line; V12 and V14 an array, with commas before or after the objects;
    V13 an array of objects spread over lines, with numbers such as NumberInt(2011).

    >>> some = enumerate(['[', '{"id": 1}', ',{"id": 2}', '{', '  "year": NumberInt(2011)', '}', ']'], start=1)
    >>> from cube2net.sources.faults import Faults
    >>> list(json_records("few.json", some, Tally(Faults())))
    [(2, {'id': 1}), (3, {'id': 2}), (4, {'year': 2011})]
    """
    decode = json.JSONDecoder().raw_decode
    for number, text in _whole(texts):
        escaped = "\\" in text and ("\\ud" in text or "\\uD" in text)
        start = 0 if text.startswith("{") else _after(text, 0)
        while start < len(text):
            try:
                record, start = decode(text, start)
                if escaped:
                    json.dumps(record, ensure_ascii=False).encode()
                if type(record) is not dict:
                    raise ValueError("an object is expected")
            except (ValueError, RecursionError) as error:
                tally.drop("lines that are no JSON objects", f"{name} line {number:,}", _wrong(text, error))
                break
            yield number, record
            start = _after(text, start)


def _after(text: str, start: int) -> int:
    """Return where the next thing starts that does not only stand between objects."""
    match = SKIPPED.match(text, start)
    return match.end() if match else start


def _wrong(text: str, error: Exception) -> str:
    shown = text[:40].strip() + ("…" if len(text) > 40 else "")
    if isinstance(error, json.JSONDecodeError):
        return f"{shown!r} is not a JSON object ({error.msg} at character {error.pos + 1:,})"
    if isinstance(error, UnicodeEncodeError):
        return f"{shown!r} holds half a character, expected valid escapes"
    why = "nested too deep" if isinstance(error, RecursionError) else str(error)
    return f"{shown!r} is not a JSON object ({why})"


def _whole(texts: Lines) -> Lines:
    """Return lines, those of an object that is spread over several put together.

    Such an object opens with a brace alone on its line, and closes with one that stands as far to the right.
    """
    held: list[str] = []
    first = size = 0
    opening = closing = ""
    for number, text in texts:
        opens = len(text) < 80 and text.strip(AROUND) == "{"
        if held:
            if text.startswith(closing):
                yield first, "".join(held) + text
                held = []
                continue
            if size <= LONGEST and not (opens and text.startswith(opening)):
                held.append(NUMBER.sub(r"\1\2", text) if "Number" in text else text)
                size += len(text)
                continue
            yield first, "".join(held)
            held = []
        if opens:
            indent = text[: len(text) - len(text.lstrip(" \t"))]
            opening, closing, held, first, size = indent + "{", indent + "}", [text], number, len(text)
        else:
            yield number, text
    if held:
        yield first, "".join(held)


def text_records(name: str, texts: Lines, tally: Tally) -> Records:
    """Return the records of tagged text (V1 to V9): ``#*`` title, ``#@`` authors, ``#index`` id, and so on.

    A blank line ends a record, and so does a second title or id. The file may begin with the number of papers.

    >>> some = enumerate(["2", "#*Sorting.", "#@A. Hoare,B. Lee, Jr.", "#t1962", "#cBIT", "#index7", "#%3"], start=1)
    >>> from cube2net.sources.faults import Faults
    >>> next(text_records("few.txt", some, Tally(Faults())))
    (2, {'title': 'Sorting.', 'authors': ['A. Hoare', 'B. Lee, Jr.'], 'year': '1962', 'venue': 'BIT', 'id': '7'})
    """
    record: dict[str, Any] = {}
    first = 0
    for number, line in texts:
        text = line.strip("\ufeff \t\r\n")
        match = TAG.match(text)
        field = FIELDS.get(match[1], "") if match else ""
        if record and (not text or (field in ("title", "id") and field in record)):
            yield first, record
            record = {}
        if not text or (number == 1 and text.isdecimal()):
            continue
        if match is None:
            shown = text[:40] + ("…" if len(text) > 40 else "")
            tally.drop("lines without a known tag", f"{name} line {number:,}", f"{shown!r} begins with no known tag")
        elif field:
            first = first if record else number
            value = text[match.end() :].strip()
            record[field] = _names(value) if field == "authors" else value
    if record:
        yield first, record


def _names(text: str) -> list[str]:
    names: list[str] = []
    for part in text.split(";" if ";" in text else ","):
        name = part.strip()
        if names and name.casefold() in SUFFIXES:
            names[-1] += f", {name}"
        elif name:
            names.append(name)
    return names
