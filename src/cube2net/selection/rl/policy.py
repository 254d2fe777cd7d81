"""Learned policies, their files, and learning curves as one line of text."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.files import write_files
from cube2net._util.packages import require
from cube2net.errors import InputError, quote_few
from cube2net.selection.rl.episodes import Space

FORMAT = "cube2net policy 1"
BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, eq=False)
class Trained:
    """The weights of a policy by name, the space it moves in, and how its learning went.

    ``curve`` holds, for every update, the mean value of its trajectories and the best value so far. ``card`` says what
    it was learned on: the cube, and for every query its size, the value of greedy and the best value met.
    """

    arrays: dict[str, Array]
    space: str
    preset: str
    curve: tuple[tuple[float, float], ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Trained({self.preset} policy, {sum(array.size for array in self.arrays.values()):,} weights)"

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file, atomically."""
        require("the file of a policy", "safetensors")
        from safetensors.numpy import save_file

        about = {
            "format": FORMAT,
            "space": self.space,
            "preset": self.preset,
            "curve": json.dumps(self.curve, allow_nan=False),
            "card": json.dumps(self.card, allow_nan=False, ensure_ascii=False),
        }
        write_files({Path(path): lambda aside: save_file(self.arrays, aside, about)})

    @classmethod
    def load(cls, path: str | Path) -> Trained:
        """Return the policy of a file."""
        require("the file of a policy", "safetensors")
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise InputError(f"there is no policy at {str(path)!r}") from None
        except (SafetensorError, OSError) as error:
            raise InputError(f"{str(path)!r} is no policy: {error}") from None
        if about.get("format") != FORMAT:
            raise InputError(f"{str(path)!r} is no policy: its format is {about.get('format')!r}, expected {FORMAT!r}")
        lost = [name for name, array in arrays.items() if not bool(np.isfinite(array).all())]
        if lost:
            raise InputError(f"{str(path)!r} is no policy: its weights {quote_few(lost)} are not finite numbers")
        try:
            curve = tuple((_finite(mean), _finite(best)) for mean, best in json.loads(about.get("curve", "[]")))
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise InputError(f"{str(path)!r} is no policy: its learning curve cannot be read") from None
        try:
            card = json.loads(about.get("card", "{}"))
        except (ValueError, RecursionError):
            card = None
        if not isinstance(card, dict):
            raise InputError(f"{str(path)!r} is no policy: its card cannot be read")
        return cls(arrays, about.get("space", ""), about.get("preset", ""), curve, card)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r:.60} is no finite number")
    return float(value)


def compute_fingerprint(space: Space) -> str:
    """Return a hash of a space: a policy is valid only in the space it was learned in."""
    digest = hashlib.sha256(f"{space.points.shape} {space.unit!r}".encode())
    digest.update(space.points.tobytes())
    return digest.hexdigest()


def draw_curve(values: Sequence[float], width: int = 24) -> str:
    """Return values as at most ``width`` block characters, each the mean of its share.

    >>> draw_curve([0.0, 0.1, 0.3, 0.7])
    '▁▂▄█'
    >>> draw_curve([1.0, 1.0])
    '██'
    """
    count = min(width, len(values))
    ends = [len(values) * i // count for i in range(count + 1)] if count else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    if high == low:
        return BLOCKS[-1] * count
    return "".join(BLOCKS[round((value - low) / (high - low) * (len(BLOCKS) - 1))] for value in means)
