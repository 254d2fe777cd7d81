"""A graph of igraph becomes a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cube2net.errors import SourceError, some
from cube2net.progress import Telling
from cube2net.records import Corpus
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows, columns_of, text_of
from cube2net.sources.tables.table_corpus import network_corpus

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
