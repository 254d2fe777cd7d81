"""How far cells and links agree, and how much cells are trusted for it: by hand, by brute force, and at the limits."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.array_types import Array
from cube2net.network import forms as room
from cube2net.network.forms import BELIEVED, FULL, LEAST, NONE, agreement, trust

Pairs = list[tuple[int, int]]


def arrays(pairs: Pairs) -> tuple[Array, Array]:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def found(links: Pairs, homes: Pairs, *, query: int, objects: int, cells: int) -> tuple[float, int]:
    """Return the agreement of links between objects, and of pairs of an object and its cell."""
    return agreement(arrays(links), *arrays(homes), query=query, objects=objects, cells=cells)


def trusted(links: Pairs, homes: Pairs, *, query: int, objects: int, cells: int) -> float:
    return trust(arrays(links), *arrays(homes), query=query, objects=objects, cells=cells)


def by_force(links: Pairs, homes: Pairs, *, query: int, objects: int) -> tuple[float, int]:
    """Return the same by looking at all pairs, one after the other."""
    around: list[set[int]] = [set() for _ in range(objects)]
    for one, other in links:
        around[one].add(other)
        around[other].add(one)
    held = [{cell for thing, cell in homes if thing == row} for row in range(query)]
    near, joined, far = [], [], []
    for one, other in combinations(range(query), 2):
        if other in around[one]:
            continue
        pair = len(held[one] & held[other]), len(held[one]) * len(held[other])
        if around[one] & around[other]:
            near.append(pair)
        elif any(around[step] & around[other] for step in around[one]):
            joined.append(pair)
        else:
            far.append(pair)
    sums = [[sum(part) for part in zip((0, 0), *pairs, strict=True)] for pairs in (near, far or joined)]
    if not all(chance for _, chance in sums) or not any(shared for shared, _ in sums):
        return 1.0, 0
    often, base = (shared / chance for shared, chance in sums)
    return (often / base if base else math.inf), len(near)


# A star of 0, 1 and 2 around 5, and 3 and 4 alone: three pairs are two steps apart, seven are further.
STAR = [(0, 5), (1, 5), (2, 5)]
ALL = [(row, 0) for row in range(5)]


@pytest.mark.parametrize(
    ("homes", "times"),
    [
        (ALL, 1.0),  # a cell that holds all says nothing
        ([*ALL, (0, 1), (1, 1), (2, 1)], (3 * 2 / 12) / (7 / 13)),  # near: 2 of 2 · 2 each; far: six of 2 · 1, one of 1
        ([*ALL, (3, 1), (4, 1)], 1.0 / ((6 + 2) / (6 * 2 + 4))),  # near: 1 of 1; far: 1 of 1 · 2 six times, 2 of 2 · 2
        ([(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)], math.inf),  # the near share a cell, and nobody else does
        ([(0, 0), (1, 1), (2, 2), (3, 0), (4, 0)], 0.0),
    ],
)
def test_the_agreement_of_a_star_is_what_can_be_counted_by_hand(homes: Pairs, times: float) -> None:
    assert found(STAR, homes, query=5, objects=6, cells=3) == (pytest.approx(times), 3)


def test_where_nobody_shares_a_cell_or_one_kind_of_pairs_has_none_nothing_can_be_told() -> None:
    assert found(STAR, [], query=5, objects=6, cells=1) == (1.0, 0)
    assert found(STAR, [(row, row) for row in range(5)], query=5, objects=6, cells=5) == (1.0, 0)
    assert found(STAR, [(0, 0), (1, 0), (2, 0)], query=3, objects=6, cells=1) == (1.0, 0)


def test_linked_pairs_are_left_out_since_the_item_that_links_them_puts_both_into_its_cells() -> None:
    links = [(0, 1), (0, 4), (1, 4), (2, 4)]  # 0–2 and 1–2 are two steps apart, 3 is alone
    apart = [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert found(links, apart, query=4, objects=5, cells=2)[0] == 0.0, "that 0 and 1 share a cell does not count"
    assert found(links, [(row, 0) for row in range(4)], query=4, objects=5, cells=1) == (1.0, 2)


def test_the_step_between_may_be_of_the_query_itself_or_a_near_object() -> None:
    for middle in (1, 3):
        links = [(0, middle), (middle, 2)]
        homes = [(row, 0) for row in range(5)]
        assert found(links, homes, query=3 if middle == 3 else 5, objects=5, cells=1)[1] == 1


def test_cells_of_near_objects_do_not_speak() -> None:
    assert found(STAR, [*ALL, (5, 0), (5, 1)], query=5, objects=6, cells=2) == (1.0, 3)


@given(st.data(), st.integers(1, 9), st.integers(0, 5), st.integers(1, 4))
def test_it_is_what_all_pairs_say_one_after_the_other(data: st.DataObject, query: int, near: int, cells: int) -> None:
    objects = query + near
    pair = st.tuples(st.integers(0, objects - 1), st.integers(0, objects - 1)).filter(lambda ends: ends[0] < ends[1])
    links = data.draw(st.lists(pair, unique=True, max_size=20)) if objects > 1 else []
    home = st.tuples(st.integers(0, objects - 1), st.integers(0, cells - 1))
    homes = data.draw(st.lists(home, unique=True, max_size=24))
    times, pairs = found(links, homes, query=query, objects=objects, cells=cells)
    expected = by_force(links, homes, query=query, objects=objects)
    assert (times, pairs) == (pytest.approx(expected[0]), expected[1])
    assert LEAST <= trusted(links, homes, query=query, objects=objects, cells=cells) <= 1.0


def test_of_a_large_query_only_some_objects_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    links, homes = [(row, 12 + row // 3) for row in range(12)], [(row, row // 3) for row in range(12)]
    assert found(links, homes, query=12, objects=16, cells=4) == (math.inf, 12)
    monkeypatch.setattr(room, "LOOKED_AT", 6)
    times, pairs = found(links, homes, query=12, objects=16, cells=4)
    assert times == math.inf and 0 < pairs < 12


# Trust


def test_cells_are_trusted_where_no_pair_can_tell() -> None:
    assert trusted([], [], query=1, objects=1, cells=0) == 1.0
    assert trusted([(0, 1)], [(0, 0), (1, 0)], query=2, objects=2, cells=1) == 1.0


def test_cells_that_agree_with_links_are_trusted_fully_and_never_more() -> None:
    homes = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)]
    assert trusted(STAR, homes, query=5, objects=6, cells=3) == 1.0


def test_a_few_pairs_that_disagree_lower_the_trust_by_little() -> None:
    homes = [(0, 0), (1, 1), (2, 2), (3, 0), (4, 0)]
    settled = FULL * BELIEVED / (3 + BELIEVED)
    expected = (settled - NONE) / (FULL - NONE)
    assert trusted(STAR, homes, query=5, objects=6, cells=3) == pytest.approx(expected) and 0.7 < expected < 1.0


@pytest.mark.parametrize("count", [40, 80])
def test_many_pairs_at_chance_or_below_leave_the_least_trust(count: int) -> None:
    links = [(row, count + row % 2) for row in range(count)]  # the even are near each other, and so are the odd
    across = [(row, row // 2) for row in range(count)]  # cells put one even and one odd together
    assert trusted(links, across, query=count, objects=count + 2, cells=count // 2) == LEAST
    together = [(row, row % 2) for row in range(count)]
    assert trusted(links, together, query=count, objects=count + 2, cells=2) == 1.0


def test_trust_falls_steadily_as_cells_agree_less() -> None:
    links = [(row, 60 + row % 3) for row in range(60)]
    trusts = []
    for wrong in range(0, 41, 10):
        homes = [(row, (row + (row < wrong) * (1 + row // 3 % 2)) % 3) for row in range(60)]
        times, pairs = found(links, homes, query=60, objects=63, cells=3)
        settled = (min(times, FULL) * pairs + FULL * BELIEVED) / (pairs + BELIEVED)
        trusts.append(trusted(links, homes, query=60, objects=63, cells=3))
        assert trusts[-1] == pytest.approx(min(1.0, max(LEAST, (settled - NONE) / (FULL - NONE))))
    assert trusts[0] == 1.0 and trusts[-1] <= 0.1 and trusts == sorted(trusts, reverse=True)
