"""Pairs of a query that are hidden, and pairs that nothing links."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.removal import draw_unlinked_pairs, hide_pairs, without_items
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, roll_up
from cube2net.errors import ParameterError, QueryError
from cube2net.model.comparison import Hidden
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.query import Query

from corpora import ROWS, corpus_of
from updates import Sqlite

VENUE = DimensionSpec.parse("venue")
LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.5, 1.0])), max_size=15)
QUERIES = st.sets(st.integers(0, 9), min_size=1).map(lambda rows: Query(np.array(sorted(rows))))


def cube_of(rows: list, *, objects: int, **options: Any) -> Cube:
    links = options.pop("links", None)
    return build(corpus_of(rows, objects=objects, links=links), [VENUE], Sqlite(), min_objects=1, **options)


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


def test_crowded_items_are_never_drawn() -> None:
    rows: list = [(2003, ["KDD"], [0, 1, 2]), (2003, ["ACL"], [0, 1])]
    cube = cube_of(rows, objects=3, max_mentions=2)
    hidden = hide_pairs(cube, Query(np.array([0, 1, 2])), share=1)
    assert (hidden.count, pairs(hidden)) == (1, [(0, 1)])
    assert hidden.cube.cells.members[hidden.cube.find_cell(["KDD"])].tolist() == [0, 1, 2]


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
    specs = [DimensionSpec.parse("year@years/decades"), VENUE]
    cube = build(corpus_of(rows, objects=7), specs, DuckDB(), min_objects=1)
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
