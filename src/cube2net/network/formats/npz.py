"""One ``.npz`` with the adjacency as SciPy keeps it, and what is known of the nodes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.network.formats.plain import LINK_KINDS, about, texts
from cube2net.records import Network

if TYPE_CHECKING:
    import scipy.sparse as sp


def to_scipy(network: Network) -> sp.csr_array:
    """Return the symmetric adjacency of a network: row and column i are node i, every link on both ends."""
    import scipy.sparse as sp

    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weights = np.concatenate([network.weight, network.weight]).astype(np.float32)
    return sp.coo_array((weights, ends), shape=(len(network), len(network))).tocsr()


def write_npz(network: Network, path: Path) -> None:
    """Write arrays that ``scipy.sparse.load_npz`` reads as the adjacency and ``np.load`` reads without pickle.

    Beside the adjacency stand ``id, name, kind, in_query, label, query_links`` (one entry a node),
    ``cells_indptr`` and ``cells_indices`` (the ranks of node i are ``indices[indptr[i]:indptr[i + 1]]``),
    ``link_kind`` (one entry for every one of ``data``: 0 a link, 1 a membership), and ``form``,
    ``dimensions`` and ``selected``, the cells in the order chosen.
    """
    matrix = to_scipy(network)
    row = np.repeat(np.arange(len(network)), np.diff(matrix.indptr))
    member = np.maximum(row, matrix.indices) >= len(network.objects)
    nodes = network.nodes
    cells = nodes["cells"].combine_chunks()
    arrays: dict[str, Array] = {
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "_is_array": np.array(True),
        **{name: np.array(texts(nodes, name), dtype=np.str_) for name in ("id", "name", "kind", "label")},
        "in_query": network.in_query,
        "query_links": nodes["query_links"].to_numpy(),
        "cells_indptr": cells.offsets.to_numpy(),
        "cells_indices": cells.flatten().to_numpy(),
        "link_kind": member.astype(np.uint8),
        "link_kinds": np.array(LINK_KINDS),
        **{name: np.array(value, dtype=np.str_) for name, value in about(network).items()},
    }
    with path.open("wb") as out:
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
