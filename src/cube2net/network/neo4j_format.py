"""Tables that ``neo4j-admin database import`` and ``apoc.import.csv`` read, with what each column is in its header."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net.atomic_files import write_table
from cube2net.network.export_tables import ends_of, ids_of, plain_nodes
from cube2net.network.plain_columns import as_text, can_be_joined, json_text, kind_of, rows
from cube2net.records import Network
from cube2net.records.column_kinds import is_list
from cube2net.records.distinct_names import distinct_names

BETWEEN = ";"
"""What Neo4j has between the values of a list, and between several labels."""


def write_neo4j_nodes(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a node: its id, what Neo4j calls its label (the kind), and every other column with its type."""
    table = plain_nodes(network).drop_columns(["id"])
    properties, texts = _properties(table)
    kinds = [kind.replace(BETWEEN, ",") or "object" for kind in table["kind"].to_pylist()]
    lines = (
        [key, kind, *_line(row, texts)] for key, kind, row in zip(ids_of(network), kinds, rows(table), strict=True)
    )
    write_table(path, ["id:ID", ":LABEL", *properties], lines, spreadsheet_safe=spreadsheet_safe)


def write_neo4j_links(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a relationship: its two ends, its type (the kind of the link), and every other column.

    Relationships of Neo4j have a direction; where the source of the network has none, each link stands once.
    """
    ends, ids = ends_of(network), ids_of(network)
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
        return kind_of(kind), (lambda value: value) if pa.types.is_integer(kind) else as_text(kind)
    if not can_be_joined(column, BETWEEN):
        return "string", json_text  # Neo4j has no way to write the sign between two values inside one
    one = as_text(kind.value_type)
    return f"{kind_of(kind.value_type)}[]", lambda values: BETWEEN.join(map(one, values))


def _line(row: tuple[Any, ...], texts: list[Callable[[Any], Any]]) -> list[Any]:
    return ["" if value is None else text(value) for value, text in zip(row, texts, strict=True)]
