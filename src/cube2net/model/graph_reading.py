"""What NetworkX calls of a graph, which a network has too."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from cube2net._util.display import Shown, load_function
from cube2net.model.tables import ArrowTable

GRAPH_READERS = """
    _adj _node _pred _succ adj adjacency copy degree edge_subgraph edges get_edge_data graph has_edge has_node
    has_predecessor has_successor in_degree in_edges is_directed is_multigraph nbunch_iter neighbors number_of_edges
    number_of_nodes order out_degree out_edges pred predecessors reverse size subgraph succ successors to_directed
    to_undirected
"""
"""What NetworkX calls to read a graph."""


class Nodes(ArrowTable):
    """The nodes of a network: a table with the column ``id``, and a mapping from ids to attributes, as in NetworkX.

    Iteration, ``in`` and ``nodes[id]`` go by id; ``nodes(data=True)`` gives pairs of an id and its attributes. If no
    node has the id ``name``, ``nodes["name"]`` is a column; the rest is as for :class:`Tabular`.
    """

    def __init__(self, table: pa.Table, read_graph: Callable[[], Any]) -> None:
        super().__init__(table)
        self._read_graph = read_graph

    @cached_property
    def _ids(self) -> dict[Any, int]:
        return {key: row for row, key in enumerate(self._table["id"].to_pylist())}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table["id"].to_pylist())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, Hashable) and key in self._ids

    def __getitem__(self, key: Any) -> Any:
        """Return the attributes of a node, or a column."""
        return self._read_graph().nodes[key] if key in self else self.to_pandas()[key]

    def __call__(self, data: Any = False, default: Any = None) -> Any:
        """Return the ids, with all attributes or one of them if ``data`` is True or its name."""
        return self._read_graph().nodes(data, default)

    def data(self, data: Any = True, default: Any = None) -> Any:
        """Return the ids with all attributes, or with one of them."""
        return self(data, default)

    # A mapping in what it does, but no instance of one: Polars would take it for a dictionary of columns.
    keys, values, items, get = Mapping.keys, Mapping.values, Mapping.items, Mapping.get


class GraphReading(Shown):
    """What reads a graph of NetworkX: it answers as the graph that the network is converted to, once."""

    __networkx_backend__ = "cube2net"

    if TYPE_CHECKING:  # read from the graph of NetworkX, see __getattr__
        adj = adjacency = copy = degree = edge_subgraph = edges = get_edge_data = graph = has_edge = cast(Any, None)
        has_node = in_degree = in_edges = is_directed = is_multigraph = nbunch_iter = neighbors = cast(Any, None)
        number_of_edges = number_of_nodes = order = out_degree = out_edges = predecessors = cast(Any, None)
        size = subgraph = successors = to_directed = to_undirected = cast(Any, None)

    def __getitem__(self, node: Any) -> Any:
        """Return the neighbours of a node, with the attributes of its links to them."""
        return self._read_graph()[node]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in GRAPH_READERS.split() if not name.startswith("_"))]

    @cached_property
    def _graph(self) -> Any:
        return load_function("network.export.graphs", "to_networkx")(self, is_fixed=True)

    def _read_graph(self) -> Any:
        """Return the NetworkX graph that answers for the network, which cannot be changed."""
        return self._graph

    if not TYPE_CHECKING:  # as in Shown

        def __getattr__(self, name: str) -> Any:
            """Return an attribute of the NetworkX graph that reads it."""
            return getattr(self._graph, name) if name in GRAPH_READERS.split() else super().__getattr__(name)
