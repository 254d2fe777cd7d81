"""Soft-Impute for links: complete the matrix of users × items and recommend by the completed entries.

The matrix of least nuclear norm near the known entries is sparse plus low rank, and never dense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.mining.bipartite import Factors, Floor, make_link_matrix, set_unit_weights
from cube2net.mining.link_prediction import choose_recommender

if TYPE_CHECKING:
    import scipy.sparse as sp

CENTRINGS = ("none", "mean", "items", "both")
VALUES = ("ones", "given")
SHARES = (0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.13, 0.09, 0.06)

SWEEPS = 12
SPARE = 4
FIRST = 0.1


@dataclass(frozen=True, eq=False)
class Completed(Factors):
    """Factors of a completed matrix, and its solution."""

    solution: Solution


@dataclass(frozen=True, kw_only=True)
class SoftImpute:
    """Score items by a completed matrix of users × items of least nuclear norm (Mazumder, Hastie, Tibshirani 2010).

    Minimises ½ Σ (x − z)² over the known entries + λ Σ (singular values of Z), for a Z of at most ``rank``. λ is
    ``shrinkage`` times the largest singular value of the entries, where Z would be 0. By default it is tuned: on a path
    of decreasing λ, each with the last solution as its start, by the prediction of a fifth of the known links.

    Known entries are links, with the value 1 or their weights (``values``). If all known entries are 1, the completed
    ones are 1 too, and items are ordered by popularity only. So for every link of a user ``zeros`` pairs without a
    link are drawn at random as known entries of 0. ``zeros=0`` is the textbook form, which with given weights predicts
    ratings.

    ``centring`` first subtracts the mean of the known entries, of every item, or of every item and user (``"mean"``,
    ``"items"``, ``"both"``), the latter shrunk to the overall mean by ``prior`` more entries of it; scores include the
    means.
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
            object.__setattr__(self, name, check_int(name, getattr(self, name), 1))
        for name, got, allowed in (("values", self.values, VALUES), ("centring", self.centring, CENTRINGS)):
            if got not in allowed:
                raise unknown_name(name, got, allowed)
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
            return choose_recommender([self], matrix, seed=seed).best.fit(matrix, seed=seed)
        ((_, completed),) = self.path(matrix, seed=seed)
        return completed

    def path(self, matrix: sp.csr_array, *, seed: int = 0) -> Iterator[tuple[SoftImpute, Completed]]:
        """Yield this recommender with every shrinkage of the path, or with its own, and the completed matrix.

        Every solution starts from that of the previous shrinkage of the path.
        """
        links = make_link_matrix(matrix)
        rng = stream(seed, "mine", "softimpute")
        floor = Floor.of(links)
        known, offsets = self._entries(links, rng)
        with one_thread():
            first = truncated_svd(known, self.rank, rng)
        own = self.shrinkage
        solution = replace(first, values=np.zeros_like(first.values))
        for share in SHARES if own is None else (*(share for share in SHARES if share > own), own):
            penalty = share * first.penalty
            if penalty > 0:
                with one_thread():
                    solution = complete_matrix(known, penalty, solution, rounds=self.rounds, tolerance=self.tolerance)
            if own in (None, share):
                factors = solution.left * solution.values
                yield replace(self, shrinkage=share), Completed(factors, solution.right, offsets, floor, solution)

    def _entries(self, links: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, Array]:
        """Return the centred known entries and the offset of every item."""
        known = set_unit_weights(links) if self.values == "ones" else links
        if self.zeros:
            known = _add_zeros(known, self.zeros, rng)
        rows = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
        offsets = np.zeros(known.shape[1])
        if self.centring == "none" or not known.nnz:
            return known, offsets
        mean = float(known.data.mean())
        data = known.data - mean
        if self.centring in ("items", "both"):
            offsets = _compute_means(known.indices, data, known.shape[1], self.prior)
            data = data - offsets[known.indices]
        if self.centring == "both":
            data = data - _compute_means(rows, data, known.shape[0], self.prior)[rows]
        known = known.copy()
        known.data = data
        return known, offsets + mean


def _compute_means(places: Array, values: Array, count: int, prior: float) -> Array:
    """Return the mean of the values at every place, with ``prior`` more values of 0."""
    sums = np.bincount(places, weights=values, minlength=count)
    means: Array = sums / np.maximum(np.bincount(places, minlength=count) + prior, 1e-300)
    return means


def _add_zeros(known: sp.csr_array, zeros: float, rng: np.random.Generator) -> sp.csr_array:
    """Return the entries and random zeros among the pairs without one, about ``zeros`` for each entry of a user.

    There are a few less if a pair is drawn twice or is known.
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


@dataclass(frozen=True, eq=False)
class Solution:
    """Z = ``left`` diag(``values``) ``right``ᵀ, its penalty, and the objective after every step.

    The columns of both sides are orthonormal; their number is the largest rank of Z, and unused ones have the value 0.
    """

    left: Array
    values: Array
    right: Array
    penalty: float
    objective: tuple[float, ...] = ()

    @property
    def rank(self) -> int:
        """The number of singular values above 0."""
        return int((self.values > 0).sum())


def truncated_svd(known: sp.csr_array, rank: int, rng: np.random.Generator) -> Solution:
    """Return the largest singular values and vectors of the known entries, with zeros elsewhere, as a start.

    By subspace iteration from a random start. The penalty is the largest value, from which on the solution is 0.
    """
    width = min(rank, *known.shape)
    if not width:
        return Solution(np.zeros((known.shape[0], 0)), np.zeros(0), np.zeros((known.shape[1], 0)), 0.0)
    right = rng.standard_normal((known.shape[1], width))
    for _ in range(SWEEPS):
        left = np.linalg.qr(known @ right)[0]
        right = np.linalg.qr(known.T @ left)[0]
    left, values, turn = np.linalg.svd(known @ right, full_matrices=False)
    return Solution(left, values, right @ turn.T, float(values[0]))


def complete_matrix(known: sp.csr_array, penalty: float, warm: Solution, *, rounds: int, tolerance: float) -> Solution:
    """Return the Z of the least ½ Σ (x − z)² over the known entries + ``penalty`` · Σ singular values of Z.

    Z has at most the rank of ``warm``, from which the search starts. Soft-Impute fills unknown entries from Z itself
    and shrinks the singular values of that matrix by the penalty: X* = (X − Z on the known entries) + Z, a sparse plus
    a low-rank matrix. Here the factors of Z come from alternating ridge regressions of X* (softImpute-ALS: Hastie,
    Mazumder, Lee and Zadeh 2015), which never raise the objective. The search stops when a round lowers it by less than
    a share of ``tolerance``; a last step shrinks exactly.

    The search uses a few more directions than Z has, and more once Z needs them.
    """
    width = min(len(warm.values), max(SPARE, warm.rank + SPARE))
    while True:
        first = replace(warm, left=warm.left[:, :width], values=warm.values[:width], right=warm.right[:, :width])
        found = _alternate(known, penalty, first, rounds, tolerance)
        if found.rank < width or width == len(warm.values):
            return _add_directions(found, warm)
        width = min(len(warm.values), 2 * width)
        warm = _add_directions(found, warm)


def _alternate(known: sp.csr_array, penalty: float, warm: Solution, rounds: int, tolerance: float) -> Solution:
    """Return the solution whose rank is at most that of ``warm``."""
    from cube2net.kernels.scores import low_rank_entries

    history: list[float] = []

    def rest() -> sp.csr_array:
        """Return X − Z on the known entries, and record the objective of Z's factors."""
        one, other = left * roots, right * roots
        apart = known.copy()
        apart.data -= low_rank_entries(known.indptr, known.indices, one, other)
        norms = float((one * one).sum() + (other * other).sum())
        history.append(0.5 * float(apart.data @ apart.data) + 0.5 * penalty * norms)
        return apart

    # A direction with the value 0 gets a small one on the left side only: Z is unchanged, and may use the direction.
    alive = warm.values > 0
    left, right = warm.left, np.where(alive, warm.right, 0.0)
    roots = np.sqrt(np.where(alive, warm.values, FIRST * penalty))
    for _ in range(rounds):
        shrink = roots / (roots**2 + penalty)
        moved = (rest().T @ left) * shrink + right * (roots**2 * shrink)
        right, roots, turn = _balance(moved * roots)
        left = left @ turn
        shrink = roots / (roots**2 + penalty)
        moved = (rest() @ right) * shrink + left * (roots**2 * shrink)
        left, roots, turn = _balance(moved * roots)
        right = right @ turn
        if len(history) > 2 and history[-4] - history[-2] <= tolerance * history[-4]:
            break
    left, values, turn = np.linalg.svd(rest() @ right + left * roots**2, full_matrices=False)
    right = right @ turn.T
    roots = np.sqrt(np.maximum(values - penalty, 0.0))
    rest()
    return Solution(left, roots**2, right, penalty, tuple(history))


def _add_directions(found: Solution, wide: Solution) -> Solution:
    """Return the solution with more directions of value 0, orthogonal to its own, from a wider solution."""
    more = len(wide.values) - len(found.values)
    if not more:
        return found
    sides = [
        np.linalg.qr(np.concatenate([own, other[:, -more:]], axis=1))[0][:, -more:]
        for own, other in ((found.left, wide.left), (found.right, wide.right))
    ]
    return replace(
        found,
        left=np.concatenate([found.left, sides[0]], axis=1),
        values=np.concatenate([found.values, np.zeros(more)]),
        right=np.concatenate([found.right, sides[1]], axis=1),
    )


def _balance(product: Array) -> tuple[Array, Array, Array]:
    """Return the left singular vectors, the roots of the singular values and the right singular vectors."""
    vectors, values, turn = np.linalg.svd(product, full_matrices=False)
    return vectors, np.sqrt(values), turn.T
