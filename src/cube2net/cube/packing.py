"""Tables become the flat arrays of a cube, in memory or in files, batch by batch and without sorting."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import merge_links
from cube2net.errors import InputError
from cube2net.records import Links, Ragged

Allocate = Callable[[str, int, npt.DTypeLike], Array]
"""Gives an array of a name, a length and a type to be filled."""


def in_memory(name: str, length: int, kind: npt.DTypeLike) -> Array:
    """Return a new array."""
    return np.empty(length, kind)


def in_files(folder: Path) -> Allocate:
    """Return what makes arrays as files ``NAME.npy`` of a folder, memory-mapped; one of no length is in memory."""

    def allocate(name: str, length: int, kind: npt.DTypeLike) -> Array:
        if length == 0:
            return np.empty(0, kind)
        path = folder / f"{name}.npy"
        try:
            array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length,))
            _reserve(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"cannot write {str(path)!r}: {reason}") from error
        return array

    return allocate


def pack_links(rows: pa.Table, objects: int, allocate: Allocate = in_memory) -> Links:
    """Return undirected links on both ends; repeated links add their weights, self-links are dropped.

    Links that come once each, from the lower object to the higher and ascending, are packed as they come. Others are
    put into that order first, in memory.

    >>> table = pa.table({"source": [0, 1, 2], "target": [1, 0, 2], "weight": [1.0, 1.0, 1.0]})
    >>> links = pack_links(table, 3)
    >>> links, links.weights.tolist()
    (Links(3 objects, 1 links), [2.0, 2.0])
    """
    from cube2net.kernels.csr import count_ends, fill_links

    below, above = np.zeros(objects, np.int64), np.zeros(objects, np.int64)
    last = (-1, -1)
    for source, target, _ in _batches(rows):
        if len(source) and (last >= (source[0], target[0]) or count_ends(source, target, below, above) >= 0):
            return pack_links(_in_order(rows, objects), objects, allocate)
        last = (source[-1], target[-1]) if len(source) else last
    indptr = _offsets(below + above, allocate("links.indptr", objects + 1, np.int64))
    above, below = indptr[:-1] + below, np.array(indptr[:-1])
    indices = allocate("links.indices", int(indptr[-1]), np.int32)
    weights = allocate("links.weights", int(indptr[-1]), np.float32)
    for source, target, weight in _batches(rows):
        fill_links(source, target, weight, below, above, indices, weights)
    return Links(indptr, indices, weights)


def pack_members(name: str, sizes: Array, members: pa.Table, first: int, allocate: Allocate = in_memory) -> Ragged:
    """Return rows of the given sizes from a column ``object`` in which they follow one another from ``first`` on."""
    indptr = _offsets(sizes, allocate(f"{name}.indptr", len(sizes) + 1, np.int64))
    indices = allocate(f"{name}.indices", int(indptr[-1]), np.int32)
    at = 0
    for chunk in members["object"].slice(first, int(indptr[-1])).chunks:
        indices[at : at + len(chunk)] = chunk.to_numpy()
        at += len(chunk)
    return Ragged(indptr, indices)


def pack_homes(members: Ragged, objects: int, allocate: Allocate = in_memory) -> Ragged:
    """Return the cells of every object, given the objects of every cell.

    >>> homes = pack_homes(Ragged(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32)), 3)
    >>> [homes[i].tolist() for i in range(3)]
    [[0], [], [0, 1]]
    """
    from cube2net.kernels.csr import count_entries, fill_homes

    counts = np.zeros(objects, np.int64)
    count_entries(members.indices, counts)
    indptr = _offsets(counts, allocate("homes.indptr", objects + 1, np.int64))
    homes = allocate("homes.indices", len(members.indices), np.int32)
    fill_homes(members.indptr, members.indices, np.array(indptr[:-1]), homes)
    return Ragged(indptr, homes)


def _reserve(path: Path) -> None:
    """Take the space of a file on the disk now: where it is full later, writing to mapped pages ends the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def _offsets(sizes: Array, indptr: Array) -> Array:
    indptr[0] = 0
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def _batches(rows: pa.Table) -> list[tuple[Array, Array, Array]]:
    """Return the columns of every batch; nothing is copied."""
    return [link_columns(batch) for batch in rows.to_batches()]


def link_columns(rows: pa.Table | pa.RecordBatch) -> tuple[Array, Array, Array]:
    """Return the sources, targets and weights of links."""
    return rows["source"].to_numpy(), rows["target"].to_numpy(), rows["weight"].to_numpy()


def _in_order(rows: pa.Table, objects: int) -> pa.Table:
    merged = merge_links(*link_columns(rows), objects)
    return pa.table(dict(zip(("source", "target", "weight"), merged, strict=True)))
