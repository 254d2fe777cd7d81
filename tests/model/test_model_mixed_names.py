"""Cells at mixed levels by whatever names them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.views import roll_up
from cube2net.errors import ParameterError
from cube2net.model.node_names import MixedCell, Node, resolve_cell
from levels_by_hand import every_cell, levelled_cube


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
        assert resolve_cell(cube, given_) == wanted, given_
    assert resolve_cell(cube, "June") == resolve_cell(cube, " ⟨June⟩ ") == MixedCell((2, None, None), (1, -1, -1))
    assert resolve_cell(cube, "smith · cutler").names(cube) == ("∗", "∗", "smith · cutler")
    for given_ in (None, "∗", "*, *, *", ("∗",) * 3, {}):
        assert resolve_cell(cube, given_) == MixedCell.top(cube)
    assert resolve_cell(cube, Node("cell", 1)).names(cube) == tuple(
        f"{name} (town)" if name == "Ur" else name for name in cube.cell(1)
    )


@given(seed=st.integers(0, 1_000), number=st.integers(0, 10_000))
def test_what_a_cell_is_called_names_it(seed: int, number: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    cell = every[number % len(every)]
    for given_ in (cell.names(cube), cell.title(cube), cell.title(cube).strip("⟨⟩")):
        assert resolve_cell(cube, given_) == cell


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ("June · ∗", r"a cell has a label or ∗ for each of day, town, craft, with · between, got 'June · ∗'"),
        (("June", "∗"), r"a cell has a label or ∗ for each of day, town, craft, got \('June', '∗'\)"),
        ("July", r"a cell has a label or ∗ for each of day, town, craft, with · between, got 'July'"),
        ("Jnue", r"for each of day, town, craft, with · between, got 'Jnue' \(did you mean 'June'\?\)$"),
        ("nothing like it", r"with · between, got 'nothing like it'$"),
        (7, r"a cell has a label or ∗ for each of day, town, craft, got 7"),
        (
            "Jun · ∗ · ∗",
            r"unknown label of 'day' or 'week' or 'month' or 'season' 'Jun': choose one of .*\(did you mean 'June'\?\)",
        ),
        ("∗ · Ur · ∗", r"'Ur' is a label of several levels of 'town': write 'Ur \(town\)' or 'Ur \(land\)'"),
        ({"years": "June"}, r"unknown dimension 'years': choose one of craft, day, land, month, season, town, week"),
        ({"month": "June", "day": "day 1"}, r"names the dimension 'day' twice: give one label"),
        ({"month": "July"}, r"unknown label of 'month' 'July': choose one of June, May"),
        (MixedCell((9, None, None), (0, -1, -1)), r"is of another cube: a cell has a label or ∗ for each of"),
        (Node("cell", 99), r"the cube has \d+ cells, and cell 99 is another"),
    ],
)
def test_what_names_no_cell_is_said(given_: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        resolve_cell(levelled_cube(0), given_)


def test_a_dimension_at_the_top_has_no_labels_to_name() -> None:
    cube = roll_up(levelled_cube(0), "town", "∗")
    assert resolve_cell(cube, "June · ∗ · ∗").names(cube) == ("June", "∗", "∗")
    for given_ in ("June · Sidon · ∗", {"town": "Sidon"}):
        with pytest.raises(ParameterError, match="dimension 'town' stands at ∗, all labels together: 'Sidon'"):
            resolve_cell(cube, given_)


def test_a_line_of_many_commas_is_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="a cell has a label or ∗ for each of"):
        resolve_cell(levelled_cube(0), "day 1," * 50_000)


def test_a_label_may_be_given_as_the_whole_number_that_it_is_in_a_frame() -> None:
    rows = [{"paper": f"p{n}", "object": f"o{n}", "year": 2000 + n % 2, "venue": "ACL"} for n in range(40)]
    cube = c2n.build(c2n.read_tables(rows, item="paper", objects="object"), dimensions=["year", "venue"], min_objects=2)
    wanted = resolve_cell(cube, "2001 · ∗")
    for given_ in ((2001, None), (np.int64(2001), "*"), {"year": 2001}, {"year": np.int64(2001)}, "2001"):
        assert resolve_cell(cube, given_) == wanted
