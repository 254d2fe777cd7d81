"""What NetworkX calls of a graph, which a network has too."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from cube2net._util.display import Shown, load_function

GRAPH_READERS = """
    _adj _node _pred _succ adj adjacency copy degree edge_subgraph edges get_edge_data graph has_edge has_node
    has_predecessor has_successor in_degree in_edges is_directed is_multigraph nbunch_iter neighbors number_of_edges
    number_of_nodes order out_degree out_edges pred predecessors reverse size subgraph succ successors to_directed
    to_undirected
"""
"""What NetworkX calls to read a graph."""


class GraphReading(Shown):
    """What reads a graph of NetworkX: it answers as the graph that the network is converted to, once."""

    __networkx_backend__ = "cube2net"

    if TYPE_CHECKING:  # read from the graph of NetworkX, see __getattr__
        adj = adjacency = copy = degree = edge_subgraph = edges = get_edge_data = graph = has_edge = cast(Any, None)
        has_node = in_degree = in_edges = is_directed = is_multigraph = nbunch_iter = neighbors = cast(Any, None)
        number_of_edges = number_of_nodes = order = out_degree = out_edges = predecessors = cast(Any, None)
        size = subgraph = successors = to_directed = to_undirected = cast(Any, None)

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Return a new network; raise for an empty one, which functions of NetworkX make by the class of a graph."""
        if not values and not named:
            raise TypeError("a network cannot be empty: give the function the graph that network.to_networkx() returns")
        return super().__new__(cls)

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
