"""Objects found by id or name without looking at all of them: what is kept on disk for it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cube2net.arrays import flat_texts
from cube2net.records.objects import Lookup

KEYS = {"object": "objects.by-id", "name": "objects.by-name"}
"""The columns by which objects are found, and what the arrays for it are called."""


def lookup_of(texts: pa.ChunkedArray) -> Lookup:
    """Return where the rows of a column are found by their texts.

    >>> lookup = lookup_of(pa.chunked_array([["a", "b"], ["a"]]))
    >>> lookup.find(["b", "c", "a"])
    [(0, 1), (2, 0), (2, 2)]
    """
    from cube2net.kernels.text_hashes import checksums

    numbers = checksums(*flat_texts(texts))
    rows = np.argsort(numbers, kind="stable").astype(np.int32)
    return Lookup(numbers[rows], rows)
