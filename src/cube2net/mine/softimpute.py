"""Soft-Impute for links: complete the matrix of users × items, and recommend what it is filled with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.mine.completion import Solution, solve, start
from cube2net.mine.fitted import Factors, Floor, known_links, ones
from cube2net.mine.tune import choose
from cube2net.seeding import stream
from cube2net.threads import one_thread

if TYPE_CHECKING:
    import scipy.sparse as sp

CENTRINGS = ("none", "mean", "items", "both")
VALUES = ("ones", "given")
SHARES = (0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.13, 0.09, 0.06)


@dataclass(frozen=True, eq=False)
class Completed(Factors):
    """Factors of a completed matrix, and how they were found."""

    solution: Solution


@dataclass(frozen=True, kw_only=True)
class SoftImpute:
    """Score items by a completed matrix of users × items of least nuclear norm (Mazumder, Hastie, Tibshirani 2010).

    Minimises ½ Σ (x − z)² over the known entries + λ Σ (singular values of Z), for a Z of at most ``rank``. λ is
    ``shrinkage`` times the largest singular value of the entries, where Z would be 0; without one it is chosen: on a
    path of falling λ, each solved from the last, by how well a fifth of the known links, hidden, is found again.

    Known entries are links, with the value 1 or their given weight (``values``). Links alone do not say who is *not*
    linked to what: a matrix of which only ones are known is completed by ones, and no order of the items but that
    of their popularity comes out. So for every link of a user ``zeros`` pairs without one are drawn at random and
    known as 0. ``zeros=0`` is the textbook form, which with given weights tells how much a user would like an item.

    ``centring`` takes the mean of the known entries out first, that of every item, or that of every item and user
    (``"mean"``, ``"items"``, ``"both"``), the latter drawn to the whole mean as if there were ``prior`` more entries
    of it; the means come back in the scores.
    """

    rank: int = 16
    shrinkage: float | None = None
    values: str = "ones"
    zeros: float = 1.0
    centring: str = "none"
    prior: float = 5.0
    rounds: int = 60
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        for name in ("rank", "rounds"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1))
        for name, got, allowed in (("values", self.values, VALUES), ("centring", self.centring, CENTRINGS)):
            if got not in allowed:
                raise unknown(name, got, allowed)
        if self.shrinkage is not None and not 0 < self.shrinkage < 1:
            raise ParameterError(
                f"shrinkage is {self.shrinkage!r}, expected a share above 0 and below 1, or None to have it chosen"
            )
        for name in ("zeros", "prior", "tolerance"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a number of 0 or more")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Completed:
        """Return the factors of the completed matrix."""
        if self.shrinkage is None:
            return choose([self], matrix, seed=seed).best.fit(matrix, seed=seed)
        ((_, completed),) = self.path(matrix, seed=seed)
        return completed

    def path(self, matrix: sp.csr_array, *, seed: int = 0) -> Iterator[tuple[SoftImpute, Completed]]:
        """Yield this recommender with every shrinkage of the path, or with its own, and what it gives.

        Every solution starts from that of the shrinkage before it, also on the way to one that is given.
        """
        links = known_links(matrix)
        rng = stream(seed, "mine", "softimpute")
        floor = Floor.of(links)
        known, offsets = self._entries(links, rng)
        with one_thread():
            first = start(known, self.rank, rng)
        own = self.shrinkage
        solution = replace(first, values=np.zeros_like(first.values))
        for share in SHARES if own is None else (*(share for share in SHARES if share > own), own):
            penalty = share * first.penalty
            if penalty > 0:
                with one_thread():
                    solution = solve(known, penalty, solution, rounds=self.rounds, tolerance=self.tolerance)
            if own in (None, share):
                factors = solution.left * solution.values
                yield replace(self, shrinkage=share), Completed(factors, solution.right, offsets, floor, solution)

    def _entries(self, links: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, Array]:
        """Return the known entries, centred, and what centring took from every item."""
        known = ones(links) if self.values == "ones" else links
        if self.zeros:
            known = _with_zeros(known, self.zeros, rng)
        rows = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
        offsets = np.zeros(known.shape[1])
        if self.centring == "none" or not known.nnz:
            return known, offsets
        mean = float(known.data.mean())
        data = known.data - mean
        if self.centring in ("items", "both"):
            offsets = _means(known.indices, data, known.shape[1], self.prior)
            data = data - offsets[known.indices]
        if self.centring == "both":
            data = data - _means(rows, data, known.shape[0], self.prior)[rows]
        known = known.copy()
        known.data = data
        return known, offsets + mean


def _means(places: Array, values: Array, count: int, prior: float) -> Array:
    """Return the mean of the values at every place, drawn towards 0 as if ``prior`` more were there."""
    sums = np.bincount(places, weights=values, minlength=count)
    means: Array = sums / np.maximum(np.bincount(places, minlength=count) + prior, 1e-300)
    return means


def _with_zeros(known: sp.csr_array, zeros: float, rng: np.random.Generator) -> sp.csr_array:
    """Return the entries and zeros drawn at random among the pairs without one, about ``zeros`` an entry.

    A user has as many as there are entries, or a few less: a pair that is drawn twice, or known, is not drawn anew.
    """
    import scipy.sparse as sp

    users, items = known.shape
    rows = np.repeat(np.arange(users), np.diff(known.indptr))
    drawn = np.repeat(rows, int(zeros) + (rng.random(known.nnz) < zeros % 1))
    pairs = np.unique(drawn * items + rng.integers(items, size=len(drawn)))
    pairs = np.setdiff1d(pairs, rows * items + known.indices)
    data = np.concatenate([known.data, np.zeros(len(pairs))])
    places = (np.concatenate([rows, pairs // items]), np.concatenate([known.indices, pairs % items]))
    return sp.csr_array((data, places), shape=known.shape)
