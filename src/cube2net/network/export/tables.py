"""A network as tables: CSV, the CSV that Neo4j imports, Parquet, and arrays as ``.npz``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    about,
    about_with_recipe,
    as_text,
    can_be_joined,
    json_text,
    list_ends,
    list_ids,
    name_type,
    plain_nodes,
    plain_table,
    rows,
)

if TYPE_CHECKING:
    pass

LINK_PREFIX = "link."
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
    arrays |= {f"{LINK_PREFIX}{name}": array for name, array in ends.items()}
    coded = pc.dictionary_encode(links["kind"].combine_chunks())
    arrays |= {
        f"{LINK_PREFIX}kind": coded.indices.to_numpy(),
        f"{LINK_PREFIX}kinds": np.array(coded.dictionary.to_pylist(), np.str_),
    }
    for name in links.column_names:
        if name != "kind":
            arrays |= _arrays(f"{LINK_PREFIX}{name}", links[name])
    with path.open("wb") as out:
        np.savez_compressed(out, **arrays, **own)  # type: ignore[arg-type]


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


SEPARATOR = ";"
"""What Neo4j has between the values of a list, and between several labels."""


def write_neo4j_nodes(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a node: its id, what Neo4j calls its label (the kind), and every other column with its type."""
    table = plain_nodes(network).drop_columns(["id"])
    properties, texts = _properties(table)
    kinds = [kind.replace(SEPARATOR, ",") or "object" for kind in table["kind"].to_pylist()]
    lines = (
        [key, kind, *_line(row, texts)] for key, kind, row in zip(list_ids(network), kinds, rows(table), strict=True)
    )
    write_table(path, ["id:ID", ":LABEL", *properties], lines, spreadsheet_safe=spreadsheet_safe)


def write_neo4j_links(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a relationship: its two ends, its type (the kind of the link), and every other column.

    Relationships of Neo4j have a direction; where the source of the network has none, each link stands once.
    """
    ends, ids = list_ends(network), list_ids(network)
    properties, texts = _properties(ends.columns)
    kinds = ends.columns["kind"].to_pylist()

    def lines() -> Iterator[list[Any]]:
        for a, b, kind, row in zip(ends.source.tolist(), ends.target.tolist(), kinds, rows(ends.columns), strict=True):
            yield [ids[a], ids[b], kind or "link", *_line(row, texts)]

    header = [":START_ID", ":END_ID", ":TYPE", *properties]
    write_table(path, header, lines(), spreadsheet_safe=spreadsheet_safe)


def _properties(table: pa.Table) -> tuple[list[str], list[Callable[[Any], Any]]]:
    """Return the header of every column, and what writes its values."""
    names = distinct_names([name.replace(":", "_").replace("{", "(") or "_" for name in table.column_names])
    kinds, texts = zip(*(_property(table[name]) for name in table.column_names), strict=True)
    return [f"{name}:{kind}" for name, kind in zip(names, kinds, strict=True)], list(texts)


def _property(column: pa.ChunkedArray) -> tuple[str, Callable[[Any], Any]]:
    kind = column.type
    if not is_list(kind):
        return name_type(kind), (lambda value: value) if pa.types.is_integer(kind) else as_text(kind)
    if not can_be_joined(column, SEPARATOR):
        return "string", json_text  # Neo4j has no way to write the sign between two values inside one
    one = as_text(kind.value_type)
    return f"{name_type(kind.value_type)}[]", lambda values: SEPARATOR.join(map(one, values))


def _line(row: tuple[Any, ...], texts: list[Callable[[Any], Any]]) -> list[Any]:
    return ["" if value is None else text(value) for value, text in zip(row, texts, strict=True)]
