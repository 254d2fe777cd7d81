"""Numbers for texts: one in 64 bits that hardly ever repeats, and a checksum in 32."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def hash_texts(offsets: Array, data: Array) -> Array:
    """Return a number of 64 bits for every text: FNV-1a over its bytes, mixed at the end (MurmurHash3's)."""
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
def checksums(offsets: Array, data: Array) -> Array:
    """Return the CRC-32 of every text, which Python's zlib gives too."""
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
