"""Bytes gone wrong, and the promise every reader keeps about them."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from cube2net.errors import Cube2netError
from cube2net.model.corpus import Corpus

Cuts = list[tuple[int, int, bytes]]


def check_corpus_or_sentence(read: Callable[[], Corpus]) -> None:
    """Read: what comes back is a corpus that holds together, or one sentence."""
    try:
        corpus = read()
    except Cube2netError as error:
        assert str(error)
        assert "\n" not in str(error)
    else:
        assert isinstance(corpus, Corpus)
        assert corpus.items.num_rows > 0
        for table in (corpus.items, corpus.objects, corpus.mentions):
            table.validate(full=True)


def changed(data: bytes, cuts: Cuts) -> bytes:
    """Return the data with pieces replaced: each cut is a place, a length and what stands there instead."""
    for start, length, new in cuts:
        at = start % (len(data) + 1)
        data = data[:at] + new + data[at + length :]
    return data


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Return the content with a piece replaced by any bytes, or with its end cut off."""
    pieces = st.tuples(st.integers(0, len(content)), st.integers(0, 40), st.binary(max_size=40))
    cut = st.integers(0, len(content)).map(lambda at: content[:at])
    return cut | pieces.map(lambda piece: changed(content, [piece]))
