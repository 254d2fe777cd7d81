"""Small networks around the objects you care about, chosen from a data cube.

>>> import cube2net as c2n
>>> planted = c2n.make_planted(seed=0)
>>> cube = c2n.build_cube(planted.corpus)
>>> network = c2n.construct(cube, planted.query(0), method="greedy", m=3)

The public names stand in ``__init__.pyi``. What is more special is in the rooms: ``cube2net.cube`` rolls cubes up and
slices them, ``cube2net.records`` has all that passes between rooms, ``cube2net.pipeline`` every step by itself.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from cube2net.showing import Shows, offer_by, show_by

__version__ = "0.1.0"

ROOMS = ("cube", "pipeline", "records")
"""What is to be had as ``cube2net.cube.roll_up``, and is not brought by a star: these are names that people use."""


def _notebook() -> Shows:
    from cube2net import notebook

    return notebook


show_by(_notebook)
_load, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
offer_by(_load)
__all__ = [name for name in _names if name not in ROOMS]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is first asked for, so that importing the package stays quick."""
    if name in _names:
        return _load(name)
    from cube2net.deprecated import old_name

    return old_name(name)
