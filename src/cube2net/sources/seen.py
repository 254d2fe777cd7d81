"""Ids that were met before, remembered in little room."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from cube2net.array_types import Array


class Seen:
    """Remembers ids by 16 bytes each, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self.runs: list[Array] = []

    def fresh(self, ids: Sequence[str]) -> Array:
        """Return for every id whether it is met for the first time.

        >>> seen = Seen()
        >>> seen.fresh(["a", "b", "a"]).tolist(), seen.fresh(["c", "b"]).tolist()
        ([True, True, False], [True, False])
        """
        digests = b"".join([hashlib.blake2b(key.encode(), digest_size=16).digest() for key in ids])
        marks, first = np.unique(np.frombuffer(digests, "S16"), return_index=True)
        new = np.ones(len(marks), dtype=bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, marks), len(run) - 1)
            new &= run[at] != marks
        fresh = np.zeros(len(ids), dtype=bool)
        fresh[first[new]] = True
        self._keep(marks[new])
        return fresh

    def _keep(self, run: Array) -> None:
        while self.runs and len(self.runs[-1]) < 2 * len(run):
            run = np.concatenate([self.runs.pop(), run])
            run.sort(kind="stable")
        if len(run):
            self.runs.append(run)
