from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Links, links_from_pairs
from cube2net.kernels.subgraphs import hop, look, make_keys, seat


def run(links: Links, front: list[int], fan_out: int, known: list[int]) -> dict[int, int]:
    rows, out = np.array(front, np.int32), np.array(known, np.int32)
    most = sum(len(links.neighbours(one)) for one in front)
    counts = []
    for keys in (np.empty(0, np.int32), make_keys(most + len(known), 10**9)):
        size = len(keys) or len(links)
        marks, hits = np.zeros(size, np.uint8), np.zeros(size, np.int32)
        seat(keys, marks, out, 1, 0)
        found = hop(links.indptr, links.indices, links.weights, rows, fan_out, most, keys, marks, hits)
        assert len(set(found.tolist())) == len(found) == int((hits > 0).sum())
        everyone = np.arange(len(links), dtype=np.int32)
        state = look(keys, marks, everyone)
        assert np.flatnonzero(state == 1).tolist() == sorted(set(known))
        assert np.flatnonzero(state == 2).tolist() == sorted(found.tolist())
        marks[marks == 2] = 0
        none = np.zeros(0, np.int32)
        again = hop(links.indptr, links.indices, links.weights, rows, fan_out, most, keys, marks, none)
        assert again.tolist() == found.tolist()
        counts.append(dict(zip(found.tolist(), look(keys, hits, found).tolist(), strict=True)))
    assert list(counts[0].items()) == list(counts[1].items())
    return counts[0]


def twin(links: Links, front: list[int], fan_out: int, known: list[int]) -> dict[int, int]:
    hits: dict[int, int] = {}
    for one in front:
        start = int(links.indptr[one])
        new = [(-float(links.weights[start + k]), v) for k, v in enumerate(links.neighbours(one).tolist())]
        new = sorted((weight, v) for weight, v in new if v not in known)
        for _, v in new[:fan_out] if fan_out else new:
            hits[v] = hits.get(v, 0) + 1
    return hits


@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 80))
def test_a_hop_finds_what_the_plain_loop_finds(seed: int, fan_out: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, count).astype(float)
    links = links_from_pairs(*rng.integers(0, 15, (2, count)), weight, 15)
    front = rng.permutation(15)[: rng.integers(0, 6)].tolist()
    known = front + rng.integers(0, 15, 2).tolist()
    assert run(links, front, fan_out, known) == twin(links, front, fan_out, known)


def test_the_cap_takes_the_heaviest_links_and_of_equal_ones_the_lower_number() -> None:
    links = links_from_pairs(np.zeros(5, int), np.arange(1, 6), np.array([1.0, 2.0, 9.0, 2.0, 2.0]), 6)
    assert run(links, [0], 2, [0]) == {2: 1, 3: 1}
    assert run(links, [0], 2, [0, 3]) == {2: 1, 4: 1}
    assert run(links, [0], 4, [0]) == {2: 1, 3: 1, 4: 1, 5: 1}
    assert run(links, [0], 0, [0]) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
