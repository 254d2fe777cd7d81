from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.mining.clustering import AGREEMENT, compute_f1, compute_jaccard, compute_nmi, count_tables

# Objects by found and true cluster, and how often each counts.
OBJECTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=15).filter(
    lambda objects: any(times for _, _, times in objects)
)
every_score = pytest.mark.parametrize("name", AGREEMENT)


def sizes(pairs: list[tuple[int, int]]) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    found: dict[int, set[int]] = {}
    true: dict[int, set[int]] = {}
    for place, (c, t) in enumerate(pairs):
        found.setdefault(c, set()).add(place)
        true.setdefault(t, set()).add(place)
    return found, true


def slow_f1(pairs: list[tuple[int, int]]) -> float:
    found, true = sizes(pairs)
    best = [len(c) * max(2 * len(c & t) / (len(c) + len(t)) for t in true.values()) for c in found.values()]
    return sum(best) / len(pairs)


def slow_jaccard(pairs: list[tuple[int, int]]) -> float:
    found, true = (list(side.values()) for side in sizes(pairs))
    one = [max(len(c & t) / len(c | t) for t in true) for c in found]
    other = [max(len(c & t) / len(c | t) for c in found) for t in true]
    return (sum(one) / len(one) + sum(other) / len(other)) / 2


def slow_nmi(pairs: list[tuple[int, int]]) -> float:
    found, true = sizes(pairs)
    if len(found) == len(true) == 1:
        return 1.0

    def bits(groups: list[int]) -> float:
        return -sum(size / len(pairs) * math.log2(size / len(pairs)) for size in groups if size)

    apart = bits([len(c) for c in found.values()]) + bits([len(t) for t in true.values()])
    return 2 * (apart - bits([len(c & t) for c in found.values() for t in true.values()])) / apart


SLOW: dict[str, Callable[[list[tuple[int, int]]], float]] = {"F1": slow_f1, "JC": slow_jaccard, "NMI": slow_nmi}


@every_score
@given(st.lists(OBJECTS, min_size=1, max_size=3))
def test_an_object_that_counts_several_times_scores_as_if_it_were_there_several_times(
    name: str, several: list[list[tuple[int, int, int]]]
) -> None:
    tables = np.zeros((len(several), 4, 3))
    for table, objects in zip(tables, several, strict=True):
        for c, t, times in objects:
            table[c, t] += times
    wanted = [SLOW[name]([(c, t) for c, t, times in objects for _ in range(times)]) for objects in several]
    assert AGREEMENT[name](tables) == pytest.approx(wanted, abs=1e-9)
    assert AGREEMENT[name](tables[:, None])[:, 0] == pytest.approx(wanted, abs=1e-9)
    assert float(AGREEMENT[name](tables[0])) == pytest.approx(wanted[0], abs=1e-9)


@every_score
@given(st.integers(0, 2**32 - 1))
def test_empty_clusters_and_the_unit_that_objects_are_counted_in_change_no_score(name: str, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 4, (3, 2)).astype(float)
    table[0, 0] += 1
    wider = np.zeros((5, 4))
    wider[1:4, 1:3] = table
    assert AGREEMENT[name](wider) == pytest.approx(float(AGREEMENT[name](table)))
    assert AGREEMENT[name](table / 7) == pytest.approx(float(AGREEMENT[name](table)))


def test_three_objects_in_two_clusters_by_hand() -> None:
    # found {0, 1} and {2}, true {0} and {1, 2}
    table = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert float(compute_f1(table)) == pytest.approx(2 / 3 * 2 / 3 + 1 / 3 * 2 / 3)
    assert float(compute_jaccard(table)) == pytest.approx((1 / 2 + 1 / 2) / 2)
    third = math.log(3) - 2 / 3 * math.log(2)
    assert float(compute_nmi(table)) == pytest.approx((2 * third - math.log(3)) / third)
    # without object 1 both sides are equal; object 0 alone is one cluster on both sides
    assert [float(score(np.array([[1.0, 0.0], [0.0, 1.0]]))) for score in AGREEMENT.values()] == [1.0, 1.0, 1.0]
    assert [float(score(np.array([[1.0, 0.0], [0.0, 0.0]]))) for score in AGREEMENT.values()] == [1.0, 1.0, 1.0]


@every_score
def test_a_table_without_objects_has_no_score(name: str) -> None:
    scores = AGREEMENT[name](np.stack([np.zeros((2, 2)), np.eye(2)]))
    assert math.isnan(scores[0])
    assert scores[1] == 1.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4), st.sampled_from([np.float32, np.float64]))
def test_weighed_tables_are_counts_of_objects_one_by_one(seed: int, count: int, draws: int, kind: type) -> None:
    rng = np.random.default_rng(seed)
    found, true = rng.integers(0, 3, count), rng.integers(0, 2, count)
    times = rng.integers(0, 4, (count, draws))
    wanted = np.zeros((draws, 3, 2))
    for place in range(count):
        for draw in range(draws):
            wanted[draw, found[place], true[place]] += times[place, draw]
    tables = count_tables(found, true, (3, 2), times.astype(kind))
    assert tables.dtype == np.float64
    assert np.array_equal(tables, wanted)
