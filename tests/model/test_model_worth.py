"""Values: weighted counts, functions of one's own, and what a selection says of its value."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import InputError
from cube2net.model.selection import CallableObjective, Selection, Weights

ZEROS = ", ".join(["0."] * 9)
ONE = np.array([1.0, 0.0])


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"gain": np.array([np.nan, 1.0])}, "gain is not finite for 1 objects"),
        ({"cost": np.array([np.inf, -np.inf])}, "cost is not finite for 2 objects"),
        ({"cost": np.array([-1.0, 2.0])}, "cost is negative for 1 objects, expected 0 or more"),
        ({"gain": np.ones(3)}, "gains have shape (3,) and costs (2,), expected one per object"),
        (
            {"gain": np.ones((2, 1)), "cost": np.ones((2, 1))},
            "gains have shape (2, 1) and costs (2, 1), expected one per object",
        ),
        ({"gain": "many"}, "gain is 'many', expected a number per object"),
        ({"cost": None}, "gains have shape (2,) and costs (), expected one per object"),
        ({"gain": [[1.0], [1.0, 2.0]]}, "gain is [[1.0], [1.0, 2.0]], expected a number per object"),
        ({"gain0": float("nan")}, "gain0 is nan, expected a finite number"),
        ({"gain0": "1"}, "gain0 is '1', expected a finite number"),
        ({"cost0": -2}, "cost0 is -2.0, expected a finite number of 0 or more"),
        ({"cost0": float("inf")}, "cost0 is inf, expected a finite number of 0 or more"),
    ],
)
def test_weights_that_are_no_ratio_of_sums_are_refused(parts: dict, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Weights(**({"gain": ONE, "cost": ONE} | parts))
    assert str(caught.value) == sentence


def test_weights_are_kept_as_numbers_that_cannot_be_written_to() -> None:
    weights = Weights(gain=[1, 2], cost=[0, 1], gain0=np.int64(1), cost0=True)  # type: ignore[arg-type]
    assert (weights.count, weights.value(np.array([0, 1])), weights.cost0) == (2, 2.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        weights.gain[0] = 5


@given(
    st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 8)), min_size=1, max_size=12),
    st.tuples(st.integers(-4, 4), st.integers(0, 4)),
    st.data(),
)
def test_weights_of_some_rows_are_those_of_every_object(
    terms: list[tuple[int, int]], others: tuple[int, int], data: st.DataObject
) -> None:
    count = len(terms)
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, count - 1)))), dtype=np.int64)
    whole = np.tile(np.array(others, dtype=float), (count, 1))
    whole[rows] = np.array(terms, dtype=float)[rows]
    dense = Weights(whole[:, 0], whole[:, 1], 0.5, 1.0)
    few = Weights(whole[rows, 0], whole[rows, 1], 0.5, 1.0, rows=rows, count=count, others=others)
    assert few.count == dense.count == count
    assert few.paying.tolist() == dense.paying.tolist() == np.flatnonzero(whole[:, 0] > 0).tolist()
    some = data.draw(st.lists(st.integers(0, count - 1), unique=True))
    for objects in (np.array(some, dtype=np.int64), np.array(sorted(some), dtype=np.int64), np.arange(count)):
        assert np.array_equal(np.column_stack(few.at(objects)), whole[objects])
        assert few.value(objects) == dense.value(objects)
    assert np.array_equal(few.gain, whole[:, 0]) and np.array_equal(few.cost, whole[:, 1])
    with pytest.raises(ValueError, match="read-only"):
        few.gain[0] = 5


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"rows": [0, 1]}, "weights for some rows need the count of all objects, and the count needs rows"),
        ({"rows": [1, 0], "count": 3}, "weights are for 2 objects, expected as many rows, ascending"),
        ({"rows": [0], "count": 3}, "weights are for 2 objects, expected as many rows, ascending"),
        ({"rows": [0, 3], "count": 3}, "weights name rows from 0 to 3 of 3 objects"),
        ({"rows": [0, 1], "count": 3, "others": (0.0, -1)}, "cost is -1.0, expected a finite number of 0 or more"),
    ],
)
def test_weights_of_rows_that_are_not_there_are_refused(parts: dict, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Weights(ONE, ONE, **parts)
    assert str(caught.value) == sentence


def judge(answer: object) -> CallableObjective:
    def mine(objects: Array) -> float:
        return answer  # type: ignore[return-value]

    return CallableObjective(mine, count=9)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (float("nan"), "gave nan for 2 objects, expected a finite number"),
        (np.float32("inf"), "gave inf for 2 objects, expected a finite number"),
        (Decimal("-Infinity"), "gave -inf for 2 objects, expected a finite number"),
        (None, "gave None for 2 objects, expected a number"),
        ("0.5", "gave '0.5' for 2 objects, expected a number"),
        (np.array([0.5]), "gave array([0.5]) for 2 objects, expected a number"),
        ([0.5], "gave [0.5] for 2 objects, expected a number"),
        (0.5j, "gave 0.5j for 2 objects, expected a number"),
        (np.complex64(1), "gave np.complex64(1+0j) for 2 objects, expected a number"),
        (
            np.zeros((9, 9)),
            f"gave array([[{ZEROS}], [{ZEROS}], [0., 0., 0., 0., … for 2 objects, expected a number",
        ),
    ],
)
def test_an_answer_that_is_no_finite_number_is_refused_by_the_functions_name(answer: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(answer).value(np.array([1, 2]))
    assert str(caught.value) == f"the objective 'mine' {sentence}"


@pytest.mark.parametrize("answer", [0.5, np.float32(0.5), np.array(0.5), Decimal("0.5")])
def test_any_single_number_is_an_answer(answer: object) -> None:
    value = judge(answer).value(np.array([1]))
    assert (value, type(value)) == (0.5, float)


def test_a_function_cannot_write_to_the_objects_it_is_asked_about() -> None:
    def greedy_fingers(objects: Array) -> float:
        objects[0] = 0
        return 1.0

    objects = np.array([4, 5])
    with pytest.raises(ValueError, match="read-only"):
        CallableObjective(greedy_fingers, count=9).value(objects)
    assert objects.tolist() == [4, 5]


def test_a_judge_is_called_by_its_title_or_its_function() -> None:
    class Scale:
        def __call__(self, objects: Array) -> float:
            return 0.0

    names: list[tuple[Callable[[Array], float], str, str]] = [(len, "", "len"), (len, "size", "size")]
    for function, title, name in [*names, (Scale(), "", "Scale")]:
        assert CallableObjective(function, 3, title).name == f"the objective {name!r}"


def test_the_gap_is_the_share_of_the_bound_that_may_be_missing() -> None:
    objects = np.array([0])
    assert Selection(objects, 0.9, bound=1.0).gap == pytest.approx(0.1)
    assert Selection(objects, 0.9).gap is None
    assert Selection(objects, 1.0, bound=0.9).gap == 0.0
    assert Selection(objects, -0.5, bound=0.0).gap == 1.0
    assert Selection(objects, -0.5, bound=-0.25).gap == 1.0


def test_a_value_is_proven_only_by_a_bound_that_it_reaches() -> None:
    objects = np.array([0])
    for value, bound, proven in (
        (0.9, None, False),
        (0.9, 1.0, False),
        (0.9, 0.9, True),
        (0.9, 0.9 * (1 + 1e-12), True),
        (0.0, 0.0, True),
        (-0.5, 0.0, False),
        (-0.5, -0.25, False),
    ):
        assert Selection(objects, value, bound=bound).proven is proven
