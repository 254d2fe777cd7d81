"""Convert columns to ids, weights or attributes (labels, lists of labels, truth values, numbers, dates).

Columns belong to ``Rows``, a table that knows where its rows come from. Python values of any type become columns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import LIGHTEST, Array
from cube2net.errors import Message, Placeholder, Setting, SourceError, join_names, quote_few
from cube2net.io.dropped import Dropped, Places
from cube2net.io.tables.dialects import DEFAULT_CONVENTIONS, Conventions
from cube2net.io.tables.locale_values import (
    NUMBER,
    TableFormats,
    clean_labels,
    clean_texts,
    guess_value_type,
    parse_dates,
    parse_numbers,
    parse_timestamps,
    replace_infinite,
)
from cube2net.model.corpus import decode, holds_text, is_list

COLLECTION_TYPES = (list, tuple, set, frozenset, np.ndarray)
CONVERSION_ERRORS = (pa.ArrowException, OverflowError, TypeError, ValueError)
MAX_SAMPLED_ROWS = 2_000
TRUTH_VALUES = dict.fromkeys(("yes", "y", "true", "t", "ja", "oui", "si", "sí", "sì"), True)
MAX_TRUTH_SPELLINGS = 12
TRUTH_VALUES |= dict.fromkeys(("no", "n", "false", "f", "nein", "non"), False)
MAX_WEIGHT = 1e30
MAX_EXACT_INTEGER = 2.0**53

ReadingNotes = dict[str, str]
"""Notes on how columns were interpreted where that was a guess, by column name."""
Separators = Mapping[str, str | Sequence[str]]
"""The separator of each multi-valued column, or several of them."""
EVERY_SECOND_COMMA = ",,"
"""The separator of lists such as "Last, F., Last, F.", in which each name contains a comma."""
VALUE_BREAK = "\x1f"


@dataclass(frozen=True, eq=False)
class Rows:
    """A table and where its rows come from.

    ``places`` describes rows by their numbers: ``links.csv line 7``. ``untyped`` are the columns whose values are text
    because the file format has no types. ``conventions`` tell how numbers and dates are written in such texts.
    """

    name: str
    table: pa.Table
    places: Places
    untyped: frozenset[str] = frozenset()
    conventions: Conventions = DEFAULT_CONVENTIONS

    @cached_property
    def formats(self) -> TableFormats:
        """How numbers and dates are written in the texts of the table."""
        return TableFormats(self.table, self.untyped, self.conventions)

    def take(self, kept: Array) -> Rows:
        """Return the rows with the given numbers, with their places."""
        places = self.places
        table = self.table.take(pa.array(kept))
        return replace(self, table=table, places=lambda numbers: places([int(kept[row]) for row in numbers]))

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {self.table.num_rows:,} rows, columns {join_names(self.table.column_names)})"


def make_unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with underscores appended until it is not taken."""
    while name in taken:
        name += "_"
    return name


def number_repeated_names(names: Sequence[str], dropped: Dropped | None, source: str) -> list[str]:
    """Return column names in which repeated ones have a number appended, as in pandas.

    >>> number_repeated_names(["name", "year", "name"], None, "x.csv")
    ['name', 'year', 'name.1']
    """
    unique_names: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in unique_names:
            number += 1
            candidate = f"{name}.{number}"
        unique_names.append(candidate)
    repeated = [name for name in unique_names if name not in names]
    if repeated and dropped is not None:
        dropped.say(f"{source} names columns twice: they are called {quote_few(repeated)} (guessed)")
    return unique_names


def make_column(values: Sequence[Any]) -> tuple[pa.Array | None, bool]:
    """Return a column, and whether its values were converted to text because their types differ.

    If one value is a list, all become lists of texts. Dictionaries make no column.

    >>> column, texts = make_column([1, "n.d.", True])
    >>> column.to_pylist(), texts
    (['1', 'n.d.', 'true'], True)
    """
    if any(isinstance(value, dict) for value in values):
        return None, False
    if any(isinstance(value, COLLECTION_TYPES) for value in values):
        return _list_column(values), False
    converted = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in converted if value is not None}
    if kinds <= {int, float} or len(kinds) == 1:
        try:
            return pa.array(converted, from_pandas=True), False
        except CONVERSION_ERRORS:
            pass
    return pa.array([None if value is None else format_value(value) for value in converted], pa.string()), True


def _list_column(values: Iterable[Any]) -> pa.Array | None:
    rows: list[list[str] | None] = []
    for value in values:
        if isinstance(value, set | frozenset):
            rows.append(sorted(format_value(entry) for entry in value if entry is not None))
        elif isinstance(value, COLLECTION_TYPES):
            if any(isinstance(entry, (*COLLECTION_TYPES, dict)) for entry in value):
                return None
            rows.append([format_value(entry) for entry in value if entry is not None])
        else:
            rows.append(None if value is None else [format_value(value)])
    return pa.array(rows, pa.list_(pa.string()))


def format_value(value: Any) -> str:
    """Return a value as text that can be encoded in UTF-8; truth values are written as in JSON.

    >>> format_value(True), format_value(2.5), format_value("a")
    ('true', '2.5', 'a')
    """
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")


def make_columns(values_by_name: Mapping[str, Sequence[object]]) -> tuple[dict[str, pa.Array], set[str], list[str]]:
    """Return the columns as arrays, the names of those with values of mixed types, and the names of those left out."""
    return separate_columns((name, make_column(values)) for name, values in values_by_name.items())


def separate_columns(
    columns: Iterable[tuple[str, tuple[pa.Array | None, bool]]],
) -> tuple[dict[str, pa.Array], set[str], list[str]]:
    """Separate pairs of a column (None if it cannot be used) and whether its types are mixed.

    Returns the usable columns by name, the names of the mixed ones, and the names without a column.

    >>> separate_columns([("a", (pa.array([1]), False)), ("b", (None, False)), ("c", (pa.array(["x"]), True))])[1:]
    ({'c'}, ['b'])
    """
    arrays, mixed, left_out = {}, set(), []
    for name, (array, is_mixed) in columns:
        if array is None:
            left_out.append(name)
            continue
        arrays[name] = array
        if is_mixed:
            mixed.add(name)
    return arrays, mixed, left_out


def read_ids(rows: Rows, name: str) -> pa.ChunkedArray:
    """Return a column as ids: trimmed texts, or whole numbers as texts; an empty id is missing."""
    column = decode(rows.table[name])
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_finite(column), pc.cast(column, pa.float64()), None)
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), MAX_EXACT_INTEGER))
        if pc.all(whole).as_py() is not False:
            column = pc.cast(column, pa.int64())
    if not (holds_text(column.type) or _is_number_or_null(column.type) or pa.types.is_date(column.type)):
        raise SourceError(f"{rows.name} column {name!r} holds {column.type}, expected text or whole numbers")
    texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _is_number_or_null(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def read_unique_ids(rows: Rows, name: str, table_name: str, dropped: Dropped) -> tuple[Rows, pa.ChunkedArray]:
    """Return the rows that have an id, and their ids; raise if an id is repeated."""
    ids = read_ids(rows, name)
    missing = np.flatnonzero(np.asarray(pc.is_null(ids)))
    dropped.drop_rows(
        f"{table_name} without an id", rows.places, missing.tolist(), lambda row: f"{name!r} is empty, expected an id"
    )
    if pc.count_distinct(ids).as_py() != len(ids) - ids.null_count:
        raise _repeated_id_error(rows, name, ids, table_name)
    if len(missing) == len(ids):
        raise SourceError(f"{rows.name} has no {table_name}, expected one row for each")
    if len(missing):
        has_id = pc.is_valid(ids)
        rows, ids = rows.take(np.flatnonzero(np.asarray(has_id))), ids.filter(has_id)
    return rows, ids


def _repeated_id_error(rows: Rows, name: str, ids: pa.ChunkedArray, table_name: str) -> SourceError:
    counts = pc.value_counts(pc.drop_null(ids))
    repeated = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    value = repeated[0]["values"].as_py()
    first, second = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(ids, value), False)))[:2].tolist()
    first_place, second_place = rows.places([first, second])
    remainder = f"; {len(repeated):,} ids come twice or more" if len(repeated) > 1 else ""
    role = "items.item" if table_name == "items" else f"{table_name}.id"
    return SourceError(
        f"{second_place}: {name!r} is {value!r} again (as in {first_place}), expected every id once{remainder}",
        hint=Message("or say which column has the ids: ", Setting("columns", {role: Placeholder("…")})),
    )


def find_id_rows(rows: Rows, name: str, ids: pa.ChunkedArray) -> tuple[Array, pa.ChunkedArray]:
    """Return the index in ``ids`` of every id in a column (-1 unknown, -2 missing), and the ids of the column."""
    column_ids = read_ids(rows, name)
    found_rows = np.asarray(pc.fill_null(pc.index_in(column_ids, value_set=ids), -1)).astype(np.int64)
    found_rows[np.asarray(pc.is_null(column_ids))] = -2
    return found_rows, column_ids


def read_weights(rows: Rows, name: str, notes: ReadingNotes | None = None) -> Array:
    """Return a column as weights, NaN where it is neither 0 nor a number from 1e-30 to 1e30."""
    column = decode(rows.table[name])
    if holds_text(column.type):
        texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
        parsed = parse_numbers(pc.if_else(pc.equal(texts, ""), None, texts), rows.formats)
        column = pc.if_else(pc.match_substring_regex(texts, NUMBER), texts, None) if parsed is None else parsed.column
        if parsed is not None and parsed.note and notes is not None:
            notes[name] = parsed.note
    elif not (_is_number_or_null(column.type) or pa.types.is_decimal(column.type)):
        raise SourceError(f"{rows.name} column {name!r} holds {column.type}, expected numbers of 0 or more")
    values = np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    values[~((values == 0) | ((values >= LIGHTEST) & (values <= MAX_WEIGHT)))] = np.nan
    return values


def check_column(rows: Rows, role: str, column: str | None) -> None:
    """Raise if a column that is given for a role does not exist."""
    names = rows.table.column_names
    if column and column not in names:
        raise SourceError(f"{rows.name} has no column {column!r} (given as {role}): it has {quote_few(names, 20)}")


def to_separators(separators: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return a separator, or several, as a tuple.

    >>> to_separators(";"), to_separators([",", " and "]), to_separators(None)
    ((';',), (',', ' and '), ())
    """
    return () if separators is None else (separators,) if isinstance(separators, str) else tuple(separators)


def split_column(column: pa.ChunkedArray, separators: Sequence[str]) -> pa.ChunkedArray:
    """Return a column of texts as lists, split at every separator.

    >>> split_column(pa.chunked_array([["Ott, A., Ek, B., and Lo, C."]]), (" and ", ",,")).to_pylist()
    [['Ott, A.', ' Ek, B.', '', 'Lo, C.']]
    """
    texts = pc.cast(column, pa.string())
    for separator in sorted(separators, key=lambda one: (one == EVERY_SECOND_COMMA, -len(one))):
        if separator == EVERY_SECOND_COMMA:
            name = rf"([^,{VALUE_BREAK}]*,[^,{VALUE_BREAK}]*),"
            texts = pc.replace_substring_regex(texts, name, rf"\1{VALUE_BREAK}")
        else:
            texts = pc.replace_substring(texts, separator, VALUE_BREAK)
    return pc.split_pattern(texts, VALUE_BREAK)


def read_attribute(
    rows: Rows,
    name: str,
    dropped: Dropped,
    separator: str | Sequence[str] | None = None,
    notes: ReadingNotes | None = None,
) -> pa.ChunkedArray | None:
    """Return a column as labels, lists of labels, truth values, numbers or dates; None if it holds none of these.

    If the interpretation is a guess, it is described in ``notes``.
    """
    notes = {} if notes is None else notes
    column = decode(rows.table[name])
    kind = column.type
    if separator is not None and not holds_text(kind):
        if pa.types.is_list(kind):
            return _trim_lists(column)
        raise SourceError(f"{rows.name} column {name!r} holds {kind}, expected text to split at {separator!r}")
    if separator is not None:
        return _trim_lists(
            split_column(_read_labels(name, pc.cast(column, pa.string()), notes), to_separators(separator))
        )
    if is_list(kind):
        return _trim_lists(column)
    if holds_text(kind):
        texts = pc.cast(column, pa.string())
        if name in rows.untyped:
            column = _parse_texts(rows, name, texts, dropped, notes)
        else:  # the format distinguishes numbers from texts, so texts of digits alone are codes
            value_type = guess_value_type(texts, rows.formats)
            parsed = (
                {"numbers": parse_numbers, "dates": parse_dates}[value_type](clean_texts(texts), rows.formats)
                if value_type
                else None
            )
            is_parsed = parsed is not None and not len(parsed.unparsed) and bool(value_type == "dates" or parsed.note)
            column = parsed.column if parsed is not None and is_parsed else _read_labels(name, texts, notes)
            if is_parsed and value_type == "numbers" and parsed is not None:
                notes[name] = parsed.note
    elif pa.types.is_integer(kind):
        fits = column.type != pa.uint64() or (pc.max(column).as_py() or 0) < 2**63
        column = pc.cast(column, pa.int64() if fits else pa.float64(), safe=False)
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = replace_infinite(pc.cast(column, pa.float64(), safe=False))
    elif not (pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return None
    timestamps = parse_timestamps(name, column)
    if timestamps is not None:
        notes[name] = timestamps.note
        column = timestamps.column
    return None if column.null_count == len(column) else column


def _read_labels(name: str, texts: pa.ChunkedArray, notes: ReadingNotes) -> pa.ChunkedArray:
    """Return labels; words for missing values become missing, and columns of yes and no become truth values."""
    labels = clean_labels(texts)
    _note_missing(name, texts, labels, notes)
    spellings = pc.unique(labels.slice(0, MAX_SAMPLED_ROWS)).drop_null()
    if not 2 < len(spellings) <= MAX_TRUTH_SPELLINGS:
        return labels
    truths = pc.index_in(pc.utf8_lower(labels), value_set=pa.array(list(TRUTH_VALUES)))
    return labels if truths.null_count > labels.null_count else pc.take(pa.array(list(TRUTH_VALUES.values())), truths)


def _note_missing(name: str, texts: pa.ChunkedArray, present_texts: pa.ChunkedArray, notes: ReadingNotes) -> None:
    """Add to ``notes`` how many values are words for missing values."""
    is_missing = pc.and_(pc.is_valid(texts), pc.is_null(present_texts))
    missing_texts = pc.utf8_trim_whitespace(texts.filter(is_missing))
    missing_texts = missing_texts.filter(pc.not_equal(missing_texts, ""))
    if len(missing_texts):
        note = f"{len(missing_texts):,} missing ({quote_few(pc.unique(missing_texts).to_pylist())})"
        notes[name] = f"{notes[name]}, {note}" if name in notes else note


def _parse_texts(
    rows: Rows, name: str, column: pa.ChunkedArray, dropped: Dropped, notes: ReadingNotes
) -> pa.ChunkedArray:
    """Return texts as numbers or dates if nearly all are; the others become missing and are counted."""
    value_type = guess_value_type(column, rows.formats)
    texts = clean_texts(column)
    if value_type and texts.null_count == len(texts):
        return texts
    parsed = {"numbers": parse_numbers, "dates": parse_dates}[value_type](texts, rows.formats) if value_type else None
    if parsed is None:
        return _read_labels(name, column, notes)
    dropped.drop_rows(
        f"values of {name!r} that are not {parsed.kind}",
        rows.places,
        parsed.unparsed.tolist(),
        lambda row: f"{name!r} is {texts[row].as_py()!r}, expected a {parsed.kind.removesuffix('s')}",
    )
    if parsed.note:
        notes[name] = parsed.note
    _note_missing(name, column, texts, notes)
    return parsed.column


def _trim_lists(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    chunks = []
    for chunk in column.chunks:
        values, parents = decode(pc.list_flatten(chunk)), pc.list_parent_indices(chunk)
        try:
            texts = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        kept = pc.fill_null(pc.not_equal(texts, ""), False)
        ends = np.zeros(len(chunk) + 1, dtype=np.int32)
        np.cumsum(np.bincount(parents.filter(kept).to_numpy(), minlength=len(chunk)), out=ends[1:])
        chunks.append(pa.ListArray.from_arrays(pa.array(ends), texts.filter(kept)))
    lists = pa.chunked_array(chunks, pa.list_(pa.string()))
    return lists if pc.max(pc.list_value_length(lists)).as_py() else None
