"""A cube without some of its items is the cube that is built without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.cube.building.build import build, update
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.removal import without_items
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.errors import CubeError, ParameterError, SourceError
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from updates import SPECS, Sqlite, part_of, specs_of, wholes

DECADE, VENUE = DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")
NAMED_ALIKE = [text for text in SPECS if "/" not in text and "edges" not in text]
"""Dimensions whose labels are called the same whichever items are there; spans of edges are not (1–2, or 1)."""
THREE: list = [(2003, ["KDD"], [0, 1]), (2004, ["KDD"], [0, 1, 2]), (2015, ["ACL"], [1, 2])]


def held(cube: Cube, cells: Cells) -> dict[tuple[str, ...], list[int]]:
    """Return the objects of cells by the names of their labels."""
    names = [dimension.labels for dimension in cube.dimensions]
    return {
        tuple(labels[code] for labels, code in zip(names, row.tolist(), strict=True)): cells.members[number].tolist()
        for number, row in enumerate(cells.labels)
    }


def linked(cube: Cube) -> dict[tuple[int, int], float]:
    rows = np.repeat(np.arange(len(cube.objects)), cube.links.degrees)
    return dict(
        zip(zip(rows.tolist(), cube.links.indices.tolist(), strict=True), cube.links.weights.tolist(), strict=True)
    )


def homes(cube: Cube) -> list[set[tuple[str, ...]]]:
    return [{cube.cell(int(cell)) for cell in cube.object_cells[row]} for row in range(len(cube.objects))]


def in_cells(cube: Cube) -> dict[str, tuple[list[int], set[tuple[str, ...]]]]:
    """Return what every item mentions and the cells it is in, by its id; items that mention nothing are left out."""
    assert cube.items is not None
    index = cube.items()
    names = [*held(cube, cube.cells), *held(cube, cube.small)]
    return {
        name: (index.objects[item].tolist(), {names[cell] for cell in index.cells[item]})
        for item, name in enumerate(index.ids.to_pylist())
        if len(index.objects[item])
    }


def assert_same_by_name(one: Cube, other: Cube) -> None:
    """Cells, small cells, homes, links and items are the same, whatever the numbers of labels."""
    assert list(held(one, one.cells).items()) == list(held(other, other.cells).items())
    assert list(held(one, one.small).items()) == list(held(other, other.small).items())
    assert homes(one) == homes(other)
    assert linked(one) == linked(other)
    assert in_cells(one) == in_cells(other)
    assert one.links.indices.dtype == other.links.indices.dtype
    assert one.links.weights.dtype == other.links.weights.dtype


def split_off(corpus: Corpus, gone: set[int]) -> Corpus:
    """Return a corpus without some items; objects and given links stay."""
    left = [item for item in range(corpus.items.num_rows) if item not in gone]
    links = list(range(0 if corpus.links is None else corpus.links.num_rows))
    return part_of(corpus, left, list(range(corpus.objects.num_rows)), links)


@given(wholes(), st.data(), st.integers(1, 3), st.integers(2, 4))
def test_taking_items_out_equals_building_without_them(
    corpus: Corpus, data: st.DataObject, least: int, most: int
) -> None:
    specs = specs_of(data.draw, NAMED_ALIKE)
    gone = data.draw(st.sets(st.integers(0, corpus.items.num_rows - 1)))
    options: dict[str, Any] = {"min_objects": least, "max_mentions": most}
    try:
        whole = build(corpus, specs, Sqlite(), **options)
        rebuilt = build(split_off(corpus, gone), specs, Sqlite(), **options)
    except SourceError:  # nothing is left that has a label
        assume(False)
    left = without_items(whole, sorted(gone))
    assert_same_by_name(left, rebuilt)
    assert left.settings["items"] == rebuilt.settings["items"]
    for reason in ("cells with fewer", "items with more than"):
        said = [
            {why: n for why, n in cube.settings["dropped"].items() if why.startswith(reason)}
            for cube in (left, rebuilt)
        ]
        assert said[0] == said[1]


@given(wholes(), st.data(), st.integers(1, 3))
def test_views_lose_items_as_the_cube_does(corpus: Corpus, data: st.DataObject, least: int) -> None:
    specs = [DimensionSpec.parse("year@years/decades"), DimensionSpec.parse("venue/kind")]
    gone = sorted(data.draw(st.sets(st.integers(0, corpus.items.num_rows - 1))))
    try:
        cube = build(corpus, specs, Sqlite(), min_objects=least)
    except SourceError:
        assume(False)
    label, kind = (level.labels[0] for level in cube.dimensions[1].levels)
    views = [
        lambda cube: roll_up(cube, "year"),
        lambda cube: roll_up(roll_up(cube, "year"), "venue"),
        lambda cube: dice(cube, {"venue": label}),
        lambda cube: slice_cube(cube, "venue", label),
        lambda cube: roll_up(cube, "year", "∗"),
        lambda cube: roll_up(roll_up(cube, "venue", "∗"), "year"),
        lambda cube: dice(cube, {"kind": kind}),
        lambda cube: drill_down(roll_up(cube, "year"), "decades"),
        lambda cube: drill_down(dice(roll_up(cube, "year"), {"venue": label}), "decades"),
    ]
    for view in views:
        assert_same_by_name(without_items(view(cube), gone), view(without_items(cube, gone)))
    rolled = without_items(roll_up(cube, "year"), gone)
    assert_same_by_name(drill_down(rolled, "decades"), without_items(cube, gone))


def test_three_items_by_hand() -> None:
    cube = build(corpus_of(THREE, objects=3), [DECADE, VENUE], DuckDB(), min_objects=3)
    assert held(cube, cube.cells) == {("200X", "KDD"): [0, 1, 2]}
    left = without_items(cube, [1])
    assert held(left, left.cells) == {}
    assert held(left, left.small) == {("200X", "KDD"): [0, 1], ("201X", "ACL"): [1, 2]}
    assert linked(left) == {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0}
    assert linked(cube)[0, 1] == 2.0 and linked(cube)[0, 2] == 1.0
    assert left.dimensions is cube.dimensions and left.objects is cube.objects
    assert left.settings["dropped"] == {"cells with fewer than 3 objects": 2}
    assert left.settings["views"] == ["without 1 of the items"]
    assert_same_by_name(without_items(left, ["i0"]), without_items(cube, ["i1", "i0"]))


def test_a_crowded_item_made_no_links_and_takes_none_away() -> None:
    cube = build(corpus_of(THREE, objects=3), [VENUE], DuckDB(), min_objects=1, max_mentions=2)
    left = without_items(cube, [1])
    assert linked(left) == linked(cube)
    assert held(left, left.cells) == {("ACL",): [1, 2], ("KDD",): [0, 1]}
    assert list(cube.settings["dropped"].values()) == [1] and left.settings["dropped"] == {}


def test_given_links_stay_when_items_go() -> None:
    cube = build(corpus_of(THREE, objects=3, links=[(0, 2, 0.5)]), [VENUE], DuckDB(), min_objects=1)
    left = without_items(cube, [0, 1, 2])
    assert left.links is cube.links
    assert len(left.cells) == len(left.small) == 0


def test_items_that_are_not_there_and_cubes_that_keep_none_are_refused_in_one_sentence() -> None:
    cube = build(corpus_of(THREE, objects=3), [VENUE], DuckDB(), min_objects=1)
    assert without_items(cube, []) is cube
    for items, sentence in (
        ([3, -1], "the cube has 3 items, and no item of the number 3, -1"),
        (["i1", "x"], "1 item is not in the cube: 'x'"),
        ([0.5], "items are numbers or ids, got 0.5"),
    ):
        with pytest.raises(ParameterError) as caught:
            without_items(cube, items)
        assert str(caught.value) == sentence
    bare = build(corpus_of(THREE, objects=3), [VENUE], DuckDB(), min_objects=1, items=False)
    with pytest.raises(CubeError, match="the cube does not keep its items: build it again, with them, to take some"):
        without_items(bare, [0])


def test_an_index_that_does_not_belong_to_the_cube_is_refused() -> None:
    corpus = corpus_of(THREE, objects=3)
    fine = build(corpus, [DimensionSpec.parse("year@years"), VENUE], DuckDB(), min_objects=1)
    coarse = build(corpus, [DECADE], DuckDB(), min_objects=1)
    other = build(corpus_of([THREE[0]] * 3, objects=3), [DECADE, VENUE], DuckDB(), min_objects=1)
    for cube, index in ((coarse, fine.items), (other, coarse.items)):
        with pytest.raises(CubeError, match="the items of the cube are not those that its cells and links were made"):
            without_items(replace(cube, items=index), [1, 2])


def test_nothing_can_be_added_to_a_cube_without_some_items() -> None:
    cube = build(corpus_of(THREE, objects=3), [VENUE], DuckDB(), min_objects=1)
    with pytest.raises(CubeError, match=r"the cube is a view of another \(without 1 of the items\): add the items to"):
        update(without_items(cube, [0]), corpus_of(THREE, objects=3), DuckDB())
