"""What a column holds: ids, weights, or an attribute (labels, lists of them, truths, numbers, dates).

Columns are those of ``Rows``, a table with the places its rows come from; Python values of any kinds become columns.
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
"""How columns were read where that took a guess, by their names."""
Separators = Mapping[str, str | Sequence[str]]
"""The separator of each multi-valued column, or several of them."""
EVERY_SECOND_COMMA = ",,"
"""The separator of lists such as "Last, F., Last, F.", in which a name has a comma itself."""
VALUE_BREAK = "\x1f"


@dataclass(frozen=True, eq=False)
class Rows:
    """A table and where its rows come from.

    ``places`` turns row numbers into words: ``links.csv line 7``. ``loose`` are the columns whose values
    came as text because the file could not say what they are. ``conventions`` say how such texts are written.
    """

    name: str
    table: pa.Table
    places: Places
    loose: frozenset[str] = frozenset()
    conventions: Conventions = DEFAULT_CONVENTIONS

    @cached_property
    def written(self) -> TableFormats:
        """What its texts say of how numbers and dates are written."""
        return TableFormats(self.table, self.loose, self.conventions)

    def take(self, kept: Array) -> Rows:
        """Return some of the rows, with their places."""
        places = self.places
        table = self.table.take(pa.array(kept))
        return replace(self, table=table, places=lambda some: places([int(kept[row]) for row in some]))

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {self.table.num_rows:,} rows, columns {join_names(self.table.column_names)})"


def make_unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name with underscores behind it until it is not taken."""
    while name in taken:
        name += "_"
    return name


def number_repeated_names(names: Sequence[str], dropped: Dropped | None, where: str) -> list[str]:
    """Return names of columns, those that come again with a number behind them, as pandas does.

    >>> number_repeated_names(["name", "year", "name"], None, "x.csv")
    ['name', 'year', 'name.1']
    """
    found: list[str] = []
    for name in names:
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}.{number}"
        found.append(unique)
    repeated = [name for name in found if name not in names]
    if repeated and dropped is not None:
        dropped.say(f"{where} names columns twice: they are called {quote_few(repeated)} (guessed)")
    return found


def make_column(values: Sequence[Any]) -> tuple[pa.Array | None, bool]:
    """Return a column, and whether its values had to become text because their kinds differ.

    Where one value is a list all become lists of texts. Values with fields inside make no column.

    >>> column, texts = make_column([1, "n.d.", True])
    >>> column.to_pylist(), texts
    (['1', 'n.d.', 'true'], True)
    """
    if any(isinstance(value, dict) for value in values):
        return None, False
    if any(isinstance(value, COLLECTION_TYPES) for value in values):
        return _list_column(values), False
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds <= {int, float} or len(kinds) == 1:
        try:
            return pa.array(plain, from_pandas=True), False
        except CONVERSION_ERRORS:
            pass
    return pa.array([None if value is None else format_value(value) for value in plain], pa.string()), True


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
    """Return a value as text that UTF-8 can hold; truth values as in JSON.

    >>> format_value(True), format_value(2.5), format_value("a")
    ('true', '2.5', 'a')
    """
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")


def make_columns(named: Mapping[str, Sequence[object]]) -> tuple[dict[str, pa.Array], set[str], list[str]]:
    """Return the columns as arrays, the names of those that hold mixed values, and of those left out."""
    return separate_columns((name, make_column(values)) for name, values in named.items())


def separate_columns(
    found: Iterable[tuple[str, tuple[pa.Array | None, bool]]],
) -> tuple[dict[str, pa.Array], set[str], list[str]]:
    """Return the columns of names with a column, or None, and whether it is mixed; the mixed, and those without one.

    >>> separate_columns([("a", (pa.array([1]), False)), ("b", (None, False)), ("c", (pa.array(["x"]), True))])[1:]
    ({'c'}, ['b'])
    """
    arrays, mixed, left_out = {}, set(), []
    for name, (array, loose) in found:
        if array is None:
            left_out.append(name)
            continue
        arrays[name] = array
        if loose:
            mixed.add(name)
    return arrays, mixed, left_out


def read_ids(rows: Rows, name: str) -> pa.ChunkedArray:
    """Return a column as ids: trimmed text, whole numbers as text, an empty id is missing."""
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


def read_unique_ids(rows: Rows, name: str, what: str, dropped: Dropped) -> tuple[Rows, pa.ChunkedArray]:
    """Return the rows that have an id, and their ids; an id that comes twice is an error."""
    ids = read_ids(rows, name)
    missing = np.flatnonzero(np.asarray(pc.is_null(ids)))
    dropped.drop_rows(
        f"{what} without an id", rows.places, missing.tolist(), lambda row: f"{name!r} is empty, expected an id"
    )
    if pc.count_distinct(ids).as_py() != len(ids) - ids.null_count:
        raise _repeated_id_error(rows, name, ids, what)
    if len(missing) == len(ids):
        raise SourceError(f"{rows.name} has no {what}, expected one row for each")
    if len(missing):
        has = pc.is_valid(ids)
        rows, ids = rows.take(np.flatnonzero(np.asarray(has))), ids.filter(has)
    return rows, ids


def _repeated_id_error(rows: Rows, name: str, ids: pa.ChunkedArray, what: str) -> SourceError:
    counts = pc.value_counts(pc.drop_null(ids))
    again = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    value = again[0]["values"].as_py()
    first, second = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(ids, value), False)))[:2].tolist()
    one, two = rows.places([first, second])
    others = f"; {len(again):,} ids come twice or more" if len(again) > 1 else ""
    role = "items.item" if what == "items" else f"{what}.id"
    return SourceError(
        f"{two}: {name!r} is {value!r} again (as in {one}), expected every id once{others}",
        hint=Message("or say which column has the ids: ", Setting("columns", {role: Placeholder("…")})),
    )


def find_id_rows(rows: Rows, name: str, ids: pa.ChunkedArray) -> tuple[Array, pa.ChunkedArray]:
    """Return the row of every id in a column among known ids (-1 unknown, -2 missing), and the column's ids."""
    wanted = read_ids(rows, name)
    found = np.asarray(pc.fill_null(pc.index_in(wanted, value_set=ids), -1)).astype(np.int64)
    found[np.asarray(pc.is_null(wanted))] = -2
    return found, wanted


def read_weights(rows: Rows, name: str, ways: ReadingNotes | None = None) -> Array:
    """Return a column as weights, NaN where it is neither 0 nor a number from 1e-30 to 1e30."""
    column = decode(rows.table[name])
    if holds_text(column.type):
        texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
        read = parse_numbers(pc.if_else(pc.equal(texts, ""), None, texts), rows.written)
        column = pc.if_else(pc.match_substring_regex(texts, NUMBER), texts, None) if read is None else read.column
        if read is not None and read.way and ways is not None:
            ways[name] = read.way
    elif not (_is_number_or_null(column.type) or pa.types.is_decimal(column.type)):
        raise SourceError(f"{rows.name} column {name!r} holds {column.type}, expected numbers of 0 or more")
    values = np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    values[~((values == 0) | ((values >= LIGHTEST) & (values <= MAX_WEIGHT)))] = np.nan
    return values


def check_column(rows: Rows, role: str, column: str | None) -> None:
    """Raise where a column that is said to be something is not there."""
    names = rows.table.column_names
    if column and column not in names:
        raise SourceError(f"{rows.name} has no column {column!r} (given as {role}): it has {quote_few(names, 20)}")


def to_separators(separator: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return a separator, or several, as a tuple.

    >>> to_separators(";"), to_separators([",", " and "]), to_separators(None)
    ((';',), (',', ' and '), ())
    """
    return () if separator is None else (separator,) if isinstance(separator, str) else tuple(separator)


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
    ways: ReadingNotes | None = None,
) -> pa.ChunkedArray | None:
    """Return a column as labels, lists of labels, truths, numbers or dates; None when it holds none of these.

    Where that took a guess, how it was read is put into ``ways``.
    """
    ways = {} if ways is None else ways
    column = decode(rows.table[name])
    kind = column.type
    if separator is not None and not holds_text(kind):
        if pa.types.is_list(kind):
            return _trim_lists(column)
        raise SourceError(f"{rows.name} column {name!r} holds {kind}, expected text to split at {separator!r}")
    if separator is not None:
        return _trim_lists(
            split_column(_read_labels(name, pc.cast(column, pa.string()), ways), to_separators(separator))
        )
    if is_list(kind):
        return _trim_lists(column)
    if holds_text(kind):
        texts = pc.cast(column, pa.string())
        if name in rows.loose:
            column = _parse_texts(rows, name, texts, dropped, ways)
        else:  # the table knows its numbers from texts, so that digits alone are codes
            likely = guess_value_type(texts, rows.written)
            read = (
                {"numbers": parse_numbers, "dates": parse_dates}[likely](clean_texts(texts), rows.written)
                if likely
                else None
            )
            is_read = read is not None and not len(read.unfit) and bool(likely == "dates" or read.way)
            column = read.column if read is not None and is_read else _read_labels(name, texts, ways)
            if is_read and likely == "numbers" and read is not None:
                ways[name] = read.way
    elif pa.types.is_integer(kind):
        fits = column.type != pa.uint64() or (pc.max(column).as_py() or 0) < 2**63
        column = pc.cast(column, pa.int64() if fits else pa.float64(), safe=False)
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = replace_infinite(pc.cast(column, pa.float64(), safe=False))
    elif not (pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return None
    clock = parse_timestamps(name, column)
    if clock is not None:
        ways[name] = clock.way
        column = clock.column
    return None if column.null_count == len(column) else column


def _read_labels(name: str, texts: pa.ChunkedArray, ways: ReadingNotes) -> pa.ChunkedArray:
    """Return labels: what says that there is none is missing, and spellings of yes and no are truth values."""
    labels = clean_labels(texts)
    _note_missing(name, texts, labels, ways)
    spellings = pc.unique(labels.slice(0, MAX_SAMPLED_ROWS)).drop_null()
    if not 2 < len(spellings) <= MAX_TRUTH_SPELLINGS:
        return labels
    truths = pc.index_in(pc.utf8_lower(labels), value_set=pa.array(list(TRUTH_VALUES)))
    return labels if truths.null_count > labels.null_count else pc.take(pa.array(list(TRUTH_VALUES.values())), truths)


def _note_missing(name: str, texts: pa.ChunkedArray, present_texts: pa.ChunkedArray, ways: ReadingNotes) -> None:
    """Put into ``ways`` how many values say that there is none."""
    gone = pc.and_(pc.is_valid(texts), pc.is_null(present_texts))
    said = pc.utf8_trim_whitespace(texts.filter(gone))
    said = said.filter(pc.not_equal(said, ""))
    if len(said):
        way = f"{len(said):,} missing ({quote_few(pc.unique(said).to_pylist())})"
        ways[name] = f"{ways[name]}, {way}" if name in ways else way


def _parse_texts(
    rows: Rows, name: str, column: pa.ChunkedArray, dropped: Dropped, ways: ReadingNotes
) -> pa.ChunkedArray:
    """Return text as numbers or dates where nearly all of it is; what is not is then missing, and counted."""
    likely = guess_value_type(column, rows.written)
    texts = clean_texts(column)
    if likely and texts.null_count == len(texts):
        return texts
    read = {"numbers": parse_numbers, "dates": parse_dates}[likely](texts, rows.written) if likely else None
    if read is None:
        return _read_labels(name, column, ways)
    dropped.drop_rows(
        f"values of {name!r} that are not {read.what}",
        rows.places,
        read.unfit.tolist(),
        lambda row: f"{name!r} is {texts[row].as_py()!r}, expected a {read.what.removesuffix('s')}",
    )
    if read.way:
        ways[name] = read.way
    _note_missing(name, column, texts, ways)
    return read.column


def _trim_lists(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    made = []
    for chunk in column.chunks:
        values, parents = decode(pc.list_flatten(chunk)), pc.list_parent_indices(chunk)
        try:
            texts = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        kept = pc.fill_null(pc.not_equal(texts, ""), False)
        ends = np.zeros(len(chunk) + 1, dtype=np.int32)
        np.cumsum(np.bincount(parents.filter(kept).to_numpy(), minlength=len(chunk)), out=ends[1:])
        made.append(pa.ListArray.from_arrays(pa.array(ends), texts.filter(kept)))
    lists = pa.chunked_array(made, pa.list_(pa.string()))
    return lists if pc.max(pc.list_value_length(lists)).as_py() else None
