"""Recommenders: popularity, nearest items, matrix factorisation and EASE; all by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int
from cube2net.mining.bipartite import Factors, Floor, ItemWeights, count_links, make_link_matrix, set_unit_weights
from cube2net.mining.softimpute import SoftImpute
from cube2net.model.interfaces import Fitted, Recommender

if TYPE_CHECKING:
    import scipy.sparse as sp

ITEMS_PER_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Popular:
    """All users get the same scores."""

    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        return np.tile(self.floor.popular, (len(users), 1))


@dataclass(frozen=True, kw_only=True)
class Popularity:
    """Score an item by the number of its links: the floor for personalised recommenders."""

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the popularity of every item; ``seed`` is not used."""
        return Popular(Floor.of(make_link_matrix(matrix)))


@dataclass(frozen=True, kw_only=True)
class ItemKnn:
    """Score an item by the cosines of its users with those of the user's own items.

    cos(i, j) = users of both / (√users of i · √users of j + ``shrink``), so that items with few users count for
    less; of every item only the ``neighbours`` most similar ones count, of equal ones the first. Weights are ignored.
    """

    neighbours: int = 100
    shrink: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", check_int("neighbours", self.neighbours, 1, what="items"))
        if not 0 <= self.shrink < np.inf:
            raise ParameterError(f"shrink is {self.shrink!r}, expected a number of 0 or more")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the nearest items of every item; ``seed`` is not used."""
        import scipy.sparse as sp

        links = set_unit_weights(make_link_matrix(matrix))
        turned = sp.csr_array(links.T)
        roots = np.sqrt(count_links(links))
        blocks = []
        for start in range(0, links.shape[1], ITEMS_PER_BLOCK):
            shared = sp.csr_array(turned[start : start + ITEMS_PER_BLOCK] @ links)
            shared.sort_indices()
            rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
            cosines = shared.data / (roots[start + rows] * roots[shared.indices] + self.shrink)
            cosines[start + rows == shared.indices] = 0.0
            kept = _select_largest(rows, shared.indices, cosines, self.neighbours)
            pairs = (shared.indices[kept], start + rows[kept])
            blocks.append((cosines[kept], *pairs))
        parts = [np.concatenate(part) for part in zip(*blocks, strict=True)] if blocks else [np.empty(0)] * 3
        weights = sp.csr_array((parts[0], (parts[1], parts[2])), shape=(links.shape[1],) * 2)
        return ItemWeights(links, weights, Floor.of(links))


def _select_largest(rows: Array, columns: Array, values: Array, most: int) -> Array:
    """Return the entries among the largest above 0 of their rows, of equal ones the first columns.

    >>> _select_largest(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.array([1.0, 3.0, 3.0, 0.0]), 1).tolist()
    [1]
    """
    there = np.flatnonzero(values > 0)
    order = there[np.lexsort((columns[there], -values[there], rows[there]))]
    sizes = np.bincount(rows[order])
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[place < most]


@dataclass(frozen=True, kw_only=True)
class Als:
    """Factor users × items so that links are near 1 and all other pairs, with little confidence, near 0.

    Minimises Σ c (p − xᵀy)² + ``ridge`` (Σ|x|² + Σ|y|²) over all pairs: p = 1 and c = 1 + ``confidence`` for a link,
    p = 0 and c = 1 elsewhere (Hu, Koren and Volinsky 2008). ``rounds`` times users and items are solved in turn,
    exactly. Weights are ignored.
    """

    rank: int = 16
    ridge: float = 10.0
    confidence: float = 5.0
    rounds: int = 15

    def __post_init__(self) -> None:
        for name in ("rank", "rounds"):
            object.__setattr__(self, name, check_int(name, getattr(self, name), 1))
        for name in ("ridge", "confidence"):
            if not 0 < getattr(self, name) < np.inf:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a number above 0")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the factors; users and items without links have zeros."""
        import scipy.sparse as sp

        from cube2net.kernels.scores import solve_rows

        links = make_link_matrix(matrix)
        turned = sp.csr_array(links.T)
        drawn = stream(seed, "mine", "als").standard_normal((links.shape[1], self.rank)) / np.sqrt(self.rank)
        items = np.where(np.diff(turned.indptr)[:, None] > 0, drawn, 0.0)
        users = np.zeros((links.shape[0], self.rank))
        ridge = self.ridge * np.eye(self.rank)
        with one_thread():
            for _ in range(self.rounds):
                users = solve_rows(links.indptr, links.indices, self.confidence, items, items.T @ items + ridge)
                items = solve_rows(turned.indptr, turned.indices, self.confidence, users, users.T @ users + ridge)
        return Factors(users, items, np.zeros(len(items)), Floor.of(links))


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
            return self.floor.break_ties(users, own - (self.links.T @ self.weights[users].T).T / self.scale)


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
        object.__setattr__(self, "most", check_int("most", self.most, 1))
        if not 0 < self.ridge < np.inf:
            raise ParameterError(f"ridge is {self.ridge!r}, expected a number above 0")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the weights; ``seed`` is not used."""
        links = set_unit_weights(make_link_matrix(matrix))
        floor = Floor.of(links)
        width = min(links.shape)
        if width > self.most:
            raise ParameterError(
                f"EASE inverts a dense matrix of {width:,} × {width:,} here, and most is {self.most:,}: "
                "bring fewer objects, or choose another recommender"
            )
        if links.shape[1] <= links.shape[0]:
            inverse = _invert(links.T @ links, self.ridge)
            weights = -inverse / np.diag(inverse) if width else inverse
            np.fill_diagonal(weights, 0.0)
            return ItemWeights(links, freeze(weights), floor)
        inverse = _invert(links @ links.T, self.ridge)
        return UserWeights(
            links, freeze(inverse), freeze((1.0 - _compute_quadratic_forms(inverse, links)) / self.ridge), floor
        )


def _invert(product: sp.csr_array, ridge: float) -> Array:
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


def _compute_quadratic_forms(inverse: Array, links: sp.csr_array) -> Array:
    """Return x ᵀ inverse x for the column x of every item: the sum over all pairs of the item's users."""
    turned = links.tocsc()
    forms = np.zeros(links.shape[1])
    for item in range(links.shape[1]):
        users = turned.indices[turned.indptr[item] : turned.indptr[item + 1]]
        forms[item] = inverse[np.ix_(users, users)].sum()
    return forms


RECOMMENDERS: dict[str, type[Recommender]] = {
    "popularity": Popularity,
    "itemknn": ItemKnn,
    "softimpute": SoftImpute,
    "als": Als,
    "ease": Ease,
}
"""All recommenders by name."""

TUNING_CHOICES: dict[str, tuple[Recommender, ...]] = {
    "popularity": (Popularity(),),
    "itemknn": tuple(ItemKnn(neighbours=k, shrink=shrink) for k in (20, 100, 500) for shrink in (0.0, 10.0, 50.0)),
    "softimpute": tuple(
        SoftImpute(rank=rank, values=values, zeros=zeros, centring=centring)
        for rank in (4, 16)
        for values, zeros, centring in (
            ("ones", 0.0, "none"),
            ("ones", 1.0, "none"),
            ("ones", 4.0, "none"),
            ("ones", 4.0, "mean"),
            ("given", 0.0, "items"),
            ("given", 4.0, "none"),
        )
    ),
    "als": tuple(
        Als(rank=rank, ridge=ridge, confidence=confidence)
        for rank in (8, 32)
        for ridge in (1.0, 10.0, 50.0)
        for confidence in (2.0, 10.0)
    ),
    "ease": tuple(Ease(ridge=ridge) for ridge in (5.0, 20.0, 100.0, 500.0)),
}
"""The settings among which recommenders given by name are tuned; Soft-Impute adds a path of shrinkages to each."""
