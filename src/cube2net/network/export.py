"""A network in a file of any format, or as another library's graph.

``write`` picks the format by the suffix of the path. CSV and Parquet hold two tables, so they make two
files: ``network.csv`` becomes ``network.nodes.csv`` and ``network.links.csv``. Every format keeps the ids,
which nodes are the query, every other column of ``Network.nodes``, the weights and the kinds of the links.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from cube2net.aside import check_path, write_files
from cube2net.interfaces import Exporter
from cube2net.network.formats.gexf import write_gexf
from cube2net.network.formats.graphml import write_graphml
from cube2net.network.formats.npz import to_scipy, write_npz
from cube2net.network.formats.python import to_igraph, to_networkx, to_pyg
from cube2net.network.formats.tables import (
    write_json,
    write_links_csv,
    write_links_parquet,
    write_nodes_csv,
    write_nodes_parquet,
)
from cube2net.records import Network

__all__ = ["EXPORTS", "to_igraph", "to_networkx", "to_pyg", "to_scipy", "write"]

EXPORTS: dict[str, Mapping[str, Exporter]] = {
    ".graphml": {"": write_graphml},
    ".gexf": {"": write_gexf},
    ".csv": {".nodes": write_nodes_csv, ".links": write_links_csv},
    ".parquet": {".nodes": write_nodes_parquet, ".links": write_links_parquet},
    ".npz": {"": write_npz},
    ".json": {"": write_json},
}
"""By suffix: what stands before the suffix in the name of each file, and who writes that file."""


def write(network: Network, path: str | Path) -> list[Path]:
    """Return the paths written: one, or two where the format holds two tables.

    The files are written aside and renamed: they are whole, or what stood there before is untouched.
    """
    path = Path(path)
    check_path(path, EXPORTS, "network file")
    return write_files(
        {
            path.with_name(f"{path.stem}{part}{path.suffix}"): partial(exporter, network)
            for part, exporter in EXPORTS[path.suffix.lower()].items()
        }
    )
