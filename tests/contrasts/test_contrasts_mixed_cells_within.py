"""Cells at mixed levels below one: all of them, with all objects that they hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.contrasts import count_objects, held, mixed_cells
from cube2net.cube import cuboid
from cube2net.kernels.csr import count_unions, sums_beyond
from levels_by_hand import by_hand, every_cell, is_below, levelled_cube


@given(seed=st.integers(0, 10_000), start=st.integers(0, 10_000))
def test_the_cells_below_one_are_those_that_brute_force_finds(seed: int, start: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    top = every[start % len(every)]
    objects = np.unique(np.random.default_rng(seed).integers(0, len(cube.objects), 8)).astype(np.int32)
    found = mixed_cells(cube, objects, within=top)
    sizes = count_objects(cube, found, top)
    inside = by_hand(cube, top)
    expected = {}
    for cell in every:
        members = by_hand(cube, cell)
        mine = [place for place, row in enumerate(objects.tolist()) if row in members]
        if is_below(cube, cell, top) and mine:
            assert members <= inside
            expected[cell] = (len(members), mine)
    got = {found.cell(i): (int(sizes[i]), found.members[i].tolist()) for i in range(len(found))}
    assert got == expected
    assert held(cube, top).tolist() == sorted(inside)


def test_they_are_the_cells_of_the_views_of_all_cuboids() -> None:
    cube = c2n.build_cube(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    found = mixed_cells(cube, np.arange(len(cube.objects)))
    sizes = count_objects(cube, found)
    for number, mix in enumerate(found.cuboids):
        names = [
            dimension.levels[at].name for dimension, at in zip(cube.dimensions, mix, strict=True) if at is not None
        ]
        view = cuboid(cube, ",".join(names))
        mine = np.flatnonzero((found.cuboid == number) & (sizes >= 10))
        assert {found.cell(i).names(cube) for i in mine.tolist()} == {view.cell(i) for i in range(len(view.cells))}
        assert sorted(sizes[mine].tolist()) == sorted(view.cells.members.sizes.tolist())


def test_a_union_counts_an_object_once() -> None:
    members = np.array([0, 2, 5]), np.array([0, 1, 1, 2, 3], np.int32)
    small = np.array([0, 1]), np.array([3], np.int32)
    counts = count_unions(np.array([0, 2, 3, 3, 5]), np.array([0, 1, 2, 1, 2]), *members, *small, 4)
    assert counts.tolist() == [4, 1, 0, 3]


def test_a_sum_has_what_is_beyond_the_prices() -> None:
    prices, portion = np.array([0.0, 2.0, 5.0]), np.array([1.0, 1.0, 0.5])
    sums = sums_beyond(
        np.array([0, 2, 3, 3]), np.array([0, 1, 2], np.int32), np.array([3.0, 6.0, 9.0]), prices, portion
    )
    assert sums.tolist() == [4.0, 0.5, 0.0]
