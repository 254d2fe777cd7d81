"""Read graphs of NetworkX and igraph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import pyarrow as pa

from cube2net._util.progress import Telling
from cube2net.errors import SourceError, some
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, column_of, columns_of, text_of
from cube2net.io.tables.table_corpus import network_corpus
from cube2net.model.corpus import Corpus


def is_networkx(thing: object) -> bool:
    """Return whether a thing is a graph of NetworkX, by what it can do."""
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
    progress: Telling = None,
) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item.

    Node attributes become attributes, a list or set several labels; ``name``, ``kind`` and ``text``
    say which attributes are the readable name, the kind of object and the text. ``kind`` and ``time`` say this of links
    too; a link of a multigraph without a kind has its key for one, where that is a text. A link without a weight counts
    1. Links of a directed graph keep their direction. What else links say is not used, and told to ``progress``. Links
    of a node to itself and bad weights are counted in ``dropped``, or stop when ``strict``. Nodes that are whole
    numbers keep being such; other things become texts.

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
    keys = {node: text_of(str(node)).strip() for node in graph.nodes}
    _check_keys(keys)
    nodes = _rows([data for _, data in graph.nodes(data=True)], list(keys.values()), list(keys), dropped)
    known = {"name": name, "kind": kind, "text": text}
    columns = {"id": "node"} | {role: column for role, column in known.items() if column in nodes.table.column_names}
    links = _links(graph, keys, weight, kind, time, dropped)
    ends = {name: name for name in links.table.column_names}
    return network_corpus((nodes, columns), (links, ends), separators or {}, dropped, directed=graph.is_directed())


def _check_keys(keys: Mapping[Any, str]) -> None:
    seen: dict[str, Any] = {}
    for node, key in keys.items():
        if key in seen:
            raise SourceError(
                f"nodes {seen[key]!r} and {node!r} are both {key!r} as text, expected different ids (relabel one)"
            )
        seen[key] = node


def _node_column(nodes: Sequence[Any], keys: Sequence[str], dropped: Dropped) -> pa.Array:
    """Return the ids of nodes: whole numbers where all are such, else texts."""
    if all(isinstance(node, Integral) and not isinstance(node, bool) for node in nodes):
        try:
            return pa.array([int(node) for node in nodes], pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            pass
    if not all(isinstance(node, str) for node in nodes):
        dropped.say(f"the graph: nodes that are no texts become such: {some(keys)}")
    return pa.array(keys, pa.string())


def _rows(data: Sequence[Mapping[Any, Any]], keys: Sequence[str], nodes: Sequence[Any], dropped: Dropped) -> Rows:
    names: dict[Any, str] = {}
    for attributes in data:
        for attribute in attributes:
            if attribute not in names:
                called = str(attribute)
                while called in (*names.values(), "node"):
                    called += "_"
                names[attribute] = called
    values = {called: [attributes.get(attribute) for attributes in data] for attribute, called in names.items()}
    arrays, loose, left_out = columns_of(values)
    arrays = {"node": _node_column(nodes, keys, dropped), **arrays}
    if left_out:
        dropped.say(f"the graph: left out attributes with fields inside: {some(left_out, 20)}")
    return Rows("the graph", pa.table(arrays), lambda rows: [f"node {keys[row]!r}" for row in rows], frozenset(loose))


def _links(graph: Any, keys: Mapping[Any, str], weight: str, kind: str, time: str, dropped: Dropped) -> Rows:
    source, target, weights = [], [], []
    kinds, times = [], []
    used, unused = (weight, kind, time), dict[Any, None]()
    several = graph.is_multigraph()
    edges: Iterable[tuple[Any, ...]] = graph.edges(data=True, **({"keys": True} if several else {}))
    for one, other, *key, about in edges:
        source.append(keys[one])
        target.append(keys[other])
        weights.append(about.get(weight, 1))
        named = about.get(kind)
        kinds.append(key[0] if named is None and key and isinstance(key[0], str) else named)
        times.append(about.get(time))
        unused |= {name: None for name in about if name not in used}
    if unused:
        dropped.say(f"the graph: not used of links {some(list(map(str, unused)), 20)}")
    column, _ = column_of(weights)
    if column is None or pa.types.is_list(column.type) or pa.types.is_boolean(column.type):
        raise SourceError(f"link attribute {weight!r} holds no numbers, expected weights of 0 or more")
    table = pa.table(
        {"source": pa.array(source, pa.string()), "target": pa.array(target, pa.string()), "weight": column}
    )
    for name, values in (("kind", [None if one is None else text_of(one) for one in kinds]), ("time", times)):
        told, _ = column_of(values)
        if told is not None and told.null_count < len(told):
            table = table.append_column(name, told)
    return Rows("the graph", table, lambda rows: [f"link {source[row]!r} – {target[row]!r}" for row in rows])


NODE = "node"


def is_igraph(thing: object) -> bool:
    """Return whether a thing is a graph of igraph, by what it can do."""
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
    progress: Telling = None,
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
    names = [None if value is None else text_of(value).strip() for value in attributes.get(name, ())]
    named = bool(names) and all(names) and len(set(names)) == len(names)
    ids = names if named else [str(number) for number in range(graph.vcount())]
    arrays, loose, left_out = columns_of({key: value for key, value in attributes.items() if key != NODE})
    if left_out:
        dropped.say(f"the graph: left out attributes with fields inside: {some(left_out, 20)}")
    table = pa.table({NODE: pa.array(ids, pa.string()), **arrays})
    nodes = Rows("the graph", table, lambda rows: [f"node {ids[row]!r}" for row in rows], frozenset(loose))
    known = {"name": name, "kind": kind, "text": text}
    columns = {"id": NODE} | {role: column for role, column in known.items() if column in arrays}
    ends = graph.get_edgelist()
    source, target = ([ids[pair[side]] for pair in ends] for side in (0, 1))
    unused = [str(key) for key in graph.edge_attributes() if key != weight]
    if unused:
        dropped.say(f"the graph: not used of links {some(unused, 20)}")
    weights = graph.es[weight] if weight in graph.edge_attributes() else [1] * len(ends)
    made, _, _ = columns_of({"weight": [1 if value is None else value for value in weights]})
    links = pa.table({"source": pa.array(source, pa.string()), "target": pa.array(target, pa.string()), **made})
    rows = Rows("the graph", links, lambda some: [f"link {source[row]!r} – {target[row]!r}" for row in some])
    roles = {role: role for role in ("source", "target", *made)}
    return network_corpus((nodes, columns), (rows, roles), separators or {}, dropped)
