"""The weight of cells against links: by hand, by brute force, with hubs, and at the limits."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.network import cell_weight as module
from cube2net.network.cell_weight import MIN_WEIGHT, PRIOR_PAIRS, PRIOR_WEIGHT, CellWeight, estimate_cell_weight

Pairs = list[tuple[int, int]]


def estimate(links: Pairs, homes: Pairs, *, query: int, objects: int, cuboids: list[int] | None = None) -> CellWeight:
    """Return the weight for links between objects and for pairs of an object and its cell."""
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    members = np.array(homes, dtype=np.int64).reshape(-1, 2)
    degrees = np.bincount(ends.ravel(), minlength=objects)
    numbers = np.array(cuboids or [0] * (int(members[:, 1].max(initial=-1)) + 1))
    return estimate_cell_weight((ends[:, 0], ends[:, 1]), degrees, members[:, 0], members[:, 1], numbers, query=query)


def compute_lift(links: Pairs, homes: Pairs, *, query: int, objects: int) -> float | None:
    """Return the lift by summing over all ordered pairs, one after the other."""
    around: list[set[int]] = [set() for _ in range(objects)]
    for one, other in links:
        around[one].add(other)
        around[other].add(one)
    held = [{cell for thing, cell in homes if thing == row} for row in range(query)]
    held = [{cell for cell in cells if sum(cell in others for others in held) > 1} for cells in held]
    connected = {
        (one, other): 0.0 if other in around[one] else sum(1 / len(around[k]) for k in around[one] & around[other])
        for one, other in permutations(range(query), 2)
    }
    strength = [sum(connected[row, other] for other in range(query) if other != row) for row in range(query)]
    observed = sum(weight * len(held[one] & held[other]) for (one, other), weight in connected.items())
    expected = sum(strength[one] * strength[other] * len(held[one] & held[other]) for one, other in connected) / (
        sum(strength) or 1.0
    )
    return observed / expected if expected > 0 else None


# Groups of six objects around a common neighbour each: pairs of a group are connected, others are not.
GROUPS = [(row, 24 + row // 6) for row in range(24)]
BY_GROUP = [(row, row // 6) for row in range(24)]
ACROSS = [(row, row % 4) for row in range(24)]


def test_cells_that_are_the_connected_groups_have_the_lift_counted_by_hand() -> None:
    found = estimate(GROUPS, BY_GROUP, query=24, objects=28)
    # All 60 connected pairs are inside cells. An object has 5 of 120 ends: 5 · 5 / 120 of every pair is expected.
    assert found.lift == pytest.approx(60 / (60 * 25 / 120)) and found.pairs == 60


@given(st.data(), st.integers(2, 9), st.integers(0, 5), st.integers(1, 4))
def test_the_lift_is_that_of_all_pairs_one_after_the_other(
    data: st.DataObject, query: int, others: int, cells: int
) -> None:
    objects = query + others
    pair = st.tuples(st.integers(0, objects - 1), st.integers(0, objects - 1)).filter(lambda ends: ends[0] < ends[1])
    links = data.draw(st.lists(pair, unique=True, max_size=20))
    homes = data.draw(st.lists(st.tuples(st.integers(0, query - 1), st.integers(0, cells - 1)), unique=True))
    found = estimate(links, homes, query=query, objects=objects)
    expected = compute_lift(links, homes, query=query, objects=objects)
    assert found.lift == (None if expected is None else pytest.approx(expected, rel=1e-4))
    assert MIN_WEIGHT <= found.value <= 1.0


def test_linked_pairs_say_nothing_about_cells() -> None:
    linked = [(0, 1), (2, 3), (4, 5)]
    homes = [(row, row // 2) for row in range(6)]
    assert estimate(linked, homes, query=6, objects=6) == CellWeight(PRIOR_WEIGHT)


def test_memberships_of_objects_outside_the_query_say_nothing() -> None:
    more = [*BY_GROUP, (24, 0), (25, 0), (26, 1)]
    assert estimate(GROUPS, more, query=24, objects=28) == estimate(GROUPS, BY_GROUP, query=24, objects=28)


def test_a_hub_that_connects_everybody_changes_the_weight_little() -> None:
    groups = [(row, 120 + row // 6) for row in range(120)]
    homes = [(row, row // 6) for row in range(120)]
    hub = [(row, 140) for row in range(120)]
    plain = estimate(groups, homes, query=120, objects=141)
    with_hub = estimate([*groups, *hub], homes, query=120, objects=141)
    assert plain.value > 0.9 and with_hub.value > 0.9


def test_the_cuboid_that_agrees_most_decides() -> None:
    both = [*BY_GROUP, *((row, 4 + cell) for row, cell in ACROSS)]
    found = estimate(GROUPS, both, query=24, objects=28, cuboids=[1] * 4 + [2] * 4)
    assert found.lift == estimate(GROUPS, BY_GROUP, query=24, objects=28).lift


def test_without_connected_pairs_the_weight_is_the_prior_one() -> None:
    assert estimate([], [], query=1, objects=1) == CellWeight(PRIOR_WEIGHT)
    assert estimate(GROUPS, [], query=24, objects=28).value == PRIOR_WEIGHT


def test_few_pairs_move_the_weight_little() -> None:
    found = estimate([(0, 4), (1, 4), (2, 5), (3, 5)], [(0, 0), (1, 0), (2, 1), (3, 1)], query=4, objects=6)
    assert found.value == pytest.approx((2 * 1.0 + PRIOR_PAIRS * PRIOR_WEIGHT) / (2 + PRIOR_PAIRS))


def test_many_pairs_at_chance_leave_the_least_weight_and_many_that_agree_the_full_one() -> None:
    links = [(row, 400 + row // 20) for row in range(400)]
    across = [(row, row % 20) for row in range(400)]
    together = [(row, row // 20) for row in range(400)]
    assert estimate(links, across, query=400, objects=420).value < 0.12
    assert estimate(links, together, query=400, objects=420).value > 0.99


def test_the_weight_falls_as_cells_agree_less() -> None:
    rng = np.random.default_rng(0)
    links = [(row, 400 + row // 20) for row in range(400)]
    weights = []
    for share in (0.0, 0.6, 0.8, 0.9, 1.0):
        wrong = rng.random(400) < share
        homes = [(row, int(rng.integers(20)) if wrong[row] else row // 20) for row in range(400)]
        weights.append(estimate(links, homes, query=400, objects=420).value)
    assert weights == sorted(weights, reverse=True) and weights[0] > 0.95 and weights[-1] < 0.2


def test_of_a_large_query_only_some_objects_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLED_OBJECTS", 12)
    found = estimate(GROUPS, BY_GROUP, query=24, objects=28)
    assert found.lift is not None and 0 < found.pairs < 60


def test_the_evidence_is_the_lift_with_its_limits_and_the_number_of_pairs() -> None:
    assert CellWeight(0.5).evidence() is None
    assert CellWeight(0.7, 1.5, 1.2, 1.9, 40).evidence() == {"lift": 1.5, "low": 1.2, "high": 1.9, "pairs": 40}
