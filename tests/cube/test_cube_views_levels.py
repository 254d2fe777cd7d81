import pytest

from cube2net.cube.building.build import build, update
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.errors import CubeError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of

KINDS = {"ACL": "conference", "KDD": "conference", "TACL": "journal", "WMT": "workshop"}
FINE = [DimensionSpec("year", "year", bins="years", parent="decades"), DimensionSpec("venue", "venue", parent="kind")]
COARSE = [DimensionSpec("decades", "year", bins="decades"), DimensionSpec("venue", "venue")]


def contents(cube: Cube) -> dict[tuple[str, ...], list[int]]:
    return {cube.cell(i): cube.cells.members[i].tolist() for i in range(len(cube.cells))}


def test_a_view_that_is_not_there_is_refused_in_one_sentence() -> None:
    cube = build(corpus_of([(2003, ["KDD"], [0])], objects=1, kinds=KINDS), COARSE, DuckDB(), min_objects=1)
    with pytest.raises(ParameterError, match="dimension 'venue' has no level above"):
        roll_up(cube, "venue")
    with pytest.raises(ParameterError, match="dimension 'venue' has no level below"):
        drill_down(cube, "venue")
    with pytest.raises(ParameterError, match="unknown dimension 'venues': choose one of decades, venue .did you mean"):
        dice(cube, {"venues": "KDD"})
    with pytest.raises(ParameterError, match="unknown label of 'venue' 'KDDD': .*did you mean 'KDD'"):
        slice_cube(cube, "venue", "KDDD")
    with pytest.raises(ParameterError, match="no label is given for dimension 'venue'"):
        dice(cube, {"venue": []})
    with pytest.raises(ParameterError, match="only dimension"):
        slice_cube(slice_cube(cube, "venue", "KDD"), "decades", "200X")


def test_what_is_drilled_down_after_dicing_is_still_a_view() -> None:
    cube = build(corpus_of([(2001, ["ACL"], [0, 1]), (2012, ["KDD"], [1, 2])], objects=3), FINE[:1], DuckDB())
    diced = drill_down(dice(roll_up(cube, "year"), {"decades": "200X"}), "decades")
    assert diced.settings["views"] == ["only decades: 200X"]
    with pytest.raises(CubeError, match="the cube is a view of another"):
        update(diced, corpus_of([(2003, ["ACL"], [0])], objects=1), DuckDB())
    assert "views" not in drill_down(roll_up(cube, "year"), "decades").settings


def test_labels_to_cut_by_may_be_numbers_and_must_stand_by_dimension() -> None:
    cube = build(
        corpus_of([(2001, ["ACL"], [0, 1]), (2012, ["KDD"], [1, 2])], objects=3), FINE[:1], DuckDB(), min_objects=1
    )
    assert contents(dice(cube, {"year": 2001})) == contents(dice(cube, {"year": ["2001"]}))
    with pytest.raises(ParameterError, match="where is 'year=2001', expected labels by dimension"):
        dice(cube, "year=2001")  # type: ignore[arg-type]


def test_a_label_of_the_one_level_above_that_has_it_is_taken_as_such() -> None:
    rows = [(2003, ["KDD"], [0]), (2004, ["ACL"], [1]), (2013, ["WMT"], [2])]
    cube = build(corpus_of(rows, objects=3, kinds=KINDS), FINE, DuckDB(), min_objects=1)
    assert contents(dice(cube, {"year": "200X"})) == contents(dice(cube, {"decades": "200X"}))
    assert contents(dice(cube, {"year": ["200X", "2013"]})) == contents(cube)
    with pytest.raises(ParameterError, match=r"^unknown label of 'year' '202X': choose one of 2003, 2004, 2013"):
        dice(cube, {"year": "202X"})


def test_levels_above_are_among_the_dimensions_that_may_be_named() -> None:
    cube = build(corpus_of([(2003, ["KDD"], [0])], objects=1, kinds=KINDS), FINE, DuckDB(), min_objects=1)
    said = r"^unknown dimension 'decade': choose one of decades, kind, venue, year \(did you mean 'decades'\?\)$"
    with pytest.raises(ParameterError, match=said):
        dice(cube, {"decade": "200X"})


def test_a_cell_that_a_view_hides_is_said_to_be_left_out_by_it() -> None:
    rows = [(2003, ["KDD"], [0]), (2003, ["ACL"], [1]), (2013, ["KDD"], [2]), (2004, ["ACL"], [2])]
    cube = build(corpus_of(rows, objects=3, kinds=KINDS), FINE, DuckDB(), min_objects=1)
    view = dice(cube, {"venue": "ACL"})
    with pytest.raises(ParameterError) as hidden:
        view.find_cell(("2003", "KDD"))
    assert str(hidden.value) == "the view of the cube leaves the cell 2003 · KDD out (only venue: ACL)"
    with pytest.raises(ParameterError) as absent:
        dice(cube, {"venue": ["ACL", "KDD"]}).find_cell(("2013", "ACL"))
    assert str(absent.value).startswith("no cell has the labels 2013 · ACL in this view of the cube (only venue: ")
    with pytest.raises(ParameterError, match=r"^no cell has the labels 2013 · ACL, or it holds too few objects$"):
        cube.find_cell(("2013", "ACL"))
