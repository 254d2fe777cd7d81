"""The same answer among many more objects that have nothing to do with it: what is kept for each is a few bytes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from cube2net._util.arrays import Links, Ragged, links_from_pairs, transpose
from cube2net.api.construct import construct
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.interfaces import Method
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.network.hops import Hops
from cube2net.selection.anneal import Anneal

from toys import random_cube

FEW, MANY = 20_000, 420_000
# The most bytes that an answer may ask for each object it does not meet, none of which is written to: marks (1 each)
# and the positions of nodes (4); pushes keep three numbers (4 each) and two lists (4 each), which are also untouched.
LEAST, PUSHED = 8, 32


def among(objects: int) -> Cube:
    """Return one small cube among many objects; the others are linked in a ring, and in pairs in cells of their own."""
    small = random_cube(5, cells=15, objects=60, links=150)
    ring = np.arange(60, objects)
    others = links_from_pairs(ring, np.roll(ring, 1), np.ones(len(ring)), objects)
    links = Links(
        np.concatenate([small.links.indptr[:60], others.indptr[60:] + len(small.links.indices)]),
        np.concatenate([small.links.indices, others.indices]),
        np.concatenate([small.links.weights, others.weights]),
    )
    rows, pairs = small.cells.members, len(ring) // 20
    members = Ragged(
        np.concatenate([rows.indptr, rows.indptr[-1] + 2 * np.arange(1, pairs + 1)]),
        np.concatenate([rows.indices, np.arange(60, 60 + 2 * pairs, dtype=np.int32)]),
    )
    names = tuple(f"label {i}" for i in range(len(members)))
    empty = Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))
    ids = pa.array(np.arange(objects)).cast(pa.string())  # Arrow's memory, which is not counted
    return Cube(
        dimensions=(Dimension((Level("group", names, names),)),),
        cells=Cells(np.arange(len(members), dtype=np.int32)[:, None], members),
        object_cells=transpose(members, objects),
        small=Cells(np.empty((0, 1), np.int32), empty),
        links=links,
        objects=Objects(objects, lambda: pa.table({"object": ids, "name": ids})),
    )


CUBES = {objects: among(objects) for objects in (FEW, MANY)}


def peak(objects: int, method: str | Method, form: str, objective: str) -> tuple[Network, int]:
    """Return the network of a query, and the most memory that arrays had while it was made."""
    cube = CUBES[objects]
    query = Query(np.array([1, 7, 20, 33]))  # by rows: no name is looked at
    construct(cube, query, method, 4, objective, form)
    tracemalloc.start()
    try:
        network = construct(cube, query, method, 4, objective, form)
        return network, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("method", "form", "objective", "most"),
    [
        ("hops", "objects", "jaccard", LEAST),
        (Hops(hops=2, fan_out=3), "objects", "jaccard", LEAST),
        ("greedy", "objects", "jaccard", LEAST),
        ("greedy", "cells", "precision", LEAST),
        ("greedy", "cells+objects", "coverage", LEAST),
        ("random", "objects", "fbeta", LEAST),
        (Anneal(steps=200, restarts=1), "objects", "jaccard", LEAST),
        ("pagerank", "objects", "jaccard", PUSHED),
        ("greedy", "hybrid", "jaccard", PUSHED),
    ],
)
def test_objects_that_an_answer_does_not_meet_cost_it_a_few_untouched_bytes(
    method: str | Method, form: str, objective: str, most: int
) -> None:
    (near, low), (far, high) = (peak(objects, method, form, objective) for objects in (FEW, MANY))
    if method != "random":  # which draws from all cells
        assert far.objects.tolist() == near.objects.tolist()
        assert far.source.tolist() == near.source.tolist() and far.target.tolist() == near.target.tolist()
    assert high - low <= most * (MANY - FEW)
