"""A NetworkX graph becomes a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cube2net.errors import SourceError, some
from cube2net.progress import Progress, silent
from cube2net.records import Corpus
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, column_of, columns_of, text_of
from cube2net.sources.tables.table_corpus import network_corpus


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
    separators: Mapping[str, str] | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item.

    Node attributes become attributes, a list or set several labels; ``name``, ``kind`` and ``text``
    say which attributes are the readable name, the kind of object and the text. Links are undirected:
    links both ways, or several between two nodes, add their weights; a link without a weight counts 1.
    Links of a node to itself and bad weights are counted in ``dropped``, or stop when ``strict``.

    >>> import networkx as nx
    >>> graph = nx.DiGraph([("ada", "bob"), ("bob", "ada"), ("bob", "eve")])
    >>> graph.add_node("ada", city="Rome")
    >>> corpus = from_networkx(graph)
    >>> corpus, corpus.links["weight"].to_pylist()
    (Corpus(3 objects, 3 items, 2 links), [2.0, 1.0])
    """
    if not is_networkx(graph):
        raise SourceError(f"cannot read a {type(graph).__name__} as a graph, expected a NetworkX graph")
    if graph.number_of_nodes() == 0:
        raise SourceError("the graph has no nodes, expected one or more")
    dropped = Dropped(strict, progress or silent)
    keys = {node: text_of(str(node)).strip() for node in graph.nodes}
    _check_keys(keys)
    nodes = _rows([data for _, data in graph.nodes(data=True)], list(keys.values()), dropped)
    known = {"name": name, "kind": kind, "text": text}
    columns = {"id": "node"} | {role: column for role, column in known.items() if column in nodes.table.column_names}
    return network_corpus((nodes, columns), (_links(graph, keys, weight), _ENDS), separators or {}, dropped)


_ENDS = {"source": "source", "target": "target", "weight": "weight"}


def _check_keys(keys: Mapping[Any, str]) -> None:
    seen: dict[str, Any] = {}
    for node, key in keys.items():
        if key in seen:
            raise SourceError(
                f"nodes {seen[key]!r} and {node!r} are both {key!r} as text, expected different ids (relabel one)"
            )
        seen[key] = node


def _rows(data: Sequence[Mapping[Any, Any]], keys: Sequence[str], dropped: Dropped) -> Rows:
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
    arrays = {"node": pa.array(keys, pa.string()), **arrays}
    if left_out:
        dropped.say(f"the graph: left out attributes with fields inside: {some(left_out, 20)}")
    return Rows("the graph", pa.table(arrays), lambda rows: [f"node {keys[row]!r}" for row in rows], frozenset(loose))


def _links(graph: Any, keys: Mapping[Any, str], weight: str) -> Rows:
    source, target, weights = [], [], []
    edges: Iterable[tuple[Any, Any, Any]] = graph.edges(data=weight, default=1)
    for one, other, value in edges:
        source.append(keys[one])
        target.append(keys[other])
        weights.append(value)
    column, _ = column_of(weights)
    if column is None or pa.types.is_list(column.type) or pa.types.is_boolean(column.type):
        raise SourceError(f"link attribute {weight!r} holds no numbers, expected weights of 0 or more")
    table = pa.table(
        {"source": pa.array(source, pa.string()), "target": pa.array(target, pa.string()), "weight": column}
    )
    return Rows("the graph", table, lambda rows: [f"link {source[row]!r} – {target[row]!r}" for row in rows])
