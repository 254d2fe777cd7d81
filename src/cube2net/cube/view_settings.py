"""What the settings of a view of a cube tell of it."""

from __future__ import annotations

from dataclasses import replace

from cube2net.records import Cube
from cube2net.records.spec import MIN_OBJECTS, SMALL


def said(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added to what its settings tell of it, and what is left out counted anew."""
    settings = dict(cube.settings)
    settings["views"] = [*settings.get("views", []), view]
    reason = SMALL.format(settings.get("min_objects", MIN_OBJECTS))
    settings["dropped"] = {**settings.get("dropped", {}), reason: len(cube.small)}
    return replace(cube, settings=settings)


def said_throughout(cube: Cube, view: str) -> Cube:
    """Return the cube with a view added that the cube it was rolled up from has as well."""
    finest = None if cube.finest is None else said_throughout(cube.finest, view)
    return said(replace(cube, finest=finest), view)
