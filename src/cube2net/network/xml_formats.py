"""GraphML, read by NetworkX, igraph, Gephi, yEd and Cytoscape, and GEXF, Gephi's own format."""

from __future__ import annotations

from pathlib import Path

from cube2net.network.table_formats import about, distinct, ranks, rows, texts, written
from cube2net.records import Network
from cube2net.records.network import NODES

GRAPHML_KEYS = (
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
GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
GRAPHML_NODE = (
    '<node id="{}">{}<data key="node.name">{}</data><data key="node.kind">{}</data>'
    '<data key="node.in_query">{}</data><data key="node.label">{}</data>'
    '<data key="node.cells">{}</data><data key="node.query_links">{}</data></node>\n'
)
GRAPHML_EDGE = '<edge source="{}" target="{}"><data key="edge.weight">{}</data><data key="edge.kind">{}</data></edge>\n'
GEXF_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<meta><creator>cube2net</creator><description>{}</description></meta>
<graph mode="static" defaultedgetype="undirected">
<attributes class="node" mode="static">
<attribute id="name" title="name" type="string"/>
<attribute id="kind" title="kind" type="string"/>
<attribute id="in_query" title="in_query" type="boolean"/>
<attribute id="query_label" title="query_label" type="string"/>
<attribute id="cells" title="cells" type="string"/>
<attribute id="query_links" title="query_links" type="integer"/>
</attributes>
<attributes class="edge" mode="static">
<attribute id="link_kind" title="kind" type="string"/>
</attributes>
"""
GEXF_NODE = (
    '<node id="{0}" label="{1}"><attvalues><attvalue for="name" value="{1}"/><attvalue for="kind" value="{2}"/>'
    '<attvalue for="in_query" value="{3}"/><attvalue for="query_label" value="{4}"/>'
    '<attvalue for="cells" value="{5}"/><attvalue for="query_links" value="{6}"/></attvalues></node>\n'
)
GEXF_EDGE = (
    '<edge id="{}" source="{}" target="{}" weight="{}">'
    '<attvalues><attvalue for="link_kind" value="{}"/></attvalues></edge>\n'
)
ADVICE = "XML cannot tell them apart: write .json, .csv or .parquet instead"

_ESCAPES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    **{code: f"&#{code};" for code in (0x09, 0x0A, 0x0D)},
    **dict.fromkeys((65534, 65535, *range(55296, 57344)), "�"),
    **{ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"},
}


def write_graphml(network: Network, path: Path) -> None:
    """Write a network as GraphML: the id of a node is the id of its object, ``cells`` are ranks with spaces between.

    Where an id has an ``&``, ids are repeated as an attribute, because igraph does not decode it in the
    id of an element. The graph itself carries ``form``, ``dimensions`` and ``selected``, one cell a line.
    """
    ids = distinct([escape(key) for key in texts(network.nodes, "id")], ADVICE)
    repeat = any("&amp;" in key for key in ids)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GRAPHML_HEAD)
        for owner, name, kind in (*GRAPHML_KEYS, ("node", "id", "string")) if repeat else GRAPHML_KEYS:
            out.write(f'<key id="{owner}.{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n')
        out.write('<graph id="network" edgedefault="undirected">\n')
        for name, value in about(network).items():
            text = value if isinstance(value, str) else "\n".join(value)
            out.write(f'<data key="graph.{name}">{escape(text)}</data>\n')
        for key, (_, name, kind, inside, label, cells, links) in zip(
            ids, rows(network.nodes.select(NODES)), strict=True
        ):
            truth = "true" if inside else "false"
            again = f'<data key="node.id">{key}</data>' if repeat else ""
            out.write(
                GRAPHML_NODE.format(key, again, escape(name), escape(kind), truth, escape(label), ranks(cells), links)
            )
        kinds = network.links["kind"].to_pylist()
        for a, b, weight, kind in zip(network.source, network.target, written(network.weight), kinds, strict=True):
            out.write(GRAPHML_EDGE.format(ids[a], ids[b], weight, escape(kind)))
        out.write("</graph>\n</graphml>\n")


def write_gexf(network: Network, path: Path) -> None:
    """Write a network as GEXF 1.2: what GEXF calls the label of a node is the name of its object.

    The user's own label of a query object therefore stands under ``query_label``. ``cells`` are ranks with
    spaces between, and the description lists the cells they mean, one a line in the order chosen.
    """
    ids = distinct([escape(key) for key in texts(network.nodes, "id")], ADVICE)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GEXF_HEAD.format(escape("\n".join(about(network)["selected"]))))
        out.write("<nodes>\n")
        for key, (_, name, kind, inside, label, cells, links) in zip(
            ids, rows(network.nodes.select(NODES)), strict=True
        ):
            truth = "true" if inside else "false"
            out.write(GEXF_NODE.format(key, escape(name), escape(kind), truth, escape(label), ranks(cells), links))
        out.write("</nodes>\n<edges>\n")
        kinds = network.links["kind"].to_pylist()
        facts = zip(network.source, network.target, written(network.weight), kinds, strict=True)
        for number, (a, b, weight, kind) in enumerate(facts):
            out.write(GEXF_EDGE.format(number, ids[a], ids[b], weight, escape(kind)))
        out.write("</edges>\n</graph>\n</gexf>\n")


def escape(text: str) -> str:
    r"""Return a text safe inside an element or a quoted attribute; line ends and tabs are kept.

    XML 1.0 has no way at all to write the other control characters: these become their pictures. Halves of signs and
    numbers that are none become the sign for a lost one.

    >>> print(escape('a "b" & <c>\n\x01'))
    a &quot;b&quot; &amp; &lt;c&gt;&#10;␁
    """
    return text.translate(_ESCAPES)
