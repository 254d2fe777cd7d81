"""A network of two kinds of objects as a matrix, users × items: the links recommenders learn from, and their scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net._util.progress import one_thread
from cube2net.errors import InputError, ParameterError, quote_few, unknown_name
from cube2net.model.network import Network

if TYPE_CHECKING:
    import scipy.sparse as sp

TIE = 1e-6


@dataclass(frozen=True, eq=False)
class Bipartite:
    """Links between users (rows) and items (columns); the query's come first on either side.

    ``users`` and ``items`` are the objects' rows in the cube. The first ``query_users`` rows and ``query_items``
    columns are the query's. ``left_out`` links of the network join two users, two items or an object and its cell, and
    are not in the matrix.
    """

    matrix: sp.csr_array
    users: Array
    items: Array
    query_users: int
    query_items: int
    left_out: int = 0

    def __post_init__(self) -> None:
        for name in ("users", "items"):
            object.__setattr__(self, name, freeze(getattr(self, name)))
        if self.matrix.shape != (len(self.users), len(self.items)):
            raise InputError(
                f"{len(self.users):,} users and {len(self.items):,} items have a matrix of shape {self.matrix.shape}"
            )

    def __repr__(self) -> str:
        return (
            f"Bipartite({len(self.users):,} users × {len(self.items):,} items, {self.matrix.nnz:,} links, "
            f"{self.query_users:,} × {self.query_items:,} in the query)"
        )

    def links(self, users: Array, items: Array) -> sp.csr_array:
        """Return users × items with a 1 for each of some links between a user and an item of the query.

        Both are given by their rows in the cube. So hidden links get the shape of the known ones.
        """
        import scipy.sparse as sp

        rows = _places(self.users[: self.query_users], users, "users")
        columns = _places(self.items[: self.query_items], items, "items")
        if len(rows) != len(columns):
            raise InputError(f"links have {len(rows):,} users and {len(columns):,} items, expected as many of both")
        pairs = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=self.matrix.shape)
        pairs.data[:] = 1.0
        return pairs


def bipartite(network: Network, *, users: str = "user", items: str | None = None) -> Bipartite:
    """Return the links of a network between users and items: objects of the kind ``users``, and those of another.

    Without a kind of ``items`` every other kind is one. Links weigh what they weigh in the cube, also where the network
    damps them: damping and cells are for embeddings, and a recommender learns from what users did.
    """
    import pyarrow as pa
    import scipy.sparse as sp

    kinds = np.array(network.names.table["kind"].take(pa.array(network.objects)).to_pylist(), dtype=object)
    for kind in (users, items):
        if kind is not None and kind not in kinds:
            raise unknown_name("kind of objects", kind, {str(kind) for kind in kinds})
    if users == items or (kinds == users).all():
        raise ParameterError(f"users and items are both of the kind {users!r}, expected objects of two kinds")
    neither = np.zeros(len(network.cells), dtype=bool)
    is_user = np.concatenate([kinds == users, neither])
    is_item = np.concatenate([kinds != users if items is None else kinds == items, neither])
    ends = [(network.source, network.target), (network.target, network.source)]
    sides = [is_user[one] & is_item[other] for one, other in ends]
    rows, columns = (
        np.concatenate([end[side][fits] for end, fits in zip(ends, sides, strict=True)]) for side in (0, 1)
    )
    weights = network.weight.astype(np.float64)
    if network.given is not None:
        weights[np.maximum(network.source, network.target) < len(network.objects)] = network.given
    weight = np.concatenate([weights[fits] for fits in sides])
    places = ((np.cumsum(is_user) - 1)[rows], (np.cumsum(is_item) - 1)[columns])
    return Bipartite(
        matrix=sp.csr_array((weight, places), shape=(int(is_user.sum()), int(is_item.sum()))),
        users=network.objects[is_user[: len(network.objects)]],
        items=network.objects[is_item[: len(network.objects)]],
        query_users=int((is_user & network.in_query).sum()),
        query_items=int((is_item & network.in_query).sum()),
        left_out=int((~(sides[0] | sides[1])).sum()),
    )


def _places(objects: Array, wanted: Array, what: str) -> Array:
    """Return where the wanted objects stand among those of the query."""
    rows = np.asarray(wanted, dtype=np.int64)
    place = {int(row): position for position, row in enumerate(objects)}
    lost = [row for row in rows.tolist() if row not in place]
    if lost:
        raise InputError(f"{len(lost):,} links have {what} that are not {what} of the query: rows {quote_few(lost)}")
    return np.array([place[row] for row in rows.tolist()], dtype=np.int64)


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
        return cls(freeze(link_counts(links)), freeze(np.diff(links.indptr) == 0))

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
    return replace(fitted, floor=replace(floor, popular=freeze(np.zeros_like(floor.popular))))


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
