"""What every export holds of a network: its nodes, its links with their directions, what it is about, its recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrow_values import arrow_texts
from cube2net.errors import InputError, some
from cube2net.network.attributes import BACKWARD, GIVEN_ROWS
from cube2net.network.plain_columns import plain_table
from cube2net.records import Network
from cube2net.records.cell_titles import cell_line
from cube2net.records.link_details import FORWARD, KIND
from cube2net.records.network import GIVEN, LINK

EMPTY = arrow_texts([""])[0]
FIXED_TEXTS = ("name", "kind", "label")


def about(network: Network) -> dict[str, Any]:
    """Return what the ranks of cells stand for: the form, the dimensions, and the cells in the order chosen."""
    return {
        "form": network.form,
        "dimensions": list(network.dimensions),
        "selected": [cell_line(labels) for labels in network.labels],
    }


def about_with_recipe(network: Network) -> dict[str, Any]:
    """Return what a network is about and, where it has one, its recipe, for formats that hold one JSON object."""
    return about(network) | ({} if network.recipe is None else {"recipe": network.recipe.to_dict()})


def plain_nodes(network: Network) -> pa.Table:
    """Return the nodes in plain values, a missing name, kind or label as an empty text."""
    table = plain_table(network.nodes)
    for name in FIXED_TEXTS:
        table = table.set_column(table.column_names.index(name), name, pc.fill_null(table[name], EMPTY))
    return table


def texts(table: pa.Table, column: str) -> list[str]:
    """Return a column as texts, a missing one as an empty one."""
    return ["" if value is None else str(value) for value in table[column].to_pylist()]


def ids_of(network: Network) -> list[Any]:
    """Return the ids of the nodes: texts, or whole numbers where the source has these; a missing one is empty."""
    return ["" if key is None else key for key in network.nodes["id"].to_pylist()]


def distinct(ids: Sequence[Any], advice: str) -> Sequence[Any]:
    """Return the ids as they are; raise when two nodes have the same one, for they would become one node."""
    if len(set(ids)) < len(ids):
        twice = [key for key, count in Counter(ids).items() if count > 1]
        raise InputError(f"several nodes of the network have the same id: {some(twice)} ({advice})")
    return ids


@dataclass(frozen=True, eq=False)
class Ends:
    """Links as a format with directions has them: positions of both ends, and every other column beside them."""

    source: Array
    target: Array
    table: pa.Table
    directed: bool

    @cached_property
    def columns(self) -> pa.Table:
        """The columns in plain values."""
        return plain_table(self.table)


def is_directed(network: Network) -> bool:
    """Return whether the source of a network says which way its links go."""
    return {FORWARD, BACKWARD} <= set(network.links.column_names)


def ends_of(network: Network) -> Ends:
    """Return the links of a network, each once; where they have directions, each direction that the source gives.

    A directed link has the kind and the times of what leads its way.
    The weight of a directed link is its share of the network's weight, as the source's weights divide it; that of the
    source itself is beside it as ``given``, as it is of links without directions that a form has weighed. A membership
    goes once, from the object to its cell.
    """
    table = network.links.drop_columns(["source", "target"])
    if not is_directed(network):
        return Ends(network.source, network.target, table, False)
    ways = np.stack([_weights(table[name]) for name in (FORWARD, BACKWARD)], axis=1)
    told = _told_of_ways(network)
    leads: Array = np.asarray((ways > 0) | _leads(network, told))
    one_way: Array = np.asarray(~leads.any(axis=1))
    leads[one_way, 0] = True
    parts = np.where((ways.sum(axis=1) > 0)[:, None], ways, leads)
    shares = parts / parts.sum(axis=1, keepdims=True)
    link, back = np.nonzero(leads)
    both = np.stack([network.source, network.target], axis=1)
    both[one_way] = np.sort(both[one_way], axis=1)  # cells stand after all objects
    weights = (network.weight.astype(np.float64)[link] * shares[link, back]).astype(np.float32)
    columns = table.drop_columns([name for name in (FORWARD, BACKWARD, GIVEN) if name in table.column_names])
    columns = columns.take(pa.array(link))
    columns = columns.set_column(columns.column_names.index("weight"), "weight", pa.array(weights))
    columns = _of_their_ways(network, told, columns, np.where(one_way, -1, np.arange(len(one_way)))[link], back)
    columns = columns.append_column(GIVEN, pa.array(ways[link, back], pa.float32(), mask=one_way[link]))
    return Ends(both[link, back], both[link, 1 - back], columns, True)


def _among_objects(network: Network) -> Array:
    """Return which links are between objects: the others are memberships."""
    return np.asarray(np.maximum(network.source, network.target) < len(network.objects))


def _told_of_ways(network: Network) -> pa.Table | None:
    """Return what the source says of each way of the links between objects, there and then back; None for nothing."""
    among = _among_objects(network)
    ends = (network.objects[end[among]] for end in (network.source, network.target))
    return None if network.carried is None else network.carried.ways(*ends)


def _leads(network: Network, ways: pa.Table | None) -> Array:
    """Return which ways of the links the source gives, also with no weight."""
    leads = np.zeros((len(network.source), 2), dtype=bool)
    if ways is not None and GIVEN_ROWS in ways.column_names:
        leads[_among_objects(network)] = np.reshape(ways[GIVEN_ROWS].to_numpy() > 0, (2, -1)).T
    return leads


def _of_their_ways(network: Network, ways: pa.Table | None, columns: pa.Table, links: Array, back: Array) -> pa.Table:
    """Return directed links with the kinds and times of their own ways; those of the number -1 stay as they are."""
    if ways is None:
        return columns
    among = _among_objects(network)
    own = (links >= 0) & among[links]
    places = (np.cumsum(among) - 1)[links] + np.where(back, int(among.sum()), 0)
    told = ways.take(pa.array(places, mask=~own))
    for name in (name for name in told.column_names if name in columns.column_names):
        mine = pc.fill_null(told[name], LINK) if name == KIND else told[name]
        column = pc.if_else(pa.array(own), mine, columns[name])
        columns = columns.set_column(columns.column_names.index(name), name, column)
    return columns


def _weights(column: pa.ChunkedArray) -> Array:
    found: Array = pc.fill_null(column.cast(pa.float64(), safe=False), 0.0).to_numpy()
    return found
