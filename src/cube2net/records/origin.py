"""Where a cube was opened: what travels to another process instead of its arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cube2net.errors import CubeError

if TYPE_CHECKING:
    from cube2net.records.cube import Cube


@dataclass(frozen=True)
class Origin:
    """The folder of a cube, the seal of its manifest, and the function that opens it, which other processes import."""

    folder: Path
    seal: str
    read: Callable[[Path], Cube]

    def reopen(self) -> Cube:
        """Return the cube of the folder; raise where that is another one by now."""
        cube = self.read(self.folder)
        if cube.origin is None or cube.origin.seal != self.seal:
            raise CubeError(
                f"{str(self.folder)!r} holds another cube than when this one was opened there: open the folder again, "
                "and ask that cube"
            )
        return cube


def opened(cube: Cube, origin: Origin) -> Cube:
    """Return the cube, which now knows where it was opened; what is made of it does not."""
    object.__setattr__(cube, "origin", origin)
    return cube
