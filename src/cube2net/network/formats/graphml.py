"""GraphML: read by NetworkX, igraph, Gephi, yEd and Cytoscape."""

from __future__ import annotations

from pathlib import Path

from cube2net.network.formats.plain import about, distinct, ranks, rows, texts, written
from cube2net.network.formats.xml import ADVICE, escape
from cube2net.records import Network

KEYS = (
    ("graph", "form", "string"),
    ("graph", "dimensions", "string"),
    ("graph", "selected", "string"),
    ("node", "name", "string"),
    ("node", "kind", "string"),
    ("node", "in_query", "boolean"),
    ("node", "label", "string"),
    ("node", "cells", "string"),
    ("node", "query_links", "int"),
    ("edge", "weight", "double"),
    ("edge", "kind", "string"),
)
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
NODE = (
    '<node id="{}">{}<data key="node.name">{}</data><data key="node.kind">{}</data>'
    '<data key="node.in_query">{}</data><data key="node.label">{}</data>'
    '<data key="node.cells">{}</data><data key="node.query_links">{}</data></node>\n'
)
EDGE = '<edge source="{}" target="{}"><data key="edge.weight">{}</data><data key="edge.kind">{}</data></edge>\n'


def write_graphml(network: Network, path: Path) -> None:
    """Write a network as GraphML: the id of a node is the id of its object, ``cells`` are ranks with spaces between.

    Where an id has an ``&``, ids are repeated as an attribute, because igraph does not decode it in the
    id of an element. The graph itself carries ``form``, ``dimensions`` and ``selected``, one cell a line.
    """
    ids = distinct([escape(key) for key in texts(network.nodes, "id")], ADVICE)
    repeat = any("&amp;" in key for key in ids)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(HEAD)
        for owner, name, kind in (*KEYS, ("node", "id", "string")) if repeat else KEYS:
            out.write(f'<key id="{owner}.{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n')
        out.write('<graph id="network" edgedefault="undirected">\n')
        for name, value in about(network).items():
            text = value if isinstance(value, str) else "\n".join(value)
            out.write(f'<data key="graph.{name}">{escape(text)}</data>\n')
        for key, (_, name, kind, inside, label, cells, links) in zip(ids, rows(network.nodes), strict=True):
            truth = "true" if inside else "false"
            again = f'<data key="node.id">{key}</data>' if repeat else ""
            out.write(NODE.format(key, again, escape(name), escape(kind), truth, escape(label), ranks(cells), links))
        kinds = network.links["kind"].to_pylist()
        for a, b, weight, kind in zip(network.source, network.target, written(network.weight), kinds, strict=True):
            out.write(EDGE.format(ids[a], ids[b], weight, kind))
        out.write("</graph>\n</graphml>\n")
