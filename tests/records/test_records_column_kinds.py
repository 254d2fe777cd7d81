"""Lists, texts and values that are kept once each are known in every layout that Arrow has for them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cube2net.records.column_kinds import decoded, holds_text, is_list

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
    assert decoded(once).equals(values)
    assert decoded(values) is values
    parts = pa.chunked_array([once, once[1:]])
    assert decoded(parts).equals(pa.chunked_array([values, values[1:]]))
    assert decoded(pa.chunked_array([], once.type)).equals(pa.chunked_array([], values.type))
