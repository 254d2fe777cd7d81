"""Networks, their forms, positions for drawing, and the request that a network answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, LazyRagged, Ragged, count_unusable, freeze, reduce_by_fields
from cube2net._util.arrow import arrow_numbers, arrow_texts, to_numpy
from cube2net._util.text import format_count
from cube2net.errors import InputError, unknown_name
from cube2net.model import corpus as limits
from cube2net.model.cube import Cube
from cube2net.model.network_actions import NetworkActions
from cube2net.model.node_names import cell_line
from cube2net.model.objects import Lookups, Objects, distinct_names
from cube2net.model.query import Query
from cube2net.model.recipe import Recipe
from cube2net.model.selection import Budget, QueryObjective, Selection, Steering
from cube2net.model.tables import ArrowTable, GraphReading, Nodes
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS, OPTIONS


class NodesAndLinks(NamedTuple):
    """The nodes and the links of a network: two tables of Arrow, or two frames of pandas or Polars."""

    nodes: Any
    links: Any


@dataclass(frozen=True)
class Form:
    """The form of a network, named ``kind``, and its options.

    ``objects``: the query and the objects of the chosen cells, with all links among them. ``cells``: the query with its
    links, each chosen cell as a node, and a *membership* link from each object of the query to each chosen cell that
    contains it. ``cells+objects``: all of these. ``hybrid``: the query, the chosen cells as nodes, and the
    ``n_neighbors`` objects nearest to the query by links (by default as many as the query has).

    ``membership_weights`` are the weights of the links between an object and its cells: 1 each (``"unit"``), 1 in total
    per cell (``"share"``), or ``cell_weight`` times the links of a typical object in total (``"even"``).
    ``cell_weight``, above 0 and up to 1, is by default estimated from the links of the query. The links of a neighbour
    are reduced, the more links it has into the query and the higher ``cell_weight`` is; ``neighbor_weight`` is a fixed
    factor for each end outside the query instead. ``keep_unlinked=False`` removes added objects without links.
    """

    kind: str = "hybrid"
    n_neighbors: int | None = None
    neighbor_weight: float | None = None
    membership_weights: str = "even"
    cell_weight: float | None = None
    keep_unlinked: bool = True

    def __post_init__(self) -> None:
        named = (
            ("form", self.kind, FORMS),
            ("membership_weights", self.membership_weights, MEMBERSHIP_WEIGHTS),
        )
        for what, got, allowed in named:
            if got not in allowed:
                raise unknown_name(what, got, allowed)
        for name in ("n_neighbors", "neighbor_weight", "cell_weight", "keep_unlinked"):
            object.__setattr__(self, name, OPTIONS[name].check(name, getattr(self, name), or_none=True))

    @property
    def has_cells(self) -> bool:
        """Whether cells are nodes."""
        return self.kind != "objects"

    @property
    def has_brought(self) -> bool:
        """Whether all objects of the chosen cells are nodes."""
        return self.kind in ("objects", "cells+objects")


CELL = "cell"
LINK, MEMBERSHIP = "link", "membership"
NODES = ("id", "name", "kind", "in_query", "label", "cells", "query_links")
"""The columns that every table of nodes has, and has first."""
LINKS = ("source", "target", "weight", "kind")
"""The columns that every table of links has, and has first."""
GIVEN = "given"
"""The column of what the source's own links weigh, where that is not their weight in the network."""


@dataclass(frozen=True, eq=False)
class Network(GraphReading, NetworkActions):
    """Nodes and undirected links; the objects of the query come first, then the others, then cells.

    :func:`cube2net.construct` returns networks. ``nodes`` and ``links`` are tables with all data. If NetworkX is
    installed, a network also has the read-only interface of a NetworkX graph (``network["n1"]``, ``edges``, ``degree``,
    ``neighbors``, ``subgraph`` …) and can be passed to NetworkX functions that read a graph. To change the graph, use a
    copy from :meth:`to_networkx`. A network can be pickled; without its cube, it only knows the names of its own
    objects.

    Attributes
    ----------
    query, selection
        The query, and the chosen cells and objects.
    objects
        The rows of the object nodes in the cube.
    cells
        The numbers of the chosen cells that are nodes; empty in the form ``objects``.
    source, target, weight
        The links as positions of nodes; each link is stored once.
    given
        The weights of the links between objects in the cube, if the form changes them (``hybrid``).
    brought_by
        The ranks, from 0, of the chosen cells that contain each object.
    query_links
        The number of links from each object to the query.
    labels, dimensions
        The labels of each chosen cell, and the names of the dimensions.
    form, settings
        The form, and the options and estimates of the construction.
    seconds
        The times of its steps.
    recipe
        The inputs and options needed to construct the network again.
    names, lookups, context
        Names, attributes and cube of the objects, for internal use.
    """

    query: Query
    selection: Selection
    objects: Array
    cells: Array
    source: Array
    target: Array
    weight: Array
    brought_by: Ragged
    query_links: Array
    names: Objects
    dimensions: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    form: str = "objects"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    lookups: Lookups | None = None
    given: Array | None = None
    recipe: Recipe | None = None
    context: RequestContext | None = None

    def __post_init__(self) -> None:
        for name in ("objects", "cells", "source", "target", "weight", "query_links"):
            object.__setattr__(self, name, freeze(getattr(self, name)))
        if not np.array_equal(self.objects[: len(self.query)], self.query.objects):
            raise InputError("a network's first nodes must be the objects of its query")
        if not len(self.source) == len(self.target) == len(self.weight):
            raise InputError("a network's links need a source, a target and a weight each")
        if self.given is not None:
            object.__setattr__(self, GIVEN, freeze(self.given))
            if len(self.given) != int(self._among.sum()):
                raise InputError("a network must say of every link between objects, and of no other, what was given")
        if self.selection.labels != self.labels and len(self.labels) == len(self.selection.cells):
            object.__setattr__(self, "selection", replace(self.selection, labels=self.labels))
        unusable = count_unusable(self.weight)
        if unusable:
            raise InputError(f"{unusable:,} links of a network have a weight that is negative or no finite number")
        if len(self.brought_by) != len(self.objects) or len(self.query_links) != len(self.objects):
            raise InputError("a network must say of every object which cells brought it and how it is linked")
        if len(self.brought_by.indices) > limits.MOST:
            raise InputError(f"a network has up to {limits.MOST:,} memberships, got {len(self.brought_by.indices):,}")
        ends = (self.source, self.target)
        if len(self.source) and not 0 <= min(int(end.min()) for end in ends) <= max(
            int(end.max()) for end in ends
        ) < len(self):
            raise InputError("a network's links must join its nodes")

    def __reduce__(self) -> tuple[Any, ...]:
        make, (kind, values) = reduce_by_fields(self)
        names = self.names.table.select(["object", "name", "kind"]).take(pa.array(self.objects))
        lookups = None if self.lookups is None else self.lookups.detach(self.objects, *self._ends)
        values |= {"names": None, "lookups": lookups, "context": None}
        values["settings"] = {**self.settings, "cell_objects": self.cell_objects}
        return _unpickle, (make, kind, values, len(self.names), self.names.whole, names)

    @property
    def cell_objects(self) -> list[int] | list[None]:
        """The number of objects in each chosen cell, or None if unknown."""
        cells = self.selection.cells
        known: list[int] | list[None] = self.settings.get("cell_objects") or [None] * len(cells)
        return known if self.context is None else self.context.count_objects(cells)

    def __eq__(self, other: object) -> bool:
        """Return whether another network has equal nodes, links, form and recipe."""
        if not isinstance(other, Network):
            return NotImplemented
        return self is other or (
            (self.form, self.recipe) == (other.form, other.recipe)
            and self.nodes.to_arrow().equals(other.nodes.to_arrow())
            and self.links.to_arrow().equals(other.links.to_arrow())
        )

    def __hash__(self) -> int:
        return hash((self.form, self.objects.tobytes(), self.cells.tobytes(), len(self.source)))

    def __copy__(self) -> Network:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Network:
        return self

    def __len__(self) -> int:
        return len(self.objects) + len(self.cells)

    def __iter__(self) -> Iterator[str | int]:
        """Iterate over the ids of the nodes, objects first."""
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        """Return whether a node has this id."""
        return node in self.nodes

    def __repr__(self) -> str:
        cells = f", {format_count(len(self.cells), 'cell')}" if len(self.cells) else ""
        return (
            f"Network({format_count(len(self.objects), 'object')}{cells}, {format_count(len(self.source), 'link')}, "
            f"{len(self.query):,} in the query)"
        )

    @property
    def in_query(self) -> Array:
        """Whether each node is an object of the query."""
        return np.arange(len(self)) < len(self.query)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes by id, and as a table: ``id, name, kind, in_query, label, cells, query_links`` and attributes.

        ``nodes["n1"]`` are the attributes of a node, as in NetworkX, and ``nodes["name"]`` and ``nodes.head()`` are
        read from ``nodes.to_pandas()``.

        ``label`` is the label of an object of the query, ``cells`` are the ranks, from 1, of the chosen cells that
        contain it, and ``query_links`` counts its links into the query. Further columns are the attributes of objects,
        ``items`` (the number of items that mention it) and the most frequent label in each dimension, if the cube has
        its items. Cells have empty values there. If ids are whole numbers, those of cells are negative.
        """
        rows = self.names.table.take(arrow_numbers(self.objects))
        labels = dict(zip(self.selection.cells.tolist(), self.labels, strict=True)) if len(self.cells) else {}
        titles = [cell_line(labels[cell]) for cell in self.cells.tolist()]
        ids = self.names.ids(self.objects)
        if self.names.whole:
            lowest = min(0, to_numpy(ids).min())
            ids = pa.concat_arrays([ids, arrow_numbers(lowest - 1 - np.arange(len(titles)), pa.int64())])
        else:
            known = ids.to_pylist()
            ids = arrow_texts(known + distinct_names([f"{CELL}:{title}" for title in titles], known))
        blank = [""] * (len(self) - len(self.query))
        indptr = np.concatenate([self.brought_by.indptr, np.full(len(self.cells), self.brought_by.indptr[-1])])
        nodes = pa.table(
            {
                "id": ids,
                "name": arrow_texts(rows["name"].to_pylist() + titles),
                "kind": arrow_texts(rows["kind"].to_pylist() + [CELL] * len(titles)),
                "in_query": arrow_numbers(self.in_query),
                "label": arrow_texts(list(self.query.labels or [""] * len(self.query)) + blank),
                "cells": pa.ListArray.from_arrays(
                    arrow_numbers(indptr.astype(np.int32)), arrow_numbers(self.brought_by.indices + 1, pa.int32())
                ),
                "query_links": arrow_numbers(
                    np.concatenate([self.query_links, np.zeros(len(self.cells), np.int32)]), pa.int32()
                ),
            }
        )
        nodes = nodes if self.lookups is None else _append_columns(nodes, self.lookups.nodes(self.objects))
        return Nodes(nodes, self._read_graph)

    @cached_property
    def links(self) -> ArrowTable:
        """The links as a table: ``source``, ``target`` (ids), ``weight``, ``kind`` and attributes.

        ``kind`` is ``membership``, the kind in the source (``a|b`` if there are several), or ``link``. ``weight`` is
        the weight for the next step; if the form ``hybrid`` changed it, ``given`` is the weight in the source. If links
        have a direction, ``forward`` is the weight from source to target and ``backward`` that in the other direction.
        If they have a time, ``first`` and ``last`` are the earliest and the latest. Memberships have empty values
        there.
        """
        ids = self.nodes.to_arrow()["id"]
        links = pa.table(
            {
                "source": ids.take(arrow_numbers(self.source)),
                "target": ids.take(arrow_numbers(self.target)),
                "weight": arrow_numbers(self.weight, pa.float32()),
            }
        )
        member = ~self._among
        kinds = arrow_texts(np.where(member, MEMBERSHIP, LINK).tolist())
        known = None if self.lookups is None else self.lookups.links(*self._ends)
        places = arrow_numbers(np.cumsum(~member) - 1, missing=member)
        known = None if known is None else known.take(places)
        if known is not None and "kind" in known.column_names:
            kinds = pc.coalesce(known["kind"], kinds)
            known = known.drop_columns("kind")
        links = links.append_column("kind", kinds)
        if self.given is not None:
            links = links.append_column(GIVEN, arrow_numbers(self.given, pa.float32()).take(places))
        return ArrowTable(links if known is None else _append_columns(links, known))

    def to_arrow(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as Arrow tables, with the recipe in the metadata of their schemas."""
        about = None if self.recipe is None else {"cube2net.recipe": self.recipe.to_json()}
        return NodesAndLinks(*(table.to_arrow().replace_schema_metadata(about) for table in (self.nodes, self.links)))

    def to_pandas(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as pandas data frames.

        Integer and boolean columns keep their type if values are missing. See :attr:`nodes` and :attr:`links` for the
        columns.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> nodes, links = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_pandas()
        >>> list(links.columns)
        ['source', 'target', 'weight', 'kind', 'given']
        """
        return NodesAndLinks(self.nodes.to_pandas(), self.links.to_pandas())

    def to_polars(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as Polars data frames."""
        return NodesAndLinks(self.nodes.to_polars(), self.links.to_polars())

    @property
    def _ends(self) -> tuple[Array, Array]:
        """The rows in the cube of both ends of every link between objects."""
        among = self._among
        return self.objects[self.source[among]], self.objects[self.target[among]]

    @property
    def _among(self) -> Array:
        """Which links are between objects: the others are memberships."""
        return np.asarray(np.maximum(self.source, self.target) < len(self.objects))


def network_fingerprint(network: Network) -> bytes:
    """Return bytes that are the same for networks of the same nodes and links."""
    digest = hashlib.sha256()
    for part in (network.objects, network.cells, network.source, network.target, network.weight):
        digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(b"|")
    return digest.digest()


def _unpickle(make: Any, kind: type, values: dict[str, Any], count: int, whole: bool, names: pa.Table) -> Any:
    """Return a network that came from another process, which knows the names of its own objects alone."""
    return make(kind, values | {"names": Objects.some(count, values["objects"], names, whole=whole)})


def _append_columns(rows: pa.Table, more: pa.Table) -> pa.Table:
    """Return a table with the columns of another, which may be shorter: then the last rows have nothing there."""
    for name, column in zip(more.column_names, more.columns, strict=True):
        gap = pa.nulls(rows.num_rows - more.num_rows, column.type)
        rows = rows.append_column(name, pa.chunked_array([*column.chunks, gap], column.type))
    return rows.combine_chunks()


@dataclass(frozen=True, eq=False)
class Drawing:
    """A network, a position for each of its nodes, and a title."""

    network: Network
    places: Array
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", freeze(self.places))
        if self.places.shape != (len(self.network), 2) or not bool(np.isfinite(self.places).all()):
            raise InputError(
                f"{len(self.network):,} nodes have places of shape {self.places.shape}, expected two finite numbers"
            )

    def __repr__(self) -> str:
        return f"Drawing({self.title!r}, {self.network!r})"


@dataclass(frozen=True, eq=False)
class RequestContext:
    """The request behind a network. It refers to the cube, so it is not sent to other processes.

    ``cube`` has the cells that could be chosen, also at other levels, and ``whole`` is the original cube. ``worth`` has
    the weights of the objective. ``steering`` has the pins, bans and preferences. ``again(steering)`` constructs the
    network with other pins and bans, and ``again(steering, query)`` that of another query.
    """

    cube: Cube
    whole: Cube
    worth: QueryObjective
    budget: Budget
    form: Form
    method: str
    objective: str
    steering: Steering
    again: Callable[..., Network]

    def count_objects(self, cells: Array) -> list[int]:
        """Return the number of objects of each cell that may be added to a network."""
        members, forbidden = self.cube.cells.members, self.budget.scope.forbidden_objects
        lazy = isinstance(members, LazyRagged)
        rows = members.take_counted(cells)[0] if isinstance(members, LazyRagged) else members
        held = [rows[row] for row in (range(len(cells)) if lazy else cells.tolist())]
        return [len(row) if forbidden is None else int((~forbidden[row]).sum()) for row in held]

    def __repr__(self) -> str:
        return f"RequestContext({self.method}, {self.objective}, of {self.cube!r})"
