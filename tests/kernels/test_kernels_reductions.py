"""Objects put together against sets: who is held by the same cells, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Ragged, ragged_from_lists, transpose
from cube2net.kernels.reductions import (
    find_held_objects,
    group_alike,
    list_placed_homes,
    mark_too_costly,
    row_sums,
)

OBJECTS = 12
all_cells = st.lists(st.sets(st.integers(0, OBJECTS - 1)), min_size=1, max_size=8)


def merged(cells: list[set[int]], some: list[int]) -> tuple[list[int], int, list[list[int]]]:
    """Return the group of every object (−1: in none), how many there are, and the groups of each of some cells."""
    members = ragged_from_lists([sorted(cell) for cell in cells])
    homes = transpose(members, OBJECTS)
    chosen: Array = np.array(some, dtype=np.int64)
    place = np.full(len(cells), -1, np.int32)
    place[chosen] = np.arange(len(chosen))
    objects = find_held_objects(chosen, members.indptr, members.indices, np.zeros(OBJECTS, np.uint8))
    group = np.full(OBJECTS, -1)
    group[objects], first = group_alike(objects, homes.indptr, homes.indices, place)
    rows = transpose(Ragged(*list_placed_homes(first, homes.indptr, homes.indices, place)), len(some))
    return group.tolist(), len(first), [row.tolist() for row in map(rows.__getitem__, range(len(some)))]


def test_objects_of_the_same_cells_are_one_group() -> None:
    group, groups, members = merged([{0, 1, 2}, {1, 2, 3}, {5}], [0, 1])
    assert group[:6] == [0, 1, 1, 2, -1, -1]
    assert groups == 3
    assert members == [[0, 1], [1, 2]]


def test_no_cells_hold_nothing() -> None:
    assert merged([{0}], []) == ([-1] * OBJECTS, 0, [])
    assert merged([set(), set()], [0, 1]) == ([-1] * OBJECTS, 0, [[], []])


@given(all_cells, st.sets(st.integers(0, 7)))
def test_two_objects_share_a_group_exactly_where_the_same_cells_hold_them(
    cells: list[set[int]], some: set[int]
) -> None:
    given = sorted(cell for cell in some if cell < len(cells))
    group, groups, _ = merged(cells, given)
    homes = [frozenset(cell for cell in given if o in cells[cell]) for o in range(OBJECTS)]
    for a in range(OBJECTS):
        assert (group[a] == -1) == (not homes[a])
        for b in range(a):
            assert (group[a] == group[b]) == (homes[a] == homes[b])
    assert sorted({number for number in group if number >= 0}) == list(range(groups))


@given(all_cells, st.sets(st.integers(0, 7)))
def test_groups_are_numbered_by_their_first_objects_and_rows_are_summed(cells: list[set[int]], some: set[int]) -> None:
    chosen = np.array(sorted(cell for cell in some if cell < len(cells)), dtype=np.int64)
    members = ragged_from_lists([sorted(row) for row in cells])
    homes = transpose(members, OBJECTS)
    place = np.full(max(len(cells), 1), -1, np.int32)
    place[chosen] = np.arange(len(chosen))
    objects = find_held_objects(chosen, members.indptr, members.indices, np.zeros(OBJECTS, np.uint8))
    assert objects.tolist() == sorted(set().union(*(cells[cell] for cell in chosen.tolist())))
    group, first = group_alike(objects, homes.indptr, homes.indices, place)
    assert first.tolist() == [int(objects[group.tolist().index(number)]) for number in range(len(first))]
    assert first.tolist() == sorted(first.tolist())
    turned_rows = transpose(Ragged(*list_placed_homes(first, homes.indptr, homes.indices, place)), len(chosen))
    expected = [sorted({int(group[objects.tolist().index(o)]) for o in cells[cell]}) for cell in chosen.tolist()]
    rows = [turned_rows[cell].tolist() for cell in range(len(chosen))]
    assert rows == expected
    terms = np.arange(2.0 * len(first)).reshape(len(first), 2)
    sums = [terms[row].sum(axis=0).tolist() for row in rows]
    assert row_sums(turned_rows.indptr, turned_rows.indices, terms).tolist() == sums


def test_objects_found_are_in_order_whether_they_are_few_or_many() -> None:
    rows = ragged_from_lists([[7, 9], [2, 7]])
    for objects in (10, 10_000):
        found = find_held_objects(np.array([0, 1]), rows.indptr, rows.indices, np.zeros(objects, np.uint8))
        assert found.tolist() == [2, 7, 9]


@given(all_cells, st.lists(st.integers(-8, 8), min_size=OBJECTS, max_size=OBJECTS))
def test_cells_are_dear_by_what_they_alone_hold_until_none_is_left(cells: list[set[int]], worth: list[int]) -> None:
    members = ragged_from_lists([sorted(row) for row in cells])
    homes = transpose(members, OBJECTS)
    pays = np.array([float(sum(max(worth[o], 0) for o in row)) for row in cells])
    rows = (members.indptr, members.indices, homes.indptr, homes.indices)
    out = mark_too_costly(*rows, np.array(worth, dtype=float), pays).tolist()
    left = set(range(len(cells)))
    while True:
        alone = {c: {o for o in cells[c] if sum(o in cells[other] for other in left) == 1} for c in left}
        bad = {c for c in left if sum(max(-worth[o], 0) for o in alone[c]) > pays[c]}
        if not bad:
            break
        left -= bad
    assert [cell for cell, gone in enumerate(out) if not gone] == sorted(left)
