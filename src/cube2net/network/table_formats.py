"""A network as tables of nodes and links: plain Python values, CSV, Parquet, node-link JSON, and arrays as ``.npz``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.atomic_files import write_table
from cube2net.errors import InputError, some
from cube2net.records import Network
from cube2net.records.network import LINKS, NODES

if TYPE_CHECKING:
    import scipy.sparse as sp

LINK_KINDS = ("link", "membership")


def rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a table one by one, a missing text as an empty one.

    >>> list(rows(pa.table({"name": ["a", None], "cells": [[1], []]})))
    [('a', [1]), ('', [])]
    """
    for batch in table.to_batches(max_chunksize=4096):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield tuple("" if value is None else value for value in row)


def texts(table: pa.Table, column: str) -> list[str]:
    """Return a column of texts, a missing one as an empty one."""
    return ["" if value is None else str(value) for value in table[column].to_pylist()]


def written(weights: Iterable[float]) -> list[str]:
    """Return every weight in the fewest digits that still read back as the same 32-bit number.

    >>> written([0.1, 2.0])
    ['0.1', '2.0']
    """
    return [str(value) for value in np.fromiter(weights, np.float32)]


def ranks(cells: Sequence[int]) -> str:
    """Return the ranks of cells as one text, for formats without lists.

    >>> ranks([1, 12])
    '1 12'
    """
    return " ".join(map(str, cells))


def about(network: Network) -> dict[str, Any]:
    """Return what the ranks of cells stand for: the form, the dimensions, and the cells in the order chosen."""
    return {
        "form": network.form,
        "dimensions": list(network.dimensions),
        "selected": [" · ".join(labels) for labels in network.labels],
    }


def distinct(ids: Sequence[str], advice: str) -> Sequence[str]:
    """Return the ids as they are; raise when two nodes have the same one, for they would become one node."""
    if len(set(ids)) < len(ids):
        twice = [key for key, count in Counter(ids).items() if count > 1]
        raise InputError(f"several nodes of the network have the same id: {some(twice)} ({advice})")
    return ids


def write_nodes_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a node; ``cells`` are ranks with spaces between."""
    lines = (
        (key, name, kind, "true" if inside else "false", label, ranks(cells), links)
        for key, name, kind, inside, label, cells, links in rows(network.nodes.select(NODES))
    )
    write_table(path, NODES, lines, spreadsheet_safe=spreadsheet_safe)


def write_links_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a link, each link once."""
    weights = written(network.weight)
    lines = (
        (source, target, weight, kind)
        for (source, target, _, kind), weight in zip(rows(network.links.select(LINKS)), weights, strict=True)
    )
    write_table(path, LINKS, lines, spreadsheet_safe=spreadsheet_safe)


def write_nodes_parquet(network: Network, path: Path) -> None:
    """Write the table of nodes, ``cells`` as lists."""
    _parquet(network, network.nodes, path)


def write_links_parquet(network: Network, path: Path) -> None:
    """Write the table of links, each link once."""
    _parquet(network, network.links, path)


def write_json(network: Network, path: Path) -> None:
    """Write the node-link JSON of d3; in NetworkX: ``node_link_graph(json.load(file), edges="links")``."""
    weights = written(network.weight)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('{"directed": false, "multigraph": false,\n"graph": ' + _json(about(network)) + ',\n"nodes": [')
        for number, row in enumerate(rows(network.nodes.select(NODES))):
            out.write((",\n" if number else "\n") + _json(dict(zip(NODES, row, strict=True))))
        out.write('\n],\n"links": [')
        for number, ((source, target, _, kind), weight) in enumerate(
            zip(rows(network.links.select(LINKS)), weights, strict=True)
        ):
            link = dict(zip(LINKS, (source, target, float(weight), kind), strict=True))
            out.write((",\n" if number else "\n") + _json(link))
        out.write("\n]}\n")


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


def to_scipy(network: Network) -> sp.csr_array:
    """Return the symmetric adjacency of a network: row and column i are node i, every link on both ends.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    scipy.sparse.csr_array
        The weights of the links, as floats of 32 bits.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> matrix = c2n.to_scipy(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> matrix.shape, matrix.nnz
    ((104, 104), 844)
    """
    import scipy.sparse as sp

    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weights = np.concatenate([network.weight, network.weight]).astype(np.float32)
    return sp.coo_array((weights, ends), shape=(len(network), len(network))).tocsr()


def _parquet(network: Network, table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    with path.open("wb") as out:
        parquet.write_table(table.replace_schema_metadata({"cube2net": _json(about(network))}), out)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
