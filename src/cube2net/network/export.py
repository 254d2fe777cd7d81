"""A network in a file of any format, or as another library's graph.

``write`` picks the format by the suffix of the path. CSV and Parquet hold two tables, so they make two
files: ``network.csv`` becomes ``network.nodes.csv`` and ``network.links.csv``. Every format keeps the ids,
which nodes are the query, every other column of ``Network.nodes``, the weights and the kinds of the links.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from cube2net.atomic_files import check_path, write_files
from cube2net.errors import ParameterError, quoted
from cube2net.interfaces import Exporter
from cube2net.network.graph_objects import to_igraph, to_networkx, to_pyg
from cube2net.network.table_formats import (
    to_scipy,
    write_json,
    write_links_csv,
    write_links_parquet,
    write_nodes_csv,
    write_nodes_parquet,
    write_npz,
)
from cube2net.network.xml_formats import write_gexf, write_graphml
from cube2net.records import Network

__all__ = ["EXPORTS", "check_network_path", "to_igraph", "to_networkx", "to_pyg", "to_scipy", "write"]

CSV = {".nodes": write_nodes_csv, ".links": write_links_csv}
EXPORTS: dict[str, Mapping[str, Exporter]] = {
    ".graphml": {"": write_graphml},
    ".gexf": {"": write_gexf},
    ".csv": CSV,
    ".parquet": {".nodes": write_nodes_parquet, ".links": write_links_parquet},
    ".npz": {"": write_npz},
    ".json": {"": write_json},
}
"""By suffix: what stands before the suffix in the name of each file, and who writes that file."""

SAFE_EXPORTS: dict[str, Mapping[str, Exporter]] = {
    ".csv": {part: partial(writer, spreadsheet_safe=True) for part, writer in CSV.items()},
}
"""The same, for formats that spreadsheets open: cells that these would run as formulas are guarded."""


def write(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Return the paths written: one, or two where the format holds two tables.

    The files are written aside and renamed: they are whole, or what stood there before is untouched. CSV keeps every
    name to the letter, also names such as ``=1+1``, which spreadsheets run as formulas; ``spreadsheet_safe`` puts an
    apostrophe before these, ids included.
    """
    path = Path(path)
    check_network_path(path, spreadsheet_safe=spreadsheet_safe)
    exports = SAFE_EXPORTS if spreadsheet_safe else EXPORTS
    return write_files(
        {
            path.with_name(f"{path.stem}{part}{path.suffix}"): partial(exporter, network)
            for part, exporter in exports[path.suffix.lower()].items()
        }
    )


def check_network_path(path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Raise unless a network can be written at a path, safe for spreadsheets where asked."""
    check_path(path, EXPORTS, "network file")
    if spreadsheet_safe and path.suffix.lower() not in SAFE_EXPORTS:
        raise ParameterError(f"spreadsheet_safe guards the cells of a .csv file, got {quoted(path.suffix)}")
