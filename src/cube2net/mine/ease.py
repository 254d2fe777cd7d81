"""Every item predicted from all others, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, whole_number
from cube2net.interfaces import Fitted
from cube2net.mine.fitted import Floor, ItemWeights, known_links, ones
from cube2net.records.ragged import frozen
from cube2net.threads import one_thread

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class UserWeights:
    """Scores from a matrix of users × users: −(``weights`` X) / ``scale``, with X the links and a scale an item."""

    links: sp.csr_array
    weights: Array
    scale: Array
    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        with one_thread():
            own = self.links[users].toarray()
            return self.floor.under(users, own - (self.links.T @ self.weights[users].T).T / self.scale)


@dataclass(frozen=True, kw_only=True)
class Ease:
    """Score items by X B, with B the weights that predict X best from itself when no item may predict itself.

    Minimises |X − X B|² + ``ridge`` |B|² under diag(B) = 0: B = I − P / diag(P), P = (XᵀX + ridge I)⁻¹ (Steck 2019).
    Where there are fewer users than items the same scores come from (X Xᵀ + ridge I)⁻¹, by X P = (X Xᵀ + ridge I)⁻¹ X.
    One dense matrix as wide as the smaller number is inverted; ``most`` is the widest that is tried.
    """

    ridge: float = 100.0
    most: int = 12_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", whole_number("most", self.most, 1))
        if not 0 < self.ridge < np.inf:
            raise ParameterError(f"ridge is {self.ridge!r}, expected a number above 0")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the weights; the seed changes nothing."""
        links = ones(known_links(matrix))
        floor = Floor.of(links)
        width = min(links.shape)
        if width > self.most:
            raise ParameterError(
                f"EASE inverts a dense matrix of {width:,} × {width:,} here, and most is {self.most:,}: "
                "bring fewer objects, or choose another recommender"
            )
        if links.shape[1] <= links.shape[0]:
            inverse = _inverse(links.T @ links, self.ridge)
            weights = -inverse / np.diag(inverse) if width else inverse
            np.fill_diagonal(weights, 0.0)
            return ItemWeights(links, frozen(weights), floor)
        inverse = _inverse(links @ links.T, self.ridge)
        return UserWeights(links, frozen(inverse), frozen((1.0 - _told(inverse, links)) / self.ridge), floor)


def _inverse(product: sp.csr_array, ridge: float) -> Array:
    """Return (product + ridge I)⁻¹, by Cholesky on one thread."""
    import scipy.linalg

    dense = product.toarray()
    dense[np.diag_indices(len(dense))] += ridge
    if not len(dense):
        return np.asarray(dense)
    try:
        with one_thread():
            factor = scipy.linalg.cholesky(dense, lower=True, overwrite_a=True, check_finite=False)
            lower, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=True)
    except scipy.linalg.LinAlgError:
        raise ParameterError(f"ridge is {ridge!r}, too small to invert the matrix: choose a larger one") from None
    inverse: Array = lower + np.tril(lower, -1).T
    return inverse


def _told(inverse: Array, links: sp.csr_array) -> Array:
    """Return x ᵀ inverse x for the column x of every item: the sum over all pairs of the item's users."""
    turned = links.tocsc()
    told = np.zeros(links.shape[1])
    for item in range(links.shape[1]):
        users = turned.indices[turned.indptr[item] : turned.indptr[item + 1]]
        told[item] = inverse[np.ix_(users, users)].sum()
    return told
