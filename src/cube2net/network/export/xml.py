"""A network as GraphML (NetworkX, igraph, Gephi, yEd, Cytoscape) and as GEXF (Gephi)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from cube2net.model.network import Network
from cube2net.model.objects import distinct_names
from cube2net.network.export.plain_tables import (
    Ends,
    choose_format,
    describe_form,
    list_ends,
    list_ids,
    name_type,
    plain_nodes,
    require_distinct,
)

GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
GEXF_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<meta><creator>cube2net</creator><description>{}</description></meta>
<graph mode="static" defaultedgetype="{}">
"""
GEXF_KINDS = {"int": "integer"}
GEXF_LABEL = "query_label"
RECIPE_PREFIX = "recipe: "
"""Prefix of the last line of a GEXF's description, which is the recipe."""
XML_ADVICE = "XML cannot tell them apart: write .json, .csv or .parquet instead"

_ESCAPES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    **{code: f"&#{code};" for code in (0x09, 0x0A, 0x0D)},
    **dict.fromkeys((65534, 65535, *range(55296, 57344)), "�"),
    **{ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"},
}


def write_graphml(network: Network, path: Path) -> None:
    """Write a network as GraphML; a node has the id of its object, and the ranks in ``cells`` have spaces between.

    If an id has an ``&`` or is an integer, ids are repeated as an attribute: igraph does not decode the id of an
    element, and it is always a text. The graph has ``form``, ``dimensions``, ``selected`` (one cell a line) and
    ``recipe``. Missing values are absent.
    """
    ids = require_distinct([escape(str(key)) for key in list_ids(network)], XML_ADVICE)
    nodes, ends = plain_nodes(network), list_ends(network)
    repeats_ids = any("&amp;" in key for key in ids) or pa.types.is_integer(nodes.schema.field("id").type)
    nodes = nodes if repeats_ids else nodes.drop_columns(["id"])
    data = {
        name: value if isinstance(value, str) else "\n".join(value) for name, value in describe_form(network).items()
    }
    if network.recipe is not None:
        data["recipe"] = network.recipe.to_json()
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GRAPHML_HEAD)
        for name in data:
            out.write(f'<key id="graph.{name}" for="graph" attr.name="{name}" attr.type="string"/>\n')
        for owner, table in (("node", nodes), ("edge", ends.columns)):
            for number, name, kind in _list_columns(table.column_names, table):
                key = f'<key id="{owner}.{number}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n'
                out.write(key)
        out.write(f'<graph id="network" edgedefault="{_name_direction(ends)}">\n')
        for name, text in data.items():
            out.write(f'<data key="graph.{name}">{escape(text)}</data>\n')
        for key, values in zip(ids, _format_rows(nodes, '<data key="node.{}">', "</data>"), strict=True):
            out.write(f'<node id="{key}">{values}</node>\n')
        links = _format_rows(ends.columns, '<data key="edge.{}">', "</data>")
        for a, b, values in zip(ends.source.tolist(), ends.target.tolist(), links, strict=True):
            out.write(f'<edge source="{ids[a]}" target="{ids[b]}">{values}</edge>\n')
        out.write("</graph>\n</graphml>\n")


def write_gexf(network: Network, path: Path) -> None:
    """Write a network as GEXF 1.2; the label of a node in GEXF is the name of its object.

    The user's label of a query object is therefore called ``query_label``. The ranks in ``cells`` have spaces between;
    the description lists the cells in the order chosen, one a line, and the recipe last. Missing values are absent.
    """
    ids = require_distinct([escape(str(key)) for key in list_ids(network)], XML_ADVICE)
    nodes, ends = plain_nodes(network), list_ends(network)
    names = [escape(name) for name in nodes["name"].to_pylist()]
    if not pa.types.is_integer(nodes.schema.field("id").type):
        nodes = nodes.drop_columns(["id"])
    weights, links = ends.columns["weight"].to_pylist(), ends.columns.drop_columns(["weight"])
    description = list(describe_form(network)["selected"])
    if network.recipe is not None:
        description.append(RECIPE_PREFIX + network.recipe.to_json())
    titles = [GEXF_LABEL if name == "label" else name for name in nodes.column_names]
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GEXF_HEAD.format(escape("\n".join(description)), _name_direction(ends)))
        for owner, table, columns in (("node", nodes, titles), ("edge", links, links.column_names)):
            out.write(f'<attributes class="{owner}" mode="static">\n')
            for number, title, kind in _list_columns(columns, table):
                gexf_kind = GEXF_KINDS.get(kind, kind)
                out.write(f'<attribute id="{owner}.{number}" title="{title}" type="{gexf_kind}"/>\n')
            out.write("</attributes>\n")
        out.write("<nodes>\n")
        rows = _format_rows(nodes, '<attvalue for="node.{}" value="', '"/>')
        for key, name, values in zip(ids, names, rows, strict=True):
            out.write(f'<node id="{key}" label="{name}"><attvalues>{values}</attvalues></node>\n')
        out.write("</nodes>\n<edges>\n")
        rows = _format_rows(links, '<attvalue for="edge.{}" value="', '"/>')
        edges = zip(ends.source.tolist(), ends.target.tolist(), weights, rows, strict=True)
        for number, (a, b, weight, values) in enumerate(edges):
            begin = f'<edge id="{number}" source="{ids[a]}" target="{ids[b]}" weight="{weight}">'
            out.write(f"{begin}<attvalues>{values}</attvalues></edge>\n")
        out.write("</edges>\n</graph>\n</gexf>\n")


def escape(text: str) -> str:
    r"""Return a text that is safe inside an element or a quoted attribute; line breaks and tabs are kept.

    XML 1.0 cannot express other control characters: they become the signs that picture them. Lone surrogates and code
    points that are no characters become U+FFFD.

    >>> print(escape('a "b" & <c>\n\x01'))
    a &quot;b&quot; &amp; &lt;c&gt;&#10;␁
    """
    return text.translate(_ESCAPES)


_escape_cached = lru_cache(maxsize=65536)(escape)


def _name_direction(ends: Ends) -> str:
    return "directed" if ends.directed else "undirected"


def _list_columns(names: Sequence[str], table: pa.Table) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the distinct name and the type of every column."""
    titles = distinct_names([escape(name) for name in names])
    for number, (title, kind) in enumerate(zip(titles, table.schema.types, strict=True)):
        yield number, title, name_type(kind)


def _format_rows(table: pa.Table, before: str, after: str) -> Iterator[str]:
    """Yield every row as text, each value between ``before``, with the number of its column, and ``after``."""
    for batch in table.to_batches(max_chunksize=4096):
        columns = []
        for number, column in enumerate(batch.columns):
            begin, kind = before.format(number), column.type
            is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            values = column.to_pylist()
            if not is_number:
                text = choose_format(kind)
                values = [None if value is None else _escape_cached(text(value)) for value in values]
            columns.append(["" if value is None else f"{begin}{value}{after}" for value in values])
        yield from map("".join, zip(*columns, strict=True))
