"""Kernels over bytes: JSON strings, ids, hashes, and texts of inverted indexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba.core import types
from numba.extending import intrinsic

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit

WIDE = 16
QUOTE, BACKSLASH, SPACE = 34, 92, 32
_BYTES = ir.VectorType(ir.IntType(8), WIDE)


def _block_at(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return a pointer to the sixteen bytes at a position of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _BYTES.as_pointer())


def _stop_among(_: Any, data: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the first of sixteen bytes that is a quote, a backslash or a control character, or 16."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = builder.load(_block_at(context, builder, signature.args[0], *args), align=1)
        every = [ir.Constant(_BYTES, [byte] * WIDE) for byte in (QUOTE, BACKSLASH, SPACE)]
        is_match = builder.icmp_unsigned("==", block, every[0])
        is_match = builder.or_(is_match, builder.icmp_unsigned("==", block, every[1]))
        is_match = builder.or_(is_match, builder.icmp_unsigned("<", block, every[2]))
        bits = builder.zext(builder.bitcast(is_match, ir.IntType(WIDE)), ir.IntType(64))
        bits = builder.or_(bits, ir.Constant(ir.IntType(64), 1 << WIDE))
        return builder.cttz(bits, ir.Constant(ir.IntType(1), 1))

    return types.uint64(data, types.uint64), code


def _copy_block(_: Any, source: Any, at: Any, target: Any, to: Any) -> tuple[Any, Callable[..., Any]]:

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = builder.load(_block_at(context, builder, signature.args[0], args[0], args[1]), align=1)
        builder.store(block, _block_at(context, builder, signature.args[2], args[2], args[3]), align=1)
        return context.get_dummy_value()

    return types.void(source, types.uint64, target, types.uint64), code


_first_stop: Any = intrinsic(_stop_among)
_copy_sixteen: Any = intrinsic(_copy_block)


@njit(cache=True)
def find_string_stop(data: Array, at: int, end: int) -> int:
    """Return the first position from ``at`` on of a quote, a backslash or a control character, or ``end``."""
    place, last = np.uint64(at), np.uint64(end)
    while place + np.uint64(WIDE) <= last:
        step = _first_stop(data, place)
        place += step
        if step < np.uint64(WIDE):
            return int(place)
    while place < last:
        byte = data[place]
        if byte in (QUOTE, BACKSLASH) or byte < SPACE:
            break
        place += np.uint64(1)
    return int(place)


@njit(cache=True)
def copy_bytes(data: Array, begin: int, end: int, out: Array, used: int) -> int:
    """Copy the bytes between two positions to a position of another array, and return where they end there."""
    at, last, to = np.uint64(begin), np.uint64(end), np.uint64(used)
    while at < last and at + np.uint64(WIDE) <= np.uint64(len(data)) and to + np.uint64(WIDE) <= np.uint64(len(out)):
        _copy_sixteen(data, at, out, to)
        at += np.uint64(WIDE)
        to += np.uint64(WIDE)
    while at < last:
        out[to] = data[at]
        at += np.uint64(1)
        to += np.uint64(1)
    return used + end - begin


@njit(cache=True)
def hex_code(data: Array, at: int, end: int) -> int:
    """Return the number of four hexadecimal digits, or -1 if they are not digits or reach beyond ``end``."""
    if at + 4 > end:
        return -1
    code = 0
    for k in range(at, at + 4):
        digit = int(data[k])
        if 48 <= digit <= 57:
            digit -= 48
        elif 97 <= digit <= 102:
            digit -= 87
        elif 65 <= digit <= 70:
            digit -= 55
        else:
            return -1
        code = 16 * code + digit
    return code


@njit(cache=True)
def parse_ids(starts: Array, data: Array, letter: int) -> Array:
    """Return the number of every id such as ``A5``, ``a5`` or ``https://openalex.org/A5``, or -1 for other texts.

    ``letter`` is the code of the capital letter; a prefix must end with a slash.
    """
    numbers = np.empty(len(starts) - 1, np.int64)
    for i in range(len(numbers)):
        begin, at = starts[i], starts[i + 1]
        number, unit = 0, 1
        while at > begin and 48 <= data[at - 1] <= 57 and unit <= 10**17:
            number += unit * (data[at - 1] - 48)
            unit *= 10
            at -= 1
        good = unit > 1 and at > begin and (data[at - 1] == letter or data[at - 1] == letter + 32)
        good = good and (at - 1 == begin or data[at - 2] == 47)
        numbers[i] = number if good else -1
    return numbers


@njit(cache=True)
def find_heaviest(starts: Array, level: Array, weight: Array, wanted: int) -> Array:
    """Return the heaviest entry of a level in every row, the first of equal ones, or -1."""
    best = np.full(len(starts) - 1, -1, np.int64)
    for row in range(len(best)):
        for k in range(starts[row], starts[row + 1]):
            if level[k] == wanted and (best[row] < 0 or weight[k] > weight[best[row]]):
                best[row] = k
    return best


@njit(cache=True)
def mark_first(starts: Array, values: Array) -> Array:
    """Mark the first occurrence of every value in its row; negative values are never marked."""
    first = np.zeros(len(values), np.bool_)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        if end - begin <= 32:
            for k in range(begin, end):
                new = values[k] >= 0
                for before in range(begin, k):
                    new = new and values[before] != values[k]
                first[k] = new
        else:
            order = np.argsort(values[begin:end], kind="mergesort")
            for k in range(end - begin):
                value = values[begin + order[k]]
                first[begin + order[k]] = value >= 0 and (k == 0 or values[begin + order[k - 1]] != value)
    return first


@njit(cache=True)
def find_latest(codes: Array, days: Array, valid: Array, count: int) -> Array:
    """Return for every code its valid entry of the latest day, the last of equal ones, or -1."""
    latest = np.full(count, -1, np.int64)
    for k in range(len(codes)):
        if valid[k] and (latest[codes[k]] < 0 or days[k] >= days[latest[codes[k]]]):
            latest[codes[k]] = k
    return latest


@njit(cache=True)
def hash_texts(offsets: Array, data: Array) -> Array:
    """Return a 64-bit hash of every text: FNV-1a over its bytes, with the final mix of MurmurHash3."""
    numbers = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(numbers)):
        number = np.uint64(14695981039346656037)
        for k in range(offsets[i], offsets[i + 1]):
            number = (number ^ np.uint64(data[k])) * np.uint64(1099511628211)
        number = (number ^ (number >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
        number = (number ^ (number >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        numbers[i] = number ^ (number >> np.uint64(33))
    return numbers


@njit(cache=True)
def compute_checksums(offsets: Array, data: Array) -> Array:
    """Return the CRC-32 of every text, the same as zlib's."""
    table = np.empty(256, np.uint32)
    for entry in range(256):
        number = np.uint32(entry)
        for _ in range(8):
            low = number & np.uint32(1)
            number >>= np.uint32(1)
            if low:
                number ^= np.uint32(0xEDB88320)
        table[entry] = number
    numbers = np.empty(len(offsets) - 1, np.uint32)
    for i in range(len(numbers)):
        number = np.uint32(0xFFFFFFFF)
        for k in range(offsets[i], offsets[i + 1]):
            number = table[(number ^ np.uint32(data[k])) & np.uint32(0xFF)] ^ (number >> np.uint32(8))
        numbers[i] = number ^ np.uint32(0xFFFFFFFF)
    return numbers


WHOLE, CUT, ODD = 0, 1, 2
"""The state of an index: complete, truncated, or not an index (or one with too large positions)."""
FAR = 1 << 20
"""The largest position of a word."""
# The bytes of JSON.
OPEN, CLOSE, BEGIN, END, COMMA, COLON = 123, 125, 91, 93, 44, 58
# The keys of the form that wraps the index: {"IndexLength": 6, "InvertedIndex": {…}}.
LENGTH, INDEX = np.frombuffer(b"IndexLength", np.uint8), np.frombuffer(b"InvertedIndex", np.uint8)


@njit(cache=True)
def read_indexes(starts: Array, data: Array) -> tuple[Array, Array, Array]:
    """Return the texts of inverted indexes in JSON: their ends, the bytes of all, and the state of each index.

    Index ``i`` is ``data[starts[i]:starts[i + 1]]``. Words are joined by spaces in the order of their positions, those
    of one position in the order of the index. Of a truncated index the complete part is used.
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
        state, placed, most = _read(data, starts[i], starts[i + 1], words, begins, lengths, word_of, place_of)
        states[i] = state
        if state != ODD and placed:
            order = _in_order(place_of, placed, most)
            size = 0
            for k in range(placed):
                size += lengths[word_of[k]] + 1
            if used + size + 16 > len(text):
                grown = np.empty(2 * (used + size + 16), np.uint8)
                grown[:used] = text[:used]
                text = grown
            for k in range(placed):
                if k:
                    text[used] = 32
                    used += 1
                word = word_of[order[k]]
                begin, length = begins[word], lengths[word]
                if begin >= 0:
                    used = copy_bytes(data, begin, begin + length, text, used)
                else:
                    used = copy_bytes(words, -1 - begin, length - 1 - begin, text, used)
        ends[i + 1] = used
    return ends, text[:used], states


@njit(cache=True)
def _read(
    data: Array, at: int, end: int, words: Array, begins: Array, lengths: Array, word_of: Array, place_of: Array
) -> tuple[int, int, int]:
    """Read one index; return its state, the number of positions, and the last position."""
    key_count = placed = most = filled = 0
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
            return CUT, placed, most
        if data[at] == CLOSE:
            return WHOLE, placed, most
        if data[at] == COMMA:
            at += 1
            continue
        if data[at] != QUOTE:
            return ODD, 0, 0
        key, at, escaped = at + 1, at + 1, False
        while True:
            at = find_string_stop(data, at, end)
            if at >= end or data[at] == QUOTE:
                break
            escaped = escaped or data[at] == BACKSLASH
            at += 2 if data[at] == BACKSLASH else 1
        closed = min(at, end)
        at += 1
        at = _blank(data, at, end)
        if at >= end:
            return CUT, placed, most
        if data[at] != COLON:
            return ODD, 0, 0
        at = _blank(data, at + 1, end)
        if at >= end:
            return CUT, placed, most
        if data[at] == BEGIN:
            at, numbers, highest = _places(data, at + 1, end, key_count, word_of, place_of, placed)
            if at == -1:
                return ODD, 0, 0
            if at == -2:
                return CUT, placed, most
            begins[key_count], lengths[key_count] = key, closed - key
            if escaped:
                begins[key_count], before = -1 - filled, filled
                filled = _unescape(data, key, closed, words, filled)
                if filled < 0:
                    return ODD, 0, 0
                lengths[key_count] = filled - before
            key_count, placed, most = key_count + 1, placed + numbers, max(most, highest)
            continue
        if depth == 0 and data[at] == OPEN and _is(data, key, closed, INDEX):
            depth, at = 1, at + 1
        elif depth == 0 and key_count == 0 and _is(data, key, closed, LENGTH):
            while at < end and data[at] != COMMA and data[at] != CLOSE:
                at += 1
        else:
            return ODD, 0, 0


@njit(cache=True)
def _places(
    data: Array, at: int, end: int, word: int, word_of: Array, place_of: Array, placed: int
) -> tuple[int, int, int]:
    """Read the positions of a word; return where to continue (-1: invalid, -2: truncated), their number, the last."""
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
        word_of[placed + numbers], place_of[placed + numbers] = word, number
        numbers += 1
        highest = max(highest, number)


@njit(cache=True)
def _in_order(place_of: Array, placed: int, most: int) -> Array:
    """Return the order of positions, stable."""
    if most > 8 * placed + 1024:
        return np.argsort(place_of[:placed], kind="mergesort")
    first = np.zeros(most + 2, np.int64)
    for k in range(placed):
        first[place_of[k] + 1] += 1
    for place in range(most + 1):
        first[place + 1] += first[place]
    order = np.empty(placed, np.int64)
    for k in range(placed):
        order[first[place_of[k]]] = k
        first[place_of[k]] += 1
    return order


@njit(cache=True)
def _unescape(data: Array, at: int, end: int, words: Array, filled: int) -> int:
    """Copy a JSON string with escapes resolved and breaks as spaces; return the end, or -1 if it is invalid."""
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
    """Write a character in UTF-8; return its end."""
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
    """Return the next position that is not blank."""
    while at < end and (data[at] == 32 or 9 <= data[at] <= 13):
        at += 1
    return at


@njit(cache=True)
def _is(data: Array, begin: int, end: int, word: Array) -> bool:
    same = end - begin == len(word)
    for k in range(len(word) if same else 0):
        same = same and data[begin + k] == word[k]
    return same
