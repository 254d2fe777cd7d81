"""What is to be said of a network that has no links."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import take_rows
from cube2net.errors import listed
from cube2net.records import Cube, Network, Ragged
from cube2net.records.scope import Scope


def said_of_links(cube: Cube, network: Network, scope: Scope) -> str:
    """Return why no link joins the objects of a network, as far as that can be told; nothing where one does."""
    if len(network.source) or len(network.objects) < 2:
        return ""
    others = np.unique(take_rows(Ragged(cube.links.indptr, cube.links.indices), network.objects).indices)
    if not len(others):
        return "no link joins these objects: the cube has none that leads to one of them"
    own, theirs = (_kinds(cube, rows) for rows in (network.objects, others))
    if own & theirs:
        return "no link joins these objects"
    said = f"{listed(sorted(own))} objects are linked only to {listed(sorted(theirs))} objects"
    barred = scope.barred is not None and bool(scope.barred[others].all())
    return f"no link joins these objects: {said}{', and none of these may be brought' if barred else ''}"


def _kinds(cube: Cube, rows: Array) -> set[str]:
    return set(cube.objects.table["kind"].take(rows).drop_null().unique().to_pylist())
