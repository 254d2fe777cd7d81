from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Weights
from cube2net.network.hops import Hops, expand_hops
from cube2net.network.pagerank import compute_scores

from toys import random_cube, toy_cube

STAR = toy_cube([[0]], objects=9, links=[(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 6), (2, 7)])


def bring(cube: Cube, rows: list[int], method: Hops, **limits: int) -> list[int]:
    weights = Weights(np.zeros(len(cube.objects)), np.ones(len(cube.objects)))
    query = Query(np.array(rows))
    return method.select(cube, query, weights=weights, budget=Budget(**limits)).objects.tolist()


@given(st.integers(0, 10_000), st.integers(1, 2), st.integers(1, 6))
def test_hops_bring_what_breadth_first_search_finds(seed: int, hops: int, size: int) -> None:
    cube = random_cube(seed, links=50)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(cube.objects)))
    for u in range(len(cube.objects)):
        graph.add_edges_from((u, v) for v in cube.links.neighbours(u).tolist())
    rows = sorted(np.random.default_rng(seed).choice(40, size, replace=False).tolist())
    near = nx.multi_source_dijkstra_path_length(graph, set(rows), cutoff=hops, weight=None)
    assert bring(cube, rows, Hops(hops=hops)) == sorted(set(near) - set(rows))


def test_one_step_and_two_steps_by_hand() -> None:
    assert bring(STAR, [0], Hops()) == [1, 2, 3, 4]
    assert bring(STAR, [0], Hops(hops=2)) == [1, 2, 3, 4, 5, 6, 7]
    assert bring(STAR, [1, 6], Hops(hops=2)) == [0, 2, 3, 4, 5]


def test_an_object_without_links_brings_nothing() -> None:
    assert bring(STAR, [8], Hops(hops=2)) == []


def test_a_fan_out_cap_keeps_a_hub_from_flooding_the_answer() -> None:
    assert bring(STAR, [0], Hops(fan_out=2)) == [1, 2]
    assert bring(STAR, [0], Hops(hops=2, fan_out=2)) == [1, 2, 5, 7]
    assert bring(STAR, [0, 1], Hops(fan_out=2)) == [2, 3, 5]


def test_every_object_found_knows_its_step_and_how_many_bring_it() -> None:
    objects, steps, hits = expand_hops(STAR.links, np.array([1, 3]), 2)
    found = dict(zip(objects.tolist(), zip(steps.tolist(), hits.tolist(), strict=True), strict=True))
    assert found == {0: (1, 2), 5: (1, 1), 6: (1, 1), 2: (2, 2), 4: (2, 1)}


def test_of_the_equally_near_those_that_a_walk_stays_at_are_kept() -> None:
    # 0 and 1 have ten others each and bring 3 together; 2 has nobody but 4, and 5 is a step further
    ways = [(0, 3), (1, 3), (2, 4), (4, 5), *((number % 2, 6 + number) for number in range(20))]
    cube = toy_cube([[0]], objects=26, links=ways)
    assert bring(cube, [0, 1, 2], Hops(hops=2), max_nodes=4) == [4]
    assert bring(cube, [0, 1, 2], Hops(hops=2), max_nodes=5) == [3, 4]
    assert bring(cube, [0, 1, 2], Hops(hops=2), max_nodes=25) == [3, 4, *range(6, 26)], "what is nearer comes first"


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_a_cut_is_by_step_then_score_then_bringers_then_number(seed: int, hops: int) -> None:
    cube, query = random_cube(seed, links=60), np.sort(np.random.default_rng(seed).choice(40, 5, replace=False))
    objects, steps, hits = expand_hops(cube.links, query, hops)
    near = compute_scores(cube.links, query)
    ranked = sorted(zip(steps.tolist(), -near[objects], -hits, objects.tolist(), strict=True))
    for room in range(len(ranked) + 1):
        kept = sorted(row for *_, row in ranked[:room])
        assert bring(cube, query.tolist(), Hops(hops=hops), max_nodes=5 + room) == kept


def test_a_limit_of_nodes_keeps_the_nearest_and_most_linked() -> None:
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_nodes=5) == [0, 5]
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_nodes=2) == []


def test_a_limit_of_links_cuts_the_same_order() -> None:
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_links=3) == [0]
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_links=4) == [0]
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_links=5) == [0, 5]
    assert bring(STAR, [1, 2, 3], Hops(hops=2), max_links=2) == []


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"hops": 3}, "hops is 3, expected 1 or 2 steps from the query"),
        ({"hops": 0}, "hops is 0, expected 1 or 2 steps from the query"),
        ({"hops": 1.0}, "hops is 1.0, expected 1 or 2 steps from the query"),
        ({"hops": True}, "hops is True, expected 1 or 2 steps from the query"),
        ({"hops": "2"}, "hops is '2', expected 1 or 2 steps from the query"),
        ({"fan_out": 0}, "fan_out is 0, expected 1 or more objects, or None for all"),
        ({"fan_out": 2.5}, "fan_out is 2.5, expected a whole number of 1 or more objects, or None for all"),
        (
            {"fan_out": 10**20},
            "fan_out is 100000000000000000000, expected 1 to 4,611,686,018,427,387,904 objects, or None for all",
        ),
    ],
)
def test_a_bad_parameter_says_what_is_allowed(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError) as error:
        Hops(**wrong)
    assert str(error.value) == text
