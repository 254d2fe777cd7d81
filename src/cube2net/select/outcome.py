"""What every method that chooses cells does first and last: check the question, and make the answer."""

from __future__ import annotations

import numpy as np

from cube2net.errors import InputError, QueryError
from cube2net.records import Cube, Query, Selection, Weights
from cube2net.records.ragged import Array


def check(cube: Cube, query: Query, weights: Weights) -> None:
    """Raise unless the query and the weights fit the cube and some cell holds an object of the query."""
    count = len(cube.objects)
    if int(query.objects[-1]) >= count:
        raise QueryError(f"query names row {int(query.objects[-1])}, and the cube has only {count:,} objects")
    if len(weights.gain) != count:
        raise InputError(f"the weights are for {len(weights.gain):,} objects, and the cube has {count:,}")
    starts = cube.homes.indptr
    if bool((starts[query.objects] == starts[query.objects + 1]).all()):
        one = (
            "the 1 object of the query is not"
            if len(query) == 1
            else f"none of the {len(query):,} objects of the query is"
        )
        raise QueryError(
            f"{one} in any cell, so there is nothing to choose from: use the method 'none', 'hops' or 'pagerank', "
            "a cube rolled up (--roll-up), or one built with a smaller min_objects (--min-objects)"
        )


def outcome(cube: Cube, weights: Weights, cells: Array, prefix: str = "all") -> Selection:
    """Return the selection of cells in the order chosen, with the value of every prefix.

    ``prefix="best"`` keeps the shortest prefix of the highest value; that may be no cell at all.
    """
    from cube2net.kernels import coverage

    members = cube.cells.members
    cells = np.asarray(cells, dtype=np.int64)
    covers = np.zeros(len(cube.objects), dtype=np.int32)
    gains, costs = coverage.grow(cells, members.indptr, members.indices, covers, weights.gain, weights.cost)
    sums = zip(np.cumsum(gains).tolist(), np.cumsum(costs).tolist(), strict=True)
    values = np.array([weights.ratio(0.0, 0.0)] + [weights.ratio(gain, cost) for gain, cost in sums])
    if prefix == "best" and int(values.argmax()) < len(cells):
        return outcome(cube, weights, cells[: int(values.argmax())])
    return Selection(objects=np.flatnonzero(covers), value=float(values[-1]), cells=cells, values=values[1:])
