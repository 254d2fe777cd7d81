"""The choice of a network by hand: folds, successive halving, and which network is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net._util import progress
from cube2net._util.arrays import Array
from cube2net._util.progress import silent
from cube2net.errors import Cube2netError, InputError, QueryError
from cube2net.evaluation import auto as racing
from cube2net.evaluation.auto import ByLabels, Race, Scores, assign_folds, choose_by_hidden_links, list_candidates
from cube2net.evaluation.configurations import DEFAULT
from cube2net.mining.clustering import METRICS, KMeans
from cube2net.model.comparison import Configuration
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import Selection
from cube2net.network.assembly import assemble

from toys import toy_cube

ALONE = Configuration(method="none")


ONE, TWO, THREE = (Configuration(method="greedy", objective="linked", form="cells", n_cells=m) for m in (1, 2, 3))


LIKE = Configuration(method="pagerank", like=ONE.name)


MANY = [ALONE, *(Configuration(method="greedy", objective="linked", form="cells", n_cells=m) for m in range(1, 12))]


def query_of(labels: list[str]) -> Query:
    return Query(np.arange(len(labels)), tuple(labels))


def test_every_label_is_spread_evenly_over_the_folds_and_objects_without_one_are_in_none() -> None:
    labels = ["a"] * 23 + ["b"] * 11 + [""] * 7 + ["c"] * 18
    folds = assign_folds(query_of(labels), 5, 3)
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
    folds = assign_folds(query_of([f"label {i % 2}" for i in range(known)]), most, 0)
    assert folds.max() + 1 == count and np.bincount(folds).min() >= known // count


def test_folds_follow_the_seed() -> None:
    query = query_of(["a", "b"] * 20)
    drawn = [assign_folds(query, 4, seed).tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_about_six_distinct_configurations_are_tried_the_query_alone_first_and_the_default_second() -> None:
    configs = list_candidates()
    assert configs[:2] == [ALONE, DEFAULT] and len({config.name for config in configs}) == len(configs) == 7
    assert {config.levels for config in configs} >= {"full", "one"} and {config.form for config in configs} >= {"cells"}


def test_what_is_as_large_as_another_comes_behind_it() -> None:
    names = [config.name for config in list_candidates()]
    like = [config for config in list_candidates() if config.like]
    assert like and all(names.index(config.like) < names.index(config.name) for config in like)


LABELS = ["x"] * 20 + ["y"] * 20


HALF = [*range(10), *range(20, 30)]


CUBE = toy_cube([[0, 1]], objects=100, links=[(i, i + 1) for i in range(99)])


@dataclass(eq=False)
class Fake:
    """A maker of networks that bring ``sizes`` objects, and vectors with ``wrong`` objects on the wrong side."""

    sizes: Mapping[Configuration, int]
    wrong: Callable[[Configuration, int], list[int]]
    made: list[tuple[Configuration, int, int | None]] = field(default_factory=list)
    mined: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        self.made.append((config, seed, nodes))
        first = 40 + list(self.sizes).index(config)
        brought = Selection(np.arange(first, first + self.sizes[config]), 0.0)
        return replace(assemble(CUBE, query_of(LABELS), brought), settings={"configuration": config})

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        config = network.settings["configuration"]
        self.mined.append((config.name, seed))
        side = np.repeat([0, 1], 20)
        places = self.wrong(config, seed)
        side[places] = 1 - side[places]
        vectors = np.zeros((len(network), 2))
        vectors[np.arange(40), side] = 1.0
        return vectors


def judge_of(folds: int = 4) -> ByLabels:
    return ByLabels(np.repeat([0, 1], 20), np.arange(40) % folds)


def race_of(fake: Fake, judge: ByLabels | None = None) -> Race:
    """Return a race judged by labels, without the models of the pipeline."""
    by = judge or judge_of()

    def evaluate(network: Network, seed: int) -> Scores:
        return by.compute_scores(KMeans().cluster(fake.embed(network, seed=seed)[:40], 2, seed=seed).labels)

    return Race(fake, evaluate)


def test_every_run_has_the_better_half_of_the_last_one_and_the_two_finalists_have_all() -> None:
    wrong = {config: list(range(0, 2 * at, 2)) for at, config in enumerate(MANY[1:9])} | {ALONE: HALF}
    fake = Fake({config: at for at, config in enumerate(MANY)}, lambda config, seed: wrong[config])
    race = race_of(fake)
    race.run(MANY[:9], range(4), 60.0, silent)
    assert [len(race.scores_by_run[config]) for config in MANY[:9]] == [4, 4, 4, 2, 2, 1, 1, 1, 1]
    assert race.finalists == [MANY[1], MANY[2], ALONE] and race.runs == 4 and not race.left_out
    assert [row["runs"] for row in race.list_rows("F1")] == [4, 4, 2, 2, 1, 1, 1, 1, 4]


def test_the_default_takes_part_in_every_run_however_low_its_score() -> None:
    wrong = {ALONE: HALF, DEFAULT: HALF[1:]} | {config: [at] for at, config in enumerate(MANY[1:6])}
    sizes = {config: at for at, config in enumerate(wrong)}
    race = race_of(Fake(sizes, lambda config, seed: wrong[config]))
    race.run(list(wrong), range(3), 60.0, silent)
    assert len(race.scores_by_run[DEFAULT]) == len(race.scores_by_run[ALONE]) == 3
    assert sorted(len(race.scores_by_run[config]) for config in MANY[1:6]) == [1, 1, 2, 3, 3]


def test_a_score_is_that_of_the_clusters_on_all_labels() -> None:
    wrong = [0, 4, 21]
    race = race_of(Fake({ALONE: 0}, lambda config, seed: wrong))
    race.run([ALONE], range(1), 60.0, silent)
    side = np.repeat([0, 1], 20)
    side[wrong] = 1 - side[wrong]
    assert race.scores_by_run[ALONE] == [pytest.approx(METRICS["F1"](side, LABELS))]


def test_objects_without_a_label_do_not_count() -> None:
    judge = judge_of()
    judge.folds[:2] = -1
    race = race_of(Fake({ALONE: 0}, lambda config, seed: [0, 1]), judge)
    race.run([ALONE], range(1), 60.0, silent)
    assert race.scores_by_run[ALONE] == [1.0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows what it is told."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(racing, "cores", lambda: 1)
    return now


def timed(clock: list[float], seconds: float, **options: Any) -> Fake:
    """Return networks that take so long to make."""

    @dataclass(eq=False)
    class Slow(Fake):
        def __call__(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
            clock[0] += seconds
            return super().__call__(config, seed, nodes)

    return Slow(**options)


def test_without_time_the_query_alone_is_tried_and_the_others_say_that_there_was_none(clock: list[float]) -> None:
    fake = timed(clock, 9.0, sizes={ALONE: 0, ONE: 3, TWO: 5}, wrong=lambda config, seed: [1])
    race = race_of(fake)
    race.run([ALONE, ONE, TWO], range(5), 1.0, silent)
    assert [config for config, _, _ in fake.made] == [ALONE] and judge_of().choose(race) == ALONE
    assert race.list_rows("F1")[1:] == [
        {"configuration": s.name, "reason": "there was no time to try it"} for s in (ONE, TWO)
    ]
    hope, low, high = judge_of().estimate_f1(race)
    assert hope == pytest.approx(race.mean(ALONE)) and low < hope < high
    assert (
        judge_of()
        .describe(race)
        .startswith("chosen by 40 labels: none, of 1 configurations tried in 9 s (one run: F1 ")
    )


def test_a_run_that_would_not_fit_into_the_time_left_is_not_begun(clock: list[float]) -> None:
    wrong = {ALONE: [0, 1, 2], ONE: [0, 1, 2], TWO: []}
    fake = timed(clock, 1.0, sizes={ALONE: 0, ONE: 3, TWO: 5}, wrong=lambda config, seed: wrong[config])
    race = race_of(fake)
    race.run([ALONE, TWO, ONE], range(5), 5.5, silent)  # half of it is not yet over when the third is begun
    assert [made[:2] for made in fake.made] == [(ALONE, 0), (TWO, 0), (ONE, 0), (ALONE, 1), (TWO, 1)]
    assert race.finalists == [TWO, ALONE]


@pytest.mark.parametrize("cost", [0.3, 0.7, 1.9, 3.1, 6.0, 9.5, 13.0, 21.0, 41.0])
def test_the_time_allowed_is_kept_up_to_one_trial_that_runs(clock: list[float], cost: float) -> None:
    fake = timed(
        clock,
        cost,
        sizes={config: at for at, config in enumerate(MANY)},
        wrong=lambda config, seed: [1],
    )
    race_of(fake).run(MANY, range(5), 40.0, silent)
    assert clock[0] <= 40.0 or len(fake.made) == 1


def test_a_trial_that_runs_when_the_time_is_over_is_the_last(clock: list[float]) -> None:
    def wrong(config: Configuration, seed: int) -> list[int]:
        clock[0] += 35.0 if config == MANY[3] else 0.0
        return [1]

    fake = timed(clock, 6.0, sizes={config: at for at, config in enumerate(MANY)}, wrong=wrong)
    race = race_of(fake)
    race.run(MANY, range(5), 40.0, silent)
    assert [made[0] for made in fake.made] == MANY[:4] and clock[0] == 4 * 6.0 + 35.0 and race.runs == 1


def test_where_the_better_half_does_not_fit_into_the_time_left_fewer_have_a_second_run(clock: list[float]) -> None:
    wrong = {config: [0] * (at % 3 == 0) for at, config in enumerate(MANY)}
    fake = timed(
        clock,
        3.0,
        sizes={config: at for at, config in enumerate(MANY)},
        wrong=lambda config, seed: wrong[config],
    )
    race = race_of(fake)
    race.run(MANY, range(5), 40.0, silent)  # the first run makes seven networks in 21 s, and five more take 15 s
    second = [config for config, seed, _ in fake.made if seed == 1]
    assert second == [ALONE, *(config for config in race.ranking if config in second[1:])] and race.runs == 2
    assert clock[0] <= 40.0


def test_where_the_time_is_over_in_the_second_run_the_answer_says_one_run(clock: list[float]) -> None:
    def wrong(config: Configuration, seed: int) -> list[int]:
        clock[0] += 50.0 * seed  # the second run takes long
        return [0] if config == ALONE else []

    race = race_of(timed(clock, 1.0, sizes={ALONE: 0, TWO: 5}, wrong=wrong))
    race.run([ALONE, TWO], range(5), 4.0, silent)
    assert race.runs == 1 and "(one run: F1 " in judge_of().describe(race)


def test_what_is_as_large_as_another_is_told_how_large_that_is() -> None:
    fake = Fake({ALONE: 0, ONE: 3, LIKE: 3}, lambda config, seed: [])
    race_of(fake).run([ALONE, ONE, LIKE], range(2), 60.0, silent)
    assert {nodes for config, _, nodes in fake.made if config == LIKE} == {43}
    assert {nodes for config, _, nodes in fake.made if config != LIKE} == {None}


@dataclass(eq=False)
class Failing(Fake):
    """A maker that cannot make some networks."""

    fails: Callable[[Configuration, int], bool] = lambda config, seed: False

    def __call__(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        if self.fails(config, seed):
            raise Cube2netError("out of luck")
        return super().__call__(config, seed, nodes)


def test_a_configuration_that_fails_is_a_row_that_says_why_and_so_is_what_should_be_as_large() -> None:
    fake = Failing(
        {ALONE: 0, ONE: 3, LIKE: 3, TWO: 1},
        lambda config, seed: [],
        fails=lambda config, seed: config == ONE,
    )
    race = race_of(fake)
    race.run([ALONE, ONE, LIKE, TWO], range(2), 60.0, silent)
    assert [config for config, _, _ in fake.made] == [ALONE, TWO] * 2
    assert race.list_rows("F1")[2:] == [
        {"configuration": ONE.name, "reason": "out of luck"},
        {"configuration": LIKE.name, "reason": f"there is no network of {ONE.name!r} to be as large as"},
    ]


def test_a_configuration_that_fails_in_a_later_run_is_one_row_and_not_chosen() -> None:
    sizes = {ALONE: 0, ONE: 3}
    fake = Failing(
        sizes,
        lambda config, seed: [0, 9] if config == ALONE else [],
        fails=lambda s, seed: s == ONE and seed,
    )
    race = race_of(fake)
    race.run([ALONE, ONE], range(3), 60.0, silent)
    assert [(row["configuration"], row.get("reason")) for row in race.list_rows("F1")] == [
        ("none", None),
        (ONE.name, "out of luck"),
    ]
    assert judge_of().choose(race) == ALONE and len(race.scores_by_run[ALONE]) == 3


def test_where_not_even_the_query_alone_can_be_made_the_reason_is_told() -> None:
    race = race_of(Failing({ALONE: 0, ONE: 3}, lambda config, seed: [], fails=lambda config, seed: True))
    with pytest.raises(Cube2netError, match="^out of luck$"):
        race.run([ALONE, ONE], range(2), 60.0, silent)


def test_a_configuration_with_the_network_of_an_earlier_one_is_left_out_and_says_so_unless_it_stays() -> None:
    fake = Fake({ALONE: 0, DEFAULT: 0, ONE: 0, TWO: 4}, lambda config, seed: [])
    race = race_of(fake)
    race.run([ALONE, DEFAULT, ONE, TWO], range(2), 60.0, silent)
    assert sorted(fake.mined) == [(TWO.name, 0), ("none", 0), ("none", 1)]
    assert race.scores_by_run[DEFAULT] == race.scores_by_run[ALONE] == [1.0, 1.0]
    assert race.left_out == {ONE: "its network is that of 'none'"}


def test_progress_is_told_and_never_goes_back() -> None:
    heard: list[tuple[str, int, int | None]] = []
    race = race_of(Fake({ALONE: 0, ONE: 3, TWO: 5}, lambda config, seed: []))
    race.run([ALONE, ONE, TWO], range(2), 60.0, lambda stage, done, total=None: heard.append((stage, done, total)))
    assert {(stage, total) for stage, _, total in heard} == {("trying networks", 6)}
    done = [step for _, step, _ in heard]
    assert done == sorted(done) and done[0] >= 0 and done[-1] <= 6


def judged(clusters: Mapping[Configuration, list[list[int]]], judge: ByLabels | None = None) -> Race:
    """Return a finished race with made-up clusters: for every run the objects on the wrong side."""
    by = judge or judge_of()
    race = race_of(Fake({}, lambda config, seed: []))
    for config, runs in clusters.items():
        race.scores[config] = []
        race.nodes[config.name] = 50
        for wrong in runs:
            side = np.repeat([0, 1], 20)
            side[wrong] = 1 - side[wrong]
            race.scores[config].append(by.compute_scores(side))
    return race


FOUR, EIGHT = [*range(2), *range(20, 22)], [*range(4), *range(20, 24)]


def test_with_labels_the_default_is_kept_unless_another_is_significantly_better() -> None:
    bad = [HALF, HALF]
    assert judge_of().choose(judged({ALONE: bad, DEFAULT: [EIGHT, EIGHT], ONE: [FOUR, FOUR]})) == DEFAULT
    assert judge_of().choose(judged({ALONE: bad, DEFAULT: [EIGHT, EIGHT], ONE: [[0], []]})) == ONE
    assert judge_of().choose(judged({ALONE: [[], []], DEFAULT: [EIGHT, EIGHT], ONE: [FOUR, FOUR]})) == ALONE


def test_of_several_that_are_significantly_better_the_highest_is_chosen_whatever_its_size() -> None:
    race = judged({ALONE: [HALF, HALF], DEFAULT: [HALF[:18], HALF], ONE: [[0, 1], [0]], TWO: [[0], [0]]})
    race.nodes[TWO.name] = 5_000
    assert judge_of().choose(race) == TWO


def test_a_difference_that_varies_from_run_to_run_is_not_significant() -> None:
    steady = judged({ALONE: [HALF] * 2, DEFAULT: [EIGHT] * 2, ONE: [[0], [0]]})
    varying = judged({ALONE: [HALF] * 2, DEFAULT: [EIGHT] * 2, ONE: [[], [*EIGHT, 9, 29]]})
    assert judge_of().choose(steady) == ONE and judge_of().choose(varying) == DEFAULT


def test_the_interval_is_corrected_for_the_number_of_configurations_tried() -> None:
    clusters = {ALONE: [HALF, HALF], DEFAULT: [EIGHT[:7], EIGHT[:7]], ONE: [[0], [0]]}
    dropped = {Configuration(method="greedy", objective="linked", n_cells=m): [HALF] for m in range(1_000)}
    assert judge_of().choose(judged(clusters)) == ONE
    assert judge_of().choose(judged(clusters | dropped)) == DEFAULT


def test_one_run_decides_nothing() -> None:
    assert judge_of().choose(judged({ALONE: [HALF], DEFAULT: [HALF], ONE: [[]]})) == DEFAULT


def test_where_the_default_could_not_be_made_the_query_alone_takes_its_place() -> None:
    assert judge_of().choose(judged({ALONE: [HALF, HALF], ONE: [HALF[:18], HALF]})) == ALONE
    assert judge_of().choose(judged({ALONE: [HALF, HALF], ONE: [[], []]})) == ONE


def test_where_no_configuration_is_better_the_default_is_kept_in_at_least_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    configs = [ALONE, DEFAULT, *MANY[1:6]]
    kept = 0
    for _ in range(100):
        chances = {
            config: rng.beta(2, 6, 40) for config in configs
        }  # how likely a configuration has an object wrong in a run
        clusters = {
            config: [np.flatnonzero(rng.random(40) < chances[config]).tolist() for _ in range(2)] for config in configs
        }
        kept += judge_of().choose(judged(clusters)) == DEFAULT
    assert kept >= 95


def test_a_configuration_with_fewer_runs_is_not_chosen_however_high() -> None:
    assert judge_of().choose(judged({ALONE: [HALF] * 2, DEFAULT: [HALF] * 2, ONE: [[]], TWO: [[0], [0]]})) == TWO


def test_the_score_on_other_labels_is_that_of_every_fold_under_the_choice_made_without_it() -> None:
    # ONE is perfect and the default has most objects of fold 0 wrong: only with fold 0 is ONE significantly better.
    judge = ByLabels(np.repeat([0, 1], 20), np.repeat([0, 1, 0, 1], 10))
    race = judged({ALONE: [HALF] * 2, DEFAULT: [[*range(7), *range(20, 27)]] * 2, ONE: [[], []]}, judge)
    assert [judge.choose(race, fold) for fold in range(2)] == [DEFAULT, ONE] and judge.choose(race) == ONE
    side = np.repeat([0, 1], 10)
    side[[*range(7), *range(10, 17)]] = 1 - side[[*range(7), *range(10, 17)]]
    hope, low, high = judge.estimate_f1(race)
    assert hope == pytest.approx(1 + (METRICS["F1"](side, ["x"] * 10 + ["y"] * 10) - 1) / 2) and low < hope < high


@dataclass(eq=False)
class FakeHiddenRuns:
    """Hidden links in number, and an AUC by configuration and seed."""

    fake: Fake
    auc: Callable[[Configuration, int], float]
    links: int = 100

    def prepare(self, seed: int) -> tuple[Fake, Any]:
        ends = np.arange(self.links + seed)
        return self.fake, SimpleNamespace(hidden=(ends, ends, ends, ends))

    def make(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        return self.fake(config, seed, nodes)

    def mine(self, network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        return {"AUC": self.auc(network.settings["configuration"], seed)}, np.empty((0, 1)), 0.0


def chosen_by_links(auc: Callable[[Configuration, int], float], runs: int = 3, links: int = 100) -> Network:
    query = query_of([""] * 40)
    fake = Fake({config: at for at, config in enumerate(list_candidates())}, lambda config, seed: [])
    hidden: Any = FakeHiddenRuns(fake, auc, links)
    return choose_by_hidden_links(query, fake, hidden, seeds=range(runs), seconds=60.0, progress=silent)


def test_without_labels_a_network_with_a_surely_higher_auc_than_the_default_is_taken() -> None:
    best = list_candidates()[4]
    scores = {ALONE: [0.6, 0.6, 0.6], DEFAULT: [0.80, 0.82, 0.81], best: [0.83, 0.83, 0.85]}
    network = chosen_by_links(lambda config, seed: scores.get(config, [0.5] * 3)[seed])
    assert network.settings["chosen"] == best.name
    assert network.selection.note.startswith(
        f"chosen by 303 hidden links of the query: {best.name}, of 7 configurations tried in"
    )
    assert "(3 runs: AUC 0.837, the default 0.810, the query alone 0.600)" in network.selection.note
    runs = {row["configuration"]: row["runs"] for row in network.settings["tried"]}
    assert runs[best.name] == runs[DEFAULT.name] == runs["none"] == 3 and min(runs.values()) == 1


@pytest.mark.parametrize(
    ("default", "other"),
    [
        ([0.80, 0.80, 0.80], [0.90, 0.90, 0.79]),  # not higher in every run
        ([0.80, 0.81, 0.82], [0.82, 0.83, 0.83]),  # by too little on average
        ([0.80], [0.95]),  # one run
        ([0.42, 0.42, 0.42], [0.49, 0.49, 0.49]),  # not above chance
    ],
)
def test_without_labels_the_default_is_taken_unless_another_finds_links_surely_better(
    default: list[float], other: list[float]
) -> None:
    scores = {DEFAULT: default, list_candidates()[3]: other}
    network = chosen_by_links(lambda config, seed: scores.get(config, [0.4] * 3)[seed], runs=len(default))
    assert network.settings["chosen"] == DEFAULT.name
    assert "no other network finds them significantly better, by more than 0.02" in network.selection.note


def test_without_labels_the_query_alone_is_a_reference_and_not_taken() -> None:
    best = list_candidates()[3]
    network = chosen_by_links(lambda config, seed: {ALONE: 0.9, best: 0.8}.get(config, 0.7))
    assert network.settings["chosen"] == best.name and network.settings["tried"][0]["configuration"] == "none"


def test_a_high_auc_in_the_first_run_only_is_not_enough() -> None:
    lucky, steady = list_candidates()[2:4]
    scores = {lucky: [0.9, 0.5, 0.5], steady: [0.8, 0.8, 0.8]}
    network = chosen_by_links(lambda config, seed: scores.get(config, [0.6] * 3)[seed])
    assert network.settings["chosen"] == steady.name


def test_with_fewer_than_30_hidden_links_the_default_is_taken() -> None:
    network = chosen_by_links(lambda config, seed: 0.9 if config == ALONE else 0.8, links=29)
    assert network.settings["chosen"] == DEFAULT.name and network.settings["tried"] == []


def test_a_network_that_cannot_be_mined_is_a_row_that_says_why() -> None:
    fake = Fake({ALONE: 0, ONE: 3}, lambda config, seed: [])

    def evaluate(network: Network, seed: int) -> Scores:
        if network.settings["configuration"] == ONE:
            raise InputError("no vectors for it")
        return judge_of().compute_scores(np.repeat([0, 1], 20))

    race = Race(fake, evaluate)
    race.run([ALONE, ONE], range(2), 60.0, silent)
    assert race.list_rows("F1")[1:] == [{"configuration": ONE.name, "reason": "no vectors for it"}]


def test_the_default_is_mined_and_taken_however_little_time_there_is(clock: list[float]) -> None:
    fake = timed(clock, 9.0, sizes={ALONE: 0, DEFAULT: 3, ONE: 5}, wrong=lambda config, seed: [])
    race = race_of(fake)
    race.run([ALONE, DEFAULT, ONE], range(2), 0.01, silent)
    assert judge_of().choose(race) == DEFAULT and DEFAULT in race.scores and ONE in race.left_out


@pytest.mark.parametrize("links", ["all", "none"])
def test_a_query_whose_links_cannot_be_hidden_gets_the_default_and_a_note(links: str) -> None:
    pairs = [(a, b) for a in range(20) for b in range(a)] if links == "all" else [(0, 21)]
    cube = toy_cube([list(range(20))], objects=22, links=pairs)
    network = c2n.construct(cube, list(range(20)), "auto")
    assert network.selection.note.startswith("0 links of the query can be hidden, too few to tell by them: the default")
    with pytest.raises(QueryError, match="cannot be hidden and found again|there is no pair to hide"):
        c2n.compare(cube, list(range(20)))


def test_clusters_without_a_fault_promise_no_more_than_so_many_labels_can_tell() -> None:
    race = race_of(Fake({ALONE: 0}, lambda config, seed: []))
    race.run([ALONE], range(2), 60.0, silent)
    assert judge_of().estimate_f1(race) == (1.0, pytest.approx(1 - 3 / 40), 1.0)
