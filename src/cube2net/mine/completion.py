"""The matrix of least nuclear norm near some known entries: sparse plus low rank, never dense."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array

if TYPE_CHECKING:
    import scipy.sparse as sp

SWEEPS = 12
SPARE = 4
FIRST = 0.1


@dataclass(frozen=True, eq=False)
class Solution:
    """Z = ``left`` diag(``values``) ``right``ᵀ, the penalty it was found for, and the objective after every step.

    The columns of both sides are orthonormal, and there are as many of them as Z may have ranks; those that Z does
    not need have the value 0.
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


def start(known: sp.csr_array, rank: int, rng: np.random.Generator) -> Solution:
    """Return the largest singular values and vectors of the known entries, with zeros elsewhere: a place to begin.

    By subspace iteration from a random start. The penalty is the largest value: from there on the solution is 0.
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


def solve(known: sp.csr_array, penalty: float, warm: Solution, *, rounds: int, tolerance: float) -> Solution:
    """Return the Z of the least ½ Σ (x − z)² over the known entries + ``penalty`` · Σ singular values of Z.

    Z has at most the rank of ``warm``, from which the search starts. Soft-Impute fills what is not known from Z
    itself and shrinks the singular values of that matrix by the penalty: X* = (X − Z on the known entries) + Z, a
    sparse plus a low-rank matrix. Here the factors of Z are found by ridge regressions of X* on either of them in
    turn (softImpute-ALS: Hastie, Mazumder, Lee and Zadeh 2015), which never raise the objective. The search stops
    when a round lowers it by less than ``tolerance`` of itself; a last step shrinks exactly.

    Only a few directions more than Z has are looked at, and more when Z comes to use them all.
    """
    width = min(len(warm.values), max(SPARE, warm.rank + SPARE))
    while True:
        found = _alternate(known, penalty, _part(warm, width), rounds, tolerance)
        if found.rank < width or width == len(warm.values):
            return _whole(found, warm)
        width = min(len(warm.values), 2 * width)
        warm = _whole(found, warm)


def _alternate(known: sp.csr_array, penalty: float, warm: Solution, rounds: int, tolerance: float) -> Solution:
    """Return the solution whose rank is at most that of ``warm``."""
    from cube2net.kernels.lowrank import entries

    history: list[float] = []

    def rest() -> sp.csr_array:
        """Return X − Z on the known entries, and note the objective, which is that of Z's factors."""
        one, other = left * roots, right * roots
        apart = known.copy()
        apart.data -= entries(known.indptr, known.indices, one, other)
        norms = float((one * one).sum() + (other * other).sum())
        history.append(0.5 * float(apart.data @ apart.data) + 0.5 * penalty * norms)
        return apart

    # A direction without value gets a small one on its left side alone: Z stays, and may take the direction up.
    alive = warm.values > 0
    left, right = warm.left, np.where(alive, warm.right, 0.0)
    roots = np.sqrt(np.where(alive, warm.values, FIRST * penalty))
    for _ in range(rounds):
        shrink = roots / (roots**2 + penalty)
        moved = (rest().T @ left) * shrink + right * (roots**2 * shrink)
        right, roots, turn = _balanced(moved * roots)
        left = left @ turn
        shrink = roots / (roots**2 + penalty)
        moved = (rest() @ right) * shrink + left * (roots**2 * shrink)
        left, roots, turn = _balanced(moved * roots)
        right = right @ turn
        if len(history) > 2 and history[-4] - history[-2] <= tolerance * history[-4]:
            break
    left, values, turn = np.linalg.svd(rest() @ right + left * roots**2, full_matrices=False)
    right = right @ turn.T
    roots = np.sqrt(np.maximum(values - penalty, 0.0))
    rest()
    return Solution(left, roots**2, right, penalty, tuple(history))


def _part(solution: Solution, width: int) -> Solution:
    """Return the solution with its first directions only."""
    return replace(
        solution, left=solution.left[:, :width], values=solution.values[:width], right=solution.right[:, :width]
    )


def _whole(found: Solution, wide: Solution) -> Solution:
    """Return the solution with more directions, of value 0: those of a wider one, at right angles to its own."""
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


def _balanced(product: Array) -> tuple[Array, Array, Array]:
    """Return the left singular vectors, the roots of the singular values and the right singular vectors."""
    vectors, values, turn = np.linalg.svd(product, full_matrices=False)
    return vectors, np.sqrt(values), turn.T
