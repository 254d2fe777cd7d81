"""Why an object is there is what a loop over all cells, items and links says; a near miss would have been a hit."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.views import dice, roll_up
from cube2net.cube.window import between
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from cube2net.model.explanation import ObjectExplanation
from cube2net.model.network import Network
from cube2net.network.hops import Hops
from cube2net.network.pagerank import compute_scores

from toys import random_cube, toy_cube


def of_object(network: Network, row: int) -> ObjectExplanation:
    found = c2n.explain(network, f"o{row}")
    assert isinstance(found, ObjectExplanation)
    return found


def corpus_of(**attributes: list[Any]) -> Corpus:
    """Return four people, and papers that two, three or one of them wrote."""
    return Corpus(
        items=pa.table({"item": ["p1", "p2", "p3", "p4"], "venue": ["A", "A", "A", "B"], **attributes}),
        objects=pa.table({"object": ["a", "b", "c", "d"], "name": ["Ann", "Bob", "Cy", "Di"], "kind": ["author"] * 4}),
        mentions=pa.table(
            {
                "item": pa.array([0, 0, 1, 1, 2, 2, 2, 3], pa.int32()),
                "object": pa.array([0, 1, 0, 1, 0, 1, 2, 3], pa.int32()),
            }
        ),
        time="year" if "year" in attributes else "",
    )


def papers(items: str = "all", **attributes: list[Any]) -> Cube:
    """Return the cube of these papers."""
    return c2n.build(corpus_of(**attributes), ["venue"], min_objects=1, items=items)


TITLES = {"title": ["First", "Second", "Third", "Alone"], "year": [2001, 2003, 2002, 2004]}


def test_the_items_behind_a_link_come_with_title_and_year_newest_first() -> None:
    cube = papers(**TITLES)
    (link,) = c2n.explain(c2n.construct(cube, ["b"], "hops"), "a").links  # type: ignore[union-attr]
    assert (link.id, link.name, link.items) == ("b", "Bob", 3)
    assert [(item.id, item.title, item.time) for item in link.newest] == [
        ("p2", "Second", 2003),
        ("p3", "Third", 2002),
        ("p1", "First", 2001),
    ]
    assert str(link) == "Bob by 3 items, the newest Second (2003)"


def test_the_time_of_items_is_the_one_that_a_window_goes_by_and_without_one_none_is_the_newest() -> None:
    given = {"title": TITLES["title"], "when": [2001, 2003, 2002, 2004]}
    cube = papers(**given)
    (link,) = c2n.explain(c2n.construct(cube, ["b"], "hops"), "a").links  # type: ignore[union-attr]
    assert str(link) == "Bob by 3 items, such as Third" and not link.has_times
    cut = c2n.build(corpus_of(**given), ["venue", "decade=when@decades"], min_objects=1)
    (link,) = c2n.explain(c2n.construct(cut, ["b"], "hops"), "a").links  # type: ignore[union-attr]
    assert str(link) == "Bob by 3 items, the newest Second (2003)" and link.has_times


def test_what_the_cube_does_not_keep_is_said_once() -> None:
    for items, note in (("index", "does not keep the titles"), ("none", "does not keep its items")):
        found = c2n.explain(c2n.construct(papers(items, **TITLES), ["b"], "hops"), "a")
        assert isinstance(found, ObjectExplanation) and note in found.note
        (link,) = found.links
        assert (link.items, [item.id for item in link.newest]) == (
            (3, ["p3", "p2", "p1"]) if items == "index" else (None, [])
        )
        assert all(item.title is None for item in link.newest)


def test_without_a_title_the_first_text_says_what_an_item_is() -> None:
    cube = papers(pages=[1, 2, 3, 4], note=["one", "two", None, "four"])
    (link,) = c2n.explain(c2n.construct(cube, ["c"], "hops"), "a").links  # type: ignore[union-attr]
    assert [(item.id, item.title, item.time) for item in link.newest] == [("p3", "A", None)]


VIEWS: dict[str, Callable[[Cube], Cube]] = {
    "whole": lambda cube: cube,
    "rolled up": lambda cube: roll_up(roll_up(cube, "decade", "∗"), "venue", "∗"),
    "diced": lambda cube: dice(cube, {"venue": ["venue 0", "venue 1"]}),
}


@pytest.mark.parametrize(
    ("view", "levels"),
    [(view, levels) for view in VIEWS for levels in ("full", "one", "topic")] + [("whole", ["venue,topic", "decade"])],
)
def test_items_are_those_that_a_loop_over_all_items_finds(view: str, levels: Any) -> None:
    planted = c2n.make_planted(objects=120, communities=4, noise=0.2, seed=5)
    cube = VIEWS[view](c2n.build(planted.corpus))
    network = c2n.construct(cube, planted.query(0), options=c2n.NetworkOptions(levels=levels))
    assert cube.items is not None
    index = cube.items()
    rows = [set(index.objects[item].tolist()) for item in range(len(index))]
    ids = index.ids.to_pylist()
    for row in [*network.query.objects[:5].tolist(), *network.objects[-5:].tolist()]:
        key = cube.objects.ids(np.array([row])).to_pylist()[0]
        found = c2n.explain(network, key)
        assert isinstance(found, ObjectExplanation)
        neighbours = set(cube.links.neighbours(row).tolist()) & set(network.query.objects.tolist())
        assert found.linked == len(neighbours)
        assert [link.weight for link in found.links] == sorted((link.weight for link in found.links), reverse=True)
        for link in found.links:
            other = int(cube.query([link.id]).objects[0])
            shared = [ids[item] for item, held in enumerate(rows) if {row, other} <= held]
            assert link.items == len(shared) and {item.id for item in link.newest} <= set(shared)
            assert len(link.newest) == min(3, len(shared))


def test_items_and_links_of_a_window_are_those_inside_it() -> None:
    cube = between(papers(**TITLES), "2002..2004")
    (link,) = c2n.explain(c2n.construct(cube, ["b"], "hops"), "a").links  # type: ignore[union-attr]
    assert (link.items, [item.id for item in link.newest]) == (2, ["p2", "p3"])


def test_given_links_come_with_their_kinds_and_times() -> None:
    people = [{"id": name, "city": "Rome"} for name in "abcd"]
    links = [
        {"source": "a", "target": "b", "kind": "pays", "time": 2003},
        {"source": "b", "target": "a", "kind": "knows", "time": 2001},
        {"source": "a", "target": "b", "kind": "pays", "time": 2002},
        {"source": "a", "target": "c", "kind": "knows", "time": 2004},
        {"source": "d", "target": "a", "kind": None, "time": None},
    ]
    cube = c2n.build(c2n.read_tables(people, links), ["city"], min_objects=1)
    found = c2n.explain(c2n.construct(cube, ["b", "c", "d"], "hops"), "a")
    assert isinstance(found, ObjectExplanation)
    details = {link.id: (link.kinds, link.first, link.last) for link in found.links}
    assert details == {"b": (("knows", "pays"), 2001, 2003), "c": (("knows",), 2004, 2004), "d": ((), None, None)}
    assert [link.when for link in found.links] == ["2001..2003", "2004", ""]
    assert str(found.links[0]).startswith("b (knows, pays, 2001..2003)") and str(found.links[2]).startswith("d")
    json.dumps(found.to_dict())


@pytest.fixture(scope="module")
def hybrid() -> Network:
    links = [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 5), (0, 6), (6, 7)]
    cube = toy_cube([[0, 1, 2], [0, 6], [3, 4], [9, 10]], objects=11, links=links)
    return c2n.construct(cube, cube.query([0, 1]), options=c2n.NetworkOptions(n_neighbors=2))


def test_the_heaviest_link_is_named_only_where_links_differ() -> None:
    for links, word in (([(0, 2), (1, 2)], "such as"), ([(0, 2), (1, 2), (1, 2)], "heaviest to")):
        cube = toy_cube([[0, 1, 2]], objects=4, links=links)
        assert (
            f"of the query, {word} Object"
            in of_object(c2n.construct(cube, cube.query([0, 1]), options=c2n.NetworkOptions(n_neighbors=1)), 2).sentence
        )


def test_how_an_object_came_in_is_told(hybrid: Network) -> None:
    assert (of_object(hybrid, 0).came, of_object(hybrid, 0).rank) == ("query", None)
    near = of_object(hybrid, 2)
    assert (near.came, near.rank, near.present, near.miss) == ("neighbor", 1, True, None)
    assert [(cell.rank, cell.labels, cell.gain) for cell in near.cells] == [(1, ("label 0",), 2.0)]
    assert near.sentence == (
        "Object 2 is in the network as a neighbour, rank 1 of 6 by PageRank; it is linked to 1 object of the query, "
        "heaviest to Object 1; 1 chosen cell contains it, first ⟨label 0⟩, chosen cell number 1 (+2)"
    )
    assert repr(near) == (
        "ObjectExplanation(Object 2: neighbor, rank 1 by PageRank, linked to 1 of the query, 1 chosen cell holds it)"
    )


def test_a_missing_object_says_how_many_near_ones_would_reach_it(hybrid: Network) -> None:
    away = of_object(hybrid, 4)
    assert (away.present, away.came, away.rank) == (False, "", 5)
    assert away.miss is not None and (away.miss.option, away.miss.needed, away.miss.now) == ("n_neighbors", 8, 2)
    assert (away.steps, away.ways, [path.ids for path in away.paths]) == (3, 1, [("o4", "o3", "o2", "o1")])
    assert away.paths[0].weight == 4.0
    assert "n_neighbors=8 would add it (it is 2 now)" in away.sentence
    assert of_object(hybrid, 8).sentence == (
        "Object 8 is not in the network: no links lead from the query to it; "
        "no path of 4 links or fewer leads to the query; "
        "no chosen cell contains it"
    )


def test_the_only_object_of_a_query_is_not_told_of_paths_to_others() -> None:
    cube = toy_cube([[0, 2]], objects=4, links=[(0, 1), (1, 2)])
    alone = of_object(c2n.construct(cube, cube.query([0]), "none"), 0)
    assert (alone.sentence, alone.within) == ("Object 0 is in the query", 0)


def test_paths_from_an_object_of_the_query_lead_to_the_rest_of_it() -> None:
    cube = toy_cube([[0, 2]], objects=4, links=[(0, 1), (1, 2)])
    found = of_object(c2n.construct(cube, cube.query([0, 2]), "none"), 0)
    assert (found.steps, [path.ids for path in found.paths]) == (2, [("o0", "o1", "o2")])
    assert found.sentence.startswith("Object 0 is in the query; 2 links lead to the rest of the query: Object 0 – ")


@given(st.integers(0, 10**6), st.integers(0, 39), st.sampled_from(["jaccard", "fbeta", "coverage"]))
def test_the_cheapest_cell_is_the_one_that_leaves_the_value_highest(seed: int, row: int, objective: str) -> None:
    cube = random_cube(seed % 60)
    query = cube.query(np.random.default_rng(seed).choice(40, 6, replace=False).tolist())
    network = c2n.construct(cube, query, n_cells=3, form="objects", objective=objective)
    found = of_object(network, row)
    assert network.context is not None
    held = [cell for cell in range(len(cube.cells)) if row in cube.cells.members[cell]]
    if found.present:
        assert found.came == ("query" if row in query.objects else "cells")
        assert [cell.labels for cell in found.cells] == [
            cube.cell(cell) for cell in network.selection.cells.tolist() if cell in held
        ]
        return
    assert found.miss is not None and found.cells == ()
    if not held:
        assert found.miss.obstacle == "no cell contains it"
        return
    worth = network.context.worth
    values = {
        cell: worth.value(np.union1d(network.selection.objects, cube.cells.members[cell]).astype(np.int64))
        for cell in held
    }
    assert found.miss.value == pytest.approx(max(values.values()), abs=1e-12)
    assert values[cube.find_cell(found.miss.cell or ())] == pytest.approx(found.miss.value, abs=1e-12)
    assert found.miss.price == network.selection.value - found.miss.value


@given(st.integers(0, 10**6), st.integers(0, 39))
def test_as_many_objects_as_said_bring_the_missing_one_by_pagerank_and_one_fewer_do_not(seed: int, row: int) -> None:
    cube = random_cube(seed % 60, links=70)
    query = cube.query(np.random.default_rng(seed).choice(40, 4, replace=False).tolist())
    found = of_object(c2n.construct(cube, query, c2n.methods.PageRank(top=5)), row)
    if found.present:
        return
    assert found.miss is not None
    if found.miss.option:
        assert found.miss.needed is not None and found.miss.needed > 5
        for top in (found.miss.needed - 1, found.miss.needed):
            brought = c2n.construct(cube, query, c2n.methods.PageRank(top=top)).objects
            assert (row in brought) == (top == found.miss.needed)
    else:
        assert row not in c2n.construct(cube, query, c2n.methods.PageRank(top=40)).objects


@given(st.integers(0, 10**6), st.integers(0, 39))
def test_as_many_near_objects_as_said_bring_the_missing_one(seed: int, row: int) -> None:
    cube = random_cube(seed % 60, links=70)
    query = cube.query(np.random.default_rng(seed).choice(40, 4, replace=False).tolist())
    found = of_object(c2n.construct(cube, query, options=c2n.NetworkOptions(n_neighbors=3)), row)
    if found.present:
        return
    assert found.miss is not None
    if found.miss.option:
        assert found.miss.needed is not None
        if found.miss.exact:
            assert row in c2n.construct(cube, query, options=c2n.NetworkOptions(n_neighbors=found.miss.needed)).objects
    else:
        assert row not in c2n.construct(cube, query, options=c2n.NetworkOptions(n_neighbors=40)).objects


@given(st.integers(0, 10**6), st.integers(0, 39))
def test_as_many_hops_as_said_bring_the_missing_one(seed: int, row: int) -> None:
    cube = random_cube(seed % 60, links=50)
    query = cube.query(np.random.default_rng(seed).choice(40, 3, replace=False).tolist())
    found = of_object(c2n.construct(cube, query, "hops"), row)
    if found.present:
        assert (found.came, found.steps) == ("hops", 1) or found.came == "query"
        return
    assert found.miss is not None
    assert (row in c2n.construct(cube, query, "hops 2").objects) == (found.miss.option == "hops")
    assert found.miss.needed in (None, 2)


@given(
    st.integers(0, 10**6),
    st.integers(0, 39),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([{}, {"max_nodes": 9}, {"max_links": 12}, {"bans": ["o7", "o8", "o9"]}]),
)
def test_of_hops_no_more_is_claimed_than_comes(
    seed: int, row: int, fan_out: int | None, limits: dict[str, Any]
) -> None:
    cube = random_cube(seed % 60, links=50)
    query = cube.query([1, 2, 3])
    found = of_object(c2n.api.construct_by_name(cube, query, Hops(fan_out=fan_out), **limits), row)
    if found.miss is None or found.miss.option != "hops":
        return
    assert found.miss.exact == (fan_out is None and not limits)
    assert ("hops=2 would add it" if found.miss.exact else "hops has to be at least 2 to add it") in str(found)
    if found.miss.exact:
        assert row in c2n.construct(cube, query, Hops(hops=2)).objects


@given(st.integers(0, 10**6), st.integers(0, 39))
def test_ranks_count_the_objects_outside_the_query_with_a_higher_score(seed: int, row: int) -> None:
    cube = random_cube(seed % 60, links=60)
    query = cube.query(np.random.default_rng(seed).choice(40, 4, replace=False).tolist())
    found = of_object(c2n.construct(cube, query, "none"), row)
    exact = compute_scores(cube.links, query.objects, tolerance=1e-10)
    exact[query.objects] = 0.0
    assert found.ranked == int((exact > 0).sum())
    if found.rank is None:
        assert exact[row] == 0
    else:
        assert int((exact > exact[row] + 1e-5).sum()) < found.rank <= int((exact >= exact[row] - 1e-5).sum())


def test_forms_and_methods_that_bring_nothing_or_left_something_out_say_so() -> None:
    cube = toy_cube([[0, 1, 2], [3, 4]], objects=6, links=[(0, 1), (0, 3), (0, 4), (0, 5)])
    query = cube.query([0, 1])

    def miss(row: int, method: str = "greedy", **options: Any) -> str:
        return str(of_object(c2n.api.construct_by_name(cube, query, method, **options), row).miss)

    assert miss(5, form="cells").startswith("the form 'cells' has no objects beside the query")
    assert miss(5, "none") == "the method 'none' brings nothing: any other may"
    assert miss(5, "steiner") == "the tree does not need it"
    assert miss(2, form="objects", keep_unlinked=False).startswith(
        "it has no link to any object of the network (keep_unlinked=True"
    )
    assert miss(5, form="objects") == "no cell contains it"
    assert miss(5, "hops", max_nodes=3) == "it is within 1 step, and a limit on nodes or links left it out"
    assert miss(3, form="objects", n_cells=1) == (
        "the cheapest cell that contains it, ⟨label 1⟩, costs 0.2667: 0.4000 with it; "
        "n_cells is 1, and that many cells are chosen"
    )


def test_an_explanation_is_plain_json(hybrid: Network) -> None:
    for node in ("o0", "o2", "o4", "o8", ("label 0",), ("label 3",), None):
        found = c2n.explain(hybrid, node)
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert plain["sentence"] == str(found) and "\n" not in str(found) + repr(found)
        assert plain["kind"] in ("object", "cell", "account")


def test_ids_are_whole_numbers_where_the_cube_has_such() -> None:
    nodes = pa.table({"id": [7, 9, 11], "city": ["x", "x", "y"]})
    cube = c2n.build(
        c2n.read_tables(nodes=nodes, links=pa.table({"source": [7, 9], "target": [9, 11]})), ["city"], min_objects=1
    )
    found = c2n.explain(c2n.construct(cube, [7], "hops"), 11)
    assert isinstance(found, ObjectExplanation)
    assert (found.id, found.paths[0].ids) == (11, (11, 9, 7))
