"""Bounds from credits and shares, against plain Python and against all choices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Ragged, ragged_from_lists, transpose
from cube2net.kernels import dual_bounds, reductions

CELLS, GROUPS = 6, 9


def draw(seed: int) -> tuple[Ragged, Ragged, Array, Array, np.random.Generator]:
    """Return members, homes, the worth of groups and the own worth of cells; every group has two homes or more."""
    rng = np.random.default_rng(seed)
    held: list[list[int]] = [[] for _ in range(CELLS)]
    for group in range(GROUPS):
        for cell in rng.choice(CELLS, size=int(rng.integers(2, 5)), replace=False).tolist():
            held[cell].append(group)
    members = ragged_from_lists(held)
    worth = rng.integers(-4, 5, GROUPS).astype(float)
    own = rng.integers(-3, 3, CELLS).astype(float)
    return members, transpose(members, GROUPS), worth, own, rng


def value(members: Ragged, worth: Array, own: Array, chosen: tuple[int, ...]) -> float:
    groups = sorted({group for cell in chosen for group in members[cell].tolist()})
    return float(worth[groups].sum() + own[list(chosen)].sum())


def settled(seed: int) -> tuple[Ragged, Ragged, Array, Array, Array, Array, float, Array]:
    members, homes, worth, own, rng = draw(seed)
    credit, share = rng.normal(size=GROUPS), rng.random(len(homes.indices)) * rng.integers(0, 2, len(homes.indices))
    rest, alone = dual_bounds.settle(homes.indptr, homes.indices, worth, own, credit, share)
    return members, homes, worth, own, credit, share, float(rest), alone


@given(st.integers(0, 9999))
def test_settled_credits_and_shares_keep_their_rules_and_the_twin_agrees(seed: int) -> None:
    _, homes, worth, own, credit, share, rest, alone = settled(seed)
    twin, left = own.copy(), 0.0
    for group in range(GROUPS):
        entries = range(int(homes.indptr[group]), int(homes.indptr[group + 1]))
        if worth[group] > 0:
            assert 0 <= credit[group] <= worth[group]
            assert all(share[at] == 0 for at in entries)
            left += worth[group] - credit[group]
        else:
            assert credit[group] == 0
            assert sum(share[at] for at in entries) == pytest.approx(-worth[group])
        for at in entries:
            twin[homes.indices[at]] += credit[group] - share[at]
    assert alone == pytest.approx(twin)
    assert rest == pytest.approx(left)


@given(st.integers(0, 9999))
def test_no_choice_is_above_the_bound_and_none_with_a_cell_above_the_bound_with_it(seed: int) -> None:
    members, homes, worth, own, credit, share, rest, alone = settled(seed)
    bound = rest + float(np.maximum(alone, 0.0).sum())
    rows = (members.indptr, members.indices, homes.indptr, homes.indices)
    falls = dual_bounds.with_each(*rows, worth, credit, share, alone)
    for size in range(CELLS + 1):
        for chosen in combinations(range(CELLS), size):
            found = value(members, worth, own, chosen)
            assert found <= bound + 1e-9
            assert all(found <= bound - falls[cell] + 1e-9 for cell in chosen)


@given(st.integers(0, 9999), st.integers(1, CELLS))
def test_improving_brings_the_bound_near_the_programme_and_keeps_the_limit(seed: int, m: int) -> None:
    from scipy.optimize import linprog

    _, homes, worth, own, _ = draw(seed)
    x, credit, share = np.zeros(CELLS + GROUPS), np.zeros(GROUPS), np.zeros(len(homes.indices))
    every, nodes = np.concatenate([own, worth]), np.zeros(CELLS + GROUPS)
    rows = (homes.indptr, homes.indices)
    dual_bounds.improve(*rows, every, nodes, m, np.inf, 4000, 1.0, x, credit, share, 0.0, 0.0)
    assert x[:CELLS].sum() <= m + 1e-6
    rest, alone = dual_bounds.settle(homes.indptr, homes.indices, worth, own, credit, share)
    bound = float(rest) + float(np.sort(np.maximum(alone, 0.0))[::-1][:m].sum())
    lines, limits = [np.concatenate([np.ones(CELLS), np.zeros(GROUPS)])], [float(m)]
    for group in range(GROUPS):
        cells = homes[group]
        if worth[group] > 0:
            row = np.zeros(CELLS + GROUPS)
            row[CELLS + group], row[cells] = 1.0, -1.0
            lines.append(row)
            limits.append(0.0)
        else:
            for cell in cells.tolist():
                row = np.zeros(CELLS + GROUPS)
                row[CELLS + group], row[cell] = -1.0, 1.0
                lines.append(row)
                limits.append(0.0)
    best = -linprog(-np.concatenate([own, worth]), A_ub=np.array(lines), b_ub=limits, bounds=(0, 1)).fun
    assert best - 1e-9 <= bound <= best + 0.05 * max(1.0, abs(best))


@given(st.integers(0, 9999))
def test_a_dominated_cell_is_never_needed(seed: int) -> None:
    members, homes, worth, own, _ = draw(seed)
    wanted, harmless = worth > 0, np.zeros(GROUPS, dtype=bool)
    rows = (members.indptr, members.indices, homes.indptr, homes.indices)
    out = reductions.mark_dominated(*rows, wanted, harmless, own, np.zeros(CELLS), np.zeros(CELLS))
    kept = [cell for cell in range(CELLS) if not out[cell]]
    for size in range(CELLS + 1):
        best = max(value(members, worth, own, c) for n in range(size + 1) for c in combinations(range(CELLS), n))
        without = max(value(members, worth, own, c) for n in range(size + 1) for c in combinations(kept, n))
        assert without == pytest.approx(best)


def test_shares_are_carried_to_the_groups_that_were_put_together() -> None:
    homes = transpose(ragged_from_lists([[0, 1], [0, 1, 2], [2]]), 3)
    kept = np.array([True, True, False])
    share = np.arange(1.0, 1.0 + len(homes.indices))
    # Groups 0 and 1 have the same homes and become one; group 2 keeps only one home and is gone.
    carried = dual_bounds.carry(np.array([0, 0, -1]), homes.indptr, homes.indices, kept, share, np.array([0, 2]), 2)
    assert carried.tolist() == [share[0] + share[2], share[1] + share[3]]
