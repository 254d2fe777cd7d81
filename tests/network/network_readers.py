"""Readers of exported networks: rows of plain values, as the columns of the network have them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from cube2net.model.corpus import is_list
from cube2net.model.network import Network
from cube2net.network.export.plain_tables import plain_nodes, plain_table

from workbook_sheets import ranks, sheets, titles

Rows = list[dict[str, Any]]
Tables = tuple[Rows, Rows]


def list_expected(network: Network) -> Tables:
    """Return the rows of a network, which an exported file has to give back."""
    links = plain_table(network.links.to_arrow()).to_pylist()
    return list(map(drop_missing, plain_nodes(network).to_pylist())), sort_links(map(drop_missing, links))


def read_back(paths: list[Path], network: Network) -> Tables:
    """Return the rows of the files of a network."""
    suffix = next(suffix for suffix in sorted(READERS, key=len, reverse=True) if paths[0].name.endswith(suffix))
    return restore(READERS[suffix](paths), network)


def restore(tables: Iterable[Rows], network: Network) -> Tables:
    """Return rows with values of the types that a network's columns have, and without other columns."""
    nodes, links = (
        [restore_row(row, table.schema) for row in rows]
        for rows, table in zip(tables, (plain_nodes(network), plain_table(network.links.to_arrow())), strict=True)
    )
    return nodes, sort_links(links)


def restore_row(row: Mapping[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """Return a row with values of the types of a plain table."""
    return drop_missing({field.name: restore_value(row.get(field.name), field.type) for field in schema})


def restore_value(value: Any, kind: pa.DataType) -> Any:
    """Return a value of a plain type, given that or its text; dates become texts."""
    if isinstance(value, str) and value and is_list(kind):
        is_text = pa.types.is_string(kind.value_type)
        parts = json.loads(value) if value.startswith("[") else value.replace(";", " ").split()
        return parts if is_text else [int(part) for part in parts]
    if isinstance(value, str) and value and not pa.types.is_string(kind):
        return (
            {"true": True, "false": False}[value] if pa.types.is_boolean(kind) else pa.scalar(value).cast(kind).as_py()
        )
    return plain_table(pa.table({"": [value]}))[""][0].as_py() if hasattr(value, "isoformat") else value


def drop_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without values that some formats write as nothing."""
    return {name: value for name, value in row.items() if value not in (None, "", [])}


def sort_links(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Return links in one order, the ends of each too."""
    turned = [
        {**row, **dict(zip(("source", "target"), sorted((row["source"], row["target"])), strict=True))} for row in rows
    ]
    return sorted(turned, key=lambda row: (row["source"], row["target"], str(row)))


def read_graph(graph: nx.Graph, **names: str) -> Tables:
    """Return the rows of a NetworkX graph; ``names`` are columns with another name there."""
    nodes = [
        {"id": key, **data, **{own: data.get(other) for own, other in names.items()}}
        for key, data in graph.nodes(data=True)
    ]
    return nodes, [{**data, "source": a, "target": b} for a, b, data in graph.edges(data=True)]


def read_igraph(graph: igraph.Graph) -> Tables:
    """Return the rows of an igraph graph."""
    nodes = [vertex.attributes() for vertex in graph.vs]
    ids = graph.vs["id"]
    return nodes, [{**edge.attributes(), "source": ids[edge.source], "target": ids[edge.target]} for edge in graph.es]


def read_lines(path: Path) -> Rows:
    """Return the lines of a CSV file by its header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_neo4j(paths: list[Path]) -> Tables:
    """Return the rows of CSV files for Neo4j, whose headers have types."""
    ends = {":START_ID": "source", ":END_ID": "target"}
    nodes, links = (
        [{ends.get(name, name.rpartition(":")[0]): text for name, text in row.items()} for row in read_lines(path)]
        for path in paths[:2]
    )
    return nodes, links


def read_npz(paths: list[Path]) -> Tables:
    """Return the rows of a NumPy file, which is an adjacency matrix of SciPy too."""
    matrix = sp.load_npz(paths[0])
    with np.load(paths[0]) as file:
        arrays = {name: file[name] for name in file.files}
    assert isinstance(matrix, sp.csr_array) and not any(array.dtype == object for array in arrays.values())

    def read_column(name: str) -> list[Any]:
        values: list[Any] = (
            plain_table(
                pa.table({"": pa.array(arrays[name].tolist() if arrays[name].dtype.kind == "U" else arrays[name])})
            )[""].to_pylist()
            if name in arrays and arrays[name].ndim
            else []
        )
        if f"{name}_indptr" in arrays:
            flat = arrays[f"{name}_indices"].tolist()
            values = [flat[start:end] for start, end in pairwise(arrays[f"{name}_indptr"])]
        missing = arrays.get(f"{name}.missing", np.zeros(len(values), bool))
        return [None if gone else value for value, gone in zip(values, missing, strict=True)]

    def read_rows(prefix: str) -> Rows:
        own = [name.removeprefix(prefix) for name in arrays if name.startswith("link.") == bool(prefix)]
        names = dict.fromkeys(
            name.removesuffix("_indptr") for name in own if not name.endswith(("_indices", ".missing"))
        )
        count = len(arrays["link.source" if prefix else "id"])
        columns = {name: values for name in names if len(values := read_column(prefix + name)) == count}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    nodes, links = read_rows(""), read_rows("link.")
    kinds, codes = arrays["link.kinds"].tolist(), arrays["link.kind"].tolist()
    for number, row in enumerate(links):
        assert matrix[row["source"], row["target"]] == matrix[row["target"], row["source"]] == np.float32(row["weight"])
        row |= {
            "kind": kinds[codes[number]],
            "source": nodes[row["source"]]["id"],
            "target": nodes[row["target"]]["id"],
        }
    assert matrix.nnz == 2 * len(links)
    return nodes, links


def read_cyjs(paths: list[Path]) -> Tables:
    """Return the rows of a file of Cytoscape, which NetworkX reads too."""
    whole = json.loads(paths[0].read_text(encoding="utf-8"))
    nodes, links = ([each["data"] for each in whole["elements"][name]] for name in ("nodes", "edges"))
    assert all(link["interaction"] == link["kind"] for link in links)
    assert nodes[0]["id"] != nodes[0]["value"] or len(nx.cytoscape_graph(whole)) == len(nodes)
    return [{**node, "id": node["value"]} for node in nodes], [{**link, **_replace_ends(link, nodes)} for link in links]


def _replace_ends(link: Mapping[str, Any], nodes: Rows) -> dict[str, Any]:
    values = {node["id"]: node["value"] for node in nodes}
    return {end: values[link[end]] for end in ("source", "target")}


def read_workbook(paths: list[Path]) -> Tables:
    """Return the rows of a workbook; links have the names of their ends unless these are the ids."""
    found, chosen = sheets(paths[0]), titles(paths[0])
    names = {row["id"]: row["name"] for row in found["nodes"]}
    for row in found["links"] if any(one != name for one, name in names.items()) else ():
        assert (row["source_name"], row["target_name"]) == (names[row["source"]], names[row["target"]])
    return [{**row, "cells": ranks(row["cells"], chosen)} for row in found["nodes"]], found["links"]


def read_parquet(paths: list[Path]) -> Tables:
    """Return the rows of Parquet files."""
    nodes, links = (plain_table(pq.read_table(path)).to_pylist() for path in paths)
    return nodes, links


READERS: dict[str, Callable[[list[Path]], Tables]] = {
    ".graphml": lambda paths: read_graph(nx.read_graphml(paths[0])),
    ".gexf": lambda paths: read_graph(nx.read_gexf(paths[0]), label="query_label"),
    ".xlsx": read_workbook,
    ".csv": lambda paths: (read_lines(paths[0]), read_lines(paths[1])),
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".json": lambda paths: read_graph(nx.node_link_graph(json.loads(paths[0].read_text("utf-8")), edges="links")),
    ".cyjs": read_cyjs,
    ".neo4j.csv": read_neo4j,
}
"""Every format that gives the complete network back; a map of VOSviewer has a test of its own."""
