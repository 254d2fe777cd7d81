"""A network of two kinds of objects as a matrix of users × items, and the scores of recommenders."""

from __future__ import annotations

from dataclasses import dataclass
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
        """Return a matrix of users × items with 1 for some links between users and items of the query.

        Both are given by their rows in the cube. The matrix has the shape of that of the known links.
        """
        import scipy.sparse as sp

        rows = _find_places(self.users[: self.query_users], users, "users")
        columns = _find_places(self.items[: self.query_items], items, "items")
        if len(rows) != len(columns):
            raise InputError(f"links have {len(rows):,} users and {len(columns):,} items, expected as many of both")
        pairs = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=self.matrix.shape)
        pairs.data[:] = 1.0
        return pairs


def make_bipartite(network: Network, *, users: str = "user", items: str | None = None) -> Bipartite:
    """Return the links of a network between objects of the kind ``users`` and of the kind ``items``.

    Without ``items`` all other kinds are items. Links have their weights in the cube, without the damping of the form
    hybrid, which is for embeddings.
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


def _find_places(objects: Array, wanted: Array, what: str) -> Array:
    """Return the positions of some objects among those of the query."""
    rows = np.asarray(wanted, dtype=np.int64)
    place = {int(row): position for position, row in enumerate(objects)}
    unknown = [row for row in rows.tolist() if row not in place]
    if unknown:
        raise InputError(
            f"{len(unknown):,} links have {what} that are not {what} of the query: rows {quote_few(unknown)}"
        )
    return np.array([place[row] for row in rows.tolist()], dtype=np.int64)


def make_link_matrix(matrix: Any) -> sp.csr_array:
    """Return a matrix of links as a CSR array of doubles; every stored entry is a link, even 0.

    >>> import scipy.sparse as sp
    >>> make_link_matrix(sp.coo_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 3))).nnz
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


def set_unit_weights(links: sp.csr_array) -> sp.csr_array:
    """Return the same links with weight 1."""
    import scipy.sparse as sp

    return sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)


def count_links(links: sp.csr_array) -> Array:
    """Return the number of links of every item."""
    return np.bincount(links.indices, minlength=links.shape[1]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Floor:
    """The popularity of every item, and which users have no link, so that popularity is all that is known for them."""

    popular: Array
    cold: Array

    @classmethod
    def of(cls, links: sp.csr_array) -> Floor:
        """Return the floor for some links."""
        return cls(freeze(count_links(links)), freeze(np.diff(links.indptr) == 0))

    def break_ties(self, users: Array, scores: Array) -> Array:
        """Return the scores of users, with popularity as the tie-breaker.

        A user without links gets the popularity of the items; to the scores of others at most a millionth of their
        largest one is added.
        """
        most = float(self.popular.max(initial=0.0)) or 1.0
        scores = scores + TIE / most * np.abs(scores).max(axis=1, initial=0.0)[:, None] * self.popular
        scores[self.cold[users]] = self.popular
        return scores


@dataclass(frozen=True, eq=False)
class Factors:
    """Scores are products of the factors of a user and an item, plus an offset for every item."""

    left: Array
    right: Array
    offsets: Array
    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        with one_thread():
            return self.floor.break_ties(users, self.left[users] @ self.right.T + self.offsets)


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """Scores are sums of the weights between a user's items and every item."""

    links: sp.csr_array
    weights: Any
    floor: Floor

    def scores(self, users: Array) -> Array:
        """Return users × items."""
        import scipy.sparse as sp

        with one_thread():
            sums = self.links[users] @ self.weights
        return self.floor.break_ties(users, sums.toarray() if sp.issparse(sums) else sums)
