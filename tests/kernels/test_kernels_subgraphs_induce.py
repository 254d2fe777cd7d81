from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, links_from_pairs
from cube2net.kernels.numpy_kernels import HUB
from cube2net.kernels.subgraphs import FEW, induce, make_keys, seat


def run(links: Links, nodes: list[int]) -> list[tuple[int, int, float]]:
    rows = np.array(nodes, np.int32)
    room = sum(len(links.neighbours(node)) for node in nodes)
    keys = make_keys(len(nodes), len(links))
    place, mark = np.zeros(len(keys) or len(links), np.int32), np.zeros(2 * len(keys), np.uint8)
    seat(keys, place, rows, 1, 1)
    source, target, weight = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    count = induce(links.indptr, links.indices, links.weights, rows, keys, place, mark, source, target, weight)
    return list(zip(source[:count].tolist(), target[:count].tolist(), weight[:count].tolist(), strict=True))


def twin(links: Links, nodes: list[int]) -> list[tuple[int, int, float]]:
    found = []
    for i, one in enumerate(nodes):
        start = int(links.indptr[one])
        for k, other in enumerate(links.neighbours(one).tolist()):
            if other in nodes and nodes.index(other) > i:
                found.append((i, nodes.index(other), float(links.weights[start + k])))
    return found


@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(0, 60))
def test_links_among_nodes_are_those_of_the_plain_loop(seed: int, wanted: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    links = links_from_pairs(*rng.integers(0, 20, (2, count)), rng.random(count), 20)
    nodes = rng.permutation(20)[:wanted].tolist()
    assert run(links, nodes) == twin(links, nodes)


@given(st.integers(0, 10_000), st.integers(0, 20))
def test_links_among_few_of_many_objects_are_those_of_the_plain_loop(seed: int, wanted: int) -> None:
    rng = np.random.default_rng(seed)
    many = 21 * FEW
    links = links_from_pairs(*rng.integers(0, 30, (2, 200)), rng.random(200), many)
    nodes = rng.permutation(30)[:wanted].tolist()
    assert wanted * FEW < many
    assert run(links, nodes) == twin(links, nodes)


def test_a_hub_that_is_searched_gives_the_links_of_one_that_is_read() -> None:
    size = HUB * 4
    hub = links_from_pairs(np.zeros(size, int), np.arange(1, size + 1), np.arange(1.0, size + 1), size + 2)
    assert run(hub, [0, 7, size + 1]) == [(0, 1, 7.0)] == twin(hub, [0, 7, size + 1])
    assert run(hub, [size, 0, 1]) == [(0, 1, float(size)), (1, 2, 1.0)] == twin(hub, [size, 0, 1])
    assert run(hub, [size + 1, 0]) == []
