"""Mixed cells against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.api.build import build
from cube2net.api.datasets import make_planted
from cube2net.cube.cuboids import cuboid, pick_cells
from cube2net.cube.views import roll_up
from cube2net.explanation.drill import (
    MixedCells,
    count_objects,
    find_members,
    find_mixed_cells,
    is_above,
    list_cuboids,
)
from cube2net.kernels.csr import count_unions, sums_beyond
from cube2net.model.cube import Cube
from levels_by_hand import by_hand, every_cell, is_below, levelled_cube

from leveled_cubes import brute_cells, leveled_cube


def entries_of(cube: Cube, mixed: MixedCells, cell: int) -> tuple[tuple[str, str] | None, ...]:
    levels = mixed.cuboids[int(mixed.cuboid[cell])]
    return tuple(
        None if at is None else (dimension.levels[at].name, dimension.levels[at].labels[label])
        for dimension, at, label in zip(cube.dimensions, levels, mixed.labels[cell].tolist(), strict=True)
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("least", [1, 3, 6])
def test_the_mixed_cells_are_those_of_brute_force(seed: int, least: int) -> None:
    cube = leveled_cube(seed)
    rows = np.sort(np.random.default_rng(seed).choice(24, size=15, replace=False)).astype(np.int32)
    mixed = find_mixed_cells(cube, rows, least)
    found = {entries_of(cube, mixed, cell): set(rows[mixed.members[cell]].tolist()) for cell in range(len(mixed))}
    plain = {entries: objects & set(rows.tolist()) for entries, objects in brute_cells(cube).items()}
    assert found == {entries: objects for entries, objects in plain.items() if len(objects) >= least}


@pytest.mark.parametrize("seed", range(4))
def test_so_they_are_where_a_dimension_was_rolled_up(seed: int) -> None:
    for to in ("decades", "∗"):
        cube = roll_up(leveled_cube(seed), "year", to)
        mixed = find_mixed_cells(cube, np.arange(24, dtype=np.int32))
        top = [dimension.is_top for dimension in cube.dimensions]
        plain = brute_cells(leveled_cube(seed))
        allowed = {"∗": (), "decades": ("decades",)}[to]
        wanted = {key: held for key, held in plain.items() if key[0] is None or key[0][0] in allowed}
        assert {
            entries_of(cube, mixed, cell): set(mixed.members[cell].tolist()) for cell in range(len(mixed))
        } == wanted
        assert top == [to == "∗", False]


def test_more_general_cuboids_come_first_and_are_found_by_any_own_cell() -> None:
    cube = leveled_cube(0)
    cuboids = list_cuboids(cube)
    assert len(cuboids) == 3 * 2 - 1
    for late, levels in enumerate(cuboids):
        assert not any(is_above(cube, other, levels) for other in cuboids[late:])
    mixed = find_mixed_cells(cube, np.arange(24, dtype=np.int32))
    for cell in range(len(mixed)):
        for above in range(int(mixed.cuboid[cell])):
            if is_above(cube, mixed.cuboids[above], mixed.cuboids[int(mixed.cuboid[cell])]):
                general = int(mixed.of[above][mixed.base[cell]])
                assert set(mixed.members[cell].tolist()) <= set(mixed.members[general].tolist())


def test_of_cells_with_the_same_objects_the_one_with_fewest_labels_stands_for_all() -> None:
    mixed = find_mixed_cells(leveled_cube(3), np.arange(24, dtype=np.int32))
    first = mixed.simplest()
    for cell, other in enumerate(first.tolist()):
        assert other <= cell
        assert mixed.members[cell].tolist() == mixed.members[other].tolist()
    kinds = {tuple(mixed.members[cell].tolist()) for cell in range(len(mixed))}
    assert len(kinds) == len(set(first.tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_picked_cells_hold_what_brute_force_says_however_few(seed: int) -> None:
    cube = leveled_cube(seed)
    plain = brute_cells(cube)
    view = pick_cells(cube, [[entry and entry[1] for entry in entries] for entries in plain])
    assert view.finest is cube
    assert len(view.cells) == len(plain) and len(view.small) == 0
    for number, (entries, objects) in enumerate(plain.items()):
        assert set(view.cells.members[number].tolist()) == objects
        assert view.cell(number) == tuple("∗" if entry is None else entry[1] for entry in entries)


def test_items_are_in_picked_cells_when_they_are_in_a_part_of_them() -> None:
    planted = make_planted(objects=60, communities=3, noise=0.3, seed=2)
    cube = build(planted.corpus)
    entries = [
        [dimension.labels[0] if number == at else None for number, dimension in enumerate(cube.dimensions)]
        for at in range(3)
    ]
    view = pick_cells(cube, [*entries, [None, None, None]])
    assert cube.items is not None and view.items is not None
    old, new = cube.items(), view.items()
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    for item in range(len(old)):
        own = labels[old.cells[item]]
        wanted = [at for at in range(3) if (own[:, at] == 0).any()] + [3] * bool(len(own))
        assert new.cells[item].tolist() == wanted
    assert new.objects is old.objects
    nothing = pick_cells(cube, [])
    assert nothing.items is not None and not len(nothing.items().cells.indices)


@given(seed=st.integers(0, 10_000), start=st.integers(0, 10_000))
def test_the_cells_below_one_are_those_that_brute_force_finds(seed: int, start: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    top = every[start % len(every)]
    objects = np.unique(np.random.default_rng(seed).integers(0, len(cube.objects), 8)).astype(np.int32)
    found = find_mixed_cells(cube, objects, within=top)
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
    assert find_members(cube, top).tolist() == sorted(inside)


def test_they_are_the_cells_of_the_views_of_all_cuboids() -> None:
    cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    found = find_mixed_cells(cube, np.arange(len(cube.objects)))
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
