"""A literature that grows paper by paper: every team comes out of earlier teams, and takes some newcomers in.

Random numbers come from a counter (SplitMix64) that starts anew for every paper, so the papers can be grown in pieces
of any size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit
from cube2net.kernels.node_embeddings import GOLDEN, counter, scramble, share

# An author who is in the team already, or writes no more, is drawn again so often, the second half of the times among
# all authors; then a newcomer takes the seat.
TRIES = 12
# The turn of the counters that belong to authors; those of papers have turn 0.
AUTHORS = 1


class Literature(NamedTuple):
    """Papers and their authors as arrays; a mention is one author of one paper, numbered in order of time.

    ``starts`` is the first mention of every paper, ``team`` the author of every mention, ``paper_of`` its paper and
    ``before`` the mention of the same author before it, or -1. ``latest`` is the last mention of every author, -1 when
    there is none but in the paper at hand.
    """

    starts: Array
    team: Array
    paper_of: Array
    before: Array
    latest: Array
    topic: Array
    venue: Array


class Habits(NamedTuple):
    """How teams come together, as chances of a seat.

    An earlier mention is drawn at the share u^(1/``recency``) of all, so that those who wrote lately write again. A
    seat is a ``newcomers``' or, by ``bridges``, that of any author drawn so; the first seat is one or the other. Else
    it is that of somebody from an earlier paper of the team: by ``again`` the one that the team's first known author
    was drawn from, and otherwise the latest of one of the team, or by ``back`` the one before, and so on. A share
    ``passing`` of the authors writes one paper and no more. By ``stay`` a paper keeps the topic of the one that its
    first known author was drawn from.
    """

    recency: float
    newcomers: float
    bridges: float
    again: float
    back: float
    passing: float
    stay: float


@njit(cache=True, nogil=True)
def grow(
    seed: Any, first: int, last: int, authors: int, literature: Any, topics: Array, venues: Array, habits: Any
) -> Any:
    """Give the papers from ``first`` to before ``last`` authors, topics and venues; return how many authors there are.

    There are ``authors`` before. ``topics`` are the running sums of the topics' shares in the year of these papers,
    and row t of ``venues`` those of the venues' shares in topic t.
    """
    starts, team, latest = literature.starts, literature.team, literature.latest
    for paper in range(first, last):
        bits = counter(seed, paper, 0)
        start, end = starts[paper], starts[paper + 1]
        followed = np.int64(-1)
        for seat in range(start, end):
            place, bits = draw(seed, bits, start, seat, followed, literature, habits)
            if place < 0:
                team[seat] = authors
                latest[authors] = -1
                authors += 1
            else:
                team[seat] = team[place]
                if followed < 0:
                    followed = np.int64(literature.paper_of[place])
            literature.paper_of[seat] = paper
        for seat in range(start, end):
            literature.before[seat] = latest[team[seat]]
            latest[team[seat]] = seat
        bits += GOLDEN
        if followed >= 0 and share(scramble(bits)) < habits.stay:
            topic = np.int64(literature.topic[followed])
        else:
            bits += GOLDEN
            topic = np.int64(np.searchsorted(topics, share(scramble(bits)) * topics[-1], side="right"))
        bits += GOLDEN
        row = venues[topic]
        literature.topic[paper] = topic
        literature.venue[paper] = np.searchsorted(row, share(scramble(bits)) * row[-1], side="right")
    return authors


@njit(cache=True, nogil=True)
def draw(seed: Any, bits: Any, start: int, seat: int, followed: Any, literature: Any, habits: Any) -> Any:
    """Return an earlier mention of the author who takes a seat, or -1 for a newcomer, and how far the counter is.

    ``start`` is the first seat of the paper, and ``followed`` the paper its first known author was drawn from, or -1.
    """
    starts, team, before = literature.starts, literature.team, literature.before
    bits += GOLDEN
    way = share(scramble(bits))
    if start == 0 or way < habits.newcomers:
        return np.int64(-1), bits
    anybody = seat == start or way < habits.newcomers + habits.bridges
    for turn in range(TRIES):
        bits += GOLDEN
        drawn = share(scramble(bits))
        if anybody or 2 * turn >= TRIES:
            place = min(np.int64(start * drawn ** (1.0 / habits.recency)), np.int64(start - 1))
        else:
            paper = followed
            if followed < 0 or turn > 1 or drawn >= habits.again:
                bits += GOLDEN
                place = np.int64(literature.latest[team[start + np.int64((seat - start) * share(scramble(bits)))]])
                if place < 0:
                    continue
                bits += GOLDEN
                while before[place] >= 0 and share(scramble(bits)) < habits.back:
                    place = np.int64(before[place])
                    bits += GOLDEN
                paper = np.int64(literature.paper_of[place])
            bits += GOLDEN
            place = np.int64(starts[paper] + np.int64((starts[paper + 1] - starts[paper]) * share(scramble(bits))))
        author = team[place]
        if share(scramble(counter(seed, author, AUTHORS))) < habits.passing:
            continue
        free = True
        for taken in range(start, seat):
            if team[taken] == author:
                free = False
        if free:
            return place, bits
    return np.int64(-1), bits
