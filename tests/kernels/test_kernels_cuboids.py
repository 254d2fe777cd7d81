import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net.array_types import Array
from cube2net.arrays import ragged_from_lists
from cube2net.kernels.cuboids import count_groups, fill_groups

KEPT, SMALL, FIRST, SECOND = 4, 3, 3, 2
CELLS = st.lists(
    st.tuples(st.sets(st.integers(0, KEPT - 1)), st.sets(st.integers(0, SMALL - 1))), min_size=1, max_size=12
)
GROUPS = st.lists(st.tuples(st.integers(0, FIRST - 1), st.integers(0, SECOND - 1)), min_size=KEPT + SMALL).map(
    lambda rows: np.array(rows[: KEPT + SMALL], np.int32) + np.array([0, FIRST], np.int32)
)


def made(objects: list[tuple[set[int], set[int]]], groups: Array, wanted: int) -> tuple[list, list, list]:
    """Return the members of every group, their counts, and the homes of every object, as the kernels write them."""
    kept, small = (ragged_from_lists([sorted(cells[part]) for cells in objects]) for part in (0, 1))
    homes = (kept.indptr, kept.indices, small.indptr, small.indices, KEPT)
    sizes = np.zeros(FIRST + SECOND, np.int64)
    count_groups(*homes, groups, sizes)
    ends = np.cumsum(sizes)
    members, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32)
    starts, found = np.empty(len(objects) + 1, np.int64), np.empty(int(sizes[:wanted].sum()), np.int32)
    fill_groups(*homes, groups, ends - sizes, members, counts, wanted, starts, found)
    rows = [slice(end - size, end) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
    return (
        [members[row].tolist() for row in rows],
        [counts[row].tolist() for row in rows],
        [found[starts[i] : starts[i + 1]].tolist() for i in range(len(objects))],
    )


@given(CELLS, GROUPS, st.integers(0, FIRST + SECOND))
def test_groups_hold_what_their_cells_hold_as_often(
    objects: list[tuple[set[int], set[int]]], groups: Array, wanted: int
) -> None:
    held = [[*kept, *(KEPT + cell for cell in small)] for kept, small in objects]
    times = [[int((groups[cells] == group).sum()) for cells in held] for group in range(FIRST + SECOND)]
    members, counts, homes = made(objects, groups, wanted)
    assert members == [[i for i, often in enumerate(row) if often] for row in times]
    assert counts == [[often for often in row if often] for row in times]
    assert homes == [[group for group in range(wanted) if times[group][i]] for i in range(len(objects))]


def test_two_objects_by_hand() -> None:
    groups = np.array([[0, 3], [0, 4], [1, 3], [2, 3], [1, 4], [2, 4], [0, 4]], np.int32)
    members, counts, homes = made([({0, 1}, {2}), ({2}, set())], groups, 4)
    assert members == [[0], [1], [], [0, 1], [0]]
    assert counts == [[3], [1], [], [1, 1], [2]]
    assert homes == [[0, 3], [1, 3]]
