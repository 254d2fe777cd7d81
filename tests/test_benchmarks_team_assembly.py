from __future__ import annotations

from bisect import bisect_right

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from team_assembly import AUTHORS, TRIES, Habits, Literature, grow

ALL = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
USUAL = Habits(recency=3.0, newcomers=0.3, bridges=0.1, again=0.6, back=0.5, passing=0.3, stay=0.5)
TOPICS = np.cumsum([0.2, 0.5, 0.3])
VENUES = np.cumsum([[1.0, 0.0, 2.0, 0.0], [0.5, 0.5, 0.5, 0.5], [0.0, 3.0, 0.0, 0.0]], axis=1)


def unwritten(sizes: list[int]) -> Literature:
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    team, paper_of, before, latest = (np.full(starts[-1], -7, np.int32) for _ in range(4))
    return Literature(
        starts, team, paper_of, before, latest, np.empty(len(sizes), np.int16), np.empty(len(sizes), np.int32)
    )


def grown(
    sizes: list[int], habits: Habits = USUAL, seed: int = 5, pieces: tuple[int, ...] = ()
) -> tuple[Literature, int]:
    literature, authors = unwritten(sizes), 0
    ends = [*sorted(min(piece, len(sizes)) for piece in pieces), len(sizes)]
    for first, last in zip([0, *ends], ends, strict=False):
        authors = grow(np.uint64(seed), first, last, authors, literature, TOPICS, VENUES, habits)
    return literature, authors


class Counter:
    """Random numbers of one paper or author, in Python's own whole numbers."""

    def __init__(self, seed: int, node: int, turn: int) -> None:
        self.bits = self.mixed(self.mixed(seed + node * GOLDEN) + turn * GOLDEN)

    @staticmethod
    def mixed(bits: int) -> int:
        bits &= ALL
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & ALL
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & ALL
        return bits ^ (bits >> 31)

    def now(self) -> float:
        return (self.mixed(self.bits) >> 11) * 2.0**-53

    def next(self) -> float:
        self.bits = (self.bits + GOLDEN) & ALL
        return self.now()


def twin(sizes: list[int], habits: Habits, seed: int) -> tuple[list[list[int]], list[int], list[int], int]:
    """Return the teams, the topics, the venues and the number of authors, with lists instead of places in arrays."""
    teams: list[list[int]] = []
    topics: list[int] = []
    venues: list[int] = []
    written: list[list[int]] = []
    flat: list[tuple[int, int]] = []

    def seated(paper: int, team: list[int], random: Counter, followed: int) -> tuple[int, int]:
        way = random.next()
        if not flat or way < habits.newcomers:
            return -1, followed
        for turn in range(TRIES):
            drawn = random.next()
            if not team or way < habits.newcomers + habits.bridges or turn >= TRIES / 2:
                origin, author = flat[min(int(len(flat) * drawn ** (1 / habits.recency)), len(flat) - 1)]
            else:
                origin = followed
                if followed < 0 or turn > 1 or drawn >= habits.again:
                    past = written[team[int(len(team) * random.next())]]
                    if not past:
                        continue
                    back = 0
                    go_on = random.next()
                    while back + 1 < len(past) and go_on < habits.back:
                        back += 1
                        go_on = random.next()
                    origin = past[-1 - back]
                author = teams[origin][int(len(teams[origin]) * random.next())]
            if Counter(seed, author, AUTHORS).now() >= habits.passing and author not in team:
                return author, origin if followed < 0 else followed
        return -1, followed

    for paper, size in enumerate(sizes):
        random, team, followed = Counter(seed, paper, 0), [], -1
        for _ in range(size):
            author, followed = seated(paper, team, random, followed)
            if author < 0:
                author = len(written)
                written.append([])
            team.append(author)
        if followed >= 0 and random.next() < habits.stay:
            topics.append(topics[followed])
        else:
            if followed < 0:
                random.next()
            topics.append(bisect_right(TOPICS, random.next() * TOPICS[-1]))
        row = VENUES[topics[-1]]
        venues.append(bisect_right(row, random.next() * row[-1]))
        teams.append(team)
        for author in team:
            written[author].append(paper)
        flat.extend((paper, author) for author in team)
    return teams, topics, venues, len(written)


def teams_of(literature: Literature) -> list[list[int]]:
    return [team.tolist() for team in np.split(literature.team, literature.starts[1:-1])]


sizes_drawn = st.lists(st.integers(1, 6), min_size=1, max_size=60)
share = st.sampled_from([0.0, 0.2, 0.5, 0.9])
habits_drawn = st.builds(
    Habits,
    recency=st.sampled_from([1.0, 2.5, 6.0]),
    newcomers=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    bridges=share,
    again=share,
    back=share,
    passing=st.sampled_from([0.0, 0.3, 1.0]),
    stay=share,
)


@given(sizes_drawn, habits_drawn, st.integers(0, 2**63 - 1))
def test_a_literature_is_that_of_its_twin(sizes, habits, seed):
    literature, authors = grown(sizes, habits, seed)
    teams, topics, venues, count = twin(sizes, habits, seed)
    assert teams_of(literature) == teams
    assert literature.topic.tolist() == topics
    assert literature.venue.tolist() == venues
    assert authors == count


@given(sizes_drawn, habits_drawn, st.lists(st.integers(0, 60), max_size=5))
def test_papers_grown_in_pieces_are_those_grown_at_once(sizes, habits, pieces):
    (whole, authors), (parts, same) = grown(sizes, habits), grown(sizes, habits, pieces=tuple(pieces))
    assert authors == same
    assert all(np.array_equal(one, other) for one, other in zip(whole[:4], parts[:4], strict=True))
    assert np.array_equal(whole.topic, parts.topic)
    assert np.array_equal(whole.venue, parts.venue)


def test_every_mention_knows_the_one_before_it():
    literature, authors = grown([3] * 200)
    last = {}
    for place, author in enumerate(literature.team.tolist()):
        assert literature.before[place] == last.get(author, -1)
        last[author] = place
    assert literature.latest[:authors].tolist() == [last[author] for author in range(authors)]
