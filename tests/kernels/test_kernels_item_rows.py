from itertools import combinations, pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, compute_offsets, ragged_from_lists
from cube2net.kernels.item_rows import (
    count_cells,
    cross_rows,
    fill_cells,
    fill_rows,
    find_entries,
    mark_held,
    pair_rows,
    renumber_rows,
    sort_rows,
)

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=8)
SETS = st.lists(st.sets(st.integers(0, 9), max_size=6).map(sorted), min_size=1, max_size=8)


def rows_of(indptr: Array, indices: Array) -> list[list[int]]:
    return [indices[a:b].tolist() for a, b in pairwise(indptr)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=30))
def test_pairs_in_any_order_become_sorted_rows_without_repeats(pairs: list[tuple[int, int]]) -> None:
    both = np.array(pairs, np.int32).reshape(-1, 2)
    indptr = compute_offsets(np.sort(both[:, 0]), 5)
    entries = np.empty(len(pairs), np.int32)
    fill_rows(both[:, 0].copy(), both[:, 1].copy(), indptr[:-1].copy(), entries)
    assert rows_of(indptr, entries) == [[entry for row, entry in pairs if row == i] for i in range(5)]
    end = sort_rows(indptr, entries)
    assert end == indptr[-1]
    assert rows_of(indptr, entries) == [sorted({entry for row, entry in pairs if row == i}) for i in range(5)]


def test_long_rows_are_sorted_too() -> None:
    entries = np.array([*range(99, -1, -1), *range(50), *range(100)], np.int32)
    indptr = np.array([0, 150, 250])
    assert sort_rows(indptr, entries) == 200
    assert rows_of(indptr, entries) == [list(range(100))] * 2


@given(
    st.lists(st.tuples(st.booleans(), *[st.sets(st.integers(0, 2)).map(sorted)] * 3), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_the_cells_of_an_item_are_all_choices_of_one_label_a_dimension(items: list, random: object) -> None:
    sizes = np.array([3, 4, 3])
    every = [(a * 4 + b) * 3 + c for a, b, c in product(range(3), range(3), range(3))]
    numbers = list(range(len(every)))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    labels = ragged_from_lists([row for _, *labelled in items for row in labelled])
    mentions = np.cumsum([0, *(says for says, *_ in items)])
    counts = np.empty(len(items), np.int64)
    count_cells(mentions, labels.indptr, 3, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    out = np.empty(int(starts[-1]), np.int32)
    fill_cells(starts, labels.indptr, labels.indices, sizes, np.array(every), np.array(numbers, np.int32), out)
    number = dict(zip(every, numbers, strict=True))
    assert rows_of(starts, out) == [
        sorted(number[(a * 4 + b) * 3 + c] for a, b, c in product(*labelled)) if says else []
        for says, *labelled in items
    ]


@given(SETS, st.lists(st.integers(-1, 4), min_size=10, max_size=10), st.data())
def test_rows_are_numbered_anew_and_some_are_emptied(
    lists: list[list[int]], numbers: list[int], data: st.DataObject
) -> None:
    rows = ragged_from_lists(lists)
    empty = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    none, marks, anew = np.empty(0, np.int32), np.array(empty), np.array(numbers, np.int32)
    assert rows_of(*renumber_rows(rows.indptr, rows.indices, none, none)) == lists
    assert rows_of(*renumber_rows(rows.indptr, rows.indices, marks, anew)) == [
        [] if gone else sorted({numbers[entry] for entry in row} - {-1}) for row, gone in zip(lists, empty, strict=True)
    ]


@given(SETS, st.data())
def test_every_two_of_a_row_and_every_one_beside_another_rows(lists: list[list[int]], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sets(st.integers(0, 4)).map(sorted), min_size=len(lists), max_size=len(lists)))
    items = sorted(data.draw(st.sets(st.integers(0, len(lists) - 1))))
    rows, beside = ragged_from_lists(lists), ragged_from_lists(others)
    chosen = np.array(items, np.int64)
    found = zip(*(part.tolist() for part in pair_rows(chosen, rows.indptr, rows.indices)), strict=True)
    assert list(found) == [pair for item in items for pair in combinations(lists[item], 2)]
    crossed = cross_rows(chosen, rows.indptr, rows.indices, beside.indptr, beside.indices)
    both = list(zip(*(part.tolist() for part in crossed), strict=True))
    assert both == [pair for item in items for pair in product(lists[item], others[item])]


@given(SETS, st.data())
def test_a_pair_is_held_when_an_item_that_stays_has_both(lists: list[list[int]], data: st.DataObject) -> None:
    same = {"min_size": len(lists), "max_size": len(lists)}
    others = data.draw(st.lists(st.sets(st.integers(0, 4)).map(sorted), **same))
    skip = data.draw(st.lists(st.booleans(), **same))
    asked = data.draw(st.lists(st.sets(st.integers(0, 4)).map(sorted), min_size=10, max_size=10))
    rows, beside = ragged_from_lists(lists), ragged_from_lists(others)
    which = np.full(10, -1)
    used = [entry for entry in range(10) if asked[entry]]
    which[used] = np.arange(len(used))
    wanted = ragged_from_lists([asked[entry] for entry in used])
    held = np.zeros(len(wanted.indices), dtype=bool)
    mark_held(
        rows.indptr,
        rows.indices,
        beside.indptr,
        beside.indices,
        np.array(skip),
        which,
        wanted.indptr,
        wanted.indices,
        held,
    )
    stay = {pair for i in range(len(lists)) if not skip[i] for pair in product(lists[i], others[i])}
    assert held.tolist() == [(entry, cell) in stay for entry in used for cell in asked[entry]]


@given(SETS, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9)), max_size=12))
def test_entries_are_found_in_their_rows_or_not(lists: list[list[int]], wanted: list[tuple[int, int]]) -> None:
    rows = ragged_from_lists(lists)
    wanted = [(row % len(lists), entry) for row, entry in wanted]
    pairs = np.array(wanted, np.int32).reshape(-1, 2)
    places = find_entries(rows.indptr, rows.indices, pairs[:, 0].copy(), pairs[:, 1].copy())
    for (row, entry), place in zip(wanted, places.tolist(), strict=True):
        assert (place >= 0) == (entry in lists[row])
        assert place < 0 or (rows.indices[place] == entry and rows.indptr[row] <= place < rows.indptr[row + 1])
