"""Texts as words: cut into tokens, the language of each told, English plurals folded into their singular."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.topics.stopwords import SCRIPTS, SMALL_WORDS, words
from cube2net.topics.text_batches import Texts, look_up, occurrences, text_batches

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
