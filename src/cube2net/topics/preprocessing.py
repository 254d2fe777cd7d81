"""Tokenise texts, detect their languages, list stop words, and replace English plurals by their singular.

The lists of words are in ``data/stopwords.toml``.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from itertools import count, pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError

LISTS: dict[str, Any] = tomllib.loads(
    resources.files("cube2net").joinpath("data", "stopwords.toml").read_text(encoding="utf-8")
)
SMALL_WORDS: dict[str, str] = LISTS["small"]
EMPTY_WORDS, WEAK_WORDS, NAMES = LISTS["empty"], LISTS["weak"], LISTS["names"]
SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic",
    "ARABIC": "Arabic",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
    "ETHIOPIC": "Ethiopic",
}
CONNECTORS = ("of", "to", "in", "of the", "in the", "by", "on the", "based", "de")

TEXTS_PER_BATCH = 10_000
VALUES_PER_SLICE = 1 << 20
ROWS_PER_SPAN = 1 << 18
UNSORTED_BATCH_FACTOR = 20

Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Input = TypeVar("Input")
Output = TypeVar("Output")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a list written with blanks.

    >>> sorted(split_words("of the  of"))
    ['of', 'the']
    """
    return frozenset(text.split())


def iterate_text_batches(
    texts: Texts, size: int | None = None, rows: Array | None = None
) -> Iterator[tuple[int, pa.Array]]:
    """Yield the texts in batches of at most ``size``, each with the number of its first text.

    With ``rows`` (ascending) only these texts of a column are read and counted.

    >>> [(first, part.to_pylist()) for first, part in iterate_text_batches(["a", None, "b"], 2)]
    [(0, ['a', None]), (2, ['b'])]
    """
    seen, size = 0, TEXTS_PER_BATCH if size is None else size
    for first in range(0, len(texts), size):
        part = _slice_texts(texts, first, size)
        if rows is not None:
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + size)] - first
            part = part.take(pa.array(here))
        if len(part):
            yield seen, part
            seen += len(part)


def find_rows_with_text(texts: Texts) -> Array:
    """Return the rows whose text is neither null nor empty.

    >>> find_rows_with_text(["a", None, "", "b"]).tolist()
    [0, 3]
    """
    rows = [
        first
        + np.flatnonzero(pc.fill_null(pc.greater(pc.binary_length(part), 0), False).to_numpy(zero_copy_only=False))
        for first, part in iterate_text_batches(texts)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *rows])


def iterate_term_batches(terms: pa.Table, items: int, size: int | None = None) -> Iterator[tuple[int, int, pa.Table]]:
    """Yield a table of terms in batches of ``size`` items: the first item, the number of items, and their rows.

    In these rows items are numbered from the first of the batch. A table that is not sorted by item is scanned for
    every batch, so its batches are larger.

    >>> rows = pa.table({"item": [0, 2, 2], "term": ["a", "b", "c"], "count": [1, 1, 1]})
    >>> [(first, count, part["item"].to_pylist()) for first, count, part in iterate_term_batches(rows, 3, 2)]
    [(0, 2, [0]), (2, 1, [0, 0])]
    """
    size = TEXTS_PER_BATCH if size is None else size
    spans = [terms.slice(begin, ROWS_PER_SPAN) for begin in range(0, terms.num_rows, ROWS_PER_SPAN)]
    ends = [pc.min_max(span["item"]).as_py() for span in spans]
    if any(one["max"] > other["min"] for one, other in pairwise(ends)):
        size *= UNSORTED_BATCH_FACTOR
    for first in range(0, items, size):
        last = min(first + size, items)
        parts = [
            _select_items(span, first, last)
            for span, end in zip(spans, ends, strict=True)
            if end["min"] < last and end["max"] >= first
        ]
        part = pa.concat_tables(parts) if parts else terms.slice(0, 0)
        item = pa.array(part["item"].to_numpy() - first, pa.int32())
        yield first, last - first, part.set_column(part.column_names.index("item"), "item", item)


def take_items(terms: pa.Table, rows: Array, items: int) -> pa.Table:
    """Return the terms of some items (ascending), which are renumbered from 0.

    >>> take_items(pa.table({"item": [5, 0, 5], "term": ["a", "b", "c"]}), np.array([2, 5]), 6).to_pylist()
    [{'item': 1, 'term': 'a'}, {'item': 1, 'term': 'c'}]
    """
    number = np.full(items, -1, dtype=np.int32)
    number[rows] = np.arange(len(rows))
    parts = [terms.slice(0, 0)]
    for begin in range(0, terms.num_rows, ROWS_PER_SPAN):
        span = terms.slice(begin, ROWS_PER_SPAN)
        item = number[span["item"].to_numpy()]
        renumbered = span.set_column(span.column_names.index("item"), "item", pa.array(item))
        parts.append(renumbered.filter(pa.array(item >= 0)))
    return pa.concat_tables([part.cast(terms.schema) for part in parts])


def find_items_with_terms(terms: pa.Table, items: int) -> Array:
    """Return the items in a table of terms.

    >>> find_items_with_terms(pa.table({"item": [5, 0, 5]}), 6).tolist()
    [0, 5]
    """
    named = np.zeros(items, dtype=bool)
    for begin in range(0, terms.num_rows, ROWS_PER_SPAN):
        named[terms["item"].slice(begin, ROWS_PER_SPAN).to_numpy()] = True
    return np.flatnonzero(named)


def map_in_order(work: Callable[[Input], Output], inputs: Iterable[Input], *, workers: int) -> Iterator[Output]:
    """Yield the results of a function for all inputs, in order; with threads, few inputs are held at once.

    >>> list(map_in_order(len, ["a", "bb", "ccc"], workers=2))
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
    """Return ``values[at]``, slice by slice, because NumPy converts indices to 64 bits.

    >>> look_up(np.array([5, 6]), np.array([1, 0, 1], dtype=np.int32)).tolist()
    [6, 5, 6]
    """
    results = np.empty(len(at), dtype=values.dtype)
    for first in range(0, len(at), VALUES_PER_SLICE):
        results[first : first + VALUES_PER_SLICE] = values[at[first : first + VALUES_PER_SLICE]]
    return results


def count_occurrences(ids: Array, size: int) -> Array:
    """Return how often each number below ``size`` occurs, counted slice by slice.

    >>> count_occurrences(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    total = np.zeros(size, dtype=np.int64)
    for first in range(0, len(ids), VALUES_PER_SLICE):
        total += np.bincount(ids[first : first + VALUES_PER_SLICE], minlength=size)
    return total


def _slice_texts(texts: Texts, first: int, size: int) -> pa.Array:
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


def _select_items(span: pa.Table, first: int, last: int) -> pa.Table:
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
TEXTS_PER_DETECTION = 10_000
MIN_SMALL_WORDS = 2
MIN_SMALL_WORD_SHARE = 0.15
MIN_LANGUAGE_RATIO = 1.5
LAST_LATIN = 0x24F
MIN_PLURAL_LENGTH = 3
MIN_SINGULAR_RATIO = 0.05
NOT_PLURALS = split_words("news series species means corpus lens texas wales james thomas paris")
NOT_SCIENCES = split_words("topics metrics critics comics")


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of all texts: text ``i`` is ``ids[starts[i]:starts[i + 1]]``, by number in ``words``.

    Number 0 is a break, which no phrase crosses: a punctuation mark, an address or a number.
    """

    ids: Array
    starts: Array
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def texts(self) -> Array:
        """The text of every word."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))


def tokenise(texts: Texts, *, rows: Array | None = None, progress: Progress = silent) -> Tokens:
    """Return the words of every text, in order; with ``rows`` (ascending), of these rows of a column.

    >>> tokens = tokenise(["Parsing trees, see https://a.org/b", None, "the parser's Trees"])
    >>> [[tokens.words[i] for i in tokens.ids[a:b]] for a, b in zip(tokens.starts, tokens.starts[1:])]
    [['parsing', 'trees', '', 'see', ''], [], ['the', 'parser', 'trees']]
    """
    vocabulary = defaultdict(count(BREAK + 1).__next__, {"": BREAK})
    total = len(texts) if rows is None else len(rows)
    ids, sizes = [np.empty(0, dtype=np.int32)], np.zeros(total + 1, dtype=np.int64)
    for first, batch in iterate_text_batches(texts, rows=rows):
        progress("words", first, total)
        words, ends = _tokenise_batch(batch, vocabulary)
        ids.append(words)
        sizes[first + 1 : first + 1 + len(batch)] = np.diff(ends)
    progress("words", total, total)
    return Tokens(np.concatenate(ids), np.cumsum(sizes), tuple(vocabulary))


def _tokenise_batch(texts: pa.Array, vocabulary: dict[str, int]) -> tuple[Array, Array]:
    """Return the words of a batch of texts by number, and where each text ends; new words join the vocabulary.

    A piece between blanks is split once, however often it occurs in the batch.
    """
    split = pc.utf8_split_whitespace(pc.utf8_lower(pc.utf8_trim_whitespace(pc.fill_null(texts, ""))))
    encoded = split.flatten().dictionary_encode()
    pieces, raw = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    parts = [_split_piece(piece, vocabulary) for piece in pieces]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    flat = np.fromiter((word for part in parts for word in part), np.int32, int(lengths.sum()))
    begins = np.cumsum(lengths) - lengths
    repeats = lengths[raw]
    ends = np.concatenate([[0], np.cumsum(repeats)])
    ids = flat[np.repeat(begins[raw] - ends[:-1], repeats) + np.arange(ends[-1])]
    of_texts = np.concatenate([[0], np.cumsum(pc.list_value_length(split).to_numpy())])
    return ids, ends[of_texts]


def _split_piece(piece: str, vocabulary: dict[str, int]) -> Sequence[int]:
    """Return the words of a piece between blanks by number; most pieces are a word, or a word and a mark.

    >>> vocabulary = {"": 0, "parsing": 1, "trees": 2}
    >>> [_split_piece(piece, vocabulary) for piece in ("parsing", "trees,", "(parsing-trees)")]
    [(1,), (2, 0), [0, 1, 2, 0]]
    """
    if piece.isalpha():
        return (vocabulary[piece],)
    if piece[-1:] in MARKS and piece[:-1].isalpha() and piece != "www.":
        return vocabulary[piece[:-1]], BREAK
    return [vocabulary[_clean_word(word)] for word in PATTERN.findall(piece)]


def _clean_word(word: str) -> str:
    """Return a word without its possessive ending, or an empty text for a number.

    >>> [_clean_word(word) for word in ("parser’s", "don’t", "2020", "4th", "word2vec", "x")]
    ['parser', "don't", '', '4th', 'word2vec', 'x']
    """
    if word.isalpha():
        return word
    word = word.replace("’", "'").removesuffix("'s")
    letters = sum(char.isalpha() for char in word)
    return word if letters > 1 or letters == len(word) else ""


def name_language_topic(language: str) -> str:
    """Return the topic of texts in a language other than the main one.

    >>> name_language_topic("French")
    'french text'
    """
    return f"{language.lower()} text"


LANGUAGE_TOPICS = frozenset(name_language_topic(language) for language in LANGUAGES)


def detect_languages(tokens: Tokens) -> Array:
    """Return the language of every text by number in ``LANGUAGES``, or -1 if it is unknown.

    A text is in the language whose small words it uses most, if these are at least two, 15 % of its words, and 1.5
    times those of any other language. A text in another script than Latin is in the language of that script.
    """
    kinds, votes = _make_votes(tokens.words)
    detected = np.empty(len(tokens), dtype=np.int8)
    for first in range(0, len(tokens), TEXTS_PER_DETECTION):
        part = slice(first, first + TEXTS_PER_DETECTION)
        starts = tokens.starts[first : part.stop + 1]
        detected[part] = _detect_batch(tokens.ids[starts[0] : starts[-1]], np.diff(starts), kinds, votes)
    return detected


def _detect_batch(ids: Array, lengths: Array, kinds: Array, votes: Array) -> Array:
    """Return the language of some texts, given their words and their lengths."""
    count, texts = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
    seen = np.bincount(texts * len(votes) + kinds[ids], minlength=count * len(votes)).reshape(count, len(votes))
    hits = (seen @ votes).T
    sizes = np.bincount(texts, weights=(ids != BREAK), minlength=count)
    best = np.argmax(hits, axis=0)
    ordered = np.sort(hits, axis=0)
    top, next_best = ordered[-1], ordered[-2]
    sure = (top >= MIN_SMALL_WORDS) & (top >= MIN_SMALL_WORD_SHARE * sizes) & (top >= MIN_LANGUAGE_RATIO * next_best)
    return np.where(sure, best, UNKNOWN).astype(np.int8)


def find_main_language(languages: Array) -> int:
    """Return the language of most texts, or English if all are unknown.

    >>> LANGUAGES[find_main_language(np.array([-1, 1, 1, 0]))]
    'French'
    """
    detected = languages[languages != UNKNOWN]
    return int(np.bincount(detected, minlength=len(LANGUAGES)).argmax()) if len(detected) else 0


def sample_main_language(texts: Texts, most: int = 2000) -> str:
    """Return the language of most texts, estimated from an even sample; English if it is unknown.

    >>> sample_main_language(["le chat est dans la maison", "nous avons vu que les chats dorment"])
    'French'
    """
    rows = np.unique(np.linspace(0, len(texts) - 1, min(most, len(texts))).astype(np.int64))
    return LANGUAGES[find_main_language(detect_languages(tokenise(texts, rows=rows)))]


def _make_votes(vocabulary: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the kind of every word, and the votes of each kind for each language.

    A small word that English has too votes only for English: "in" does not indicate Dutch.
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
    """Return the word numbers with plurals replaced by their singular.

    A plural is replaced if its singular occurs in the texts, is no stop word, and is not much rarer; "linguistics" and
    "news" are not plurals.

    >>> words = ["", "parser", "parsers", "dependencies", "dependency", "linguistic", "linguistics"]
    >>> fold_plurals(words, np.array([2, 3, 6, 1, 4, 5]), np.zeros(7, dtype=bool)).tolist()
    [1, 4, 6, 1, 4, 5]
    """
    counts = count_occurrences(ids, len(vocabulary))
    number = {word: i for i, word in enumerate(vocabulary)}
    to = np.arange(len(vocabulary), dtype=np.int32)
    for i, word in enumerate(vocabulary):
        if stop[i] or word in NOT_PLURALS:
            continue
        for singular in list_singulars(word):
            at = number.get(singular)
            if at is not None and not stop[at] and counts[at] >= MIN_SINGULAR_RATIO * counts[i]:
                to[i] = at
                break
    return look_up(to, ids)


def list_singulars(word: str) -> tuple[str, ...]:
    """Return the possible singulars of a word, the likeliest first; none if it is no plural.

    >>> list_singulars("parsers"), list_singulars("classes"), list_singulars("dependencies"), list_singulars("analysis")
    (('parser',), ('class', 'classe'), ('dependency', 'dependencie'), ())
    """
    if word in NOT_SCIENCES:
        return (word[:-1],)
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "ics", "'s")) or len(word) <= MIN_PLURAL_LENGTH:
        return ()
    if word.endswith("ies"):
        return (word[:-3] + "y", word[:-1])
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return (word[:-2], word[:-1])
    return (word[:-1],)
