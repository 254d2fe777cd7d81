"""Hashes of the content of cubes, queries and networks."""

from __future__ import annotations

import hashlib

import numpy as np

from cube2net._util.arrays import Array
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query


def network_fingerprint(network: Network) -> bytes:
    """Return bytes that are the same for networks of the same nodes and links."""
    digest = hashlib.sha256()
    for part in (network.objects, network.cells, network.source, network.target, network.weight):
        digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(b"|")
    return digest.digest()


def cube_fingerprint(cube: Cube) -> str:
    """Return a text that stands for all of a cube that a network can depend on."""
    levels = [level for dimension in cube.dimensions for level in dimension.levels]
    parents = [numbers for level in levels for numbers in level.above.values()]
    cells = [(cells.labels, cells.members.indptr, cells.members.indices) for cells in (cube.cells, cube.small)]
    links = (cube.links.indptr, cube.links.indices, cube.links.weights)
    limits = [] if cube.bringable is None else [cube.bringable]
    return array_fingerprint(*cells[0], *cells[1], *parents, *links, *limits)


def query_fingerprint(query: Query) -> str:
    """Return a text that stands for a query and its labels: another query has another."""
    return array_fingerprint(query.objects, np.array(query.labels or (), dtype=np.str_))


def array_fingerprint(*arrays: Array) -> str:
    """Return a text that stands for the content of some arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
