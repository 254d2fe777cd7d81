"""Link prediction: precision and recall at K and AUC of recommenders and vectors for hidden links.

The settings of recommenders are tuned on the other links only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import CpuStopwatch
from cube2net._util.random import stream
from cube2net.errors import InputError, ParameterError, check_int, join_names, quote_few
from cube2net.mining.bipartite import make_bipartite, make_link_matrix
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Fitted, Recommender
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query

if TYPE_CHECKING:
    import scipy.sparse as sp

USERS_PER_BLOCK = 1024
LEVEL = 1e-9

R = TypeVar("R", bound=Recommender)

Pairs = tuple[Array, Array]
"""The positions of the two ends of some pairs."""

COSINE_DIGITS = 9
"""Digits to which cosines are compared."""
PAIRS_PER_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores of every user with hidden links, in the order of ``users``; ``left_out`` users have none.

    ``precision`` and ``recall`` are users × ``ks``; ``auc`` is nan for a user whose other items are all known.
    ``cold`` says which users have no known link at all.
    """

    users: Array
    ks: tuple[int, ...]
    precision: Array
    recall: Array
    auc: Array
    cold: Array
    hidden: int
    left_out: int

    def __post_init__(self) -> None:
        for name in ("users", "precision", "recall", "auc", "cold"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        parts = [f"{name} {value:.4f}" for name, value in self.means().items()]
        return f"Ranking({len(self):,} users, {self.hidden:,} hidden links: {', '.join(parts)})"

    def means(self) -> dict[str, float]:
        """Return the mean over users of every score: ``P@5``, …, ``R@5``, …, ``AUC``; nan where there is no user."""
        means = {f"P@{k}": _mean(self.precision[:, i]) for i, k in enumerate(self.ks)}
        means |= {f"R@{k}": _mean(self.recall[:, i]) for i, k in enumerate(self.ks)}
        return {**means, "AUC": _mean(self.auc)}


def rank_links(
    fitted: Fitted,
    known: sp.csr_array,
    hidden: sp.csr_array,
    *,
    ks: Sequence[int] = (1, 5, 10, 20),
    items: int | None = None,
) -> Ranking:
    """Return the ranking of hidden links among the items without known links to their users.

    For every user with a hidden link the first ``items`` items (by default all), without those of known links, are
    ranked by score. Precision at K is the share of hidden links among the first K items, recall at K the share of the
    hidden links that are among these; AUC is the probability that a hidden link ranks above an item that is neither
    known nor hidden. Items of equal scores (to 9 digits of the user's largest) count by their expected values over all
    orders. Users without hidden links are left out and counted.
    """
    from cube2net.kernels.scores import hidden_ranks

    known, hidden = make_link_matrix(known), make_link_matrix(hidden)
    if known.shape != hidden.shape:
        shapes = [" × ".join(f"{size:,}" for size in matrix.shape) for matrix in (known, hidden)]
        raise InputError(f"known links are {shapes[0]} users × items and hidden ones {shapes[1]}, expected the same")
    wanted = tuple(check_int("K", k, 1, what="places") for k in ks)
    width = known.shape[1] if items is None else check_int("items", items, 0, known.shape[1])
    if hidden[:, width:].nnz:
        raise InputError(f"{hidden[:, width:].nnz:,} hidden links lead to items beyond the first {width:,}")
    cold = np.diff(known.indptr) == 0
    known, hidden = known[:, :width], hidden[:, :width]
    users = np.flatnonzero(np.diff(hidden.indptr))
    table = np.zeros((len(users), 2 * len(wanted) + 1))
    for start in range(0, len(users), USERS_PER_BLOCK):
        block = users[start : start + USERS_PER_BLOCK]
        scores = np.asarray(fitted.scores(block), dtype=np.float64)[:, :width]
        if scores.shape != (len(block), width) or not bool(np.isfinite(scores).all()):
            raise InputError(f"{fitted!r} gave scores of shape {scores.shape} that are not all finite")
        mine, theirs = known[block], hidden[block]
        if (mine.multiply(theirs)).nnz:
            raise InputError("some links are both known and hidden: take hidden links out of the known ones")
        slack = LEVEL * np.abs(scores).max(axis=1)
        rows = (part.astype(np.int64) for part in (mine.indptr, mine.indices, theirs.indptr, theirs.indices))
        above, level, auc = hidden_ranks(scores, slack, *rows)
        hits = np.clip((np.array(wanted) - above[:, None]) / level[:, None], 0.0, 1.0)
        own = np.add.reduceat(np.column_stack([hits, auc]), theirs.indptr[:-1])
        counts = np.diff(theirs.indptr)[:, None]
        table[start : start + USERS_PER_BLOCK] = np.column_stack([own[:, :-1] / wanted, own / counts])
    precision, recall, auc = np.split(table, [len(wanted), 2 * len(wanted)], axis=1)
    return Ranking(
        users=users,
        ks=wanted,
        precision=precision,
        recall=recall,
        auc=auc[:, 0],
        cold=cold[users],
        hidden=hidden.nnz,
        left_out=known.shape[0] - len(users),
    )


def _mean(values: Array) -> float:
    valid = values[~np.isnan(values)]
    return float(valid.mean()) if len(valid) else float("nan")


@dataclass(frozen=True, eq=False)
class PairRanking:
    """The AUC of every hidden pair, and of every object that has one.

    ``pairs`` is that of the pairs; ``objects`` are positions, ascending, and ``auc`` is the mean over the pairs of
    each. A pair counts for both ends.
    """

    objects: Array
    auc: Array
    pairs: Array

    def __post_init__(self) -> None:
        for name in ("objects", "auc", "pairs"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"PairRanking({len(self):,} objects, {len(self.pairs):,} hidden pairs: AUC {self.mean:.4f})"

    @property
    def mean(self) -> float:
        """The mean over the objects, each as important as any other."""
        return float(self.auc.mean())


def rank_pairs(vectors: Array, hidden: Pairs, unlinked: Pairs) -> PairRanking:
    """Return how hidden pairs rank among unlinked ones by the cosines of their objects' vectors.

    Pairs are given by the positions of their ends. The AUC of a hidden pair is the share of the unlinked pairs that it
    is above, and equal ones (to 9 digits) count half. The cosine with a vector of zeros is 0.

    >>> vectors = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.0, 0.0]])
    >>> rank_pairs(vectors, (np.array([0, 0]), np.array([1, 3])), (np.array([0, 1]), np.array([2, 2]))).pairs.tolist()
    [1.0, 0.25]
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or not bool(np.isfinite(vectors).all()):
        raise InputError(f"vectors have shape {vectors.shape}, expected a row of finite numbers for each object")
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    units = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
    ends = [_check_pairs(name, pairs, len(vectors)) for name, pairs in (("hidden", hidden), ("unlinked", unlinked))]
    own, others = (_compute_cosines(units, *pair) for pair in ends)
    others.sort()
    below, up_to = (np.searchsorted(others, own, side) for side in ("left", "right"))
    pairs = (below + up_to) / (2 * len(others))
    both = np.concatenate(ends[0])
    counts = np.bincount(both, minlength=len(vectors))
    sums = np.bincount(both, weights=np.tile(pairs, 2), minlength=len(vectors))
    objects = np.flatnonzero(counts)
    return PairRanking(objects, sums[objects] / counts[objects], pairs)


def _compute_cosines(units: Array, source: Array, target: Array) -> Array:
    """Return the cosine of every pair, a block at a time."""
    cosines = np.empty(len(source))
    for start in range(0, len(source), PAIRS_PER_BLOCK):
        part = slice(start, start + PAIRS_PER_BLOCK)
        cosines[part] = np.einsum("ij,ij->i", units[source[part]], units[target[part]])
    return cosines.round(COSINE_DIGITS) + 0.0


def _check_pairs(name: str, pairs: Pairs, count: int) -> Pairs:
    source, target = (np.asarray(side) for side in pairs)
    if source.ndim != 1 or source.shape != target.shape or not len(source):
        raise InputError(
            f"the ends of {name} pairs have shapes {source.shape} and {target.shape}, expected one or more pairs, "
            "two ends each"
        )
    ends = np.concatenate([source, target])
    outside = ends[(ends < 0) | (ends >= count)].tolist()
    if outside:
        raise InputError(f"{name} pairs name objects that are not among the {count:,}: {quote_few(outside)}")
    if bool((source == target).any()):
        raise InputError(f"{int((source == target).sum()):,} {name} pairs join an object with itself")
    return source.astype(np.int64), target.astype(np.int64)


@runtime_checkable
class HasPath(Protocol):
    """A recommender that fits several settings together."""

    def path(self, matrix: sp.csr_array, *, seed: int = 0) -> Iterator[tuple[Any, Fitted]]:
        """Yield a recommender for every setting, with its fitted model."""


@dataclass(frozen=True, eq=False)
class BestOf(Generic[R]):
    """The best recommender, and all that were tried with recall at K and AUC, best first."""

    best: R
    tried: tuple[tuple[R, float, float], ...]

    def __repr__(self) -> str:
        return f"BestOf({self.best!r} of {len(self.tried)})"


def choose_recommender(
    recommenders: Sequence[R],
    matrix: sp.csr_array,
    *,
    seed: int = 0,
    items: int | None = None,
    share: float = 0.2,
    repeats: int = 2,
    k: int = 10,
) -> BestOf[R]:
    """Return the recommender that finds held-out links best.

    ``repeats`` times a random ``share`` of the links (to the first ``items`` items) is held out, and every recommender
    is fitted to the others. The mean recall at ``k`` decides, then AUC, then the order of the recommenders. A
    recommender with a path is tried with every setting on it.
    """
    repeats = check_int("repeats", repeats, 1)
    if not recommenders:
        raise ParameterError("there is no recommender to choose from")
    if not 0 < share < 1:
        raise ParameterError(f"share is {share!r}, expected a share above 0 and below 1")
    links = make_link_matrix(matrix)
    width = links.shape[1] if items is None else check_int("items", items, 0, links.shape[1])
    rng = stream(seed, "mine", "tune")
    tried: dict[int, R] = {}
    recall: dict[int, float] = {}
    auc: dict[int, float] = {}
    for _ in range(repeats):
        seen, hidden = _split(links, width, share, rng)
        for number, (candidate, fitted) in enumerate(_fit_all(recommenders, seen, seed)):
            means = rank_links(fitted, seen, hidden, ks=(k,), items=width).means()
            tried[number] = candidate
            recall[number] = recall.get(number, 0.0) + np.nan_to_num(means[f"R@{k}"]) / repeats
            auc[number] = auc.get(number, 0.0) + np.nan_to_num(means["AUC"]) / repeats
    order = sorted(tried, key=lambda number: (-round(recall[number], 12), -round(auc[number], 12), number))
    return BestOf(tried[order[0]], tuple((tried[number], recall[number], auc[number]) for number in order))


def _fit_all(recommenders: Sequence[Any], links: sp.csr_array, seed: int) -> Iterator[tuple[Any, Fitted]]:
    for recommender in recommenders:
        if isinstance(recommender, HasPath):
            yield from recommender.path(links, seed=seed)
        else:
            yield recommender, recommender.fit(links, seed=seed)


def _split(
    links: sp.csr_array, width: int, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the links without a share of those to the first items, and that share."""
    import scipy.sparse as sp

    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    among = np.flatnonzero(links.indices < width)
    gone = np.zeros(links.nnz, dtype=bool)
    gone[rng.choice(among, size=round(share * len(among)), replace=False)] = True
    parts = [(links.data[part], (rows[part], links.indices[part])) for part in (~gone, gone)]
    seen, hidden = (sp.csr_array(part, shape=links.shape) for part in parts)
    return seen, hidden


KS = (5, 1, 10, 20)
LINK_MEASURES = (*(f"P@{k}" for k in KS), *(f"R@{k}" for k in KS), "AUC")

SCORE_DIGITS = 6
"""Digits of the scores of single users."""


@dataclass(frozen=True, eq=False)
class HiddenLinks:
    """Links to be predicted: for each the rows of its user and its item in the cube."""

    users: Array
    items: Array

    @classmethod
    def of(cls, cube: Cube, query: Query, source: Any, target: Any, users: str) -> HiddenLinks:
        """Return hidden links given by the rows of their ends in any order; one end has the kind ``users``.

        Both ends must be in the query, and no link in the cube.
        """
        ends, count = _check_ends(source, target, "hidden links"), len(cube.objects)
        outside = ends[(ends < 0) | (ends >= count)].tolist()
        if outside:
            raise InputError(
                f"hidden links name {len(outside):,} rows that the cube does not have: {quote_few(outside)} "
                f"(it has {count:,} objects)"
            )
        kinds = np.array(cube.objects.table["kind"].take(pa.array(ends.ravel())).to_pylist()).reshape(2, -1)
        is_user = kinds == users
        if not bool((is_user.sum(axis=0) == 1).all()):
            raise InputError(
                f"{int((is_user.sum(axis=0) != 1).sum()):,} hidden links do not join an object of the kind {users!r} "
                f"with one of another: kinds here are {join_names(sorted(set(kinds.ravel().tolist())))}"
            )
        apart = ~np.isin(ends, query.objects).all(axis=0)
        if apart.any():
            raise InputError(f"{int(apart.sum()):,} hidden links have an end outside the query, expected both inside")
        there = [bool((cube.links.neighbours(int(a)) == b).any()) for a, b in ends.T]
        if any(there):
            raise InputError(
                f"{sum(there):,} of {len(there):,} hidden links are in the cube: build it without them, as the command "
                "task does"
            )
        turned = np.where(is_user[0], ends, ends[::-1])
        return cls(turned[0], turned[1])


def _check_ends(source: Sequence[int], target: Sequence[int], what: str) -> Array:
    """Return both ends of one or more pairs of rows, one above the other."""
    sides = [np.asarray(side) if len(side) else np.empty(0, np.int64) for side in (source, target)]
    if any(side.ndim != 1 or not np.issubdtype(side.dtype, np.integer) for side in sides):
        raise InputError(f"{what} are given by the rows of their ends, expected two lists of whole numbers")
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{what} have {len(sides[0]):,} ends on one side and {len(sides[1]):,} on the other, "
            "expected as many on both"
        )
    if not len(sides[0]):
        purpose = "to be found again" if what == "hidden links" else "to compare hidden links with"
        raise InputError(f"there are no {what}: give some {purpose}")
    return np.array(sides, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LinkPredictor:
    """Predicts hidden links; a recommender is tuned once for every network, by its known links."""

    hidden: HiddenLinks
    kind: str
    tried: Mapping[str, tuple[Recommender, ...]]
    tuned: dict[tuple[bytes, str], Any] = field(default_factory=dict)

    def __call__(self, network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every user with hidden links, and the seconds of fitting."""
        links = make_bipartite(network, users=self.kind)
        key = network_fingerprint(network), model
        if key not in self.tuned:
            self.tuned[key] = choose_recommender(self.tried[model], links.matrix, items=links.query_items).best
        watch = CpuStopwatch()
        fitted = self.tuned[key].fit(links.matrix, seed=seed)
        seconds = watch.seconds
        hidden = links.links(self.hidden.users, self.hidden.items)
        ranking = rank_links(fitted, links.matrix, hidden, ks=KS, items=links.query_items)
        columns = np.column_stack([ranking.precision, ranking.recall, ranking.auc]).round(SCORE_DIGITS)
        means = ranking.means()
        return {name: means[name] for name in LINK_MEASURES}, columns, seconds


def find_positions(what: str, pairs: tuple[Any, Any], query: Query) -> Array:
    """Return the positions in a query of both ends of pairs of rows, one above the other."""
    ends = _check_ends(*pairs, what)
    outside = ~np.isin(ends, query.objects).all(axis=0)
    if outside.any():
        raise InputError(f"{int(outside.sum()):,} {what} have an end outside the query, expected both inside")
    if (ends[0] == ends[1]).any():
        raise InputError(f"{int((ends[0] == ends[1]).sum()):,} {what} join an object with itself")
    return np.searchsorted(query.objects, ends)
