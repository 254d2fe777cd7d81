"""Something kept for objects: in a table with a place for every object, or for few of many in one of their own size.

A table has ``keys``. Where these are empty, object v has place v. Else the table is a hash table, a power of two long
and at least twice as long as the objects in it: ``keys`` names the object at every place, −1 where none is, and its
size and cost follow these objects however many there are in all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit

# Objects are few where they are fewer than one in so many.
FEW = 32
FREE = -1
GOLDEN = np.uint64(2654435769)
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def keys_for(most: int, objects: int) -> Array:
    """Return the keys of an empty table for at most so many of all objects.

    >>> keys_for(3, 1_000).tolist(), keys_for(3, 50).tolist()
    ([-1, -1, -1, -1, -1, -1, -1, -1], [])
    """
    if most * FEW >= objects:
        return np.empty(0, np.int32)
    return np.full(1 << (2 * most).bit_length(), FREE, np.int32)


@njit(cache=True)
def hashed(v: Any, size: Any) -> Any:
    """Return a place below ``size`` for an object: places of near objects are far apart."""
    return (((np.uint64(v) * GOLDEN) & LOW) * np.uint64(size)) >> HALF


@njit(cache=True)
def spot(keys: Array, v: Any) -> Any:
    """Return the place of an object, or the free one where it would be."""
    size = np.uint64(len(keys))
    if size == 0:
        return np.uint64(v)
    place = hashed(v, size)
    while keys[place] != v and keys[place] != FREE:
        place = (place + np.uint64(1)) & (size - np.uint64(1))
    return place


@njit(cache=True)
def seat(keys: Array, values: Array, objects: Array, first: int, step: int) -> None:
    """Put objects into a table: the first gets the value ``first``, and each other ``step`` more than the last."""
    for i in range(len(objects)):
        place = spot(keys, objects[i])
        if len(keys) > 0:
            keys[place] = objects[i]
        values[place] = first + i * step


@njit(cache=True)
def look(keys: Array, values: Array, objects: Array) -> Array:
    """Return the values of objects; 0 for those that are not in the table."""
    found = np.zeros(len(objects), values.dtype)
    for i in range(len(objects)):
        place = spot(keys, objects[i])
        if len(keys) == 0 or keys[place] == objects[i]:
            found[i] = values[place]
    return found
