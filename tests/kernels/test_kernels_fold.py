"""Folded objects against sets: who is held by the same cells, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.arrays import ragged_from_lists
from cube2net.kernels.fold import fold, folded_members
from cube2net.records.ragged import Array

OBJECTS = 12
all_cells = st.lists(st.sets(st.integers(0, OBJECTS - 1)), min_size=1, max_size=8)
quick = settings(deadline=None, max_examples=80)


def folded(cells: list[set[int]], some: list[int]) -> tuple[list[int], int, list[list[int]]]:
    """Return the group of every object, how many there are, and the groups of each of some cells."""
    rows = ragged_from_lists([sorted(cell) for cell in cells])
    chosen: Array = np.array(some, dtype=np.int64)
    group, groups = fold(chosen, rows.indptr, rows.indices, OBJECTS)
    indptr, indices = folded_members(chosen, rows.indptr, rows.indices, group, groups)
    return group.tolist(), groups, [indices[indptr[i] : indptr[i + 1]].tolist() for i in range(len(some))]


def test_objects_of_the_same_cells_are_one_group() -> None:
    group, groups, members = folded([{0, 1, 2}, {1, 2, 3}, {5}], [0, 1])
    assert group[:6] == [0, 1, 1, 2, -1, -1]
    assert groups == 3
    assert members == [[0, 1], [1, 2]]


def test_no_cells_hold_nothing() -> None:
    assert folded([{0}], []) == ([-1] * OBJECTS, 0, [])
    assert folded([set(), set()], [0, 1]) == ([-1] * OBJECTS, 0, [[], []])


@quick
@given(all_cells, st.sets(st.integers(0, 7)))
def test_two_objects_share_a_group_exactly_where_the_same_cells_hold_them(
    cells: list[set[int]], some: set[int]
) -> None:
    given = sorted(cell for cell in some if cell < len(cells))
    group, groups, _ = folded(cells, given)
    homes = [frozenset(cell for cell in given if o in cells[cell]) for o in range(OBJECTS)]
    for a in range(OBJECTS):
        assert (group[a] == -1) == (not homes[a])
        for b in range(a):
            assert (group[a] == group[b]) == (homes[a] == homes[b])
    assert sorted({number for number in group if number >= 0}) == list(range(groups))


@quick
@given(all_cells, st.sets(st.integers(0, 7)))
def test_folded_members_are_the_groups_of_the_members(cells: list[set[int]], some: set[int]) -> None:
    given = sorted(cell for cell in some if cell < len(cells))
    group, _, members = folded(cells, given)
    assert members == [sorted({group[o] for o in cells[cell]}) for cell in given]
