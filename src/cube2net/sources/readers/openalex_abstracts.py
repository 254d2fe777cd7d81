"""The text of a work: its title and its abstract, whichever way the abstract is written.

It is a text, or an index of words and their places: as an object, in another object that wraps it, or as a text of
either, which OpenAlex's snapshot cuts at 32,760 bytes.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.sources.io.dropped import Dropped
from cube2net.sources.readers.openalex_columns import bytes_of

ENDS = r"[.?!]$"


def abstracts_of(title: pa.Array, index: pa.Array, plain: pa.Array, dropped: Dropped) -> pa.Array:
    """Return title and abstract of works; abstracts that cannot be read, or not to their end, are counted."""
    from cube2net.kernels.inverted_index import CUT, ODD, texts_of_indexes

    index = _opened(index)
    ends, data, states = texts_of_indexes(*bytes_of(index))
    dropped.leave_out("abstracts that are cut", int((states == CUT).sum()))
    made = pa.LargeStringArray.from_buffers(len(index), pa.py_buffer(ends), pa.py_buffer(data)).cast(pa.string())
    odd = np.flatnonzero(states == ODD)
    dropped.leave_out("abstracts that are no index of words", len(odd))
    abstract = pc.if_else(pc.equal(pc.binary_length(made), 0), pc.coalesce(plain, pa.scalar("")), made)
    title = title.fill_null("")
    between = pc.if_else(pc.match_substring_regex(title, ENDS), " ", ". ")
    both = pc.binary_join_element_wise(title, abstract, between)
    text = pc.if_else(pc.equal(pc.binary_length(abstract), 0), title, both)
    return pc.if_else(pc.equal(pc.binary_length(title), 0), abstract, text)


def _opened(index: pa.Array) -> pa.Array:
    """Return indexes, those given as texts of themselves taken out of these."""
    is_text = pc.starts_with(index, '"').fill_null(False)
    if not pc.any(is_text).as_py():
        return index
    return pc.replace_with_mask(
        index, is_text, pa.array([json.loads(text) for text in index.filter(is_text).to_pylist()])
    )
