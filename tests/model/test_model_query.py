"""Whatever a query is given, it is a query or one sentence."""

from __future__ import annotations

import math
from collections import UserString
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.apps.cli.app import render_message
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.errors import QueryError
from cube2net.model.cube import Cube
from cube2net.model.query import Query

from toys import toy_cube

WEIRD = st.one_of(
    st.text(st.characters(codec=None), max_size=6),  # lone surrogates too
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.none(),
    st.booleans(),
    st.binary(max_size=3),
    st.sampled_from(["o1", "Object 2", 3, np.int64(2), np.uint64(2**64 - 1), np.str_("o4"), 10**5000, "x" * 100_000]),
    st.lists(st.integers(), max_size=2),
    st.builds(np.zeros, st.just(2)),
)


def cube() -> Cube:
    return toy_cube([[0, 1]], objects=5)


@given(st.one_of(WEIRD, st.lists(WEIRD, max_size=4)), st.booleans())
def test_whatever_is_asked_is_a_query_or_one_sentence(asked: Any, skip: bool) -> None:
    try:
        query = cube().query(asked, skip_missing=skip)
    except QueryError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1_000_000
    else:
        assert all(0 <= row < 5 for row in query.objects.tolist())


@given(st.one_of(WEIRD, st.lists(WEIRD, min_size=2, max_size=2), st.dictionaries(st.just("o1"), WEIRD)))
def test_whatever_labels_are_given_they_are_texts_or_one_sentence(labels: Any) -> None:
    try:
        query = cube().query(["o1", "o2"], labels)
    except QueryError as error:
        assert "\n" not in str(error)
    else:
        assert query.labels is None or all("".join(query.labels).encode() or True for _ in query.labels)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ([2**63], r"query names 1 row that the cube does not have: 9223372036854775808 \(it has 5 objects\)"),
        ([-1, 2**200], r"query names 2 rows that the cube does not have: -1, 16069\d+ \(it has 5 objects\)"),
        ([10**5000], r"query names 1 row that the cube does not have: a number of 16,610 bits \(it has 5 objects\)"),
        (np.array([2**64 - 1], np.uint64), "query names 1 row that the cube does not have: 18446744073709551615"),
        (["\ud800"], r"query names 1 object that is not in the cube: '\\ud800'"),
        (["\ud800\ud801\ud802 Object"], "query names 1 object that is not in the cube"),
        ([True], "query has 1 object that is neither a text nor a whole number: True"),
        ([1.5, None], "query has 2 objects that are neither a text nor a whole number: 1.5, None"),
        (["o1", math.nan], "query lists 2 objects, and 1 of them is missing"),
        ([b"o1"], "query has 1 object that is neither a text nor a whole number: b'o1'"),
        ([["o1"]], r"query has 1 object that is neither a text nor a whole number: \['o1'\]"),
        (np.zeros((2, 2), int), r"query has 2 objects that are neither a text nor a whole number: array\(\[0, 0\]\)"),
        (b"o1", "a query is a list of objects, got b'o1'"),
        (5, "a query is a list of objects, got 5"),
        (None, "a query is a list of objects, got None"),
        (np.array(1), r"a query is a list of objects, got array\(1\)"),
        ([], "the query is empty: name at least one object"),
        (iter(()), "the query is empty: name at least one object"),
    ],
)
def test_what_is_no_query_says_why(asked: Any, text: str, opened: bool, tmp_path: Path) -> None:
    asking = cube()
    if opened:
        save(asking, tmp_path / "cube")
        asking = read(tmp_path / "cube")
    with pytest.raises(QueryError, match=f"^{text}"):
        asking.query(asked)


def test_a_query_takes_whatever_holds_texts_or_row_numbers() -> None:
    for asked in (
        (name for name in ("o1", "o3")),
        {"o1", "o3"},
        np.array(["o1", "o3"]),
        np.array([1, 3], np.uint8),
        [np.int32(1), 3],
        pa.array(["o1", "o3"]),
        pa.chunked_array([[1], [3]]),
        {"o1": None, "o3": math.nan},
        ["Object 1", " o3 "],
    ):
        assert cube().query(asked).objects.tolist() == [1, 3]  # type: ignore[arg-type]


def test_what_is_missing_is_passed_over_when_asked_to() -> None:
    query = cube().query(["o1", None, "\ud800", 7], skip_missing=True)  # type: ignore[list-item]
    assert query.objects.tolist() == [1]
    assert query.missing == ("\ud800", "7", "None")
    assert cube().query([1, 2**63], skip_missing=True).missing == ("9223372036854775808",)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ("a", "labels of a query are a list, got 'a'"),
        (5, "labels of a query are a list, got 5"),
        (["\ud800"], r"query gives 'o1' the label '\\ud800', which no file can hold"),
        (["a", "b"], "the query has 1 objects and 2 labels"),
    ],
)
def test_labels_that_cannot_be_used_say_why(labels: Any, text: str) -> None:
    with pytest.raises(QueryError, match=text):
        cube().query(["o1"], labels)


def test_labels_become_texts() -> None:
    assert cube().query(["o1", "o2", "o3"], (label for label in (1, None, UserString("x")))).labels == ("1", "", "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [[2**31], [2**63], [2**70], [1.5], ["a"], [[1]], [-1], [True], None])
def test_rows_of_a_query_are_whole_numbers_that_its_array_can_hold(rows: Any) -> None:
    with pytest.raises(QueryError):
        Query(rows)


def test_what_leaves_missing_objects_out_is_said_as_it_is_called_and_as_it_is_typed() -> None:
    with pytest.raises(QueryError) as caught:
        cube().query(["o1", "nobody", "no one", "none", "nil"])
    assert str(caught.value).endswith("(cube.query(…, skip_missing=True) leaves them out)")
    typed = render_message(caught.value.message)
    assert typed.endswith("(cube2net query --show-missing lists them all, --skip-missing leaves them out)")


@pytest.mark.parametrize(
    "text", ["o1; o2; o4", "o1\to2\to4", "o1,o2, o4", "Object 1|o2|o4", "o1\no2\no4\n", "o1; o2\no4"]
)
def test_a_text_lists_objects_divided_by_separators_or_lines(text: str) -> None:
    assert cube().query(text).objects.tolist() == cube().query(["o1", "o2", "o4"]).objects.tolist()


def test_a_list_in_a_text_is_split_though_a_name_in_it_is_unknown() -> None:
    assert cube().query("o1; o2; nobody", skip_missing=True).missing == ("nobody",)
    assert cube().query("o1; nobody; none", skip_missing=True).missing == ("nobody", "none")
    with pytest.raises(QueryError, match="'o1, nobody'"):
        cube().query("o1, nobody")
    assert cube().query("o3").objects.tolist() == cube().query(["o3"]).objects.tolist()
