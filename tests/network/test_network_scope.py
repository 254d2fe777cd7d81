"""What methods along links, neighbours and forms keep to: who is in already, and who may not come."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.network import Form
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Budget, Scope, Selection, Weights
from cube2net.network.assembly import assemble, brings_objects, describe_scope, describe_size, take_first_cells
from cube2net.network.hops import Hops, Nothing
from cube2net.network.maxdisc import MaxDisc
from cube2net.network.pagerank import PageRank, compute_scores, find_neighbors
from cube2net.network.steiner import Steiner

from toys import random_cube, toy_cube

MADE: list[Method] = [Nothing(), Hops(), Hops(hops=2), Hops(hops=2, fan_out=2), PageRank(), PageRank(top=3), Steiner()]
MADE += [Steiner(cost="weight"), MaxDisc(alpha=3.0), MaxDisc(alpha=3.0, tree="bfs"), MaxDisc(tree="spanning", alpha=2)]
every_method = pytest.mark.parametrize("method", MADE, ids=repr)
WAYS = toy_cube([[0]], objects=9, links=[(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 6), (2, 7), (7, 8)])
"""0 with 1, 2, 3, 4 around it; behind them 5 (by 1 and 2), 6 (by 3), 7 (by 2), and behind that 8."""


def scope_of(count: int, forbidden: list[int] | None = None, pins: list[int] | None = None) -> Scope:
    marks = None if forbidden is None else np.isin(np.arange(count), forbidden)
    return Scope(objects=np.array(pins or [], np.int32), forbidden_objects=marks)


def bring(method: Method, cube: Cube, rows: list[int], scope: Scope = OPEN, **limits: int) -> list[int]:
    weights = Weights(np.zeros(len(cube.objects)), np.ones(len(cube.objects)))
    budget = Budget(scope=scope, **limits)
    return method.select(cube, Query(np.array(rows)), weights=weights, budget=budget).objects.tolist()


def some_rows(seed: int, size: int = 5, count: int = 40) -> list[int]:
    return sorted(np.random.default_rng(seed).choice(count, size, replace=False).tolist())


def graph_of(cube: Cube, without: set[int] = frozenset()) -> nx.Graph:  # type: ignore[assignment]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(cube.objects)))
    for u in range(len(cube.objects)):
        graph.add_edges_from((u, v) for v in cube.links.neighbours(u).tolist())
    graph.remove_nodes_from(without)
    return graph


@every_method
@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_nobody_is_brought_who_may_not_come(method: Method, seed: int, share: float) -> None:
    cube, rows = random_cube(seed), some_rows(seed)
    forbidden = np.flatnonzero(np.random.default_rng(seed + 1).random(40) < share).tolist()
    for limits in ({}, {"max_nodes": 9}, {"max_links": 9}):
        assert not set(bring(method, cube, rows, scope_of(40, forbidden), **limits)) & set(forbidden)


@every_method
@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_a_rule_that_allows_all_changes_nothing(method: Method, seed: int) -> None:
    cube, rows = random_cube(seed), some_rows(seed)
    for limits in ({}, {"max_nodes": 9}, {"max_links": 9}):
        assert bring(method, cube, rows, scope_of(40, []), **limits) == bring(method, cube, rows, **limits)
        assert bring(method, cube, rows, scope_of(40, rows), **limits) == bring(method, cube, rows, **limits)


@every_method
@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(0, 6))
def test_who_is_pinned_is_in_whoever_else_is_and_counts_within_limits(method: Method, seed: int, most: int) -> None:
    cube, rows, pins = random_cube(seed), some_rows(seed), some_rows(seed + 1, 3)
    forbidden = some_rows(seed + 2, 20)
    wanted, scope = set(pins) - set(rows), scope_of(40, forbidden, pins)
    for limits in ({}, {"max_nodes": 5 + most}, {"max_links": 4 * most}):
        found = bring(method, cube, rows, scope, **limits)
        assert wanted <= set(found) and not (set(found) - wanted) & set(forbidden) and not set(found) & set(rows)
        assert found == sorted(set(found))
        if "max_nodes" in limits:
            assert len(found) <= max(most, len(wanted))


@given(st.integers(0, 10_000), st.integers(1, 2), st.floats(0, 0.8))
def test_hops_bring_what_a_search_finds_in_the_network_without_the_barred(seed: int, hops: int, share: float) -> None:
    cube, rows = random_cube(seed, links=60), some_rows(seed)
    forbidden = set(np.flatnonzero(np.random.default_rng(seed + 1).random(40) < share).tolist())
    graph = graph_of(cube, forbidden - set(rows))
    near = nx.multi_source_dijkstra_path_length(graph, set(rows), cutoff=hops, weight=None)
    assert bring(Hops(hops=hops), cube, rows, scope_of(40, sorted(forbidden))) == sorted(set(near) - set(rows))


def test_hops_by_hand_lead_around_the_barred_and_on_from_the_pinned() -> None:
    two = Hops(hops=2)
    assert bring(two, WAYS, [0], scope_of(9, [2])) == [1, 3, 4, 5, 6], "7 is behind 2 alone"
    assert bring(two, WAYS, [0], scope_of(9, [1, 2])) == [3, 4, 6]
    assert bring(Hops(), WAYS, [0], scope_of(9, None, [7])) == [1, 2, 3, 4, 7]
    assert bring(two, WAYS, [0], scope_of(9, None, [7])) == [1, 2, 3, 4, 5, 6, 7, 8], "8 is a step from 7"
    assert bring(two, WAYS, [0], scope_of(9, [2, 7], [7])) == [1, 3, 4, 5, 6, 7, 8], (
        "who is pinned is in, forbidden or not"
    )
    assert bring(Hops(fan_out=2), WAYS, [0], scope_of(9, [1])) == [2, 3], "the forbidden take nobody's place"
    assert bring(Hops(fan_out=2), WAYS, [0], scope_of(9, None, [1])) == [1, 2, 3]


def test_hops_within_a_limit_keep_the_pinned_and_the_best_of_those_that_may_come() -> None:
    assert bring(Hops(hops=2), WAYS, [1, 2, 3], scope_of(9, [0]), max_nodes=4) == [5]
    assert bring(Hops(hops=2), WAYS, [1, 2, 3], scope_of(9, None, [8]), max_nodes=4) == [8]
    assert bring(Hops(hops=2), WAYS, [1, 2, 3], scope_of(9, None, [8]), max_nodes=5) == [0, 8]


@given(st.integers(0, 10_000), st.integers(1, 40), st.floats(0, 1))
def test_pagerank_brings_the_first_of_all_scores_that_may_come(seed: int, top: int, share: float) -> None:
    cube, rows = random_cube(seed, links=50), some_rows(seed)
    forbidden = np.random.default_rng(seed + 1).random(40) < share
    method = PageRank(top=top, tolerance=1e-9)
    exact = compute_scores(cube.links, np.array(rows), tolerance=1e-12).round(9)
    ranked = [row for row in np.lexsort((np.arange(40), -exact)).tolist() if exact[row] > 0 and row not in rows]
    allowed = [row for row in ranked if not forbidden[row]][:top]
    found = bring(method, cube, rows, scope_of(40, np.flatnonzero(forbidden).tolist()))
    assert len(found) == len(allowed)
    assert np.allclose(np.sort(exact[found]), np.sort(exact[allowed]), atol=1e-8)


def test_where_few_may_come_the_walk_goes_on_until_it_finds_them() -> None:
    count = 4_000  # a way of 20 steps to the only two that may come, through the hub of many
    links = [(0, 1), *((1, 2 + number) for number in range(count)), *((4_000 + n, 4_001 + n) for n in range(60))]
    cube = toy_cube([[0]], objects=4_062, links=links)
    allowed = {4_020, 4_025}
    forbidden = [row for row in range(4_062) if row not in allowed]
    assert bring(PageRank(top=2), cube, [0], scope_of(4_062, forbidden)) == [4_020, 4_025]
    assert bring(PageRank(top=5), cube, [0], scope_of(4_062, forbidden)) == [4_020, 4_025], "no more can be reached"
    assert bring(PageRank(top=1), cube, [0], scope_of(4_062, forbidden)) == [4_020], "the nearer one is the first"
    query, scope = Query(np.array([0])), scope_of(4_062, forbidden)
    assert find_neighbors(cube.links, query, 2, scope=scope).tolist() == [4_020, 4_025]
    assert find_neighbors(cube.links, query, 2, scope=scope_of(4_062, forbidden, [7])).tolist() == [7, 4_020]


def test_nearest_objects_are_the_pinned_and_then_the_nearest_that_may_come() -> None:
    query = Query(np.array([0]))
    assert find_neighbors(WAYS.links, query, 3).tolist() == [2, 3, 1]
    assert find_neighbors(WAYS.links, query, 3, scope=scope_of(9, [2, 3])).tolist() == [1, 5, 4]
    assert find_neighbors(WAYS.links, query, 3, scope=scope_of(9, [2, 3], [8])).tolist() == [8, 1, 5]
    assert find_neighbors(WAYS.links, query, 1, scope=scope_of(9, None, [6, 8])).tolist() == [6, 8], (
        "all that are pinned"
    )
    assert find_neighbors(WAYS.links, query, 0, scope=scope_of(9, None, [0])).tolist() == [], (
        "of the query nobody is near"
    )
    assert find_neighbors(WAYS.links, query, 2, seeds=np.array([8])).tolist() == [7, 8], "the walk may start elsewhere"


@pytest.mark.parametrize("share", [0.5, 0.95, 0.999])
def test_near_objects_of_a_large_network_are_as_good_as_those_of_all_scores(share: float) -> None:
    cube, query = random_cube(3, cells=1, objects=3_000, links=9_000), Query(np.array(some_rows(3, 20, 3_000)))
    forbidden = np.random.default_rng(1).random(3_000) < share
    exact = compute_scores(cube.links, query.objects, tolerance=1e-9)
    exact[query.objects] = 0.0
    exact[forbidden] = 0.0
    wanted = min(20, int((exact > 0).sum()))
    found = find_neighbors(cube.links, query, 20, scope=Scope(forbidden_objects=forbidden))
    assert len(found) == wanted and not forbidden[found].any()
    least = np.sort(exact)[-wanted]
    assert exact[found].min() >= least / 3 - 1e-12, "as proven of all: within a factor of 1 + slack"


@given(st.integers(0, 10_000), st.floats(0, 0.7))
def test_trees_of_a_steiner_tree_join_the_query_without_the_barred(seed: int, share: float) -> None:
    cube, rows = random_cube(seed, links=60), some_rows(seed)
    forbidden = set(np.flatnonzero(np.random.default_rng(seed + 1).random(40) < share).tolist()) - set(rows)
    graph = graph_of(cube, forbidden)
    found = bring(Steiner(prize=np.inf), cube, rows, scope_of(40, sorted(forbidden)))
    assert not set(found) & forbidden
    joined = graph.subgraph([*rows, *found])
    for part in nx.connected_components(graph):
        inside = sorted(set(rows) & part)
        assert all(nx.has_path(joined, inside[0], row) for row in inside), "what can be joined is"


def test_a_steiner_tree_by_hand_takes_the_longer_way_and_joins_the_pinned() -> None:
    cube = toy_cube([[0]], objects=7, links=[(0, 1), (1, 2), (0, 3), (3, 4), (4, 2), (4, 5), (5, 6)])
    all_of = Steiner(prize=np.inf)
    assert bring(all_of, cube, [0, 2]) == [1]
    assert bring(all_of, cube, [0, 2], scope_of(7, [1])) == [3, 4]
    assert bring(all_of, cube, [0, 2], scope_of(7, [1, 4])) == [], "there is no way"
    assert bring(all_of, cube, [0, 2], scope_of(7, [1], [4])) == [3, 4]
    assert bring(all_of, cube, [0, 2], scope_of(7, None, [6])) == [1, 4, 5, 6]


def test_maxdisc_by_hand_leaves_the_barred_and_pays_nothing_for_the_pinned() -> None:
    cube = toy_cube([[0]], objects=6, links=[(0, 4), (1, 4), (2, 4), (0, 5), (1, 5), (2, 5), (2, 3)])
    method = MaxDisc(alpha=1.0, tree="smart")
    assert bring(method, cube, [0, 1, 2]) in ([4], [5])
    assert bring(method, cube, [0, 1, 2], scope_of(6, [4])) == [5]
    assert bring(method, cube, [0, 1, 2], scope_of(6, [4, 5])) == []
    assert bring(method, cube, [0, 1, 2], scope_of(6, None, [3, 5])) == [3, 5], "5 joins all, and is there anyway"


def whole(query: list[int], members: list[list[int]], links: list[tuple[int, int]], count: int) -> tuple[Cube, Query]:
    return toy_cube(members, objects=count, links=links), Query(np.array(query))


CUBE, QUERY = whole([0, 1], [[0, 2, 3], [1, 3, 4]], [(0, 1), (0, 2), (1, 5), (5, 6)], 8)
CHOSEN = Selection(np.array([0, 1, 2, 3, 4]), 1.0, np.array([0, 1]), np.array([0.5, 1.0]))


@pytest.mark.parametrize(
    ("form", "near", "plain", "steered"),
    [
        ("objects", None, [0, 1, 2, 3, 4], [0, 1, 2, 4, 7]),
        ("cells+objects", None, [0, 1, 2, 3, 4], [0, 1, 2, 4, 7]),
        ("cells", None, [0, 1], [0, 1, 7]),
        ("hybrid", [2, 5], [0, 1, 2, 5], [0, 1, 2, 7]),
    ],
)
def test_in_every_form_the_pinned_are_nodes_and_the_barred_are_none(
    form: str, near: list[int] | None, plain: list[int], steered: list[int]
) -> None:
    found = None if near is None else np.array(near, np.int32)
    assert assemble(CUBE, QUERY, CHOSEN, form, nearest=found).objects.tolist() == plain
    scope = scope_of(8, [0, 3, 5], [7])
    network = assemble(CUBE, QUERY, CHOSEN, form, nearest=found, scope=scope)
    assert network.objects.tolist() == steered
    held = {int(row): network.brought_by[at].tolist() for at, row in enumerate(network.objects)}
    assert held[0] == [0] and held[1] == [1] and held[7] == []


def test_a_pinned_object_without_a_link_is_not_left_out() -> None:
    form = Form("objects", keep_unlinked=False)
    assert assemble(CUBE, QUERY, CHOSEN, form, scope=scope_of(8, None, [7])).objects.tolist() == [0, 1, 2, 7]


def test_pinned_objects_alone_need_no_cells_for_a_form_of_cells() -> None:
    pins = Selection(np.array([7]), 0.0)
    scope = scope_of(8, None, [7])
    assert assemble(CUBE, QUERY, pins, "cells", scope=scope).objects.tolist() == [0, 1, 7]
    assert not brings_objects(pins, scope) and brings_objects(pins)


def test_cells_that_fit_are_counted_without_the_barred_and_with_the_pinned() -> None:
    def count(nodes: int, scope: Scope) -> int:
        return len(take_first_cells(CUBE, QUERY, CHOSEN, nodes, 0.0, scope).cells)

    # The query, the first cell and its 2 and 3 are five nodes; the second cell and its 4 make seven.
    assert [count(nodes, OPEN) for nodes in (4, 5, 6, 7)] == [0, 1, 1, 2]
    assert [count(nodes, scope_of(8, [3])) for nodes in (3, 4, 5, 6)] == [0, 1, 1, 2]
    assert [count(nodes, scope_of(8, None, [7])) for nodes in (5, 6, 7, 8)] == [0, 1, 1, 2]
    assert count(2, Scope(cells=np.array([0]), forbidden_cells=np.array([0]))) == 1, "pinned cells stay"


def test_a_cell_is_as_large_as_those_of_it_that_may_come() -> None:
    network = c2n.construct(CUBE, [1, 2, 3], n_cells=2, objective="coverage")
    assert network.cell_objects == [len(CUBE.cells.members[cell]) for cell in network.cells.tolist()]
    forbidden = next(row for row in CUBE.cells.members[int(network.cells[0])].tolist() if row not in (1, 2, 3))
    fewer = c2n.construct(CUBE, [1, 2, 3], n_cells=2, objective="coverage", bans=[f"o{forbidden}"], pins=network.labels)
    assert fewer.cell_objects == [
        len(set(CUBE.cells.members[cell].tolist()) - {forbidden}) for cell in fewer.cells.tolist()
    ]


def test_it_is_said_where_nobody_may_come() -> None:
    nobody = "no object is brought: none outside the query is allowed by where, between, kind and bans"
    assert describe_scope(QUERY, scope_of(8, [2, 3, 4, 5, 6, 7])) == nobody
    assert describe_scope(QUERY, scope_of(8, list(range(8)))) == nobody
    assert describe_scope(QUERY, scope_of(8, [0, 2, 3, 4, 5, 6])) == ""
    assert describe_scope(QUERY, scope_of(8, list(range(8)), [7])) == ""
    assert describe_scope(QUERY, OPEN) == ""


def test_a_network_is_announced_as_large_as_it_will_be() -> None:
    many = toy_cube([list(range(3_000))], objects=3_000)
    chosen = Selection(np.arange(3_000), 1.0, np.array([0]), np.array([1.0]))
    query, form = Query(np.array([0])), Form("objects")
    assert "hold 3,000 objects" in describe_size(many, query, chosen, form, None)
    few: Array = np.arange(3_000) >= 900
    assert describe_size(many, query, chosen, form, None, Scope(forbidden_objects=few)) == ""
