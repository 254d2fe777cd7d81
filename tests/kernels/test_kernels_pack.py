import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net.array_types import Array
from cube2net.arrays import links_from_pairs, ragged_from_lists, transpose
from cube2net.kernels.pack import count_ends, count_entries, fill_homes, fill_links

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


@given(PAIRS, st.integers(1, 5))
def test_links_filled_batch_by_batch_are_those_that_are_sorted(pairs: list[tuple[int, int]], size: int) -> None:
    source, target = ends(sorted({pair for pair in pairs if pair[0] < pair[1]}))
    weight = np.arange(1, len(source) + 1, dtype=np.float32)
    expected = links_from_pairs(source, target, weight, 7)
    below, above = np.zeros(7, np.int64), np.zeros(7, np.int64)
    count_ends(source, target, below, above)
    next_below, next_above = np.array(expected.indptr[:-1]), expected.indptr[:-1] + below
    indices, weights = np.empty(2 * len(source), np.int32), np.empty(2 * len(source), np.float32)
    for at in range(0, len(source), size):
        part = slice(at, at + size)
        fill_links(source[part], target[part], weight[part], next_below, next_above, indices, weights)
    assert indices.tolist() == expected.indices.tolist()
    assert weights.tolist() == expected.weights.tolist()


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
