"""The labels of one attribute: a column of numbers, dates, texts or lists becomes pairs of item and label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.bins import bin_numbers, parse_bins
from cube2net.errors import SourceError, unknown
from cube2net.records import Corpus, Topics

TOPIC = "topic"
ONE_PIECE = 2**31
"""So many bytes of texts do not go into one piece with offsets of 32 bits."""
NUMBER = r"(?i)^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)$"


@dataclass(frozen=True, eq=False)
class Column:
    """The labels of one attribute: the item and the label of every pair, and the labels' names."""

    items: Array
    codes: Array
    names: tuple[str, ...]


def read_column(corpus: Corpus, attribute: str, bins: str | None, topics: Topics | None) -> Column:
    """Return the labels of an attribute: its texts, or bins of its numbers, or the topics where it is these."""
    if attribute == TOPIC and topics is not None:
        codes = topics.assigned["topic"].to_numpy()
        used = np.bincount(codes, minlength=len(topics.names)) > 0
        dense = np.cumsum(used, dtype=np.int32) - 1
        names = tuple(topics.names[code] for code in np.flatnonzero(used).tolist())
        return Column(topics.assigned["item"].to_numpy(), dense[codes], names)
    if attribute not in corpus.attributes:
        raise unknown("attribute", attribute, corpus.attributes)
    if bins is not None:
        parse_bins(bins)
        items, values = read_numbers(corpus, attribute)
        codes, labels = bin_numbers(values, bins, f"attribute {attribute!r}")
        return Column(items, codes, labels)
    return _categories(_one_chunk(corpus.items[attribute]))


def read_numbers(corpus: Corpus, attribute: str) -> tuple[Array, Array]:
    """Return the items that have a number, and the numbers; a date stands for its year, a blank text for none."""
    column = _one_chunk(corpus.items[attribute])
    try:
        if pa.types.is_temporal(column.type):
            column = pc.year(column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(texts, ""), None, texts)
            bad = column.filter(pc.invert(pc.match_substring_regex(column, NUMBER))).to_pylist()
            if bad:
                raise _not_numbers(attribute, bad)
        values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        bad = [value for value in column.to_pylist() if value is not None]
        if bad:
            raise _not_numbers(attribute, bad) from None
        values = np.full(len(column), np.nan)
    items = np.flatnonzero(np.isfinite(values)).astype(np.int32)
    return items, values[items]


def _not_numbers(attribute: str, bad: Sequence[object]) -> SourceError:
    return SourceError(f"attribute {attribute!r} is {bad[0]!r} in an item, expected a number (in {len(bad):,} items)")


def _categories(column: pa.Array) -> Column:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        items = pc.list_parent_indices(column).to_numpy()
        column = pc.list_flatten(column)
    else:
        items = np.arange(len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type if pa.types.is_large_string(column.type) else pa.string()
    texts = pc.utf8_trim_whitespace(pc.cast(column, kind))
    keep = np.asarray(pc.fill_null(pc.not_equal(texts, ""), False))
    encoded = texts.filter(pa.array(keep)).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    width = max(len(names), 1)
    pairs = items[keep].astype(np.int64) * width + place[encoded.indices.to_numpy(zero_copy_only=False)]
    if bool(np.any(pairs[1:] <= pairs[:-1])):  # an item with several labels
        pairs = np.sort(pairs)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    items, codes = np.divmod(pairs, width)
    return Column(items.astype(np.int32), codes.astype(np.int32), tuple(names[i] for i in order))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, with offsets of 64 bits where 32 may not be enough."""
    if column.nbytes >= ONE_PIECE:
        column = column.cast(_large(column.type))
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], joined.type)
    return joined


def _large(kind: pa.DataType) -> pa.DataType:
    """Return a type of texts, or of lists of them, with offsets of 64 bits; any other as it is."""
    if pa.types.is_string(kind):
        return pa.large_string()
    return pa.large_list(_large(kind.value_type)) if pa.types.is_list(kind) else kind
