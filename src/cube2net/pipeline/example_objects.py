"""A few objects to begin with, whose network shows something: they share a cell and, where there are links, a link."""

from __future__ import annotations

import numpy as np

from cube2net.records import Cube

LOOKED_AT = 300
"""So many of the objects with most links are looked at."""


def example_objects(cube: Cube, most: int = 3) -> list[int]:
    """Return the rows of a few objects of one cell, the first of which is linked to the others where any are.

    >>> from cube2net.pipeline import build_cube, make_planted
    >>> cube = build_cube(make_planted(objects=60, communities=3, links=4.0, seed=0).corpus)
    >>> first, *others = example_objects(cube)
    >>> all(other in cube.links.neighbours(first) for other in others)
    True
    """
    known = cube.links.degrees if cube.links.count else cube.homes.sizes
    best: list[int] = []
    in_cells = np.flatnonzero(cube.homes.sizes > 0)
    for row in in_cells[np.argsort(-known[in_cells], kind="stable")][:LOOKED_AT].tolist():
        linked = cube.links.neighbours(row)
        for cell in cube.homes[row].tolist():
            members = cube.cells.members[cell]
            beside = np.intersect1d(members, linked) if cube.links.count else members
            beside = beside[beside != row]
            if len(beside) + 1 > len(best):
                best = [row, *beside[np.argsort(-known[beside], kind="stable")].tolist()][:most]
        if len(best) >= most:
            break
    return best
