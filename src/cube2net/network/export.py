"""A network in a file of any format, as a graph of NetworkX, igraph or PyTorch Geometric, or in numbers and texts.

``write`` picks the format by the suffix of the path. CSV and Parquet hold two tables, so they make two
files: ``network.csv`` becomes ``network.nodes.csv`` and ``network.links.csv``. Every format keeps the ids,
which nodes are the query, every other column of ``Network.nodes``, the weights and the kinds of the links.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.atomic_files import check_path, write_files
from cube2net.errors import ParameterError, quoted
from cube2net.extras import require
from cube2net.interfaces import Exporter
from cube2net.network.table_formats import (
    LINK_KINDS,
    about,
    distinct,
    rows,
    texts,
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

if TYPE_CHECKING:
    import igraph
    import networkx
    from torch_geometric.data import Data

ADVICE = "rename them in the source"
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


def to_networkx(network: Network) -> networkx.Graph:
    """Return a NetworkX graph: nodes are ids with every attribute, links carry ``weight`` and ``kind``.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    networkx.Graph
        Nodes have ``name``, ``kind``, ``in_query``, ``label``, ``cells`` (the ranks of the chosen cells that hold them,
        from 1) and ``query_links``; the kind of a link is ``"link"`` or ``"membership"``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> print(c2n.to_networkx(network))
    Graph with 104 nodes and 422 edges
    """
    require("a NetworkX graph", "networkx")
    import networkx

    columns = network.nodes.column_names[1:]
    ids = distinct(network.nodes["id"].to_pylist(), ADVICE)
    graph = networkx.Graph(**about(network))
    graph.add_nodes_from((key, dict(zip(columns, row, strict=True))) for key, *row in rows(network.nodes))
    kinds = network.links["kind"].to_pylist()
    graph.add_edges_from(
        (ids[source], ids[target], {"weight": weight, "kind": kind})
        for source, target, weight, kind in zip(
            network.source, network.target, network.weight.tolist(), kinds, strict=True
        )
    )
    return graph


def to_igraph(network: Network) -> igraph.Graph:
    """Return an igraph graph: vertex i is node i with every attribute, edges carry ``weight`` and ``kind``.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    igraph.Graph
        Undirected; vertices have the columns of ``network.nodes`` as attributes.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> graph = c2n.to_igraph(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> graph.vcount(), graph.ecount(), graph.vs[0]["id"]
    (104, 422, 'o1')
    """
    require("an igraph graph", "igraph")
    import igraph

    columns = zip(*rows(network.nodes), strict=True)
    return igraph.Graph(
        n=len(network),
        edges=np.column_stack([network.source, network.target]).tolist(),
        directed=False,
        graph_attrs=about(network),
        vertex_attrs={name: list(column) for name, column in zip(network.nodes.column_names, columns, strict=True)},
        edge_attrs={"weight": network.weight.tolist(), "kind": network.links["kind"].to_pylist()},
    )


def to_pyg(network: Network) -> Data:
    """Return a PyTorch Geometric ``Data`` whose row i is node i, every link in both directions.

    Parameters
    ----------
    network
        The network of :func:`construct`.

    Returns
    -------
    torch_geometric.data.Data
        Tensors: ``edge_index``, ``edge_weight``, ``edge_kind`` (into ``edge_kind_names``), ``seed_mask`` (the query),
        ``kind`` (into ``kind_names``), ``query_links``, and ``y``, the labels of the query (into ``label_names``, -1
        where there is none). Lists: ``ids``, ``names`` and ``cells``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> data = c2n.to_pyg(c2n.construct(c2n.build_cube(planted.corpus), planted.query(0)))
    >>> data.num_nodes, data.num_edges, int(data.seed_mask.sum())
    (104, 844, 50)
    """
    require("a PyTorch Geometric graph", "torch", "torch_geometric")
    import torch
    from torch_geometric.data import Data

    def tensor(values: Any, kind: Any) -> Any:
        return torch.from_numpy(np.array(values, dtype=kind))

    nodes = network.nodes
    kind_names, kinds = _codes(texts(nodes, "kind"))
    label_names, labels = _codes(texts(nodes, "label"), missing="")
    named = texts(network.links, "kind")
    link_names = [*LINK_KINDS, *sorted(set(named) - set(LINK_KINDS))]
    link_kinds = [link_names.index(kind) for kind in named]
    return Data(
        num_nodes=len(network),
        edge_index=tensor([[*network.source, *network.target], [*network.target, *network.source]], np.int64),
        edge_weight=tensor(np.tile(network.weight, 2), np.float32),
        edge_kind=tensor(np.tile(link_kinds, 2), np.int64),
        edge_kind_names=link_names,
        seed_mask=tensor(network.in_query, np.bool_),
        kind=tensor(kinds, np.int64),
        kind_names=kind_names,
        query_links=tensor(nodes["query_links"].to_numpy(), np.int64),
        y=tensor(labels, np.int64),
        label_names=label_names,
        ids=texts(nodes, "id"),
        names=texts(nodes, "name"),
        cells=nodes["cells"].to_pylist(),
        **about(network),
    )


def _codes(values: list[str], missing: str | None = None) -> tuple[list[str], Array]:
    names = sorted(set(values) - {missing})
    code = {name: number for number, name in enumerate(names)}
    return names, np.array([code.get(value, -1) for value in values], dtype=np.int64)


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
