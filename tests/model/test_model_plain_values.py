"""What a recipe and a lineage say is what JSON can hold."""

from __future__ import annotations

import json
from types import MappingProxyType

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cube2net.model.recipe import plain_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def test_mappings_sequences_and_arrays_of_arrow_are_plain_at_every_depth() -> None:
    given = MappingProxyType({"a": (1, [MappingProxyType({"b": pa.array(["x", None])})]), "c": range(2)})
    assert plain_value(given) == {"a": [1, [{"b": ["x", None]}]], "c": [0, 1]}


def test_what_is_neither_is_left_to_the_caller() -> None:
    assert plain_value({"a": [1j, "x"]}, leaf=lambda value: f"<{value}>") == {"a": ["<1j>", "<x>"]}
    assert plain_value(1j) == 1j


@given(JSON)
def test_what_json_holds_stays_as_it_is(value: object) -> None:
    assert plain_value(value) == value == json.loads(json.dumps(plain_value(value)))
