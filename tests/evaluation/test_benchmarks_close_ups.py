"""Close-ups find the pairs that were planted."""

import numpy as np
import pytest

from close_ups import close_ups
from cube2net._util.arrays import Array

from comparisons import network

AXES = np.eye(4)
LABELS = ["x", "x", "x", "y", "y", "y"]
# 0–1 share object 6 (bridge), 0–2 have no bridge, 2–3 are linked across labels, 4 and 5 are linked.
LINKS = [(0, 6), (1, 6), (2, 3), (4, 5), (0, 7), (3, 7)]


def vectors(*rows: int, noise: float = 0.0) -> Array:
    """Return two runs of vectors along axes, one number an object."""
    found = np.stack([AXES[list(rows)], 2 * AXES[list(rows)]])
    return found + noise


def test_the_planted_pairs_are_found_with_their_cosines() -> None:
    made = network(LINKS, LABELS, others=2)
    before, after = vectors(0, 1, 2, 2, 3, 3), vectors(0, 0, 2, 1, 3, 3)
    closer, apart = close_ups(made, before, after)
    assert (closer.kind, closer.pair, closer.shared, closer.fits) == ("closer", (0, 1), (6,), True)
    assert (closer.before, closer.after) == pytest.approx((0.0, 1.0))
    assert (apart.kind, apart.pair, apart.fits) == ("apart", (2, 3), True)
    assert (apart.before, apart.after) == pytest.approx((1.0, 0.0))
    assert closer.nodes == (0, 1, 6, 7)
    assert repr(closer) == "CloseUp(closer: (0, 1), cosine 0.00 → 1.00)"


def test_a_bridged_pair_is_preferred_to_one_that_rises_more() -> None:
    made = network(LINKS, LABELS, others=2)
    before = vectors(0, 1, 2, 3, 3, 3)
    after = np.tile(np.array([[1, 0, 0, 0], [0.5, 0.9, 0, 0], [1, 0, 0, 0]] + [AXES[3]] * 3), (2, 1, 1))
    assert close_ups(made, before, after)[0].pair == (0, 1)
    unbridged = network([(2, 3), (4, 5)], LABELS)
    found = close_ups(unbridged, before, after)[0]
    assert found.pair == (0, 2) and not found.fits


def test_pairs_with_a_direct_link_are_not_drawn_closer_and_unlabelled_objects_are_left_out() -> None:
    made = network([*LINKS, (0, 1)], ["x", "x", "x", "", "y", "y"], others=2)
    before, after = vectors(0, 1, 2, 2, 3, 3), vectors(0, 0, 2, 1, 3, 3)
    assert close_ups(made, before, after) == []


def test_a_cell_is_a_bridge_too_and_the_close_up_is_kept_small() -> None:
    hub = [(0, node) for node in range(6, 46)] + [(1, 46), (0, 46), (4, 3)]
    made = network(hub, LABELS, others=40, cells=[("200X", "KDD")])
    before, after = vectors(0, 1, 2, 3, 3, 3), vectors(0, 0, 2, 3, 3, 3)
    closer = close_ups(made, before, after, most=30)[0]
    assert closer.shared == (46,) and closer.nodes[:3] == (0, 1, 46)
    assert 2 < len(closer.nodes) <= 30 and len(set(closer.nodes)) == len(closer.nodes)


def test_the_search_agrees_with_looking_at_every_pair() -> None:
    rng = np.random.default_rng(3)
    labels = [str(label) for label in rng.integers(0, 3, 30)]
    ends = {tuple(sorted(pair)) for pair in rng.integers(0, 45, (90, 2)).tolist() if pair[0] != pair[1]}
    made = network(sorted(ends), labels, others=15)
    before, after = rng.normal(size=(3, 30, 4)), rng.normal(size=(3, 30, 5))

    def cosine(runs: Array, a: int, b: int) -> float:
        unit = runs / np.linalg.norm(runs, axis=2, keepdims=True)
        return float((unit[:, a] * unit[:, b]).sum(axis=1).mean())

    near = {a: {b for pair in ends for b in pair if a in pair and b != a} for a in range(45)}
    rise = {(a, b): cosine(after, a, b) - cosine(before, a, b) for a in range(30) for b in range(a + 1, 30)}
    bridged = [
        p
        for p in rise
        if labels[p[0]] == labels[p[1]] and p not in ends and any(node >= 30 for node in near[p[0]] & near[p[1]])
    ]
    across = [p for p in rise if labels[p[0]] != labels[p[1]] and p in ends]
    closer, apart = close_ups(made, before, after)
    assert closer.pair == max(bridged, key=lambda pair: rise[pair])
    assert apart.pair == min(across, key=lambda pair: rise[pair])
    assert closer.after - closer.before == pytest.approx(rise[closer.pair])
