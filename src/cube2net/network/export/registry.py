"""Writing a network to a file; the suffix of the path chooses the format.

CSV and Parquet need a file for each of the two tables: ``network.csv`` becomes ``network.nodes.csv`` and
``network.links.csv``. Every format keeps all columns of ``Network.nodes`` and ``Network.links`` and the recipe; CSV has
no place for the recipe, which goes into ``network.recipe.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from cube2net._util.files import check_path, write_files
from cube2net.errors import ParameterError, quote
from cube2net.model.interfaces import Exporter, Registry, expect
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
"""By suffix: the functions that write a network's files, by what is inserted before the suffix in their names."""

SAFE_EXPORTS: dict[str, Mapping[str, Exporter]] = {
    suffix: {part: partial(writer, spreadsheet_safe=True) for part, writer in writers.items()}
    for suffix, writers in {".csv": CSV, ".neo4j.csv": NEO4J}.items()
}
"""The same for tables of texts, in which fields that spreadsheets would run as formulas are escaped."""


def export_network(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write a network to a path and return the paths of all files written.

    The files are written aside and renamed, so that they are complete or existing ones are unchanged. CSV keeps names
    such as ``=1+1``, which spreadsheets run as formulas; ``spreadsheet_safe`` puts an apostrophe before these, also in
    ids.
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
    """Return the longest suffix of a known format that a path ends in; its own suffix if there is none.

    >>> find_suffix(Path("net.CSV")), find_suffix(Path("net.neo4j.csv")), find_suffix(Path("net.txt"))
    ('.csv', '.neo4j.csv', '.txt')
    """
    if path.suffix.lower() not in EXPORTS:
        EXPORTS.load_plugins()
    fitting = [suffix for suffix in EXPORTS if path.name.lower().endswith(suffix) and len(path.name) > len(suffix)]
    return max(fitting, key=len, default=path.suffix)


def list_files(path: Path) -> dict[str, Path]:
    """Return the files of a network by their content, with the recipe's if the format has no place for it.

    >>> [str(file) for file in list_files(Path("net.csv")).values()]
    ['net.nodes.csv', 'net.links.csv', 'net.recipe.json']
    """
    suffix = find_suffix(path)
    stem, end = path.name[: -len(suffix)], path.name[-len(suffix) :]
    files = {part: path.with_name(f"{stem}{part}{end}") for part in EXPORTS[suffix]}
    return files | ({RECIPE: path.with_suffix(RECIPE)} if suffix in SAFE_EXPORTS else {})


def can_be_safe(path: Path) -> bool:
    """Return whether the format of a path has fields that can be escaped for spreadsheets."""
    return find_suffix(path) in SAFE_EXPORTS


def check_network_path(path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Raise if a network cannot be written to a path, or not with ``spreadsheet_safe``."""
    check_path(path, [path.suffix.lower()] if find_suffix(path) in EXPORTS else EXPORTS, "network file")
    if spreadsheet_safe and find_suffix(path) not in SAFE_EXPORTS:
        safe = " (a workbook runs no text: leave it out)" if find_suffix(path) == ".xlsx" else ""
        raise ParameterError(f"spreadsheet_safe guards the cells of a .csv file, got {quote(path.suffix)}{safe}")
