"""A network in a file of any format, as another library's graph, or in numbers and texts.

``write`` picks the format by the suffix of the path. CSV and Parquet hold two tables, so they make two
files: ``network.csv`` becomes ``network.nodes.csv`` and ``network.links.csv``. Every format keeps the ids,
which nodes are the query, every other column of ``Network.nodes``, the weights and the kinds of the links.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

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

__all__ = ["EXPORTS", "check_network_path", "summary", "to_igraph", "to_networkx", "to_pyg", "to_scipy", "write"]

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


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    selection, settings = network.selection, network.settings
    gains = selection.gains(settings["empty_value"]).tolist()
    of_query = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(of_query, minlength=len(selection.cells)).tolist()
    brought = np.union1d(network.query.objects, selection.objects)
    held = network.brought_by.sizes[: len(network.query)] > 0
    joined = np.zeros(len(network), dtype=bool)
    joined[network.source] = joined[network.target] = True
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "levels": settings["levels"],
        "near": settings["near"],
        "near_weight": settings["near_weight"],
        "keep": settings["keep"],
        "membership": settings["membership"],
        "trust": settings["trust"],
        "value": selection.value if len(selection.cells) else None,
        "bound": selection.bound,
        "gap": selection.gap,
        "proven": None if selection.bound is None else selection.proven,
        "note": selection.note or None,
        "cells": [
            {
                "labels": dict(zip(network.dimensions, labels, strict=True)),
                "gain": gain,
                "objects": size,
                "query_objects": shared,
            }
            for labels, gain, size, shared in zip(
                network.labels, gains, settings["cell_objects"], in_query, strict=True
            )
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form in ("cells", "woven") else len(brought) - len(network.objects),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }
