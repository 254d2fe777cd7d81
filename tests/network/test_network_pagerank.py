from __future__ import annotations

import dataclasses
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Scope, Weights
from cube2net.network.pagerank import PageRank, compute_scores, find_neighbors, select_highest

from toys import random_cube, toy_cube


def weighted(seed: int, count: int = 30, links: int = 45) -> Links:
    rng = np.random.default_rng(seed)
    return links_from_pairs(*rng.integers(0, count, (2, links)), rng.integers(0, 5, links).astype(float), count)


def solve(links: Links, seeds: list[int], damping: float) -> Array:
    """Return the scores by a dense linear solve; at objects without links the walk starts again."""
    count = len(links)
    start = np.isin(np.arange(count), seeds) / len(seeds)
    step = np.zeros((count, count))
    for u in range(count):
        row = slice(links.indptr[u], links.indptr[u + 1])
        total = links.weights[row].astype(float).sum()
        if total > 0:
            step[links.indices[row], u] = links.weights[row] / total
        else:
            step[:, u] = start
    return np.linalg.solve(np.eye(count) - damping * step, (1 - damping) * start)


def bring(cube: Cube, rows: list[int], method: PageRank, **limits: int) -> list[int]:
    weights = Weights(np.zeros(len(cube.objects)), np.ones(len(cube.objects)))
    return method.select(cube, Query(np.array(rows)), weights=weights, budget=Budget(**limits)).objects.tolist()


@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.floats(0.05, 0.99),
    st.sampled_from([0.9, 0.5, 0.1, 0.01, 1e-6, 1e-12]),
)
def test_scores_are_within_the_tolerance_of_the_linear_solve(
    seed: int, size: int, damping: float, tolerance: float
) -> None:
    links = weighted(seed)
    seeds = np.random.default_rng(seed).choice(30, size, replace=False).tolist()
    found, exact = compute_scores(links, np.array(seeds), damping, tolerance), solve(links, seeds, damping)
    assert np.abs(found - exact).sum() <= tolerance * 1.00001 + 1e-11
    assert found.min() >= 0 and found.sum() <= 1 + tolerance


@pytest.mark.parametrize(("early", "small"), [(0, 10**9), (0, 30), (20, 30), (20, 10**9)])
@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.01, 1e-6]))
def test_whichever_way_the_walk_is_followed_the_scores_are_within_the_tolerance(
    early: int, small: int, seed: int, tolerance: float
) -> None:
    links = weighted(seed)
    seeds = np.random.default_rng(seed).choice(30, 3, replace=False).tolist()
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"EARLY": early, "SMALL": small, "LOCAL": 1, "PART": 1}.items():
            patched.setattr(f"cube2net.network.pagerank.{name}", value)
        found = compute_scores(links, np.array(seeds), tolerance=tolerance)
        near = find_neighbors(links, Query(np.sort(seeds)), 30, tolerance=tolerance, slack=None)
    assert np.abs(found - solve(links, seeds, 0.85)).sum() <= tolerance * 1.00001 + 1e-11
    assert sorted([*near.tolist(), *seeds]) == sorted({*np.flatnonzero(found).tolist(), *seeds})


@pytest.mark.parametrize("damping", [1e-6, 1e-9, 1e-200, 5e-324])
def test_a_walk_that_hardly_goes_on_stays_at_the_query(damping: float) -> None:
    links = weighted(1)
    found = compute_scores(links, np.array([3, 4]), damping, 1e-12)
    assert np.abs(found - solve(links, [3, 4], damping)).sum() <= 1e-11


def test_networkx_agrees_on_weights_and_on_query_objects_without_links() -> None:
    links = weighted(3)
    graph = nx.Graph()
    graph.add_nodes_from(range(31))
    for u in range(30):
        row = slice(links.indptr[u], links.indptr[u + 1])
        ends = zip(links.indices[row].tolist(), links.weights[row].tolist(), strict=True)
        graph.add_weighted_edges_from((u, v, weight) for v, weight in ends)
    wider = Links(np.append(links.indptr, links.indptr[-1]), links.indices, links.weights)
    expected = nx.pagerank(graph, personalization={2: 1, 9: 1, 30: 1}, tol=1e-13, max_iter=1000)
    assert compute_scores(wider, np.array([2, 9, 30]), tolerance=1e-12) == pytest.approx(
        np.array([expected[u] for u in range(31)]), abs=1e-10
    )


def test_a_heavier_link_brings_more_than_a_lighter_one() -> None:
    links = links_from_pairs(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]), 3)
    found = compute_scores(links, np.array([0]), tolerance=1e-12)
    assert found[2] == pytest.approx(3 * found[1])


def test_a_walk_with_nowhere_to_go_stays_at_the_query() -> None:
    alone = links_from_pairs(np.array([0]), np.array([1]), np.array([0.0]), 3)
    assert compute_scores(alone, np.array([0, 2])).tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_objects_that_no_path_joins_to_the_query_get_exactly_nothing() -> None:
    links = links_from_pairs(np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5]), np.ones(4), 6)
    for tolerance in (0.5, 1e-9):
        found = compute_scores(links, np.array([0]), tolerance=tolerance)
        assert found[3:].tolist() == [0.0, 0.0, 0.0] and found[:3].min() > 0


def test_a_loose_tolerance_stays_near_the_query_in_a_large_network() -> None:
    path = links_from_pairs(np.arange(99_999), np.arange(1, 100_000), np.ones(99_999), 100_000)
    assert np.count_nonzero(compute_scores(path, np.array([500]), tolerance=0.1)) < 60


def test_the_best_objects_outside_the_query_are_brought() -> None:
    cube = toy_cube([[0]], objects=6, links=[(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)])
    assert bring(cube, [0], PageRank(top=2)) == [1, 2]
    assert bring(cube, [0], PageRank(top=3, tolerance=1e-9)) == [1, 2, 3]
    assert bring(cube, [0], PageRank(top=0)) == []
    assert bring(cube, [0], PageRank(tolerance=1e-9)) == [1, 2, 3, 4]
    assert bring(cube, [5], PageRank()) == []


def test_equal_scores_go_to_the_lower_number() -> None:
    star = toy_cube([[0]], objects=6, links=[(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)])
    assert bring(star, [5], PageRank(top=2)) == [0, 1]
    assert select_highest(np.array([0.1, 0.3, 0.1, 0.3, 0.1]), 4).tolist() == [1, 3, 0, 2]


def test_without_top_the_limit_of_nodes_or_the_size_of_the_query_decides() -> None:
    size = 400
    star = toy_cube([[0]], objects=size, links=[(0, i) for i in range(1, size)])
    assert len(bring(star, [0], PageRank())) == 100
    assert len(bring(star, list(range(50)), PageRank())) == 200
    assert len(bring(star, [0], PageRank(), max_nodes=11)) == 10
    assert len(bring(star, [0], PageRank(top=50), max_nodes=11)) == 10
    assert len(bring(star, [0], PageRank(top=5), max_nodes=11)) == 5
    assert bring(star, [0, 1], PageRank(), max_nodes=1) == []


def test_a_limit_of_links_keeps_the_best() -> None:
    cube = toy_cube([[0]], objects=5, links=[(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)])
    assert bring(cube, [0], PageRank(tolerance=1e-9), max_links=1) == [2]
    assert bring(cube, [0], PageRank(tolerance=1e-9), max_links=3) == [1, 2]


def test_seeds_given_twice_or_in_another_order_change_nothing() -> None:
    links = weighted(5)
    assert np.array_equal(compute_scores(links, np.array([4, 1, 4])), compute_scores(links, np.array([1, 4])))


def test_scaling_all_weights_changes_nothing() -> None:
    cube = random_cube(1)
    links = cube.links
    scaled = dataclasses.replace(links, weights=links.weights * np.float32(4))
    assert compute_scores(links, np.array([3]), tolerance=1e-6) == pytest.approx(
        compute_scores(scaled, np.array([3]), tolerance=1e-6)
    )


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"top": -1}, "top is -1, expected 0 or more objects, or None"),
        ({"top": 2.5}, "top is 2.5, expected a whole number of 0 or more objects, or None"),
        ({"top": "9"}, "top is '9', expected a whole number of 0 or more objects, or None"),
        ({"top": 10**20}, "top is 100000000000000000000, expected 0 to 4,611,686,018,427,387,904 objects, or None"),
        ({"damping": 1.0}, "damping is 1.0, expected a probability above 0 and below 1"),
        ({"damping": float("nan")}, "damping is nan, expected a probability above 0 and below 1"),
        ({"tolerance": 0}, "tolerance is 0, expected a number from 1e-12 to below 1"),
    ],
)
def test_a_bad_parameter_says_what_is_allowed(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError) as error:
        PageRank(**wrong)
    assert str(error.value) == text


def test_seeds_that_are_not_objects_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"seeds are \[7, 99\], expected one or more of 30 objects"):
        compute_scores(weighted(0), np.array([99, 7]))
    with pytest.raises(ParameterError, match=r"seeds are \[\], expected one or more of 30 objects"):
        compute_scores(weighted(0), np.array([], dtype=np.int32))


@pytest.mark.parametrize("weight", [3e38, 1e-42])
def test_very_large_and_very_small_weights_give_the_scores_of_equal_ones(weight: float) -> None:
    ends = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
    odd, plain = (links_from_pairs(*ends, np.full(4, value), 4) for value in (weight, 1.0))
    for tolerance in (0.05, 1e-6):
        got, want = (compute_scores(links, np.array([0]), tolerance=tolerance) for links in (odd, plain))
        assert np.abs(got - want).sum() <= 2 * tolerance


def joined(seed: int, count: int = 40) -> Links:
    """Return a ring with as many random chords, and weights of several sizes."""
    rng = np.random.default_rng(seed)
    ring = np.arange(count)
    one, other = (np.concatenate([ends, rng.integers(0, count, count)]) for ends in (ring, (ring + 1) % count))
    return links_from_pairs(one, other, 10.0 ** rng.uniform(-2, 2, 2 * count), count)


def exchanged(links: Links, rows: list[int], found: list[int], count: int) -> float:
    """Return how far the worst object brought, or the best left out, is beyond the count-th exact score."""
    exact = solve(links, rows, 0.85)
    exact[rows] = 0.0
    last = np.sort(exact)[-count]
    left_out = np.delete(exact, found)
    return max(float(last / exact[found].min()), float(left_out.max() / last)) - 1.0


@given(
    st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 20), st.sampled_from([0.0, 0.01, 0.3, 1.0]), st.booleans()
)
def test_the_nearest_are_the_best_but_for_objects_within_the_slack(
    seed: int, size: int, count: int, slack: float, sparse: bool
) -> None:
    links = weighted(seed, 40, 120) if sparse else joined(seed)
    rows = np.sort(np.random.default_rng(seed).choice(40, size, replace=False))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cube2net.network.pagerank.APART", 1e-9)
        found = find_neighbors(links, Query(rows), count, tolerance=1e-12, slack=slack).tolist()
    assert len(set(found)) == len(found) and not set(found) & set(rows.tolist())
    exact = solve(links, rows.tolist(), 0.85)
    exact[rows] = 0.0
    assert len(found) == min(count, np.count_nonzero(exact))
    assert not found or exact[found].min() > 0
    if len(found) == count:
        assert exchanged(links, rows.tolist(), found, count) <= slack + 1e-6


@given(st.integers(0, 10_000), st.integers(1, 10))
def test_by_default_the_nearest_are_within_the_slack_or_of_scores_within_the_tolerance(seed: int, count: int) -> None:
    links = joined(seed)
    rows = [3, 17]
    found = find_neighbors(links, Query(np.array(rows)), count).tolist()
    exact = solve(links, rows, 0.85)
    exact[rows] = 0.0
    wrong = float(np.sort(exact)[-count:].sum() - exact[found].sum())
    assert wrong <= 0.05 + 1e-6 or exchanged(links, rows, found, count) <= 1.0


@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.lists(st.tuples(st.sets(st.integers(4, 39)), st.sets(st.integers(4, 39), max_size=4)), min_size=2, max_size=4),
    st.sampled_from([None, 0.0, 2.0]),
)
def test_rankings_that_are_known_change_nothing_whoever_is_barred_or_pinned(
    seed: int, count: int, asked: list[tuple[set[int], set[int]]], slack: float | None
) -> None:
    links, query, rankings = joined(seed), Query(np.arange(4, dtype=np.int32)), {}
    for bars, pins in asked:
        forbidden = np.isin(np.arange(40), list(bars - pins))
        scope = Scope(objects=np.array(sorted(pins), dtype=np.int32), forbidden_objects=forbidden)
        plain = find_neighbors(links, query, count, slack=slack, scope=scope)
        assert (
            find_neighbors(links, query, count, slack=slack, scope=scope, rankings=rankings).tolist() == plain.tolist()
        )


def apart(links: Links, rows: list[int], count: int, slack: float = 1.0) -> list[int]:
    """Return the nearest as pushes tell them apart, however many links that takes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cube2net.network.pagerank.APART", 1e-9)
        return find_neighbors(links, Query(np.array(rows)), count, tolerance=1e-12, slack=slack).tolist()


@pytest.mark.parametrize("slack", [0.0, 1.0])
def test_the_leaves_of_a_star_are_equally_near_and_come_by_number(slack: float) -> None:
    star = links_from_pairs(np.full(5, 5), np.arange(5), np.ones(5), 7)
    assert apart(star, [5], 3, slack) == [0, 1, 2]
    assert apart(star, [4], 3, slack) == [5, 0, 1]
    assert apart(star, [5], 20, slack) == [0, 1, 2, 3, 4]


def test_along_a_path_the_nearest_come_one_after_another() -> None:
    path = links_from_pairs(np.arange(99), np.arange(1, 100), np.ones(99), 100)
    assert apart(path, [0], 4, 0.01) == [1, 2, 3, 4]
    assert apart(path, [50], 4, 0.01) == [49, 51, 48, 52]


def test_what_no_path_joins_to_the_query_is_not_near_and_lonely_queries_have_nothing_near() -> None:
    links = links_from_pairs(np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5]), np.ones(4), 8)
    assert apart(links, [0], 5) == [1, 2]
    assert apart(links, [0, 6], 5) == [1, 2]
    assert apart(links, [6, 7], 5) == []
    assert find_neighbors(links, Query(np.array([0])), 0).tolist() == []


def test_a_hub_that_pushes_did_not_come_to_yet_is_not_forgotten() -> None:
    one = np.concatenate([[0, 0, 1, 2], np.full(4000, 3)])
    other = np.concatenate([[1, 2, 3, 3], np.arange(4, 4004)])
    weights = np.concatenate([[1.0, 1.0, 1.0, 1.0], np.full(4000, 1e-3)])
    links = links_from_pairs(one, other, weights, 4004)
    assert apart(links, [0], 1, 0.0) == [3]


@pytest.mark.parametrize("weight", [3e38, 1e-42])
def test_very_large_and_very_small_weights_have_the_nearest_of_equal_ones(weight: float) -> None:
    ends = np.array([0, 1, 2, 0, 3, 4]), np.array([1, 2, 3, 3, 4, 5])
    odd, plain = (links_from_pairs(*ends, np.full(6, value), 6) for value in (weight, 1.0))
    for count in (1, 2, 5):
        assert apart(odd, [0], count, 0.0) == apart(plain, [0], count, 0.0)
        got, want = (find_neighbors(links, Query(np.array([0])), count).tolist() for links in (odd, plain))
        assert got == want


@pytest.mark.parametrize("slack", [-0.1, float("nan"), float("inf")])
def test_a_slack_that_is_no_share_is_refused(slack: float) -> None:
    with pytest.raises(ParameterError, match=rf"slack is {slack}, expected a number of 0 or more, or None"):
        find_neighbors(weighted(0), Query(np.array([1])), 3, slack=slack)
