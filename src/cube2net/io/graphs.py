"""Read graphs: GraphML, GEXF and JSON files, and graphs of NetworkX and igraph."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.progress import Progress, ProgressOption, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, SourceError, join_names, quote, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.io.tables.column_types import Rows, format_value, make_column, make_columns, make_unused_name
from cube2net.io.tables.table_corpus import build_network_corpus
from cube2net.io.text_records import BLANK_BYTES, open_bytes, read_whole
from cube2net.io.xml_graphs import LINK_ENDS, TIME, WEIGHT, read_xml_graph
from cube2net.model.corpus import Corpus

XML_ENDINGS, JSON_ENDINGS = (".graphml", ".gexf", ".xml"), (".json", ".cyjs")
GRAPH_ENDINGS = (*XML_ENDINGS, *JSON_ENDINGS)
EXPECTED = "a graph in a .graphml, .gexf or .json file, also packed (.gz)"
MAX_JSON_BYTES = 512 * 2**20
START_BYTES = 2**16
"""The number of bytes by which a graph in JSON is recognised."""
LIST_PATTERN = re.compile(rb'"(?:nodes|links|edges)"\s*:\s*\[|"elements"\s*:\s*[\[{]')
NODE_ID = "node"
NAME_ATTRIBUTES = ("name", "label")
LOOSELY_TYPED = (WEIGHT, TIME)
"""Attributes of links whose values may be of any type if the file declares none."""


def is_graph_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file holds a graph: by the end of its name, or in .json, which may be a table, by its start."""
    name = os.fspath(path).casefold().removesuffix(".gz")
    return _starts_graph(Path(path)) if name.endswith(".json") else name.endswith(GRAPH_ENDINGS)


def _starts_graph(path: Path) -> bool:
    """Return whether a JSON file begins as one object with lists of nodes or links, and not as one record a line."""
    try:
        with open_bytes(path, Meter(UnpackLimits())) as file:
            start = file.read(START_BYTES).strip(BLANK_BYTES)
    except (OSError, SourceError):
        return False
    first_line, _, remainder = start.partition(b"\n")
    if not first_line.startswith(b"{") or LIST_PATTERN.search(start) is None:
        return False
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return True
    return not remainder


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Reads a graph from a GraphML, GEXF or JSON file (nodes and links), plain or packed.

    Every node is an object and its own item. ``name``, ``kind`` and ``text`` are the attributes with the name (by
    default ``name``, else ``label``), the kind of object and the text; ``weight``, ``kind`` and ``time`` are those of
    links, and a link without a weight has weight 1. ``separators`` split a text into several labels. What cannot be
    used is counted in ``dropped``, or is an error if ``strict``. ``max_ratio`` and ``max_unpacked`` limit the size of
    unpacked files.
    """

    name: str | None = None
    kind: str = "kind"
    text: str = "text"
    weight: str = "weight"
    time: str = "time"
    separators: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the graph in a file."""
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files = InputFiles(find_data_files(paths, GRAPH_ENDINGS, EXPECTED), GRAPH_ENDINGS, meter)
        dropped = Dropped(self.strict, progress)

        def report() -> None:
            progress("reading the graph", files.done, files.total)

        corpus: Corpus | None = None
        for name, file in files:
            if corpus is not None:
                raise SourceError(f"{name} is a second graph, expected one: read them one by one")
            if name.casefold().removesuffix(".gz").endswith(JSON_ENDINGS):
                corpus = self._read_json(name, file, dropped)
            else:
                corpus = self._read_xml(name, file, dropped, report)
        report()
        if corpus is None:
            raise SourceError(f"{join_names(paths)} holds no graph: expected {EXPECTED}")
        return corpus

    def _read_xml(self, name: str, file: io.BufferedReader, dropped: Dropped, report: Any) -> Corpus:
        graph = read_xml_graph(name, file, report)
        if graph.contradicting_links:
            dropped.say(
                f"{name}: {graph.contradicting_links:,} links say another direction than the graph, which counts"
            )
        if graph.skipped_elements:
            dropped.leave_out("hyperedges and ports", graph.skipped_elements)
        nodes, mixed_nodes = graph.nodes.arrays(graph.node_types)
        links, mixed_links = graph.links.arrays(graph.link_types)
        mixed_links |= {column for column in LOOSELY_TYPED if column in links and column not in graph.link_types}
        return self._build_corpus(name, (nodes, mixed_nodes), (links, mixed_links), graph.directed, dropped)

    def _read_json(self, name: str, file: io.BufferedReader, dropped: Dropped) -> Corpus:
        content = read_whole(file, MAX_JSON_BYTES)
        if content is None:
            raise SourceError(
                f"{name} takes more than {MAX_JSON_BYTES:,} bytes: give such a graph as GraphML or tables"
            )
        try:
            graph = json.loads(content)
            json.dumps(graph, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            reason = "nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
            raise SourceError(f"{name} is no JSON ({reason})") from None
        nodes, links = parse_json_graph(name, graph)
        tables = []
        for records in (nodes, links):
            names = dict.fromkeys(key for record in records for key in record)
            tables.append(
                _convert_columns(name, {key: [record.get(key) for record in records] for key in names}, dropped)
            )
        return self._build_corpus(name, tables[0], tables[1], bool(graph.get("directed")), dropped)

    def _build_corpus(self, name: str, nodes: Any, links: Any, directed: bool, dropped: Dropped) -> Corpus:
        """Return the corpus of columns of nodes and of links, each with the names of those of mixed types."""
        (columns, mixed_nodes), (link_columns, mixed_links) = nodes, links
        if NODE_ID not in columns:
            raise SourceError(f"{name} holds a graph without nodes, expected one or more")
        columns = _prefer_integer_ids(columns)
        name_attribute = self.name or next((attribute for attribute in NAME_ATTRIBUTES if attribute in columns), None)
        roles = _assign_roles(columns, name=name_attribute, kind=self.kind, text=self.text)
        if self.name is not None and self.name not in columns:
            raise ParameterError(f"name is {self.name!r}, and nodes of {name} have {quote_few(list(columns), 20)}")
        link_attributes = {"weight": self.weight, "kind": self.kind, "time": self.time}
        link_roles = {role: attribute for role, attribute in link_attributes.items() if attribute in link_columns}
        _report_unused(
            name,
            [attribute for attribute in link_columns if attribute not in (*LINK_ENDS, *link_roles.values(), "id")],
            dropped,
        )
        if "weight" in link_roles:
            link_columns = link_columns | {link_roles["weight"]: _fill_weights(link_columns[link_roles["weight"]])}
        ids, table = columns[NODE_ID], pa.table(columns)
        node_rows = Rows(
            name,
            table,
            lambda rows: [f"{name} node {ids[row].as_py()!r}" for row in rows],
            frozenset(mixed_nodes),
        )
        link_table = pa.table(link_columns or {end: pa.array([], pa.string()) for end in LINK_ENDS})
        link_rows = Rows(
            name,
            link_table,
            lambda rows: [f"{name} link {row + 1:,}" for row in rows],
            frozenset(mixed_links),
        )
        dropped.say(f"{name}: {len(ids):,} nodes, {link_table.num_rows:,} {'directed ' if directed else ''}links")
        tables = (node_rows, roles), (link_rows, {end: end for end in LINK_ENDS} | link_roles)
        return build_network_corpus(*tables, self.separators, dropped, directed=directed)


def _assign_roles(columns: Iterable[str], **roles: str | None) -> dict[str, str]:
    available = set(columns)
    return {"id": NODE_ID} | {
        role: column for role, column in roles.items() if column is not None and column in available
    }


def _report_unused(name: str, attributes: Sequence[str], dropped: Dropped) -> None:
    if attributes:
        dropped.say(f"{name}: not used of links {quote_few(attributes, 20)}")


def _convert_columns(name: str, values: Mapping[str, Any], dropped: Dropped) -> tuple[dict[str, Any], set[str]]:
    """Return values as columns, and the names of those of mixed types; what has fields inside is left out."""
    columns, mixed, left_out = make_columns(values)
    if left_out:
        dropped.say(f"{name}: left out attributes with fields inside: {quote_few(left_out, 20)}")
    return columns, mixed


def _fill_weights(column: Any) -> Any:
    default_weight = "1" if pa.types.is_string(column.type) else 1
    return pc.fill_null(column, pa.scalar(default_weight, column.type)) if not pa.types.is_null(column.type) else column


def _prefer_integer_ids(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns whose ids are whole numbers where the attribute ``id`` says them again so; it is then left out."""
    id_attribute = columns.get("id")
    if id_attribute is None or id_attribute.null_count or pa.types.is_list(id_attribute.type):
        return dict(columns)
    if id_attribute.cast(pa.string()).to_pylist() != columns[NODE_ID].cast(pa.string()).to_pylist():
        return dict(columns)
    ids = id_attribute if pa.types.is_integer(id_attribute.type) else columns[NODE_ID]
    return {name: ids if name == NODE_ID else column for name, column in columns.items() if name != "id"}


Records = list[dict[str, Any]]


def parse_json_graph(name: str, graph: Any) -> tuple[Records, Records]:
    """Return the nodes and links of a graph in JSON: ``node`` is the id of a node, ends are given by ids.

    In Cytoscape's form each stands in ``data``. Old files of d3 give the ends of links by their place among the nodes.

    >>> parse_json_graph("x", {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1}]})[1]
    [{'source': 'a', 'target': 'b'}]
    """
    content = graph.get("elements", graph) if isinstance(graph, dict) else None
    nodes = content.get("nodes") if isinstance(content, dict) else None
    links = content.get("links", content.get("edges", [])) if isinstance(content, dict) else None
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise SourceError(f"{name} holds no graph, expected a JSON object with lists of 'nodes' and 'links'")
    node_records = [_check_record(name, "node", record) for record in nodes]
    key = next(
        (
            key
            for key in ("id", "key", "name")
            if node_records and all(record.get(key) is not None for record in node_records)
        ),
        None,
    )
    if node_records and key is None:
        raise SourceError(f"{name}: nodes have no 'id', such as {quote(node_records[0])}")
    named_nodes = [
        {NODE_ID: record[key or ""]} | {field: value for field, value in record.items() if field not in (NODE_ID, "id")}
        for record in node_records
    ]
    ids = [record[NODE_ID] for record in named_nodes]
    link_records = [_check_record(name, "link", record) for record in links]
    for number, link in enumerate(link_records, start=1):
        if not all(isinstance(link.get(end), str | int | float) for end in LINK_ENDS):
            raise SourceError(f"{name}: link {number:,} has no source or no target: {quote(link)}")
    unusable = next((node for node in ids if not isinstance(node, str | int | float)), None)
    if unusable is not None:
        raise SourceError(f"{name}: the id of a node is {quote(unusable)}, expected a text or a whole number")
    known_ids = set(ids)
    are_places = all(
        isinstance(link[end], int) and link[end] not in known_ids for link in link_records for end in LINK_ENDS
    )
    if are_places and all(0 <= link[end] < len(ids) for link in link_records for end in LINK_ENDS):
        link_records = [link | {end: ids[link[end]] for end in LINK_ENDS} for link in link_records]
    return named_nodes, link_records


def _check_record(name: str, kind: str, record: Any) -> dict[str, Any]:
    if isinstance(record, dict) and isinstance(record.get("data"), dict):
        record = record["data"]
    if not isinstance(record, dict):
        raise SourceError(f"{name}: a {kind} is {quote(record)}, expected an object with keys such as 'id'")
    return record


def is_networkx(thing: object) -> bool:
    """Return whether an object is a NetworkX graph, by its attributes."""
    return all(hasattr(thing, name) for name in ("nodes", "edges", "is_directed", "number_of_nodes"))


def from_networkx(
    graph: Any,
    *,
    weight: str = "weight",
    name: str = "name",
    kind: str = "kind",
    text: str = "text",
    time: str = "time",
    separators: Mapping[str, str] | None = None,
    strict: bool = False,
    progress: ProgressOption = None,
) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item.

    Node attributes become attributes; a list or set is several labels. ``name``, ``kind`` and ``text`` are the
    attributes with the name, the kind of object and the text; ``weight``, ``kind`` and ``time`` are those of links. A
    link of a multigraph without a kind has its key as kind if that is a text; a link without a weight has weight 1.
    Other attributes of links are ignored and reported to ``progress``. Links of a node to itself and bad weights are
    counted in ``dropped``, or are errors if ``strict``. Nodes that are whole numbers stay so; other nodes become texts.

    >>> import networkx as nx
    >>> graph = nx.DiGraph([("ada", "bob"), ("bob", "ada"), ("bob", "eve")])
    >>> graph.add_node("ada", city="Rome")
    >>> corpus = from_networkx(graph)
    >>> corpus, corpus.links["weight"].to_pylist()
    (Corpus(3 objects, 3 items, 3 links), [1.0, 1.0, 1.0])
    >>> corpus.directed, corpus.object_attributes
    (True, ('city',))
    """
    if not is_networkx(graph):
        raise SourceError(f"cannot read a {type(graph).__name__} as a graph, expected a NetworkX graph")
    if graph.number_of_nodes() == 0:
        raise SourceError("the graph has no nodes, expected one or more")
    dropped = Dropped(strict, progress)
    keys: dict[Any, str] = {}
    node_by_key: dict[str, Any] = {}
    for node in graph.nodes:
        key = keys[node] = format_value(str(node)).strip()
        other = node_by_key.setdefault(key, node)
        if other is not node:
            raise SourceError(
                f"nodes {other!r} and {node!r} are both {key!r} as text, expected different ids (relabel one)"
            )
    nodes = _build_networkx_nodes(graph, keys, dropped)
    node_roles = _assign_roles(nodes.table.column_names, name=name, kind=kind, text=text)
    links = _build_networkx_links(graph, keys, weight, kind, time, dropped)
    link_roles = {name: name for name in links.table.column_names}
    return build_network_corpus(
        (nodes, node_roles), (links, link_roles), separators or {}, dropped, directed=graph.is_directed()
    )


def _build_node_column(nodes: Sequence[Any], keys: Sequence[str], dropped: Dropped) -> pa.Array:
    """Return the ids of nodes: whole numbers where all are such, else texts."""
    if all(isinstance(node, Integral) and not isinstance(node, bool) for node in nodes):
        try:
            return pa.array([int(node) for node in nodes], pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            pass
    if not all(isinstance(node, str) for node in nodes):
        dropped.say(f"the graph: nodes that are no texts become such: {quote_few(keys)}")
    return pa.array(keys, pa.string())


def _build_networkx_nodes(graph: Any, keys: Mapping[Any, str], dropped: Dropped) -> Rows:
    attributes_by_node = [attributes for _, attributes in graph.nodes(data=True)]
    names: dict[Any, str] = {}
    for attribute in dict.fromkeys(attribute for attributes in attributes_by_node for attribute in attributes):
        names[attribute] = make_unused_name(str(attribute), {*names.values(), NODE_ID})
    values = {
        name: [attributes.get(attribute) for attributes in attributes_by_node] for attribute, name in names.items()
    }
    texts = list(keys.values())
    return _build_node_rows(_build_node_column(list(keys), texts, dropped), texts, values, dropped)


def _build_node_rows(ids: pa.Array, keys: Sequence[str], values: Mapping[str, Sequence[Any]], dropped: Dropped) -> Rows:
    arrays, mixed = _convert_columns("the graph", values, dropped)
    table = pa.table({NODE_ID: ids, **arrays})
    return Rows("the graph", table, lambda rows: [f"node {keys[row]!r}" for row in rows], frozenset(mixed))


def _build_link_rows(source: Sequence[str], target: Sequence[str], columns: Mapping[str, pa.Array]) -> Rows:
    table = pa.table({"source": pa.array(source, pa.string()), "target": pa.array(target, pa.string()), **columns})
    return Rows("the graph", table, lambda rows: [f"link {source[row]!r} – {target[row]!r}" for row in rows])


def _build_networkx_links(
    graph: Any, keys: Mapping[Any, str], weight: str, kind: str, time: str, dropped: Dropped
) -> Rows:
    source, target, weights, kinds, times = [], [], [], [], []
    used_names, unused_names = (weight, kind, time), dict[Any, None]()
    is_multigraph = graph.is_multigraph()
    edges: Iterable[tuple[Any, ...]] = graph.edges(data=True, **({"keys": True} if is_multigraph else {}))
    for first, second, *edge_key, attributes in edges:
        source.append(keys[first])
        target.append(keys[second])
        weights.append(attributes.get(weight, 1))
        edge_kind = attributes.get(kind)
        kinds.append(edge_key[0] if edge_kind is None and edge_key and isinstance(edge_key[0], str) else edge_kind)
        times.append(attributes.get(time))
        unused_names |= {name: None for name in attributes if name not in used_names}
    _report_unused("the graph", list(map(str, unused_names)), dropped)
    column, _ = make_column(weights)
    if column is None or pa.types.is_list(column.type) or pa.types.is_boolean(column.type):
        raise SourceError(f"link attribute {weight!r} holds no numbers, expected weights of 0 or more")
    columns = {"weight": column}
    for name, values in (
        ("kind", [None if value is None else format_value(value) for value in kinds]),
        ("time", times),
    ):
        column, _ = make_column(values)
        if column is not None and column.null_count < len(column):
            columns[name] = column
    return _build_link_rows(source, target, columns)


def is_igraph(thing: object) -> bool:
    """Return whether an object is an igraph graph, by its attributes."""
    return all(hasattr(thing, name) for name in ("vs", "es", "get_edgelist", "vertex_attributes"))


def from_igraph(
    graph: Any,
    *,
    weight: str = "weight",
    name: str = "name",
    kind: str = "kind",
    text: str = "text",
    separators: Mapping[str, str] | None = None,
    strict: bool = False,
    progress: ProgressOption = None,
) -> Corpus:
    """Return the corpus of an igraph graph: every vertex is an object and its own item.

    The id of a vertex is its ``name`` where every one has its own, else its number; the options are those of
    NetworkX graphs.

    >>> import igraph
    >>> graph = igraph.Graph([(0, 1), (1, 2)])
    >>> graph.vs["city"] = ["Rome", "Oslo", "Oslo"]
    >>> from_igraph(graph)
    Corpus(3 objects, 3 items, 2 links)
    """
    if graph.vcount() == 0:
        raise SourceError("the graph has no nodes, expected one or more")
    dropped = Dropped(strict, progress)
    attributes = {str(key): graph.vs[key] for key in graph.vertex_attributes()}
    names = ["" if value is None else format_value(value).strip() for value in attributes.get(name, ())]
    has_unique_names = bool(names) and all(names) and len(set(names)) == len(names)
    ids = names if has_unique_names else [str(number) for number in range(graph.vcount())]
    attributes.pop(NODE_ID, None)
    nodes = _build_node_rows(pa.array(ids, pa.string()), ids, attributes, dropped)
    node_roles = _assign_roles(nodes.table.column_names[1:], name=name, kind=kind, text=text)
    edges = graph.get_edgelist()
    source, target = ([ids[pair[side]] for pair in edges] for side in (0, 1))
    _report_unused("the graph", [str(key) for key in graph.edge_attributes() if key != weight], dropped)
    weights = graph.es[weight] if weight in graph.edge_attributes() else [1] * len(edges)
    weight_column, _, _ = make_columns({"weight": [1 if value is None else value for value in weights]})
    links = _build_link_rows(source, target, weight_column)
    roles = {role: role for role in links.table.column_names}
    return build_network_corpus((nodes, node_roles), (links, roles), separators or {}, dropped)
