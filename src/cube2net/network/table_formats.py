"""A network as tables of nodes and links: CSV, Parquet, and arrays as ``.npz``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.arguments import check_call, expect
from cube2net.array_types import Array
from cube2net.atomic_files import write_table
from cube2net.network.export_tables import about, about_with_recipe, plain_nodes
from cube2net.network.plain_columns import as_text, json_text, plain_table
from cube2net.records import Network
from cube2net.records.column_kinds import is_list

if TYPE_CHECKING:
    import scipy.sparse as sp

LINK = "link."
"""What stands before the name of a column of links in an ``.npz``, where nodes have columns too."""
MISSING = ".missing"


def write_nodes_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a node; ``cells`` are ranks with spaces between, what is missing is empty."""
    table = plain_nodes(network)
    write_table(path, table.column_names, text_rows(table), spreadsheet_safe=spreadsheet_safe)


def write_links_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a link, each link once."""
    table = plain_table(network.links)
    write_table(path, table.column_names, text_rows(table), spreadsheet_safe=spreadsheet_safe)


def text_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a plain table as CSV has them; whole numbers stay numbers, which no spreadsheet runs."""
    for batch in table.to_batches(max_chunksize=4096):
        yield from zip(*map(_text_column, batch.columns), strict=True)


def _text_column(column: pa.Array) -> list[Any]:
    values, kind = column.to_pylist(), column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        text = as_text(kind)
        return ["" if value is None else text(value) for value in values]
    return ["" if value is None else value for value in values] if column.null_count else values


def write_nodes_parquet(network: Network, path: Path) -> None:
    """Write the table of nodes, every column as it is."""
    _parquet(network, network.nodes, path)


def write_links_parquet(network: Network, path: Path) -> None:
    """Write the table of links, each link once."""
    _parquet(network, network.links, path)


def write_recipe(network: Network, path: Path) -> None:
    """Write the recipe by itself, for formats that have no place for it."""
    if network.recipe is not None:
        path.write_text(network.recipe.to_json() + "\n", encoding="utf-8", newline="\n")


def write_npz(network: Network, path: Path) -> None:
    """Write arrays that ``scipy.sparse.load_npz`` reads as the adjacency and ``np.load`` reads without pickle.

    Beside the adjacency stand the columns of nodes, one entry a node: ``id``, ``name``, ``in_query`` and all others.
    Where a column has values missing, ``NAME.missing`` tells which. The lists of ``cells`` are
    ``cells_indices[cells_indptr[i]:cells_indptr[i + 1]]``, and so are others. The links stand as they are in the
    network, each once, as ``link.source`` and ``link.target`` (positions of nodes), ``link.weight``, ``link.kind`` (the
    number of one of ``link.kinds``) and all others. ``form``, ``dimensions`` and ``selected`` are the cells in the
    order chosen, ``recipe`` is JSON.
    """
    matrix = to_scipy(network)
    nodes = plain_nodes(network)
    links = plain_table(network.links.drop_columns(["source", "target", "weight"]))
    ends = {"source": network.source, "target": network.target, "weight": network.weight}
    arrays: dict[str, Array] = {
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "_is_array": np.array(True),
    }
    own = {name: np.array(value, dtype=np.str_) for name, value in about(network).items()}
    if network.recipe is not None:
        own["recipe"] = np.array(network.recipe.to_json())
    taken = {*arrays, *own}
    for name in nodes.column_names:
        arrays |= _arrays(f"{name}_attribute" if name in taken else name, nodes[name])
    arrays |= {f"{LINK}{name}": array for name, array in ends.items()}
    coded = pc.dictionary_encode(links["kind"].combine_chunks())
    arrays |= {f"{LINK}kind": coded.indices.to_numpy(), f"{LINK}kinds": np.array(coded.dictionary.to_pylist(), np.str_)}
    for name in links.column_names:
        if name != "kind":
            arrays |= _arrays(f"{LINK}{name}", links[name])
    with path.open("wb") as out:
        np.savez_compressed(out, **arrays, **own)  # type: ignore[arg-type]


@check_call
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
    ((110, 110), 1558)
    """
    import scipy.sparse as sp

    expect(Network, network, "network")
    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weights = np.concatenate([network.weight, network.weight]).astype(np.float32)
    return sp.coo_array((weights, ends), shape=(len(network), len(network))).tocsr()


def _parquet(network: Network, table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    with path.open("wb") as out:
        parquet.write_table(table.replace_schema_metadata({"cube2net": json_text(about_with_recipe(network))}), out)


def _arrays(name: str, column: pa.ChunkedArray) -> dict[str, Array]:
    """Return a plain column as arrays: its values, where they are missing, and where lists begin."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found: dict[str, Array] = {}
    if array.null_count:
        found[f"{name}{MISSING}"] = np.asarray(pc.is_null(array))
    if is_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        found[f"{name}_indptr"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return found | _arrays(f"{name}_indices", array.flatten())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return {name: np.array([value or "" for value in array.to_pylist()], dtype=np.str_)} | found
    filled = pc.fill_null(array, pa.scalar(0).cast(array.type)) if array.null_count else array
    return {name: filled.to_numpy(zero_copy_only=False)} | found
