"""The pair of objects that a network draws closer and the pair that it draws apart, as in the paper's Figure 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import InputError
from cube2net.model.network import Network

if TYPE_CHECKING:
    import scipy.sparse as sp

MAX_NODES = 30
MAX_OBJECTS = 4000
BLOCK = 512


@dataclass(frozen=True, eq=False)
class CloseUp:
    """A pair of the query's objects, its mean cosine before and after, and the nodes to draw around it.

    ``pair`` and ``nodes`` are positions in the network, the pair first, then what both are linked to, then what one
    is. ``kind`` is ``"closer"`` or ``"apart"``. ``fits`` says that a pair drawn closer shares a node from outside the
    query, or that a pair drawn apart is linked; it is False where the network has no such pair.
    """

    network: Network
    kind: str
    pair: tuple[int, int]
    before: float
    after: float
    nodes: tuple[int, ...]
    shared: tuple[int, ...]
    fits: bool

    def __repr__(self) -> str:
        return f"CloseUp({self.kind}: {self.pair}, cosine {self.before:.2f} → {self.after:.2f})"


def close_ups(
    network: Network, before: Array, after: Array, labels: Sequence[str] | None = None, *, most: int = MAX_NODES
) -> list[CloseUp]:
    """Return the pair drawn closer and the pair drawn apart, where there are such.

    ``before`` and ``after`` are the vectors of the query's objects on the query alone and in the network, runs ×
    objects × columns, the same runs. Closer: same label, no direct link, the largest rise of the mean cosine. Apart:
    different labels, the largest fall. A vector of zeros says nothing, and its cosine with any other is 0. Objects
    without a label are left out; of a query above 4,000 objects those with most links are looked at.
    """
    known = np.array(labels if labels is not None else network.query.labels or (), dtype=np.str_)
    for name, vectors in (("before", before), ("after", after)):
        if vectors.ndim != 3 or vectors.shape[1] != len(network.query) or not bool(np.isfinite(vectors).all()):
            raise InputError(
                f"the vectors {name} have shape {vectors.shape}, expected runs × {len(network.query):,} objects × "
                "columns of finite numbers"
            )
    if len(known) not in (0, len(network.query)):
        raise InputError(f"the query has {len(network.query):,} objects and got {len(known):,} labels")
    links = _adjacency(network)
    degree = np.diff(links.indptr)[: len(network.query)]
    rows = np.flatnonzero(known != "") if len(known) else np.empty(0, dtype=np.int64)
    if len(rows) > MAX_OBJECTS:
        rows = np.sort(rows[np.argsort(-degree[rows], kind="stable")[:MAX_OBJECTS]])
    if len(rows) < 2 or not len(before) or not len(after):
        return []
    old, new = _directions(before[:, rows]), _directions(after[:, rows])
    found = []
    for kind in ("closer", "apart"):
        pair, fits = _extreme(kind, old, new, known[rows], links, rows, len(network.query))
        if pair is None:
            continue
        one, other = int(rows[pair[0]]), int(rows[pair[1]])
        nodes, shared = _around(links, one, other, len(network.query), most)
        cosines = (float(old[pair[0]] @ old[pair[1]]), float(new[pair[0]] @ new[pair[1]]))
        found.append(CloseUp(network, kind, (one, other), *cosines, nodes, shared, fits))
    return found


def _adjacency(network: Network) -> sp.csr_array:
    """Return the links on both ends, rows ascending."""
    import scipy.sparse as sp

    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weight = np.concatenate([network.weight, network.weight]).astype(np.float64)
    links = sp.coo_array((weight, ends), shape=(len(network), len(network))).tocsr()
    links.sort_indices()
    return links


def _directions(vectors: Array) -> Array:
    """Return a row for every object such that the product of two is their mean cosine over the runs."""
    length = np.linalg.norm(vectors, axis=2, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros(vectors.shape), where=length > 0)
    rows: Array = np.moveaxis(unit, 0, 1).reshape(vectors.shape[1], -1) / np.sqrt(len(vectors))
    return rows


def _extreme(
    kind: str, old: Array, new: Array, labels: Array, links: sp.csr_array, rows: Array, query: int
) -> tuple[tuple[int, int] | None, bool]:
    """Return the pair whose cosine changes most the right way, and whether it is linked as it should be."""
    direct = links[rows][:, rows]
    outside = links[rows][:, query:]
    outside.data[:] = 1
    best: dict[bool, tuple[float, tuple[int, int] | None]] = {True: (0.0, None), False: (0.0, None)}
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        change = new[block] @ new.T - old[block] @ old.T
        linked = direct[block].toarray() > 0
        later = np.arange(len(rows))[None, :] > np.arange(len(rows))[block, None]
        same = labels[block, None] == labels[None, :]
        if kind == "closer":
            allowed, right = later & same & ~linked, (outside[block] @ outside.T).toarray() > 0
        else:
            change, allowed, right = -change, later & ~same, linked
        for fits in (True, False):
            gain = np.where(allowed & right if fits else allowed, change, -np.inf)
            place = int(gain.argmax())
            if gain.flat[place] > best[fits][0]:
                one, other = divmod(place, len(rows))
                best[fits] = float(gain.flat[place]), (start + one, other)
    fits = best[True][1] is not None
    return best[fits][1], fits


def _around(
    links: sp.csr_array, one: int, other: int, query: int, most: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the nodes to draw, the pair first, and those of them that both are linked to."""
    sides = [_neighbours(links, node, query) for node in (one, other)]
    own = [[node for node in side if node not in (one, other)] for side in sides]
    both = set(own[0]) & set(own[1])
    shared = [node for node in own[0] if node in both]
    shared.sort(key=lambda node: node < query)
    shared = shared[: max(1, most // 3)]
    alone = [[node for node in side if node not in both][: max(1, most // 3)] for side in own]
    turns = (node for node in chain.from_iterable(zip_longest(*alone)) if node is not None)
    nodes = [one, other, *shared, *turns][: max(2, most)]
    return tuple(nodes), tuple(node for node in shared if node in nodes)


def _neighbours(links: sp.csr_array, node: int, query: int) -> list[int]:
    """Return the neighbours of a node, the query's objects first, then by the weight of the link."""
    span = slice(links.indptr[node], links.indptr[node + 1])
    ends, weight = links.indices[span], links.data[span]
    return [int(ends[place]) for place in np.lexsort((ends, -weight, ends >= query))]
