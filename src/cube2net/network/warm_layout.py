"""Places of nodes where most have one already: these move little, and new ones come between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, quoted

if TYPE_CHECKING:
    import scipy.sparse as sp

FARTHEST = 1e6
"""No place lies farther from the middle along an axis."""
STEPS, REACH = 30, 0.12
"""In so many steps forces move a node, by at most so much in the first of them."""
SCALES = np.geomspace(0.05, 400, 12)
"""By so much places may be enlarged until what pulls and what pushes is even."""
GAP = 2.0
"""Between what was there and parts that are all new."""

Force = Callable[[Array], Array]


def places_given(start: Sequence[Sequence[float] | None] | Array, count: int) -> Array:
    """Return the places that nodes have now, nan for those that have none; anything else is refused."""
    if len(start) != count:
        raise ParameterError(f"start has {len(start):,} places, expected one, or null, for each of {count:,} nodes")
    found = np.full((count, 2), np.nan)
    for node, place in enumerate(start):
        if place is None:
            continue
        given = np.asarray(place, dtype=np.float64)
        if np.isnan(given).all():
            continue
        if given.shape != (2,) or not (np.abs(given) <= FARTHEST).all():
            raise ParameterError(f"start[{node}] is {quoted(place)}, expected two numbers of at most {FARTHEST:,.0f}")
        found[node] = given
    return found


def between_neighbours(links: sp.csr_array, place: Array, radius: Array) -> Array:
    """Return the places with new nodes at the mean of their neighbours that have one, or get one on the way.

    They stand a little beside that mean, each in another direction, so that no two are in one place.
    """
    place = place.copy()
    turn = np.arange(len(place)) * 2.399963229728653  # the golden angle: no two directions are the same
    beside = np.column_stack([np.cos(turn), np.sin(turn)]) * radius[:, None]
    while True:
        known = ~np.isnan(place[:, 0])
        count = links @ known.astype(np.float64)
        ready = np.flatnonzero(~known & (count > 0))
        if not len(ready):
            return place
        sums = links[ready] @ np.where(known[:, None], place, 0.0)
        place[ready] = sums / count[ready, None] + beside[ready]


def settled(links: sp.csr_array, place: Array, ends: tuple[Array, Array], hold: Array) -> Array:
    """Return the places of one connected part after a few short steps of the forces, about the same middle."""
    from cube2net.kernels.force_layout import attract, bins_for, push_apart, relax

    count = len(place)
    degree = np.diff(links.indptr).astype(np.float64)
    pull = 1 / np.sqrt(np.minimum(degree[ends[0]], degree[ends[1]]))
    mass = np.sqrt(degree + 1)
    bins = bins_for(count)
    middle = place.mean(axis=0)
    centred = place - middle

    def outward(scale: float) -> float:
        """Return how much the forces widen the part where it is enlarged by a scale."""
        at = centred * scale
        force = np.zeros_like(at)
        push_apart(at, mass, bins, force)
        attract(at, *ends, pull, force)
        force -= hold * mass[:, None] * at
        return float((force * at).sum())

    signs = [outward(scale) > 0 for scale in SCALES]
    first = signs.index(False) if False in signs else len(SCALES) - 1
    low, high = SCALES[max(first - 1, 0)], SCALES[first]
    for _ in range(4):
        scale = float(np.sqrt(low * high))
        low, high = (scale, high) if outward(scale) > 0 else (low, scale)
    scale = float(np.sqrt(low * high))
    steps = int(np.clip(STEPS * 2_000 / count, 6, STEPS))
    moved: Array = relax(centred * scale, *ends, pull, mass, bins, steps, REACH * scale, hold) / scale
    moved += middle - moved.mean(axis=0)
    return moved


def below(places: list[Array], top: Array) -> list[Array]:
    """Return new parts, packed together, moved below what was there."""
    every = np.concatenate(places)
    middle = (every[:, 0].max() + every[:, 0].min()) / 2
    known = top[~np.isnan(top[:, 0])]
    target = (known[:, 0].max() + known[:, 0].min()) / 2
    shift = np.array([target - middle, known[:, 1].min() - GAP - every[:, 1].max()])
    return [place + shift for place in places]
