"""Which objects of a cube may be brought into a network: all, or those that a view leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.view_settings import said_throughout
from cube2net.errors import ParameterError, listed, unknown
from cube2net.records import Cube
from cube2net.records.lineage import remembered


@remembered
def of_kind(cube: Cube, kinds: str | Sequence[str]) -> Cube:
    """Return the cube of which only objects of some kinds may be brought into a network, whatever the method.

    Cells, links and objects stay as they are: a query may hold objects of any kind, and a cell that is chosen brings
    those of its objects that are of these kinds.

    Parameters
    ----------
    cube
        A cube, or a view of one.
    kinds
        A kind of objects, or several: ``"author"``, ``["user", "business"]``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(seed=0).corpus)
    >>> of_kind(cube, "thing").bringable.all()
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown kind 'thing': choose one of object
    """
    wanted = [kinds] if isinstance(kinds, str) else list(kinds) if isinstance(kinds, Sequence) else []
    if not wanted or not all(isinstance(kind, str) for kind in wanted):
        raise ParameterError(f"kind is {kinds!r}, expected a kind of objects such as 'author', or several")
    column = cube.objects.table["kind"]
    known = pc.unique(column).drop_null().to_pylist()
    for kind in wanted:
        if kind not in known:
            raise unknown("kind", kind, known)
    marks = pc.is_in(column, value_set=pa.array(wanted, pa.string())).to_numpy()
    view = f"only objects of kind {listed(dict.fromkeys(wanted))} are brought"
    return said_throughout(limited_to(cube, np.asarray(marks, dtype=bool)), view)


def limited_to(cube: Cube, objects: Array) -> Cube:
    """Return the cube of which only marked objects may be brought, as far as they might before."""
    both = objects if cube.bringable is None else objects & cube.bringable
    return replace(cube, bringable=both, finest=None if cube.finest is None else limited_to(cube.finest, objects))
