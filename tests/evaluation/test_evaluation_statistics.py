from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cube2net._util.arrays import Array
from cube2net._util.statistics import LEVEL, holm, holm_levels
from cube2net.errors import InputError, ParameterError
from cube2net.evaluation import statistics
from cube2net.evaluation.statistics import ALL, differences, estimate, estimates
from cube2net.mining.clustering import AGREEMENT
from cube2net.model.comparison import Comparison, Configuration, Trial

NONE, HOPS, GREEDY = (Configuration(method=name) for name in ("none", "hops", "greedy"))
MEASURES = ("F1", "JC", "NMI")


def table(found: Sequence[int], truth: Sequence[str]) -> Array:
    rows, columns = sorted(set(found)), sorted(set(truth))
    pairs = list(zip(found, truth, strict=True))
    return np.array([[float(pairs.count((row, column))) for column in columns] for row in rows])


def clusters(
    config: Configuration, seed: int, found: Sequence[int], truth: Sequence[str], model: str = "line"
) -> Trial:
    known = [(own, label) for own, label in zip(found, truth, strict=True) if label]
    shared = table([own for own, _ in known], [label for _, label in known])
    scores = {name: float(AGREEMENT[name](shared)) for name in MEASURES}
    return Trial(config, model, seed, scores, np.array(found), nodes=len(found))


def users(config: Configuration, seed: int, scores: Sequence[float], model: str = "als") -> Trial:
    known = [score for score in scores if not math.isnan(score)]
    plain = sum(known) / len(known) if known else math.nan
    return Trial(config, model, seed, {"P@5": plain}, np.array(scores, dtype=float)[:, None])


def linked(*trials: Trial) -> Comparison:
    return Comparison("links", ("P@5",), trials)


def noisy(truth: Sequence[str], right: float, rng: np.random.Generator) -> list[int]:
    """Return clusters of which a share is right, the others at random."""
    names = sorted(set(truth) - {""})
    own = np.array([names.index(label) if label else 0 for label in truth])
    return np.where(rng.random(len(own)) < right, own, rng.integers(0, len(names), len(own))).tolist()


def planted(shares: Mapping[Configuration, float], *, seeds: int = 6, count: int = 60, seed: int = 0) -> Comparison:
    """Return trials of two models, right for a share of the objects that differs by configuration."""
    rng = np.random.default_rng(seed)
    truth = [("a", "b", "c")[place % 3] if place % 10 else "" for place in range(count)]
    trials = [
        clusters(config, run, noisy(truth, share, rng), truth, model)
        for (config, share), model, run in product(shares.items(), ("line", "deepwalk"), range(seeds))
    ]
    return Comparison("clustering", MEASURES, tuple(trials), truth=tuple(truth))


PLANTED = planted({NONE: 0.5, HOPS: 0.5, GREEDY: 0.8})


def test_three_objects_in_two_clusters_by_hand() -> None:
    truth = ("x", "y", "y")
    trials = [clusters(NONE, 0, [0, 0, 1], truth), clusters(NONE, 1, [0, 1, 1], truth)]
    found = Comparison("clustering", MEASURES, tuple(trials), truth=truth)
    # two thirds and all right; draws of objects and seeds reach from 0.5 (found one cluster, true two) to 1
    whole = estimate(found, NONE, resamples=4000)
    assert whole is not None
    assert (whole.mean, whole.runs) == (pytest.approx((2 / 3 + 1) / 2), 2)
    assert 0 < whole.low < whole.mean < whole.high <= 1
    # the second seed alone is right whatever is drawn: nothing varies
    certain = estimate(Comparison("clustering", MEASURES, tuple(trials[1:]), truth=truth), NONE)
    assert certain is not None
    assert (certain.mean, certain.low, certain.high, certain.runs) == (1.0, 1.0, 1.0, 1)


def test_draws_of_objects_score_as_lists_with_the_objects_repeated() -> None:
    truth = ("x", "y", "", "y", "x", "z")
    found = (0, 1, 1, 4, 4, 0)
    own = clusters(NONE, 0, found, truth)
    known = [place for place, label in enumerate(truth) if label]
    for measure in MEASURES:
        draws = statistics.Draws(Comparison("clustering", MEASURES, (own,), truth=truth), measure, [own], 40, 3)
        rng = statistics.stream(3, "referee", "bootstrap")
        assert np.array_equal(rng.random((1, 40)), draws.picks)
        for score in draws.scores[own]:
            picked = [known[place] for place in rng.integers(0, len(known), len(known))]
            again = table([found[place] for place in picked], [truth[place] for place in picked])
            assert score == pytest.approx(float(AGREEMENT[measure](again)))


def test_blocks_of_draws_give_what_all_draws_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = differences(PLANTED, [(GREEDY, NONE)], resamples=50)
    monkeypatch.setattr(statistics, "MAX_BLOCK_ENTRIES", 54 * 7)
    assert differences(PLANTED, [(GREEDY, NONE)], resamples=50) == whole


@pytest.mark.parametrize("measure", ["F1", "NMI"])
def test_the_interval_holds_the_true_score_about_95_times_in_100(measure: str) -> None:
    # seeds are right for 0.5 or 0.8 of the objects, as the coin falls; the truth is the score of endlessly many objects
    tables = [np.eye(3) / 3 * share + np.full((3, 3), (1 - share) / 9) for share in (0.5, 0.8)]
    true = float(AGREEMENT[measure](np.stack(tables)).mean())
    rng = np.random.default_rng(1)
    truth, held, cases = tuple("abc"[place % 3] for place in range(150)), 0, 150
    for _ in range(cases):
        runs = [clusters(NONE, seed, noisy(truth, rng.choice([0.5, 0.8]), rng), truth) for seed in range(12)]
        found = estimate(
            Comparison("clustering", MEASURES, tuple(runs), truth=truth), NONE, "line", measure, resamples=200
        )
        assert found is not None
        held += found.low <= true <= found.high
    assert 0.88 <= held / cases <= 0.995


def test_a_mean_lies_amid_its_interval_where_repeated_objects_make_clusters_look_alike() -> None:
    found = planted({NONE: 0.3}, count=50, seeds=10)
    own = estimate(found, NONE, measure="NMI")
    draws = statistics.Draws(found, "NMI", found.trials, 1000, 0)
    assert own is not None
    assert np.mean(list(draws.scores.values())) > own.mean + (own.high - own.low) / 4
    assert own.low < own.mean < own.high
    assert (own.low + own.high) / 2 == pytest.approx(own.mean, abs=(own.high - own.low) / 8)


def test_the_interval_of_links_holds_the_true_difference_about_95_times_in_100() -> None:
    rng = np.random.default_rng(2)
    held, cases = 0, 200
    for _ in range(cases):
        base, gain = rng.choice([0.0, 0.2, 0.4], 80), rng.choice([0.0, 0.2], 80, p=[0.7, 0.3])
        found = linked(*[users(*of) for seed in range(3) for of in ((NONE, seed, base), (GREEDY, seed, base + gain))])
        (apart,) = differences(found, [(GREEDY, NONE)], resamples=200)
        held += apart.low <= 0.06 <= apart.high
    assert 0.88 <= held / cases <= 0.99


def test_four_times_the_objects_halve_the_interval() -> None:
    def width(count: int) -> float:
        found = estimate(planted({NONE: 0.6}, count=count, seeds=8), NONE)
        assert found is not None
        return found.high - found.low

    assert 1.5 < width(150) / width(600) < 2.7


def test_a_planted_difference_is_found_and_sure_and_none_is_not() -> None:
    up, level, down = differences(PLANTED, [(GREEDY, NONE), (HOPS, NONE), (NONE, GREEDY)])
    assert up.is_significant
    assert 0.1 < up.low < up.mean < up.high
    assert up.effect > 1
    assert not level.is_significant
    assert level.low < 0 < level.high
    assert down.is_significant
    assert (down.mean, down.effect) == (-up.mean, -up.effect)
    assert (down.low, down.high) == (pytest.approx(-up.high), pytest.approx(-up.low))
    assert (up.one, up.other, up.model, up.measure, up.runs) == (GREEDY, NONE, ALL, "F1", 6)


@pytest.mark.parametrize("measure", MEASURES)
def test_identical_configurations_do_not_differ(measure: str) -> None:
    same = [
        Trial(HOPS, t.model, t.seed, t.scores, (t.evidence + 5) % 7) for t in PLANTED.trials if t.configuration == NONE
    ]
    found = Comparison("clustering", MEASURES, (*PLANTED.trials[:12], *same), truth=PLANTED.truth)
    (apart,) = differences(found, [(NONE, HOPS)], measure=measure)
    assert (apart.mean, apart.low, apart.high, apart.t_test, apart.wilcoxon, apart.effect) == (0, 0, 0, 1, 1, 0)
    assert not apart.is_significant


def test_means_and_tests_are_those_of_the_scores_as_they_are() -> None:
    def by_seed(config: Configuration) -> Array:
        return np.array([[t.scores["NMI"] for t in PLANTED.of(config, model)] for model in PLANTED.models]).mean(axis=0)

    one, other = by_seed(GREEDY), by_seed(NONE)
    (apart,) = differences(PLANTED, [(GREEDY, NONE)], measure="NMI")
    assert apart.mean == pytest.approx((one - other).mean())
    assert apart.t_test == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert apart.wilcoxon == pytest.approx(2 / 2**6)
    assert apart.effect == pytest.approx((one - other).mean() / np.std(one - other, ddof=1))
    own = estimate(PLANTED, GREEDY, measure="NMI")
    assert own is not None
    assert own.mean == pytest.approx(one.mean())
    single = estimate(PLANTED, GREEDY, "line", "NMI")
    assert single is not None
    assert single.mean == pytest.approx(np.mean([t.scores["NMI"] for t in PLANTED.of(GREEDY, "line")]))


def test_all_estimates_at_once_are_those_asked_one_by_one() -> None:
    found = estimates(PLANTED, "JC", resamples=60, seed=4)
    assert list(found) == [(config, model) for config in PLANTED.configurations for model in (*PLANTED.models, ALL)]
    for (config, model), each in found.items():
        assert each == estimate(PLANTED, config, model, "JC", resamples=60, seed=4)


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_the_order_of_trials_and_pairs_changes_nothing(shuffle: Random) -> None:
    trials = list(PLANTED.trials)
    shuffle.shuffle(trials)
    other = Comparison("clustering", MEASURES, tuple(trials), truth=PLANTED.truth)
    pairs = [(GREEDY, NONE), (HOPS, NONE), (GREEDY, HOPS)]
    wanted = dict(zip(pairs, differences(PLANTED, pairs, resamples=40), strict=True))
    shuffle.shuffle(pairs)
    assert dict(zip(pairs, differences(other, pairs, resamples=40), strict=True)) == wanted
    assert estimate(other, HOPS, resamples=40) == estimate(PLANTED, HOPS, resamples=40)


def test_the_seed_decides_the_interval_and_nothing_else() -> None:
    once, again, other = (differences(PLANTED, [(GREEDY, NONE)], seed=seed)[0] for seed in (0, 0, 1))
    assert once == again
    assert (once.low, once.high) != (other.low, other.high)
    assert (once.mean, once.t_test) == (other.mean, other.t_test)


def test_holm_by_hand() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, and none below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.02, math.nan, 0.03]) == pytest.approx([0.04, math.nan, 0.04], nan_ok=True)


def test_p_values_are_corrected_within_the_list_they_are_asked_in() -> None:
    pairs = [(GREEDY, NONE), (HOPS, NONE), (GREEDY, HOPS)]
    alone = [differences(PLANTED, [pair])[0] for pair in pairs]
    together = differences(PLANTED, pairs)
    assert [each.t_test for each in together] == holm([each.t_test for each in alone])
    assert [each.wilcoxon for each in together] == holm([each.wilcoxon for each in alone])
    assert [each.p_value for each in together] == holm([each.p_value for each in alone])


def test_the_level_at_which_holm_decides_by_hand() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04 against 0.05 / 4, / 3, / 2: the third is not below its level, and he stops there
    assert holm_levels([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    assert holm_levels([0.04]) == [0.05] and holm_levels([0.6]) == [0.05] and holm_levels([]) == []
    assert holm_levels([0.6, 0.9]) == [0.025, 0.025]
    assert holm_levels([0.0, 0.02, 0.0]) == pytest.approx([0.05 / 3, 0.05, 0.05 / 3]), "equal ones have the same"
    assert holm_levels([0.001, math.nan]) == pytest.approx([0.05, math.nan], nan_ok=True)


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.025, 0.05, math.nan]), max_size=8))
def test_what_is_below_its_level_is_what_holm_rejects(p_values: list[float]) -> None:
    for p, level, corrected in zip(p_values, holm_levels(p_values), holm(p_values), strict=True):
        if math.isnan(p) or abs(corrected - LEVEL) > 1e-12:
            assert (p < level) == (corrected < LEVEL)


def test_the_interval_of_one_difference_is_that_of_95_percent_and_of_several_as_wide_as_holm_asks() -> None:
    pairs = [(GREEDY, NONE), (HOPS, NONE), (GREEDY, HOPS)]
    alone = [differences(PLANTED, [pair])[0] for pair in pairs]
    together = differences(PLANTED, pairs)
    assert [each.level for each in alone] == [LEVEL] * 3
    assert [each.level for each in together] == holm_levels([each.p_value for each in alone])
    for one, each in zip(alone, together, strict=True):
        wider = stats.norm.isf(each.level / 2) / stats.norm.isf(0.025)
        assert each.mean - each.low == pytest.approx(wider * (one.mean - one.low))
        assert each.high - each.mean == pytest.approx(wider * (one.high - one.mean))
    plain = statistics.Draws(PLANTED, "F1", PLANTED.trials, 1000, 0)
    keys = sorted((t.seed, t.model) for t in PLANTED.trials if t.configuration == NONE)
    drawn = np.stack([plain.scores[of(GREEDY, *key)] - plain.scores[of(NONE, *key)] for key in keys])
    low, high = np.quantile(plain.compute_means(drawn, keys), [0.025, 0.975])
    assert alone[0].low <= low < high <= alone[0].high
    assert alone[0].high - alone[0].low < 1.3 * (high - low)


def of(config: Configuration, seed: int, model: str) -> Trial:
    return next(trial for trial in PLANTED.of(config, model) if trial.seed == seed)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), st.booleans())
def test_what_is_sure_is_what_the_interval_and_the_chance_say_and_no_more_than_without_the_correction(
    seed: int, count: int, runs: int, links: bool
) -> None:
    rng = np.random.default_rng(seed)
    configs = [NONE, *(Configuration(method=f"m{number}") for number in range(count))]
    if links:
        base = rng.random(25) / 2
        rows = {config: base + rng.choice([0.0, 0.05, 0.2]) * rng.random(25) for config in configs}
        trials = [
            users(config, run, rows[config] + rng.normal(0, 0.05, 25)) for config in configs for run in range(runs)
        ]
        found = linked(*trials)
    else:
        shares = {config: float(rng.choice([0.3, 0.5, 0.6, 0.9])) for config in configs}
        found = planted(shares, seeds=runs, count=30, seed=seed)
    for each in differences(found, [(config, NONE) for config in configs[1:]], resamples=50):
        assert each.is_significant == (each.low > 0 or each.high < 0) == (each.p_value < LEVEL)
        assert each.low <= each.mean <= each.high if runs > 1 else math.isnan(each.low)
        (single,) = differences(found, [(each.one, NONE)], resamples=50)
        assert single.is_significant or not each.is_significant
        # the rule without any of it: 95 % of the draws are on one side of 0
        draws = statistics.Draws(found, found.measures[0], found.trials, 50, 0)
        two = [
            (a, b)
            for a in found.trials
            for b in found.trials
            if a.configuration == each.one and b.configuration == NONE
        ]
        two = sorted([(a, b) for a, b in two if (a.seed, a.model) == (b.seed, b.model)], key=lambda p: p[0].key[::-1])
        keys = [(a.seed, a.model) for a, _ in two]
        means = draws.compute_means(np.stack([draws.scores[a] - draws.scores[b] for a, b in two]), keys)
        low, high = np.quantile(means, [0.025, 0.975])
        assert low > 0 or high < 0 or not each.is_significant


def test_seeds_that_one_side_lacks_are_left_out_of_the_pair() -> None:
    kept = [
        t
        for t in PLANTED.trials
        if not (t.configuration == GREEDY and (t.seed == 2 or (t.seed, t.model) == (4, "line")))
    ]
    failed = Trial(GREEDY, "line", 2, reason="took too long")
    found = Comparison("clustering", MEASURES, (*kept, failed), truth=PLANTED.truth)
    (apart,) = differences(found, [(GREEDY, NONE)])
    assert apart.runs == 4

    def score(config: Configuration, model: str, seed: int) -> float:
        return next(t.scores["F1"] for t in PLANTED.of(config, model) if t.seed == seed)

    kept_seeds = [(seed, model) for seed in (0, 1, 3, 5) for model in ("deepwalk", "line")]
    wanted = np.mean([score(GREEDY, model, seed) - score(NONE, model, seed) for seed, model in kept_seeds])
    assert apart.mean == pytest.approx(wanted)
    assert [differences(found, [(GREEDY, NONE)], model)[0].runs for model in ("line", "deepwalk")] == [4, 5]


def test_the_mean_over_all_models_is_over_the_runs_that_have_every_one_of_them() -> None:
    # deepwalk finds all and line half: a configuration that line failed on would look best by a mean over fewer models
    truth = ("x", "y") * 4
    right, half = [0, 1] * 4, [0, 0, 1, 1] * 2
    trials = [
        clusters(config, seed, own, truth, model)
        for config, has in ((NONE, range(3)), (HOPS, range(2)), (GREEDY, ()))
        for seed in range(3)
        for model, own in (("deepwalk", right), ("line", half))
        if model == "deepwalk" or seed in has
    ]
    found = Comparison("clustering", MEASURES, tuple(trials), truth=truth)
    whole, part = estimate(found, NONE), estimate(found, HOPS)
    assert whole is not None and part is not None
    assert (whole.runs, part.runs) == (3, 2)
    assert part.mean == pytest.approx(whole.mean) and part.mean < 1
    assert estimate(found, GREEDY) is None
    alone = estimate(found, GREEDY, "deepwalk")
    assert alone is not None and (alone.mean, alone.runs) == (1, 3)
    assert [(each.one, each.runs) for each in differences(found, [(GREEDY, NONE), (HOPS, NONE)])] == [(HOPS, 2)]
    assert [each.one for each in differences(found, [(GREEDY, NONE), (HOPS, NONE)], "deepwalk")] == [GREEDY, HOPS]


def test_a_model_that_failed_everywhere_is_not_waited_for() -> None:
    failed = [Trial(config, "node2vec", 0, reason="too slow") for config in (NONE, GREEDY)]
    found = Comparison("clustering", MEASURES, (*PLANTED.trials, *failed), truth=PLANTED.truth)
    assert estimate(found, NONE) == estimate(PLANTED, NONE)
    assert estimate(found, NONE, "node2vec") is None


def test_for_links_the_floor_is_not_mixed_with_the_others() -> None:
    low, high = [0.1, 0.2, 0.3, 0.0], [0.4, 0.6, 0.5, 0.5]
    trials = [users(NONE, seed, own, model) for seed in (0, 1) for model, own in (("popularity", low), ("als", high))]
    found = estimate(linked(*trials), NONE)
    assert found is not None and found.mean == pytest.approx(0.5)
    assert found == estimate(linked(*trials), NONE, "als")
    alone = estimate(linked(*trials[::2]), NONE)
    assert alone is not None and alone.mean == pytest.approx(0.15)


def test_trials_that_all_failed_have_no_estimates() -> None:
    found = Comparison("clustering", MEASURES, (Trial(NONE, "line", 0, reason="no links"),), truth=("a", "b"))
    assert estimates(found) == {}
    assert differences(found, [(GREEDY, NONE)]) == []


def test_pairs_without_common_runs_are_left_out() -> None:
    trials = [t for t in PLANTED.trials if (t.model == "line") == (t.configuration == HOPS)]
    found = Comparison("clustering", MEASURES, tuple(trials), truth=PLANTED.truth)
    assert differences(found, [(HOPS, NONE), (GREEDY, NONE)]) == []
    apart = differences(found, [(HOPS, NONE), (GREEDY, NONE), (Configuration(method="exact"), NONE)], "deepwalk")
    assert [(each.one, each.other) for each in apart] == [(GREEDY, NONE)]
    assert estimate(found, HOPS, "deepwalk") is None
    assert differences(found, []) == []


@pytest.mark.parametrize("task", ["clustering", "links"])
def test_one_run_cannot_be_sure(task: str) -> None:
    rows = np.random.default_rng(0).random(50) / 2
    found = planted({NONE: 0.1, GREEDY: 1.0}, seeds=1)
    if task == "links":
        found = linked(users(NONE, 0, rows.tolist()), users(GREEDY, 0, (1 - rows).tolist()))
    (apart,) = differences(found, [(GREEDY, NONE)])
    assert apart.runs == 1
    assert math.isnan(apart.low) and math.isnan(apart.high) and math.isnan(apart.p_value)
    assert math.isnan(apart.t_test)
    assert math.isnan(apart.wilcoxon)
    assert math.isnan(apart.effect)
    assert not apart.is_significant


def test_a_difference_that_never_varies_has_no_t_test_and_the_interval_decides() -> None:
    truth = ("x", "y") * 20
    worse = [int(label == "y") for label in truth[:30]] + [0, 1, 1, 0, 0, 0, 1, 1, 1, 0]
    poor = [0, 0, 1, 1] * 10
    trials = [
        clusters(config, seed, own, truth)
        for config, own in ((NONE, worse), (HOPS, poor), (GREEDY, [*worse[:-1], 1]))
        for seed in range(4)
    ]
    found = Comparison("clustering", MEASURES, tuple(trials), truth=truth)
    large, small = differences(found, [(HOPS, NONE), (GREEDY, NONE)])
    assert math.isnan(large.t_test)
    assert large.effect == -math.inf
    assert large.wilcoxon == pytest.approx(2 * 2 / 2**4)
    assert large.high < 0
    assert large.is_significant
    # one object of 40: the same over all seeds, and yet not sure, because other objects might have said otherwise
    assert small.effect == math.inf
    assert small.low <= 0 < small.mean
    assert not small.is_significant


def test_for_links_the_user_is_what_differences_are_tested_over() -> None:
    one, other = np.array([0.2, 0.4, 0.0, 0.6, 0.2]), np.array([0.0, 0.4, 0.2, 0.2, 0.0])
    trials = [
        users(config, seed, own + shift * seed, model)
        for config, own in ((GREEDY, one), (NONE, other))
        for seed in range(3)
        for model, shift in (("als", 0.0), ("ease", 0.1))
    ]
    (apart,) = differences(linked(*trials), [(GREEDY, NONE)])
    assert apart.runs == 3
    assert apart.mean == pytest.approx((one - other).mean())
    assert apart.t_test == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert apart.wilcoxon == pytest.approx(stats.wilcoxon((one - other).round(12)).pvalue)
    assert apart.effect == pytest.approx((one - other).mean() / np.std(one - other, ddof=1))
    assert apart.low < 0 < apart.high


def test_a_planted_difference_of_links_is_sure_over_seeds_that_do_not_differ() -> None:
    rng = np.random.default_rng(5)
    base = rng.choice([0.0, 0.2], 200)
    found = linked(
        *[users(*of) for seed in (0, 1) for of in ((NONE, seed, base), (GREEDY, seed, base + base[::-1] / 2))]
    )
    (apart,) = differences(found, [(GREEDY, NONE)])
    assert apart.is_significant
    assert apart.t_test < 1e-6


def test_users_without_a_score_are_dropped() -> None:
    one, other = [0.2, math.nan, 0.6, 0.4], [0.1, 0.9, 0.2, math.nan]
    trials = [users(config, seed, own) for config, own in ((GREEDY, one), (NONE, other)) for seed in range(2)]
    (apart,) = differences(linked(*trials), [(GREEDY, NONE)])
    assert apart.mean == pytest.approx(0.4 - 0.4)
    assert apart.t_test == pytest.approx(stats.ttest_1samp([0.1, 0.4], 0).pvalue)
    assert math.isfinite(apart.low)
    assert math.isfinite(apart.high)
    nobody = linked(*trials, *[users(HOPS, seed, [math.nan] * 4) for seed in range(2)])
    assert estimate(nobody, HOPS) is None
    assert differences(nobody, [(HOPS, NONE)]) == []
    single = linked(*[users(s, seed, [v, math.nan]) for s, v in ((GREEDY, 0.4), (NONE, 0.2)) for seed in range(2)])
    (lone,) = differences(single, [(GREEDY, NONE)])
    assert math.isnan(lone.t_test)
    assert not lone.is_significant


def test_a_great_difference_is_sure_after_three_runs_among_many_configurations() -> None:
    truth = ("x", "y") * 60
    right, wrong = np.arange(120) % 2, np.arange(120) // 60
    configs = [Configuration(method=f"m{number}") for number in range(60)]
    trials = [clusters(NONE, seed, wrong.tolist(), truth) for seed in range(3)]
    trials += [clusters(config, seed, right.tolist(), truth) for config in configs for seed in range(3)]
    found = differences(
        Comparison("clustering", ("F1", "JC", "NMI"), tuple(trials), truth), [(s, NONE) for s in configs]
    )
    assert all(each.is_significant for each in found)


def test_questions_that_have_no_answer_are_refused() -> None:
    with pytest.raises(ParameterError, match="unknown model 'lines': choose one of all, deepwalk, line .did you mean"):
        estimate(PLANTED, NONE, "lines")
    with pytest.raises(ParameterError, match="unknown measure 'AUC': choose one of F1, JC, NMI"):
        differences(PLANTED, [(GREEDY, NONE)], measure="AUC")
    with pytest.raises(ParameterError, match="resamples is 0, expected a whole number of 1 or more"):
        estimate(PLANTED, NONE, resamples=0)


def test_evidence_that_does_not_fit_the_query_is_refused() -> None:
    own = clusters(NONE, 3, [0, 1], ["a", "b"])
    with pytest.raises(
        InputError, match=r"trial of 'none' by 'line' with seed 3 has clusters of shape \(2,\), expected"
    ):
        estimate(Comparison("clustering", MEASURES, (own,), truth=("a", "b", "c")), NONE)
    with pytest.raises(InputError, match="none of the 2 objects of the query has a label to score clusters by"):
        estimate(Comparison("clustering", MEASURES, (own,), truth=("", "")), NONE)
    with pytest.raises(InputError, match=r"with seed 1 has scores of shape \(2, 1\), expected the same users in all"):
        estimate(linked(users(NONE, 0, [0.1, 0.2, 0.3]), users(NONE, 1, [0.1, 0.2])), NONE)
    other = Trial(NONE, "line", 0, {"ONMI": 0.5}, np.array([0, 1]))
    with pytest.raises(ParameterError, match="unknown measure of clusters 'ONMI': choose one of F1, JC, NMI"):
        estimate(Comparison("clustering", ("ONMI",), (other,), truth=("a", "b")), NONE)
