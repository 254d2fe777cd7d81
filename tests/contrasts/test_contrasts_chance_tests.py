"""Exact tests, intervals, and which tests can be sure at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cube2net.confidence import LEVEL, holm, share_interval
from cube2net.contrasts.chance_tests import (
    difference_interval,
    exact_chances,
    least_chances,
    may_be_sure,
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    first, second = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    return draw(st.integers(0, first)), draw(st.integers(0, second)), first, second


@given(tables())
def test_the_exact_chance_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    found = exact_chances(*(np.array([part]) for part in table))[0]
    assert found == pytest.approx(stats.fisher_exact([[a, b], [n - a, o - b]]).pvalue, rel=1e-9)


@given(tables())
def test_exchanging_the_sides_changes_no_bit_of_the_chance(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    one, other = ([np.array([part]) for part in parts] for parts in ((a, b, n, o), (b, a, o, n)))
    assert exact_chances(*one)[0] == exact_chances(*other)[0]


def test_a_large_table_has_its_chance_too() -> None:
    found = exact_chances(*(np.array([part]) for part in (700, 400, 3000, 2500)))[0]
    assert found == pytest.approx(stats.fisher_exact([[700, 400], [2300, 2100]]).pvalue, rel=1e-8)


@st.composite
def large_tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    first, second = draw(st.integers(1, 4000)), draw(st.integers(1, 4000))
    ones = draw(st.integers(0, first))
    near = round(ones / first * second) + draw(st.integers(-60, 60))
    return ones, min(max(near, 0), second), first, second


@given(large_tables())
def test_the_tails_of_a_large_table_are_the_sums_of_all_their_tables(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    every = np.arange(max(0, a + b - o), min(a + b, n) + 1)
    likelihoods = stats.hypergeom.logpmf(every, n + o, n, a + b)
    seen = likelihoods[a - every[0]]
    summed = np.exp(likelihoods[likelihoods <= seen + 1e-8]).sum()
    assert exact_chances(*(np.array([part]) for part in table))[0] == pytest.approx(summed, rel=1e-6)


@given(st.integers(1, 14), st.integers(1, 14))
def test_the_least_chance_is_the_least_over_all_tables(first: int, second: int) -> None:
    least = least_chances(first, second)
    for held in range(first + second + 1):
        ones = np.arange(max(0, held - second), min(held, first) + 1)
        every = exact_chances(ones, held - ones, np.array(first), np.array(second))
        assert least[held] == every.min()


@given(st.lists(st.floats(1e-6, 1.0), max_size=30))
def test_every_test_that_is_left_out_could_not_be_sure_and_the_fewest_stay(least: list[float]) -> None:
    able = may_be_sure(np.array(least))
    stay = int(able.sum())
    fewest = next(k for k in range(1, len(least) + 2) if sum(low <= LEVEL / k for low in least) <= k)
    assert able.tolist() == [low <= LEVEL / fewest for low in least]
    assert stay <= fewest


@given(st.lists(st.floats(0.0, 1.0), max_size=20))
def test_holm_is_what_his_steps_say(p_values: list[float]) -> None:
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    plain = [0.0] * len(p_values)
    for rank, place in enumerate(order):
        steps = [p_values[other] * (len(order) - step) for step, other in enumerate(order[: rank + 1])]
        plain[place] = min(1.0, max(steps))
    assert holm(p_values) == pytest.approx(plain)


@pytest.mark.parametrize(("held", "count"), [(0, 10), (3, 10), (10, 10), (1, 1), (57, 116)])
def test_the_interval_of_a_share_is_wilsons(held: int, count: int) -> None:
    wilson = stats.binomtest(held, count).proportion_ci(method="wilson")
    assert share_interval(held, count) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_the_interval_of_a_difference_is_that_of_newcombes_paper() -> None:
    # Statistics in Medicine 17 (1998), table II, method 10.
    for table, low, high in (
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ):
        assert difference_interval(*table) == pytest.approx((low, high), abs=1e-4)


@given(tables())
def test_the_interval_holds_the_difference_and_turns_with_the_sides(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    low, high = difference_interval(a, n, b, o)
    assert low - 1e-12 <= a / n - b / o <= high + 1e-12
    assert difference_interval(b, o, a, n) == pytest.approx((-high, -low))
