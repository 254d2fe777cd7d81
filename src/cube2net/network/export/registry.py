"""A network in a file of any format, or as a graph of NetworkX or igraph.

``write`` picks the format by the suffix of the path. CSV and Parquet hold two tables, so they make several files:
``network.csv`` becomes ``network.nodes.csv`` and ``network.links.csv``. Every format keeps the ids, which nodes are the
query, every other column of ``Network.nodes`` and ``Network.links``, and the recipe; CSV has no place for that, so it
stands beside it, as ``network.recipe.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from cube2net._util.files import check_path, write_files
from cube2net._util.packages import Registry
from cube2net.errors import ParameterError, quoted
from cube2net.model.arguments import expect
from cube2net.model.interfaces import Exporter
from cube2net.model.network import Network
from cube2net.network.export.json import write_cyjs, write_json, write_vosviewer
from cube2net.network.export.tables import (
    write_links_csv,
    write_links_parquet,
    write_neo4j_links,
    write_neo4j_nodes,
    write_nodes_csv,
    write_nodes_parquet,
    write_npz,
    write_recipe,
)
from cube2net.network.export.xlsx import write_workbook
from cube2net.network.export.xml import write_gexf, write_graphml

NODES, LINKS, RECIPE = ".nodes", ".links", ".recipe.json"

CSV = {NODES: write_nodes_csv, LINKS: write_links_csv}
NEO4J = {NODES: write_neo4j_nodes, LINKS: write_neo4j_links}
EXPORTS: Registry[Mapping[str, Exporter]] = Registry(
    "cube2net.exports",
    {
        ".graphml": {"": write_graphml},
        ".gexf": {"": write_gexf},
        ".xlsx": {"": write_workbook},
        ".csv": CSV,
        ".parquet": {NODES: write_nodes_parquet, LINKS: write_links_parquet},
        ".npz": {"": write_npz},
        ".json": {"": write_json},
        ".cyjs": {"": write_cyjs},
        ".vosviewer.json": {"": write_vosviewer},
        ".neo4j.csv": NEO4J,
    },
    adapt=lambda write: {"": write},
)
"""By suffix: what stands before the suffix in the name of each file, and who writes that file."""

SAFE_EXPORTS: dict[str, Mapping[str, Exporter]] = {
    suffix: {part: partial(writer, spreadsheet_safe=True) for part, writer in writers.items()}
    for suffix, writers in {".csv": CSV, ".neo4j.csv": NEO4J}.items()
}
"""The same, for tables of texts: fields that spreadsheets would run as formulas are guarded."""


def write(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Return the paths written: one, or several where the format holds two tables and the recipe stands beside them.

    The files are written aside and renamed: they are whole, or what stood there before is untouched. CSV keeps every
    name to the letter, also names such as ``=1+1``, which spreadsheets run as formulas; ``spreadsheet_safe`` puts an
    apostrophe before these, ids included.
    """
    expect(Network, network, "network")
    path = Path(path)
    check_network_path(path, spreadsheet_safe=spreadsheet_safe)
    suffix = find_suffix(path)
    exports = SAFE_EXPORTS if spreadsheet_safe else EXPORTS
    files = list_files(path)
    writers = {files[part]: partial(exporter, network) for part, exporter in exports[suffix].items()}
    if RECIPE in files and network.recipe is not None:
        writers[files[RECIPE]] = partial(write_recipe, network)
    return write_files(writers)


def find_suffix(path: Path) -> str:
    """Return the suffix of the format that a path names, the longest that fits; its own where none does.

    >>> find_suffix(Path("net.CSV")), find_suffix(Path("net.neo4j.csv")), find_suffix(Path("net.txt"))
    ('.csv', '.neo4j.csv', '.txt')
    """
    if path.suffix.lower() not in EXPORTS:
        EXPORTS.load_plugins()
    fitting = [suffix for suffix in EXPORTS if path.name.lower().endswith(suffix) and len(path.name) > len(suffix)]
    return max(fitting, key=len, default=path.suffix)


def list_files(path: Path) -> dict[str, Path]:
    """Return the files of a network by what they hold, the recipe's where the format has no place for it.

    >>> [str(file) for file in list_files(Path("net.csv")).values()]
    ['net.nodes.csv', 'net.links.csv', 'net.recipe.json']
    """
    suffix = find_suffix(path)
    stem, end = path.name[: -len(suffix)], path.name[-len(suffix) :]
    files = {part: path.with_name(f"{stem}{part}{end}") for part in EXPORTS[suffix]}
    return files | ({RECIPE: path.with_suffix(RECIPE)} if suffix in SAFE_EXPORTS else {})


def can_be_safe(path: Path) -> bool:
    """Return whether a format is one whose fields can be guarded from spreadsheets."""
    return find_suffix(path) in SAFE_EXPORTS


def check_network_path(path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Raise unless a network can be written at a path, safe for spreadsheets where asked."""
    check_path(path, [path.suffix.lower()] if find_suffix(path) in EXPORTS else EXPORTS, "network file")
    if spreadsheet_safe and find_suffix(path) not in SAFE_EXPORTS:
        safe = " (a workbook runs no text: leave it out)" if find_suffix(path) == ".xlsx" else ""
        raise ParameterError(f"spreadsheet_safe guards the cells of a .csv file, got {quoted(path.suffix)}{safe}")
