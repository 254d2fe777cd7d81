"""The cells of any cuboid: exactly those of the cube that would have been built with these levels alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.arrays import row_of_entries
from cube2net.cube.building.build import build, update
from cube2net.cube.cuboids import cuboid
from cube2net.cube.views import count_cells, dice, drill_down, roll_up, slice_cube
from cube2net.cube.window import find_time_dimensions, list_window_labels
from cube2net.errors import CubeError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.node_names import resolve_cell

from corpora import ROWS, contents, corpus_of
from updates import Sqlite

KINDS = {"ACL": "conference", "KDD": "conference", "TACL": "journal", "WMT": "workshop"}
SPECS = [
    DimensionSpec("year", "year", bins="years", parent="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("parity", "year", bins="width:2"),
]
ALONE = {
    "year": DimensionSpec("year", "year", bins="years"),
    "decades": DimensionSpec("decades", "year", bins="decades"),
    "venue": DimensionSpec("venue", "venue"),
    "parity": DimensionSpec("parity", "year", bins="width:2"),
}
FULL = ROWS.filter(lambda rows: any(row[0] is not None and row[1] for row in rows))
LEVELS = [["year"], ["decades"], ["venue"], ["parity"], ["year", "venue"], ["decades", "venue"], ["decades", "parity"]]
BY_HAND = [(2003, ["KDD"], [0, 1]), (2004, ["KDD"], [1]), (2013, ["ACL"], [1, 2]), (2013, ["WMT"], [2])]


def cube_of(rows: list, *, objects: int = 10, least: int = 1, specs: list[DimensionSpec] = SPECS) -> Cube:
    return build(corpus_of(rows, objects=objects, kinds=KINDS), specs, Sqlite(), min_objects=least)


def known(rows: list) -> list:
    return [row for row in rows if row[0] is not None and row[1]]


@given(FULL, st.integers(1, 4), st.sampled_from(LEVELS))
def test_a_cuboid_equals_the_cube_built_with_its_levels_alone(rows: list, least: int, levels: list[str]) -> None:
    cube = cube_of(rows, least=least)
    view = cuboid(cube, ",".join(levels))
    # An item that lacks a label of any dimension is in no cell, so in none of a view.
    built = cube_of(known(rows), least=least, specs=[ALONE[name] for name in levels])
    places = [i for i, dimension in enumerate(view.dimensions) if dimension.name in levels]
    for part, wanted in ((view.cells, built.cells), (view.small, built.small)):
        assert {tuple(name[i] for i in places): objects for name, objects in contents(view, part).items()} == contents(
            built, wanted
        )
        assert all(set(np.delete(row, places)) <= {-1} for row in part.labels)
    assert [view.object_cells[i].tolist() for i in range(10)] == [
        [cell for cell in range(len(view.cells)) if i in view.cells.members[cell]] for i in range(10)
    ]


@given(FULL, st.integers(1, 4))
def test_one_has_every_dimension_alone_side_by_side(rows: list, least: int) -> None:
    cube = cube_of(rows, least=least)
    parts = [contents(cuboid(cube, name)) for name in ("year", "venue", "parity")]
    assert contents(cuboid(cube, "one")) == {cell: objects for part in parts for cell, objects in part.items()}
    assert list(contents(cuboid(cube, "one"))) == [cell for part in parts for cell in part]


@given(FULL, st.integers(1, 4))
def test_counts_say_how_many_cells_of_the_cube_hold_the_object(rows: list, least: int) -> None:
    cube = cube_of(rows, least=least)
    view = cuboid(cube, ("venue", "decades,parity"))
    expected: Counter[tuple[tuple[str, ...], int]] = Counter()
    for (year, venue, parity), objects in (contents(cube, cube.cells) | contents(cube, cube.small)).items():
        for which in objects:
            expected[("∗", venue, "∗"), which] += 1
            expected[(f"{year[:3]}X", "∗", parity), which] += 1
    found = {}
    for part in (view.cells, view.small):
        assert part.counts is not None
        at = 0
        for name, objects in contents(view, part).items():
            for which in objects:
                found[name, which] = int(part.counts[at])
                at += 1
    assert found == dict(expected)


def test_a_cuboid_by_hand() -> None:
    cube = cube_of(BY_HAND, objects=3)
    assert contents(cuboid(cube, "venue")) == {
        ("∗", "ACL", "∗"): [1, 2],
        ("∗", "KDD", "∗"): [0, 1],
        ("∗", "WMT", "∗"): [2],
    }
    kinds = cuboid(cube, "decades, kind")
    assert contents(kinds) == {
        ("200X", "conference", "∗"): [0, 1],
        ("201X", "conference", "∗"): [1, 2],
        ("201X", "workshop", "∗"): [2],
    }
    assert kinds.cells.counts is not None and kinds.cells.counts.tolist() == [1, 2, 1, 1, 1]
    assert [dimension.name for dimension in kinds.dimensions] == ["decades", "kind", "parity"]
    assert kinds.settings["views"] == ["cells of decades,kind"]


def test_full_is_the_cube_itself_and_one_of_a_single_dimension_too() -> None:
    cube = cube_of(BY_HAND, objects=3)
    assert cuboid(cube, "full") is cube
    assert cuboid(cube, "parity,year,venue") is cube
    single = cube_of(BY_HAND, objects=3, specs=[ALONE["venue"]])
    assert cuboid(single, "one") is single
    both = cuboid(cube, ["full", "one", "venue"])
    assert contents(both) == contents(cube) | contents(cuboid(cube, "one"))


def test_a_view_is_made_once_and_not_shared_by_other_cubes() -> None:
    cube = cube_of(BY_HAND, objects=3)
    assert cuboid(cube, "one") is cuboid(cube, ["year", "venue", "parity"])
    assert cuboid(dice(cube, {"venue": "KDD"}), "one") is not cuboid(cube, "one")
    assert contents(cuboid(dice(cube, {"venue": "KDD"}), "decades")) == {("200X", "∗", "∗"): [0, 1]}


def test_cells_with_too_few_objects_are_set_aside_after_they_are_put_together() -> None:
    cube = cube_of(BY_HAND, objects=3, least=2)
    view = cuboid(cube, "venue")
    assert contents(view) == {("∗", "ACL", "∗"): [1, 2], ("∗", "KDD", "∗"): [0, 1]}
    assert contents(view, view.small) == {("∗", "WMT", "∗"): [2]}
    assert view.settings["dropped"]["cells with fewer than 2 objects"] == 1


def test_levels_of_one_dimension_stand_side_by_side_under_one_name() -> None:
    cube = cube_of(BY_HAND, objects=3)
    view = cuboid(cube, ["year", "decades,venue", "full"])
    assert [dimension.name for dimension in view.dimensions] == ["year/decades", "venue", "parity"]
    assert view.find_cell(["2003", "∗", "∗"]) == 0
    assert view.cells.members[view.find_cell(["200X", "KDD", "*"])].tolist() == [0, 1]
    assert contents(cube).items() <= contents(view).items()


def test_a_label_that_two_levels_have_is_named_with_its_level() -> None:
    cube = build(
        corpus_of(BY_HAND, objects=3, kinds={"ACL": "ACL", "KDD": "other", "WMT": "ACL"}),
        [DimensionSpec("venue", "venue", parent="publisher")],
        Sqlite(),
        min_objects=1,
    )
    assert contents(cuboid(cube, ["venue", "publisher"])) == {
        ("ACL (venue)",): [1, 2],
        ("KDD",): [0, 1],
        ("WMT",): [2],
        ("ACL (publisher)",): [1, 2],
        ("other",): [0, 1],
    }


def test_cuboids_of_a_rolled_up_cube_start_at_its_levels() -> None:
    cube = roll_up(cube_of(BY_HAND, objects=3), "year")
    assert contents(cuboid(cube, "decades")) == {("200X", "∗", "∗"): [0, 1], ("201X", "∗", "∗"): [1, 2]}
    with pytest.raises(ParameterError, match="unknown level 'year': choose one of decades, full, kind, one, parity"):
        cuboid(cube, "year")


def test_a_cube_without_cells_has_cuboids_without_cells() -> None:
    cube = dice(cube_of(BY_HAND, objects=3), {"venue": "WMT", "year": "2003"})
    assert len(cuboid(cube, "one").cells) == 0


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ("venues", "unknown level 'venues': choose one of decades, full, kind, one, .* .did you mean 'venue'"),
        ("venue,", "unknown level '': choose one of"),
        ("venue,one", "unknown level 'one': choose one of decades, kind, parity, venue, year"),
        ("venue,kind", "the levels 'venue,kind' name the dimension 'venue' twice: .* two texts for the cells of both"),
        ([], r"levels is \[\], expected a text such as 'one' or 'venue,topic', or several"),
        (7, "levels is 7, expected a text"),
        (["venue", 7], r"levels is \['venue', 7\], expected a text"),
    ],
)
def test_levels_that_are_not_there_are_refused_in_one_sentence(levels: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        cuboid(cube_of(BY_HAND, objects=3), levels)  # type: ignore[arg-type]


def test_a_view_is_not_rolled_drilled_sliced_or_taken_from_again() -> None:
    view = cuboid(cube_of(BY_HAND, objects=3), "decades,venue")
    for done in (
        lambda: roll_up(view, "venue"),
        lambda: drill_down(view, "decades"),
        lambda: slice_cube(view, "venue", "KDD"),
        lambda: dice(view, {"venue": "KDD"}),
        lambda: cuboid(view, "venue"),
    ):
        with pytest.raises(
            ParameterError, match=r"a view \(cells of decades,venue\) cannot be .*: do it with the cube"
        ):
            done()


@given(FULL, st.integers(1, 4))
def test_cells_of_one_label_stand_behind_the_cubes_own_and_hold_all_with_that_label(rows: list, least: int) -> None:
    cube = cube_of(rows, least=least)
    view = cuboid(cube, "full+one")
    found = contents(view)
    own = contents(cube)
    assert list(found)[: len(own)] == list(own) and {name: found[name] for name in own} == own
    holders: dict[tuple[str, ...], list[int]] = {}
    for name, objects in [*own.items(), *contents(cube, cube.small).items()]:
        for place, label in enumerate(name):
            one = tuple(label if i == place else "∗" for i in range(len(name)))
            holders.setdefault(one, []).extend(objects)
    expected = {name: sorted(set(objects)) for name, objects in holders.items() if len(objects) >= least}
    assert dict(list(found.items())[len(own) :]) == expected


@given(FULL, st.integers(1, 4), st.lists(st.integers(0, 9), max_size=6))
def test_cells_of_some_objects_are_those_found_by_computing_all_members(rows: list, least: int, some: list) -> None:
    view = cuboid(cube_of(rows, least=least), "full+one")
    objects = np.array(some, dtype=np.int64)
    cells, counts = view.object_cells.take_counted(objects)
    assert "_all_rows" not in vars(view.cells.members), "members of all cells were computed"
    members, all_counts = view.cells.members, view.cells.members.counts
    expected = [
        (place, cell, int(all_counts[entry]))
        for place, row in enumerate(some)
        for cell in range(len(members))
        for entry in range(members.indptr[cell], members.indptr[cell + 1])
        if members.indices[entry] == row
    ]
    assert list(zip(row_of_entries(cells).tolist(), cells.indices.tolist(), counts.tolist(), strict=True)) == expected
    assert [view.object_cells[row].tolist() for row in some] == [cells[place].tolist() for place in range(len(some))]


def test_a_cube_of_one_dimension_has_its_cells_of_one_label_already() -> None:
    cube = cube_of(BY_HAND, specs=SPECS[1:2])
    assert cuboid(cube, "full+one") is cube


FINE = [DimensionSpec("year", "year", bins="years", parent="decades"), DimensionSpec("venue", "venue", parent="kind")]
COARSE = [DimensionSpec("decades", "year", bins="decades"), DimensionSpec("venue", "venue")]


def test_a_view_that_is_not_there_is_refused_in_one_sentence() -> None:
    cube = build(corpus_of([(2003, ["KDD"], [0])], objects=1, kinds=KINDS), COARSE, Sqlite(), min_objects=1)
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
    cube = build(corpus_of([(2001, ["ACL"], [0, 1]), (2012, ["KDD"], [1, 2])], objects=3), FINE[:1], Sqlite())
    diced = drill_down(dice(roll_up(cube, "year"), {"decades": "200X"}), "decades")
    assert diced.settings["views"] == ["only decades: 200X"]
    with pytest.raises(CubeError, match="the cube is a view of another"):
        update(diced, corpus_of([(2003, ["ACL"], [0])], objects=1), Sqlite())
    assert "views" not in drill_down(roll_up(cube, "year"), "decades").settings


def test_labels_to_cut_by_may_be_numbers_and_must_stand_by_dimension() -> None:
    cube = build(
        corpus_of([(2001, ["ACL"], [0, 1]), (2012, ["KDD"], [1, 2])], objects=3), FINE[:1], Sqlite(), min_objects=1
    )
    assert contents(dice(cube, {"year": 2001})) == contents(dice(cube, {"year": ["2001"]}))
    with pytest.raises(ParameterError, match="where is 'year=2001', expected labels by dimension"):
        dice(cube, "year=2001")  # type: ignore[arg-type]


def test_a_label_of_the_one_level_above_that_has_it_is_taken_as_such() -> None:
    rows = [(2003, ["KDD"], [0]), (2004, ["ACL"], [1]), (2013, ["WMT"], [2])]
    cube = build(corpus_of(rows, objects=3, kinds=KINDS), FINE, Sqlite(), min_objects=1)
    assert contents(dice(cube, {"year": "200X"})) == contents(dice(cube, {"decades": "200X"}))
    assert contents(dice(cube, {"year": ["200X", "2013"]})) == contents(cube)
    with pytest.raises(ParameterError, match=r"^unknown label of 'year' '202X': choose one of 2003, 2004, 2013"):
        dice(cube, {"year": "202X"})


def test_levels_above_are_among_the_dimensions_that_may_be_named() -> None:
    cube = build(corpus_of([(2003, ["KDD"], [0])], objects=1, kinds=KINDS), FINE, Sqlite(), min_objects=1)
    said = r"^unknown dimension 'decade': choose one of decades, kind, venue, year \(did you mean 'decades'\?\)$"
    with pytest.raises(ParameterError, match=said):
        dice(cube, {"decade": "200X"})


def test_a_cell_that_a_view_hides_is_said_to_be_left_out_by_it() -> None:
    rows = [(2003, ["KDD"], [0]), (2003, ["ACL"], [1]), (2013, ["KDD"], [2]), (2004, ["ACL"], [2])]
    cube = build(corpus_of(rows, objects=3, kinds=KINDS), FINE, Sqlite(), min_objects=1)
    view = dice(cube, {"venue": "ACL"})
    with pytest.raises(ParameterError) as hidden:
        view.find_cell(("2003", "KDD"))
    assert str(hidden.value) == "the view of the cube leaves the cell 2003 · KDD out (only venue: ACL)"
    with pytest.raises(ParameterError) as absent:
        dice(cube, {"venue": ["ACL", "KDD"]}).find_cell(("2013", "ACL"))
    assert str(absent.value).startswith("no cell has the labels 2013 · ACL in this view of the cube (only venue: ")
    with pytest.raises(ParameterError, match=r"^no cell has the labels 2013 · ACL, or it holds too few objects$"):
        cube.find_cell(("2013", "ACL"))


def small_cube() -> c2n.Cube:
    corpus = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1).corpus
    return c2n.build(corpus, ["year@years/decades", "venue", "topic"], min_objects=3)


def test_a_cell_lies_where_its_labels_are_or_are_part_of_those_shown() -> None:
    cube = small_cube()
    sides, shown = [cube.level("decades"), cube.level("topic")], [("199X", "200X"), ("topic 1", "topic 0")]
    year = next(label for label in cube.dimensions[0].labels if label.startswith("199"))
    named = [(year, "venue 0", "topic 0"), ("199X", "∗", "topic 0"), ("∗", "∗", "topic 1"), ("200X", "∗", "topic 2")]
    table = count_cells(cube, [resolve_cell(cube, each) for each in named], sides, shown)
    assert table.tolist() == [[0, 2], [0, 0]]
    years = [cube.level("year"), cube.level("topic")]
    coarse = count_cells(cube, [resolve_cell(cube, ("199X", "∗", "topic 0"))], years, [(year,), ("topic 0",)])
    assert coarse.tolist() == [[0]]


def test_the_finest_level_that_cells_have_has_none_below() -> None:
    cube = small_cube()
    year = cube.dimensions[0]
    assert [year.finer(at) for at in (0, 1)] == [None, 0]
    rolled = c2n.api.view_cube(cube, roll_up=[("year", "decades")])
    assert rolled.dimensions[0].finer(1) is None


def test_times_are_known_by_the_dimension_that_is_made_of_them() -> None:
    cube = small_cube()
    labels = list_window_labels(cube)
    assert find_time_dimensions(cube) == {0}
    assert labels == sorted(cube.dimensions[0].labels)
