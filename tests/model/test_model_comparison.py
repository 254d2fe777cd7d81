from __future__ import annotations

import math

import numpy as np
import pytest

from cube2net.errors import InputError, ParameterError
from cube2net.model.comparison import FLOOR, Comparison, Configuration, Trial

NONE = Configuration(method="none")
GREEDY = Configuration(method="greedy", objective="linked", form="cells", n_cells=20)
PEER = Configuration(method="pagerank", like=GREEDY.name)


def trial(config: Configuration, model: str = "line", seed: int = 0, reason: str = "") -> Trial:
    return Trial(config, model, seed, {} if reason else {"F1": 0.5}, np.array([0, 1]), nodes=2, reason=reason)


def comparison(*trials: Trial) -> Comparison:
    return Comparison("clustering", ("F1",), trials, truth=("a", "b"))


def test_names_tell_configurations_apart_and_titles_leave_the_number_of_cells_out() -> None:
    configs = [
        NONE,
        GREEDY,
        Configuration(method="greedy", objective="linked", form="cells", n_cells=40),
        Configuration(method="greedy", objective="linked", n_cells=20),
        Configuration(method="greedy", objective="jaccard", form="cells", n_cells=20),
        PEER,
        Configuration(method="pagerank", like="none"),
        Configuration(method="pagerank", n_cells=20),
    ]
    assert len({config.name for config in configs}) == len(configs)
    assert GREEDY.title == configs[2].title == "greedy · linked · cells"
    assert PEER.name == "pagerank, as large as greedy · linked · cells · n_cells 20"


def test_configurations_models_and_seeds_come_from_the_trials() -> None:
    found = comparison(trial(GREEDY, "node2vec", 7), trial(GREEDY, "line", 3), trial(NONE, "line", 7), trial(PEER))
    assert found.configurations == (GREEDY, NONE, PEER)
    assert found.models == ("node2vec", "line")
    assert found.seeds == (0, 3, 7)
    assert found.alone == NONE
    assert found.peers(GREEDY) == [PEER]
    assert found.peers(NONE) == []
    assert found.named(PEER.name) == PEER


def test_trials_of_a_configuration_come_by_seed_without_those_that_failed() -> None:
    found = comparison(trial(NONE, seed=4), trial(NONE, seed=1, reason="too small"), trial(NONE, seed=0))
    assert [each.seed for each in found.of(NONE, "line")] == [0, 4]
    assert found.of(GREEDY, "line") == []
    assert found.of(NONE, "deepwalk") == []


def test_the_reasons_of_a_configuration_are_told_once_each() -> None:
    late, small = "took too long", "too small"
    failed = [trial(GREEDY, seed=seed, reason=why) for seed, why in enumerate([late, small, late])]
    found = comparison(*failed, trial(NONE, reason="no query"), trial(NONE, seed=5))
    assert found.reasons(GREEDY) == [late, small]
    assert found.reasons(NONE) == ["no query"]
    assert repr(found) == "Comparison(clustering: 2 configurations × 1 model × 4 seeds, 4 failed)"


def test_a_trial_reads_as_its_scores_or_its_reason() -> None:
    assert repr(trial(NONE, seed=3)) == "Trial(none, line, seed 3: F1 0.5000)"
    assert repr(trial(NONE, reason="too small")) == "Trial(none, line, seed 0: too small)"
    with pytest.raises(ValueError, match="read-only"):
        trial(NONE).evidence[0] = 1


@pytest.mark.parametrize(("scores", "reason"), [({}, ""), ({"F1": 0.5}, "it failed")])
def test_a_trial_has_scores_or_a_reason_and_not_both(scores: dict[str, float], reason: str) -> None:
    with pytest.raises(InputError, match="a trial of 'none' has scores, or a reason why it has none, and not both"):
        Trial(NONE, "line", 0, scores, reason=reason)


def links(*models: str, failed: tuple[str, ...] = ()) -> Comparison:
    trials = [
        Trial(NONE, name, 0, {} if name in failed else {"AUC": 0.5}, reason="x" * (name in failed)) for name in models
    ]
    return Comparison("links", ("AUC",), tuple(trials))


def test_the_models_that_decide_are_all_that_have_scores_and_for_links_the_floor_only_where_it_is_alone() -> None:
    assert comparison(trial(NONE), trial(GREEDY, FLOOR), trial(GREEDY, "node2vec", reason="no")).deciding == (
        "line",
        FLOOR,
    )
    assert links(FLOOR, "ease", "als").deciding == ("ease", "als")
    assert links(FLOOR).deciding == (FLOOR,)
    assert links(FLOOR, "ease", failed=("ease",)).deciding == (FLOOR,)
    assert links("als", failed=("als",)).deciding == ()


def test_the_nodes_of_a_configuration_are_the_mean_over_its_trials_with_scores() -> None:
    sizes = [Trial(PEER, "line", seed, {"F1": 0.5}, nodes=nodes) for seed, nodes in enumerate((10, 13, 13))]
    found = comparison(*sizes, trial(PEER, seed=5, reason="too small"), trial(GREEDY, reason="too small"))
    assert found.nodes(PEER) == 12
    assert math.isnan(found.nodes(GREEDY))


@pytest.mark.parametrize(("nodes", "same"), [(100, True), (95, True), (94, False), (105, True), (106, False)])
def test_a_configuration_made_as_large_is_so_within_one_part_in_twenty(nodes: int, same: bool) -> None:
    sizes = [Trial(config, "line", 0, {"F1": 0.5}, nodes=count) for config, count in ((GREEDY, 100), (PEER, nodes))]
    assert comparison(*sizes).as_large(PEER, GREEDY) is same
    failed = comparison(trial(GREEDY), trial(PEER, reason="too small"))
    assert not failed.as_large(PEER, GREEDY) and not failed.as_large(GREEDY, PEER)


def test_comparisons_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="a comparison needs at least one measure, the one that decides first"):
        Comparison("clustering", (), (trial(NONE),))
    failed = [trial(NONE, seed=seed, reason=why) for seed, why in enumerate("abcada")]
    with pytest.raises(
        InputError, match="all 6 trials failed, so there is nothing to compare: a; b; c; and 1 other reason$"
    ):
        Comparison("clustering", (), tuple(failed))
    with pytest.raises(InputError, match="all 2 trials failed, so there is nothing to compare: a; b$"):
        Comparison("clustering", (), tuple(failed[:2]))
    with pytest.raises(
        ParameterError, match="unknown task 'link': choose one of clustering, hidden, links .did you mean"
    ):
        Comparison("link", ("F1",), (trial(NONE),))
    with pytest.raises(InputError, match="a comparison needs at least one trial"):
        comparison()
    with pytest.raises(InputError, match="one trial for a configuration, a model and a seed, and got several"):
        comparison(trial(NONE), trial(NONE))
    with pytest.raises(ParameterError, match="unknown configuration 'nothing': choose one of none"):
        comparison(trial(NONE)).named("nothing")
    with pytest.raises(ParameterError, match="unknown configuration 'none'"):
        _ = comparison(trial(PEER)).alone
