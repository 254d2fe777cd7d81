"""Texts as one flat array of words: lower case, without addresses, numbers and commands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.interfaces import Progress
from cube2net.records.ragged import Array

BREAK = 0
BATCH = 10_000
# One group: what is no word (an address, a command, a tag, a mark) is matched outside it and so found as "".
PATTERN = re.compile(
    r"(?:https?://|www\.)\S*"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,4}"
    r"|[\w-]{1,64}\.(?:com|org|net|edu|gov|io|ai)\b(?:/\S*)?"
    r"|\\[a-z]+"
    r"|</?[a-z][^<>]{0,100}>"
    r"|((?<!\w)[^\W\d_]-[^\W\d_]{2,}"
    r"|(?<![\w-])(?:in|one|two|first|second)-[^\W\d_]{2,}(?![\w-])"
    r"|[^\W_]+(?:['’](?:s|t|re|ve|ll|d|m)\b)?)"
    r"|[^\w\s'’\"“”*‐-]"
)


@dataclass(frozen=True, eq=False)
class Tokens:
    """Every text's words in one array: text ``i`` is ``ids[starts[i]:starts[i + 1]]``, by number in ``words``.

    Number 0 is a break, which no phrase crosses: a mark, an address, a number.
    """

    ids: Array
    starts: Array
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def texts(self) -> Array:
        """The text that every word stands in."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))


def tokenise(texts: Sequence[str | None], *, progress: Progress | None = None) -> Tokens:
    """Return the words of every text, in order.

    >>> tokens = tokenise(["Parsing trees, see https://a.org/b", None, "the parser's Trees"])
    >>> [[tokens.words[i] for i in tokens.ids[a:b]] for a, b in zip(tokens.starts, tokens.starts[1:])]
    [['parsing', 'trees', '', 'see', ''], [], ['the', 'parser', 'trees']]
    """
    # A piece between blanks is taken apart once, however often it stands in the texts.
    pieces, raw, ends_of_texts = _chunks(texts, progress)
    vocabulary = defaultdict(count(BREAK + 1).__next__, {"": BREAK})
    parts = [[vocabulary[_clean(word)] for word in PATTERN.findall(piece)] for piece in pieces]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    flat = np.fromiter((word for part in parts for word in part), np.int32, int(lengths.sum()))
    begins = np.cumsum(lengths) - lengths
    repeats = lengths[raw]
    ends = np.concatenate([[0], np.cumsum(repeats)])
    ids = flat[np.repeat(begins[raw] - ends[:-1], repeats) + np.arange(ends[-1])]
    return Tokens(ids, ends[ends_of_texts], tuple(vocabulary))


def _chunks(texts: Sequence[str | None], progress: Progress | None) -> tuple[list[str], Array, Array]:
    """Return the distinct pieces between blanks, the pieces of all texts by number, and where each text ends."""
    pieces: list[pa.Array] = []
    sizes = np.zeros(len(texts) + 1, dtype=np.int64)
    for start in range(0, len(texts), BATCH):
        if progress is not None:
            progress("words", start, len(texts))
        batch = pa.array(texts[start : start + BATCH], pa.large_string())
        split = pc.utf8_split_whitespace(pc.utf8_lower(pc.utf8_trim_whitespace(pc.fill_null(batch, ""))))
        sizes[start + 1 : start + 1 + len(split)] = pc.list_value_length(split).to_numpy()
        pieces.append(split.flatten())
    if progress is not None:
        progress("words", len(texts), len(texts))
    encoded = pa.chunked_array(pieces, pa.large_string()).dictionary_encode().combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64), np.cumsum(sizes)


def _clean(word: str) -> str:
    """Return a spelling without its possessive; a number is a break.

    >>> [_clean(word) for word in ("parser’s", "don’t", "2020", "4th", "word2vec", "x")]
    ['parser', "don't", '', '4th', 'word2vec', 'x']
    """
    if word.isalpha():
        return word
    word = word.replace("’", "'").removesuffix("'s")
    letters = sum(char.isalpha() for char in word)
    return word if letters > 1 or letters == len(word) else ""
