"""Cells at mixed levels: all of them, exactly, whatever names them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube import cuboid, roll_up
from cube2net.errors import ParameterError
from cube2net.kernels.unions import count_unions
from cube2net.mixed_levels import cells_below, held, mixes_below
from cube2net.records import Cube, Node
from cube2net.records.mixed_cells import MixedCell, levels_of, mixed_cell_of

from toys import levelled_cube


def by_hand(cube: Cube, cell: MixedCell) -> set[int]:
    """Return the objects of a cell at mixed levels, cell by cell of the cube."""
    found: set[int] = set()
    for cells in (cube.cells, cube.small):
        for number, row in enumerate(cells.labels.tolist()):
            parts = zip(cube.dimensions, row, cell.levels, cell.labels, strict=True)
            if all(at is None or dimension.parents_at(at)[own] == label for dimension, own, at, label in parts):
                found |= set(cells.members[number].tolist())
    return found


def is_below(cube: Cube, cell: MixedCell, top: MixedCell) -> bool:
    """Return whether a cell has a finer label than another in one dimension or more, and its own or one under it."""
    parts = zip(cube.dimensions, cell.levels, cell.labels, top.levels, top.labels, strict=True)
    return cell != top and all(
        above is None
        or (at is not None and above in dimension.at_or_above(at) and dimension.parents_at(above, at)[label] == wanted)
        for dimension, at, label, above, wanted in parts
    )


def every_cell(cube: Cube) -> list[MixedCell]:
    """Return every cell at every mix of levels, whether it holds something or not."""
    places = [
        [(None, -1), *((at, label) for at in levels_of(each) for label in range(len(each.levels[at].labels)))]
        for each in cube.dimensions
    ]
    return [MixedCell(tuple(at for at, _ in one), tuple(label for _, label in one)) for one in product(*places)]


@given(seed=st.integers(0, 10_000), start=st.integers(0, 10_000), least=st.integers(1, 4))
def test_the_cells_below_are_those_that_brute_force_finds(seed: int, start: int, least: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    top = every[start % len(every)]
    objects = np.unique(np.random.default_rng(seed).integers(0, len(cube.objects), 8)).astype(np.int32)
    found = cells_below(cube, objects, top, least)
    inside = by_hand(cube, top)
    expected = {}
    for cell in every:
        members = by_hand(cube, cell)
        mine = [place for place, row in enumerate(objects.tolist()) if row in members]
        if is_below(cube, cell, top) and mine and len(members) >= least:
            assert members <= inside
            expected[cell] = (len(members), mine)
    got = {found.cell(i): (int(found.sizes[i]), found.members[i].tolist()) for i in range(len(found))}
    assert got == expected
    assert held(cube, top).tolist() == sorted(inside)


def test_they_are_the_cells_of_the_views_of_all_cuboids() -> None:
    cube = c2n.build_cube(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    found = cells_below(cube, np.arange(len(cube.objects)), MixedCell.top(cube), 10)
    for number, mix in enumerate(found.mixes):
        names = [
            dimension.levels[at].name for dimension, at in zip(cube.dimensions, mix, strict=True) if at is not None
        ]
        view = cuboid(cube, ",".join(names))
        mine = np.flatnonzero(found.mix == number)
        assert {found.cell(i).names(cube) for i in mine.tolist()} == {view.cell(i) for i in range(len(view.cells))}
        assert sorted(found.sizes[mine].tolist()) == sorted(view.cells.members.sizes.tolist())


def test_coarse_cells_come_first_and_none_twice() -> None:
    cube = levelled_cube(3)
    mixes = mixes_below(cube, (None, None, None))
    assert len(mixes) == len(set(mixes)) == 5 * 3 * 2 - 1
    assert mixes[:2] == [(None, None, 0), (None, 1, None)] and mixes[-1] == (0, 0, 0)
    assert mixes_below(cube, (3, 0, 0)) == [(0, 0, 0)]
    assert mixes_below(cube, (0, 0, 0)) == []


def test_a_union_counts_an_object_once() -> None:
    members = np.array([0, 2, 5]), np.array([0, 1, 1, 2, 3], np.int32)
    small = np.array([0, 1]), np.array([3], np.int32)
    counts = count_unions(np.array([0, 2, 3, 3, 5]), np.array([0, 1, 2, 1, 2]), *members, *small, 4)
    assert counts.tolist() == [4, 1, 0, 3]


def test_a_cell_is_named_by_labels_of_any_level() -> None:
    cube = levelled_cube(0)
    wanted = MixedCell((2, None, 0), (1, -1, 0))
    assert wanted.names(cube) == ("June", "∗", "smith · cutler")
    assert wanted.title(cube) == "⟨June · ∗ · smith · cutler⟩"
    for given_ in (
        wanted,
        ("June", "*", "smith · cutler"),
        ["June", None, "smith · cutler"],
        "June · ∗ · smith · cutler",
        "⟨June · ∗ · smith · cutler⟩",
        "cell:June,*,smith · cutler",
        "June·*·smith · cutler",
        " June , ∗ , smith · cutler ",
        {"month": "June", "craft": "smith · cutler"},
        {"month": "June", "craft": "smith · cutler", "town": "*"},
    ):
        assert mixed_cell_of(cube, given_) == wanted, given_
    for given_ in (None, "∗", "*, *, *", ("∗",) * 3, {}):
        assert mixed_cell_of(cube, given_) == MixedCell.top(cube)
    assert mixed_cell_of(cube, Node("cell", 1)).names(cube) == tuple(
        f"{name} (town)" if name == "Ur" else name for name in cube.cell(1)
    )


@given(seed=st.integers(0, 1_000), number=st.integers(0, 10_000))
def test_what_a_cell_is_called_names_it(seed: int, number: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    cell = every[number % len(every)]
    for given_ in (cell.names(cube), cell.title(cube), cell.title(cube).strip("⟨⟩")):
        assert mixed_cell_of(cube, given_) == cell


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ("June · ∗", r"a cell has a label or ∗ for each of day, town, craft, with · between, got 'June · ∗'"),
        (("June", "∗"), r"a cell has a label or ∗ for each of day, town, craft, got \('June', '∗'\)"),
        (7, r"a cell has a label or ∗ for each of day, town, craft, got 7"),
        (
            "Jun · ∗ · ∗",
            r"unknown label of 'day' or 'week' or 'month' or 'season' 'Jun': choose one of .*\(did you mean 'June'\?\)",
        ),
        ("∗ · Ur · ∗", r"'Ur' is a label of several levels of 'town': write 'Ur \(town\)' or 'Ur \(land\)'"),
        ({"years": "June"}, r"unknown dimension 'years': choose one of craft, day, town"),
        ({"month": "June", "day": "day 1"}, r"names the dimension 'day' twice: give one label"),
        ({"month": "July"}, r"unknown label of 'month' 'July': choose one of June, May"),
        (MixedCell((9, None, None), (0, -1, -1)), r"is of another cube: a cell has a label or ∗ for each of"),
        (Node("cell", 99), r"the cube has \d+ cells, and cell 99 is another"),
    ],
)
def test_what_names_no_cell_is_said(given_: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        mixed_cell_of(levelled_cube(0), given_)


def test_a_dimension_at_the_top_has_no_labels_to_name() -> None:
    cube = roll_up(levelled_cube(0), "town", "∗")
    assert mixed_cell_of(cube, "June · ∗ · ∗").names(cube) == ("June", "∗", "∗")
    for given_ in ("June · Sidon · ∗", {"town": "Sidon"}):
        with pytest.raises(ParameterError, match="dimension 'town' stands at ∗, all labels together: 'Sidon'"):
            mixed_cell_of(cube, given_)


def test_a_line_of_many_commas_is_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="a cell has a label or ∗ for each of"):
        mixed_cell_of(levelled_cube(0), "day 1," * 50_000)
