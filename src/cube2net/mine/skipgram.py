"""Vectors of nodes by skip-gram with negative sampling, from walks or from single links."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import HIGHEST, ParameterError, whole_number
from cube2net.mine.random_walks import PART, Walks, bits_of, side_by_side, threads
from cube2net.seeding import stream

# Noise comes to a node as likely as this power of how often walks, or links, do (Mikolov et al. 2013).
POWER = 0.75

# The rate falls evenly to this share of its start.
LAST = 0.004

# The longest rows that the compiled code has room for.
MOST_DIMENSIONS = 1024

# Rows begin at a multiple of so many numbers (64 bytes).
ALIGNED = 16

# A thread draws so many links before it looks whether it should stop.
LINKS = 65_536


def positive(name: str, value: object) -> float:
    """Return a parameter's value as a plain ``float`` when it is a finite number above 0.

    >>> positive("rate", "fast")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: rate is 'fast', expected a finite number above 0
    """
    number = 0.0
    if not isinstance(value, bool) and isinstance(value, Real):
        number = float(value)
    if not 0.0 < number < math.inf:
        raise ParameterError(f"{name} is {value!r}, expected a finite number above 0")
    return number


def check_learning(method: Any, **least: int) -> None:
    """Raise unless the parameters that all methods share, and others with their least values, are in their ranges."""
    for name, lowest in {"dimensions": 1, "negatives": 1, "workers": 0, **least}.items():
        most = MOST_DIMENSIONS if name == "dimensions" else HIGHEST
        object.__setattr__(method, name, whole_number(name, getattr(method, name), lowest, most))
    object.__setattr__(method, "rate", positive("rate", method.rate))


def chances(weights: Array) -> Any:
    """Return what compiled code draws nodes by, each as likely as its weight is great; not all may be 0.

    These are running sums that end at 2**52, and a guide: which node each of many equal parts of them begins with.

    >>> sums, guide = chances(np.array([1.0, 0.0, 3.0]))
    >>> (sums / 2.0**52).tolist(), guide.tolist()
    ([0.25, 0.25, 1.0], [0, 0, 2, 2, 2, 2, 2, 2])
    """
    from cube2net.kernels.sgns import BITS

    totals = np.cumsum(weights, dtype=np.float64)
    sums = np.floor(totals / totals[-1] * 2.0**BITS).astype(np.uint64)
    parts = 2 ** (len(sums).bit_length() + 1)
    starts = np.arange(parts, dtype=np.uint64) * np.uint64(2**BITS // parts)
    return sums, np.searchsorted(sums, starts, side="right").astype(np.int32)


def blank(count: int, dimensions: int) -> Array:
    """Return rows of zeros, filled up to whole cache lines, that begin where one does."""
    width = -(-dimensions // ALIGNED) * ALIGNED
    room = np.zeros(count * width + ALIGNED, dtype=np.float32)
    first = -(room.ctypes.data // room.itemsize) % ALIGNED
    return room[first : first + count * width].reshape(count, width)


def small(nodes: Array, count: int, dimensions: int, size: float, rng: np.random.Generator) -> Array:
    """Return rows of random numbers within ±``size`` / 2 for some nodes, and of zeros for all others."""
    rows = blank(count, dimensions)
    start = rng.random((len(nodes), dimensions), dtype=np.float32)
    rows[nodes, :dimensions] = (start - np.float32(0.5)) * np.float32(size)
    return rows


def walk_vectors(
    walks: Walks, *, dimensions: int, window: int, negatives: int, epochs: int, rate: float, workers: int, seed: int
) -> Array:
    """Return a row for every node, such that nodes that are near each other on many walks have near rows.

    Nodes without walks have rows of zeros. Several threads change the same rows without waiting for each other, so
    only the rows that one thread learns are the same from run to run; the walks always are.
    """
    from cube2net.kernels.sgns import learn_walks

    count, nodes = len(walks.links), walks.nodes
    # Word2vec starts √dimensions times smaller. On short corpora that costs much of them; on long ones nothing.
    inputs = small(nodes, count, dimensions, dimensions**-0.5, stream(seed, "mine", "start"))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = blank(count, dimensions)
    workers = threads(workers, len(nodes))
    noise = chances(walks.visits(workers) ** POWER)
    bits = bits_of(seed, "skipgram")
    turns = epochs * walks.rounds
    fall = rate * (1.0 - LAST) / (turns * len(nodes))

    def learn(worker: int) -> Iterator[None]:
        for turn in range(turns):
            order = stream(seed, "mine", "order", turn).permutation(nodes)
            mine = np.ascontiguousarray(order[worker::workers])
            for first in range(0, len(mine), PART):
                now = rate - fall * (turn * len(nodes) + first * workers + worker)
                yield learn_walks(
                    walks.transition,
                    mine[first : first + PART],
                    turn % walks.rounds,
                    walks.length,
                    inputs,
                    outputs,
                    noise,
                    min(window, walks.length - 1),
                    negatives,
                    bits,
                    turn,
                    now,
                    fall * workers,
                )

    side_by_side(learn, workers)
    return inputs[:, :dimensions].copy()


def link_vectors(
    walks: Walks,
    *,
    first_order: bool,
    dimensions: int,
    samples: int,
    negatives: int,
    rate: float,
    workers: int,
    seed: int,
) -> Array:
    """Return a row for every node, such that linked nodes, or nodes with the same neighbours, have near rows.

    Links are drawn as likely as they are heavy, ``samples`` times the number of nodes that have one. Nodes without
    links have rows of zeros. Only the rows that one thread learns are the same from run to run.
    """
    from cube2net.kernels.sgns import learn_links

    purpose = "first" if first_order else "second"
    count, nodes = len(walks.links), walks.nodes
    inputs = small(nodes, count, dimensions, 1.0 / dimensions, stream(seed, "mine", "start", purpose))
    if not len(nodes):
        return inputs[:, :dimensions].copy()
    outputs = inputs if first_order else blank(count, dimensions)
    workers = threads(workers, len(nodes))
    ends, noise = chances(walks.strengths), chances(walks.strengths**POWER)
    bits = bits_of(seed, "links", purpose)
    total = samples * len(nodes)
    fall = rate * (1.0 - LAST) / total

    def learn(worker: int) -> Iterator[None]:
        for first in range(worker * LINKS, total, workers * LINKS):
            drawn = min(LINKS, total - first)
            now = rate - fall * first
            yield learn_links(walks.ends, first, drawn, inputs, outputs, ends, noise, negatives, bits, now, fall)

    side_by_side(learn, workers)
    return inputs[:, :dimensions].copy()
