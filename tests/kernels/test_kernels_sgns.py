from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.kernels import node_embeddings as kernels
from cube2net.kernels.compiled import njit
from cube2net.kernels.node_embeddings import (
    APART,
    GOLDEN,
    SLOTS,
    TRIES,
    fill_walks,
    find_link,
    learn_links,
    learn_walks,
    make_slots,
    running_sums,
)
from cube2net.mining.node_embeddings import MAX_DIMENSIONS, allocate_rows, draw_rows, make_sampler

counter, scramble, share = (njit()(function) for function in (kernels.counter, kernels.scramble, kernels.share))
pick, draw_noise = njit()(kernels.pick), njit()(kernels.draw_noise)
meet, sigmoid = (njit(fastmath=True, error_model="numpy")(function) for function in (kernels.meet, kernels.sigmoid))

DRAWS = np.uint64(5)
ONE = np.uint64(1)


def moved(bits: int, steps: int = 1) -> np.uint64:
    return np.uint64((int(bits) + steps * int(GOLDEN)) % 2**64)


def scrambled(bits: np.uint64) -> np.uint64:
    return np.uint64(scramble(bits))


def logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def graph(count: int = 30) -> tuple[Links, Array]:
    rng = np.random.default_rng(0)
    ring = np.arange(count)
    source, target = np.concatenate([ring, ring]), np.concatenate([(ring + 1) % count, rng.permutation(count)])
    links = links_from_pairs(source, target, rng.random(2 * count) + 0.5, count)
    sums = np.empty(len(links.weights))
    running_sums(links.indptr, links.weights, sums)
    return links, sums


def twin_meet(x: Array, ys: Array, aims: Array, rates: Array) -> None:
    """One step for an input and its outputs, in double precision."""
    factors = rates * (aims - logistic(ys @ x))
    change = factors @ ys
    ys += np.outer(factors, x)
    x += change


def twin_learn(inputs: Array, outputs: Array, sources: list[int], targets: list[int], rate: float) -> None:
    """All sources meet the true output and the noise behind it, six distinct outputs at a time."""
    nodes = list(dict.fromkeys(targets))
    for first in range(0, len(nodes), SLOTS):
        part = nodes[first : first + SLOTS]
        aims = np.array([float(node == targets[0]) for node in part])
        rates = rate * np.array([targets.count(node) for node in part])
        waiting = outputs[part]
        for source in sources:
            twin_meet(inputs[source], waiting, aims, rates)
        outputs[part] = waiting


def twin_noise(noise: tuple[Array, Array], count: int, bits: np.uint64, avoid: set[int]) -> tuple[list[int], np.uint64]:
    found = []
    for _ in range(count):
        for _ in range(TRIES):
            bits = moved(bits)
            node = int(np.searchsorted(noise[0], np.uint64(int(scramble(bits)) >> 12), side="right"))
            if node not in avoid:
                break
        found.append(node)
    return found, bits


def test_the_sigmoid_is_right() -> None:
    x = np.linspace(-30, 30, 6001, dtype=np.float32)
    found = np.array([sigmoid(value) for value in x])
    exact = logistic(x.astype(float))
    assert np.abs(found - exact).max() < 1e-5
    assert np.abs(found - exact)[np.abs(x) <= 6].max() < 2e-7
    assert np.abs(found + found[::-1] - 1).max() < 3e-7
    assert (np.diff(found.astype(float)) > -1e-7).all()


@pytest.mark.parametrize("dimensions", [16, 48, 128, MAX_DIMENSIONS])
def test_meeting_moves_all_by_the_slope_at_the_start(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    rows = (rng.normal(size=(3, dimensions)) / np.sqrt(dimensions)).astype(np.float32)
    slots = np.zeros(SLOTS * APART, np.float32)
    table = slots.reshape(SLOTS, APART)
    table[:, :dimensions] = rng.normal(size=(SLOTS, dimensions))
    rates = np.array([0.5, 0.5, 1.0, 0.0, 0.5, 0.25], np.float32)
    x, ys = rows[1].astype(float), table[:, :dimensions].astype(float)
    before = rows.copy()
    meet(rows, np.uintp(1), slots, np.float32(1.0), rates)
    twin_meet(x, ys, np.array([1.0, 0, 0, 0, 0, 0]), rates.astype(float))
    assert np.abs(rows[1] - x).max() < 1e-5
    assert np.abs(table[:, :dimensions] - ys).max() < 1e-5
    assert np.array_equal(rows[[0, 2]], before[[0, 2]])
    assert not table[:, dimensions:].any()
    assert dimensions <= APART


def test_a_node_is_picked_as_likely_as_its_weight_and_never_at_weight_zero() -> None:
    weights = np.random.default_rng(1).random(37) ** 3
    weights[[0, 5, 6, 36]] = 0.0
    drawn = make_sampler(weights)
    bits = [counter(ONE, i, 0) for i in range(20_000)]
    found = np.bincount([pick(drawn, np.uint64(number)) for number in bits], minlength=37)
    assert not found[weights == 0].any()
    expected = weights / weights.sum() * len(bits)
    many = expected >= 5
    assert chisquare(found[many], expected[many] * found[many].sum() / expected[many].sum()).pvalue > 0.01


@pytest.mark.parametrize("weights", [[1.0], [0.0, 2.0], [1.0, 0.0, 3.0, 0.0], [1e-12, 1.0, 1e12], [1.0] * 64])
def test_picking_is_a_search_in_the_running_sums(weights: list[float]) -> None:
    sums, guide = make_sampler(np.array(weights))
    edges = [0, *(int(edge) for edge in sums), 2**52]
    for number in sorted({near for edge in edges for near in (edge - 1, edge, edge + 1) if 0 <= near < 2**52}):
        expected = int(np.searchsorted(sums, np.uint64(number), side="right"))
        assert pick((sums, guide), np.uint64(number << 12)) == expected


def test_noise_is_distinct_counted_and_neither_of_two_nodes() -> None:
    noise = make_sampler(np.array([1.0, 2.0, 3.0, 1.0]))
    targets, times = np.zeros(9, np.uintp), np.ones(9, np.float32)
    for start in range(50):
        bits = np.uint64(start)
        count, after = draw_noise(noise, 8, bits, 0, 3, targets, times)
        found, moved_on = twin_noise(noise, 8, bits, {0, 3})
        assert set(found) <= {1, 2}
        assert targets[1:count].tolist() == list(dict.fromkeys(found))
        assert times[1:count].tolist() == [found.count(node) for node in dict.fromkeys(found)]
        assert int(after) == int(moved_on)


def test_noise_that_cannot_be_avoided_is_taken() -> None:
    targets, times = np.zeros(3, np.uintp), np.ones(3, np.float32)
    count, _ = draw_noise(make_sampler(np.ones(2)), 2, ONE, 0, 1, targets, times)
    assert 2 <= count <= 3


@pytest.mark.parametrize(("noise", "p", "q"), [(5, 1.0, 1.0), (2, 0.5, 2.0), (13, 1.0, 1.0)])
def test_learning_from_walks_is_that_of_plain_python(noise: int, p: float, q: float) -> None:
    links, sums = graph()
    nodes = np.arange(len(links), dtype=np.int32)[::-1].copy()
    rules = (links.indptr, links.indices, sums, 1 / p, 1 / q, ONE)
    length, window, rate, fall = 12, 4, 0.3, 0.005
    drawn = make_sampler(np.random.default_rng(2).random(len(links)))
    inputs = draw_rows(nodes, len(links), 20, 1.0, np.random.default_rng(3))
    outputs = allocate_rows(len(links), 20)
    x, y = inputs.astype(float), outputs.astype(float)
    paths = np.empty((len(nodes), length), np.int32)
    fill_walks(rules, nodes, 2, paths)
    for start, rows in ((0, paths[:2]), (2, paths[2:])):
        learn_walks(rows, start, inputs, outputs, drawn, window, noise, DRAWS, 7, rate, fall, *make_slots())
    for i, path in enumerate(paths.tolist()):
        bits = np.uint64(counter(DRAWS, path[0], 7))
        for j, centre in enumerate(path):
            bits = moved(bits)
            reach = 1 + int(share(scrambled(bits)) * window)
            sources = [path[near] for near in range(max(0, j - reach), min(length, j + reach + 1)) if near != j]
            found, bits = twin_noise(drawn, noise, bits, {centre})
            twin_learn(x, y, sources, [centre, *found], rate - fall * i)
    assert np.abs(x).max() > 0.5
    assert np.abs(inputs - x).max() < 1e-4
    assert np.abs(outputs - y).max() < 1e-4
    assert not inputs[:, 20:].any()


@pytest.mark.parametrize("first_order", [True, False])
def test_learning_from_links_is_that_of_plain_python(first_order: bool) -> None:
    links, sums = graph()
    count = len(links)
    strengths = sums[links.indptr[1:] - 1]
    ends, noise = make_sampler(strengths), make_sampler(strengths**0.75)
    inputs = draw_rows(np.arange(count), count, 24, 1.0, np.random.default_rng(3))
    outputs = inputs if first_order else allocate_rows(count, 24)
    x = inputs.astype(float)
    y = x if first_order else outputs.astype(float)
    ties = (links.indptr, links.indices, sums)
    learn_links(ties, 100, 400, inputs, outputs, ends, noise, 5, DRAWS, 0.2, 0.0004, *make_slots())
    for i in range(400):
        bits = moved(counter(DRAWS, 100 + i, 0))
        end = int(pick(ends, scrambled(bits)))
        bits = moved(bits)
        place = find_link(links.indptr, sums, end, share(scrambled(bits)) * strengths[end])
        other = int(links.indices[place])
        found, _ = twin_noise(noise, 5, bits, {end, other})
        twin_learn(x, y, [other], [end, *found], 0.2 - 0.0004 * i)
    assert np.abs(inputs - x).max() < 1e-4
    assert np.abs(outputs - y).max() < 1e-4


def test_links_are_drawn_as_likely_as_they_are_heavy() -> None:
    links = links_from_pairs(np.array([0, 0, 2]), np.array([1, 2, 3]), np.array([1.0, 4.0, 2.0]), 5)
    sums = np.empty(len(links.weights))
    running_sums(links.indptr, links.weights, sums)
    strengths = np.array([5.0, 1.0, 6.0, 2.0, 0.0])
    ends, noise = make_sampler(strengths), make_sampler(np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    seen = {}
    for i in range(3000):
        inputs, outputs = allocate_rows(5, 16), allocate_rows(5, 16)
        inputs[:, 0] = [1, 2, 3, 4, 5]
        ties = (links.indptr, links.indices, sums)
        learn_links(ties, i, 1, inputs, outputs, ends, noise, 1, DRAWS, 1.0, 0.0, *make_slots())
        end = int(np.flatnonzero(outputs[:4, 0])[0])
        pair = (end, round(2 * float(outputs[end, 0])) - 1)
        seen[pair] = seen.get(pair, 0) + 1
    expected = {(0, 1): 1, (1, 0): 1, (0, 2): 4, (2, 0): 4, (2, 3): 2, (3, 2): 2}
    assert set(seen) == set(expected)
    assert chisquare([seen[pair] for pair in expected], 3000 * np.array(list(expected.values())) / 14).pvalue > 0.01
