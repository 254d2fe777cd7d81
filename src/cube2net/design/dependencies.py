"""Dependencies between attributes: which one is a level above another.

A label that stands on one item decides everything and shows nothing, so only further items of a label count: how often
do two items of one label agree, against any two items? That this is no chance is asked of a bound on the binomial tail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import takewhile

import numpy as np

from cube2net._util.arrays import Array
from cube2net.model.suggestion import Dependency

MOST_STRAYS = 0.05
LEAST_KAPPA = 0.8
"""Of what could agree beyond chance, so much must."""
CERTAIN = 20.0
"""Natural logarithm of how unlikely chance has to be: about 1 in 500 million, for hundreds of pairs are looked at."""
COARSER = 0.8
"""A level above has at most this share of the labels below it."""
GLANCE = 10_000


@dataclass(frozen=True)
class Chains:
    """The levels above every attribute, and which attributes say the same as another (that other is kept).

    ``paths`` are from fine to coarse, the longest first; no level is in two of them.
    """

    paths: Mapping[str, tuple[tuple[str, ...], ...]]
    same: Mapping[str, str]
    dependencies: tuple[Dependency, ...]

    def levels(self, name: str) -> tuple[str, ...]:
        """Return all levels above an attribute."""
        return tuple(level for path in self.paths.get(name, ()) for level in path)


def dependency(child: str, parent: str, lower: Array, upper: Array) -> Dependency | None:
    """Return that one attribute nearly decides another, or None; of each the label of every item, -1 for none.

    >>> city = np.repeat(np.arange(8), 10)
    >>> print(dependency("city", "state", city, city // 4))
    city → state (all of 80 items)
    >>> dependency("city", "colour", city, np.tile([0, 1], 40)) is None
    True
    """
    both = (lower >= 0) & (upper >= 0)
    lower, upper = lower[both], upper[both]
    if len(lower) < 2:
        return None
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    owner = pairs // width
    sizes = np.bincount(lower)
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, owner, counts)
    again = sizes >= 2
    items, strays = int(sizes[again].sum()), int((sizes - largest)[again].sum())
    trials = int((sizes[again] - 1).sum())
    shares = np.bincount(upper) / len(upper)
    chance = float(np.sum(shares**2))
    if not trials or len(shares[shares > 0]) < 2 or strays > MOST_STRAYS * items:
        return None
    agreement = float(np.sum(counts * (counts - 1.0) / sizes[owner]) / trials)
    if agreement - chance < LEAST_KAPPA * (1 - chance) or trials * _surprise(agreement, chance) < CERTAIN:
        return None
    return Dependency(child, parent, items, strays, agreement, chance)


def _surprise(agreement: float, chance: float) -> float:
    """Return what every trial takes from the logarithm of the probability of so much agreement by chance."""
    if agreement <= chance:
        return 0.0
    rest = 0.0 if agreement >= 1 else (1 - agreement) * np.log((1 - agreement) / (1 - chance))
    return float(agreement * np.log(agreement / chance) + rest)


def find_chains(
    labels: Mapping[str, Array],
    readable: Mapping[str, float],
    lacking: Callable[[str, str], int] = lambda child, parent: 0,
) -> Chains:
    """Return the levels above every attribute, each decided by the one below: the longest chain, and other paths.

    ``labels`` are those of every item by attribute, -1 for none. Of two attributes that decide each other the one is
    kept whose values are longer (``readable``), or comes first. ``lacking`` says how many labels of one attribute no
    item has a label of the other with: then that is no level, for every label needs a parent.
    """
    kinds = {name: int(codes.max(initial=-1)) + 1 for name, codes in labels.items()}
    found: dict[tuple[str, str], Dependency] = {}
    for child, lower in labels.items():
        for parent, upper in labels.items():
            if child == parent or kinds[parent] > kinds[child] / COARSER:
                continue
            step = max(1, len(lower) // GLANCE)
            if step > 1 and _differ_at_once(lower[::step], upper[::step]):
                continue
            known = dependency(child, parent, lower, upper)
            if known is not None:
                found[child, parent] = known
    same = _same(found, list(labels), readable)
    above = {
        pair: replace(known, lacking=lacking(*pair))
        for pair, known in found.items()
        if not set(pair) & set(same) and kinds[pair[1]] <= COARSER * kinds[pair[0]]
    }
    kept = {pair: known for pair, known in above.items() if not known.lacking}

    @cache
    def longest(name: str) -> tuple[str, ...]:
        chains = [(parent, *longest(parent)) for child, parent in kept if child == name]
        return max(chains, key=lambda chain: (len(chain), kinds[chain[0]]), default=())

    def paths(name: str) -> tuple[tuple[str, ...], ...]:
        found: list[tuple[str, ...]] = [longest(name)] if longest(name) else []
        used = set(longest(name))
        parents = [parent for child, parent in kept if child == name]
        for parent in sorted(parents, key=lambda parent: -len(longest(parent))):
            if parent in used or any((other, parent) in kept for other in parents):
                continue  # it lies above a level that is there
            path = tuple(takewhile(partial(_is_new, used), (parent, *longest(parent))))
            found.append(path)
            used |= set(path)
        return tuple(found)

    chains = {name: paths(name) for name in labels if name not in same}
    steps = {
        step
        for name, found_paths in chains.items()
        for path in found_paths
        for step in zip((name, *path), path, strict=False)
    }
    return Chains(chains, same, tuple(known for pair, known in above.items() if pair in steps or known.lacking))


def _is_new(used: set[str], level: str) -> bool:
    return level not in used


def _differ_at_once(lower: Array, upper: Array) -> bool:
    """Return whether some items show already that the one does not decide the other."""
    both = (lower >= 0) & (upper >= 0)
    if both.sum() < GLANCE // 10:
        return False
    lower, upper = lower[both], upper[both]
    width = int(upper.max()) + 1
    pairs, counts = np.unique(lower * width + upper, return_counts=True)
    largest = np.zeros(int(lower.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, pairs // width, counts)
    return bool(len(lower) - largest.sum() > 3 * MOST_STRAYS * len(lower))


def _same(
    found: Mapping[tuple[str, str], Dependency], names: list[str], readable: Mapping[str, float]
) -> dict[str, str]:
    """Return the attributes that say the same as another, each with the one that is kept."""
    same: dict[str, str] = {}
    order = sorted(names, key=lambda name: -readable.get(name, 0))
    for place, kept in enumerate(order):
        for other in order[place + 1 :]:
            if not {kept, other} & set(same) and {(kept, other), (other, kept)} <= set(found):
                same[other] = kept
    return same
