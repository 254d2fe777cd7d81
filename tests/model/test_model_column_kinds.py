"""Lists, texts and values that are kept once each are known in every layout that Arrow has for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.model.corpus import decode, distinct_pairs, holds_text, is_list, texts_of_rows

TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
LISTS = [
    *(pa.list_(pa.int8()), pa.large_list(pa.string()), pa.list_(pa.int8(), 3)),
    *(pa.list_view(pa.string()), pa.large_list_view(pa.int8()), pa.list_(pa.list_(pa.int8()))),
]
OTHERS = [pa.int64(), pa.bool_(), pa.null(), pa.binary(), pa.struct([("a", pa.int8())]), pa.date32()]


@pytest.mark.parametrize("kind", [*TEXTS, *LISTS, *OTHERS], ids=str)
def test_a_type_is_of_lists_of_texts_or_of_neither(kind: pa.DataType) -> None:
    assert is_list(kind) == (kind in LISTS)
    assert holds_text(kind) == (kind in TEXTS)


@pytest.mark.parametrize(
    "values", [pa.array(["a", None, "b", "a"]), pa.array([1, 1, None], pa.int16()), pa.nulls(2)], ids=str
)
def test_values_that_are_kept_once_each_are_written_out(values: pa.Array) -> None:
    once = values.dictionary_encode()
    assert decode(once).equals(values)
    assert decode(values) is values
    parts = pa.chunked_array([once, once[1:]])
    assert decode(parts).equals(pa.chunked_array([values, values[1:]]))
    assert decode(pa.chunked_array([], once.type)).equals(pa.chunked_array([], values.type))


WORDS = st.none() | st.sampled_from(["a", " a", "b\t", "", " ", "é"])
KINDS = [*TEXTS, pa.dictionary(pa.int32(), pa.string())]


@given(st.lists(WORDS, max_size=8), st.sampled_from(KINDS))
def test_texts_of_rows_are_those_of_a_plain_reading(words: list[str | None], kind: pa.DataType) -> None:
    rows, texts = texts_of_rows(pa.array(words, pa.string()).cast(kind))
    found = [(row, word.strip()) for row, word in enumerate(words) if word and word.strip()]
    assert list(zip(rows.tolist(), texts.to_pylist(), strict=True)) == found


@given(st.lists(st.none() | st.lists(WORDS, max_size=4), max_size=6), st.sampled_from([pa.list_, pa.large_list]))
def test_texts_of_lists_come_one_by_one(lists: list[list[str | None] | None], of: Any) -> None:
    rows, texts = texts_of_rows(pa.array(lists, of(pa.string())))
    every = [(row, word) for row, words in enumerate(lists) for word in words or ()]
    found = [(row, word.strip()) for row, word in every if word and word.strip()]
    assert list(zip(rows.tolist(), texts.to_pylist(), strict=True)) == found


def test_numbers_and_truths_are_texts_too() -> None:
    for values, wanted in ((pa.array([7, None, 8]), ["7", "8"]), (pa.array([True, False]), ["true", "false"])):
        assert texts_of_rows(values)[1].to_pylist() == wanted


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=12))
def test_pairs_come_ascending_and_once(pairs: list[tuple[int, int]]) -> None:
    rows, codes = np.array(pairs, np.int64).reshape(-1, 2).T
    found = distinct_pairs(rows, codes, 4)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == sorted(set(pairs))
