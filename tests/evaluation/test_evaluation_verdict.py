from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from cube2net.errors import InputError
from cube2net.evaluation import verdict as module
from cube2net.evaluation.statistics import ALL, Difference, differences
from cube2net.evaluation.verdict import Verdict, judge_comparison
from cube2net.mining.clustering import compute_f1
from cube2net.model.comparison import Comparison, Configuration, Trial

from comparisons import found_again

NONE, PAGERANK, HOPS = (Configuration(method=name) for name in ("none", "pagerank", "hops"))
GREEDY = Configuration(method="greedy", objective="linked", n_cells=20)
EXACT = replace(GREEDY, method="exact")
FORTY = replace(GREEDY, n_cells=40)
CELLS = replace(GREEDY, form="cells")
BASELINES = [Configuration(method=name, like=GREEDY.name) for name in ("pagerank", "hops")]
RANDOM = replace(GREEDY, method="random")
Says = Callable[..., Verdict]


def comparison(configs: Sequence[Configuration], *, runs: int = 3, nodes: int = 281) -> Comparison:
    """Return trials that all score 0.62 and a trifle, at as many nodes on average."""
    trials = [
        Trial(
            config,
            "line",
            seed,
            {"F1": 0.62 + 1e-9 * own},
            np.array([0, 1]),
            nodes=nodes + 50 * (seed - runs // 2),
        )
        for own, config in enumerate(configs)
        for seed in range(runs)
    ]
    return Comparison("clustering", ("F1",), tuple(trials), truth=("a", "b"))


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Return what the verdict is when configurations are above the query alone, and peers below the best, as given."""

    def say(
        above: Mapping[Configuration, tuple[float, float, float, bool]],
        default: Configuration | None = None,
        **extra: int,
    ) -> Verdict:
        def known(
            compared: Comparison, pairs: Sequence[tuple[Configuration, Configuration]], *rest: object, **more: object
        ) -> list[Difference]:
            runs = len(compared.seeds)
            found = []
            for pair in pairs:
                told = above.get(pair[0] if pair[1] == NONE else pair[1])
                if told is not None:
                    p = math.nan if runs == 1 else 0.01 if told[3] else 0.6
                    found.append(Difference(*pair, ALL, "F1", *told[:3], p, p, 1.0, runs, p))
            return found

        monkeypatch.setattr(module, "differences", known)
        settings = {"default": default.name} if default else {}
        return judge_comparison(replace(comparison([NONE, *above], **extra), settings=settings))

    return say


def test_what_helps_is_said_first_with_its_gain_and_size(says: Says) -> None:
    found = says({GREEDY: (0.041, 0.02, 0.06, True), PAGERANK: (0.05, -0.01, 0.1, False)})
    assert found.sentence == (
        "greedy · linked · objects helps: F1 +0.041 [0.020, 0.060] over the query alone, at 281 nodes"
    )
    assert found.best == GREEDY
    assert found.helps
    assert [each.one for each in found.differences] == [PAGERANK, GREEDY]


def test_configurations_of_the_same_size_are_compared_with_the_best(says: Says) -> None:
    best = (0.041, 0.02, 0.06, True)
    start = "greedy · linked · objects helps: F1 +0.041 [0.020, 0.060] over the query alone, at 281 nodes"
    pagerank, hops = BASELINES

    def end(peers: Mapping[Configuration, tuple[float, float, float, bool]]) -> str:
        found = says({GREEDY: best, **peers})
        assert [each.other for each in found.baseline_differences] == sorted(peers, key=lambda peer: peer.name)
        assert found.sentence.startswith(start)
        return found.sentence.removeprefix(start)

    level, lower, higher = (0.01, -0.01, 0.02, False), (0.03, 0.01, 0.05, True), (-0.03, -0.05, -0.01, True)
    unsure = "at the same size: no significant difference, −0.010 [−0.020, 0.010]"
    assert end({pagerank: level}) == f"; pagerank {unsure}"
    assert end({pagerank: level, hops: level}) == f"; hops {unsure}; pagerank {unsure}"
    above = (-0.01, -0.03, 0.01, False)
    assert end({hops: above}) == "; hops at the same size: no significant difference, +0.010 [−0.010, 0.030]"
    assert end({pagerank: lower}) == "; pagerank at the same size: 0.030 lower [0.010, 0.050]"
    assert end({pagerank: higher, hops: level}) == (
        f"; hops {unsure}; pagerank at the same size: 0.030 higher [0.010, 0.050]"
    )


def test_a_method_without_cells_that_helps_reads_as_its_name(says: Says) -> None:
    found = says({PAGERANK: (0.1, 0.05, 0.15, True), GREEDY: (0.041, 0.02, 0.06, True)}, nodes=1281)
    assert found.best == PAGERANK
    assert found.sentence == "pagerank helps: F1 +0.100 [0.050, 0.150] over the query alone, at 1,281 nodes"


def test_the_number_of_cells_is_told_where_configurations_differ_in_it(says: Says) -> None:
    found = says({FORTY: (0.05, 0.02, 0.06, True), GREEDY: (0.041, 0.02, 0.06, True), CELLS: (0.0, -0.1, 0.1, False)})
    assert found.sentence.startswith("greedy · linked · objects · n_cells 40 helps: F1 +0.050")


def test_what_is_surely_not_zero_does_not_read_as_zero(says: Says) -> None:
    found = says({PAGERANK: (0.00061, 0.0002, 0.001, True)})
    assert found.sentence.startswith("pagerank helps: F1 +0.0006 [0.0002, 0.0010] over")


def test_adding_nothing_can_be_best(says: Says) -> None:
    worse = {PAGERANK: (-0.05, -0.07, -0.03, True), HOPS: (-0.2, -0.5, 0.01, False), GREEDY: (-0.1, -0.3, -0.01, True)}
    found = says(worse)
    assert found.sentence == (
        "adding nothing is best here: F1 0.620; the best of 3 other configurations, pagerank, is 0.050 "
        "lower [0.030, 0.070]"
    )
    assert found.best == NONE
    assert not found.helps
    assert found.baseline_differences == ()
    assert says({PAGERANK: worse[PAGERANK]}).sentence == (
        "adding nothing is best here: F1 0.620; the only other network, pagerank, is 0.050 lower [0.030, 0.070]"
    )


def test_it_is_said_when_every_addition_hurts(says: Says) -> None:
    found = says({PAGERANK: (-0.05, -0.07, -0.03, True), GREEDY: (-0.1, -0.3, -0.01, True)})
    assert found.sentence == (
        "adding nothing is best here: F1 0.620; all 2 other configurations hurt, pagerank least: 0.050 "
        "lower [0.030, 0.070]"
    )
    third = says({PAGERANK: (-0.05, -0.07, -0.03, True), **dict.fromkeys([GREEDY, HOPS], (-0.1, -0.3, -0.01, True))})
    assert "; all 3 other configurations hurt, pagerank least: " in third.sentence


def test_a_higher_mean_that_may_be_chance_is_not_said_to_help(says: Says) -> None:
    found = says({GREEDY: (0.012, -0.004, 0.03, False), HOPS: (-0.1, -0.3, -0.01, True)})
    assert found.sentence == (
        "no network tested is significantly better than the query alone, F1 0.620 (95 % confidence): the "
        "best of 2 configurations, "
        "greedy · linked · objects, has +0.012 [−0.004, 0.030] over it, at 281 nodes"
    )
    assert found.best == GREEDY
    assert not found.helps


def test_a_lower_mean_that_may_be_chance_is_not_said_to_hurt(says: Says) -> None:
    found = says({GREEDY: (-0.0002, -0.01, 0.0001, False), HOPS: (-0.1, -0.3, -0.01, True)})
    assert found.sentence == (
        "no network tested is better than the query alone, F1 0.620: the best of 2 configurations, greedy "
        "· linked · objects, "
        "has no significant difference, +0.000 [−0.010, 0.000]"
    )
    assert found.best == NONE


def test_one_run_cannot_tell(says: Says) -> None:
    found = says({GREEDY: (0.3, math.nan, math.nan, False), HOPS: (0.1, math.nan, math.nan, False)}, runs=1)
    assert found.sentence == (
        "one run cannot tell whether adding helps: the best of 2 configurations, greedy · linked · "
        "objects, has F1 0.620, "
        "the query alone F1 0.620 (compare 2 runs or more)"
    )
    assert (found.best, found.helps) == (GREEDY, False)


def test_the_query_alone_with_nothing_beside_it_is_said_to_be_alone() -> None:
    alone = comparison([NONE])
    assert judge_comparison(alone).sentence == "there is nothing to compare the query alone with: F1 0.620"
    failed = Trial(GREEDY, "line", 0, reason="took too long")
    found = judge_comparison(replace(alone, trials=(*alone.trials, failed)))
    assert found.sentence == "there is nothing to compare the query alone with: F1 0.620 (1 tried and failed)"
    assert (found.best, found.helps, found.differences) == (NONE, False, ())


def test_without_the_query_alone_there_is_no_verdict() -> None:
    with pytest.raises(
        InputError, match="needs the query alone, which the comparison does not have: compare 'none' too"
    ):
        judge_comparison(comparison([GREEDY]))
    failed = [Trial(NONE, "line", seed, reason="the query has no links") for seed in range(2)]
    with pytest.raises(InputError, match="no run with scores of line: the query has no links$"):
        judge_comparison(Comparison("clustering", ("F1",), (*comparison([GREEDY]).trials, *failed), truth=("a", "b")))
    nobody = Trial(NONE, "als", 0, {"AUC": math.nan}, np.array([[math.nan]]))
    with pytest.raises(InputError, match="with scores of als: trials or their AUC are missing"):
        judge_comparison(Comparison("links", ("AUC",), (nobody,)))


def planted(
    shares: Mapping[Configuration, float],
    *,
    runs: int = 6,
    count: int = 90,
    nodes: Mapping[Configuration, int] | None = None,
) -> Comparison:
    """Return trials whose clusters are right for a share of the objects that differs by configuration."""
    rng = np.random.default_rng(0)
    own = np.arange(count) % 3
    trials = []
    for config, share in shares.items():
        for model in ("line", "deepwalk"):
            for seed in range(runs):
                found = np.where(rng.random(count) < share, own, rng.integers(0, 3, count))
                table = np.bincount(found * 3 + own, minlength=9).reshape(3, 3).astype(float)
                trials.append(
                    Trial(
                        config,
                        model,
                        seed,
                        {"F1": float(compute_f1(table))},
                        found,
                        (nodes or {}).get(config, count),
                    )
                )
    return Comparison("clustering", ("F1",), tuple(trials), truth=tuple("abc"[label] for label in own))


def test_a_planted_gain_is_found_beside_peers_as_they_were_planted() -> None:
    pagerank, hops = BASELINES
    shares = {NONE: 0.5, HOPS: 0.5, GREEDY: 0.8, FORTY: 0.65, pagerank: 0.78, hops: 0.3}
    compared = planted(shares)
    found = judge_comparison(compared)
    gain = differences(compared, [(config, NONE) for config in shares if config != NONE])[1]
    assert gain.one == found.best == GREEDY
    assert found.helps
    assert [each.one for each in found.differences] == [GREEDY, pagerank, FORTY, HOPS, hops]
    numbers = f"{gain.mean:+.3f} [{gain.low:.3f}, {gain.high:.3f}]"
    assert re.fullmatch(
        rf"greedy · linked · objects · n_cells 20 helps: F1 {re.escape(numbers)} over the query alone, at 90 nodes; "
        r"hops at the same size: 0\.\d{3} lower \[0\.\d{3}, 0\.\d{3}\]; "
        r"pagerank at the same size: no significant difference, −0\.\d{3} \[−0\.\d{3}, 0\.\d{3}\]",
        found.sentence,
    )


def test_a_planted_loss_is_found() -> None:
    found = judge_comparison(planted({NONE: 0.9, HOPS: 0.5, GREEDY: 0.3}))
    assert re.match(
        r"adding nothing is best here: F1 0\.9\d\d; all 2 other configurations hurt, hops least: 0\.\d{3} lower",
        found.sentence,
    )
    assert found.best == NONE


def test_the_order_of_trials_changes_no_verdict() -> None:
    compared = planted({NONE: 0.5, HOPS: 0.5, GREEDY: 0.8, BASELINES[0]: 0.8, BASELINES[1]: 0.8}, runs=3, count=30)
    trials = list(compared.trials)
    Random(1).shuffle(trials)
    assert judge_comparison(replace(compared, trials=tuple(trials))) == judge_comparison(compared)


def test_a_configuration_that_failed_for_one_model_is_not_judged_and_the_sentence_says_so() -> None:
    # deepwalk finds more than line everywhere, so a configuration without line's trials has a higher mean and no gain
    shares = planted({NONE: 0.5, HOPS: 0.5})
    better = [
        replace(trial, evidence=np.arange(90) % 3, scores={"F1": 1.0}) if trial.model == "deepwalk" else trial
        for trial in shares.trials
        if (trial.configuration, trial.model) != (HOPS, "line")
    ]
    found = judge_comparison(replace(shares, trials=tuple(better)))
    assert (found.best, found.helps, found.differences) == (NONE, False, ())
    assert re.fullmatch(
        r"there is nothing to compare the query alone with: F1 0\.\d{3}; "
        "1 configuration could not be compared: no run has scores by every model",
        found.sentence,
    )


def test_a_peer_that_failed_is_said_to_have() -> None:
    compared = planted({NONE: 0.3, GREEDY: 0.9})
    failed = Trial(BASELINES[0], "line", 0, reason="took too long")
    found = judge_comparison(replace(compared, trials=(*compared.trials, failed)))
    assert found.sentence.endswith("over the query alone, at 90 nodes; pagerank at the same size failed")


def test_a_peer_that_a_model_is_lacking_is_said_not_to_be_compared() -> None:
    compared = planted({NONE: 0.3, GREEDY: 0.9, BASELINES[0]: 0.5})
    kept = [trial for trial in compared.trials if (trial.configuration, trial.model) != (BASELINES[0], "line")]
    found = judge_comparison(replace(compared, trials=tuple(kept)))
    assert found.sentence.endswith(
        "at 90 nodes; pagerank at the same size could not be compared; "
        "1 configuration could not be compared: no run has scores by every model"
    )


def test_a_network_made_as_large_as_another_can_be_the_best() -> None:
    pagerank = BASELINES[0]
    compared = planted({NONE: 0.6, GREEDY: 0.5, pagerank: 0.9}, nodes={pagerank: 281, GREEDY: 300})
    found = judge_comparison(compared)
    (gain, _) = differences(compared, [(pagerank, NONE), (GREEDY, NONE)])
    assert (found.best, found.helps, found.baseline_differences) == (pagerank, True, ())
    assert [each.one for each in found.differences] == [pagerank, GREEDY]
    assert found.sentence == (
        f"pagerank at 281 nodes helps: F1 {gain.mean:+.3f} [{gain.low:.3f}, {gain.high:.3f}] over the query alone"
    )


def test_a_peer_that_is_a_little_better_is_called_by_its_size(says: Says) -> None:
    found = says({GREEDY: (-0.1, -0.3, -0.01, True), BASELINES[1]: (0.012, -0.004, 0.03, False)})
    assert found.sentence == (
        "no network tested is significantly better than the query alone, F1 0.620 (95 % confidence): the "
        "best of 2 configurations, hops at 281 nodes, has "
        "+0.012 [−0.004, 0.030] over it"
    )


def test_a_peer_of_another_size_is_not_said_to_be_of_the_same() -> None:
    pagerank, hops = BASELINES
    sizes = {GREEDY: 1400, pagerank: 1340, hops: 1310}
    found = judge_comparison(planted({NONE: 0.3, GREEDY: 0.9, pagerank: 0.5, hops: 0.5}, nodes=sizes))
    assert "at 1,400 nodes; hops at its 1,310 nodes: 0." in found.sentence
    assert "; pagerank at the same size: 0." in found.sentence


def test_networks_that_are_the_same_in_every_trial_are_tried_once() -> None:
    compared = planted({NONE: 0.5, HOPS: 0.5, GREEDY: 0.8})
    again = [
        replace(trial, configuration=Configuration(method="hops", like=f"greedy · {number}"))
        for number in range(40)
        for trial in compared.trials
        if trial.configuration == HOPS
    ]
    found = judge_comparison(replace(compared, trials=(*again, *compared.trials)))
    assert found.differences == judge_comparison(compared).differences
    assert [each.one for each in found.differences] == [GREEDY, HOPS]
    other = replace(again[0], nodes=91)
    assert len(judge_comparison(replace(compared, trials=(other, *again[1:], *compared.trials))).differences) == 3


def test_the_ways_that_are_counted_are_those_that_the_tables_show() -> None:
    compared = planted({NONE: 0.6, HOPS: 0.5, GREEDY: 0.6})
    exact = [replace(trial, configuration=EXACT) for trial in compared.trials if trial.configuration == GREEDY]
    both = replace(compared, trials=(*compared.trials, *exact))
    found = judge_comparison(both)
    assert "the best of 3 configurations (2 different networks), greedy · linked · objects, " in found.sentence
    assert len([config for config in both.configurations if config != NONE]) == 3 and len(found.differences) == 2
    alike = replace(compared, trials=tuple(trial for trial in both.trials if trial.configuration != HOPS))
    assert "the one network of 2 configurations, greedy · linked · objects, " in judge_comparison(alike).sentence
    worse = planted({NONE: 0.9, HOPS: 0.3, GREEDY: 0.4})
    again = [replace(trial, configuration=EXACT) for trial in worse.trials if trial.configuration == GREEDY]
    hurt = judge_comparison(replace(worse, trials=(*worse.trials, *again)))
    assert "; all 3 other configurations (2 different networks) hurt, greedy" in hurt.sentence


def test_holm_counts_the_networks_made_as_large_too() -> None:
    shares = {NONE: 0.5, GREEDY: 0.8, BASELINES[0]: 0.5, BASELINES[1]: 0.5}
    compared = planted(shares, runs=3)
    by_name = {each.one: each.t_test for each in judge_comparison(compared).differences}
    (single,) = differences(compared, [(GREEDY, NONE)])
    assert by_name[GREEDY] == pytest.approx(3 * single.t_test)


def hidden(scores: Mapping[tuple[Configuration, str], float], *, runs: int = 3, users: int = 200) -> Comparison:
    """Return trials of recommenders in which every user is around a score."""
    rng = np.random.default_rng(3)
    trials = []
    for (config, model), score in scores.items():
        spread = rng.normal(0, 0.01, users)
        own = score + (spread - spread.mean())[:, None]
        trials += [Trial(config, model, seed, {"P@5": score}, own, nodes=281) for seed in range(runs)]
    return Comparison("links", ("P@5",), tuple(trials))


FLOORED = {(NONE, "popularity"): 0.051, (PAGERANK, "popularity"): 0.2, (NONE, "als"): 0.03, (NONE, "ease"): 0.05}


def test_for_links_the_floor_does_not_decide_and_ends_the_sentence() -> None:
    found = judge_comparison(hidden({**FLOORED, (PAGERANK, "als"): 0.05, (PAGERANK, "ease"): 0.07}))
    assert found.helps
    assert found.differences[0].mean == pytest.approx(0.02)
    assert re.fullmatch(
        r"pagerank helps: P@5 \+0\.020 \[0\.0\d\d, 0\.0\d\d\] over the query alone, at 281 nodes; "
        r"popularity on the query alone: P@5 0\.051",
        found.sentence,
    )


def test_a_winner_that_is_not_above_the_floor_is_said_not_to_be() -> None:
    found = judge_comparison(hidden({**FLOORED, (PAGERANK, "als"): 0.04, (PAGERANK, "ease"): 0.06}))
    assert found.helps
    assert found.sentence.endswith(
        " at 281 nodes; the best score is not above popularity on the query alone: P@5 0.051"
    )
    peer = Configuration(method="hops", like="pagerank")
    beside = {(peer, "als"): 0.03, (peer, "ease"): 0.05}
    both = judge_comparison(hidden({**FLOORED, (PAGERANK, "als"): 0.04, (PAGERANK, "ease"): 0.06, **beside})).sentence
    assert (
        "; the best score is not above popularity on the query alone: P@5 0.051; hops at the same size: 0.010 lower"
        in both
    )


def test_the_query_alone_is_held_against_the_floor_too() -> None:
    worse = {(PAGERANK, "als"): 0.01, (PAGERANK, "ease"): 0.03}
    found = judge_comparison(hidden({**FLOORED, **worse}))
    assert re.fullmatch(
        r"adding nothing is best here: P@5 0\.040; the only other network, pagerank, is 0\.020 lower \[.*\]; "
        r"the best score is not above popularity on the query alone: P@5 0\.051",
        found.sentence,
    )
    above = judge_comparison(hidden({**FLOORED, **worse, (NONE, "popularity"): 0.01}))
    assert above.sentence.endswith("]; popularity on the query alone: P@5 0.010")
    once = judge_comparison(hidden({**FLOORED, (PAGERANK, "als"): 0.04, (PAGERANK, "ease"): 0.06}, runs=1))
    assert once.sentence.endswith(
        "(compare 2 runs or more); the best score is not above popularity on the query alone: P@5 0.051"
    )


def test_the_floor_alone_decides_where_there_is_nothing_above_it() -> None:
    only = {pair: score for pair, score in FLOORED.items() if pair[1] == "popularity"}
    found = judge_comparison(hidden(only))
    assert found.helps
    assert found.sentence.endswith("over the query alone, at 281 nodes")


def test_trials_that_all_failed_are_one_sentence() -> None:
    failed = [Trial(config, "line", 0, reason=f"{config.method} has no links") for config in (NONE, HOPS)]
    with pytest.raises(
        InputError, match="^all 2 trials failed, so there is nothing to compare: none has no links; hops"
    ):
        judge_comparison(Comparison("clustering", ("F1",), tuple(failed), truth=("a", "b")))


def test_a_query_alone_that_a_model_is_lacking_is_refused_with_the_reason() -> None:
    compared = planted({NONE: 0.5, HOPS: 0.5})
    kept = [trial for trial in compared.trials if (trial.configuration, trial.model) != (NONE, "line")]
    with pytest.raises(InputError, match="'none' has no run with scores of deepwalk, line: trials or their F1"):
        judge_comparison(replace(compared, trials=tuple(kept)))
    failed = Trial(NONE, "line", 0, reason="took too long")
    with pytest.raises(InputError, match="'none' has no run with scores of deepwalk, line: took too long$"):
        judge_comparison(replace(compared, trials=(*kept, failed)))


# The default


def test_the_default_is_compared_with_the_query_alone_where_another_is_best(says: Says) -> None:
    best, start = (
        (0.05, 0.03, 0.07, True),
        "pagerank helps: F1 +0.050 [0.030, 0.070] over the query alone, at 281 nodes",
    )

    def end(*told: object) -> str:
        found = says({PAGERANK: best, GREEDY: told}, default=GREEDY)
        assert found.sentence.startswith(start) and (found.best, found.shown) == (PAGERANK, PAGERANK)
        return found.sentence.removeprefix(start)

    who = "; the default, greedy · linked · objects"
    assert end(0.03, 0.01, 0.05, True) == f"{who}: 0.030 higher [0.010, 0.050] than the query alone"
    assert end(-0.03, -0.05, -0.01, True) == f"{who}: 0.030 lower [0.010, 0.050] than the query alone"
    assert (
        end(0.01, -0.01, 0.03, False) == f"{who}: no significant difference to the query alone, +0.010 [−0.010, 0.030]"
    )


def test_a_default_that_the_sentence_speaks_of_anyway_is_not_named_twice(says: Says) -> None:
    for told in ((0.05, 0.03, 0.07, True), (0.05, -0.03, 0.07, False), (-0.05, -0.07, -0.03, True)):
        found = says({GREEDY: told, HOPS: (-0.1, -0.2, 0.1, False)}, default=GREEDY)
        assert "the default" not in found.sentence and found.sentence.count("greedy") == 1
        assert found.shown == GREEDY
    assert "the default" not in says({GREEDY: (0.05, 0.03, 0.07, True)}, default=HOPS).sentence


def test_a_default_of_one_run_has_a_score_and_one_that_failed_is_said_to_have() -> None:
    once = replace(planted({NONE: 0.3, HOPS: 0.9, GREEDY: 0.8}, runs=1), settings={"default": GREEDY.name})
    assert re.search(r"; the default, greedy · linked · objects, has F1 0\.\d{3}$", judge_comparison(once).sentence)
    compared = planted({NONE: 0.3, HOPS: 0.9})
    failed = Trial(GREEDY, "line", 0, reason="took too long")
    found = judge_comparison(replace(compared, trials=(*compared.trials, failed), settings={"default": GREEDY.name}))
    assert found.sentence.endswith(" over the query alone, at 90 nodes; the default, greedy · linked · objects, failed")


def test_of_networks_that_are_the_same_the_default_is_the_one_that_is_named() -> None:
    compared = planted({NONE: 0.3, GREEDY: 0.9})
    exact = [replace(trial, configuration=EXACT) for trial in compared.trials if trial.configuration == GREEDY]
    found = judge_comparison(replace(compared, trials=(*compared.trials, *exact), settings={"default": EXACT.name}))
    assert found.best == EXACT and "greedy" not in found.sentence and "the default" not in found.sentence


def test_what_is_shown_is_what_helps_or_else_the_default_and_never_random_cells(says: Says) -> None:
    unsure, worse = (0.05, -0.03, 0.07, False), (-0.1, -0.2, -0.01, True)
    assert says({RANDOM: (0.05, 0.03, 0.07, True), GREEDY: worse}, default=GREEDY).shown == RANDOM, "which helps"
    assert says({RANDOM: unsure, GREEDY: worse, HOPS: unsure}, default=GREEDY).shown == GREEDY
    assert says({RANDOM: unsure, GREEDY: worse, HOPS: unsure}).shown == HOPS
    assert says({RANDOM: unsure, BASELINES[0]: unsure, GREEDY: worse}).shown == GREEDY
    assert says({RANDOM: unsure, BASELINES[0]: unsure}).shown == BASELINES[0]
    assert says({RANDOM: unsure}).shown is None
    assert says({RANDOM: unsure, GREEDY: worse}, default=NONE).shown == GREEDY


# Hidden links of the query


def test_hidden_links_of_the_query_say_what_their_score_is_of() -> None:
    found = judge_comparison(found_again())
    assert found.outcome == "helps"
    assert found.helps and found.differences[0].mean == pytest.approx(0.2)
    assert re.fullmatch(
        r"greedy · linked · cells helps: AUC \+0\.200 \[0\.\d{3}, 0\.\d{3}\] over the query alone, at 60 nodes; "
        r"pagerank at its 40 nodes: 0\.100 lower \[.*\]; "
        r"AUC for 412 hidden links of the query, different ones in each run",
        found.sentence,
    )
    assert judge_comparison(found_again(pairs=None)).sentence.endswith(
        "; AUC for hidden links of the query, different ones in each run"
    )


@pytest.mark.parametrize("pairs", [0, 1, 24, 29, 30])
def test_fewer_than_thirty_hidden_links_are_too_few_to_tell(pairs: int) -> None:
    default = "pagerank, as large as greedy · linked · cells · n_cells 20"
    found = judge_comparison(found_again(pairs=pairs, default=default))
    assert found.outcome == ("helps" if pairs >= 30 else "few")
    few = "1 hidden link is" if pairs == 1 else f"{pairs} hidden links are"
    told = (
        f"{few} too few to tell whether adding helps (at least 30 are needed): the best of 2 "
        f"configurations, greedy · linked · cells, "
        "has AUC 0.800, the query alone AUC 0.600; the default, pagerank at 40 nodes, has AUC 0.700"
    )
    assert (found.sentence == told) == (pairs < 30) == (not found.helps)
    for each in (*found.differences, *found.baseline_differences):
        assert each.is_significant == (pairs >= 30) and math.isnan(each.low) == math.isnan(each.p_value) == (pairs < 30)


def test_hidden_links_are_judged_like_links_with_every_model_and_no_floor() -> None:
    scores = {NONE: 0.6, GREEDY: 0.8}
    compared = found_again(scores)
    renamed = [replace(t, model="popularity") if t.model == "line" else t for t in compared.trials]
    found = replace(compared, trials=tuple(renamed))
    assert found.deciding == ("deepwalk", "popularity") and "popularity" not in judge_comparison(found).sentence
    wide, narrow = (differences(found_again(scores, objects=count), [(GREEDY, NONE)])[0] for count in (60, 600))
    assert wide.high - wide.low >= narrow.high - narrow.low
