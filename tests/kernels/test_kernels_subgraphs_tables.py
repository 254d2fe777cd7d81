from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.subgraphs import FEW, hash_object, look, make_keys, seat

OBJECTS = st.lists(st.integers(0, 2**31 - 1), max_size=40, unique=True)


@given(OBJECTS, OBJECTS)
def test_a_table_of_few_gives_what_a_dictionary_gives(kept: list[int], asked: list[int]) -> None:
    keys = make_keys(len(kept), 2**31)
    values = np.zeros(len(keys), np.int32)
    seat(keys, values, np.array(kept, np.int32), 1, 1)
    plain = {v: i for i, v in enumerate(kept, start=1)}
    assert look(keys, values, np.array([*kept, *asked], np.int32)).tolist() == [
        plain.get(v, 0) for v in [*kept, *asked]
    ]
    assert sorted(keys[keys >= 0].tolist()) == sorted(kept)


@pytest.mark.parametrize("step", [0, 3])
def test_a_table_of_many_has_a_place_for_every_object(step: int) -> None:
    keys = make_keys(2, 2 * FEW)
    values = np.zeros(9, np.int32)
    seat(keys, values, np.array([5, 2], np.int32), 4, step)
    assert len(keys) == 0
    assert values.tolist() == [0, 0, 4 + step, 0, 0, 4, 0, 0, 0]
    assert look(keys, values, np.array([2, 3], np.int32)).tolist() == [4 + step, 0]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 1000])
def test_half_of_a_table_or_more_stays_free(count: int) -> None:
    size = len(make_keys(count, 10**9))
    assert size >= 2 * count and size > count and size & (size - 1) == 0


def test_objects_side_by_side_are_spread_over_the_table() -> None:
    places = {int(hash_object(v, 1 << 12)) for v in range(1 << 11)}
    assert len(places) > 0.9 * (1 << 11)
