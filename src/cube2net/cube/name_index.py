"""An index of the names of a cube by their words: find names by prefix, and similar names."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, find_distinct
from cube2net._util.progress import check_stop
from cube2net._util.spelling import MAX_TEXT_LETTERS, count_edits
from cube2net.model.cube import Cube

BETWEEN_WORDS = r"[^\p{L}\p{N}]+"
"""Separates the words of a name: everything but letters and digits."""
MARKS = r"\p{Mn}+"
STEM = 3
"""Names with a word that shares this many first letters are candidates for similar names."""
MAX_CANDIDATES, MAX_COMPARED = 400, 12
"""Candidates that share the most such words, and the most similar of them, which are compared letter by letter."""


def fold_text(text: str) -> str:
    """Return a text in lower case without accents.

    >>> fold_text("Ivan VULIĆ"), fold_text("Ångström")
    ('ivan vulic', 'angstrom')
    """
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Mn")


@dataclass(frozen=True, eq=False)
class NameIndex:
    """The sorted words of all names, and the rows of the names with each word.

    ``words[w]`` is in the names of the rows ``rows[starts[w]:starts[w + 1]]``; ``names`` are lower-case without
    accents, and ``rank`` orders objects by their number of mentions, the most mentioned first.

    >>> index = NameIndex.of(pa.array(["Ada Lovelace", "Ádám Nagy", "Ben Ada-Smith"]), np.array([1, 5, 3]))
    >>> index.find_by_prefix("ada", 9).tolist(), index.find_by_prefix("smith be", 9).tolist()
    ([1, 2, 0], [2])
    >>> index.find_similar("Ada Lovelance", 1)
    [0]
    """

    names: pa.Array
    words: list[str]
    starts: Array
    rows: Array
    rank: Array

    @classmethod
    def of_cube(cls, cube: Cube) -> NameIndex:
        """Return the index of the names of a cube's objects."""
        return cls.of(cube.objects.table["name"], _count_mentions(cube))

    @classmethod
    def of(cls, names: pa.Array | pa.ChunkedArray, mentions: Array) -> NameIndex:
        """Return the index of names; ``mentions`` are the numbers of mentions of their objects."""
        small = pc.utf8_normalize(pc.utf8_lower(names), form="NFKD")
        small = pc.replace_substring_regex(small, MARKS, "")
        small = small.combine_chunks() if isinstance(small, pa.ChunkedArray) else small
        pieces = pc.split_pattern_regex(small, BETWEEN_WORDS)
        owner = np.asarray(pc.list_parent_indices(pieces))
        coded = pc.list_flatten(pieces).dictionary_encode()
        numbers, words = np.asarray(coded.indices), coded.dictionary
        order = np.asarray(pc.sort_indices(words))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        pairs = find_distinct(place[numbers] * max(len(small), 1) + owner)
        starts = np.searchsorted(pairs, np.arange(len(order) + 1) * max(len(small), 1))
        by_rank = np.empty(len(small), np.int32)
        by_rank[np.argsort(-mentions, kind="stable")] = np.arange(len(small), dtype=np.int32)
        return cls(
            small,
            words.take(pa.array(order)).to_pylist(),
            starts,
            (pairs % max(len(small), 1)).astype(np.int32),
            by_rank,
        )

    def __repr__(self) -> str:
        return f"NameIndex({len(self.names):,} names, {len(self.words):,} words, {self.nbytes / 1e6:.1f} MB)"

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes: arrays, names, and words at 60 bytes each plus their letters."""
        texts = sum(map(len, self.words)) + 60 * len(self.words)
        return int(self.names.nbytes + self.starts.nbytes + self.rows.nbytes + self.rank.nbytes + texts)

    def find_by_prefix(self, text: str, most: int) -> Array:
        """Return the rows of names in which every word of a text is the beginning of a word, the most mentioned first.

        Accents and case are ignored; names equal to the text come first.
        """
        typed = fold_text(text)
        parts = _split_words(typed)
        if not parts:
            return np.empty(0, np.int64)
        mark = np.zeros(len(self.names), dtype=bool)
        mark[self._rows(parts[0])] = True
        for part in parts[1:]:
            other = np.zeros(len(self.names), dtype=bool)
            other[self._rows(part)] = True
            mark &= other
        found = np.flatnonzero(mark)
        if len(found) > most:
            found = found[np.argpartition(self.rank[found], most)[:most]]
        same = self._match_names(" ".join(typed.split()), parts)
        found = np.union1d(found, same)
        chosen: Array = found[np.lexsort((self.rank[found], ~np.isin(found, same)))][:most]
        return chosen.astype(np.int64)

    def find_by_name(self, text: str) -> Array:
        """Return the rows of names equal to a text, ignoring case and accents."""
        typed = fold_text(text)
        parts = _split_words(typed)
        return self._match_names(" ".join(typed.split()), parts) if parts else np.empty(0, np.int64)

    def _match_names(self, typed: str, parts: list[str]) -> Array:
        """Return the rows of names equal to a text with these words."""
        each = [self._rows(part, is_whole=True) for part in parts]
        rows = min(each, key=len)
        found: Array = rows[np.asarray(pc.equal(self.names.take(pa.array(rows)), typed))]
        return found

    def find_similar(self, text: str, most: int) -> list[int]:
        """Return the rows of the names most similar to a text, with at most one edit per three letters.

        Candidates share the first letters of most words with it. Names with all words of the text, or whose words are
        all in the text, are similar too.
        """
        typed = " ".join(_split_words(fold_text(text)))
        parts = [part for part in dict.fromkeys(typed.split()) if len(part) >= STEM]
        if not parts or len(text) > MAX_TEXT_LETTERS:
            return []
        shared = np.concatenate([find_distinct(self._rows(part[:STEM]).astype(np.int64)) for part in parts])
        rows, counts = np.unique(shared, return_counts=True)
        lengths = np.asarray(pc.utf8_length(self.names.take(pa.array(rows)))).astype(np.int64)
        order = np.lexsort((self.rank[rows], np.abs(lengths - len(typed)), -counts))[:MAX_CANDIDATES]
        own = _pair_letters(typed)
        names = list(zip(rows[order], self.names.take(pa.array(rows[order])).to_pylist(), strict=True))
        names.sort(key=lambda pair: len(own ^ _pair_letters(pair[1])))
        # Names with all words of the text may be much longer than it, and must not be lost among others.
        complete = [pair for pair in names if set(parts) <= set(_split_words(pair[1]))][: MAX_COMPARED // 2]
        names = complete + [pair for pair in names if pair not in complete]
        allowed, similar = max(len(typed) // 3, 1), []
        check_stop()
        for row, name in names[:MAX_COMPARED]:
            words = _split_words(name)
            inside = set(parts) <= set(words) or set(words) <= set(typed.split())
            edits = _count_edits(typed, " ".join(words), allowed)
            if inside or edits <= allowed:
                lacks = not set(parts) <= set(words)
                similar.append((lacks, min(edits, allowed), int(self.rank[row]), int(row)))
        return [row for *_, row in sorted(similar)[:most]]

    def _rows(self, begin: str, *, is_whole: bool = False) -> Array:
        """Return the rows of names with a word that begins with a text, or equals it; a row may be repeated."""
        first = bisect_left(self.words, begin)
        last = bisect_right(self.words, begin) if is_whole else bisect_left(self.words, begin + "\U0010ffff")
        found: Array = self.rows[self.starts[first] : self.starts[last]]
        return found


def _count_mentions(cube: Cube) -> Array:
    """Return the number of items that mention each object, or of its links if the cube keeps no items."""
    if cube.items is None:
        return np.diff(cube.links.indptr).astype(np.int64)
    return np.bincount(cube.items().objects.indices, minlength=len(cube.objects))


def _split_words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text).split()


def _pair_letters(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))


def _count_edits(one: str, other: str, allowed: int) -> int:
    return allowed + 1 if abs(len(one) - len(other)) > allowed else count_edits(one, other)
