"""The objects of several cells together, those that are there most first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cube2net.array_types import Array
from cube2net.explanation.mixed_cells import own_cells
from cube2net.interrupts import step
from cube2net.records import Cube
from cube2net.records.mixed_names import MixedCell


def members(cube: Cube, cells: Iterable[MixedCell]) -> Array:
    """Return the rows of the objects that some cells hold, those with most items there first.

    Where the cube keeps no items, objects in most of its own cells there come first.
    """
    inside = np.zeros(len(cube.cells) + len(cube.small), dtype=bool)
    for cell in cells:
        step()
        inside[own_cells(cube, cell)[0]] = True
    held = np.zeros(len(cube.objects), dtype=np.int64)
    for part, marks in ((cube.cells, inside[: len(cube.cells)]), (cube.small, inside[len(cube.cells) :])):
        held += np.bincount(part.members.indices[np.repeat(marks, part.members.sizes)], minlength=len(held))
    times = held
    if cube.items is not None:
        index = cube.items()
        there = np.zeros(len(index), dtype=bool)
        there[np.repeat(np.arange(len(index)), index.cells.sizes)[inside[index.cells.indices]]] = True
        times = np.bincount(index.objects.indices[np.repeat(there, index.objects.sizes)], minlength=len(held))
    rows = np.flatnonzero(held)
    return rows[np.argsort(-times[rows], kind="stable")].astype(np.int32)
