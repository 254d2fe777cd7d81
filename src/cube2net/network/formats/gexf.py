"""GEXF: Gephi's own format."""

from __future__ import annotations

from pathlib import Path

from cube2net.network.formats.plain import about, distinct, ranks, rows, texts, written
from cube2net.network.formats.xml import ADVICE, escape
from cube2net.records import Network

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
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
NODE = (
    '<node id="{0}" label="{1}"><attvalues><attvalue for="name" value="{1}"/><attvalue for="kind" value="{2}"/>'
    '<attvalue for="in_query" value="{3}"/><attvalue for="query_label" value="{4}"/>'
    '<attvalue for="cells" value="{5}"/><attvalue for="query_links" value="{6}"/></attvalues></node>\n'
)
EDGE = (
    '<edge id="{}" source="{}" target="{}" weight="{}">'
    '<attvalues><attvalue for="link_kind" value="{}"/></attvalues></edge>\n'
)


def write_gexf(network: Network, path: Path) -> None:
    """Write a network as GEXF 1.2: what GEXF calls the label of a node is the name of its object.

    The user's own label of a query object therefore stands under ``query_label``. ``cells`` are ranks with
    spaces between, and the description lists the cells they mean, one a line in the order chosen.
    """
    ids = distinct([escape(key) for key in texts(network.nodes, "id")], ADVICE)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(HEAD.format(escape("\n".join(about(network)["selected"]))))
        out.write("<nodes>\n")
        for key, (_, name, kind, inside, label, cells, links) in zip(ids, rows(network.nodes), strict=True):
            truth = "true" if inside else "false"
            out.write(NODE.format(key, escape(name), escape(kind), truth, escape(label), ranks(cells), links))
        out.write("</nodes>\n<edges>\n")
        kinds = network.links["kind"].to_pylist()
        facts = zip(network.source, network.target, written(network.weight), kinds, strict=True)
        for number, (a, b, weight, kind) in enumerate(facts):
            out.write(EDGE.format(number, ids[a], ids[b], weight, kind))
        out.write("</edges>\n</graph>\n</gexf>\n")
