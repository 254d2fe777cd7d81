"""Forces by a tree of quarters against the sum over all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.kernels.force_layout import (
    BY_TREE,
    MAX_DEPTH,
    MAX_NODES_WITH_BINS,
    OPENING_ANGLE,
    build_tree,
    choose_bins,
    push_apart,
    relax,
    repel,
    repel_by_tree,
)


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
