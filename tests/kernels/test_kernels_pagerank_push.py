from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.kernels.pagerank_push import close_candidates, follow, know, push, strengths
from cube2net.network.pagerank import settle

ALL = 10**9


def graph(seed: int, count: int = 25) -> tuple[Links, Array]:
    """Return random weighted links and a few seeds that have some."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, count, (2, 2 * count))
    links = links_from_pairs(*ends, rng.random(2 * count) + 0.1, count)
    return links, rng.choice(np.flatnonzero(links.degrees), 3, replace=False).astype(np.int32)


def everyone(links: Links) -> Array:
    return np.arange(len(links), dtype=np.int32)


def steps(links: Links) -> Array:
    """Return P dense, with the step from u to v in row v and column u."""
    matrix = np.zeros((len(links), len(links)))
    for u in range(len(links)):
        row = slice(links.indptr[u], links.indptr[u + 1])
        total = links.weights[row].astype(float).sum()
        if total > 0:
            matrix[links.indices[row], u] = links.weights[row] / total
    return matrix


def exact(links: Links, left: Array, damping: float) -> Array:
    return (1 - damping) * np.linalg.solve(np.eye(len(links)) - damping * steps(links), left)


def run_push(
    links: Links, seeds: Array, damping: float, goal: float, allowance: int, known: bool = False
) -> tuple[float, Array, Array]:
    """Push at one threshold after another until the goal is met or the allowance spent."""
    settled, left, arrived, strength = np.zeros((4, len(links)))
    left[seeds] = 1 / len(seeds)
    ends = (links.indptr, links.indices, links.weights)
    strength[seeds] = strengths(links.indptr, links.weights, seeds)
    if known:
        know(links.indptr, links.weights, strength)
    reached, active, touched = np.full((3, len(links) + 1), -1, np.int32)
    reached[: len(seeds)] = seeds
    total, count, seen, threshold = 1.0, len(seeds), 0, 1.0
    while total > goal and seen <= allowance:
        threshold /= 2
        total, count, ends_seen = push(
            *ends, damping, threshold, goal, allowance - seen, total,
            settled, left, arrived, strength, reached, count, active, touched,
        )  # fmt: skip
        seen += ends_seen
    assert np.array_equal(np.sort(reached[:count]), np.flatnonzero(strength > 0))
    assert (reached[count:] == -1).all() and not arrived.any()
    return total, settled, left


def twin_push(links: Links, seeds: Array, damping: float, goal: float, allowance: int) -> tuple[float, Array, Array]:
    settled, left = np.zeros((2, len(links)))
    left[seeds] = 1 / len(seeds)
    step, strength = steps(links), strengths(links.indptr, links.weights, everyone(links))
    reached, threshold, seen = seeds.tolist(), 1.0, 0
    while left.sum() > goal and seen <= allowance:
        threshold /= 2
        active = [u for u in reached if left[u] > threshold * strength[u]]
        while active and left.sum() > goal and seen <= allowance:
            arrived, touched, total = np.zeros(len(links)), [], left.sum()
            for u in active:
                if total <= goal or seen > allowance:
                    break
                settled[u] += (1 - damping) * left[u]
                total -= (1 - damping) * left[u]
                arrived += damping * left[u] * step[:, u]
                left[u] = 0.0
                seen += links.degrees[u]
                touched += [v for v in links.neighbours(u).tolist() if v not in touched]
            left += arrived
            reached += [v for v in touched if v not in reached]
            active = [v for v in touched if left[v] > threshold * strength[v]]
    return float(left.sum()), settled, left


@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.1, 0.01]), st.sampled_from([0, 30, ALL]), st.booleans())
def test_pushes_settle_what_the_plain_loop_settles(seed: int, goal: float, allowance: int, known: bool) -> None:
    links, seeds = graph(seed)
    total, settled, left = run_push(links, seeds, 0.85, goal, allowance, known)
    plain_total, plain_settled, plain_left = twin_push(links, seeds, 0.85, goal, allowance)
    assert total == pytest.approx(plain_total, abs=1e-9)
    assert settled == pytest.approx(plain_settled, abs=1e-9)
    assert left == pytest.approx(plain_left, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(0.05, 0.95), st.floats(1e-4, 0.9))
def test_what_is_settled_and_what_is_left_always_add_up_to_the_exact_scores(
    seed: int, damping: float, goal: float
) -> None:
    links, seeds = graph(seed)
    total, settled, left = run_push(links, seeds, damping, goal, ALL)
    whole = exact(links, np.isin(np.arange(len(links)), seeds) / len(seeds), damping)
    assert settled + exact(links, left, damping) == pytest.approx(whole, abs=1e-9)
    assert total == pytest.approx(left.sum(), abs=1e-9) and total <= goal
    assert np.abs(whole - settled).sum() == pytest.approx(total, abs=1e-9)


def test_strengths_that_are_not_known_yet_are_written_negative() -> None:
    links = links_from_pairs(np.array([0, 1]), np.array([1, 2]), np.array([0.5, 2.0]), 4)
    strength = np.array([0.5, 0.0, 0.0, 0.0])
    know(links.indptr, links.weights, strength)
    assert strength.tolist() == [0.5, -2.5, -2.0, 0.0]


@given(st.integers(0, 10_000), st.floats(0.05, 0.95), st.floats(0.01, 0.9), st.floats(0, 0.1))
def test_no_score_is_above_the_bound_by_which_rivals_are_named(
    seed: int, damping: float, goal: float, least: float
) -> None:
    links, seeds = graph(seed)
    _, settled, left = run_push(links, seeds, damping, goal, ALL)
    reached = np.arange(len(links), dtype=np.int32)
    strength = strengths(links.indptr, links.weights, reached)
    threshold = max(left[u] / strength[u] for u in reached if strength[u] > 0)
    lower = settled + (1 - damping) * left
    upper = lower + damping * threshold * strength
    whole = exact(links, np.isin(reached, seeds) / len(seeds), damping)
    assert (lower <= whole + 1e-12).all() and (whole <= upper + 1e-12).all()
    found = np.full(len(links) + 1, -1, np.int32)
    number, volume = close_candidates(reached, len(links), damping, threshold, least, settled, left, strength, found)
    assert found[:number].tolist() == np.flatnonzero(upper >= least).tolist()
    assert volume == pytest.approx(strength.sum())


def test_pushes_look_at_no_more_of_a_long_path_when_it_is_longer() -> None:
    reached = []
    for count in (100, 10_000):
        path = links_from_pairs(np.arange(count - 1), np.arange(1, count), np.ones(count - 1), count)
        _, settled, _ = run_push(path, np.array([50], np.int32), 0.85, 0.05, ALL)
        reached.append(np.flatnonzero(settled).tolist())
    assert reached[0] == reached[1] and len(reached[0]) < 60


@pytest.mark.parametrize("workers", [1, 3])
def test_sweeps_give_the_same_scores_whoever_does_them(workers: int) -> None:
    links, seeds = graph(3, 400)
    left = np.isin(np.arange(len(links)), seeds) / len(seeds)
    settled, alone = np.zeros((2, len(links)))
    bound = settle(links, everyone(links), 0.85, 1e-6, 100, settled, left, workers=workers)
    assert bound == settle(links, everyone(links), 0.85, 1e-6, 100, alone, left, workers=2)
    assert np.array_equal(settled, alone)


def twin_sweep(links: Links, left: Array, damping: float, rounds: int) -> Array:
    step, start = damping * steps(links), (1 - damping) * left
    now, before, omega = start, np.zeros(len(left)), 1 / (1 - damping**2 / 2)
    for _ in range(rounds):
        now, before = omega * (step @ now + start - before) + before, now
        omega = 1 / (1 - damping**2 * omega / 4)
    return now


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_sweeps_settle_what_the_plain_recurrence_settles(seed: int, rounds: int) -> None:
    links, seeds = graph(seed)
    left = np.isin(np.arange(len(links)), seeds) / len(seeds)
    settled = np.zeros(len(links))
    settle(links, everyone(links), 0.85, 0.0, rounds, settled, left)
    assert settled == pytest.approx(twin_sweep(links, left, 0.85, rounds), abs=1e-12)


@given(st.integers(0, 10_000), st.floats(0.05, 0.97), st.sampled_from([0.3, 0.05, 1e-3, 1e-9]))
def test_the_error_after_sweeps_is_within_the_bound_they_return(seed: int, damping: float, goal: float) -> None:
    links, seeds = graph(seed)
    left = np.isin(np.arange(len(links)), seeds) / len(seeds)
    settled = np.zeros(len(links))
    bound = settle(links, everyone(links), damping, goal, 500, settled, left)
    assert bound <= goal
    assert np.abs(exact(links, left, damping) - settled).sum() <= bound + 1e-12
    assert settled.min() >= -1e-15


def twin_follow(links: Links, seeds: Array) -> set[int]:
    known, new = set(), set(seeds.tolist())
    while new:
        known |= new
        new = {int(v) for u in new for v in links.neighbours(u)} - known
    return known


@given(st.integers(0, 10_000), st.integers(20, 60))
def test_all_that_can_be_reached_is_found_unless_it_is_too_much(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    links = links_from_pairs(*rng.integers(0, count, (2, count // 2)), np.ones(count // 2), count)
    seeds = rng.choice(count, 2, replace=False).astype(np.int32)
    expected = twin_follow(links, seeds)
    ends = int(sum(links.degrees[row] for row in expected))
    for allowance in (ends, ends - 1):
        state, reached = np.zeros(count, np.uint8), np.empty(count + 1, np.int32)
        state[seeds], reached[:2] = 1, seeds
        found, whole = follow(links.indptr, links.indices, allowance, state, reached, 2)
        assert whole == (allowance == ends)
        assert set(reached[:found].tolist()) == set(np.flatnonzero(state).tolist()) <= expected
        assert not whole or found == len(expected)


def test_sweeps_over_what_can_be_reached_settle_what_sweeps_over_all_do() -> None:
    one, seeds = graph(5, 60)
    ends = np.repeat(np.arange(60), one.degrees), one.indices
    twice = links_from_pairs(*(np.concatenate([end, end + 60]) for end in ends), np.tile(one.weights, 2), 120)
    left = np.isin(np.arange(120), seeds) / len(seeds)
    whole, part = np.zeros((2, 120))
    settle(twice, everyone(twice), 0.85, 1e-9, 200, whole, left)
    settle(twice, np.arange(60, dtype=np.int32), 0.85, 1e-9, 200, part, left)
    assert part == pytest.approx(whole, abs=1e-12)
    assert not part[60:].any()
