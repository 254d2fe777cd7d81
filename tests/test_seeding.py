"""Streams of random numbers: the same for the same seed and purpose, and for whole numbers only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cube2net._util.random import hash_purpose, stream
from cube2net.errors import ParameterError


def drawn(seed: Any, *purpose: str | int) -> list[int]:
    return stream(seed, *purpose).integers(0, 1 << 30, 4).tolist()


def test_the_same_seed_and_purpose_draw_the_same_numbers_and_others_do_not() -> None:
    assert drawn(0, "select", "random") == drawn(0, "select", "random")
    assert len({tuple(drawn(seed, "a", part)) for seed in (0, 1, 10**30) for part in ("b", "c", 1)}) == 9


def test_a_purpose_stands_for_the_same_number_everywhere() -> None:
    assert hash_purpose("network", "maxdisc") == 551_497_385_809_751_807
    assert hash_purpose("ab", "c") != hash_purpose("a", "bc")


def test_a_seed_of_numpy_is_as_good_as_a_plain_one() -> None:
    assert drawn(np.int64(7), "x") == drawn(np.uint8(7), "x") == drawn(7, "x")


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, None, np.int32(-4)])
def test_a_seed_that_is_no_whole_number_of_0_or_more_is_refused(seed: Any) -> None:
    with pytest.raises(ParameterError) as error:
        stream(seed, "select", "random")
    assert str(error.value) == f"seed is {int(seed) if isinstance(seed, np.integer) else seed!r}, " + (
        "expected a whole number of 0 or more"
    )
