from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.kernels import node_embeddings as kernels
from cube2net.kernels.compiled import njit
from cube2net.kernels.node_embeddings import (
    APART,
    PROPOSALS,
    SLOTS,
    TRIES,
    are_linked,
    fill_walks,
    find_link,
    learn_links,
    learn_walks,
    make_slots,
    running_sums,
)
from cube2net.mining.node_embeddings import MAX_DIMENSIONS, allocate_rows, draw_rows, make_sampler

counter, scramble, share = (njit()(function) for function in (kernels.counter, kernels.scramble, kernels.share))

ALL = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
SEED = np.uint64(11)


def graph(seed: int, count: int = 12, ends: int = 30, *, equal: bool = False) -> Links:
    """Return random links in which every node has one."""
    rng = np.random.default_rng(seed)
    ring = np.arange(count)
    source = np.concatenate([ring, rng.integers(0, count, ends)])
    target = np.concatenate([(ring + 1) % count, rng.integers(0, count, ends)])
    weight = np.ones(len(source)) if equal else rng.random(len(source)) + 0.1
    links = links_from_pairs(source, target, weight, count)
    return Links(links.indptr, links.indices, np.ones_like(links.weights)) if equal else links


def sums_of(links: Links, *, equal: bool = False) -> Array:
    sums = np.empty(0 if equal else len(links.weights))
    if not equal:
        running_sums(links.indptr, links.weights, sums)
    return sums


def rules(links: Links, p: float = 1.0, q: float = 1.0, *, equal: bool = False, seed: np.uint64 = SEED) -> tuple:
    return links.indptr, links.indices, sums_of(links, equal=equal), 1 / p, 1 / q, seed


def walks(links: Links, length: int, turns: int, p: float, q: float, *, equal: bool = False) -> Array:
    """Return the walks of all nodes in several rounds."""
    nodes = np.arange(len(links), dtype=np.int32)
    paths = np.empty((turns, len(nodes), length), np.int32)
    for turn in range(turns):
        fill_walks(rules(links, p, q, equal=equal), nodes, turn, paths[turn])
    return paths.reshape(-1, length)


def step_chances(links: Links, before: int, node: int, p: float, q: float) -> dict[int, float]:
    """Return node2vec's definition of a step: weight times 1/p, 1 or 1/q, in shares."""
    near = set(links.neighbours(before).tolist())
    row = slice(links.indptr[node], links.indptr[node + 1])
    parts = {}
    for to, weight in zip(links.indices[row].tolist(), links.weights[row].tolist(), strict=True):
        bias = 1.0 if to in near else 1 / q
        parts[to] = weight * (1 / p if to == before else bias)
    return {to: part / sum(parts.values()) for to, part in parts.items()}


class Twin:
    """One walk in plain Python, number by number."""

    def __init__(self, links: Links, p: float, q: float, *, equal: bool) -> None:
        self.rows = [links.neighbours(i).tolist() for i in range(len(links))]
        weights = [links.weights[links.indptr[i] : links.indptr[i + 1]].tolist() for i in range(len(links))]
        self.sums = [np.cumsum([1.0] * len(row) if equal else row).tolist() for row in weights]
        self.back, self.away = 1 / p, 1 / q
        self.refused = 0

    @staticmethod
    def scramble(bits: int) -> int:
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & ALL
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & ALL
        return bits ^ (bits >> 31)

    def start(self, seed: int, node: int, turn: int) -> int:
        return self.scramble(self.scramble((seed + node * GOLDEN) & ALL) + turn * GOLDEN & ALL)

    def drawn(self) -> float:
        self.bits = (self.bits + GOLDEN) & ALL
        return (self.scramble(self.bits) >> 11) * 2.0**-53

    def at(self, node: int, goal: float) -> int:
        row = self.sums[node]
        return next((i for i, total in enumerate(row[:-1]) if total > goal), len(row) - 1)

    def weight(self, node: int, place: int) -> float:
        return self.sums[node][place] - (self.sums[node][place - 1] if place else 0.0)

    def bias(self, before: int, to: int) -> float:
        return self.back if to == before else 1.0 if to in self.rows[before] else self.away

    def walk(self, seed: int, node: int, turn: int, length: int) -> list[int]:
        self.bits = self.start(seed, node, turn)
        top = max(1.0, self.away)
        path, before, came = [node], -1, 0.0
        while len(path) < length:
            total = self.sums[node][-1]
            place: int | None = None
            if before < 0 or (self.back == 1.0 and self.away == 1.0):
                place = self.at(node, self.drawn() * total)
            else:
                beyond = max(0.0, self.back - top) * came
                for _ in range(PROPOSALS):
                    goal = self.drawn() * (beyond + top * total) - beyond
                    if goal < 0:
                        place = -1
                        break
                    place = self.at(node, goal / top)
                    if self.drawn() * top < self.bias(before, self.rows[node][place]):
                        break
                    place = None
                if place is None:
                    self.refused += 1
                    parts = [self.weight(node, i) * self.bias(before, to) for i, to in enumerate(self.rows[node])]
                    goal = self.drawn() * sum(parts)
                    place = next(i for i in range(len(parts)) if sum(parts[: i + 1]) > goal)
            if place == -1:
                before, node = node, before
            else:
                came = self.weight(node, place)
                before, node = node, self.rows[node][place]
            path.append(node)
        return path


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 0.5), (2.0, 200.0)])
def test_walks_are_those_of_plain_python(p: float, q: float, equal: bool) -> None:
    links = graph(3, equal=equal)
    twin = Twin(links, p, q, equal=equal)
    found = walks(links, 30, 3, p, q, equal=equal)
    expected = [twin.walk(int(SEED), node, turn, 30) for turn in range(3) for node in range(len(links))]
    assert found.tolist() == expected
    assert (twin.refused > 0) == (q == 200.0)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.2, 0.5), (1.0, 300.0)])
@pytest.mark.parametrize("equal", [True, False])
def test_a_step_is_as_likely_as_node2vec_defines_it(p: float, q: float, equal: bool) -> None:
    links = graph(5, count=8, ends=10, equal=equal)
    paths = walks(links, 80, 120, p, q, equal=equal)
    seen: dict[tuple[int, int], Counter[int]] = {}
    for path in paths.tolist():
        for i in range(len(path) - 2):
            seen.setdefault((path[i], path[i + 1]), Counter())[path[i + 2]] += 1
    assert len(seen) == len(links.indices)
    worst = []
    for (before, node), counts in seen.items():
        chances = step_chances(links, before, node, p, q)
        assert set(counts) <= set(chances)
        expected = np.array([chances[to] for to in chances]) * counts.total()
        many = expected >= 5
        if many.sum() > 1 and counts.total() >= 50:
            got = np.array([counts[to] for to in chances])
            worst.append(chisquare(got[many], expected[many] * got[many].sum() / expected[many].sum()).pvalue)
    assert len(worst) > len(links)
    assert min(worst) > 0.05 / len(worst) / 5


def test_a_link_of_weight_zero_is_never_taken() -> None:
    links = links_from_pairs(np.zeros(3, int), np.array([1, 2, 3]), np.array([1.0, 0.0, 2.0]), 4)
    for q in (1.0, 3.0, 1000.0):
        paths = np.empty((1, 500), np.int32)
        fill_walks(rules(links, 2.0, q), np.zeros(1, np.int32), 0, paths)
        assert set(paths.ravel().tolist()) <= {0, 1, 3}


@given(st.integers(0, 1000), st.sampled_from([0.1, 1.0, 7.0]), st.sampled_from([0.1, 1.0, 7.0]), st.booleans())
def test_every_step_is_along_a_link(seed: int, p: float, q: float, equal: bool) -> None:
    links = graph(seed, equal=equal)
    paths = walks(links, 20, 1, p, q, equal=equal)
    assert paths[:, 0].tolist() == list(range(len(links)))
    for path in paths:
        for here, there in pairwise(path):
            assert there in links.neighbours(here)
    for one in range(len(links)):
        for other in range(len(links)):
            assert are_linked(links.indptr, links.indices, one, other) == (other in links.neighbours(one))


def test_a_walk_depends_on_its_seed_its_node_and_its_round_alone() -> None:
    links = graph(1)
    alone, together = np.empty((1, 40), np.int32), np.empty((3, 40), np.int32)
    fill_walks(rules(links, 2.0, 0.5), np.array([7, 4, 9], np.int32), 5, together)
    fill_walks(rules(links, 2.0, 0.5), np.array([4], np.int32), 5, alone)
    assert alone[0].tolist() == together[1].tolist()
    for other in (rules(links, 2.0, 0.5, seed=np.uint64(12)), rules(links, 2.0, 0.5)):
        fill_walks(other, np.array([4], np.int32), 5 if other[-1] != SEED else 6, alone)
        assert alone[0].tolist() != together[1].tolist()


def test_the_counter_gives_even_numbers() -> None:
    assert int(scramble(np.uint64(GOLDEN))) == Twin.scramble(GOLDEN) == 0xE220A8397B1DCDAF
    starts = [counter(np.uint64(seed), node, turn) for seed in range(10) for node in range(20) for turn in range(20)]
    assert len({int(bits) for bits in starts}) == 4000
    shares = np.array([share(np.uint64(scramble(np.uint64(bits)))) for bits in starts])
    assert chisquare(np.histogram(shares, 20, (0, 1))[0]).pvalue > 0.01


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
    links = graph(0, count=30)
    nodes = np.arange(len(links), dtype=np.int32)[::-1].copy()
    length, window, rate, fall = 12, 4, 0.3, 0.005
    drawn = make_sampler(np.random.default_rng(2).random(len(links)))
    inputs = draw_rows(nodes, len(links), 20, 1.0, np.random.default_rng(3))
    outputs = allocate_rows(len(links), 20)
    x, y = inputs.astype(float), outputs.astype(float)
    paths = np.empty((len(nodes), length), np.int32)
    fill_walks(rules(links, p, q, seed=ONE), nodes, 2, paths)
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
    links = graph(0, count=30)
    sums, count = sums_of(links), len(links)
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
    sums = sums_of(links)
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
