"""What recommenders share: the links they learn from, and the scores they give in the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.records.ragged import frozen
from cube2net.threads import one_thread

if TYPE_CHECKING:
    import scipy.sparse as sp


TIE = 1e-6


def known_links(matrix: Any) -> sp.csr_array:
    """Return a matrix of links as a CSR array of doubles, rows ascending; every stored entry is a link, a 0 too.

    >>> import scipy.sparse as sp
    >>> known_links(sp.coo_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 3))).nnz
    2
    """
    import scipy.sparse as sp

    if not sp.issparse(matrix) or matrix.ndim != 2:
        raise InputError(f"links are a sparse matrix of users × items, got {type(matrix).__name__}")
    links = sp.csr_array(matrix, dtype=np.float64, copy=True)
    links.sum_duplicates()
    if not bool(np.isfinite(links.data).all()):
        raise InputError(f"{int((~np.isfinite(links.data)).sum()):,} links have a weight that is not finite")
    return links


def ones(links: sp.csr_array) -> sp.csr_array:
    """Return the same links, each of weight 1."""
    import scipy.sparse as sp

    return sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)


def link_counts(links: sp.csr_array) -> Array:
    """Return the number of links of every item."""
    return np.bincount(links.indices, minlength=links.shape[1]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Floor:
    """The popularity of every item, and which users have no link: nobody can tell these more than what is popular."""

    popular: Array
    cold: Array

    @classmethod
    def of(cls, links: sp.csr_array) -> Floor:
        """Return the floor of some links."""
        return cls(frozen(link_counts(links)), frozen(np.diff(links.indptr) == 0))

    def under(self, users: Array, scores: Array) -> Array:
        """Return the scores of users, popular items first where the scores are equal, or say nothing.

        A user without links gets the items in the order of their popularity; to the scores of others it is added
        a millionth of their largest one, at most.
        """
        most = float(self.popular.max(initial=0.0)) or 1.0
        scores = scores + TIE / most * np.abs(scores).max(axis=1, initial=0.0)[:, None] * self.popular
        scores[self.cold[users]] = self.popular
        return scores


def without_floor(fitted: Any) -> Any:
    """Return what a recommender of this room learned, without the popularity that it falls back on.

    Users without links then get no order at all, as with recommenders taken from the book.
    """
    floor = fitted.floor
    return replace(fitted, floor=replace(floor, popular=frozen(np.zeros_like(floor.popular))))


@dataclass(frozen=True, eq=False)
class Factors:
    """Scores are products: a row for every user times a row for every item, plus a number for every item."""

    left: Array
    right: Array
    offsets: Array
    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        with one_thread():
            return self.floor.under(users, self.left[users] @ self.right.T + self.offsets)


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """Scores are sums over a user's items: what each of them says of every item."""

    links: sp.csr_array
    weights: Any
    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        import scipy.sparse as sp

        with one_thread():
            sums = self.links[users] @ self.weights
        return self.floor.under(users, sums.toarray() if sp.issparse(sums) else sums)
