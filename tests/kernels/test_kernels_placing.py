from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.kernels.placing import placing

Rows = list[list[int]]


def flat(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *map(len, rows)])
    return ends, np.array([item for row in rows for item in row], dtype=np.int64)


def run(scores: np.ndarray, known: Rows, hidden: Rows, slack: float = 0.0) -> list[tuple[int, int, float]]:
    parts = placing(scores, np.full(len(scores), slack), *flat(known), *flat(hidden))
    return list(zip(*(part.tolist() for part in parts), strict=True))


def twin(scores: np.ndarray, known: Rows, hidden: Rows, slack: float = 0.0) -> list[tuple[int, int, float]]:
    found = []
    for user, row in enumerate(scores.tolist()):
        left = [item for item in range(len(row)) if item not in known[user]]
        others = [item for item in left if item not in hidden[user]]
        for link in hidden[user]:
            above = sum(row[item] - row[link] > slack for item in left)
            level = sum(abs(row[item] - row[link]) <= slack for item in left)
            beaten = sum(row[item] - row[link] < -slack for item in others)
            equal = sum(abs(row[item] - row[link]) <= slack for item in others)
            found.append((above, level, (beaten + equal / 2) / len(others) if others else math.nan))
    return found


def same(one: list[tuple[int, int, float]], other: list[tuple[int, int, float]]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([0.0, 1.0]))
def test_places_are_those_of_the_plain_loop(seed: int, slack: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (3, 7)).astype(float)
    roles = rng.integers(0, 3, scores.shape)
    known, hidden = ([np.flatnonzero(row == role).tolist() for row in roles] for role in (1, 2))
    assert same(run(scores, known, hidden, slack), twin(scores, known, hidden, slack))


def test_places_by_hand() -> None:
    scores = np.array([[5.0, 3.0, 3.0, 1.0, 9.0]])
    assert run(scores, [[4]], [[1, 3]]) == [(1, 2, 0.25), (3, 1, 0.0)]


def test_where_everything_else_is_known_there_is_nothing_to_be_above_of() -> None:
    assert same(run(np.array([[1.0, 2.0]]), [[0]], [[1]]), [(0, 1, math.nan)])
