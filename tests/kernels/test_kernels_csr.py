"""Rows in flat arrays: packed, merged and put together in groups."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, ragged_from_lists, transpose
from cube2net.kernels.csr import (
    add_links,
    count_ends,
    count_entries,
    count_groups,
    fill_groups,
    fill_homes,
    fill_links,
    merge_rows,
)

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


def ends(pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    rows = np.array(pairs, np.int32).reshape(-1, 2)
    return rows[:, 0].copy(), rows[:, 1].copy()


def test_links_by_hand_stand_on_both_ends() -> None:
    source, target = ends([(0, 2), (1, 2)])
    below, above = np.zeros(3, np.int64), np.zeros(3, np.int64)
    assert count_ends(source, target, below, above) == -1
    assert below.tolist() == [0, 0, 2] and above.tolist() == [1, 1, 0]
    indices, weights = np.empty(4, np.int32), np.empty(4, np.float32)
    fill_links(source, target, np.array([5, 7], np.float32), np.array([0, 1, 2]), np.array([0, 1, 4]), indices, weights)
    assert indices.tolist() == [2, 2, 0, 1]
    assert weights.tolist() == [5.0, 7.0, 5.0, 7.0]


@given(PAIRS)
def test_the_first_link_out_of_order_is_found(pairs: list[tuple[int, int]]) -> None:
    wrong = [i for i, pair in enumerate(pairs) if pair[0] >= pair[1] or (i and pairs[i - 1] >= pair)]
    counts = np.zeros(7, np.int64), np.zeros(7, np.int64)
    assert count_ends(*ends(pairs), *counts) == (wrong[0] if wrong else -1)
    assert counts[1].tolist() == [sum(pair[0] == i for pair in pairs) for i in range(7)]
    assert counts[0].tolist() == [sum(pair[1] == i for pair in pairs) for i in range(7)]


@given(st.lists(st.lists(st.integers(0, 6), unique=True), max_size=8))
def test_homes_are_the_transpose_of_members(lists: list[list[int]]) -> None:
    members = ragged_from_lists([sorted(row) for row in lists])
    counts = np.zeros(7, np.int64)
    count_entries(members.indices, counts)
    expected = transpose(members, 7)
    assert np.cumsum(counts).tolist() == expected.indptr[1:].tolist()
    homes = np.empty(len(members.indices), np.int32)
    fill_homes(members.indptr, members.indices, np.array(expected.indptr[:-1]), homes)
    assert homes.tolist() == expected.indices.tolist()


SETS = st.lists(st.sets(st.integers(0, 9), max_size=6), max_size=6)


def rows_of(indptr: np.ndarray, entries: np.ndarray) -> list[list]:
    assert int(indptr[-1]) == len(entries)
    return [entries[indptr[i] : indptr[i + 1]].tolist() for i in range(len(indptr) - 1)]


@given(SETS, SETS, st.data())
def test_a_merged_row_is_the_union_of_its_rows(old: list, more: list, data: st.DataObject) -> None:
    places = st.lists(st.tuples(st.integers(-1, len(old) - 1), st.integers(-1, len(more) - 1)), max_size=8)
    pairs = data.draw(places)
    shift = data.draw(st.sampled_from([[], [2 * i for i in range(10)]]))
    a, b = (ragged_from_lists([sorted(row) for row in rows]) for rows in (old, more))
    starts, entries = merge_rows(
        a.indptr,
        a.indices,
        np.array([i for i, _ in pairs], np.int64),
        np.array(shift, np.int32),
        b.indptr,
        b.indices,
        np.array([j for _, j in pairs], np.int64),
    )
    assert entries.dtype == np.int32
    assert rows_of(starts, entries) == [
        sorted({shift[x] if shift else x for x in (old[i] if i >= 0 else ())} | (more[j] if j >= 0 else set()))
        for i, j in pairs
    ]


WEIGHTS = st.dictionaries(st.integers(0, 7), st.integers(0, 2**20).map(lambda n: n / 1024), max_size=6)


@given(st.lists(WEIGHTS, max_size=4), st.lists(WEIGHTS, max_size=4), st.data())
def test_merged_links_add_weights_and_keep_what_rounding_takes(old: list, more: list, data: st.DataObject) -> None:
    extra = data.draw(st.integers(0, 3))
    place = [data.draw(st.integers(-1, len(more) - 1)) for _ in range(len(old) + extra)]
    place = [j if j not in place[:i] else -1 for i, j in enumerate(place)]
    a, b = (ragged_from_lists([sorted(row) for row in rows]) for rows in (old, more))
    weights = np.array([row[k] for row in old for k in sorted(row)], np.float32)
    before = np.array([1e-9 * k for row in more for k in sorted(row)])
    rests = before.copy()
    added = np.array([row[k] / 3 for row in more for k in sorted(row)], np.float64)
    starts, ends, totals = add_links(
        a.indptr, a.indices, weights, b.indptr, b.indices, added, np.array(place, np.int64), rests
    )
    assert totals.dtype == np.float32
    found = [dict(zip(*pair, strict=True)) for pair in zip(rows_of(starts, ends), rows_of(starts, totals), strict=True)]
    for i, row in enumerate(found):
        told = old[i] if i < len(old) else {}
        new = more[place[i]] if place[i] >= 0 else {}
        assert list(row) == sorted(told | new)
        for k in sorted(new):
            at = int(b.indptr[place[i]]) + sorted(new).index(k)
            total = (float(np.float32(told[k])) + before[at]) + added[at] if k in told else added[at]
            assert row[k] == float(np.float32(total))
            assert rests[at] == total - row[k]
        assert all(row[k] == float(np.float32(told[k])) for k in told if k not in new)


KEPT, SMALL, FIRST, SECOND = 4, 3, 3, 2
CELLS = st.lists(
    st.tuples(st.sets(st.integers(0, KEPT - 1)), st.sets(st.integers(0, SMALL - 1))), min_size=1, max_size=12
)
GROUPS = st.lists(st.tuples(st.integers(0, FIRST - 1), st.integers(0, SECOND - 1)), min_size=KEPT + SMALL).map(
    lambda rows: np.array(rows[: KEPT + SMALL], np.int32) + np.array([0, FIRST], np.int32)
)


def groups_made(objects: list[tuple[set[int], set[int]]], groups: Array) -> tuple[list, list]:
    """Return the members of every group and their counts, as the kernels write them."""
    kept, small = (ragged_from_lists([sorted(cells[part]) for cells in objects]) for part in (0, 1))
    homes = (kept.indptr, kept.indices, small.indptr, small.indices, KEPT)
    sizes = np.zeros(FIRST + SECOND, np.int64)
    count_groups(*homes, groups, sizes)
    ends = np.cumsum(sizes)
    members, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32)
    fill_groups(*homes, groups, ends - sizes, members, counts)
    rows = [slice(end - size, end) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
    return [members[row].tolist() for row in rows], [counts[row].tolist() for row in rows]


@given(CELLS, GROUPS)
def test_groups_hold_what_their_cells_hold_as_often(objects: list[tuple[set[int], set[int]]], groups: Array) -> None:
    held = [[*kept, *(KEPT + cell for cell in small)] for kept, small in objects]
    times = [[int((groups[cells] == group).sum()) for cells in held] for group in range(FIRST + SECOND)]
    members, counts = groups_made(objects, groups)
    assert members == [[i for i, often in enumerate(row) if often] for row in times]
    assert counts == [[often for often in row if often] for row in times]


def test_two_objects_by_hand() -> None:
    groups = np.array([[0, 3], [0, 4], [1, 3], [2, 3], [1, 4], [2, 4], [0, 4]], np.int32)
    members, counts = groups_made([({0, 1}, {2}), ({2}, set())], groups)
    assert members == [[0], [1], [], [0, 1], [0]]
    assert counts == [[3], [1], [], [1, 1], [2]]
