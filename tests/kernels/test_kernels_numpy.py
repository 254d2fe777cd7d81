"""What is done without compiled code has the same bits as with it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.kernels import numpy_kernels, pagerank_push
from cube2net.model.query import Query
from cube2net.network.assembly import induce_links
from cube2net.network.pagerank import compute_scores, find_neighbors, settle

SCALES = (1.0, 1e-3, 1e6, 1e-36)


def network(seed: int, scale: float = 1.0) -> tuple[Links, Array]:
    """Return links with some hubs, some loose objects, and a few seeds."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 90))
    ends = (count * rng.random((2, 3 * count)) ** 2).astype(np.int64)
    weights = scale * rng.choice([rng.random(3 * count) + 0.01, rng.integers(1, 5, 3 * count)])
    seeds = np.sort(rng.choice(count, min(count, int(rng.integers(1, 6))), replace=False))
    return links_from_pairs(*ends, weights, count), seeds.astype(np.int32)


def state(links: Links, seeds: Array, dtype: Any, known: bool) -> dict[str, Array]:
    size = len(links)
    arrays: dict[str, Array] = {name: np.zeros(size, dtype) for name in ("settled", "left", "arrived", "strength")}
    arrays |= {name: np.full(size + 1, -1, np.int32) for name in ("reached", "active", "touched")}
    strength = pagerank_push.strengths(links.indptr, links.weights, seeds)
    linked = seeds[strength > 0]
    arrays["left"][linked] = 1.0 / len(seeds)
    arrays["strength"][linked] = strength[strength > 0]
    if known:
        pagerank_push.know(links.indptr, links.weights, arrays["strength"])
    arrays["reached"][: len(linked)] = linked
    arrays["start"] = linked
    return arrays


def same(first: Any, second: Any) -> bool:
    """Return whether arrays, or numbers, have the same bits."""
    return np.asarray(first).tobytes() == np.asarray(second).tobytes()


@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]), st.booleans(), st.sampled_from(SCALES))
def test_pushes_in_numpy_have_the_bits_of_the_compiled_ones(seed: int, dtype: Any, known: bool, scale: float) -> None:
    links, seeds = network(seed, scale)
    rng = np.random.default_rng(seed)
    damping, goal = float(rng.choice([0.5, 0.85])), float(rng.choice([0.0, 0.05, 0.3]))
    allowance = int(rng.choice([3, 40, 10**6]))
    ends = (links.indptr, links.indices, links.weights)
    found = []
    for kernels in (pagerank_push, numpy_kernels):
        arrays = state(links, seeds, dtype, known)
        start = arrays.pop("start")
        total, count, seen = len(start) / len(seeds), len(start), 0
        threshold = 1.0 / scale
        for _ in range(12):
            threshold /= 3
            total, count, more = kernels.push(
                *ends, damping, threshold, goal, allowance - seen, total, arrays["settled"], arrays["left"],
                arrays["arrived"], arrays["strength"], arrays["reached"], count, arrays["active"], arrays["touched"],
            )  # fmt: skip
            seen += more
        named = np.zeros(len(links) + 1, np.int32)
        about = arrays["settled"], arrays["left"], arrays["strength"]
        number, volume = kernels.close_candidates(arrays["reached"], count, damping, threshold, 1e-3, *about, named)
        whole = arrays["strength"].copy()
        kernels.know(links.indptr, links.weights, whole)
        reached = arrays["reached"][:count]
        found.append([*about, reached, total, count, seen, number, volume, named[:number], whole])
    assert all(map(same, *found))


@given(st.integers(0, 10**6), st.integers(0, 300))
def test_what_can_be_reached_is_found_in_the_same_order(seed: int, allowance: int) -> None:
    links, seeds = network(seed)
    found = []
    for kernels in (pagerank_push, numpy_kernels):
        marks, reached = np.zeros(len(links), np.uint8), np.zeros(len(links) + 1, np.int32)
        marks[seeds], reached[: len(seeds)] = 1, seeds
        count, whole = kernels.follow(links.indptr, links.indices, allowance, marks, reached, len(seeds))
        found.append((whole, reached[:count].tolist() if whole else None))
    assert found[0] == found[1]


@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]), st.sampled_from(SCALES))
def test_sweeps_in_numpy_have_the_bits_of_the_compiled_ones(seed: int, dtype: Any, scale: float) -> None:
    links, seeds = network(seed, scale)
    rows = np.arange(len(links), dtype=np.int32)
    found = []
    for kernels in (pagerank_push, numpy_kernels):
        settled, left = np.zeros((2, len(links)), dtype)
        left[seeds] = 1.0 / len(seeds)
        bound = settle(links, rows, 0.85, 1e-6, 30, settled, left, workers=1, kernels=kernels)
        found.append((settled, bound))
    assert same(found[0][0], found[1][0]) and found[0][1] == found[1][1]


@pytest.fixture
def without_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_kernels, "has_compiled_code", lambda kernel: False)
    monkeypatch.setattr(numpy_kernels.WORK, "done", -(10**12))


@pytest.mark.usefixtures("without_compiled_code")
@pytest.mark.parametrize("tolerance", [0.05, 1e-5])
def test_scores_and_nearest_objects_have_the_same_bits_both_ways(
    monkeypatch: pytest.MonkeyPatch, tolerance: float
) -> None:
    for seed in range(40):
        links, seeds = network(seed)
        plain = (
            compute_scores(links, seeds, tolerance=tolerance),
            find_neighbors(links, Query(seeds), 9, tolerance=tolerance),
        )
        with monkeypatch.context() as patched:
            patched.setattr(numpy_kernels, "has_compiled_code", lambda kernel: True)
            fast = (
                compute_scores(links, seeds, tolerance=tolerance),
                find_neighbors(links, Query(seeds), 9, tolerance=tolerance),
            )
        assert all(map(same, plain, fast))


@pytest.mark.usefixtures("without_compiled_code")
def test_links_among_objects_come_in_the_same_order_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for seed in range(60):
        hub = np.zeros(400, np.int64) if seed % 2 else rng.integers(0, 700, 400)
        ends = np.stack([np.concatenate([hub, rng.integers(0, 700, 900)]), rng.integers(1, 700, 1300)])
        links = links_from_pairs(*ends, rng.random(1300) + 0.1, 700)
        nodes = rng.choice(700, int(rng.integers(1, 30)) if seed % 3 else 200, replace=False)
        nodes = np.concatenate([[0], nodes[nodes != 0]]) if seed % 2 else nodes
        plain = induce_links(links, nodes)
        with monkeypatch.context() as patched:
            patched.setattr(numpy_kernels, "has_compiled_code", lambda kernel: True)
            fast = induce_links(links, nodes)
        assert all(map(same, plain, fast))
        assert [part.dtype for part in plain] == [part.dtype for part in fast]


def test_a_process_that_did_much_without_compiled_code_goes_on_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_kernels, "has_compiled_code", lambda kernel: False)
    counter = numpy_kernels.WorkCounter()
    answers = [counter.accept("subgraphs.induce", numpy_kernels.MAX_SMALL_STEPS, 8) for _ in range(6)]
    assert answers == [True, True, True, True, False, False]
    assert counter.done <= numpy_kernels.MAX_STEPS_WITHOUT_COMPILING


def test_a_kernel_that_was_compiled_is_used_and_others_are_not_compiled_for_small_work(tmp_path: Path) -> None:
    assert "cube2net.kernels.compiled" in sys.modules
    index = tmp_path / "index"
    new = SimpleNamespace(signatures=[], _cache=SimpleNamespace(_cache_file=SimpleNamespace(_index_path=str(index))))
    assert not numpy_kernels.is_compiled(new)
    new.signatures = ["a signature"]
    assert numpy_kernels.is_compiled(new)
    new.signatures = []
    index.touch()
    assert numpy_kernels.is_compiled(new)
    pagerank_push.know(np.zeros(1, np.int64), np.zeros(0, np.float32), np.zeros(0))
    assert not numpy_kernels.WorkCounter().accept("pagerank_push.know", 1)


def test_a_compiler_that_another_thread_is_loading_counts_as_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cube2net.kernels.compiled", ModuleType("cube2net.kernels.compiled"))
    assert not numpy_kernels.has_compiled_code("subgraphs.induce")
