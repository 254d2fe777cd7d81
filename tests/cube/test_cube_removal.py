"""A cube without some of its items is the cube that is built without them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.cube.building.build import build, update
from cube2net.cube.removal import draw_unlinked_pairs, hide_pairs, without_items
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.errors import CubeError, ParameterError, QueryError, SourceError
from cube2net.model.comparison import Hidden
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.query import Query

from corpora import ROWS, contents, corpus_of, linked
from updates import SPECS, Sqlite, part_of, specs_of, wholes

DECADE, VENUE = DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")
NAMED_ALIKE = [text for text in SPECS if "/" not in text and "edges" not in text]
"""Dimensions whose labels are called the same whichever items are there; spans of edges are not (1–2, or 1)."""
THREE: list = [(2003, ["KDD"], [0, 1]), (2004, ["KDD"], [0, 1, 2]), (2015, ["ACL"], [1, 2])]


def homes(cube: Cube) -> list[set[tuple[str, ...]]]:
    return [{cube.cell(int(cell)) for cell in cube.object_cells[row]} for row in range(len(cube.objects))]


def in_cells(cube: Cube) -> dict[str, tuple[list[int], set[tuple[str, ...]]]]:
    """Return what every item mentions and the cells it is in, by its id; items that mention nothing are left out."""
    assert cube.items is not None
    index = cube.items()
    names = [*contents(cube, cube.cells), *contents(cube, cube.small)]
    return {
        name: (index.objects[item].tolist(), {names[cell] for cell in index.cells[item]})
        for item, name in enumerate(index.ids.to_pylist())
        if len(index.objects[item])
    }


def assert_same_by_name(one: Cube, other: Cube) -> None:
    """Cells, small cells, homes, links and items are the same, whatever the numbers of labels."""
    assert list(contents(one, one.cells).items()) == list(contents(other, other.cells).items())
    assert list(contents(one, one.small).items()) == list(contents(other, other.small).items())
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
    cube = build(corpus_of(THREE, objects=3), [DECADE, VENUE], Sqlite(), min_objects=3)
    assert contents(cube, cube.cells) == {("200X", "KDD"): [0, 1, 2]}
    left = without_items(cube, [1])
    assert contents(left, left.cells) == {}
    assert contents(left, left.small) == {("200X", "KDD"): [0, 1], ("201X", "ACL"): [1, 2]}
    assert linked(left) == {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0}
    assert linked(cube)[0, 1] == 2.0 and linked(cube)[0, 2] == 1.0
    assert left.dimensions is cube.dimensions and left.objects is cube.objects
    assert left.settings["dropped"] == {"cells with fewer than 3 objects": 2}
    assert left.settings["views"] == ["without 1 of the items"]
    assert_same_by_name(without_items(left, ["i0"]), without_items(cube, ["i1", "i0"]))


def test_items_that_are_not_there_and_cubes_that_keep_none_are_refused_in_one_sentence() -> None:
    cube = build(corpus_of(THREE, objects=3), [VENUE], Sqlite(), min_objects=1)
    assert without_items(cube, []) is cube
    for items, sentence in (
        ([3, -1], "the cube has 3 items, and no item of the number 3, -1"),
        (["i1", "x"], "1 item is not in the cube: 'x'"),
        ([0.5], "items are numbers or ids, got 0.5"),
    ):
        with pytest.raises(ParameterError) as caught:
            without_items(cube, items)
        assert str(caught.value) == sentence
    bare = build(corpus_of(THREE, objects=3), [VENUE], Sqlite(), min_objects=1, items=False)
    with pytest.raises(CubeError, match="the cube does not keep its items: build it again, with them, to take some"):
        without_items(bare, [0])


def test_an_index_that_does_not_belong_to_the_cube_is_refused() -> None:
    corpus = corpus_of(THREE, objects=3)
    fine = build(corpus, [DimensionSpec.parse("year@years"), VENUE], Sqlite(), min_objects=1)
    coarse = build(corpus, [DECADE], Sqlite(), min_objects=1)
    other = build(corpus_of([THREE[0]] * 3, objects=3), [DECADE, VENUE], Sqlite(), min_objects=1)
    for cube, index in ((coarse, fine.items), (other, coarse.items)):
        with pytest.raises(CubeError, match="the items of the cube are not those that its cells and links were made"):
            without_items(replace(cube, items=index), [1, 2])


def test_nothing_can_be_added_to_a_cube_without_some_items() -> None:
    cube = build(corpus_of(THREE, objects=3), [VENUE], Sqlite(), min_objects=1)
    with pytest.raises(CubeError, match=r"the cube is a view of another \(without 1 of the items\): add the items to"):
        update(without_items(cube, [0]), corpus_of(THREE, objects=3), Sqlite())


VENUE_HIDING = DimensionSpec.parse("venue")
LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.5, 1.0])), max_size=15)
QUERIES = st.sets(st.integers(0, 9), min_size=1).map(lambda rows: Query(np.array(sorted(rows))))


def cube_of(rows: list, *, objects: int, **options: Any) -> Cube:
    links = options.pop("links", None)
    return build(corpus_of(rows, objects=objects, links=links), [VENUE_HIDING], Sqlite(), min_objects=1, **options)


def inside(cube: Cube, query: Query) -> set[tuple[int, int]]:
    """Return the pairs of a query that are linked."""
    return {(a, b) for a, b in combinations(query.objects.tolist(), 2) if b in cube.links.neighbours(a)}


def pairs(hidden: Hidden) -> list[tuple[int, int]]:
    return list(zip(hidden.source.tolist(), hidden.target.tolist(), strict=True))


def test_the_one_item_that_joins_two_of_the_query_is_taken_out_of_links_and_cells() -> None:
    rows: list = [(2003, ["KDD"], [0, 1]), (2003, ["ACL"], [1, 3]), (2003, ["KDD"], [1])]
    hidden = hide_pairs(cube_of(rows, objects=4), Query(np.array([0, 1, 2])))
    assert (hidden.by, hidden.count, pairs(hidden)) == ("items", 1, [(0, 1)])
    assert repr(hidden) == "Hidden(1 pairs, by 1 items)"
    assert hidden.cube.links.neighbours(1).tolist() == [3]
    assert [hidden.cube.cells.members[hidden.cube.find_cell([v])].tolist() for v in ("ACL", "KDD")] == [[1, 3], [1]]


def test_a_pair_that_another_item_still_links_is_not_hidden() -> None:
    rows: list = [(2003, ["KDD"], [0, 1]), (2004, ["KDD"], [0, 1]), (2005, ["KDD"], [2, 3])]
    cube = cube_of(rows, objects=4)
    query = Query(np.array([0, 1]))
    once = hide_pairs(cube, query, share=0.5)
    assert (once.count, pairs(once), once.cube.links.weights.tolist()) == (1, [], [1.0, 1.0, 1.0, 1.0])
    both = hide_pairs(cube, query, share=1.0)
    assert (both.count, pairs(both), both.cube.links.count) == (2, [(0, 1)], 1)
    assert both.cube.object_cells[0].tolist() == []


@given(ROWS, QUERIES, st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 3))
def test_what_is_hidden_was_linked_is_not_any_more_and_the_rest_is_as_it_was(
    rows: list, query: Query, share: float, seed: int
) -> None:
    assume(any(venues for _, venues, _ in rows))
    cube = cube_of(rows, objects=10, max_mentions=3)
    before = inside(cube, query)
    if not before:
        with pytest.raises(QueryError):
            hide_pairs(cube, query, share, seed)
        return
    hidden = hide_pairs(cube, query, share, seed)
    assert pairs(hidden) == sorted(before - inside(hidden.cube, query))
    assert inside(hidden.cube, query) <= before
    assert hidden.by == "items"
    mentioned = [set(row[2]) for row in rows]
    joining = [i for i, who in enumerate(mentioned) if len(who) <= 3 and len(who & set(query.objects.tolist())) > 1]
    assert hidden.count == max(1, round(share * len(joining)))
    assert cube.items is not None and hidden.cube.items is not None
    index = hidden.cube.items()
    gone = [i for i, who in enumerate(mentioned) if who and not len(index.objects[i])]
    assert set(gone) <= set(joining) and len(gone) == hidden.count
    left = without_items(cube, gone)
    assert np.array_equal(left.links.indices, hidden.cube.links.indices)
    assert np.array_equal(left.cells.members.indices, hidden.cube.cells.members.indices)


@given(LINKS, QUERIES, st.sampled_from([0.2, 1.0]), st.booleans())
def test_links_that_were_given_are_hidden_themselves(links: list, query: Query, share: float, items: bool) -> None:
    cube = cube_of([(2003, ["KDD"], list(range(10)))], objects=10, links=links, items=items)
    before = inside(cube, query)
    assume(before)
    hidden = hide_pairs(cube, query, share)
    assert hidden.by == "links"
    assert hidden.count == len(pairs(hidden)) == max(1, round(share * len(before)))
    assert set(pairs(hidden)) == before - inside(hidden.cube, query)
    assert hidden.cube.links.count == cube.links.count - hidden.count
    assert hidden.cube.cells is cube.cells
    assert hidden.cube.links.neighbours(0).tolist() == sorted(hidden.cube.links.neighbours(0).tolist())


def test_a_cube_without_an_index_hides_links_and_says_so(tmp_path: Any) -> None:
    rows: list = [(2003, ["KDD"], [0, 1, 2]), (2004, ["KDD"], [0, 1])]
    save(cube_of(rows, objects=3, items=False), tmp_path / "old")
    old = read(tmp_path / "old")
    hidden = hide_pairs(old, Query(np.array([0, 1, 2])), share=0.3)
    assert (hidden.by, hidden.count, len(pairs(hidden))) == ("links", 1, 1)
    assert hidden.cube.cells is old.cells
    assert hidden.cube.settings["views"] == ["without 1 of the links"]


def test_the_seed_decides_and_nothing_else() -> None:
    rows: list = [(2003, ["KDD"], [i, i + 1, (i * 7) % 40]) for i in range(39)]
    cube, query = cube_of(rows, objects=40), Query(np.arange(40))
    one, same, other = (hide_pairs(cube, query, seed=seed) for seed in (3, 3, 4))
    assert pairs(one) == pairs(same) != pairs(other)
    assert np.array_equal(one.cube.links.weights, same.cube.links.weights)
    free = [draw_unlinked_pairs(cube, query, 50, seed=seed) for seed in (3, 3, 4)]
    assert np.array_equal(free[0], free[1]) and not np.array_equal(free[0], free[2])


def test_views_hide_pairs_as_the_cube_does() -> None:
    rows: list = [(2000 + i, [("ACL", "KDD")[i % 2]], [i % 7, (i * 3) % 7]) for i in range(30)]
    specs = [DimensionSpec.parse("year@years/decades"), VENUE_HIDING]
    cube = build(corpus_of(rows, objects=7), specs, Sqlite(), min_objects=1)
    query = Query(np.arange(7))
    whole = hide_pairs(cube, query, share=0.7)
    assert len(whole)
    for view in (roll_up(cube, "year"), dice(cube, {"venue": "ACL"})):
        assert pairs(hide_pairs(view, query, share=0.7)) == pairs(whole)


def test_a_query_that_nothing_links_and_a_share_that_is_none_are_refused_in_one_sentence() -> None:
    cube = cube_of([(2003, ["KDD"], [0, 1]), (2003, ["KDD"], [2])], objects=3)
    with pytest.raises(QueryError) as caught:
        hide_pairs(cube, Query(np.array([0, 2])))
    assert str(caught.value) == "nothing links two of the 2 objects of the query: there is no pair to hide"
    for share in (0, 1.5, float("nan"), "a fifth"):
        with pytest.raises(ParameterError, match=r"share is .*, expected a number above 0 and up to 1"):
            hide_pairs(cube, Query(np.array([0, 1])), share=share)  # type: ignore[arg-type]


@given(LINKS, QUERIES, st.integers(0, 60), st.integers(0, 3))
def test_unlinked_pairs_are_distinct_pairs_of_the_query_that_nothing_links(
    links: list, query: Query, count: int, seed: int
) -> None:
    cube = cube_of([(2003, ["KDD"], list(range(10)))], objects=10, links=links)
    source, target = draw_unlinked_pairs(cube, query, count, seed)
    found = list(zip(source.tolist(), target.tolist(), strict=True))
    free = set(combinations(query.objects.tolist(), 2)) - inside(cube, query)
    assert set(found) <= free
    assert found == sorted(set(found))
    assert len(found) == min(count, len(free))


def test_unlinked_pairs_of_a_large_query_are_drawn_evenly() -> None:
    cube = cube_of([(2003, ["KDD"], [0, 1])], objects=20_000)
    source, target = draw_unlinked_pairs(cube, Query(np.arange(20_000)), 30_000)
    assert len(source) == 30_000 and bool((source < target).all()) and int(target.max()) < 20_000
    assert abs(float(source.mean()) / 20_000 - 1 / 3) < 0.01
    assert abs(float(target.mean()) / 20_000 - 2 / 3) < 0.01
    with pytest.raises(ParameterError, match="count is -1, expected 0 or more pairs"):
        draw_unlinked_pairs(cube, Query(np.arange(3)), -1)
