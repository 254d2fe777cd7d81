"""A finding holds the numbers, and its sentence is made of nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cube2net.evaluation.statistics import ALL, Difference
from cube2net.evaluation.verdict import Baseline, ConfigurationResult, Verdict, judge_comparison
from cube2net.mining.clustering import METRICS
from cube2net.model.comparison import Comparison, Configuration, Trial

from comparisons import ALONE, EXACT, GREEDY, PEER, clustering, found_again, hidden_links, in_one_cluster

BEST = Configuration(method="greedy", objective="linked", n_cells=20)
HOPS = Configuration(method="hops", like=BEST.name)


def difference(one: Configuration, other: Configuration, mean: float, low: float, high: float) -> Difference:
    return Difference(one, other, ALL, "F1", mean, low, high, 0.5, 0.5, 1.0, 3)


def by_hand() -> Verdict:
    """Return a finding in which greedy is above the query alone by 0.2, and hops below greedy by 0.1."""
    return Verdict(
        "clustering",
        "F1",
        alone=ConfigurationResult(ALONE, 40, 0.5),
        top=ConfigurationResult(BEST, 60, 0.7),
        differences=(difference(BEST, ALONE, 0.2, 0.1, 0.3),),
        counts=(1,),
        baselines=(Baseline(HOPS, 59, True, difference(BEST, HOPS, 0.1, 0.05, 0.15)),),
        shown=BEST,
        runs=3,
    )


def test_the_floor_is_told_where_there_is_one_and_what_is_below_it_too() -> None:
    above, under = (replace(by_hand(), floor=floor, baselines=()).sentence for floor in (0.6, 0.7))
    assert above.endswith(", at 60 nodes; popularity on the query alone: F1 0.600")
    assert under.endswith(", at 60 nodes; the best score is not above popularity on the query alone: F1 0.700")
    assert not by_hand().is_above_floor and "popularity" not in by_hand().sentence


def test_the_numbers_are_those_of_the_trials() -> None:
    comparison = clustering()
    found = judge_comparison(comparison)
    assert (found.task, found.measure, found.runs, found.enough, found.pairs) == ("clustering", "F1", 4, True, None)
    assert (found.alone.configuration, found.top.configuration, found.shown) == (ALONE, GREEDY[1], GREEDY[1])
    assert (found.alone.nodes, found.top.nodes, found.top.score, found.top.has_variants) == (12, 32, 1.0, True)
    assert [each.one for each in found.differences] == [GREEDY[1], GREEDY[0], PEER] and found.counts == (1, 1, 1)
    assert [(peer.configuration, peer.nodes, peer.same_size) for peer in found.baselines] == [(PEER, 32, True)]
    assert found.failed == 1 and found.uncompared == 0 and found.default is None and math.isnan(found.floor)
    differences = tuple(baseline.difference for baseline in found.baselines)
    assert found.baseline_differences == differences


def test_hidden_links_and_the_floor_are_counted() -> None:
    few = judge_comparison(found_again(pairs=24))
    assert (few.task, few.pairs, few.enough, few.helps) == ("hidden", 24, False, False)
    floor = judge_comparison(hidden_links(models={"popularity": 0.05, "ease": 0.2}))
    assert floor.floor == pytest.approx(0.05, abs=0.02) and floor.is_above_floor


def test_configurations_that_make_the_same_network_are_one_difference_that_counts_them() -> None:
    comparison = clustering(wrong={ALONE: 4, GREEDY[1]: 0, GREEDY[0]: 3})
    exact = [replace(trial, configuration=EXACT) for trial in comparison.trials if trial.configuration == GREEDY[1]]
    found = judge_comparison(replace(comparison, trials=(*comparison.trials, *exact)))
    assert [each.one for each in found.differences] == [GREEDY[1], GREEDY[0]] and found.counts == (2, 1)


def test_a_default_as_large_as_another_that_failed_is_said_to_have() -> None:
    comparison = clustering(wrong={ALONE: 4, GREEDY[1]: 0})
    failed = Trial(PEER, "line", 0, reason="took too long")
    found = judge_comparison(replace(comparison, trials=(*comparison.trials, failed), settings={"default": PEER.name}))
    assert f"; the default, {PEER.name}, failed; NMI: " in found.sentence


# NMI, and clusterings that tell nothing apart


def test_nmi_stands_beside_f1_in_values_and_in_the_sentence() -> None:
    found = judge_comparison(clustering())
    assert [way.configuration for way in found.results] == [ALONE, *(each.one for each in found.differences)]
    assert found.top in found.results and found.results[0] == found.alone
    assert found.top.nmi == pytest.approx(1.0) and 0 < found.alone.nmi < found.alone.score
    end = f"; NMI: greedy · linked · cells · n_cells 20 1.000, the query alone {found.alone.nmi:.3f}"
    assert found.sentence.endswith(end)
    assert not any(way.in_one_cluster for way in found.results)


def test_scores_of_links_have_no_nmi() -> None:
    for comparison in (hidden_links(), found_again()):
        found = judge_comparison(comparison)
        assert all(math.isnan(way.nmi) and not way.in_one_cluster for way in found.results)
        assert "NMI" not in found.sentence


def test_a_query_without_links_is_said_to_be_in_one_cluster() -> None:
    found = judge_comparison(in_one_cluster(ALONE))
    assert (found.alone.in_one_cluster, found.alone.has_links, found.alone.largest_cluster) == (True, False, 1.0)
    assert found.alone.nmi == 0 and not found.top.in_one_cluster
    score = f"its F1 of {found.alone.score:.3f} is not informative"
    said = f"the query has no links: every object is in one cluster, so {score}"
    assert f"; {said}; compare by NMI; NMI: " in found.sentence
    assert judge_comparison(in_one_cluster(ALONE)).notes == {found.alone: f"{said}; compare by NMI"}


def test_a_network_with_links_that_is_nearly_one_cluster_is_flagged_by_its_name() -> None:
    comparison = in_one_cluster(PEER, objects=200, elsewhere=3, loose=0)
    found = judge_comparison(comparison)
    flagged = [way for way in found.results if way.in_one_cluster]
    assert [(way.configuration, way.has_links, way.largest_cluster) for way in flagged] == [(PEER, True, 0.985)]
    (note,) = judge_comparison(comparison).notes.values()
    assert note.startswith("pagerank at 32 nodes: nearly every object is in one cluster, so its F1 of 0.")
    assert note not in found.sentence, "the verdict speaks of the query alone and of the best one"


@pytest.mark.parametrize(("elsewhere", "flagged"), [(4, True), (6, False)])
def test_nearly_all_is_all_but_one_in_twenty_of_those_outside_the_largest_label(elsewhere: int, flagged: bool) -> None:
    found = judge_comparison(in_one_cluster(ALONE, objects=200, elsewhere=elsewhere, loose=0))
    assert found.alone.in_one_cluster == flagged


def test_a_right_clustering_of_uneven_labels_is_not_taken_for_one_cluster() -> None:
    truth = ("x",) * 97 + ("y",) * 3
    clusters = np.array([0] * 97 + [1] * 3)
    scores = {name: metric(clusters, truth) for name, metric in METRICS.items()}
    trials = [Trial(ALONE, "line", seed, scores, clusters, nodes=100) for seed in range(2)]
    found = judge_comparison(Comparison("clustering", tuple(METRICS), tuple(trials), truth))
    assert found.alone.largest_cluster == 0.97 and not found.alone.in_one_cluster


def test_objects_without_a_label_count_for_no_cluster() -> None:
    comparison = in_one_cluster(ALONE, objects=200, elsewhere=20, loose=0)
    unlabelled = tuple("" if place < 20 else label for place, label in enumerate(comparison.truth))
    assert not judge_comparison(comparison).alone.in_one_cluster
    assert judge_comparison(replace(comparison, truth=unlabelled)).alone.largest_cluster == 1.0
