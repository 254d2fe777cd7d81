"""Random generators by purpose; nothing is seeded globally."""

from __future__ import annotations

import hashlib

import numpy as np

from cube2net.errors import check_int


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return the random generator of a seed and a purpose; generators of different purposes are independent.

    >>> int(stream(0, "select", "random").integers(100)) == int(stream(0, "select", "random").integers(100))
    True
    """
    return np.random.default_rng([check_int("seed", seed, 0, None), hash_purpose(*purpose)])


def hash_purpose(*purpose: str | int) -> int:
    """Return a hash of a purpose below 2**63, the same on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
