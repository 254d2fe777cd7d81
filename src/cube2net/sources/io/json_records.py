"""JSON objects out of lines: one a line, or in an array, on one line each or spread over many."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cube2net.sources.io.dropped import Dropped
from cube2net.sources.io.text_lines import LONGEST

Lines = Iterable[tuple[int, str]]
Records = Iterator[tuple[int, dict[str, Any]]]

AROUND = "\ufeff \t\r\n[],"
SKIPPED = re.compile(r"[\ufeff \t\r\n\[\],]*")
NUMBER = re.compile(r'^(\s*"[^"\\]*"\s*:\s*)Number(?:Int|Long)\("?(-?[0-9]+)"?\)')


def json_records(name: str, texts: Lines, dropped: Dropped) -> Records:
    """Return the objects of JSON lines, or of a JSON array, whether an object has one line or many.

    Commas stand before or after the objects of an array, and numbers may be written as NumberInt(2011). Yelp's files
    and AMiner's V10, V11 and V15 have an object a line, V12 and V14 an array, V13 one of objects spread over lines.

    >>> some = enumerate(['[', '{"id": 1}', ',{"id": 2}', '{', '  "year": NumberInt(2011)', '}', ']'], start=1)
    >>> list(json_records("few.json", some, Dropped()))
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
                dropped.drop_one("lines that are no JSON objects", f"{name} line {number:,}", _wrong(text, error))
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
