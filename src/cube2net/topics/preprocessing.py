"""Texts as words: cut into tokens, the language of each told, English plurals folded into their singular."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError
from cube2net.topics.stopwords import SCRIPTS, SMALL_WORDS, words

BATCH = 10_000
SLICE = 1 << 20
SPAN = 1 << 18
ANY_ORDER = 20

Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Input = TypeVar("Input")
Output = TypeVar("Output")


def text_batches(texts: Texts, size: int | None = None, rows: Array | None = None) -> Iterator[tuple[int, pa.Array]]:
    """Give the texts in their order, ``size`` or fewer at a time, with the number of the first of them.

    Of a column only the rows given (ascending) are read; then the number counts these.

    >>> [(first, part.to_pylist()) for first, part in text_batches(["a", None, "b"], 2)]
    [(0, ['a', None]), (2, ['b'])]
    """
    seen, size = 0, BATCH if size is None else size
    for first in range(0, len(texts), size):
        part = _arrow(texts, first, size)
        if rows is not None:
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + size)] - first
            part = part.take(pa.array(here))
        if len(part):
            yield seen, part
            seen += len(part)


def with_text(texts: Texts) -> Array:
    """Return the rows whose text is not missing or empty.

    >>> with_text(["a", None, "", "b"]).tolist()
    [0, 3]
    """
    found = [
        first
        + np.flatnonzero(pc.fill_null(pc.greater(pc.binary_length(part), 0), False).to_numpy(zero_copy_only=False))
        for first, part in text_batches(texts)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def term_batches(terms: pa.Table, items: int, size: int | None = None) -> Iterator[tuple[int, int, pa.Table]]:
    """Give a table of terms, ``size`` items or fewer at a time: the first item, how many items, and their rows.

    In these rows items count from the first. A table whose items come in any order is gone through again and again,
    so then the batches are larger.

    >>> rows = pa.table({"item": [0, 2, 2], "term": ["a", "b", "c"], "count": [1, 1, 1]})
    >>> [(first, count, part["item"].to_pylist()) for first, count, part in term_batches(rows, 3, 2)]
    [(0, 2, [0]), (2, 1, [0, 0])]
    """
    size = BATCH if size is None else size
    spans = [terms.slice(begin, SPAN) for begin in range(0, terms.num_rows, SPAN)]
    ends = [pc.min_max(span["item"]).as_py() for span in spans]
    if any(one["max"] > other["min"] for one, other in pairwise(ends)):
        size *= ANY_ORDER
    for first in range(0, items, size):
        last = min(first + size, items)
        parts = [
            _between(span, first, last)
            for span, end in zip(spans, ends, strict=True)
            if end["min"] < last and end["max"] >= first
        ]
        part = pa.concat_tables(parts) if parts else terms.slice(0, 0)
        item = pa.array(part["item"].to_numpy() - first, pa.int32())
        yield first, last - first, part.set_column(part.column_names.index("item"), "item", item)


def take_items(terms: pa.Table, rows: Array, items: int) -> pa.Table:
    """Return the terms of some items (ascending), which get the numbers 0, 1, …, a span of rows at a time.

    >>> take_items(pa.table({"item": [5, 0, 5], "term": ["a", "b", "c"]}), np.array([2, 5]), 6).to_pylist()
    [{'item': 1, 'term': 'a'}, {'item': 1, 'term': 'c'}]
    """
    number = np.full(items, -1, dtype=np.int32)
    number[rows] = np.arange(len(rows))
    parts = [terms.slice(0, 0)]
    for begin in range(0, terms.num_rows, SPAN):
        span = terms.slice(begin, SPAN)
        item = number[span["item"].to_numpy()]
        renumbered = span.set_column(span.column_names.index("item"), "item", pa.array(item))
        parts.append(renumbered.filter(pa.array(item >= 0)))
    return pa.concat_tables([part.cast(terms.schema) for part in parts])


def with_terms(terms: pa.Table, items: int) -> Array:
    """Return the items that a table of terms names.

    >>> with_terms(pa.table({"item": [5, 0, 5]}), 6).tolist()
    [0, 5]
    """
    named = np.zeros(items, dtype=bool)
    for begin in range(0, terms.num_rows, SPAN):
        named[terms["item"].slice(begin, SPAN).to_numpy()] = True
    return np.flatnonzero(named)


def in_order(work: Callable[[Input], Output], inputs: Iterable[Input], *, workers: int) -> Iterator[Output]:
    """Give what the work makes of every input, in order; with several threads only a few inputs are held at once.

    >>> list(in_order(len, ["a", "bb", "ccc"], workers=2))
    [1, 2, 3]
    """
    if workers <= 1:
        yield from map(work, inputs)
        return
    waiting: deque[Future[Output]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for each in inputs:
                waiting.append(pool.submit(work, each))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def look_up(values: Array, at: Array) -> Array:
    """Return ``values[at]``, a slice at a time: NumPy makes 64 bits of every number that it looks up by.

    >>> look_up(np.array([5, 6]), np.array([1, 0, 1], dtype=np.int32)).tolist()
    [6, 5, 6]
    """
    found = np.empty(len(at), dtype=values.dtype)
    for first in range(0, len(at), SLICE):
        found[first : first + SLICE] = values[at[first : first + SLICE]]
    return found


def occurrences(ids: Array, size: int) -> Array:
    """Return how often each number below ``size`` occurs, counted a slice at a time.

    >>> occurrences(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    total = np.zeros(size, dtype=np.int64)
    for first in range(0, len(ids), SLICE):
        total += np.bincount(ids[first : first + SLICE], minlength=size)
    return total


def _arrow(texts: Texts, first: int, size: int) -> pa.Array:
    """Return some of the texts as an Arrow array."""
    try:
        if isinstance(texts, pa.Array | pa.ChunkedArray):
            part = texts.slice(first, size)
            if isinstance(part, pa.ChunkedArray):
                part = part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()
            return part.cast(pa.large_string())
        return pa.array(texts[first : first + size], pa.large_string())
    except (pa.ArrowException, UnicodeError) as error:
        last = min(first + size, len(texts)) - 1
        raise InputError(f"texts {first:,} to {last:,} hold what is neither a text nor missing: {error}") from error


def _between(span: pa.Table, first: int, last: int) -> pa.Table:
    item = span["item"].to_numpy()
    return span.filter(pa.array((item >= first) & (item < last)))


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
LANGUAGES = tuple(SMALL_WORDS) + tuple(dict.fromkeys(SCRIPTS.values()))
UNKNOWN = -1
SOME = 10_000
MIN_WORDS = 2
MIN_SHARE = 0.15
MARGIN = 1.5
LAST_LATIN = 0x24F
SHORTEST = 3
RAREST = 0.05
NOT_PLURALS = words("news series species means corpus lens texas wales james thomas paris")
NOT_SCIENCES = words("topics metrics critics comics")


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


def set_aside(language: str) -> str:
    """Return the label of texts that are not in the language of most.

    >>> set_aside("French")
    'french text'
    """
    return f"{language.lower()} text"


SET_ASIDE = frozenset(set_aside(language) for language in LANGUAGES)


def languages(tokens: Tokens) -> Array:
    """Return the language of every text by number in ``LANGUAGES``, or -1 where nothing tells.

    A text is in the language whose small words it uses most, if they are at least two, a seventh of its
    words, and clearly more than those of any other language; a text in another script than Latin is in
    the language of that script.
    """
    kinds, votes = _votes(tokens.words)
    found = np.empty(len(tokens), dtype=np.int8)
    for first in range(0, len(tokens), SOME):
        starts = tokens.starts[first : first + SOME + 1]
        found[first : first + SOME] = _spoken(tokens.ids[starts[0] : starts[-1]], np.diff(starts), kinds, votes)
    return found


def _spoken(ids: Array, lengths: Array, kinds: Array, votes: Array) -> Array:
    """Return the language of some texts, given their words and how many each of them has."""
    count, texts = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
    seen = np.bincount(texts * len(votes) + kinds[ids], minlength=count * len(votes)).reshape(count, len(votes))
    hits = (seen @ votes).T
    sizes = np.bincount(texts, weights=(ids != BREAK), minlength=count)
    best = np.argmax(hits, axis=0)
    ordered = np.sort(hits, axis=0)
    top, next_best = ordered[-1], ordered[-2]
    sure = (top >= MIN_WORDS) & (top >= MIN_SHARE * sizes) & (top >= MARGIN * next_best)
    return np.where(sure, best, UNKNOWN).astype(np.int8)


def main_language(found: Array) -> int:
    """Return the language of most texts; English where nothing tells.

    >>> LANGUAGES[main_language(np.array([-1, 1, 1, 0]))]
    'French'
    """
    known = found[found != UNKNOWN]
    return int(np.bincount(known, minlength=len(LANGUAGES)).argmax()) if len(known) else 0


def spoken_language(texts: Texts, most: int = 2000) -> str:
    """Return the language of most texts, by some from all over them; English where nothing tells.

    >>> spoken_language(["le chat est dans la maison", "nous avons vu que les chats dorment"])
    'French'
    """
    rows = np.unique(np.linspace(0, len(texts) - 1, min(most, len(texts))).astype(np.int64))
    return LANGUAGES[main_language(languages(tokenise(texts, rows=rows)))]


def _votes(vocabulary: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the kind of every word, and how much a word of each kind speaks for each language.

    A small word that English has too speaks for English alone: "in" is no sign of Dutch.
    """
    small = {word: set[int]() for text in SMALL_WORDS.values() for word in text.split()}
    for row, text in enumerate(SMALL_WORDS.values()):
        for word in text.split():
            small[word].add(row)
    kinds: dict[tuple[tuple[int, ...], int], int] = {((), 0): 0}
    kind_of = np.zeros(len(vocabulary), dtype=np.int64)
    for column, word in enumerate(vocabulary):
        if word in small:
            rows = (0,) if 0 in small[word] else tuple(sorted(small[word]))
            kind_of[column] = kinds.setdefault((rows, 1), len(kinds))
        elif word and ord(word[0]) > LAST_LATIN:
            script = SCRIPTS.get(unicodedata.name(word[0], "").partition(" ")[0])
            if script is not None:
                worth = min(8, len(word) // 2)
                kind_of[column] = kinds.setdefault(((LANGUAGES.index(script),), worth), len(kinds))
    votes = np.zeros((len(kinds), len(LANGUAGES)), dtype=np.float32)
    for (speaks_for, worth), kind in kinds.items():
        votes[kind, list(speaks_for)] = worth
    return kind_of, votes


def fold_plurals(vocabulary: list[str], ids: Array, stop: Array) -> Array:
    """Return the word numbers with plurals replaced by the singular that the texts use too.

    A plural is folded when its singular is a term itself and not much rarer; "linguistics" and "news"
    are no plurals.

    >>> words = ["", "parser", "parsers", "dependencies", "dependency", "linguistic", "linguistics"]
    >>> fold_plurals(words, np.array([2, 3, 6, 1, 4, 5]), np.zeros(7, dtype=bool)).tolist()
    [1, 4, 6, 1, 4, 5]
    """
    counts = occurrences(ids, len(vocabulary))
    number = {word: i for i, word in enumerate(vocabulary)}
    to = np.arange(len(vocabulary), dtype=np.int32)
    for i, word in enumerate(vocabulary):
        if stop[i] or word in NOT_PLURALS:
            continue
        for singular in singulars(word):
            at = number.get(singular)
            if at is not None and not stop[at] and counts[at] >= RAREST * counts[i]:
                to[i] = at
                break
    return look_up(to, ids)


def singulars(word: str) -> tuple[str, ...]:
    """Return what a word would be in the singular, the likeliest first; nothing for what is no plural.

    >>> singulars("parsers"), singulars("classes"), singulars("dependencies"), singulars("analysis")
    (('parser',), ('class', 'classe'), ('dependency', 'dependencie'), ())
    """
    if word in NOT_SCIENCES:
        return (word[:-1],)
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "ics", "'s")) or len(word) <= SHORTEST:
        return ()
    if word.endswith("ies"):
        return (word[:-3] + "y", word[:-1])
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return (word[:-2], word[:-1])
    return (word[:-1],)
