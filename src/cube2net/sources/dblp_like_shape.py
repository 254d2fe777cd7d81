"""What a literature of a given size looks like before anybody writes: years, team sizes, topics and venues.

The constants were fitted to the ACL Anthology (110,486 papers, 116,687 authors, 528 venues). The two that say how the
numbers of authors and venues grow with a literature were set so that at the size of DBLP they come near to what is
public of it: 1.7 million authors and 5,000 venues in about 3 million papers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cube2net.array_types import Array
from cube2net.seeding import stream

# The corpus that the constants were fitted to. Newcomers are so large a share of its mentions, and a smaller one of
# more mentions (a power); it has so many venues, and they grow more slowly than the papers (a power).
FITTED_PAPERS, FITTED_MENTIONS = 110_486, 387_369
NEWCOMERS, NEWCOMERS_POWER = 0.30, -0.142
VENUES, VENUES_POWER = 528, 0.68

# How teams come together: see cube2net.kernels.growth.Habits.
HABITS = {"recency": 5.0, "bridges": 0.03, "again": 0.9, "back": 0.5, "passing": 0.28, "stay": 0.6}

# Papers grow by this share a year, and teams by that; the spread of the logarithm of a team's size.
PAPER_GROWTH, TEAM_GROWTH, TEAM_SPREAD = 0.087, 0.036, 0.62
# This share of the papers is written by a consortium: at least so many authors, with a tail of this exponent.
CONSORTIA, CONSORTIUM, CONSORTIUM_TAIL, LARGEST_TEAM = 0.003, 10, 2.2, 125

# The r-th of n venues is as large as (r + offset·√n)^-exponent; a small one brings out so many papers in a year.
VENUE_OFFSET, VENUE_EXPONENT, VENUE_PAPERS = 0.1, 1.5, 40.0
# How unequal the topics are: in the smallest venue, in all papers (spreads of logarithms); the largest venue's spread
# is the fourth root of this share of the smallest one's.
PROFILE_SPREAD, TOPIC_SPREAD, BROADEST = 2.4, 0.3, 0.01
# For how many years a topic is in fashion, before and after its best year, and what is left of it at other times.
FASHION, FAINT = 12.0, 0.15
# A venue of fewer years is a workshop, and every third of the others a journal.
LASTING = 5


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The frame of a literature: all that does not depend on who writes with whom."""

    papers: int
    years: tuple[int, int]
    authors: float
    venues: int
    topics: int
    seed: int

    @cached_property
    def by_year(self) -> Array:
        """How many papers there are at the end of every year: growth at a constant rate."""
        first, last = self.years
        grown = np.cumsum(np.exp(PAPER_GROWTH * np.arange(last - first + 1)))
        whole: Array = np.rint(grown / grown[-1] * self.papers).astype(np.int64)
        return whole

    @cached_property
    def year(self) -> Array:
        """The year of every paper, in ascending order."""
        counts = np.diff(self.by_year, prepend=0)
        return np.repeat(np.arange(self.years[0], self.years[1] + 1, dtype=np.int32), counts)

    @cached_property
    def starts(self) -> Array:
        """The first mention of every paper, and at the end how many mentions there are."""
        drawn = stream(self.seed, "sources", "dblp-like", "teams").random(self.papers)
        shares = team_sizes(np.diff(self.by_year, prepend=0), self.authors)
        starts = np.zeros(self.papers + 1, dtype=np.int64)
        begin = 0
        for row, end in zip(shares, self.by_year.tolist(), strict=True):
            starts[begin + 1 : end + 1] = np.searchsorted(row[:-1], drawn[begin:end], side="right") + 1
            begin = end
        np.cumsum(starts, out=starts)
        return starts

    def topic_sums(self, year: int) -> Array:
        """Return the running sums of the topics' shares in a year: a topic comes into fashion and goes out of it."""
        weight, best = self._fashions
        sums: Array = np.cumsum(weight * (FAINT + np.exp(-0.5 * ((year - best) / FASHION) ** 2)))
        return sums

    def venue_sums(self, year: int) -> Array:
        """Return for every topic the running sums of the shares of the venues that are there in a year."""
        profile, begins, ends = self._venues
        sums: Array = np.cumsum(np.where((begins <= year) & (year <= ends), profile, 0.0), axis=1)
        return sums

    @cached_property
    def kinds(self) -> list[str]:
        """What every venue is: a conference, a journal or a workshop."""
        _, begins, ends = self._venues
        lasting = (ends - begins + 1 >= LASTING).tolist()
        return [
            "workshop" if not lasts else "journal" if number % 3 == 2 else "conference"
            for number, lasts in enumerate(lasting)
        ]

    @cached_property
    def _fashions(self) -> tuple[Array, Array]:
        """The weight of every topic, and the year in which it is most in fashion."""
        rng = stream(self.seed, "sources", "dblp-like", "topics")
        weight = np.exp(TOPIC_SPREAD * rng.standard_normal(self.topics))
        return weight, rng.uniform(self.years[0], self.years[1] + 2 * FASHION, self.topics)

    @cached_property
    def _venues(self) -> tuple[Array, Array, Array]:
        """The weight of every venue in every topic, and the first and the last year of every venue.

        A venue lives as long as it needs to bring out its papers; the first one is there all the time.
        """
        rng = stream(self.seed, "sources", "dblp-like", "venues")
        size = (np.arange(1, self.venues + 1) + VENUE_OFFSET * math.sqrt(self.venues)) ** -VENUE_EXPONENT
        size /= size.sum()
        first, last = self.years
        span = last - first + 1
        in_year = VENUE_PAPERS * np.exp(rng.standard_normal(self.venues))
        life = np.clip(np.rint(size * self.papers / in_year), 1, span).astype(np.int64)
        middle = np.searchsorted(self.by_year / self.papers, rng.random(self.venues), side="right")
        begins = np.clip(middle - life // 2, 0, span - life)
        ends = begins + life - 1
        begins[0], ends[0] = 0, span - 1
        done = np.concatenate([[0], self.by_year])
        around = np.maximum(done[ends + 1] - done[begins], self.papers / span + 1)
        spread = PROFILE_SPREAD * np.linspace(BROADEST, 1, self.venues) ** 0.25
        profile = np.exp(spread * rng.standard_normal((self.topics, self.venues)))
        profile *= size / around / profile.mean(axis=0)
        return profile, begins + first, ends + first


def team_sizes(counts: Array, authors: float) -> Array:
    """Return for every year the running shares of teams of 1, 2, … authors, with ``authors`` in the mean of all papers.

    ``counts`` are the papers of every year. The logarithm of a team's size is normal around a middle that rises from
    year to year, rounded up; a few teams are consortia.
    """
    sizes = np.arange(1, LARGEST_TEAM + 1)
    years = np.arange(len(counts)) - len(counts) + 1.0
    tail = np.where(sizes >= CONSORTIUM, sizes.astype(float) ** -CONSORTIUM_TAIL, 0.0)
    tail = np.cumsum(tail / tail.sum())

    def around(middle: float) -> Array:
        score = (np.log(sizes) - middle - TEAM_GROWTH * years[:, None]) / (TEAM_SPREAD * math.sqrt(2))
        usual = np.array([[1 + math.erf(value) for value in row] for row in score])
        shares: Array = (1 - CONSORTIA) * usual / usual[:, -1:] + CONSORTIA * tail
        return shares

    low, high = -4.0, 4.0
    for _ in range(30):
        middle = (low + high) / 2
        mean = float(counts @ (1 - around(middle)[:, :-1]).sum(axis=1)) / int(counts.sum()) + 1
        low, high = (middle, high) if mean < authors else (low, middle)
    return around(low)
