"""Frames of any library become rows: what hands itself over by Arrow, a pandas frame, lists of values.

None of these libraries is loaded here: a frame is known by what it can do, and one of pandas by where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import Cube2netError, SourceError, first_line, quote, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import (
    CONVERSION_ERRORS,
    Rows,
    format_value,
    make_column,
    make_columns,
    number_repeated_names,
    separate_columns,
)
from cube2net.model.corpus import holds_text, is_list

STREAM, ARRAY = "__arrow_c_stream__", "__arrow_c_array__"
LARGEST = 2**31 - 1
"""The most bytes of text in a chunk of a column."""


def is_frame(thing: object) -> bool:
    """Return whether a thing is a table in memory: it hands itself over by Arrow, waits to be collected, or is a list.

    >>> is_frame(pa.table({"id": [1]})), is_frame([{"id": 1}]), is_frame("nodes.csv"), is_frame({"nodes": "nodes.csv"})
    (True, True, False, False)
    """
    if isinstance(thing, type):
        return False
    if isinstance(thing, Mapping):
        return bool(thing) and all(_is_column(value) for value in thing.values())
    if isinstance(thing, list | tuple):
        return bool(thing) and all(isinstance(entry, Mapping) for entry in thing[:3])
    return hasattr(thing, STREAM) or hasattr(thing, ARRAY) or _is_pandas(thing) or _is_lazy(thing)


def names_in(frame: Any) -> list[str]:
    """Return the names of a frame's columns, as far as it tells them without being read."""
    if _is_lazy(frame):
        return list(map(str, frame.collect_schema().names()))
    names: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
    return [] if callable(names) else list(map(str, names))


def frame_rows(frame: Any, role: str, dropped: Dropped | None = None) -> Rows:
    """Return the rows of a table in memory that is to be the ``nodes``, the ``links`` or another role.

    The index of a pandas frame becomes a column where it is named or no plain count of the rows. Texts, numbers and
    decimals in whatever layout become those that all tables have.

    >>> frame_rows([{"id": 1, "tags": {"b", "a"}}, {"id": 2}], "nodes").table["tags"].to_pylist()
    [['a', 'b'], None]
    """
    name = f"the table of {role}"
    untyped: set[str] = set()
    left_out: list[str] = []
    try:
        if _is_pandas(frame):
            columns, untyped, left_out = _pandas_columns(frame, role, dropped)
        elif isinstance(frame, Mapping):
            columns, untyped, left_out = make_columns({str(key): _values(value) for key, value in frame.items()})
        elif isinstance(frame, list | tuple):
            columns, untyped, left_out = make_columns(columns_of_records(frame))
        else:
            table = _table(frame)
            columns = dict(zip(number_repeated_names(table.column_names, dropped, name), table.columns, strict=True))
        made = pa.table({key: _usual(column) for key, column in columns.items()})
    except Cube2netError:
        raise
    except Exception as error:
        if "non-struct" in str(error):
            raise SourceError(f"{name} is one column, a {_called(frame)}, expected a table with columns") from None
        raise SourceError(f"{name}, a {_called(frame)}, cannot be read: {first_line(error)}") from None
    if made.num_columns == 0:
        without = f" but {quote_few(left_out)}, which hold fields" if left_out else ""
        raise SourceError(f"{name} has no columns{without}, expected some such as 'id'")
    if left_out and dropped is not None:
        dropped.say(f"{name}: left out columns with fields inside: {quote_few(left_out, 20)}")
    return Rows(name, made, lambda rows: [f"{name} row {row + 1:,}" for row in rows], frozenset(untyped))


def _called(thing: object) -> str:
    return f"{type(thing).__module__.partition('.')[0]} {type(thing).__name__}".removeprefix("builtins ")


def _is_column(value: object) -> bool:
    is_list = isinstance(value, list | tuple) and not any(isinstance(entry, Mapping) for entry in value[:3])
    return is_list or (hasattr(value, "__len__") and hasattr(value, "tolist") and not hasattr(value, "columns"))


def _values(column: Any) -> list[Any]:
    if _is_pandas(column, "Series"):
        return _known(column)
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _is_lazy(thing: object) -> bool:
    return hasattr(thing, "collect") and hasattr(thing, "collect_schema")


def _is_pandas(thing: object, kind: str = "DataFrame") -> bool:
    return any(one.__name__ == kind and one.__module__.partition(".")[0] == "pandas" for one in type(thing).__mro__)


def _table(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if _is_lazy(frame) and not hasattr(frame, STREAM):
        frame = frame.collect()
    if hasattr(frame, STREAM):
        reader = frame if isinstance(frame, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(frame)
        return reader.read_all()
    if hasattr(frame, ARRAY):
        return pa.Table.from_batches([pa.record_batch(frame)])
    raise SourceError(f"cannot read a {_called(frame)} as a table: expected a frame, an Arrow table or a path")


def columns_of_records(records: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the values of each key of some dictionaries, None where one has not the key."""
    columns: dict[str, list[Any]] = {}
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise SourceError(f"row {number + 1:,} of the list is {quote(record)}, expected a dictionary")
        for key, value in record.items():
            values = columns.setdefault(str(key), [])
            values += [None] * (number - len(values))
            values.append(value)
    for values in columns.values():
        values.extend([None] * (len(records) - len(values)))
    return columns


def _pandas_columns(frame: Any, role: str, dropped: Dropped | None) -> tuple[dict[str, Any], set[str], list[str]]:
    """Return the columns of a pandas frame, the names of those with mixed values, and of those left out."""
    frame = _with_index(frame, role)
    names = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in frame.columns]
    names = number_repeated_names(names, dropped, f"the table of {role}")
    return separate_columns((name, _series_column(frame.iloc[:, place])) for place, name in enumerate(names))


def _with_index(frame: Any, role: str) -> Any:
    """Return a frame with its index as a column, where that says something.

    An index without a name that only counts the rows, or is what is left of such a count, is none; where there is no
    other column for the ids, the latter is taken for them.
    """
    index = frame.index
    names = [name for name in index.names if name is not None]
    if names or index.nlevels > 1:
        again = [name for name in names if name in frame.columns]
        return frame.reset_index(drop=True) if again and len(again) == index.nlevels else frame.reset_index()
    counted = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    has_id = any("".join(filter(str.isalnum, str(name))).casefold() in ("id", "item") for name in frame.columns)
    if counted or (index.inferred_type == "integer" and (has_id or role in ("links", "mentions", "records"))):
        return frame
    return frame.rename_axis("index" if has_id else "id").reset_index()


def _series_column(series: Any) -> tuple[Any, bool]:
    """Return a pandas column as Arrow has it, and whether its values became text because their kinds differ."""
    try:
        column = pa.array(series, from_pandas=True)
    except (*CONVERSION_ERRORS, NotImplementedError):
        column = None
    if column is not None and is_list(column.type) and any(isinstance(value, set | frozenset) for value in series):
        column = None  # their order would be another one every time
    if column is not None and pa.types.is_floating(column.type) and column.null_count:
        column = _restore_integers(column)
    if column is not None and not _is_foreign(column.type):
        return (None, False) if pa.types.is_struct(column.type) else (column, False)
    if column is None:
        return make_column(_known(series))
    return pa.array([None if value is None else format_value(value) for value in _known(series)], pa.string()), False


def _restore_integers(column: Any) -> Any:
    """Return whole numbers that pandas keeps as fractions because some are missing."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _is_foreign(kind: pa.DataType) -> bool:
    """Return whether a type is one of another library, such as a period or an interval of pandas."""
    inside = kind.value_type if pa.types.is_dictionary(kind) else kind
    return isinstance(inside, pa.BaseExtensionType)


def _known(series: Any) -> list[Any]:
    return [None if gone else value for value, gone in zip(series.tolist(), series.isna().tolist(), strict=True)]


def _usual(column: Any) -> pa.ChunkedArray:
    """Return a column in one of the layouts that all tables have.

    >>> _usual(pa.array(["a", None], pa.large_string())).type, _usual(pa.array([1, 2], pa.decimal128(38, 0))).type
    (DataType(string), DataType(int64))
    """
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _usual(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return _usual(pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], kind.value_type))
    if pa.types.is_dictionary(kind):
        values = [_usual(chunk.dictionary).combine_chunks() for chunk in column.chunks]
        chunks = [pa.DictionaryArray.from_arrays(chunk.indices, values[at]) for at, chunk in enumerate(column.chunks)]
        if not chunks or holds_text(values[0].type):
            return pa.chunked_array(chunks, pa.dictionary(kind.index_type, pa.string()))
        return pa.chunked_array([chunk.dictionary_decode() for chunk in chunks])
    if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        parts = [part.cast(pa.string()) for chunk in column.chunks for part in _parts(chunk)]
        return pa.chunked_array(parts, pa.string())
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return _usual(column.cast(pa.list_(kind.value_type)))
    if is_list(kind) and not pa.types.is_string(kind.value_type) and holds_text(kind.value_type):
        return column.cast(pa.list_(pa.string()))
    if pa.types.is_decimal(kind) and kind.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return pc.cast(column, pa.float32()) if pa.types.is_float16(kind) else column


def _parts(chunk: pa.Array) -> list[pa.Array]:
    """Return a chunk of texts as parts, each of few enough that a column of the usual layout can hold them."""
    count = max(1, -(-chunk.nbytes // LARGEST))
    size = max(1, -(-len(chunk) // (4 * count if count > 1 else 1)))
    return [chunk.slice(at, size) for at in range(0, len(chunk), size)]
