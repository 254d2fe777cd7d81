"""What every export holds: nodes and links as tables of plain values, and what the network is about.

Dates and times become texts of ISO 8601, categories their texts, short floats the shortest decimal that reads back as
the same; infinity and NaN are missing. Lists of these stay lists; what is nested deeper becomes JSON.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.arrow import arrow_numbers, arrow_texts, values_of
from cube2net.errors import InputError, some
from cube2net.model.corpus import is_list
from cube2net.model.cube import FORWARD, KIND
from cube2net.model.names import cell_line
from cube2net.model.network import GIVEN, LINK, Network
from cube2net.network.attributes import BACKWARD, GIVEN_ROWS

EMPTY = arrow_texts([""])[0]
ADVICE = "rename them in the source"
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


def list_ids(network: Network) -> list[Any]:
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


def list_ends(network: Network) -> Ends:
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


ZERO, NOTHING = arrow_numbers(np.array([0]))[0], pa.nulls(1)[0]
FRACTION = r"\.?0*(Z|[+-]\d\d:?\d\d)?$"


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns are truths, whole numbers, numbers, texts, or lists of one of these.

    >>> import datetime
    >>> days = pa.array([datetime.date(2006, 2, 25), None])
    >>> plain_table(pa.table({"day": days, "share": pa.array([0.1, float("nan")], pa.float32())})).to_pylist()
    [{'day': '2006-02-25', 'share': 0.1}, {'day': None, 'share': None}]
    """
    return pa.table({name: _plain(column) for name, column in zip(table.column_names, table.columns, strict=True)})


def with_dates(table: pa.Table, plain: pa.Table) -> pa.Table:
    """Return a plain table with the dates and times of the table it was made of, for what can hold these as such.

    >>> import datetime
    >>> table = pa.table({"day": [datetime.date(2006, 2, 25)]})
    >>> with_dates(table, plain_table(table)).to_pylist()
    [{'day': datetime.date(2006, 2, 25)}]
    """
    for number, name in enumerate(plain.column_names):
        kind = table.schema.field(name).type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            short = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.date32()
            plain = plain.set_column(number, name, table[name].cast(short, safe=False))
    return plain


def can_be_joined(column: pa.ChunkedArray, sign: str) -> bool:
    """Return whether the lists of a plain column can be written with a sign between: no value is missing or has it.

    >>> can_be_joined(pa.chunked_array([[["a", "b"]]]), ";"), can_be_joined(pa.chunked_array([[["a;", "b"]]]), ";")
    (True, False)
    """
    flat = pc.list_flatten(column)
    text = name_type(column.type.value_type) == "string"
    return not (flat.null_count or (text and pc.any(pc.match_substring(flat, sign)).as_py()))


def rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a table one by one, as Python has them.

    >>> list(rows(pa.table({"name": ["a", None], "cells": [[1], []]})))
    [('a', [1]), (None, [])]
    """
    for batch in table.to_batches(max_chunksize=4096):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Give the rows of a plain table as dictionaries, without what is missing."""
    names = table.column_names
    for row in rows(table):
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


def name_type(kind: pa.DataType) -> str:
    """Return what GraphML calls a plain type: boolean, int, long, double or string.

    Lists are texts there.

    >>> [name_type(kind) for kind in (pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.list_(pa.int32()))]
    ['boolean', 'int', 'long', 'double', 'string']
    """
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "int" if kind.bit_width <= 32 else "long"
    return "double" if pa.types.is_floating(kind) else "string"


def as_text(kind: pa.DataType) -> Callable[[Any], str]:
    """Return what writes the values of a plain type as texts: lists of numbers with spaces between, of texts as JSON.

    >>> as_text(pa.bool_())(True), as_text(pa.list_(pa.int32()))([1, 12]), as_text(pa.list_(pa.string()))(["a", "b"])
    ('true', '1 12', '["a", "b"]')
    """
    if is_list(kind):
        inner = kind.value_type
        if pa.types.is_integer(inner) or pa.types.is_floating(inner):
            return lambda values: " ".join("" if value is None else str(value) for value in values)
        return json_text
    return (lambda value: "true" if value else "false") if pa.types.is_boolean(kind) else str


def json_text(value: object) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage)
    if pa.types.is_dictionary(kind):
        return _plain(array.cast(kind.value_type))
    if is_list(kind):
        return _lists(array)
    if pa.types.is_boolean(kind):
        return array
    if pa.types.is_integer(kind):
        return _whole(array)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers(array)
    if pa.types.is_duration(kind):
        return pc.divide(array.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        text = pc.replace_substring(array.cast(pa.string()), " ", "T")
        return pc.if_else(pc.match_substring(text, "."), pc.replace_substring_regex(text, FRACTION, r"\1"), text)
    if pa.types.is_date(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    return pa.array([None if value is None else _deep_text(value) for value in array.to_pylist()], pa.string())


def _whole(array: pa.Array) -> pa.Array:
    kind = array.type
    if kind.bit_width < 32 or pa.types.is_int32(kind):
        return array.cast(pa.int32())
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:  # above what signed numbers of 64 bits can be
        return array.cast(pa.string())


def _numbers(array: pa.Array) -> pa.Array:
    if pa.types.is_float64(array.type) or pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    else:
        missing = values_of(pc.is_null(array))
        short = values_of(pc.fill_null(array.cast(pa.float32()), ZERO.cast(pa.float32())))
        array = arrow_numbers(short.astype(np.str_).astype(np.float64), missing=missing)
    return pc.if_else(pc.is_finite(array), array, NOTHING.cast(pa.float64()))


def _lists(array: pa.Array) -> pa.Array:
    inner = array.type.value_type
    if is_list(inner) or pa.types.is_nested(inner):
        texts = [None if value is None else list(map(_deep_text, value)) for value in array.to_pylist()]
        return pa.array(texts, pa.list_(pa.string()))
    lengths = pc.list_value_length(array)
    lengths = values_of(pc.fill_null(lengths, ZERO.cast(lengths.type)))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = _plain(array.flatten())
    return pa.LargeListArray.from_arrays(arrow_numbers(starts), values, mask=pc.is_null(array))


def _deep_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    """Return a nested value without numbers that are none, which JSON has no way to write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
