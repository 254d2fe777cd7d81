"""Recommenders: popularity, nearest items, matrix factorisation, EASE and Soft-Impute; all by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.mining.bipartite import Factors, Floor, ItemWeights, count_links, make_link_matrix, set_unit_weights
from cube2net.mining.link_prediction import choose_recommender
from cube2net.model.interfaces import Fitted, Recommender

if TYPE_CHECKING:
    import scipy.sparse as sp

CENTRINGS = ("none", "mean", "items", "both")
VALUES = ("ones", "given")
SHRINKAGE_PATH = (0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.13, 0.09, 0.06)

SVD_SWEEPS = 12
SPARE_DIRECTIONS = 4
START_SHARE_OF_PENALTY = 0.1
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


@dataclass(frozen=True, eq=False)
class Completed(Factors):
    """Factors of a completed matrix, and its solution; the matrix is sparse plus low rank, and never dense."""

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
        for name, value, allowed in (("values", self.values, VALUES), ("centring", self.centring, CENTRINGS)):
            if value not in allowed:
                raise unknown_name(name, value, allowed)
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
        entries, offsets = self._prepare_entries(links, rng)
        with one_thread():
            start = truncated_svd(entries, self.rank, rng)
        own_shrinkage = self.shrinkage
        solution = replace(start, values=np.zeros_like(start.values))
        for share in (
            SHRINKAGE_PATH
            if own_shrinkage is None
            else (*(share for share in SHRINKAGE_PATH if share > own_shrinkage), own_shrinkage)
        ):
            penalty = share * start.penalty
            if penalty > 0:
                with one_thread():
                    solution = complete_matrix(entries, penalty, solution, rounds=self.rounds, tolerance=self.tolerance)
            if own_shrinkage in (None, share):
                factors = solution.left * solution.values
                yield replace(self, shrinkage=share), Completed(factors, solution.right, offsets, floor, solution)

    def _prepare_entries(self, links: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, Array]:
        """Return the centred known entries and the offset of every item."""
        entries = set_unit_weights(links) if self.values == "ones" else links
        if self.zeros:
            entries = _add_zeros(entries, self.zeros, rng)
        rows = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
        offsets = np.zeros(entries.shape[1])
        if self.centring == "none" or not entries.nnz:
            return entries, offsets
        mean = float(entries.data.mean())
        data = entries.data - mean
        if self.centring in ("items", "both"):
            offsets = _compute_means(entries.indices, data, entries.shape[1], self.prior)
            data = data - offsets[entries.indices]
        if self.centring == "both":
            data = data - _compute_means(rows, data, entries.shape[0], self.prior)[rows]
        entries = entries.copy()
        entries.data = data
        return entries, offsets + mean


def _compute_means(places: Array, values: Array, count: int, prior: float) -> Array:
    """Return the mean of the values at every place, with ``prior`` more values of 0."""
    sums = np.bincount(places, weights=values, minlength=count)
    means: Array = sums / np.maximum(np.bincount(places, minlength=count) + prior, 1e-300)
    return means


def _add_zeros(entries: sp.csr_array, zeros: float, rng: np.random.Generator) -> sp.csr_array:
    """Return the entries and random zeros among the pairs without one, about ``zeros`` for each entry of a user.

    There are a few less if a pair is drawn twice or is known.
    """
    import scipy.sparse as sp

    users, items = entries.shape
    rows = np.repeat(np.arange(users), np.diff(entries.indptr))
    zero_rows = np.repeat(rows, int(zeros) + (rng.random(entries.nnz) < zeros % 1))
    pairs = np.unique(zero_rows * items + rng.integers(items, size=len(zero_rows)))
    pairs = np.setdiff1d(pairs, rows * items + entries.indices)
    data = np.concatenate([entries.data, np.zeros(len(pairs))])
    places = (np.concatenate([rows, pairs // items]), np.concatenate([entries.indices, pairs % items]))
    return sp.csr_array((data, places), shape=entries.shape)


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


def truncated_svd(entries: sp.csr_array, rank: int, rng: np.random.Generator) -> Solution:
    """Return the largest singular values and vectors of the known entries, with zeros elsewhere, as a start.

    By subspace iteration from a random start. The penalty is the largest value, from which on the solution is 0.
    """
    width = min(rank, *entries.shape)
    if not width:
        return Solution(np.zeros((entries.shape[0], 0)), np.zeros(0), np.zeros((entries.shape[1], 0)), 0.0)
    right = rng.standard_normal((entries.shape[1], width))
    for _ in range(SVD_SWEEPS):
        left = np.linalg.qr(entries @ right)[0]
        right = np.linalg.qr(entries.T @ left)[0]
    left, values, turn = np.linalg.svd(entries @ right, full_matrices=False)
    return Solution(left, values, right @ turn.T, float(values[0]))


def complete_matrix(
    entries: sp.csr_array, penalty: float, start: Solution, *, rounds: int, tolerance: float
) -> Solution:
    """Return the Z of the least ½ Σ (x − z)² over the known entries + ``penalty`` · Σ singular values of Z.

    Z has at most the rank of ``start``, from which the search starts. Soft-Impute fills unknown entries from Z itself
    and shrinks the singular values of that matrix by the penalty: X* = (X − Z on the known entries) + Z, a sparse plus
    a low-rank matrix. Here the factors of Z come from alternating ridge regressions of X* (softImpute-ALS: Hastie,
    Mazumder, Lee and Zadeh 2015), which never raise the objective. The search stops when a round lowers it by less than
    a share of ``tolerance``; a last step shrinks exactly.

    The search uses a few more directions than Z has, and more once Z needs them.
    """
    width = min(len(start.values), max(SPARE_DIRECTIONS, start.rank + SPARE_DIRECTIONS))
    while True:
        first = replace(start, left=start.left[:, :width], values=start.values[:width], right=start.right[:, :width])
        completed = _alternate(entries, penalty, first, rounds, tolerance)
        if completed.rank < width or width == len(start.values):
            return _add_directions(completed, start)
        width = min(len(start.values), 2 * width)
        start = _add_directions(completed, start)


def _alternate(entries: sp.csr_array, penalty: float, start: Solution, rounds: int, tolerance: float) -> Solution:
    """Return the solution whose rank is at most that of ``start``."""
    from cube2net.kernels.scores import low_rank_entries

    history: list[float] = []

    def compute_residual() -> sp.csr_array:
        """Return X − Z on the known entries, and record the objective of Z's factors."""
        left_factors, right_factors = left * roots, right * roots
        residual = entries.copy()
        residual.data -= low_rank_entries(entries.indptr, entries.indices, left_factors, right_factors)
        norms = float((left_factors * left_factors).sum() + (right_factors * right_factors).sum())
        history.append(0.5 * float(residual.data @ residual.data) + 0.5 * penalty * norms)
        return residual

    # A direction with the value 0 gets a small one on the left side only: Z is unchanged, and may use the direction.
    is_used = start.values > 0
    left, right = start.left, np.where(is_used, start.right, 0.0)
    roots = np.sqrt(np.where(is_used, start.values, START_SHARE_OF_PENALTY * penalty))
    for _ in range(rounds):
        shrink = roots / (roots**2 + penalty)
        product = (compute_residual().T @ left) * shrink + right * (roots**2 * shrink)
        right, roots, turn = _balance(product * roots)
        left = left @ turn
        shrink = roots / (roots**2 + penalty)
        product = (compute_residual() @ right) * shrink + left * (roots**2 * shrink)
        left, roots, turn = _balance(product * roots)
        right = right @ turn
        if len(history) > 2 and history[-4] - history[-2] <= tolerance * history[-4]:
            break
    left, values, turn = np.linalg.svd(compute_residual() @ right + left * roots**2, full_matrices=False)
    right = right @ turn.T
    roots = np.sqrt(np.maximum(values - penalty, 0.0))
    compute_residual()
    return Solution(left, roots**2, right, penalty, tuple(history))


def _add_directions(solution: Solution, wider: Solution) -> Solution:
    """Return the solution with more directions of value 0, orthogonal to its own, from a wider solution."""
    missing = len(wider.values) - len(solution.values)
    if not missing:
        return solution
    sides = [
        np.linalg.qr(np.concatenate([inner, outer[:, -missing:]], axis=1))[0][:, -missing:]
        for inner, outer in ((solution.left, wider.left), (solution.right, wider.right))
    ]
    return replace(
        solution,
        left=np.concatenate([solution.left, sides[0]], axis=1),
        values=np.concatenate([solution.values, np.zeros(missing)]),
        right=np.concatenate([solution.right, sides[1]], axis=1),
    )


def _balance(product: Array) -> tuple[Array, Array, Array]:
    """Return the left singular vectors, the roots of the singular values and the right singular vectors."""
    vectors, values, turn = np.linalg.svd(product, full_matrices=False)
    return vectors, np.sqrt(values), turn.T


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
