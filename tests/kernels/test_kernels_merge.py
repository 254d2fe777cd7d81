from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.arrays import ragged_from_lists
from cube2net.kernels.merge import merge_links, merge_rows

SETS = st.lists(st.sets(st.integers(0, 9), max_size=6), max_size=6)


def rows_of(indptr: np.ndarray, entries: np.ndarray) -> list[list]:
    assert int(indptr[-1]) == len(entries)
    return [entries[indptr[i] : indptr[i + 1]].tolist() for i in range(len(indptr) - 1)]


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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
    starts, ends, totals = merge_links(
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
