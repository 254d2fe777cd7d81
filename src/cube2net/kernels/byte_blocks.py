"""Many bytes at a time: where a JSON string stops, where lines end, what an escape says, copies of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba.core import types
from numba.extending import intrinsic

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

WIDE, MANY = 16, 256
QUOTE, BACKSLASH, SPACE, LINE = 34, 92, 32, 10
_BYTES = ir.VectorType(ir.IntType(8), WIDE)


def _block_at(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return the pointer to the sixteen bytes at a place of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _BYTES.as_pointer())


def _stop_among(_: Any, data: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the first of sixteen bytes that is a quote, a backslash or a control character; 16 where none is."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = builder.load(_block_at(context, builder, signature.args[0], *args), align=1)
        every = [ir.Constant(_BYTES, [byte] * WIDE) for byte in (QUOTE, BACKSLASH, SPACE)]
        found = builder.icmp_unsigned("==", block, every[0])
        found = builder.or_(found, builder.icmp_unsigned("==", block, every[1]))
        found = builder.or_(found, builder.icmp_unsigned("<", block, every[2]))
        bits = builder.zext(builder.bitcast(found, ir.IntType(WIDE)), ir.IntType(64))
        bits = builder.or_(bits, ir.Constant(ir.IntType(64), 1 << WIDE))
        return builder.cttz(bits, ir.Constant(ir.IntType(1), 1))

    return types.uint64(data, types.uint64), code


def _copy_block(_: Any, source: Any, at: Any, target: Any, to: Any) -> tuple[Any, Callable[..., Any]]:
    """Copy sixteen bytes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = builder.load(_block_at(context, builder, signature.args[0], args[0], args[1]), align=1)
        builder.store(block, _block_at(context, builder, signature.args[2], args[2], args[3]), align=1)
        return context.get_dummy_value()

    return types.void(source, types.uint64, target, types.uint64), code


_first_stop: Any = intrinsic(_stop_among)
_copy_sixteen: Any = intrinsic(_copy_block)


@njit(cache=True)
def string_stop(data: Array, at: int, end: int) -> int:
    """Return the first place from one on that is a quote, a backslash or a control character, ``end`` at the latest."""
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
def copied(data: Array, begin: int, end: int, out: Array, used: int) -> int:
    """Copy the bytes between two places to a place of another array, and return where they end there."""
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
    """Return the number of four hexadecimal digits, -1 where they are none or reach beyond ``end``."""
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
def line_ends(data: Array) -> Array:
    """Return the places after the line feeds of some bytes."""
    count = 0
    for at in range(len(data)):
        count += data[at] == LINE
    ends = np.empty(count, np.int64)
    count = 0
    for begin in range(0, len(data), MANY):
        block = data[begin : begin + MANY]
        some = 0
        for at in range(len(block)):
            some += block[at] == LINE
        for at in range(len(block) if some else 0):
            if block[at] == LINE:
                ends[count] = begin + at + 1
                count += 1
    return ends
