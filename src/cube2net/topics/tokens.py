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

from cube2net.array_types import Array
from cube2net.progress import Progress, silent
from cube2net.topics.batches import Texts, text_batches

BREAK = 0
MARKS = frozenset(".,;:?!")
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


def tokenise(texts: Texts, *, rows: Array | None = None, progress: Progress = silent) -> Tokens:
    """Return the words of every text, in order; of a column, those of the rows given (ascending).

    >>> tokens = tokenise(["Parsing trees, see https://a.org/b", None, "the parser's Trees"])
    >>> [[tokens.words[i] for i in tokens.ids[a:b]] for a, b in zip(tokens.starts, tokens.starts[1:])]
    [['parsing', 'trees', '', 'see', ''], [], ['the', 'parser', 'trees']]
    """
    vocabulary = defaultdict(count(BREAK + 1).__next__, {"": BREAK})
    total = len(texts) if rows is None else len(rows)
    ids, sizes = [np.empty(0, dtype=np.int32)], np.zeros(total + 1, dtype=np.int64)
    for first, batch in text_batches(texts, rows=rows):
        progress("words", first, total)
        words, ends = _words(batch, vocabulary)
        ids.append(words)
        sizes[first + 1 : first + 1 + len(batch)] = np.diff(ends)
    progress("words", total, total)
    return Tokens(np.concatenate(ids), np.cumsum(sizes), tuple(vocabulary))


def _words(texts: pa.Array, vocabulary: dict[str, int]) -> tuple[Array, Array]:
    """Return the words of a batch of texts by number, new ones added to the vocabulary, and where each text ends.

    A piece between blanks is taken apart once, however often it stands in the batch.
    """
    split = pc.utf8_split_whitespace(pc.utf8_lower(pc.utf8_trim_whitespace(pc.fill_null(texts, ""))))
    encoded = split.flatten().dictionary_encode()
    pieces, raw = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    parts = [_apart(piece, vocabulary) for piece in pieces]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    flat = np.fromiter((word for part in parts for word in part), np.int32, int(lengths.sum()))
    begins = np.cumsum(lengths) - lengths
    repeats = lengths[raw]
    ends = np.concatenate([[0], np.cumsum(repeats)])
    ids = flat[np.repeat(begins[raw] - ends[:-1], repeats) + np.arange(ends[-1])]
    of_texts = np.concatenate([[0], np.cumsum(pc.list_value_length(split).to_numpy())])
    return ids, ends[of_texts]


def _apart(piece: str, vocabulary: dict[str, int]) -> Sequence[int]:
    """Return the words of a piece between blanks by number; most are a word, or a word and a mark.

    >>> vocabulary = {"": 0, "parsing": 1, "trees": 2}
    >>> [_apart(piece, vocabulary) for piece in ("parsing", "trees,", "(parsing-trees)")]
    [(1,), (2, 0), [0, 1, 2, 0]]
    """
    if piece.isalpha():
        return (vocabulary[piece],)
    if piece[-1:] in MARKS and piece[:-1].isalpha() and piece != "www.":
        return vocabulary[piece[:-1]], BREAK
    return [vocabulary[_clean(word)] for word in PATTERN.findall(piece)]


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
