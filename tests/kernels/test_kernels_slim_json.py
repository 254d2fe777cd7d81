"""Slim JSON lines: what is kept of them, against Python's json; what is doubtful is never taken for sure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.kernels.byte_blocks import copied, hex_code, line_ends, string_stop
from cube2net.kernels.slim_json import form_of, slimmed

REAL = Path(__file__).parent.parent / "sources" / "openalex_works.jsonl"
FORM: dict[str, Any] = {"id": "", "who": [{"name": "", "places": [{"id": ""}]}], "where": {"id": "", "in": {"id": ""}}}


def kept(value: Any, form: Any) -> Any:
    """Return what a form keeps of a value."""
    if isinstance(form, dict) and isinstance(value, dict):
        return {key: kept(inner, form[key]) for key, inner in value.items() if key in form}
    if isinstance(form, list) and isinstance(value, list):
        return [kept(inner, form[0]) for inner in value]
    return value


def slim(*lines: bytes, form: Any = FORM, aside: str = "index") -> list[tuple[bytes, bytes] | None]:
    """Return slim lines with what is laid aside, None for those that are not sure."""
    data = np.frombuffer(b"".join(lines), np.uint8)
    starts = np.cumsum([0, *map(len, lines)])
    text, ends, laid, laid_ends, sure = slimmed(data, starts, form_of(form, aside))
    return [
        (text[ends[i] : ends[i + 1]].tobytes(), laid[laid_ends[i] : laid_ends[i + 1]].tobytes()) if sure[i] else None
        for i in range(len(lines))
    ]


def check(line: bytes, found: tuple[bytes, bytes] | None) -> None:
    """Check a line that is sure: it is JSON, and slim it says what a plain reading keeps."""
    if found is None:
        return
    value = json.loads(line)
    assert json.loads(found[0]) == kept(value, FORM)
    assert (json.loads(found[1]) if found[1] else None) == value.get("index")
    assert duckdb.execute("SELECT json_valid(?)", [line.decode()]).fetchall() == [(True,)]


def test_a_line_keeps_the_keys_of_the_form_at_every_depth_and_lays_one_aside() -> None:
    who = b'[{"x":1,"name":"Ada","places":[{"id":"I1","b":{}}]},null]'
    line = b'{"a":[1,{"id":2}],"id":"W1","index":{"to":[0]},"who":' + who + b"}\n"
    assert slim(line) == [(b'{"id":"W1","who":[{"name":"Ada","places":[{"id":"I1"}]},null]}\n', b'{"to":[0]}')]
    assert slim(b'{"index":null, "where" : {"in":{"no":1}, "id":[1, 2]} }\r\n') == [
        (b'{"where" : {"in":{},"id":[1, 2]}}\n', b"")
    ]


def test_what_is_no_json_or_may_be_read_in_two_ways_is_not_sure() -> None:
    doubtful = [
        *(b'{"id":1', b'{"id":1}}', b'{"id":1]', b'{"id":1,}', b'{,"id":1}', b'{"a":[1,]}', b'{"a":[,1]}', b'{"a" 1}'),
        *(b"[]", b"7", b"", b"null", b'{"a":01}', b'{"a":1.}', b'{"a":-}', b'{"a":1e}', b'{"a":1e999}', b'{"a":+1}'),
        *(b'{"a":nul}', b'{"a":True}', b'{"a":NaN}', b'{"a":"\t"}', b'{"a":"\\x"}', b'{"a":"\\u12g4"}', b'{"a":"'),
        *(b'{"a":"\\ud800"}', b'{"a":"\\udc00"}', b'{"a":"\\ud800\\u0041"}', b'{"a":"\\', b'{"a":"\\"}', b"{a:1}"),
        *(b'{"i\\u0064":1}', b'{"index":{},"index":{}}', b'{"a":"\\u0000"}', b'{"a":' + b"[" * 80 + b"]" * 80 + b"}"),
        *(b'{"a":1}{"a":1}', b'{"a":{"b":1,}}', b'{"a":{"b"}}', b'{"a":[1 2]}', b'{"id":tru', b'{"who":[{"name":"A"}'),
    ]
    assert slim(*(line + b"\n" for line in doubtful)) == [None] * len(doubtful)
    assert slim(b'{"id":1}') == [None], "a line without its end"


def test_escapes_and_numbers_of_every_form_are_kept_as_they_are() -> None:
    numbers = b"[-0,1.5e-7,2E+5,123456789012345678901,true,false]"
    line = rb'{"id":"\"\\\/\n\t\r\u00e9\ud83d\ude00 \u0041","where":{"id":' + numbers + b"}}"
    assert slim(line + b"\n") == [(line + b"\n", b"")]


def test_real_works_are_sure_and_stay_what_they_are() -> None:
    lines = REAL.read_bytes().splitlines(keepends=True)
    form = {"id": "", "title": "", "authorships": [{"author": {"id": ""}, "institutions": [{"id": ""}]}]}
    for line, found in zip(lines, slim(*lines, form=form, aside="abstract_inverted_index"), strict=True):
        value = json.loads(line)
        assert found is not None and json.loads(found[0]) == kept(value, form)
        assert (json.loads(found[1]) if found[1] else None) == value.get("abstract_inverted_index")


TEXTS = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=32), max_size=40)
KEYS = st.sampled_from(["id", "who", "name", "places", "where", "in", "index", "", "other", "Straße"])
FLOATS = st.floats(-1e20, 1e20).map(lambda number: round(number, 9))
PLAIN = st.none() | st.booleans() | st.integers() | FLOATS | TEXTS
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5))
WORKS = st.dictionaries(KEYS, VALUES, max_size=6)


@given(st.lists(WORKS, min_size=1, max_size=4), st.booleans(), st.sampled_from([(",", ":"), (", ", ": ")]))
@settings(max_examples=200)
def test_all_that_json_writes_is_slimmed_as_a_plain_reading_would(
    works: list[dict[str, Any]], ascii_only: bool, signs: tuple[str, str]
) -> None:
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=signs).encode() + b"\n" for one in works]
    for line, found in zip(lines, slim(*lines), strict=True):
        assert found is not None or b"Stra\\u" in line, "only an escape in a key is doubtful"
        check(line, found)


@given(WORKS, st.data())
@settings(max_examples=400)
def test_a_damaged_line_is_sure_only_where_it_is_still_json(work: dict[str, Any], data: st.DataObject) -> None:
    line = bytearray(json.dumps(work, ensure_ascii=data.draw(st.booleans())).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        line[at : at + data.draw(st.integers(0, 2))] = bytes([data.draw(st.sampled_from(b'{}[],:"\\ 0-.e\t1utn\0'))])
    try:
        line.decode()
    except UnicodeDecodeError:
        return
    whole = bytes(line) + b"\n"
    found = slim(whole)[0]
    assert found is None or isinstance(json.loads(whole), dict)
    check(whole, found)


@given(st.binary(max_size=70), st.integers(0, 70))
def test_a_string_stops_at_the_first_quote_backslash_or_control(data: bytes, at: int) -> None:
    at = min(at, len(data))
    wanted = next((k for k in range(at, len(data)) if data[k] in b'"\\' or data[k] < 32), len(data))
    assert string_stop(np.frombuffer(data, np.uint8), at, len(data)) == wanted


@given(st.text("09afAF/:`g@G", max_size=9).map(str.encode), st.integers(0, 9), st.integers(0, 9))
def test_four_hexadecimal_digits_before_the_end_are_a_number_and_all_else_is_none(
    data: bytes, at: int, end: int
) -> None:
    end = min(end, len(data))
    digits = data[at : min(at + 4, end)].decode()
    wanted = int(digits, 16) if re.fullmatch("[0-9a-fA-F]{4}", digits) else -1
    assert hex_code(np.frombuffer(data, np.uint8), at, end) == wanted


@given(st.binary(max_size=70), st.integers(0, 70), st.integers(0, 70), st.integers(0, 20), st.integers(0, 40))
def test_a_copy_is_what_stands_between_two_places(data: bytes, begin: int, end: int, used: int, free: int) -> None:
    begin, end = sorted((min(begin, len(data)), min(end, len(data))))
    out = np.full(used + end - begin + free, 7, np.uint8)
    assert copied(np.frombuffer(data, np.uint8), begin, end, out, used) == used + end - begin
    assert out.tobytes()[: used + end - begin] == b"\x07" * used + data[begin:end]


@given(st.lists(st.sampled_from([b"\n", b"word", b"x" * 300]), max_size=30))
def test_a_line_ends_after_each_line_feed(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    wanted = [at + 1 for at in range(len(data)) if data[at] == 10]
    assert line_ends(np.frombuffer(data, np.uint8)).tolist() == wanted


@pytest.mark.parametrize("many", [0, 1, 300])
def test_as_much_as_there_is_is_laid_aside(many: int) -> None:
    line = json.dumps({"index": {"word" * 200: [1]}}).encode() + b"\n"
    assert slim(*[line] * many) == [(b"{}\n", line[10:-2])] * many
