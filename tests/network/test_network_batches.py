"""The nodes of a batch, the links among them and the cells that hold them: by hand, and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.network.batches import bring, link_entries, memberships, ranked_members
from cube2net.network.pagerank import nearest
from cube2net.records import Query
from cube2net.seeding import stream

from toys import random_cube, toy_cube


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def links_by_hand(cube, nodes: list[int]) -> set[tuple[int, int, int]]:
    """Return every link that leads to a node from the first of its like, by looking at all pairs."""
    found = set()
    for i, a in enumerate(nodes):
        if nodes.index(a) != i:
            continue
        for j, b in enumerate(nodes):
            for entry in range(cube.links.indptr[a], cube.links.indptr[a + 1]):
                if cube.links.indices[entry] == b:
                    found.add((i, j, entry))
    return found


@given(st.integers(0, 50), st.lists(st.integers(0, 39), min_size=1, max_size=30))
def test_the_links_of_a_batch_are_those_among_its_nodes_and_repeats_only_receive(seed: int, nodes: list[int]) -> None:
    cube = random_cube(seed)
    source, target, entry = link_entries(cube.links, np.array(nodes))
    got = list(zip(source.tolist(), target.tolist(), entry.tolist(), strict=True))
    assert len(got) == len(set(got))
    assert set(got) == links_by_hand(cube, nodes)


def test_links_among_distinct_nodes_stand_both_ways() -> None:
    cube = random_cube(3)
    source, target, _ = link_entries(cube.links, np.arange(0, 40, 2))
    ways = set(zip(source.tolist(), target.tolist(), strict=True))
    assert ways
    assert ways == {(b, a) for a, b in ways}


def test_an_entry_is_where_the_link_stands_among_all() -> None:
    cube = random_cube(5)
    nodes = np.array([7, 3, 30, 12, 0, 1, 2])
    source, target, entry = link_entries(cube.links, nodes)
    assert np.array_equal(cube.links.indices[entry], nodes[target])
    assert np.array_equal(np.searchsorted(cube.links.indptr, entry, side="right") - 1, nodes[source])


@given(st.integers(0, 50), st.lists(st.integers(0, 39), max_size=20), st.permutations(range(12)), st.integers(0, 12))
def test_memberships_are_those_of_the_cells(seed: int, nodes: list[int], order: list[int], count: int) -> None:
    cube, cells = random_cube(seed), order[:count]
    node, cell = memberships(cube, np.array(nodes, dtype=np.int64), np.array(cells, dtype=np.int32))
    wanted = [
        (i, j)
        for i, a in enumerate(nodes)
        for j, number in enumerate(cells)
        if a in cube.cells.members[number].tolist()
    ]
    assert list(zip(node.tolist(), cell.tolist(), strict=True)) == wanted


def test_members_come_by_links_to_the_query_then_by_how_many_cells_hold_them() -> None:
    cube = toy_cube([[0, 1, 2, 3], [2, 4], [5]], objects=6, links=[(0, 3), (1, 3), (0, 4), (1, 5)])
    got = ranked_members(cube, Query(rows(0, 1)), rows(0, 1), stream(0, "test"))
    assert got.tolist() == [3, 4, 2]


def test_among_equals_chance_decides_by_the_seed() -> None:
    cube = toy_cube([list(range(30))], objects=30)
    ranked = [ranked_members(cube, Query(rows(0)), rows(0), stream(seed, "test")).tolist() for seed in (0, 0, 1)]
    assert ranked[0] == ranked[1] != ranked[2]
    assert sorted(ranked[0]) == sorted(ranked[2]) == list(range(1, 30))


@pytest.mark.parametrize("near", [None, 0, 3, 100])
@pytest.mark.parametrize("room", [None, 0, 1, 5, 12, 39])
def test_what_is_brought_is_new_distinct_and_within_the_room(near: int | None, room: int | None) -> None:
    cube, query = random_cube(1), Query(rows(0, 5, 9))
    brought = bring(cube, query, rows(2, 7), near, room, stream(0, "test"))
    assert len(set(brought.tolist())) == len(brought)
    assert not set(brought.tolist()) & set(query.objects.tolist())
    assert room is None or len(brought) <= room
    first = [] if not near else nearest(cube.links, query, near).tolist()
    assert brought[: len(first)].tolist() == first[:room]


def test_near_objects_fill_what_cells_leave() -> None:
    cube = toy_cube([[0, 1, 2]], objects=8, links=[(0, 3), (3, 4), (4, 5), (0, 1)])
    brought = bring(cube, Query(rows(0)), rows(0), None, 4, stream(0, "test"))
    assert brought.tolist() == [1, 2, 3, 4]
    whole = bring(cube, Query(rows(0)), rows(0), None, 7, stream(0, "test"))
    assert sorted(whole.tolist()) == [1, 2, 3, 4, 5]  # no link leads to 6 and 7


def test_near_objects_do_not_come_without_a_limit_or_a_number() -> None:
    cube = toy_cube([[0, 1]], objects=4, links=[(0, 2), (2, 3)])
    assert bring(cube, Query(rows(0)), rows(0), None, None, stream(0, "test")).tolist() == [1]
    assert bring(cube, Query(rows(0)), rows(0), 2, None, stream(0, "test")).tolist() == [2, 3, 1]
