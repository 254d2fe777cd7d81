"""Nodes and links of a network as tables of plain values, from which all exports are written.

Dates and times become ISO 8601 texts, categories their texts, and 32-bit floats the shortest decimal that reads back as
the same number; infinity and NaN are missing. Lists of plain values stay lists; deeper nested values become JSON.
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
from cube2net._util.arrow import arrow_numbers, arrow_texts, to_numpy
from cube2net.errors import InputError, quote_few
from cube2net.model.corpus import is_list
from cube2net.model.cube import FORWARD, KIND
from cube2net.model.network import GIVEN, LINK, Network
from cube2net.model.node_names import cell_line
from cube2net.network.attributes import BACKWARD, GIVEN_ROWS

EMPTY = arrow_texts([""])[0]
FIXED_TEXTS = ("name", "kind", "label")


def describe_form(network: Network) -> dict[str, Any]:
    """Return the form of a network, its dimensions, and the titles of the selected cells by rank."""
    return {
        "form": network.form,
        "dimensions": list(network.dimensions),
        "selected": [cell_line(labels) for labels in network.labels],
    }


def describe_with_recipe(network: Network) -> dict[str, Any]:
    """Return what :func:`describe_form` returns, and the recipe if the network has one."""
    return describe_form(network) | ({} if network.recipe is None else {"recipe": network.recipe.to_dict()})


def plain_nodes(network: Network) -> pa.Table:
    """Return the nodes as a plain table; a missing name, kind or label is an empty text."""
    table = plain_table(network.nodes.to_arrow())
    for name in FIXED_TEXTS:
        table = table.set_column(table.column_names.index(name), name, pc.fill_null(table[name], EMPTY))
    return table


def list_texts(table: pa.Table, column: str) -> list[str]:
    """Return a column as texts; missing values are empty texts."""
    return ["" if value is None else str(value) for value in table[column].to_pylist()]


def list_ids(network: Network) -> list[Any]:
    """Return the ids of the nodes, texts or integers as in the source; a missing id is an empty text."""
    return ["" if key is None else key for key in network.nodes]


def require_distinct(ids: Sequence[Any], advice: str = "rename them in the source") -> Sequence[Any]:
    """Return the ids; raise if two nodes share one, because they would become one node."""
    if len(set(ids)) < len(ids):
        repeated = [key for key, count in Counter(ids).items() if count > 1]
        raise InputError(f"several nodes of the network have the same id: {quote_few(repeated)} ({advice})")
    return ids


@dataclass(frozen=True, eq=False)
class Ends:
    """Links, directed or not: the positions of both ends, and a table of all other columns."""

    source: Array
    target: Array
    table: pa.Table
    directed: bool

    @cached_property
    def columns(self) -> pa.Table:
        """The columns as plain values."""
        return plain_table(self.table)


def is_directed(network: Network) -> bool:
    """Return whether the source of a network gives the direction of its links."""
    return {FORWARD, BACKWARD} <= set(network.links.to_arrow().column_names)


def list_ends(network: Network) -> Ends:
    """Return the links of a network; of a directed link, each direction that the source gives.

    The weight of a direction is its share of the network's weight, in proportion to the source's weights. The source's
    own weight is in the column ``given``, as for undirected links that a form has reweighted. A direction has its own
    kind and times. A membership has one direction, from the object to its cell.
    """
    table = network.links.to_arrow().drop_columns(["source", "target"])
    if not is_directed(network):
        return Ends(network.source, network.target, table, False)
    objects = np.asarray(np.maximum(network.source, network.target) < len(network.objects))
    ends = np.stack([network.source, network.target], axis=1)
    details = None if network.lookups is None else network.lookups.directions(*network.objects[ends[objects].T])
    ways = (table[name].cast(pa.float64(), safe=False) for name in (FORWARD, BACKWARD))
    directed_weights = np.stack([pc.fill_null(way, 0.0).to_numpy() for way in ways], axis=1)
    exists: Array = np.asarray(directed_weights > 0)
    if details is not None and GIVEN_ROWS in details.column_names:  # a direction of weight 0 is one, too
        exists[objects] |= np.reshape(details[GIVEN_ROWS].to_numpy() > 0, (2, -1)).T
    undirected: Array = np.asarray(~exists.any(axis=1))
    exists[undirected, 0] = True
    ends[undirected] = np.sort(ends[undirected], axis=1)  # cells come after all objects
    parts = np.where((directed_weights.sum(axis=1) > 0)[:, None], directed_weights, exists)
    shares = parts / parts.sum(axis=1, keepdims=True)
    link, backward = np.nonzero(exists)
    weights = (network.weight.astype(np.float64)[link] * shares[link, backward]).astype(np.float32)
    columns = table.drop_columns([name for name in (FORWARD, BACKWARD, GIVEN) if name in table.column_names])
    columns = columns.take(pa.array(link))
    columns = columns.set_column(columns.column_names.index("weight"), "weight", pa.array(weights))
    if details is not None:
        own = (objects & ~undirected)[link]
        rows = (np.cumsum(objects) - 1)[link] + backward * int(objects.sum())
        columns = _replace_columns(columns, details.take(pa.array(rows, mask=~own)), pa.array(own))
    source_weights = pa.array(directed_weights[link, backward], pa.float32(), mask=undirected[link])
    columns = columns.append_column(GIVEN, source_weights)
    return Ends(ends[link, backward], ends[link, 1 - backward], columns, True)


def _replace_columns(table: pa.Table, details: pa.Table, rows: pa.Array) -> pa.Table:
    """Return a table with the kinds and times of ``details`` in the marked rows."""
    for name in (name for name in details.column_names if name in table.column_names):
        values = pc.fill_null(details[name], LINK) if name == KIND else details[name]
        table = table.set_column(table.column_names.index(name), name, pc.if_else(rows, values, table[name]))
    return table


ZERO, NOTHING = arrow_numbers(np.array([0]))[0], pa.nulls(1)[0]
FRACTION = r"\.?0*(Z|[+-]\d\d:?\d\d)?$"


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns are booleans, integers, floats, texts, or lists of one of these.

    >>> import datetime
    >>> days = pa.array([datetime.date(2006, 2, 25), None])
    >>> plain_table(pa.table({"day": days, "share": pa.array([0.1, float("nan")], pa.float32())})).to_pylist()
    [{'day': '2006-02-25', 'share': 0.1}, {'day': None, 'share': None}]
    """
    return pa.table({name: _make_plain(column) for name, column in zip(table.column_names, table.columns, strict=True)})


def with_dates(table: pa.Table, plain: pa.Table) -> pa.Table:
    """Return a plain table with the dates and times of its original, for formats that have such types.

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


def choose_list_format(column: pa.ChunkedArray, separator: str) -> Callable[[Any], str]:
    """Return a function that joins the lists of a plain column; JSON if a value is missing or has the separator.

    >>> [choose_list_format(pa.chunked_array([[values]]), ";")(values) for values in (["a", "b"], ["a;", "b"])]
    ['a;b', '["a;", "b"]']
    """
    flat, kind = pc.list_flatten(column), column.type.value_type
    is_ambiguous = name_type(kind) == "string" and pc.any(pc.match_substring(flat, separator.strip())).as_py()
    if flat.null_count or is_ambiguous:
        return format_json
    format_value = choose_format(kind)
    return lambda values: separator.join(map(format_value, values))


def iterate_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table as Python values.

    >>> list(iterate_rows(pa.table({"name": ["a", None], "cells": [[1], []]})))
    [('a', [1]), (None, [])]
    """
    for batch in table.to_batches(max_chunksize=4096):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def iterate_records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a plain table as dictionaries without missing values."""
    names = table.column_names
    for row in iterate_rows(table):
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


def name_type(kind: pa.DataType) -> str:
    """Return GraphML's name of a plain type: boolean, int, long, double or string, as which lists are written.

    >>> [name_type(kind) for kind in (pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.list_(pa.int32()))]
    ['boolean', 'int', 'long', 'double', 'string']
    """
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "int" if kind.bit_width <= 32 else "long"
    return "double" if pa.types.is_floating(kind) else "string"


def choose_format(kind: pa.DataType) -> Callable[[Any], str]:
    """Return a function that formats values of a plain type: lists of numbers separated by spaces, of texts as JSON.

    >>> choose_format(pa.bool_())(True), choose_format(pa.list_(pa.int32()))([1, 12])
    ('true', '1 12')
    """
    if is_list(kind):
        inner = kind.value_type
        if pa.types.is_integer(inner) or pa.types.is_floating(inner):
            return lambda values: " ".join("" if value is None else str(value) for value in values)
        return format_json
    return (lambda value: "true" if value else "false") if pa.types.is_boolean(kind) else str


def format_json(value: object) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _make_plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _make_plain(array.storage)
    if pa.types.is_dictionary(kind):
        return _make_plain(array.cast(kind.value_type))
    if is_list(kind):
        return _make_plain_lists(array)
    if pa.types.is_boolean(kind):
        return array
    if pa.types.is_integer(kind):
        return _make_plain_integers(array)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _make_plain_floats(array)
    if pa.types.is_duration(kind):
        return pc.divide(array.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        text = pc.replace_substring(array.cast(pa.string()), " ", "T")
        return pc.if_else(pc.match_substring(text, "."), pc.replace_substring_regex(text, FRACTION, r"\1"), text)
    if pa.types.is_date(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    return pa.array([None if value is None else _format_nested(value) for value in array.to_pylist()], pa.string())


def _make_plain_integers(array: pa.Array) -> pa.Array:
    kind = array.type
    if kind.bit_width < 32 or pa.types.is_int32(kind):
        return array.cast(pa.int32())
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:  # too large for a signed 64-bit integer
        return array.cast(pa.string())


def _make_plain_floats(array: pa.Array) -> pa.Array:
    if pa.types.is_float64(array.type) or pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    else:
        single = to_numpy(pc.fill_null(array.cast(pa.float32()), ZERO.cast(pa.float32())))
        array = arrow_numbers(single.astype(np.str_).astype(np.float64), missing=to_numpy(pc.is_null(array)))
    return pc.if_else(pc.is_finite(array), array, NOTHING.cast(pa.float64()))


def _make_plain_lists(array: pa.Array) -> pa.Array:
    inner = array.type.value_type
    if is_list(inner) or pa.types.is_nested(inner):
        texts = [None if value is None else list(map(_format_nested, value)) for value in array.to_pylist()]
        return pa.array(texts, pa.list_(pa.string()))
    lengths = pc.list_value_length(array)
    lengths = to_numpy(pc.fill_null(lengths, ZERO.cast(lengths.type)))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = _make_plain(array.flatten())
    return pa.LargeListArray.from_arrays(arrow_numbers(starts), values, mask=pc.is_null(array))


def _format_nested(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else json.dumps(_replace_nonfinite(value), ensure_ascii=False, default=str)


def _replace_nonfinite(value: Any) -> Any:
    """Replace infinity and NaN, which JSON cannot express, by None in a nested value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _replace_nonfinite(part) for name, part in value.items()}
    return [_replace_nonfinite(part) for part in value] if isinstance(value, list | tuple) else value
