"""Hidden pairs found again by the vectors of their objects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.mine import PairRanking, rank_pairs
from cube2net.mine import pairs as module

Ends = tuple[Array, Array]


def ends(*pairs: tuple[int, int]) -> Ends:
    source, target = np.array(pairs, dtype=np.int32).T
    return source, target


def by_hand(vectors: Array, hidden: Ends, unlinked: Ends) -> tuple[dict[int, float], list[float]]:
    """Return the AUC of every object and of every pair, one comparison at a time."""

    def cosine(a: int, b: int) -> float:
        one, other = vectors[a], vectors[b]
        size = float(np.sqrt(one @ one) * np.sqrt(other @ other))
        return round(float(one @ other) / size, 9) if size else 0.0

    others = [cosine(*pair) for pair in zip(*unlinked, strict=True)]
    found, own = [], dict[int, list[float]]()
    for a, b in zip(*hidden, strict=True):
        value = cosine(a, b)
        share = sum((value > other) + (value == other) / 2 for other in others) / len(others)
        found.append(share)
        for end in (int(a), int(b)):
            own.setdefault(end, []).append(share)
    return {end: sum(shares) / len(shares) for end, shares in own.items()}, found


def test_three_objects_by_hand() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [-1.0, 0.0]])
    # cosines: (0, 1) 0.71 hidden; (0, 2) 0 and (0, 3) −1 and (1, 2) 0.71 not linked
    found = rank_pairs(vectors, ends((0, 1)), ends((0, 2), (0, 3), (2, 1)))
    assert found.pairs.tolist() == [pytest.approx(2.5 / 3)]
    assert found.objects.tolist() == [0, 1] and found.auc.tolist() == [pytest.approx(2.5 / 3)] * 2
    assert repr(found) == "PairRanking(2 objects, 1 hidden pairs: AUC 0.8333)"


def test_an_object_counts_once_however_many_pairs_it_has() -> None:
    # 0 and 1 are alike, 2 and 3 are not: 0 has both pairs, the others one each
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.5, 0.5]])
    found = rank_pairs(vectors, ends((0, 1), (3, 0)), ends((4, 1), (2, 4)))
    assert found.pairs.tolist() == [1.0, 0.0]
    assert dict(zip(found.objects.tolist(), found.auc.tolist(), strict=True)) == {0: 0.5, 1: 1.0, 3: 0.0}
    assert found.mean == 0.5


def test_vectors_of_zeros_are_as_likely_above_as_below() -> None:
    found = rank_pairs(np.zeros((4, 3)), ends((0, 1)), ends((2, 3), (0, 3)))
    assert found.mean == 0.5


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 9), st.integers(1, 20))
def test_it_is_what_comparing_one_by_one_gives(seed: int, objects: int, hidden: int, unlinked: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 2, (objects, 2)).astype(np.float32) * rng.choice([0.5, 1.0, 3.0], (objects, 1))

    def some_pairs(count: int) -> Ends:
        source = rng.integers(0, objects, count)
        return source, (source + rng.integers(1, objects, count)) % objects

    asked = some_pairs(hidden), some_pairs(unlinked)
    found = rank_pairs(vectors, *asked)
    own, pairs = by_hand(vectors.astype(np.float64), *asked)
    assert found.pairs.tolist() == pytest.approx(pairs)
    assert dict(zip(found.objects.tolist(), found.auc.tolist(), strict=True)) == pytest.approx(own)
    assert found.objects.tolist() == sorted(own) and len(found) == len(own)
    again = rank_pairs(7 * vectors, (asked[0][1], asked[0][0]), asked[1])
    assert again.auc.tolist() == pytest.approx(found.auc.tolist()), "neither sizes nor the order of ends matter"


def test_blocks_of_pairs_give_what_all_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    vectors, hidden, unlinked = rng.normal(size=(50, 8)), rng.integers(0, 25, (2, 40)), rng.integers(0, 25, (2, 120))
    asked = (hidden[0], hidden[1] + 25), (unlinked[0], unlinked[1] + 25)
    whole = rank_pairs(vectors, *asked)
    monkeypatch.setattr(module, "BLOCK", 7)
    assert rank_pairs(vectors, *asked).pairs.tolist() == whole.pairs.tolist()


def test_groups_that_vectors_show_are_found() -> None:
    rng = np.random.default_rng(1)
    group = np.arange(40) % 4
    vectors = np.eye(4)[group] + rng.normal(0, 0.1, (40, 4))
    same = [(a, b) for a in range(40) for b in range(a) if group[a] == group[b]]
    apart = [(a, b) for a in range(40) for b in range(a) if group[a] != group[b]]
    found: PairRanking = rank_pairs(vectors, ends(*same), ends(*apart))
    assert found.mean == 1.0 and len(found) == 40
    assert rank_pairs(vectors, ends(*apart), ends(*same)).mean == 0.0


@pytest.mark.parametrize(
    ("hidden", "unlinked", "text"),
    [
        (([], []), ([0], [1]), "the ends of hidden pairs have shapes (0,) and (0,), expected one or more pairs, two"),
        (([0], [1]), ([0, 1], [2]), "the ends of unlinked pairs have shapes (2,) and (1,), expected one or more"),
        (([0], [9]), ([0], [1]), "hidden pairs name objects that are not among the 3: 9"),
        (([0], [1]), ([-1], [1]), "unlinked pairs name objects that are not among the 3: -1"),
        (([0, 2], [0, 2]), ([0], [1]), "2 hidden pairs join an object with itself"),
    ],
)
def test_pairs_that_are_none_are_refused(
    hidden: tuple[list[int], list[int]], unlinked: tuple[list[int], list[int]], text: str
) -> None:
    asked = [(np.array(a, np.int64), np.array(b, np.int64)) for a, b in (hidden, unlinked)]
    with pytest.raises(InputError) as caught:
        rank_pairs(np.eye(3), asked[0], asked[1])
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("vectors", [np.zeros(3), np.array([[0.0, np.nan], [1.0, 1.0]])], ids=["flat", "nan"])
def test_vectors_that_are_none_are_refused(vectors: Array) -> None:
    with pytest.raises(InputError, match="expected a row of finite numbers for each object"):
        rank_pairs(vectors, ends((0, 1)), ends((0, 1)))
