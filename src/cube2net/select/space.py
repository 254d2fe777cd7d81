"""Where an agent moves: cells as points with whole coordinates in a few directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError, whole_number
from cube2net.records.ragged import frozen

# Squared distances must stay below this, so that 32 bits hold them on every machine.
MOST = 2**31 - 1
# Vectors nearer to each other than this are at one point: 32-bit numbers end here.
TINY = 1e-30
# So are vectors that differ by no more than this share of their size: by rounding.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Space:
    """Cells as points on a grid; ``unit`` steps of the grid are 1 in the agent's numbers.

    Whole coordinates make squared distances whole numbers, so that every processor agrees to the last bit which
    cells are nearest. Actions are cut off at ``reach`` steps, twice as far out as the farthest cell.

    >>> line = Space.of([np.array([[0.0], [1.0], [4.0]])], directions=None)
    >>> line, line.on_grid(np.array([[2.0], [-999.0]])).tolist()
    (Space(3 cells, 1 direction), [[5792], [-23170]])
    """

    points: Array
    unit: float
    reach: int

    @classmethod
    def of(cls, vectors: Sequence[Array], *, directions: int | None = 8) -> Space:
        """Return the points of cells whose vectors are the rows of one or several matrices side by side.

        With ``directions``, every matrix is centred and scaled to the same spread, the points are the principal
        directions of largest variance, and 1 is the standard deviation of their coordinates. Without, the
        vectors stay as they are. There is always one direction, even where the vectors have no columns.
        """
        whole_number("directions", directions, 1, or_none=True, what="directions, or none")
        parts = [np.asarray(one, dtype=np.float64) for one in vectors]
        shapes = [one.shape for one in parts]
        if not parts or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
            raise InputError(f"cell vectors have the shapes {shapes}, expected matrices with one row for every cell")
        if not all(bool(np.isfinite(one).all()) for one in parts):
            raise InputError("cell vectors are not finite: no distance can be told")
        parts.append(np.zeros((shapes[0][0], 0 if any(shape[1] for shape in shapes) else 1)))
        flat = np.concatenate(parts, axis=1) if directions is None else _principal(parts, directions)
        reach = int((MOST / flat.shape[1]) ** 0.5 / 2)
        far = float(np.abs(flat).max(initial=0.0))
        unit = reach / (2 * far) if far > TINY else 1.0
        return cls(frozen(np.rint(flat * unit).astype(np.int16)), unit, reach)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Space({len(self):,} cells, {self.directions} direction{'s' if self.directions > 1 else ''})"

    @property
    def directions(self) -> int:
        """How many numbers an action has."""
        return int(self.points.shape[1])

    def take(self, cells: Array) -> Space:
        """Return the space of some of the cells, on the same grid."""
        return Space(frozen(self.points[cells]), self.unit, self.reach)

    def on_grid(self, actions: Array) -> Array:
        """Return actions in steps of the grid; one that is not finite is near nothing, and refused."""
        check_finite(actions)
        with np.errstate(over="ignore"):  # beyond the largest number is beyond the reach
            steps = np.rint(actions * np.float32(self.unit))
        return np.clip(steps, -self.reach, self.reach).astype(np.int16, order="C")


def check_finite(actions: Array) -> None:
    """Raise unless every number of the actions is finite."""
    odd = ~np.isfinite(actions)
    if bool(odd.any()):
        raise InputError(
            f"an action is {float(actions[odd][0])!r}, and {int(odd.any(axis=-1).sum()):,} of {len(actions):,} "
            "actions are not finite: learn in smaller steps (learning_rate)"
        )


def _principal(vectors: Sequence[Array], directions: int) -> Array:
    """Return the coordinates of the rows along the directions of largest variance, their spread made 1."""
    if len(vectors[0]) == 0:
        return np.zeros((0, min(directions, sum(one.shape[1] for one in vectors))))
    parts = []
    for one in vectors:
        centred = one - one.mean(axis=0)
        spread = float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))
        level = TINY + EQUAL * float(np.abs(one).max(initial=0.0))
        parts.append(centred / spread if spread > level else np.zeros_like(centred))
    flat = np.concatenate(parts, axis=1)
    _, turned = np.linalg.eigh(flat.T @ flat)
    turned = turned[:, ::-1][:, :directions]
    # An eigenvector's sign is arbitrary: its largest part, the first among equals, is made positive everywhere.
    sizes = np.abs(turned)
    largest = (sizes > 0.999 * sizes.max(axis=0)).argmax(axis=0)
    points: Array = flat @ (turned * np.sign(turned[largest, np.arange(turned.shape[1])]))
    spread = float(points.std())
    return points / spread if spread > TINY else points
