"""JSON lines without what nobody asks for: a scan that keeps some keys of objects, at any depth, and checks the rest.

A line is kept only where it is surely JSON. Of what is doubtful (broken escapes, control characters, huge numbers,
depths beyond 60) nothing is said but that; whoever asked must read such a line in another way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.byte_blocks import copied, hex_code, string_stop
from cube2net.kernels.compiled import njit

LEAF, OBJECT, LIST, ASIDE = 0, 1, 2, 3
"""What is done with a value: it is kept whole, some keys are, its entries are slimmed, or it is laid aside."""
DEEPEST, DIGITS = 60, 100
LINE = 10
QUOTE, BACKSLASH, OPEN, CLOSE, BEGIN, END, COMMA, COLON = 34, 92, 123, 125, 91, 93, 44, 58
TRUE, FALSE, NULL = (np.frombuffer(word, np.uint8) for word in (b"true", b"false", b"null"))
Form = tuple[Array, Array, Array, Array, Array, Array]
"""Kinds of nodes; where the keys of each begin; length and bytes of every key; its node."""


def form_of(wanted: Any, aside: str = "") -> Form:
    """Return what to keep, from objects ``{key: …}``, lists ``[…]`` and texts for what is kept whole.

    Values of the key ``aside`` of the outermost object are laid aside.
    """
    kinds: list[int] = []
    keys: list[list[tuple[bytes, int]]] = []

    def node(part: Any) -> int:
        number = len(kinds)
        kinds.append(OBJECT if isinstance(part, dict) else LIST if isinstance(part, list) else LEAF)
        keys.append([])
        if isinstance(part, dict):
            keys[number] = [(key.encode(), node(inner)) for key, inner in part.items()]
        elif isinstance(part, list):
            keys[number] = [(b"", node(part[0]))]
        return number

    node(wanted)
    if aside:
        kinds.append(ASIDE)
        keys.append([])
        keys[0].append((aside.encode(), len(kinds) - 1))
    every = [key for some in keys for key in some]
    names = np.frombuffer(b"".join(name for name, _ in every), np.uint8)
    return (
        np.array(kinds, np.int64),
        np.cumsum([0, *map(len, keys)]),
        np.array([len(name) for name, _ in every], np.int64),
        np.cumsum([0, *(len(name) for name, _ in every)]),
        names,
        np.array([child for _, child in every], np.int64),
    )


def slimmed(data: Array, starts: Array, form: Form) -> tuple[Array, Array, Array, Array, Array]:
    """Return lines with what a form keeps of them, what is laid aside, and which lines are sure.

    Line ``i`` is ``data[starts[i]:starts[i + 1]]`` and ends with a line feed. There come back the bytes of slim lines
    and where each begins, the bytes laid aside and where each begins, and flags. Lines that are not sure are empty.
    """
    size, count = int(starts[-1] - starts[0]) + 64, len(starts) - 1
    slim, aside = np.empty(size, np.uint8), np.empty(size, np.uint8)
    ends, aside_ends, sure = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64), np.zeros(count, np.bool_)
    _slim_lines(data, starts, form, slim, ends, aside, aside_ends, sure)
    return slim[: ends[-1]], ends, aside[: aside_ends[-1]], aside_ends, sure


@njit(cache=True)
def _slim_lines(
    data: Array, starts: Array, form: Form, slim: Array, ends: Array, aside: Array, aside_ends: Array, sure: Array
) -> None:
    """Write lines slim, and beside them what is laid aside."""
    stack = np.zeros(DEEPEST + 2, np.int64)
    used = laid = 0
    for i in range(len(sure)):
        begin, end = starts[i], starts[i + 1]
        if end > begin and data[end - 1] == LINE:
            filled, first, last = _slim_line(data, begin, end, form, slim, used, stack)
            if filled >= 0:
                sure[i], used = True, filled
                laid = copied(data, first, last, aside, laid)
        ends[i + 1], aside_ends[i + 1] = used, laid


@njit(cache=True)
def _slim_line(data: Array, at: int, end: int, form: Form, out: Array, used: int, stack: Array) -> tuple[int, int, int]:
    """Write one line slim; return where it ends (-1: it is not sure), and where what is laid aside begins and ends."""
    kinds, firsts, _, _, _, children = form
    begin = stop = depth = node = 0
    laid = False
    at = _blank(data, at)
    while True:
        # A value that is kept stands here.
        kind, fresh = kinds[node], False
        if (kind == OBJECT and data[at] == OPEN) or (kind == LIST and data[at] == BEGIN):
            depth += 1
            if depth > DEEPEST:
                return -1, 0, 0
            stack[depth], out[used], fresh = node, data[at], True
            used, at = used + 1, at + 1
        elif depth == 0:
            return -1, 0, 0
        else:
            after = _value(data, at, end)
            if after < 0 or (kind == ASIDE and laid):
                return -1, 0, 0
            if kind != ASIDE:
                used = copied(data, at, after, out, used)
            elif data[at] != NULL[0]:
                begin, stop = at, after
            laid = laid or kind == ASIDE
            at = after
        # On to the next one: past the ends of objects and lists, and past keys that are not kept.
        while True:
            at = _blank(data, at)
            above = stack[depth]
            in_list = kinds[above] == LIST
            if depth and data[at] == (END if in_list else CLOSE):
                out[used] = data[at]
                used, at, depth, fresh = used + 1, at + 1, depth - 1, False
                continue
            if depth == 0:
                out[used] = LINE
                return (used + 1, begin, stop) if at == end - 1 else (-1, 0, 0)
            if not fresh:
                if data[at] != COMMA:
                    return -1, 0, 0
                at = _blank(data, at + 1)
            if in_list:
                if not fresh:
                    out[used] = COMMA
                    used += 1
                node = children[firsts[above]]
                break
            fresh = False
            key = at
            close = string_stop(data, key + 1, end)
            if data[key] != QUOTE or data[close] != QUOTE:
                return -1, 0, 0
            at = _blank(data, close + 1)
            if data[at] != COLON:
                return -1, 0, 0
            at = _blank(data, at + 1)
            node = _child(data, key + 1, close, form, above)
            if node < 0:
                at = _value(data, at, end)
                if at < 0:
                    return -1, 0, 0
                continue
            if kinds[node] != ASIDE:
                if out[used - 1] != OPEN:
                    out[used] = COMMA
                    used += 1
                used = copied(data, key, at, out, used)
            break


@njit(cache=True)
def _child(data: Array, begin: int, end: int, form: Form, node: int) -> int:
    """Return the node of the key between two places, -1 where it is not kept."""
    _, firsts, lengths, names_begin, names, children = form
    for k in range(firsts[node], firsts[node + 1]):
        if lengths[k] == end - begin:
            name, same = names_begin[k], True
            for step in range(end - begin):
                if data[np.uint64(begin + step)] != names[np.uint64(name + step)]:
                    same = False
                    break
            if same:
                return int(children[k])
    return -1


@njit(cache=True)
def _value(data: Array, at: int, end: int) -> int:
    """Return where the value at a place ends, -1 where it is not sure to be one."""
    depth, objects = 0, np.uint64(0)
    one = np.uint64(1)
    while True:
        sign = data[np.uint64(at)]
        if sign == QUOTE:
            at = _string(data, at, end)
        elif sign in (OPEN, BEGIN):
            at = _blank(data, at + 1)
            if data[np.uint64(at)] == (CLOSE if sign == OPEN else END):
                at += 1
            else:
                depth += 1
                objects = objects << one | (one if sign == OPEN else np.uint64(0))
                if depth > DEEPEST:
                    return -1
                if sign == OPEN:
                    at = _key(data, at, end)
                    if at < 0:
                        return -1
                continue
        elif sign == TRUE[0]:
            at = _word(data, at, TRUE)
        elif sign == FALSE[0]:
            at = _word(data, at, FALSE)
        elif sign == NULL[0]:
            at = _word(data, at, NULL)
        else:
            at = _number(data, at)
        if at < 0:
            return -1
        while True:
            if depth == 0:
                return at
            at = _blank(data, at)
            sign = data[np.uint64(at)]
            if sign == COMMA:
                at = _blank(data, at + 1)
                if objects & one:
                    at = _key(data, at, end)
                    if at < 0:
                        return -1
                break
            if sign != (CLOSE if objects & one else END):
                return -1
            at, depth, objects = at + 1, depth - 1, objects >> one


@njit(cache=True)
def _key(data: Array, at: int, end: int) -> int:
    """Return where the value of the key at a place begins, -1 where it is none."""
    if data[np.uint64(at)] != QUOTE:
        return -1
    at = _string(data, at, end)
    if at < 0:
        return -1
    at = _blank(data, at)
    return _blank(data, at + 1) if data[np.uint64(at)] == COLON else -1


@njit(cache=True)
def _string(data: Array, at: int, end: int) -> int:
    """Return where the string at a place ends, -1 where it is not sure to."""
    at = string_stop(data, at + 1, end)
    while data[np.uint64(at)] == BACKSLASH:
        sign = data[np.uint64(at + 1)]
        if sign == 117:
            code = hex_code(data, at + 2, end)
            if code < 32 or 0xDC00 <= code < 0xE000:
                return -1
            if code >= 0xD800 and code < 0xDC00:
                low = hex_code(data, at + 8, end) if data[at + 6] == BACKSLASH and data[at + 7] == 117 else -1
                if not 0xDC00 <= low < 0xE000:
                    return -1
                at += 6
            at += 4
        elif sign not in (QUOTE, BACKSLASH, 47, 110, 114, 116):
            return -1
        at = string_stop(data, at + 2, end)
    return at + 1 if data[np.uint64(at)] == QUOTE else -1


@njit(cache=True)
def _number(data: Array, at: int) -> int:
    """Return where the number at a place ends, -1 where it is none, or may be too large."""
    if data[np.uint64(at)] == 45:
        at += 1
    first = at
    at = _digits(data, at)
    if at == first or at - first > DIGITS or (data[np.uint64(first)] == 48 and at - first > 1):
        return -1
    if data[np.uint64(at)] == 46:
        first = at + 1
        at = _digits(data, first)
        if at == first:
            return -1
    if data[np.uint64(at)] == 101 or data[np.uint64(at)] == 69:
        first = at + (2 if data[np.uint64(at + 1)] == 43 or data[np.uint64(at + 1)] == 45 else 1)
        at = _digits(data, first)
        if at == first or at - first > 2:
            return -1
    return at


@njit(cache=True)
def _digits(data: Array, at: int) -> int:
    """Return the next place where no digit is."""
    while 48 <= data[np.uint64(at)] <= 57:
        at += 1
    return at


@njit(cache=True)
def _word(data: Array, at: int, word: Array) -> int:
    """Return where a word at a place ends, -1 where it is another."""
    for k in range(len(word)):
        if data[np.uint64(at + k)] != word[k]:
            return -1
    return at + len(word)


@njit(cache=True)
def _blank(data: Array, at: int) -> int:
    """Return the next place that is not blank."""
    while True:
        sign = data[np.uint64(at)]
        if sign > 32 or not (sign == 32 or sign == 9 or sign == 13):
            return at
        at += 1
