"""Which objects a view lets come: those of its cells, of its time and of its kinds, all at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.cuboids import cuboid
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, drill_down, of_kind, roll_up, slice_cube
from cube2net.cube.window import between
from cube2net.errors import CubeError, ParameterError
from cube2net.model.corpus import LINKS, Corpus, table
from cube2net.model.cube import Cube, get_lineage
from cube2net.model.dimension import DimensionSpec
from cube2net.model.recipe import cube_fingerprint

from corpora import corpus_of
from updates import Sqlite

KINDS = {"ACL": "conference", "KDD": "conference", "TACL": "journal", "WMT": "workshop"}
DIMENSIONS = [
    DimensionSpec("year", "year", bins="years", parent="decades"),
    DimensionSpec("venue", "venue", None, "kind"),
]
ROWS: list = [
    (2001, ["ACL"], [0, 1, 2]),
    (2002, ["KDD"], [1, 3]),
    (2011, ["TACL"], [2, 4]),
    (2012, [], [5, 6]),
    (None, ["WMT"], [0, 7]),
]


def corpus(rows: list = ROWS, **more: Any) -> Corpus:
    """Return a corpus of nine objects, of which 0 to 3 are authors, 4 to 6 editors and the last ones reviewers."""
    made = corpus_of(rows, objects=9, kinds=KINDS, **more)
    kinds = pa.array(["author"] * 4 + ["editor"] * 3 + ["reviewer"] * 2)
    return replace(made, objects=made.objects.set_column(2, "kind", kinds))


def cube_of(rows: list = ROWS, least: int = 1) -> Cube:
    return build(corpus(rows), DIMENSIONS, Sqlite(), min_objects=least)


def may_come(cube: Cube) -> list[int]:
    return list(range(9)) if cube.bringable is None else np.flatnonzero(cube.bringable).tolist()


def test_a_cube_and_what_only_regroups_it_let_all_come() -> None:
    cube = cube_of()
    for view in (cube, roll_up(cube, "year"), drill_down(roll_up(cube, "year"), "decades"), cuboid(cube, "one")):
        assert view.bringable is None
    assert dice(cube, {}).bringable is None, "nothing is asked for"


@pytest.mark.parametrize("least", [1, 3])
def test_labels_let_the_objects_of_their_cells_come_those_of_small_cells_too(least: int) -> None:
    cube = cube_of(least=least)
    assert may_come(dice(cube, {"venue": "ACL"})) == [0, 1, 2]
    assert may_come(dice(cube, {"venue": ["ACL", "TACL"]})) == [0, 1, 2, 4]
    assert may_come(dice(cube, {"kind": "conference"})) == [0, 1, 2, 3]
    assert may_come(dice(cube, {"venue": "WMT"})) == [], "its item has no year, so that it is in no cell"
    assert may_come(slice_cube(cube, "year", "2011")) == [2, 4]
    assert may_come(dice(dice(cube, {"kind": "conference"}), {"year": "2001"})) == [0, 1, 2]


def test_what_regroups_a_view_keeps_who_may_come() -> None:
    part = dice(roll_up(cube_of(), "venue"), {"kind": "conference"})
    views = [part, drill_down(part, "kind"), roll_up(part, "year"), cuboid(part, "one"), cuboid(part, "decades")]
    views += [roll_up(roll_up(part, "year"), "kind", "∗"), drill_down(roll_up(part, "year"), "decades")]
    assert [may_come(view) for view in views] == [[0, 1, 2, 3]] * len(views)


def test_a_time_lets_come_whom_its_items_mention_and_whom_no_item_does() -> None:
    cube = cube_of()
    assert may_come(between(cube, "2001..2002")) == [0, 1, 2, 3, 8], "8 is mentioned nowhere"
    assert may_come(between(cube, "2011..")) == [2, 4, 5, 6, 8], "also by an item that has no venue"
    assert may_come(between(roll_up(cube, "year"), "2012")) == [5, 6, 8]
    assert may_come(drill_down(between(roll_up(cube, "year"), "2012"), "decades")) == [5, 6, 8]
    assert may_come(dice(between(cube, "2001..2002"), {"venue": "KDD"})) == [1, 3]
    assert may_come(between(dice(cube, {"venue": "KDD"}), "2001..2002")) == [1, 3]


def test_links_that_alone_have_a_time_let_their_ends_come() -> None:
    ends: dict[str, Any] = {"source": [0, 0, 1], "target": [1, 2, 2], "weight": [1.0, 2.0, 4.0]}
    links = table(LINKS, **ends).append_column("time", pa.array([date(2001, 5, 1)] * 2 + [date(2002, 1, 1)]))
    timed = build(replace(corpus(), links=links), [DimensionSpec.parse("venue")], Sqlite(), min_objects=1)
    assert may_come(between(timed, "2002")) == [1, 2]
    assert may_come(between(timed, "links=2002")) == list(range(9)), "that limits links alone"
    assert may_come(between(timed, "year=2002")) == [1, 3, 8]


def test_kinds_let_objects_of_these_come_and_leave_cells_and_links() -> None:
    cube = cube_of()
    view = of_kind(cube, "editor")
    assert may_come(view) == [4, 5, 6]
    assert view.cells is cube.cells and view.links is cube.links and view.small is cube.small
    assert may_come(of_kind(cube, ["editor", "reviewer", "editor"])) == [4, 5, 6, 7, 8]
    assert may_come(of_kind(of_kind(cube, ["editor", "author"]), "author")) == [0, 1, 2, 3]
    assert may_come(of_kind(of_kind(cube, "editor"), "author")) == [], "nobody is both"
    assert may_come(of_kind(dice(cube, {"venue": "TACL"}), "editor")) == [4]
    assert may_come(dice(of_kind(cube, "editor"), {"venue": "TACL"})) == [4]
    assert may_come(of_kind(cuboid(cube, "one"), "editor")) == [4, 5, 6]
    assert view.settings["views"] == ["only objects of kind editor are brought"]
    assert get_lineage(view).views == ({"view": "of_kind", "kinds": "editor"},)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ("edtor", "unknown kind 'edtor': choose one of author, editor, reviewer (did you mean 'editor'?)"),
        (["author", "venue"], "unknown kind 'venue': choose one of author, editor, reviewer"),
        ([], "kind is [], expected a kind of objects such as 'author', or several"),
        ([3], "kind is [3], expected a kind of objects such as 'author', or several"),
        (None, "kind is None, expected a kind of objects such as 'author', or several"),
    ],
)
def test_a_kind_that_is_not_there_is_said_with_those_there_are(wrong: Any, text: str) -> None:
    with pytest.raises(ParameterError) as error:
        of_kind(cube_of(), wrong)
    assert str(error.value) == text


def test_a_view_that_is_saved_keeps_who_may_come(tmp_path: Path) -> None:
    cube = cube_of()
    save(of_kind(dice(cube, {"kind": "conference"}), ["author"]), tmp_path / "view")
    assert may_come(read(tmp_path / "view")) == [0, 1, 2, 3]
    save(cube, tmp_path / "whole")
    assert read(tmp_path / "whole").bringable is None and not (tmp_path / "whole" / "bringable.npy").exists()


def test_a_comparison_tells_views_apart_by_who_may_come() -> None:
    cube = cube_of()
    prints = {cube_fingerprint(view) for view in (cube, of_kind(cube, "author"), of_kind(cube, "editor"))}
    assert len(prints) == 3


@pytest.mark.parametrize("marks", [np.ones(3, dtype=bool), np.ones(9, dtype=np.int8)])
def test_marks_of_other_objects_are_refused(marks: Any) -> None:
    with pytest.raises(CubeError, match="the cube has 9 objects, and marks those to bring otherwise"):
        replace(cube_of(), bringable=marks)


ITEMS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(2001, 2012)),
        st.lists(st.sampled_from(list(KINDS)), max_size=2),
        st.lists(st.integers(0, 8), max_size=4, unique=True),
    ),
    min_size=2,
    max_size=8,
).filter(lambda rows: any(row[0] is not None for row in rows) and any(row[1] for row in rows))


@given(ITEMS, st.integers(2001, 2012), st.integers(1, 3), st.sampled_from(["author", "editor", "reviewer"]))
def test_all_three_together_let_come_whom_the_items_say_in_any_order(
    rows: list, last: int, least: int, kind: str
) -> None:
    cube = cube_of(rows, least)
    venue, window = cube.dimensions[1].labels[0], f"..{last}"
    inside = [row for row in rows if row[0] is not None and row[0] <= last]
    mentioned = {who for *_, who_all in rows for who in who_all}
    in_time = {who for *_, who_all in inside for who in who_all} | (set(range(9)) - mentioned)
    in_cells = {who for _, venues, who_all in inside if venue in venues for who in who_all}
    of_kinds = {"author": range(4), "editor": range(4, 7), "reviewer": range(7, 9)}[kind]
    assert may_come(between(cube, window)) == sorted(in_time)
    view = of_kind(dice(between(cube, window), {"venue": venue}), kind)
    assert may_come(view) == sorted(in_cells & set(of_kinds))
    other = dice(between(of_kind(cube, kind), window), {"venue": venue})
    assert may_come(other) == may_come(view)
