"""Cells that tell two sides apart, and the exact tests behind them."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pysubgroup
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cube2net as c2n
from cube2net._util.statistics import LEVEL, share_interval
from cube2net.explanation.contrast import (
    Sides,
    compute_difference_interval,
    compute_exact_p_values,
    compute_least_objects,
    compute_least_p_values,
    mark_testable,
    separate,
)
from cube2net.explanation.drill import find_mixed_cells
from cube2net.model.contrast import Contrast, SeparatingCell
from cube2net.model.cube import Cube
from cube2net.model.query import Query

from leveled_cubes import Entries, brute_cells, is_more_general, leveled_cube

# So that small cubes have sure cells: many objects in few cells.
SHAPE = {"objects": 60, "cells": 9, "largest": 30}


def halves(seed: int, cube: Cube) -> tuple[list[int], list[int]]:
    """Return two sides, of which one is mostly in the first cell of the cube."""
    rng = np.random.default_rng(seed)
    held = set(cube.cells.members[0].tolist())
    near = [row for row in range(len(cube.objects)) if (row in held) == (rng.random() < 0.9)]
    ones = sorted(rng.choice(near, size=min(20, len(near)), replace=False).tolist())
    rest = sorted(set(range(len(cube.objects))) - set(ones))
    return ones, rest[:25]


def entries_of(cell: SeparatingCell) -> Entries:
    return tuple(
        None if level is None else (level, label) for level, label in zip(cell.levels, cell.labels, strict=True)
    )


def contrast_of(seed: int, m: int = 10, alpha: float = 1.0) -> tuple[Cube, list[int], list[int], Contrast]:
    cube = leveled_cube(seed, **SHAPE)
    ones, twos = halves(seed, cube)
    return cube, ones, twos, c2n.contrast(cube, ones, twos, m, alpha=alpha)


@pytest.mark.parametrize("seed", range(10))
def test_shares_and_chances_are_those_of_brute_force(seed: int) -> None:
    cube, ones, twos, found = contrast_of(seed)
    plain = {key: (held & set(ones), held & set(twos)) for key, held in brute_cells(cube).items()}
    assert found.cells
    assert found.sizes == (len(ones), len(twos))
    for cell in found.cells:
        a, b = map(len, plain[entries_of(cell)])
        assert (cell.in_first, cell.in_second) == (a, b)
        assert cell.shares == (a / len(ones), b / len(twos))
        assert cell.for_first == (a / len(ones) > b / len(twos))
        raw = stats.fisher_exact([[a, b], [len(ones) - a, len(twos) - b]]).pvalue
        assert cell.raw_p_value == pytest.approx(raw, rel=1e-9)
        own, other = (a / len(ones), b / len(twos)) if cell.for_first else (b / len(twos), a / len(ones))
        assert cell.lift == pytest.approx(own / other if other else math.inf)
        assert cell.low < cell.difference < cell.high


@pytest.mark.parametrize("seed", range(10))
def test_chances_are_corrected_over_all_different_sets_of_objects_that_could_be_sure(seed: int) -> None:
    cube, ones, twos, found = contrast_of(seed)
    kinds = {(held & set(ones), held & set(twos)) for held in brute_cells(cube).values()}
    tables = [(len(one), len(two)) for one, two in kinds if one or two]

    def chance(a: int, b: int) -> float:
        return float(stats.fisher_exact([[a, b], [len(ones) - a, len(twos) - b]]).pvalue)

    def least(held: int) -> float:
        return min(chance(a, held - a) for a in range(max(0, held - len(twos)), min(held, len(ones)) + 1))

    lows = [least(a + b) for a, b in tables]
    count = next(k for k in range(1, len(lows) + 2) if sum(low <= LEVEL / k * (1 + 1e-12) for low in lows) <= k)
    tested = sorted(chance(*table) for table, low in zip(tables, lows, strict=True) if low <= LEVEL / count)
    assert found.tested == len(tested)
    corrected = np.minimum(1, np.maximum.accumulate(np.array(tested) * np.arange(len(tested), 0, -1)))
    for cell in found.cells:
        rank = int(np.argmin(np.abs(np.array(tested) - cell.raw_p_value)))
        assert cell.p_value == pytest.approx(corrected[rank], rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_one_cell_alone_has_the_quality_that_pysubgroup_gives_it(seed: int) -> None:
    cube, ones, twos, found = contrast_of(seed, m=1)
    rows = [*ones, *twos]
    plain = {key: held & set(rows) for key, held in brute_cells(cube).items()}
    frame = pd.DataFrame({str(key): [row in held for row in rows] for key, held in plain.items()})
    best = found.cells[0]
    frame["side"] = [row in set(ones) for row in rows]
    selectors = [pysubgroup.EqualitySelector(str(key), True) for key in plain]
    factor, qualities = len(ones) * len(twos) / len(rows) ** 2, []
    for side in (True, False):
        target = pysubgroup.BinaryTarget("side", side)
        task = pysubgroup.SubgroupDiscoveryTask(
            frame, target, selectors, result_set_size=len(selectors), depth=1, qf=pysubgroup.WRAccQF(), min_quality=-1.0
        )
        listed = pysubgroup.SimpleDFS().execute(task).to_dataframe()
        by_name = dict(zip(listed["subgroup"].map(str), listed["quality"], strict=True))
        if side == best.for_first:
            own = by_name[f"{entries_of(best)!s}==True"]
            assert own == pytest.approx(abs(best.difference) * factor)
            assert found.value == pytest.approx(own / factor / 2)
        qualities.append(float(listed["quality"].max()))
    assert found.bound <= max(qualities) / factor / 2 + 1e-9


def value_of(cube: Cube, ones: list[int], twos: list[int], cells: list[Entries]) -> float:
    """Return the value of cells, by what it is said to be."""
    plain = brute_cells(cube)
    counted = dict.fromkeys([*ones, *twos], 0.0)
    for key in cells:
        one, two = ({*side} & plain[key] for side in (ones, twos))
        share, other = len(one) / len(ones), len(two) / len(twos)
        worth = 1 - min(share, other) / max(share, other)
        for row in one if share > other else two:
            counted[row] = max(counted[row], worth)
    return (sum(counted[row] for row in ones) / len(ones) + sum(counted[row] for row in twos) / len(twos)) / 2


def explains(cube: Cube, ones: list[int], twos: list[int], general: Entries, cell: Entries) -> bool:
    """Return whether a more general cell says all that a cell does, as the page says it."""
    if not is_more_general(cube, general, cell):
        return False
    plain = brute_cells(cube)
    (a, b), (n, o) = ([len(plain[key] & {*side}) for side in (ones, twos)] for key in (cell, general))
    speak = [np.sign(one * len(twos) - two * len(ones)) for one, two in ((a, b), (n, o))]
    inside = float(stats.fisher_exact([[a, b], [n - a, o - b]]).pvalue)
    return speak[0] == speak[1] and (speak[0] * (a * o - b * n) <= 0 or inside >= LEVEL)


def candidates(cube: Cube, ones: list[int], twos: list[int]) -> list[Entries]:
    """Return all cells that may be chosen when none has to be sure."""
    sides = [Sides(np.isin(np.sort([*ones, *twos]), ones))]
    mixed = find_mixed_cells(cube, np.sort([*ones, *twos]).astype(np.int32), compute_least_objects(sides))
    tested = separate(cube, mixed, sides, 0)[0].tested
    kept: list[Entries] = []
    for cell, a, b in zip(tested.cells.tolist(), tested.in_first.tolist(), tested.in_second.tolist(), strict=True):
        levels = mixed.cuboids[int(mixed.cuboid[cell])]
        own = zip(cube.dimensions, levels, mixed.labels[cell].tolist(), strict=True)
        key = tuple(None if at is None else (d.levels[at].name, d.levels[at].labels[label]) for d, at, label in own)
        if a * len(twos) != b * len(ones) and not any(explains(cube, ones, twos, one, key) for one in kept):
            kept.append(key)
    return kept


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_value_is_as_said_no_choice_exceeds_the_bound_and_greedy_keeps_its_promise(seed: int, m: int) -> None:
    cube, ones, twos, found = contrast_of(seed, m)
    every = candidates(cube, ones, twos)
    assert {entries_of(cell) for cell in found.cells} <= set(every)
    assert found.value == pytest.approx(value_of(cube, ones, twos, [entries_of(cell) for cell in found.cells]))
    assert sum(cell.gain for cell in found.cells) == pytest.approx(found.value)
    best = max(value_of(cube, ones, twos, list(some)) for some in combinations(every, min(m, len(every))))
    assert best <= found.bound + 1e-9
    assert found.value >= (1 - 1 / math.e) * best - 1e-9


@given(st.integers(0, 10_000), st.sampled_from([0.05, 1.0]))
def test_no_cell_is_one_that_another_makes_redundant(seed: int, alpha: float) -> None:
    cube, ones, twos, found = contrast_of(seed, 20, alpha)
    plain = brute_cells(cube)
    extents = [frozenset(plain[entries_of(cell)] & {*ones, *twos}) for cell in found.cells]
    assert len(extents) == len(set(extents))
    for one in found.cells:
        assert one.p_value <= alpha
        assert not any(explains(cube, ones, twos, entries_of(other), entries_of(one)) for other in found.cells)


@given(st.integers(0, 10_000))
def test_exchanging_the_queries_mirrors_the_answer(seed: int) -> None:
    cube, ones, twos, found = contrast_of(seed)
    other = c2n.contrast(cube, twos, ones, alpha=1.0)
    assert other.sizes == found.sizes[::-1]
    assert other.value == pytest.approx(found.value, abs=1e-12)
    assert other.bound == pytest.approx(found.bound, abs=1e-12)
    assert [cell.labels for cell in other.cells] == [cell.labels for cell in found.cells]
    for one, two in zip(found.cells, other.cells, strict=True):
        assert (one.in_first, one.in_second, one.p_value, one.lift) == (
            two.in_second,
            two.in_first,
            two.p_value,
            two.lift,
        )
        assert one.for_first != two.for_first
        assert (one.low, one.high) == pytest.approx((-two.high, -two.low))


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_objects_changes_nothing(seed: int, random: object) -> None:
    cube, ones, twos, found = contrast_of(seed)
    random.shuffle(ones)  # type: ignore[attr-defined]
    assert c2n.contrast(cube, ones, twos, alpha=1.0).to_dict() == found.to_dict()


def test_sides_without_a_difference_are_told_apart_by_nothing() -> None:
    cube = leveled_cube(1, **SHAPE)
    rows = np.random.default_rng(5).permutation(60)
    found = c2n.contrast(cube, rows[:30].tolist(), rows[30:].tolist())
    assert found.cells == () and found.value == 0
    assert found.nearest is not None and found.nearest.p_value > LEVEL
    assert found.sentence.startswith(
        "no cell separates first (30 objects) from second (30 objects) significantly: the clo"
    )


def test_a_label_against_the_rest_is_told_by_cells_that_hold_more_of_it() -> None:
    cube = leveled_cube(2, **SHAPE)
    ones, twos = halves(2, cube)
    labels = ["a"] * len(ones) + ["b"] * len(twos)
    found = c2n.contrast(cube, cube.query([*ones, *twos], labels))
    assert [each.names for each in found] == [("a", "the rest"), ("b", "the rest")]
    assert all(cell.for_first for each in found for cell in each.cells)
    pair = c2n.contrast(cube, ones, twos)
    best = {cell.labels for cell in pair.cells}
    assert found["a"].cells[0].labels in best | {cell.labels for each in found for cell in each.cells}
    alone = c2n.contrast(cube, ones, twos, alpha=1.0)
    raws = {cell.labels: cell.raw_p_value for cell in alone.cells}
    for cell in found["a"].cells:
        assert cell.raw_p_value == pytest.approx(raws.get(cell.labels, cell.raw_p_value))
        assert cell.p_value >= cell.raw_p_value


def test_a_query_is_not_written_to() -> None:
    cube = leveled_cube(0, **SHAPE)
    ones, twos = halves(0, cube)
    first, second = cube.query(ones), cube.query(twos)
    c2n.contrast(cube, first, second)
    assert first.objects.tolist() == ones and second.objects.tolist() == twos
    assert isinstance(first, Query)


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    first, second = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    return draw(st.integers(0, first)), draw(st.integers(0, second)), first, second


@given(tables())
def test_the_exact_chance_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    found = compute_exact_p_values(*(np.array([part]) for part in table))[0]
    assert found == pytest.approx(stats.fisher_exact([[a, b], [n - a, o - b]]).pvalue, rel=1e-9)


@given(tables())
def test_exchanging_the_sides_changes_no_bit_of_the_chance(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    one, other = ([np.array([part]) for part in parts] for parts in ((a, b, n, o), (b, a, o, n)))
    assert compute_exact_p_values(*one)[0] == compute_exact_p_values(*other)[0]


def test_a_large_table_has_its_chance_too() -> None:
    found = compute_exact_p_values(*(np.array([part]) for part in (700, 400, 3000, 2500)))[0]
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
    assert compute_exact_p_values(*(np.array([part]) for part in table))[0] == pytest.approx(summed, rel=1e-6)


@given(st.integers(1, 14), st.integers(1, 14))
def test_the_least_chance_is_the_least_over_all_tables(first: int, second: int) -> None:
    least = compute_least_p_values(first, second)
    for held in range(first + second + 1):
        ones = np.arange(max(0, held - second), min(held, first) + 1)
        every = compute_exact_p_values(ones, held - ones, np.array(first), np.array(second))
        assert least[held] == every.min()


@given(st.lists(st.floats(1e-6, 1.0), max_size=30))
def test_every_test_that_is_left_out_could_not_be_sure_and_the_fewest_stay(least: list[float]) -> None:
    able = mark_testable(np.array(least))
    stay = int(able.sum())
    fewest = next(k for k in range(1, len(least) + 2) if sum(low <= LEVEL / k for low in least) <= k)
    assert able.tolist() == [low <= LEVEL / fewest for low in least]
    assert stay <= fewest


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
        assert compute_difference_interval(*table) == pytest.approx((low, high), abs=1e-4)


@given(tables())
def test_the_interval_holds_the_difference_and_turns_with_the_sides(table: tuple[int, int, int, int]) -> None:
    a, b, n, o = table
    low, high = compute_difference_interval(a, n, b, o)
    assert low - 1e-12 <= a / n - b / o <= high + 1e-12
    assert compute_difference_interval(b, o, a, n) == pytest.approx((-high, -low))
