"""A network as tables: CSV, Neo4j's CSV, Parquet, and NumPy arrays (``.npz``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.files import write_table
from cube2net.model.corpus import is_list
from cube2net.model.network import Network
from cube2net.model.objects import distinct_names
from cube2net.network.export.graphs import to_scipy
from cube2net.network.export.plain_tables import (
    choose_format,
    choose_list_format,
    describe_form,
    describe_with_recipe,
    format_json,
    iterate_rows,
    list_ends,
    list_ids,
    name_type,
    plain_nodes,
    plain_table,
)

LINK_PREFIX = "link."
"""Prefix of the columns of links in an ``.npz``, where nodes have columns of the same names."""
MISSING = ".missing"
NEO4J_SEPARATOR = ";"
"""Neo4j's separator of the values of a list, and of several labels."""


def write_nodes_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line per node; the ranks in ``cells`` are separated by spaces, and missing values are empty."""
    _write_csv(plain_nodes(network), path, spreadsheet_safe)


def write_links_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line per link."""
    _write_csv(plain_table(network.links.to_arrow()), path, spreadsheet_safe)


def _write_csv(table: pa.Table, path: Path, spreadsheet_safe: bool) -> None:
    lines = (
        line
        for batch in table.to_batches(max_chunksize=4096)
        for line in zip(*map(_format_column, batch.columns), strict=True)
    )
    write_table(path, table.column_names, lines, spreadsheet_safe=spreadsheet_safe)


def _format_column(column: pa.Array) -> list[Any]:
    """Return the values of a plain column as texts; integers stay integers, which no spreadsheet runs."""
    values, kind = column.to_pylist(), column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        text = choose_format(kind)
        return ["" if value is None else text(value) for value in values]
    return ["" if value is None else value for value in values] if column.null_count else values


def write_nodes_parquet(network: Network, path: Path) -> None:
    """Write the table of nodes with the types of its columns."""
    _write_parquet(network, network.nodes.to_arrow(), path)


def write_links_parquet(network: Network, path: Path) -> None:
    """Write the table of links with the types of its columns."""
    _write_parquet(network, network.links.to_arrow(), path)


def _write_parquet(network: Network, table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    with path.open("wb") as out:
        parquet.write_table(
            table.replace_schema_metadata({"cube2net": format_json(describe_with_recipe(network))}), out
        )


def write_recipe(network: Network, path: Path) -> None:
    """Write the recipe to a file of its own, for formats that have no place for it."""
    if network.recipe is not None:
        path.write_text(network.recipe.to_json() + "\n", encoding="utf-8", newline="\n")


def write_npz(network: Network, path: Path) -> None:
    """Write arrays that ``scipy.sparse.load_npz`` reads as the adjacency matrix, and ``np.load`` without pickle.

    The columns of nodes are arrays with one entry per node: ``id``, ``name``, ``in_query`` and so on. ``NAME.missing``
    marks missing values. The list of ``cells`` of node i is ``cells_indices[cells_indptr[i]:cells_indptr[i + 1]]``, and
    other lists likewise. Each link is stored once: ``link.source`` and ``link.target`` (positions of nodes),
    ``link.weight``, ``link.kind`` (an index into ``link.kinds``) and all other columns. ``form``, ``dimensions`` and
    ``selected`` (the cells in the order chosen) are texts, and ``recipe`` is JSON.
    """
    matrix, nodes = to_scipy(network), plain_nodes(network)
    links = plain_table(network.links.to_arrow().drop_columns(["source", "target", "weight", "kind"]))
    kinds = pc.dictionary_encode(plain_table(network.links.to_arrow().select(["kind"]))["kind"].combine_chunks())
    texts = {name: np.array(value, dtype=np.str_) for name, value in describe_form(network).items()}
    if network.recipe is not None:
        texts["recipe"] = np.array(network.recipe.to_json())
    arrays: dict[str, Array] = {
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "_is_array": np.array(True),
    }
    taken = {*arrays, *texts}
    for name in nodes.column_names:
        arrays |= _list_arrays(f"{name}_attribute" if name in taken else name, nodes[name])
    arrays |= {
        f"{LINK_PREFIX}source": network.source,
        f"{LINK_PREFIX}target": network.target,
        f"{LINK_PREFIX}weight": network.weight,
        f"{LINK_PREFIX}kind": kinds.indices.to_numpy(),
        f"{LINK_PREFIX}kinds": np.array(kinds.dictionary.to_pylist(), np.str_),
    }
    for name in links.column_names:
        arrays |= _list_arrays(f"{LINK_PREFIX}{name}", links[name])
    with path.open("wb") as out:
        np.savez_compressed(out, **arrays, **texts)  # type: ignore[arg-type]


def _list_arrays(name: str, column: pa.ChunkedArray | pa.Array) -> dict[str, Array]:
    """Return a plain column as arrays: values, marks of missing values, and offsets of lists."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    missing = {f"{name}{MISSING}": np.asarray(pc.is_null(array))} if array.null_count else {}
    if is_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return missing | {f"{name}_indptr": offsets} | _list_arrays(f"{name}_indices", array.flatten())
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return {name: np.array([value or "" for value in array.to_pylist()], dtype=np.str_)} | missing
    filled = pc.fill_null(array, pa.scalar(0).cast(array.type)) if array.null_count else array
    return {name: filled.to_numpy(zero_copy_only=False)} | missing


def write_neo4j_nodes(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line per node: its id, its kind as Neo4j's label, and every other column with its type."""
    table = plain_nodes(network).drop_columns(["id"])
    kinds = [kind.replace(NEO4J_SEPARATOR, ",") or "object" for kind in table["kind"].to_pylist()]
    _write_neo4j({"id:ID": list_ids(network), ":LABEL": kinds}, table, path, spreadsheet_safe)


def write_neo4j_links(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line per relationship: its ends, its kind as Neo4j's type, and every other column.

    Relationships of Neo4j have a direction; a link without one is written once.
    """
    ends, ids = list_ends(network), list_ids(network)
    fixed = {
        ":START_ID": [ids[node] for node in ends.source.tolist()],
        ":END_ID": [ids[node] for node in ends.target.tolist()],
        ":TYPE": [kind or "link" for kind in ends.columns["kind"].to_pylist()],
    }
    _write_neo4j(fixed, ends.columns, path, spreadsheet_safe)


def _write_neo4j(fixed: dict[str, list[Any]], table: pa.Table, path: Path, spreadsheet_safe: bool) -> None:
    """Write a table after its fixed columns, the type of each column in the header."""
    names = distinct_names([name.replace(":", "_").replace("{", "(") or "_" for name in table.column_names])
    kinds, formats = zip(*map(_choose_neo4j_format, table.columns), strict=True)
    header = [*fixed, *(f"{name}:{kind}" for name, kind in zip(names, kinds, strict=True))]

    def format_row(row: tuple[Any, ...]) -> Iterator[Any]:
        return ("" if value is None else text(value) for value, text in zip(row, formats, strict=True))

    lines = ([*first, *format_row(row)] for *first, row in zip(*fixed.values(), iterate_rows(table), strict=True))
    write_table(path, header, lines, spreadsheet_safe=spreadsheet_safe)


def _choose_neo4j_format(column: pa.ChunkedArray) -> tuple[str, Callable[[Any], Any]]:
    """Return Neo4j's type of a column and a function that formats its values."""
    kind = column.type
    if not is_list(kind):
        return name_type(kind), (lambda value: value) if pa.types.is_integer(kind) else choose_format(kind)
    text = choose_list_format(column, NEO4J_SEPARATOR)  # Neo4j cannot escape the separator
    return "string" if text is format_json else f"{name_type(kind.value_type)}[]", text
