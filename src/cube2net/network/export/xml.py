"""GraphML, read by NetworkX, igraph, Gephi, yEd and Cytoscape, and GEXF, Gephi's own format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from cube2net.model.network import Network
from cube2net.model.objects import distinct_names
from cube2net.network.export.plain_tables import about, as_text, distinct, list_ends, list_ids, name_type, plain_nodes

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
RECIPE = "recipe: "
"""What the last line of the description of a GEXF begins with, where the network has a recipe."""
ADVICE = "XML cannot tell them apart: write .json, .csv or .parquet instead"

_ESCAPES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    **{code: f"&#{code};" for code in (0x09, 0x0A, 0x0D)},
    **dict.fromkeys((65534, 65535, *range(55296, 57344)), "�"),
    **{ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"},
}


def write_graphml(network: Network, path: Path) -> None:
    """Write a network as GraphML: the id of a node is the id of its object, ``cells`` are ranks with spaces between.

    Where an id has an ``&``, ids are repeated as an attribute, because igraph does not decode it in the id of an
    element; whole numbers are too, for an element's id is a text. The graph itself carries ``form``, ``dimensions`` and
    ``selected``, one cell a line, and ``recipe``. What is missing is absent.
    """
    ids = distinct([escape(str(key)) for key in list_ids(network)], ADVICE)
    nodes, ends = plain_nodes(network), list_ends(network)
    repeat = any("&amp;" in key for key in ids) or pa.types.is_integer(nodes.schema.field("id").type)
    nodes = nodes if repeat else nodes.drop_columns(["id"])
    told = {name: value if isinstance(value, str) else "\n".join(value) for name, value in about(network).items()}
    if network.recipe is not None:
        told["recipe"] = network.recipe.to_json()
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GRAPHML_HEAD)
        for name in told:
            out.write(f'<key id="graph.{name}" for="graph" attr.name="{name}" attr.type="string"/>\n')
        _graphml_keys(out, "node", nodes)
        _graphml_keys(out, "edge", ends.columns)
        out.write(f'<graph id="network" edgedefault="{"directed" if ends.directed else "undirected"}">\n')
        for name, text in told.items():
            out.write(f'<data key="graph.{name}">{escape(text)}</data>\n')
        for key, data in zip(ids, _data("node", nodes), strict=True):
            out.write(f'<node id="{key}">{data}</node>\n')
        pairs = zip(ends.source.tolist(), ends.target.tolist(), _data("edge", ends.columns), strict=True)
        for a, b, data in pairs:
            out.write(f'<edge source="{ids[a]}" target="{ids[b]}">{data}</edge>\n')
        out.write("</graph>\n</graphml>\n")


def write_gexf(network: Network, path: Path) -> None:
    """Write a network as GEXF 1.2: what GEXF calls the label of a node is the name of its object.

    The user's own label of a query object therefore stands under ``query_label``. ``cells`` are ranks with spaces
    between, and the description lists the cells they mean, one a line in the order chosen, and last the recipe. What is
    missing is absent.
    """
    ids = distinct([escape(str(key)) for key in list_ids(network)], ADVICE)
    nodes, ends = plain_nodes(network), list_ends(network)
    names = [escape(name) for name in nodes["name"].to_pylist()]
    if not pa.types.is_integer(nodes.schema.field("id").type):
        nodes = nodes.drop_columns(["id"])
    weights = ends.columns["weight"].to_pylist()
    links = ends.columns.drop_columns(["weight"])
    told = list(about(network)["selected"])
    if network.recipe is not None:
        told.append(RECIPE + network.recipe.to_json())
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(GEXF_HEAD.format(escape("\n".join(told)), "directed" if ends.directed else "undirected"))
        titles = [GEXF_LABEL if name == "label" else name for name in nodes.column_names]
        _gexf_attributes(out, "node", nodes, titles)
        _gexf_attributes(out, "edge", links, links.column_names)
        out.write("<nodes>\n")
        for key, name, values in zip(ids, names, _attvalues("node", nodes), strict=True):
            out.write(f'<node id="{key}" label="{name}"><attvalues>{values}</attvalues></node>\n')
        out.write("</nodes>\n<edges>\n")
        facts = zip(ends.source.tolist(), ends.target.tolist(), weights, _attvalues("edge", links), strict=True)
        for number, (a, b, weight, values) in enumerate(facts):
            begin = f'<edge id="{number}" source="{ids[a]}" target="{ids[b]}" weight="{weight}">'
            out.write(f"{begin}<attvalues>{values}</attvalues></edge>\n")
        out.write("</edges>\n</graph>\n</gexf>\n")


def escape(text: str) -> str:
    r"""Return a text safe inside an element or a quoted attribute; line ends and tabs are kept.

    XML 1.0 has no way at all to write the other control characters: these become their pictures. Halves of signs and
    numbers that are none become the sign for a lost one.

    >>> print(escape('a "b" & <c>\n\x01'))
    a &quot;b&quot; &amp; &lt;c&gt;&#10;␁
    """
    return text.translate(_ESCAPES)


def _titles(names: Sequence[str]) -> list[str]:
    return distinct_names([escape(name) for name in names])


def _graphml_keys(out: TextIO, owner: str, table: pa.Table) -> None:
    for number, (name, kind) in enumerate(zip(_titles(table.column_names), table.schema.types, strict=True)):
        out.write(f'<key id="{owner}.{number}" for="{owner}" attr.name="{name}" attr.type="{name_type(kind)}"/>\n')


def _data(owner: str, table: pa.Table) -> Iterator[str]:
    """Give the data of every row, without what is missing."""
    return _pieces(table, lambda number: (f'<data key="{owner}.{number}">', "</data>"))


def _gexf_attributes(out: TextIO, owner: str, table: pa.Table, titles: Sequence[str]) -> None:
    out.write(f'<attributes class="{owner}" mode="static">\n')
    for number, (title, kind) in enumerate(zip(_titles(titles), table.schema.types, strict=True)):
        name = GEXF_KINDS.get(name_type(kind), name_type(kind))
        out.write(f'<attribute id="{owner}.{number}" title="{title}" type="{name}"/>\n')
    out.write("</attributes>\n")


def _attvalues(owner: str, table: pa.Table) -> Iterator[str]:
    """Give the values of every row, without what is missing."""
    return _pieces(table, lambda number: (f'<attvalue for="{owner}.{number}" value="', '"/>'))


def _pieces(table: pa.Table, around: Callable[[int], tuple[str, str]]) -> Iterator[str]:
    for batch in table.to_batches(max_chunksize=4096):
        columns = []
        for number, column in enumerate(batch.columns):
            begin, end = around(number)
            kind, values = column.type, column.to_pylist()
            if pa.types.is_integer(kind) or pa.types.is_floating(kind):
                columns.append(["" if value is None else f"{begin}{value}{end}" for value in values])
            else:
                text = as_text(kind)
                columns.append(["" if value is None else f"{begin}{_escaped(text(value))}{end}" for value in values])
        yield from map("".join, zip(*columns, strict=True))


@lru_cache(maxsize=65536)
def _escaped(text: str) -> str:
    return escape(text)
