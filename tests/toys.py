"""Small cubes made by hand or at random, and what another process gets of a value, for every room's tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Ragged, links_from_pairs, ragged_from_lists, transpose
from cube2net.api.build import build
from cube2net.api.datasets import make_planted
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.objects import Objects
from cube2net.model.query import Query

T = TypeVar("T")


def toy_cube(members: list[list[int]], *, objects: int, links: list[tuple[int, int]] | None = None) -> Cube:
    """Return a cube of one dimension whose cell i holds ``members[i]``; objects are named 'o0', 'o1', …"""
    rows = ragged_from_lists([sorted(row) for row in members])
    names = tuple(f"label {i}" for i in range(len(members)))
    ends = np.array(links or [], dtype=np.int64).reshape(-1, 2)
    ids = [f"o{i}" for i in range(objects)]
    table = pa.table({"object": ids, "name": [f"Object {i}" for i in range(objects)], "kind": ["thing"] * objects})
    return Cube(
        dimensions=(Dimension((Level("group", names, names),)),),
        cells=Cells(np.arange(len(members), dtype=np.int32)[:, None], rows),
        object_cells=transpose(rows, objects),
        small=Cells(np.empty((0, 1), np.int32), Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))),
        links=links_from_pairs(ends[:, 0], ends[:, 1], np.ones(len(ends)), objects),
        objects=Objects.of(table),
    )


def with_kinds(cube: Cube, kinds: Sequence[str]) -> Cube:
    """Return a cube whose objects have these kinds."""
    table = cube.objects.table.set_column(2, "kind", pa.array(kinds, pa.string()))
    return replace(cube, objects=Objects.of(table))


def random_cube(seed: int, *, cells: int = 12, objects: int = 40, links: int = 80, largest: int = 10) -> Cube:
    """Return a cube with random members and random links."""
    rng = np.random.default_rng(seed)
    members = [
        sorted(rng.choice(objects, size=int(rng.integers(1, largest + 1)), replace=False).tolist())
        for _ in range(cells)
    ]
    ends = rng.integers(0, objects, size=(links, 2))
    return toy_cube(members, objects=objects, links=[(int(a), int(b)) for a, b in ends if a != b])


def two_communities(each: int) -> tuple[Cube, Query]:
    """Return a cube of six planted communities, and so many objects of each of two of them, labelled by it."""
    planted = make_planted(objects=300, communities=6, noise=0.2, links=4.0, within=0.8, seed=0)
    cube = build(planted.corpus)
    return cube, cube.query({name: f"group {group}" for group in (0, 1) for name in planted.query(group)[:each]})


def packed(value: object) -> bytes:
    """Return a value as it travels to another process."""
    return bytes(ForkingPickler.dumps(value))


def unpacked(parcel: bytes) -> Any:
    """Return what travelled here."""
    return ForkingPickler.loads(parcel)


def sent(value: T) -> T:
    """Return a value as another process has it, once it was sent there."""
    got: T = unpacked(packed(value))
    return got
