"""A network as JSON: node-link (d3, NetworkX), Cytoscape's ``.cyjs``, and VOSviewer's map."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from cube2net.model.network import NODES, Network
from cube2net.network.export.plain_tables import (
    describe_with_recipe,
    format_json,
    iterate_records,
    list_ends,
    list_ids,
    name_type,
    plain_nodes,
    require_distinct,
)

MAX_CLUSTERS = 1000
"""VOSviewer's limit."""


def write_json(network: Network, path: Path) -> None:
    """Write d3's node-link JSON, which NetworkX reads by ``node_link_graph(json.load(file), edges="links")``."""
    ends, ids = list_ends(network), list_ids(network)
    links = (
        {"source": ids[a], "target": ids[b], **link}
        for a, b, link in zip(ends.source.tolist(), ends.target.tolist(), iterate_records(ends.columns), strict=True)
    )
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(f'{{"directed": {format_json(ends.directed)}, "multigraph": false,\n"graph": ')
        out.write(format_json(describe_with_recipe(network)) + ',\n"nodes": [')
        _write_all(out, iterate_records(plain_nodes(network)))
        out.write('\n],\n"links": [')
        _write_all(out, links)
        out.write("\n]}\n")


def write_cyjs(network: Network, path: Path) -> None:
    """Write Cytoscape's JSON. Its ids are texts; the original id is repeated as ``value``.

    The kind of a link is also its ``interaction``, as Cytoscape calls it.
    """
    ends, keys = list_ends(network), list_ids(network)
    ids = require_distinct([str(key) for key in keys])
    nodes = (
        {"data": {"value": key, **node, "id": text}}
        for text, key, node in zip(ids, keys, iterate_records(plain_nodes(network)), strict=True)
    )
    pairs = enumerate(zip(ends.source.tolist(), ends.target.tolist(), iterate_records(ends.columns), strict=True))
    links = (
        {"data": {**link, "id": f"link {at}", "source": ids[a], "target": ids[b], "interaction": link["kind"]}}
        for at, (a, b, link) in pairs
    )
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('{"format_version": "1.0", "generated_by": "cube2net", "target_cytoscapejs_version": "~2.1",\n')
        out.write(
            '"data": ' + format_json({"name": "network", "shared_name": "network", **describe_with_recipe(network)})
        )
        out.write(f',\n"directed": {format_json(ends.directed)}, "multigraph": false,\n"elements": {{"nodes": [')
        _write_all(out, nodes)
        out.write('\n],\n"edges": [')
        _write_all(out, links)
        out.write("\n]}}\n")


def write_vosviewer(network: Network, path: Path) -> None:
    """Write VOSviewer's map: items with clusters, weights and scores, and links with strengths.

    The clusters are the labels of the query, its objects without a label, other objects, and cells. The weights of an
    item are its number of links, their total strength, and its links into the query; numeric attributes are its scores,
    and all others are in its description.
    """
    nodes, ids = plain_nodes(network), list_ids(network)
    names, clusters = _assign_clusters(network)
    strength = np.zeros(len(network))
    for end in (network.source, network.target):
        np.add.at(strength, end, network.weight.astype(np.float64))
    counts = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network)).tolist()
    numbers = [
        field.name
        for field in nodes.schema
        if field.name not in NODES and name_type(field.type) in ("int", "long", "double")
    ]
    others = [name for name in nodes.column_names if name not in ("id", "name", "query_links", *numbers)]
    items = (
        {
            "id": key,
            "label": node["name"] or str(key),
            "description": "; ".join(
                f"{_format_html(name)}: {_format_html(node[name])}" for name in others if name in node
            ),
            "cluster": cluster,
            "weights": {"Links": count, "Total link strength": total, "Query links": node["query_links"]},
            **({"scores": scores} if (scores := {name: node[name] for name in numbers if name in node}) else {}),
        }
        for key, node, cluster, count, total in zip(
            ids, iterate_records(nodes), clusters, counts, np.round(strength, 6).tolist(), strict=True
        )
    )
    strengths = network.weight.astype(np.str_).astype(np.float64).tolist()
    links = (
        {"source_id": ids[a], "target_id": ids[b], "strength": weight}
        for a, b, weight in zip(network.source.tolist(), network.target.tolist(), strengths, strict=True)
    )
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('{"network": {"items": [')
        _write_all(out, items)
        out.write('\n],\n"links": [')
        _write_all(out, links)
        out.write('\n],\n"clusters": [')
        _write_all(out, ({"cluster": number, "label": name} for number, name in enumerate(names, 1)))
        out.write(
            '\n]},\n"info": {"title": "cube2net"},\n"cube2net": ' + format_json(describe_with_recipe(network)) + "}\n"
        )


def _write_all(out: TextIO, values: Iterable[object]) -> None:
    for number, value in enumerate(values):
        out.write((",\n" if number else "\n") + format_json(value))


def _assign_clusters(network: Network) -> tuple[list[str], list[int]]:
    """Return the names of the clusters, numbered from 1, and the number of every node's cluster."""
    labels = list(network.query.labels or [""] * len(network.query))
    named = sorted({label for label in labels if label})
    room = named[: MAX_CLUSTERS - 3]
    number = {label: at for at, label in enumerate(room, 1)}
    groups = [number.get(label, 0) for label in labels]
    groups += [-1] * (len(network.objects) - len(labels)) + [-2] * len(network.cells)
    names = list(room)
    for group, name in ((0, "query"), (-1, "other objects"), (-2, "cells")):
        if group in groups:
            names.append(name)
            groups = [len(names) if own == group else own for own in groups]
    return names, groups


def _format_html(value: Any) -> str:
    return html.escape(value if isinstance(value, str) else format_json(value), quote=False)
