import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import links_from_pairs, ragged_from_pairs, take_rows, transpose

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0, 10, width=32)), max_size=60)


@given(PAIRS)
def test_a_link_weighs_the_same_from_both_ends_to_the_last_bit(pairs: list[tuple[int, int, float]]) -> None:
    ends = np.array([pair[:2] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    links = links_from_pairs(ends[:, 0], ends[:, 1], np.array([w for _, _, w in pairs], dtype=np.float64), 6)
    dense = np.zeros((6, 6), dtype=np.float32)
    there = np.zeros((6, 6), dtype=bool)
    for row in range(6):
        span = slice(links.indptr[row], links.indptr[row + 1])
        assert (np.diff(links.indices[span]) > 0).all()
        dense[row, links.indices[span]] = links.weights[span]
        there[row, links.indices[span]] = True
    assert np.array_equal(dense, dense.T)
    assert {tuple(sorted(pair[:2])) for pair in pairs if pair[0] != pair[1]} == {
        (a, b) for a in range(6) for b in range(a + 1, 6) if there[a, b]
    }


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7)), max_size=40))
def test_transposing_twice_gives_the_rows_back(pairs: list[tuple[int, int]]) -> None:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    rows = ragged_from_pairs(ends[:, 0], ends[:, 1], 5)
    again = transpose(transpose(rows, 8), 5)
    assert np.array_equal(rows.indptr, again.indptr)
    assert np.array_equal(rows.indices, again.indices)
    order = np.array([3, 0, 3])
    assert [row.tolist() for row in map(take_rows(rows, order).__getitem__, range(3))] == [
        rows[3].tolist(),
        rows[0].tolist(),
        rows[3].tolist(),
    ]
