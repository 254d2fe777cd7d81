"""Damaged bytes: arbitrary ones, and ones that still look like the JSON, array or table they were."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import changed

Rng = np.random.Generator
Way = Callable[[bytes, Rng], bytes]

TOKENS = (
    b"", b"\0", b"\n", b"\r", b'"', b"'", b",", b"\t", b"<", b"&x;", b"]]>", b"\\ud800", b"\xff\xfe", b"\xed\xa0\x80",
    b"\x1b[2J", b"\xe2\x80\xae", b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b"null", b"{}", b"[[", b"::",
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63), 10**40)
ODD = (None, True, False, "", "x", "\ud800", "\x1b[31m\n", [], {}, [[]], {"": {}}, 0.5, 1e308, float("nan"), *NUMBERS)
DEEP = 200_000


def damage(name: str, data: bytes, rng: Rng) -> bytes:
    """Return the content of a file damaged in one way that suits its name."""
    ways: list[Way] = [flipped, replaced, replaced, cut, doubled, number_changed]
    suffix = name.removesuffix(".gz").rpartition(".")[2]
    own = {"json": [odd_json] * 6, "jsonl": [odd_lines] * 6, "npy": [odd_array] * 8 + [entries_changed] * 8}
    own |= {kind: [odd_table] * 8 for kind in ("parquet", "arrow")}
    ways += own.get(suffix, [])
    try:
        return pick(ways, rng)(data, rng)
    except (ValueError, TypeError, OverflowError, RecursionError, pa.ArrowException):
        return flipped(data, rng)  # what is damaged already, or cannot be written so


def pick(values: Any, rng: Rng) -> Any:
    """Return a random one of some values."""
    return values[int(rng.integers(len(values)))]


def flipped(data: bytes, rng: Rng) -> bytes:
    """Flip a few bits."""
    held = bytearray(data or b"\0")
    for _ in range(int(rng.integers(1, 9))):
        held[int(rng.integers(len(held)))] ^= 1 << int(rng.integers(8))
    return bytes(held)


def replaced(data: bytes, rng: Rng) -> bytes:
    """Replace one to three pieces by odd ones."""
    cuts = []
    for _ in range(int(rng.integers(1, 4))):
        new = pick(TOKENS, rng) if rng.random() < 0.7 else rng.bytes(int(rng.integers(40)))
        cuts.append((int(rng.integers(len(data) + 1)), int(rng.integers(30)), new))
    return changed(data, cuts)


def cut(data: bytes, rng: Rng) -> bytes:
    """Cut off the end."""
    return data[: int(rng.integers(len(data) + 1))]


def doubled(data: bytes, rng: Rng) -> bytes:
    """Repeat a piece somewhere."""
    at, *piece = rng.integers(len(data) + 1, size=3).tolist()
    start, end = sorted(piece)
    return data[:at] + data[start:end] + data[at:]


def number_changed(data: bytes, rng: Rng) -> bytes:
    """Replace four or eight bytes by another integer."""
    width = pick((4, 8), rng)
    number = pick(NUMBERS, rng) % (1 << 8 * width)
    at = int(rng.integers(max(1, len(data) - width)))
    return data[:at] + number.to_bytes(width, "little") + data[at + width :]


def odd_value(value: Any, rng: Rng) -> Any:
    """Replace, remove or rename one part of a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = pick(list(value), rng)
        if rng.random() < 0.15:
            return {name: part for name, part in value.items() if name != key}
        if rng.random() < 0.05:
            return {("?" + name if name == key else name): part for name, part in value.items()}
        return {**value, key: odd_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = int(rng.integers(len(value)))
        return [*value[:at], odd_value(value[at], rng), *value[at + 1 :]]
    return pick(ODD, rng)


def odd_json(data: bytes, rng: Rng) -> bytes:
    """Return a JSON document with one odd part, or nested very deeply."""
    if rng.random() < 0.02:
        return data.replace(b":", b":" + b"[" * DEEP, 1) if rng.random() < 0.5 else b"[" * DEEP
    return json.dumps(odd_value(json.loads(data), rng)).encode()


def odd_lines(data: bytes, rng: Rng) -> bytes:
    """Return JSON lines with one odd line."""
    lines = data.split(b"\n")
    at = int(rng.integers(len(lines)))
    lines[at] = odd_json(lines[at], rng)
    return b"\n".join(lines)


def odd_array(data: bytes, rng: Rng) -> bytes:
    """Return an array of another type, shape or order, or with a header that claims one."""
    array = np.load(io.BytesIO(data))
    if rng.random() < 0.4:
        kind = pick(("<i4", "<i8", ">i4", "<u8", "<f4", "<f8", "<c16", "|b1", "<U3", "|S4", "<M8[s]", "|O", "<i2"), rng)
        shape = pick((array.shape, (-1,), (0,), (), (2**40,), (1, *array.shape), (array.size, 2), (2**62, 4)), rng)
        header = str({"descr": kind, "fortran_order": bool(rng.random() < 0.3), "shape": shape}).encode()
        start = data[:8] + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
        return start + data[len(data) - array.nbytes :]
    made: np.ndarray = pick(
        (
            array.astype(pick(("<i4", "<i8", ">i8", "<f8", "<u1", "|b1", "<U5", "<c16"), rng)),
            np.asfortranarray(array),
            array.reshape(-1, 1),
            array.reshape(1, -1),
            array[::-1],
            array[:-1],
            np.concatenate([array, array[-1:]]),
            array.ravel()[:1].reshape(()) if array.size else array,
            np.zeros_like(array),
        ),
        rng,
    )
    return npy(made)


def entries_changed(data: bytes, rng: Rng) -> bytes:
    """Return an array with one to three wrong entries."""
    array = np.load(io.BytesIO(data)).copy()
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4)) if flat.size else 0):
        odd = (
            -1,
            0,
            1,
            flat.size,
            2**31 - 1,
            -(2**31),
            int(rng.integers(2**31)),
            int(flat[int(rng.integers(flat.size))]),
        )
        floats = (0.0, -1.0, float("nan"), float("inf"), 1e308, 1e-320, -0.0)
        flat[int(rng.integers(flat.size))] = pick(floats if array.dtype.kind == "f" else odd, rng)
    return npy(array)


def npy(array: np.ndarray) -> bytes:
    """Return an array as the bytes of a file."""
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def odd_table(data: bytes, rng: Rng) -> bytes:
    """Return a table with a column of another type, unsorted, empty, missing or too long."""
    parquet = data[:4] == b"PAR1"
    table = pq.read_table(io.BytesIO(data)) if parquet else pa.ipc.open_file(io.BytesIO(data)).read_all()
    number = int(rng.integers(max(1, table.num_columns)))
    column, name = table.column(number), table.column_names[number]
    rows = table.num_rows
    values = column.to_pylist()
    if values and rng.random() < 0.5:
        values[int(rng.integers(rows))] = None if rng.random() < 0.3 else _odd_of(column.type, rng)
        made = table.set_column(number, name, pa.chunked_array([pa.array(values, column.type)]))
    else:
        made = pick(
            (
                lambda: table.set_column(number, name, column.cast(pa.string())),
                lambda: table.set_column(number, name, pa.nulls(rows)),
                lambda: table.set_column(number, name, pa.array([[1]] * rows)),
                lambda: table.drop_columns([name]),
                lambda: table.rename_columns([f"{each}!" if each == name else each for each in table.column_names]),
                lambda: table.slice(0, 0),
                lambda: table.slice(1),
                lambda: pa.concat_tables([table, table]),
                lambda: table.take(rng.permutation(rows)),
            ),
            rng,
        )()
    held = io.BytesIO()
    if parquet:
        pq.write_table(made, held)
    else:
        with pa.ipc.new_file(held, made.schema) as writer:
            writer.write_table(made)
    return held.getvalue()


def _odd_of(kind: pa.DataType, rng: Rng) -> Any:
    if pa.types.is_integer(kind):
        return pick(
            [number for number in NUMBERS if -(2 ** (kind.bit_width - 1)) <= number < 2 ** (kind.bit_width - 1)], rng
        )
    if pa.types.is_floating(kind):
        return pick((float("nan"), float("inf"), -1.0, 0.0, 1e308), rng)
    return pick(("", "\x1b[31m", "x" * 5000, "\u202e", "\n", "label 0"), rng)
