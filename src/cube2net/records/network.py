"""The network around a query: the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.records import limits
from cube2net.records.frames import NodesAndLinks, to_pandas, to_polars
from cube2net.records.link_weights import count_unusable
from cube2net.records.objects import Objects
from cube2net.records.pickling import travel_by_fields
from cube2net.records.query import Query
from cube2net.records.ragged import Ragged, frozen
from cube2net.records.recipe import Recipe
from cube2net.records.selection import Selection

CELL = "cell"


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes and undirected links; the objects of the query come first, then the others, then cells.

    ``objects`` are the rows of the object nodes in the cube, ``cells`` the numbers of the selected cells
    that are nodes themselves (none in the form ``objects``). ``source``, ``target`` and ``weight`` are the
    links, each once, between positions of nodes. ``brought_by`` says for every object node which selected
    cells hold it (by rank, from 0), ``query_links`` how many of its links lead into the query. ``labels``
    are the labels of every selected cell and ``dimensions`` the names of the dimensions. ``recipe`` says what made it,
    where :func:`cube2net.construct` did. A network can be sent to other processes, whole but for the names of objects
    that it does not have.
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
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        for name in ("objects", "cells", "source", "target", "weight", "query_links"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if not np.array_equal(self.objects[: len(self.query)], self.query.objects):
            raise InputError("a network's first nodes must be the objects of its query")
        if not len(self.source) == len(self.target) == len(self.weight):
            raise InputError("a network's links need a source, a target and a weight each")
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
        make, (kind, values) = travel_by_fields(self)
        names = self.names.table.select(["object", "name", "kind"]).take(pa.array(self.objects))
        return _arrived, (make, kind, values | {"names": None}, len(self.names), names)

    def __len__(self) -> int:
        return len(self.objects) + len(self.cells)

    def __repr__(self) -> str:
        cells = f", {len(self.cells):,} cells" if len(self.cells) else ""
        return (
            f"Network({len(self.objects):,} objects{cells}, {len(self.source):,} links, "
            f"{len(self.query):,} in the query)"
        )

    @property
    def in_query(self) -> Array:
        """Whether each node is an object of the query."""
        return np.arange(len(self)) < len(self.query)

    @cached_property
    def nodes(self) -> pa.Table:
        """One row a node: ``id, name, kind, in_query, label, cells, query_links``.

        ``label`` is the user's label of a query object (empty elsewhere); ``cells`` are the ranks of the
        selected cells that hold it, from 1, in the order chosen.
        """
        rows = self.names.table.take(pa.array(self.objects))
        titles = [" · ".join(self.labels[rank]) for rank in self._ranks]
        ids = rows["object"].to_pylist()
        ids += _distinct([f"{CELL}:{title}" for title in titles], set(ids))
        blank = [""] * (len(self) - len(self.query))
        indptr = np.concatenate([self.brought_by.indptr, np.full(len(self.cells), self.brought_by.indptr[-1])])
        return pa.table(
            {
                "id": pa.array(ids, pa.string()),
                "name": pa.array(rows["name"].to_pylist() + titles, pa.string()),
                "kind": pa.array(rows["kind"].to_pylist() + [CELL] * len(titles), pa.string()),
                "in_query": pa.array(self.in_query),
                "label": pa.array(list(self.query.labels or [""] * len(self.query)) + blank, pa.string()),
                "cells": pa.ListArray.from_arrays(
                    pa.array(indptr.astype(np.int32)), pa.array(self.brought_by.indices + 1, pa.int32())
                ),
                "query_links": pa.array(
                    np.concatenate([self.query_links, np.zeros(len(self.cells), np.int32)]), pa.int32()
                ),
            }
        )

    @cached_property
    def links(self) -> pa.Table:
        """One row a link: ``source, target`` (ids), ``weight`` and ``kind`` (link or membership)."""
        ids = self.nodes["id"]
        member = np.maximum(self.source, self.target) >= len(self.objects)
        return pa.table(
            {
                "source": ids.take(pa.array(self.source)),
                "target": ids.take(pa.array(self.target)),
                "weight": pa.array(self.weight, pa.float32()),
                "kind": pa.array(np.where(member, "membership", "link").tolist(), pa.string()),
            }
        )

    def to_arrow(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as tables of Arrow, with the recipe in the metadata of their schemas."""
        about = None if self.recipe is None else {"cube2net.recipe": self.recipe.to_json()}
        return NodesAndLinks(*(table.replace_schema_metadata(about) for table in (self.nodes, self.links)))

    def to_pandas(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as frames of pandas; whole numbers stay that where some are missing."""
        return NodesAndLinks(to_pandas(self.nodes), to_pandas(self.links))

    def to_polars(self) -> NodesAndLinks:
        """Return ``nodes`` and ``links`` as frames of Polars."""
        return NodesAndLinks(to_polars(self.nodes), to_polars(self.links))

    @property
    def _ranks(self) -> list[int]:
        rank = {cell: position for position, cell in enumerate(self.selection.cells.tolist())}
        return [rank[cell] for cell in self.cells.tolist()]


def _arrived(make: Any, kind: type, values: dict[str, Any], count: int, names: pa.Table) -> Any:
    """Return a network that came from another process, which knows the names of its own objects alone."""
    return make(kind, values | {"names": Objects.some(count, values["objects"], names)})


def _distinct(keys: list[str], taken: set[str]) -> list[str]:
    """Return the keys, with a number behind those that are taken already.

    >>> _distinct(["a", "a", "b"], {"b"})
    ['a', 'a (2)', 'b (2)']
    """
    free = []
    for key in keys:
        name, number = key, 1
        while name in taken:
            number += 1
            name = f"{key} ({number})"
        taken.add(name)
        free.append(name)
    return free
