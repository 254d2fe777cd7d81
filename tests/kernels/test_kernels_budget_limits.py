"""The objects and links that cells bring, against sets of pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.coverage import NO_LIMIT, bring, bring_first
from cube2net.model.cube import Cube

from toys import random_cube, toy_cube


def plain_links(cube: Cube, objects: set[int]) -> int:
    """Return how many links join two of the objects, each once."""
    ends = {(o, n) for o in objects for n in cube.links.neighbours(o).tolist() if n in objects}
    return len(ends) // 2


def plain_first(
    cube: Cube, start: set[int], order: list[int], want: int, nodes: int, links: int
) -> tuple[list[int], set[int]]:
    """Return the places that fit one after the other, and all the objects then in."""
    places: list[int] = []
    inside = set(start)
    for place, cell in enumerate(order):
        trial = inside | set(cube.cells.members[cell].tolist())
        brought = plain_links(cube, trial) - plain_links(cube, start)
        if len(places) < want and len(trial) - len(start) <= nodes and brought <= links:
            places.append(place)
            inside = trial
    return places, inside


def test_a_link_counts_once_whether_it_joins_new_objects_or_leads_to_old_ones() -> None:
    links = toy_cube([[0]], objects=5, links=[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)]).links
    present = np.array([1, 0, 0, 0, 0], dtype=np.int8)
    found = bring(np.array([0, 1, 2]), present, links.indptr, links.indices, NO_LIMIT, 10)
    assert found == (2, 3)
    assert present.tolist() == [1, 1, 1, 0, 0]


def test_what_does_not_fit_changes_nothing() -> None:
    links = toy_cube([[0]], objects=5, links=[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)]).links
    for nodes, most in ((1, 10), (5, 2), (5, 0)):
        present = np.array([1, 0, 0, 0, 0], dtype=np.int8)
        found = bring(np.array([0, 1, 2]), present, links.indptr, links.indices, nodes, most)
        assert found == (-1, -1)
        assert present.tolist() == [1, 0, 0, 0, 0]


limits = st.one_of(st.just(NO_LIMIT), st.integers(0, 40))


@given(st.integers(0, 999), st.integers(0, 6), limits, limits)
def test_the_first_cells_that_fit_are_those_that_sets_give(seed: int, want: int, nodes: int, links: int) -> None:
    cube = random_cube(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(cube.cells))
    start = set(rng.choice(len(cube.objects), size=5, replace=False).tolist())
    present = np.zeros(len(cube.objects), dtype=np.int8)
    present[list(start)] = 1
    members = cube.cells.members
    places, new, brought = bring_first(
        order, want, members.indptr, members.indices, present, cube.links.indptr, cube.links.indices, nodes, links
    )
    expected, inside = plain_first(cube, start, order.tolist(), want, nodes, links)
    assert places.tolist() == expected
    assert set(np.flatnonzero(present).tolist()) == inside
    assert new == len(inside) - len(start)
    if links != NO_LIMIT:
        assert brought == plain_links(cube, inside) - plain_links(cube, start)
