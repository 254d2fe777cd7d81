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
from cube2net.kernels.node_embeddings import PROPOSALS, are_linked, fill_walks, running_sums

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


def step_chances(links: Links, before: int | None, node: int, p: float, q: float) -> dict[int, float]:
    """Return node2vec's definition of a step: weight times 1/p, 1 or 1/q, in shares."""
    near = set(links.neighbours(node if before is None else before).tolist())
    row = slice(links.indptr[node], links.indptr[node + 1])
    parts = {}
    for to, weight in zip(links.indices[row].tolist(), links.weights[row].tolist(), strict=True):
        bias = 1.0 if before is None or to in near else 1 / q
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
        make_sampler = step_chances(links, before, node, p, q)
        assert set(counts) <= set(make_sampler)
        expected = np.array([make_sampler[to] for to in make_sampler]) * counts.total()
        many = expected >= 5
        if many.sum() > 1 and counts.total() >= 50:
            got = np.array([counts[to] for to in make_sampler])
            worst.append(chisquare(got[many], expected[many] * got[many].sum() / expected[many].sum()).pvalue)
    assert len(worst) > len(links)
    assert min(worst) > 0.05 / len(worst) / 5


def test_the_first_step_takes_a_link_as_likely_as_it_is_heavy() -> None:
    links = links_from_pairs(np.zeros(3, int), np.array([1, 2, 3]), np.array([1.0, 2.0, 5.0]), 4)
    paths = np.empty((1, 2), np.int32)
    counts = np.zeros(4, int)
    for turn in range(4000):
        fill_walks(rules(links, 0.5, 2.0), np.zeros(1, np.int32), turn, paths)
        counts[paths[0, 1]] += 1
    assert chisquare(counts[1:], 4000 * np.array([1, 2, 5]) / 8).pvalue > 0.01


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


def test_running_sums_start_again_in_every_row() -> None:
    links = links_from_pairs(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 2.0, 4.0]), 4)
    assert sums_of(links).tolist() == [1.0, 3.0, 1.0, 5.0, 2.0, 6.0]


def test_the_counter_gives_even_numbers() -> None:
    assert int(scramble(np.uint64(GOLDEN))) == Twin.scramble(GOLDEN) == 0xE220A8397B1DCDAF
    starts = [counter(np.uint64(seed), node, turn) for seed in range(10) for node in range(20) for turn in range(20)]
    assert len({int(bits) for bits in starts}) == 4000
    shares = np.array([share(np.uint64(scramble(np.uint64(bits)))) for bits in starts])
    assert chisquare(np.histogram(shares, 20, (0, 1))[0]).pvalue > 0.01
