"""Two tables, nodes and links: as CSV, as Parquet, or together as node-link JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from cube2net.atomic_files import write_table
from cube2net.network.formats.plain import about, ranks, rows, written
from cube2net.records import Network


def write_nodes_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a node; ``cells`` are ranks with spaces between."""
    lines = (
        (key, name, kind, "true" if inside else "false", label, ranks(cells), links)
        for key, name, kind, inside, label, cells, links in rows(network.nodes)
    )
    write_table(path, network.nodes.column_names, lines, spreadsheet_safe=spreadsheet_safe)


def write_links_csv(network: Network, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write one line a link, each link once."""
    weights = written(network.weight)
    lines = (
        (source, target, weight, kind)
        for (source, target, _, kind), weight in zip(rows(network.links), weights, strict=True)
    )
    write_table(path, network.links.column_names, lines, spreadsheet_safe=spreadsheet_safe)


def write_nodes_parquet(network: Network, path: Path) -> None:
    """Write the table of nodes, ``cells`` as lists."""
    _parquet(network, network.nodes, path)


def write_links_parquet(network: Network, path: Path) -> None:
    """Write the table of links, each link once."""
    _parquet(network, network.links, path)


def write_json(network: Network, path: Path) -> None:
    """Write the node-link JSON of d3; in NetworkX: ``node_link_graph(json.load(file), edges="links")``."""
    names = network.nodes.column_names
    ends = network.links.column_names
    weights = written(network.weight)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('{"directed": false, "multigraph": false,\n"graph": ' + _json(about(network)) + ',\n"nodes": [')
        for number, row in enumerate(rows(network.nodes)):
            out.write((",\n" if number else "\n") + _json(dict(zip(names, row, strict=True))))
        out.write('\n],\n"links": [')
        for number, ((source, target, _, kind), weight) in enumerate(zip(rows(network.links), weights, strict=True)):
            link = dict(zip(ends, (source, target, float(weight), kind), strict=True))
            out.write((",\n" if number else "\n") + _json(link))
        out.write("\n]}\n")


def _parquet(network: Network, table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    with path.open("wb") as out:
        parquet.write_table(table.replace_schema_metadata({"cube2net": _json(about(network))}), out)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
