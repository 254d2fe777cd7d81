"""Arrow arrays of texts and numbers, and numbers of Arrow arrays, without a look at pandas.

``pa.array``, ``pa.scalar`` and ``to_numpy`` ask pandas whether a value is one of its own, and so load it wherever it is
installed, which takes longer than a question does. These build the same arrays from their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array


def arrow_numbers(values: Array, kind: pa.DataType | None = None, *, missing: Array | None = None) -> pa.Array:
    """Return an Arrow array of NumPy's numbers or truth values, without those that are marked as missing.

    >>> arrow_numbers(np.array([3, 1, 2]), missing=np.array([False, True, False])).to_pylist()
    [3, None, 2]
    >>> arrow_numbers(np.array([True, False, True])).to_pylist(), arrow_numbers(np.array([1, 2]), pa.int32()).type
    ([True, False, True], DataType(int32))
    """
    own = pa.from_numpy_dtype(values.dtype)
    content = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    there = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    array = pa.Array.from_buffers(own, len(values), [there, pa.py_buffer(content)])
    return array if kind is None or kind == own else array.cast(kind)


def arrow_texts(values: Sequence[str | None]) -> pa.Array:
    """Return an Arrow array of texts, in which None is a missing one.

    >>> arrow_texts(["a", None, "ßü", ""]).to_pylist(), arrow_texts([]).type
    (['a', None, 'ßü', ''], DataType(string))
    """
    written = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, written)])
    if ends[-1] > np.iinfo(np.int32).max:
        return pa.array(values, pa.string())
    missing = np.array([value is None for value in values], dtype=bool)
    there = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    content = [there, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(written))]
    return pa.Array.from_buffers(pa.string(), len(written), content)


def values_of(array: pa.Array) -> Array:
    """Return the numbers or truth values of an Arrow array in which none is missing.

    >>> values_of(arrow_numbers(np.array([4, 5, 6])).slice(1)).tolist()
    [5, 6]
    >>> values_of(arrow_numbers(np.array([True, False, True])).slice(1)).tolist()
    [False, True]
    """
    content, past = array.buffers()[1], array.offset + len(array)
    if pa.types.is_boolean(array.type):
        bits = np.frombuffer(content or b"", np.uint8)
        return np.unpackbits(bits, count=past, bitorder="little")[array.offset :].astype(bool)
    return np.frombuffer(content or b"", array.type.to_pandas_dtype(), count=past)[array.offset :]
