"""The choice of a network by hand: folds, a race that gives up what is behind, and which is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net import compiling
from cube2net.array_types import Array
from cube2net.errors import Cube2netError, InputError, QueryError
from cube2net.mine import METRICS, KMeans
from cube2net.network import assemble
from cube2net.progress import silent
from cube2net.records import Network, Query, Selection, Setup
from cube2net.referee import DEFAULT, ByHiddenLinks, ByLabels, Marks, Race
from cube2net.referee import race as racing
from cube2net.referee.auto import candidates, folds_of

from toys import toy_cube

ALONE = Setup(method="none")


ONE, TWO, THREE = (Setup(method="greedy", objective="linked", form="cells", m=m) for m in (1, 2, 3))


LIKE = Setup(method="pagerank", like=ONE.name)


def query_of(labels: list[str]) -> Query:
    return Query(np.arange(len(labels)), tuple(labels))


def test_every_label_is_spread_evenly_over_the_folds_and_objects_without_one_are_in_none() -> None:
    labels = ["a"] * 23 + ["b"] * 11 + [""] * 7 + ["c"] * 18
    folds = folds_of(query_of(labels), 5, 3)
    assert sorted(set(folds.tolist())) == [-1, 0, 1, 2, 3, 4]
    for label in "abc":
        counts = np.bincount([fold for fold, own in zip(folds, labels, strict=True) if own == label], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert [int(fold) for fold, own in zip(folds, labels, strict=True) if not own] == [-1] * 7
    sizes = np.bincount(folds[folds >= 0])
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(("known", "most", "count"), [(10, 5, 2), (19, 5, 2), (30, 5, 3), (49, 5, 4), (500, 3, 3)])
def test_there_are_as_many_folds_as_have_ten_labels_each_two_at_least_and_the_most_allowed(
    known: int, most: int, count: int
) -> None:
    folds = folds_of(query_of([f"label {i % 2}" for i in range(known)]), most, 0)
    assert folds.max() + 1 == count and np.bincount(folds).min() >= known // count


def test_folds_follow_the_seed() -> None:
    query = query_of(["a", "b"] * 20)
    drawn = [folds_of(query, 4, seed).tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_setups_tried_are_distinct_and_the_query_alone_is_first() -> None:
    setups = candidates(query_of(LABELS))
    assert setups[:2] == [ALONE, DEFAULT] and len({setup.name for setup in setups}) == len(setups) > 10
    assert {setup.form for setup in setups if setup.objective} == {"objects", "cells", "woven"}


def test_what_is_as_large_as_another_comes_behind_it() -> None:
    names = [setup.name for setup in candidates(query_of(LABELS))]
    like = [setup for setup in candidates(query_of(LABELS)) if setup.like]
    assert like and all(names.index(setup.like) < names.index(setup.name) for setup in like)


LABELS = ["x"] * 20 + ["y"] * 20


HALF = [*range(10), *range(20, 30)]


CUBE = toy_cube([[0, 1]], objects=100, links=[(i, i + 1) for i in range(99)])


@dataclass(eq=False)
class Fake:
    """A maker of networks that bring ``sizes`` objects, and vectors with ``wrong`` objects on the wrong side."""

    sizes: Mapping[Setup, int]
    wrong: Callable[[Setup, int], list[int]]
    made: list[tuple[Setup, int, int | None]] = field(default_factory=list)
    mined: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, setup: Setup, seed: int, nodes: int | None = None) -> Network:
        self.made.append((setup, seed, nodes))
        first = 40 + list(self.sizes).index(setup)
        brought = Selection(np.arange(first, first + self.sizes[setup]), 0.0)
        return replace(assemble(CUBE, query_of(LABELS), brought), settings={"setup": setup})

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        setup = network.settings["setup"]
        self.mined.append((setup.name, seed))
        side = np.repeat([0, 1], 20)
        places = self.wrong(setup, seed)
        side[places] = 1 - side[places]
        vectors = np.zeros((len(network), 2))
        vectors[np.arange(40), side] = 1.0
        return vectors


def judge_of(folds: int = 4) -> ByLabels:
    return ByLabels(np.repeat([0, 1], 20), np.arange(40) % folds)


def race_of(fake: Fake, judge: ByLabels | None = None) -> Race:
    """Return a race judged by labels, without the miners of the pipeline."""
    by = judge or judge_of()

    def mark(network: Network, seed: int) -> Marks:
        return by.marks(KMeans().cluster(fake.embed(network, seed=seed)[:40], 2, seed=seed).labels)

    return Race(fake, mark)


def test_what_is_clearly_behind_is_given_up_and_the_query_alone_never() -> None:
    wrong = {ALONE: range(0, 40, 3), ONE: range(4), TWO: [], THREE: range(0, 40, 5)}
    fake = Fake({ALONE: 0, ONE: 3, TWO: 5, THREE: 2}, lambda setup, seed: list(wrong[setup]))
    race = race_of(fake)
    race.run(list(wrong), range(3), 60.0, silent)
    assert {setup: len(scores) for setup, scores in race.whole.items()} == {ALONE: 3, ONE: 1, TWO: 3, THREE: 1}
    assert judge_of().chosen(race) == TWO and race.ranked == [TWO, ONE, THREE, ALONE] and not race.left_out
    assert [row["runs"] for row in race.rows("F1")] == [3, 1, 1, 3]


def test_scores_are_those_of_the_clusters_on_all_labels_and_on_every_fold() -> None:
    wrong = [0, 4, 21]
    race = race_of(Fake({ALONE: 0}, lambda setup, seed: wrong))
    race.run([ALONE], range(1), 60.0, silent)
    side = np.repeat([0, 1], 20)
    side[wrong] = 1 - side[wrong]
    assert race.whole[ALONE] == [pytest.approx(METRICS["F1"](side, LABELS))]
    for fold in range(4):
        inside = np.arange(fold, 40, 4)
        expected = METRICS["F1"](side[inside], [LABELS[place] for place in inside])
        assert race.marks[ALONE][0].parts[fold] == pytest.approx(expected)


def test_objects_without_a_label_count_for_no_fold() -> None:
    judge = judge_of()
    judge.folds[:2] = -1
    race = race_of(Fake({ALONE: 0}, lambda setup, seed: [0, 1]), judge)
    race.run([ALONE], range(1), 60.0, silent)
    assert race.marks[ALONE][0].parts.tolist() == [1.0] * 4 and race.whole[ALONE] == [1.0]


def test_a_setup_that_others_fell_behind_after_it_was_given_up_leaves_the_race_going() -> None:
    def wrong(setup: Setup, seed: int) -> list[int]:
        if setup == ONE:  # level at first, behind after two runs, and given up
            return [[0, 1, 2], [0, 1, 2, 3, 4, 5]][seed]
        return [[3], [], HALF, []][seed] if setup == TWO else HALF

    fake = Fake({ALONE: 0, ONE: 3, TWO: 5}, wrong)
    race = race_of(fake)
    race.run([ALONE, ONE, TWO], range(4), 60.0, silent)
    assert [len(race.whole[setup]) for setup in (ALONE, ONE, TWO)] == [4, 2, 4]
    assert np.mean(race.whole[ONE]) > np.mean(race.whole[TWO])
    assert judge_of().chosen(race) == TWO


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows what it is told."""
    now = [0.0]
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(racing, "cores", lambda: 1)
    return now


def timed(clock: list[float], seconds: float, **options: Any) -> Fake:
    """Return networks that take so long to make."""

    @dataclass(eq=False)
    class Slow(Fake):
        def __call__(self, setup: Setup, seed: int, nodes: int | None = None) -> Network:
            clock[0] += seconds
            return super().__call__(setup, seed, nodes)

    return Slow(**options)


def test_without_time_the_query_alone_is_tried_and_the_others_say_that_there_was_none(clock: list[float]) -> None:
    fake = timed(clock, 9.0, sizes={ALONE: 0, ONE: 3, TWO: 5}, wrong=lambda setup, seed: [1])
    race = race_of(fake)
    race.run([ALONE, ONE, TWO], range(5), 1.0, silent)
    assert [setup for setup, _, _ in fake.made] == [ALONE] and judge_of().chosen(race) == ALONE
    assert race.rows("F1")[1:] == [{"setup": s.name, "reason": "there was no time to try it"} for s in (ONE, TWO)]
    hope, low, high = judge_of().expected(race)
    assert hope == pytest.approx(race.mean(ALONE)) and low < hope < high
    assert judge_of().sentence(race).startswith("chosen by 40 labels: none, of 1 ways tried in 9 s (one run: F1 ")


def test_a_run_that_would_not_fit_into_the_time_left_is_not_begun(clock: list[float]) -> None:
    wrong = {ALONE: [0, 1, 2], ONE: [0, 1, 2], TWO: []}
    fake = timed(clock, 1.0, sizes={ALONE: 0, ONE: 3, TWO: 5}, wrong=lambda setup, seed: wrong[setup])
    race = race_of(fake)
    race.run([ALONE, TWO, ONE], range(5), 5.5, silent)  # half of it is not yet over when the third is begun
    assert [made[:2] for made in fake.made] == [(ALONE, 0), (TWO, 0), (ONE, 0), (ALONE, 1), (TWO, 1)]
    assert [len(race.whole[setup]) for setup in (ALONE, TWO, ONE)] == [2, 2, 1]
    assert judge_of().chosen(race) == TWO


MANY = [ALONE, *(Setup(method="greedy", objective="linked", form="cells", m=m) for m in range(1, 12))]


@pytest.mark.parametrize("cost", [0.3, 0.7, 1.9, 3.1, 6.0, 9.5, 13.0, 21.0, 41.0])
def test_the_time_allowed_is_kept_up_to_one_trial_that_runs(clock: list[float], cost: float) -> None:
    fake = timed(clock, cost, sizes={setup: at for at, setup in enumerate(MANY)}, wrong=lambda setup, seed: [1])
    race_of(fake).run(MANY, range(5), 40.0, silent)
    assert clock[0] <= 40.0 or len(fake.made) == 1


def test_a_trial_that_runs_when_the_time_is_over_is_the_last(clock: list[float]) -> None:
    def wrong(setup: Setup, seed: int) -> list[int]:
        clock[0] += 35.0 if setup == MANY[3] else 0.0
        return [1]

    fake = timed(clock, 6.0, sizes={setup: at for at, setup in enumerate(MANY)}, wrong=wrong)
    race = race_of(fake)
    race.run(MANY, range(5), 40.0, silent)
    assert [made[0] for made in fake.made] == MANY[:4] and clock[0] == 4 * 6.0 + 35.0 and race.runs == 1


def test_where_only_a_few_fit_into_the_time_left_these_are_the_best(clock: list[float]) -> None:
    wrong = {setup: [0] * (at % 3 == 0) for at, setup in enumerate(MANY)}
    fake = timed(clock, 3.0, sizes={setup: at for at, setup in enumerate(MANY)}, wrong=lambda setup, seed: wrong[setup])
    race = race_of(fake)
    race.run(MANY, range(5), 40.0, silent)
    second = [setup for setup, seed, _ in fake.made if seed == 1]
    assert second == [ALONE, *(setup for setup in race.ranked if setup in second[1:])] and race.runs == 2
    assert clock[0] <= 40.0


def test_where_the_time_is_over_in_the_second_run_the_answer_says_one_run(clock: list[float]) -> None:
    def wrong(setup: Setup, seed: int) -> list[int]:
        clock[0] += 50.0 * seed  # the second run takes long
        return [0] if setup == ALONE else []

    race = race_of(timed(clock, 1.0, sizes={ALONE: 0, TWO: 5}, wrong=wrong))
    race.run([ALONE, TWO], range(5), 4.0, silent)
    assert race.runs == 1 and "(one run: F1 " in judge_of().sentence(race)


def test_what_is_as_large_as_another_is_told_how_large_that_is() -> None:
    fake = Fake({ALONE: 0, ONE: 3, LIKE: 3}, lambda setup, seed: [])
    race_of(fake).run([ALONE, ONE, LIKE], range(2), 60.0, silent)
    assert {nodes for setup, _, nodes in fake.made if setup == LIKE} == {43}
    assert {nodes for setup, _, nodes in fake.made if setup != LIKE} == {None}


@dataclass(eq=False)
class Failing(Fake):
    """A maker that cannot make some networks."""

    fails: Callable[[Setup, int], bool] = lambda setup, seed: False

    def __call__(self, setup: Setup, seed: int, nodes: int | None = None) -> Network:
        if self.fails(setup, seed):
            raise Cube2netError("out of luck")
        return super().__call__(setup, seed, nodes)


def test_a_setup_that_fails_is_a_row_that_says_why_and_so_is_what_should_be_as_large() -> None:
    fake = Failing({ALONE: 0, ONE: 3, LIKE: 3, TWO: 1}, lambda setup, seed: [], fails=lambda setup, seed: setup == ONE)
    race = race_of(fake)
    race.run([ALONE, ONE, LIKE, TWO], range(2), 60.0, silent)
    assert [setup for setup, _, _ in fake.made] == [ALONE, TWO] * 2
    assert race.rows("F1")[2:] == [
        {"setup": ONE.name, "reason": "out of luck"},
        {"setup": LIKE.name, "reason": f"there is no network of {ONE.name!r} to be as large as"},
    ]


def test_a_setup_that_fails_in_a_later_run_is_one_row_and_not_chosen() -> None:
    sizes = {ALONE: 0, ONE: 3}
    fake = Failing(sizes, lambda setup, seed: [0, 9] if setup == ALONE else [], fails=lambda s, seed: s == ONE and seed)
    race = race_of(fake)
    race.run([ALONE, ONE], range(3), 60.0, silent)
    assert [(row["setup"], row.get("reason")) for row in race.rows("F1")] == [("none", None), (ONE.name, "out of luck")]
    assert judge_of().chosen(race) == ALONE and len(race.whole[ALONE]) == 3


def test_where_not_even_the_query_alone_can_be_made_the_reason_is_told() -> None:
    race = race_of(Failing({ALONE: 0, ONE: 3}, lambda setup, seed: [], fails=lambda setup, seed: True))
    with pytest.raises(Cube2netError, match="^out of luck$"):
        race.run([ALONE, ONE], range(2), 60.0, silent)


def test_equal_networks_are_mined_once_a_run() -> None:
    fake = Fake({ALONE: 0, ONE: 0, TWO: 4}, lambda setup, seed: [])
    race = race_of(fake)
    race.run([ALONE, ONE, TWO], range(2), 60.0, silent)
    assert sorted(fake.mined) == [(TWO.name, 0), (TWO.name, 1), ("none", 0), ("none", 1)]
    assert race.whole[ONE] == race.whole[ALONE] == [1.0, 1.0]


def test_progress_is_told_and_never_goes_back() -> None:
    heard: list[tuple[str, int, int | None]] = []
    race = race_of(Fake({ALONE: 0, ONE: 3, TWO: 5}, lambda setup, seed: []))
    race.run([ALONE, ONE, TWO], range(2), 60.0, lambda stage, done, total=None: heard.append((stage, done, total)))
    assert {(stage, total) for stage, _, total in heard} == {("trying networks", 6)}
    done = [step for _, step, _ in heard]
    assert done == sorted(done) and done[0] >= 0 and done[-1] <= 6


def judged(parts: Mapping[Setup, list[list[float]]], nodes: Mapping[Setup, int]) -> Race:
    """Return a race that is over, with scores by run and fold made up."""
    first = next(iter(parts.values()))
    race = race_of(Fake(nodes, lambda setup, seed: []), judge_of(len(first[0])))
    for setup, runs in parts.items():
        race.marks[setup] = [Marks(float(np.mean(run)), np.array(run), np.repeat([0, 1], 20)) for run in runs]
        race.nodes[setup.name] = nodes[setup]
    return race


def test_of_all_that_are_within_a_standard_error_of_the_best_the_smallest_network_is_chosen() -> None:
    # ONE is behind by 0.1, −0.1, 0.1 and 0: 0.025 on average, and a standard error is 0.048. THREE is behind by 0.1
    # each time, and ALONE by more.
    parts = {
        ALONE: [[0.2, 0.3], [0.1, 0.2]],
        THREE: [[0.8, 0.7], [0.7, 0.8]],
        ONE: [[0.8, 0.9], [0.7, 0.9]],
        TWO: [[0.9, 0.8], [0.8, 0.9]],
    }
    race = judged(parts, {ALONE: 40, THREE: 41, ONE: 45, TWO: 60})
    assert judge_of().chosen(race) == ONE and race.ranked[0] == TWO
    assert judge_of(2).chosen(judged(parts, {ALONE: 40, THREE: 41, ONE: 61, TWO: 60})) == TWO


def test_a_setup_with_fewer_runs_is_not_chosen_however_high() -> None:
    parts = {ALONE: [[0.5, 0.5], [0.5, 0.5]], ONE: [[1.0, 1.0]], TWO: [[0.6, 0.7], [0.7, 0.6]]}
    assert judge_of(2).chosen(judged(parts, {ALONE: 40, ONE: 41, TWO: 42})) == TWO


def test_level_scores_leave_the_query_alone() -> None:
    parts = {ALONE: [[0.5, 0.6]], ONE: [[0.5, 0.6]], TWO: [[0.6, 0.6]]}
    assert judge_of(2).chosen(judged(parts, {ALONE: 40, ONE: 40, TWO: 41})) == ALONE


def test_the_score_on_other_labels_is_that_of_every_fold_under_the_choice_made_without_it() -> None:
    # Without fold 0 ONE is best (1.0 on both others), and has 0.1 on fold 0; without fold 1 or 2 TWO is (0.8 and 0.9).
    parts = {ALONE: [[0.5, 0.4, 0.3]], ONE: [[0.1, 1.0, 1.0]], TWO: [[0.9, 0.7, 0.8]]}
    race = judged(parts, {ALONE: 40, ONE: 60, TWO: 50})
    judge = judge_of(3)
    assert [judge.chosen(race, fold) for fold in range(3)] == [ONE, TWO, TWO] and judge.chosen(race) == TWO
    # TWO has 0.8 on all labels; the choice made without each fold has 0.1, 0.7 and 0.8 on it, TWO 0.9, 0.7 and 0.8.
    hope, low, high = judge.expected(race)
    assert hope == pytest.approx(0.8 + (0.1 - 0.9) / 3) and low < hope < high


def test_without_labels_the_default_is_taken_unless_another_is_clearly_better() -> None:
    def chosen(scores: dict[Setup, list[float]]) -> Setup:
        race = race_of(Fake({}, lambda setup, seed: []))
        for setup, parts in scores.items():
            race.marks[setup] = [Marks(float(np.mean(parts)), np.array(parts))] * 2
            race.nodes[setup.name] = 50
        return ByHiddenLinks(DEFAULT, 100).chosen(race)

    own = [0.80, 0.90, 0.85, 0.95]
    assert chosen({ALONE: [0.5] * 4, DEFAULT: own, ONE: [score + 0.005 for score in own]}) == DEFAULT
    assert chosen({ALONE: [0.5] * 4, DEFAULT: own, ONE: [score + 0.02 for score in own]}) == ONE
    assert chosen({ALONE: [0.5] * 4, DEFAULT: own, ONE: [0.99, 0.99, 0.75, 0.99]}) == DEFAULT


def test_copies_of_a_run_change_no_choice() -> None:
    # Eight objects: the other is above the default on half of them and below on the rest, 0.055 on average.
    own = np.full(8, 0.8)
    other = own + np.array([0.15, -0.03, 0.13, -0.05, 0.15, -0.03, 0.13, -0.01])
    for runs in (1, 2, 5):
        race = race_of(Fake({}, lambda setup, seed: []))
        for setup, parts in ((ALONE, own - 0.3), (DEFAULT, own), (ONE, other)):
            race.marks[setup] = [Marks(float(parts.mean()), parts)] * runs
            race.nodes[setup.name] = 50
        assert ByHiddenLinks(DEFAULT, 100).chosen(race) == DEFAULT


def test_a_network_that_cannot_be_mined_is_a_row_that_says_why() -> None:
    fake = Fake({ALONE: 0, ONE: 3}, lambda setup, seed: [])

    def mark(network: Network, seed: int) -> Marks:
        if network.settings["setup"] == ONE:
            raise InputError("no vectors for it")
        return judge_of().marks(np.repeat([0, 1], 20))

    race = Race(fake, mark)
    race.run([ALONE, ONE], range(2), 60.0, silent)
    assert race.rows("F1")[1:] == [{"setup": ONE.name, "reason": "no vectors for it"}]


def test_the_default_is_mined_and_taken_however_little_time_there_is(clock: list[float]) -> None:
    fake = timed(clock, 9.0, sizes={ALONE: 0, DEFAULT: 3, ONE: 5}, wrong=lambda setup, seed: [])
    race = replace(race_of(fake), stays=(ALONE, DEFAULT))
    race.run([ALONE, DEFAULT, ONE], range(1), 0.01, silent)
    assert ByHiddenLinks(DEFAULT, 100).chosen(race) == DEFAULT and DEFAULT in race.marks and ONE in race.left_out


@pytest.mark.parametrize("links", ["all", "none"])
def test_a_query_whose_links_cannot_be_hidden_gets_the_default_and_a_note(links: str) -> None:
    pairs = [(a, b) for a in range(20) for b in range(a)] if links == "all" else [(0, 21)]
    cube = toy_cube([list(range(20))], objects=22, links=pairs)
    network = c2n.construct(cube, list(range(20)), "auto")
    assert network.selection.note.startswith("0 links of the query can be hidden, too few to tell by them: the default")
    with pytest.raises(QueryError, match="cannot be hidden and found again|there is no pair to hide"):
        c2n.compare(cube, list(range(20)))


def test_clusters_without_a_fault_promise_no_more_than_so_many_labels_can_tell() -> None:
    race = race_of(Fake({ALONE: 0}, lambda setup, seed: []))
    race.run([ALONE], range(2), 60.0, silent)
    assert judge_of().expected(race) == (1.0, pytest.approx(1 - 3 / 40), 1.0)
