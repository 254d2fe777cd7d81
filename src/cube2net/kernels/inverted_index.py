"""Texts out of inverted indexes, which say of every word where it stands: ``{"to": [0, 4], "be": [1, 5]}``."""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.text import copied, hex_code, string_stop

WHOLE, CUT, ODD = 0, 1, 2
"""What is said of an index: it was read to its end, it stops before, or it is none (or one with far-off places)."""
FAR = 1 << 20
"""No word stands so far from the beginning."""
# The bytes of JSON.
QUOTE, BACKSLASH, OPEN, CLOSE, BEGIN, END, COMMA, COLON = 34, 92, 123, 125, 91, 93, 44, 58
# The keys of the form that wraps the index: {"IndexLength": 6, "InvertedIndex": {…}}.
LENGTH, INDEX = np.frombuffer(b"IndexLength", np.uint8), np.frombuffer(b"InvertedIndex", np.uint8)


@njit(cache=True)
def texts_of_indexes(starts: Array, data: Array) -> tuple[Array, Array, Array]:
    """Return the texts of indexes in JSON: where each ends, the bytes of all, and how each was read.

    Index ``i`` is ``data[starts[i]:starts[i + 1]]``. Words are put in the order of their places, those of one place in
    the order of the index, with a space between two. Of an index that is cut, what is whole is taken.
    """
    count = len(starts) - 1
    ends, states = np.zeros(count + 1, np.int64), np.zeros(count, np.int8)
    longest = 0
    for i in range(count):
        longest = max(longest, starts[i + 1] - starts[i])
    words, begins, lengths = (
        np.empty(longest + 1, np.uint8),
        np.empty(longest + 1, np.int64),
        np.empty(longest + 1, np.int64),
    )
    word_of, place_of = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    text = np.empty(max(1 << 16, starts[count] - starts[0]), np.uint8)
    used = 0
    for i in range(count):
        state, said, most = _read(data, starts[i], starts[i + 1], words, begins, lengths, word_of, place_of)
        states[i] = state
        if state != ODD and said:
            order = _in_order(place_of, said, most)
            size = 0
            for k in range(said):
                size += lengths[word_of[k]] + 1
            if used + size + 16 > len(text):
                grown = np.empty(2 * (used + size + 16), np.uint8)
                grown[:used] = text[:used]
                text = grown
            for k in range(said):
                if k:
                    text[used] = 32
                    used += 1
                word = word_of[order[k]]
                begin, length = begins[word], lengths[word]
                if begin >= 0:
                    used = copied(data, begin, begin + length, text, used)
                else:
                    used = copied(words, -1 - begin, length - 1 - begin, text, used)
        ends[i + 1] = used
    return ends, text[:used], states


@njit(cache=True)
def _read(
    data: Array, at: int, end: int, words: Array, begins: Array, lengths: Array, word_of: Array, place_of: Array
) -> tuple[int, int, int]:
    """Read one index; return how it went, how many places there are, and the last one."""
    known = said = most = filled = 0
    depth = 0
    at = _blank(data, at, end)
    if at == end:
        return WHOLE, 0, 0
    if data[at] != OPEN:
        return ODD, 0, 0
    at += 1
    while True:
        at = _blank(data, at, end)
        if at >= end:
            return CUT, said, most
        if data[at] == CLOSE:
            return WHOLE, said, most
        if data[at] == COMMA:
            at += 1
            continue
        if data[at] != QUOTE:
            return ODD, 0, 0
        key, at, escaped = at + 1, at + 1, False
        while True:
            at = string_stop(data, at, end)
            if at >= end or data[at] == QUOTE:
                break
            escaped = escaped or data[at] == BACKSLASH
            at += 2 if data[at] == BACKSLASH else 1
        closed = min(at, end)
        at += 1
        at = _blank(data, at, end)
        if at >= end:
            return CUT, said, most
        if data[at] != COLON:
            return ODD, 0, 0
        at = _blank(data, at + 1, end)
        if at >= end:
            return CUT, said, most
        if data[at] == BEGIN:
            at, numbers, highest = _places(data, at + 1, end, known, word_of, place_of, said)
            if at == -1:
                return ODD, 0, 0
            if at == -2:
                return CUT, said, most
            begins[known], lengths[known] = key, closed - key
            if escaped:
                begins[known], before = -1 - filled, filled
                filled = _unescaped(data, key, closed, words, filled)
                if filled < 0:
                    return ODD, 0, 0
                lengths[known] = filled - before
            known, said, most = known + 1, said + numbers, max(most, highest)
            continue
        if depth == 0 and data[at] == OPEN and _is(data, key, closed, INDEX):
            depth, at = 1, at + 1
        elif depth == 0 and known == 0 and _is(data, key, closed, LENGTH):
            while at < end and data[at] != COMMA and data[at] != CLOSE:
                at += 1
        else:
            return ODD, 0, 0


@njit(cache=True)
def _places(
    data: Array, at: int, end: int, word: int, word_of: Array, place_of: Array, said: int
) -> tuple[int, int, int]:
    """Read the places of a word; return where to go on (-1: they are none, -2: cut), how many, and the last."""
    numbers = highest = 0
    while True:
        at = _blank(data, at, end)
        if at >= end:
            return -2, 0, 0
        if data[at] == END:
            return at + 1, numbers, highest
        if data[at] == COMMA:
            at += 1
            continue
        number, first = 0, at
        while at < end and 48 <= data[np.uint64(at)] <= 57 and number < FAR:
            number = 10 * number + data[np.uint64(at)] - 48
            at += 1
        if at >= end:
            return -2, 0, 0
        if at == first or number >= FAR:
            return -1, 0, 0
        word_of[said + numbers], place_of[said + numbers] = word, number
        numbers += 1
        highest = max(highest, number)


@njit(cache=True)
def _in_order(place_of: Array, said: int, most: int) -> Array:
    """Return the order of places, a stable one."""
    if most > 8 * said + 1024:
        return np.argsort(place_of[:said], kind="mergesort")
    first = np.zeros(most + 2, np.int64)
    for k in range(said):
        first[place_of[k] + 1] += 1
    for place in range(most + 1):
        first[place + 1] += first[place]
    order = np.empty(said, np.int64)
    for k in range(said):
        order[first[place_of[k]]] = k
        first[place_of[k]] += 1
    return order


@njit(cache=True)
def _unescaped(data: Array, at: int, end: int, words: Array, filled: int) -> int:
    """Copy a JSON string without its escapes, breaks as spaces; return how much is filled then, -1 where it is none."""
    while at < end:
        sign = data[at]
        at += 1
        if sign == BACKSLASH:
            sign = data[at]
            at += 1
            if sign == 117:
                code = hex_code(data, at, end)
                at += 4
                if 0xD800 <= code < 0xDC00:
                    low = hex_code(data, at + 2, end) if at + 1 < end and data[at + 1] == 117 else -1
                    if not 0xDC00 <= low < 0xE000:
                        return -1
                    code, at = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, at + 6
                elif code < 0 or 0xDC00 <= code < 0xE000:
                    return -1
                filled = _put(words, filled, code)
                continue
            if sign == 110 or sign == 114 or sign == 116 or sign == 98 or sign == 102:
                sign = 32  # a line break, a tab and their like
            elif sign != QUOTE and sign != BACKSLASH and sign != 47:
                return -1
        words[filled] = sign
        filled += 1
    return filled


@njit(cache=True)
def _put(words: Array, filled: int, code: int) -> int:
    """Write a character in UTF-8; return how much is filled then."""
    if code < 0x80:
        words[filled] = code
        return filled + 1
    if code < 0x800:
        words[filled] = 0xC0 | code >> 6
        words[filled + 1] = 0x80 | code & 63
        return filled + 2
    if code < 0x10000:
        words[filled] = 0xE0 | code >> 12
        words[filled + 1] = 0x80 | code >> 6 & 63
        words[filled + 2] = 0x80 | code & 63
        return filled + 3
    words[filled] = 0xF0 | code >> 18
    words[filled + 1] = 0x80 | code >> 12 & 63
    words[filled + 2] = 0x80 | code >> 6 & 63
    words[filled + 3] = 0x80 | code & 63
    return filled + 4


@njit(cache=True)
def _blank(data: Array, at: int, end: int) -> int:
    """Return the next place that is not blank."""
    while at < end and (data[at] == 32 or 9 <= data[at] <= 13):
        at += 1
    return at


@njit(cache=True)
def _is(data: Array, begin: int, end: int, word: Array) -> bool:
    """Return whether the bytes between two places are a word."""
    same = end - begin == len(word)
    for k in range(len(word) if same else 0):
        same = same and data[begin + k] == word[k]
    return same
