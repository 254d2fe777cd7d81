"""The forces of a layout against plain Python."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.kernels.force_layout import (
    BY_TREE,
    MAX_DEPTH,
    MAX_NODES_WITH_BINS,
    OPENING_ANGLE,
    attract,
    build_tree,
    choose_bins,
    push_apart,
    relax,
    repel,
    repel_by_tree,
    separate,
)


def plain_repel(place: Array, mass: Array) -> Array:
    force = np.zeros_like(place)
    for i in range(len(place)):
        for j in range(len(place)):
            if i != j:
                way = place[i] - place[j]
                force[i] += way * mass[i] * mass[j] / max(float(way @ way), 1e-9)
    return force


def plain_attract(place: Array, source: Array, target: Array, pull: Array) -> Array:
    force = np.zeros_like(place)
    for a, b, strength in zip(source, target, pull, strict=True):
        way = place[b] - place[a]
        distance = math.hypot(*way)
        force[a] += way / max(distance, 1e-9) * strength * math.log1p(distance)
        force[b] -= way / max(distance, 1e-9) * strength * math.log1p(distance)
    return force


def plain_relax(
    place: Array, links: tuple[Array, Array, Array], mass: Array, steps: int, reach: float, hold: Array
) -> Array:
    place = place.copy()
    for step in range(steps):
        force = plain_repel(place, mass) + plain_attract(place, *links) - hold * mass[:, None] * place
        size = np.linalg.norm(force, axis=1)
        limit = reach * (1 - step / steps) ** 1.5
        place += force * (np.minimum(limit, size / mass) / np.maximum(size, 1e-9))[:, None]
    return place


def some_places(seed: int, count: int) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, count, size=(2, 2 * count))
    ends = ends[:, ends[0] != ends[1]]
    links = ends[0], ends[1], rng.random(ends.shape[1])
    return rng.normal(size=(count, 2)) * 5, rng.random(count) + 0.5, links


def test_two_nodes_push_each_other_by_mass_over_distance() -> None:
    force = np.zeros((2, 2))
    repel(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([2.0, 3.0]), 1, force)
    assert force.tolist() == [[-1.5, 0.0], [1.5, 0.0]]


def test_a_link_pulls_both_ends_by_the_logarithm_of_its_length() -> None:
    force = np.zeros((2, 2))
    attract(np.array([[0.0, 0.0], [0.0, 3.0]]), np.array([0]), np.array([1]), np.array([2.0]), force)
    np.testing.assert_allclose(force, [[0, 2 * math.log(4)], [0, -2 * math.log(4)]])


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 2))
def test_forces_equal_plain_python_with_two_bins_or_fewer(seed: int, count: int, bins: int) -> None:
    place, mass, links = some_places(seed, count)
    force = np.zeros_like(place)
    repel(place, mass, bins, force)
    np.testing.assert_allclose(force, plain_repel(place, mass), atol=1e-9)
    force[:] = 0
    attract(place, *links, force)
    np.testing.assert_allclose(force, plain_attract(place, *links), atol=1e-9)


def test_many_bins_come_close_to_the_exact_push() -> None:
    place, mass, _ = some_places(3, 120)
    force = np.zeros_like(place)
    repel(place, mass, 8, force)
    exact = plain_repel(place, mass)
    assert np.linalg.norm(force - exact) < 0.05 * np.linalg.norm(exact)


def test_relaxing_equals_plain_python_and_leaves_its_input_alone() -> None:
    place, mass, links = some_places(5, 12)
    before = place.copy()
    hold = np.array([0.05, 0.08])
    result = relax(place, *links, mass, 2, 10, 3.0, hold)
    np.testing.assert_allclose(result, plain_relax(place, links, mass, 10, 3.0, hold), rtol=1e-6)
    assert np.array_equal(place, before)


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_separated_discs_do_not_overlap(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.3, 0.8, count)
    place = separate(rng.normal(size=(count, 2)).round(1), radius, 1000)
    apart = np.linalg.norm(place[:, None] - place[None], axis=2) + 10 * np.eye(count)
    assert np.all(apart >= 0.99 * (radius[:, None] + radius[None]))


def test_nodes_at_the_very_same_place_come_apart_and_far_ones_stay() -> None:
    place = separate(np.array([[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]]), np.full(3, 0.5), 100)
    assert np.linalg.norm(place[0] - place[1]) > 0.99
    assert place[2].tolist() == [9.0, 9.0]


@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans())
def test_a_tree_that_puts_nothing_together_gives_the_sum_of_all_pairs(seed: int, count: int, on_a_grid: bool) -> None:
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 4, (count, 2)).astype(float) if on_a_grid else rng.normal(size=(count, 2)) * 5
    mass = rng.random(count) + 0.5
    force, exact = np.zeros((count, 2)), np.zeros((count, 2))
    repel_by_tree(place, mass, 0.0, force)
    repel(place, mass, 1, exact)
    np.testing.assert_allclose(force, exact, atol=1e-7)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_what_is_far_is_put_together_with_little_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    place = np.concatenate([rng.normal(size=(250, 2)), rng.normal(size=(250, 2)) * 20 + 50])
    mass = rng.random(500) + 0.5
    force, exact = np.zeros((500, 2)), np.zeros((500, 2))
    push_apart(place, mass, BY_TREE, force)
    repel(place, mass, 1, exact)
    assert np.linalg.norm(force - exact) < 0.05 * np.linalg.norm(exact)


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_every_node_is_once_in_the_tree_and_masses_add_up(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    place, mass = rng.normal(size=(count, 2)), rng.random(count) + 0.5
    quarters, heavy, single, side = build_tree(place, mass)
    assert sorted(single[single >= 0].tolist()) == list(range(count))
    np.testing.assert_allclose(heavy[0], [*(place * mass[:, None]).sum(axis=0) / mass.sum(), mass.sum()])
    for square, below in enumerate(quarters):
        inside = [quarter for quarter in below if quarter >= 0]
        assert (len(inside) == 0) == (single[square] >= 0)
        if inside:
            np.testing.assert_allclose(heavy[square, 2], heavy[inside, 2].sum())
    assert side >= np.ptp(place, axis=0).max()


def test_nodes_in_one_place_and_very_near_ones_end_the_tree() -> None:
    place = np.array([[0.0, 0.0]] * 3 + [[1e-13, 0.0], [1.0, 1.0]])
    quarters, *_ = build_tree(place, np.ones(5))
    assert len(quarters) <= 4 * 5 + 2 * MAX_DEPTH
    force = np.zeros((5, 2))
    repel_by_tree(place, np.ones(5), OPENING_ANGLE, force)
    assert np.isfinite(force).all()
    np.testing.assert_allclose(force[4], [2.0, 2.0], atol=1e-6)


def test_many_nodes_are_laid_out_by_the_tree() -> None:
    assert choose_bins(MAX_NODES_WITH_BINS) > 2
    assert choose_bins(MAX_NODES_WITH_BINS + 1) == BY_TREE
    rng = np.random.default_rng(0)
    place, nobody = rng.normal(size=(300, 2)), np.empty(0, np.int64)
    hold = np.array([0.05, 0.05])
    by_tree, by_bins = (
        relax(place, nobody, nobody, np.empty(0), np.ones(300), bins, 200, 3.0, hold) for bins in (BY_TREE, 2)
    )
    assert abs(by_tree.std() / by_bins.std() - 1) < 0.02
