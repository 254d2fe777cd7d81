"""Records that read as tables and data frames of pandas, and a network that reads as a graph of NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import pyarrow as pa

from cube2net._util.arrow import to_pandas, to_polars
from cube2net._util.display import Shown, load_function
from cube2net._util.spelling import translate_name
from cube2net.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas

MAX_SHOWN_ROWS = 20
"""Notebooks show up to this many rows of a table."""


class FrameReading(Shown):
    """A record that reads as a pandas data frame: what it does not have itself is read from :meth:`to_pandas`."""

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas data frame; integer and boolean columns keep their type if values are missing."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return a Polars data frame."""
        return to_polars(self.to_arrow())

    if not TYPE_CHECKING:  # as in Shown

        def __getattr__(self, name: str) -> Any:
            """Return an attribute of the data frame, such as a method or a column, if pandas is installed."""
            if not (name.startswith("_") or translate_name(type(self).__name__.lower(), name)):
                try:
                    import pandas
                except ImportError:
                    return super().__getattr__(name)
                if hasattr(pandas.DataFrame, name) or name in self.to_arrow().column_names:
                    return getattr(self.to_pandas(), name)
            return super().__getattr__(name)


class Tabular(FrameReading):
    """A record with the rows of a table, which reads as its data frame: ``record["city"]``, ``record.head()``.

    ``len`` counts the rows, iteration gives them as dictionaries, and ``record[0]`` is the first. Other libraries
    convert it by the protocol of Arrow: ``polars.DataFrame(record)``, ``pyarrow.table(record)``.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.to_arrow().num_rows)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.to_arrow().to_batches(max_chunksize=4096):
            yield from batch.to_pylist()

    def __contains__(self, key: object) -> bool:
        """Return whether a column has this name."""
        return key in self.to_arrow().column_names

    def __getitem__(self, key: Any) -> Any:
        """Return the row of a number, or what the data frame has under a key: a column, several, or some rows."""
        if isinstance(key, int) and not isinstance(key, bool):
            return self.to_arrow().take([range(len(self))[key]]).to_pylist()[0]
        return self.to_pandas()[key]

    def _repr_html_(self) -> str | None:
        try:
            return super()._repr_html_() or (
                f"{to_pandas(self.to_arrow().slice(0, MAX_SHOWN_ROWS))._repr_html_()}<p>{len(self):,} rows</p>"
            )
        except MissingPackageError:
            return None


class ArrowTable(Tabular):
    """The rows of an Arrow table."""

    def __init__(self, table: Any) -> None:
        self._table: pa.Table = table

    def to_arrow(self) -> pa.Table:
        """Return the Arrow table."""
        return self._table

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} rows: {', '.join(self._table.column_names)})"


class Nodes(ArrowTable):
    """The nodes of a network: a table with the column ``id``, and a mapping from ids to attributes, as in NetworkX.

    Iteration, ``in`` and ``nodes[id]`` go by id; ``nodes(data=True)`` gives pairs of an id and its attributes. If no
    node has the id ``name``, ``nodes["name"]`` is a column; the rest is as for :class:`Tabular`.
    """

    def __init__(self, table: Any, to_networkx: Callable[[], Any]) -> None:
        super().__init__(table)
        self._to_networkx = to_networkx

    @cached_property
    def _ids(self) -> dict[Any, int]:
        return {key: row for row, key in enumerate(self._table["id"].to_pylist())}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table["id"].to_pylist())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, Hashable) and key in self._ids

    def __getitem__(self, key: Any) -> Any:
        """Return the attributes of a node, or a column."""
        return self._to_networkx().nodes[key] if key in self else self.to_pandas()[key]

    def __call__(self, data: Any = False, default: Any = None) -> Any:
        """Return the ids, with all attributes or one of them if ``data`` is True or its name."""
        return self._to_networkx().nodes(data, default)

    def data(self, data: Any = True, default: Any = None) -> Any:
        """Return the ids with all attributes, or with one of them."""
        return self(data, default)

    # A mapping in what it does, but no instance of one: Polars would take it for a dictionary of columns.
    def keys(self) -> list[Any]:
        """Return the ids."""
        return list(self)

    def values(self) -> list[Any]:
        """Return the attributes of each node."""
        return [attributes for _, attributes in self.items()]

    def items(self) -> list[Any]:
        """Return pairs of an id and the attributes of the node."""
        return list(self.data())

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the attributes of a node, or a column; ``default`` if there is neither."""
        try:
            return self[key]
        except KeyError:
            return default


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
