"""Texts out of inverted indexes and numbers out of ids, each against a plain way to the same."""

from __future__ import annotations

import json
import re
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.text import (
    CUT,
    ODD,
    WHOLE,
    compute_checksums,
    find_heaviest,
    find_latest,
    hash_texts,
    mark_first,
    parse_ids,
    read_indexes,
)

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\b\f"), max_size=6)
INDEXES = st.dictionaries(WORDS, st.lists(st.integers(0, 300), max_size=4), max_size=8)


def texts(*indexes: bytes) -> tuple[list[str], list[int]]:
    starts = np.cumsum([0, *map(len, indexes)]).astype(np.int64)
    ends, data, states = read_indexes(starts, np.frombuffer(b"".join(indexes), np.uint8))
    return [bytes(data[a:b]).decode() for a, b in pairwise(ends)], states.tolist()


def plain(index: dict[str, list[int]]) -> str:
    placed = [(at, word) for word, where in index.items() for at in where]
    return " ".join(word for _, word in sorted(placed, key=lambda pair: pair[0]))


@given(st.lists(INDEXES, max_size=4), st.booleans(), st.sampled_from([None, 1]), st.booleans())
def test_an_index_gives_the_text_that_sorting_its_words_gives(
    indexes: list[dict[str, list[int]]], ascii_only: bool, indent: int | None, wrapped: bool
) -> None:
    whole = [{"IndexLength": 7, "InvertedIndex": index} if wrapped else index for index in indexes]
    written = [json.dumps(one, ensure_ascii=ascii_only, indent=indent).encode() for one in whole]
    found, states = texts(*written)
    assert found == [plain(index) for index in indexes]
    assert states == [WHOLE] * len(indexes)


@given(INDEXES.filter(len), st.data())
def test_an_index_that_is_cut_gives_the_words_that_are_whole(index: dict[str, list[int]], data: st.DataObject) -> None:
    pairs = [f"{json.dumps(word)}: {json.dumps(where)}" for word, where in index.items()]
    written = "{" + ", ".join(pairs) + "}"
    size = data.draw(st.integers(1, len(written) - 1))
    found, states = texts(written[:size].encode())
    assert states == [CUT]
    ends = [1 + len(", ".join(pairs[: at + 1])) for at in range(len(pairs))]
    kept = {word: index[word] for word, end in zip(index, ends, strict=True) if end <= size}
    assert found == [plain(kept)]


@given(st.lists(st.binary(max_size=30), max_size=3))
def test_whatever_the_bytes_are_a_state_is_said(pieces: list[bytes]) -> None:
    starts = np.cumsum([0, *map(len, pieces)]).astype(np.int64)
    ends, data, states = read_indexes(starts, np.frombuffer(b"".join(pieces), np.uint8))
    assert set(states.tolist()) <= {WHOLE, CUT, ODD}
    assert ends[0] == 0 and ends[-1] == len(data) and (np.diff(ends) >= 0).all()


def test_what_is_no_index_is_said_to_be_none() -> None:
    odd = [b"7", b'"text"', b"[1]", b'{"a": 1}', b'{"a": [x]}', b'{"a": [-1]}', b'{"a" [1]}', b'{"\\ud800": [1]}']
    assert texts(*odd) == ([""] * len(odd), [ODD] * len(odd))


ID = re.compile(r"(?:.*/)?[Aa](\d{1,18})", re.DOTALL)


@given(st.lists(st.from_regex(r"(https://x/)?[AaBW]?[0-9]{0,20}", fullmatch=True) | st.text(max_size=5), max_size=6))
def test_numbers_of_ids_are_what_a_pattern_finds(ids: list[str]) -> None:
    encoded = [text.encode() for text in ids]
    starts = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    found = parse_ids(starts, np.frombuffer(b"".join(encoded), np.uint8), ord("A"))
    assert found.tolist() == [int(match[1]) if (match := ID.fullmatch(text)) else -1 for text in ids]


ROWS = st.lists(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 2), st.integers(0, 3)), max_size=50), max_size=4)


@given(ROWS)
def test_first_heaviest_and_latest_are_as_a_plain_search_finds_them(rows: list[list[tuple[int, int, int]]]) -> None:
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    flat = [entry for row in rows for entry in row]
    values, levels, weights = (np.array([entry[at] for entry in flat], np.int64) for at in range(3))
    met = [
        entry[0] >= 0 and all(other[0] != entry[0] for other in row[:at])
        for row in rows
        for at, entry in enumerate(row)
    ]
    assert mark_first(starts, values).tolist() == met
    for level in range(3):
        best = []
        for row, start in zip(rows, starts.tolist(), strict=False):
            some = [at for at, entry in enumerate(row) if entry[1] == level]
            best.append(start + max(some, key=lambda at: row[at][2]) if some else -1)
        assert find_heaviest(starts, levels, weights.astype(float), level).tolist() == best
    found = [-1] * 3
    for at, (value, code, day) in enumerate(flat):
        if value >= 0 and (found[code] < 0 or day >= flat[found[code]][2]):
            found[code] = at
    assert find_latest(levels.astype(np.int32), weights, values >= 0, 3).tolist() == found


MASK = 2**64 - 1


def hash_twin(text: str) -> int:
    number = 14695981039346656037
    for byte in text.encode():
        number = (number ^ byte) * 1099511628211 & MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor & MASK
    return number ^ number >> 33


@given(st.lists(st.text(max_size=12), max_size=6))
def test_a_text_has_the_number_that_its_bytes_make(texts: list[str]) -> None:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    numbers = hash_texts(offsets, np.frombuffer(b"".join(parts), np.uint8))
    assert numbers.tolist() == [hash_twin(text) for text in texts]


@pytest.mark.parametrize(("text", "number"), [("", 0xEFD01F60BA992926), ("a", 0x82A2A958A9BECE5B)])
def test_the_number_of_a_text_never_changes_for_cubes_on_disk_have_it(text: str, number: int) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    assert hex(int(hash_texts(np.array([0, len(data)]), data)[0])) == hex(number)


@given(st.lists(st.text(max_size=12), max_size=6))
def test_the_checksum_of_a_text_is_that_of_zlib(texts: list[str]) -> None:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    numbers = compute_checksums(offsets, np.frombuffer(b"".join(parts), np.uint8))
    assert numbers.tolist() == [zlib.crc32(part) for part in parts]
