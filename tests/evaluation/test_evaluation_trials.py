"""Trials: in what order they are made, what is made once, what happens when something goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cube2net._util.arrays import Array
from cube2net.errors import Cube2netError, InputError, ParameterError
from cube2net.evaluation.trials import Journal, Trials, describe_error, describe_network
from cube2net.model.comparison import Configuration, Trial
from cube2net.model.network import Network, network_fingerprint

from comparisons import ALONE, PEER, network

LABELS = ("x", "x", "y", "y")
GREEDY = Configuration(method="greedy", objective="linked", form="cells", n_cells=20)
OTHER = Configuration(method="anneal", objective="linked", form="cells", n_cells=20)
RANDOM = Configuration(method="random", objective="linked", form="cells", n_cells=20)
CONFIGURATIONS = (ALONE, GREEDY, PEER, OTHER)
MODELS = ("deepwalk", "line")
SEEDS = (1, 2)


class Workshop:
    """Makes and mines small networks: so many nodes beside the query for a method, one more for every seed.

    What is broken raises, for a method when it is made and for a model when it mines. All calls are noted.
    """

    def __init__(
        self,
        nodes: Mapping[str, int] | None = None,
        *,
        broken: Mapping[object, BaseException] | None = None,
    ) -> None:
        self.nodes = nodes or {"none": 0, "greedy": 3, "anneal": 5, "random": 3}
        self.broken = dict(broken or {})
        self.made: list[tuple[str, int, int | None]] = []
        self.mined: list[tuple[int, str, int]] = []

    def make(self, config: Configuration, seed: int, nodes: int | None) -> Network:
        self.made.append((config.name, seed, nodes))
        for what in (config.method, (config.method, seed)):
            if what in self.broken:
                raise self.broken[what]
        others = nodes - len(LABELS) if nodes is not None else self.nodes[config.method] + seed * (config != ALONE)
        start = 2 if config.like else 1  # a peer has other links than the configuration it follows
        return network([(start, 4 + node) for node in range(others)], LABELS, others=others)

    def mine(self, made: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        self.mined.append((len(made), model, seed))
        for what in (model, (model, len(made)), (model, seed)):
            if what in self.broken:
                raise self.broken[what]
        scores = {"F1": len(made) / (seed + len(model)), "NMI": float("nan")}
        return scores, (np.arange(4) % (seed + 1)).astype(np.int32), 0.25

    def run(
        self,
        journal: Journal | None = None,
        configs: Sequence[Configuration] = CONFIGURATIONS,
        seeds: Sequence[int] = SEEDS,
        *,
        models: Sequence[str] = MODELS,
        workers: int = 1,
        **options: Any,
    ) -> tuple[Trial, ...]:
        trials = Trials(self.make, self.mine, workers)
        return trials.run(configs, models, seeds, Journal() if journal is None else journal, **options)


def plain(trials: Sequence[Trial]) -> list[str]:
    """Return all that trials say, as texts: in these a nan equals a nan."""
    return [
        repr((vars(trial), dict(trial.scores), trial.evidence.dtype.kind, trial.evidence.tolist())) for trial in trials
    ]


def keys(trials: Sequence[Trial]) -> list[tuple[str, str, int]]:
    return [trial.key for trial in trials]


def found(trials: Sequence[Trial], config: Configuration) -> list[Trial]:
    return [trial for trial in trials if trial.configuration == config]


# In what order, and how often


def test_trials_come_in_the_order_of_configurations_models_and_seeds() -> None:
    trials = Workshop().run(seeds=(2, 1))
    assert keys(trials) == [
        (config.name, model, seed) for config in CONFIGURATIONS for model in MODELS for seed in (2, 1)
    ]


def test_all_of_one_seed_is_made_and_noted_before_the_next_one_begins() -> None:
    workshop, journal = Workshop(), Journal()
    workshop.run(journal)
    names = [config.name for config in CONFIGURATIONS]
    assert [call[:2] for call in workshop.made] == [(name, seed) for seed in SEEDS for name in names]
    assert list(journal.trials) == [(name, model, seed) for seed in SEEDS for name in names for model in MODELS]
    assert [seed for _, _, seed in workshop.mined] == sorted(seed for _, _, seed in workshop.mined)


def test_a_trial_says_what_the_network_and_the_model_say() -> None:
    trial = found(Workshop().run(seeds=(1,)), GREEDY)[1]
    assert (trial.model, trial.nodes, trial.links, trial.loose) == ("line", 8, 4, 3)
    assert trial.scores["F1"] == 8 / 5 and np.isnan(trial.scores["NMI"])
    assert trial.evidence.tolist() == [0, 1, 0, 1]
    assert trial.seconds == {"mine": 0.25} and trial.reason == "" and trial.value is None


def test_equal_networks_are_mined_once_for_a_model_and_a_seed() -> None:
    workshop = Workshop()
    trials = workshop.run(configs=(GREEDY, RANDOM), seeds=SEEDS)
    assert len(workshop.made) == 4
    assert sorted(workshop.mined) == sorted((7 + seed, model, seed) for model in MODELS for seed in SEEDS)
    assert [trial.scores["F1"] for trial in trials[:4]] == [trial.scores["F1"] for trial in trials[4:]]


@pytest.mark.parametrize(
    "other",
    [
        network([(0, 1), (2, 3)], LABELS),
        network([(0, 2)], LABELS),
        replace(network([(0, 1)], LABELS), weight=np.array([2.0], np.float32)),
        network([(0, 1)], LABELS, others=1),
        network([(0, 1), (0, 4)], LABELS, cells=[("200X", "ACL")]),
    ],
    ids=["a link more", "another end", "another weight", "one object more", "a cell"],
)
def test_networks_that_differ_have_different_fingerprints(other: Network) -> None:
    assert network_fingerprint(network([(0, 1)], LABELS)) == network_fingerprint(network([(0, 1)], LABELS))
    assert network_fingerprint(network([(0, 1)], LABELS)) != network_fingerprint(other)


def test_objects_without_links_are_counted_in_the_query_alone() -> None:
    made = describe_network(ALONE, network([(0, 1), (1, 5)], LABELS, others=4), 0)
    assert (made.nodes, made.links, made.loose) == (8, 2, 2)


def test_a_network_of_cells_has_a_value_and_one_of_objects_none() -> None:
    assert describe_network(GREEDY, network([(0, 4)], LABELS, cells=[("200X", "ACL")]), 0).value == 0.5
    assert describe_network(ALONE, network([(0, 1)], LABELS), 0).value is None


def test_progress_is_told_for_every_configuration_up_to_the_number_of_trials() -> None:
    told_of: list[tuple[str, int, int | None]] = []
    Workshop().run(progress=lambda stage, done, total=None: told_of.append((stage, done, total)))
    assert [done for _, done, _ in told_of] == list(range(2, 17, 2))
    assert {total for _, _, total in told_of} == {16}
    assert told_of[0][0] == "comparing: seed 1, none"


@pytest.mark.parametrize("workers", [2, 5])
def test_the_number_of_workers_changes_nothing(workers: int, tmp_path: Path) -> None:
    broken: dict[object, BaseException] = {"anneal": InputError("no cells"), ("line", 2): ValueError("odd")}
    one, several = (Journal.open(tmp_path / name / "trials.jsonl", {}) for name in ("one", "several"))
    configs = (*CONFIGURATIONS, RANDOM)
    assert plain(Workshop(broken=broken).run(one, configs)) == plain(
        Workshop(broken=broken).run(several, configs, workers=workers)
    )
    assert one.path is not None and several.path is not None
    assert one.path.read_bytes() == several.path.read_bytes()


def test_networks_are_mined_at_the_same_time_with_several_workers() -> None:
    meet = threading.Barrier(2, timeout=20)

    class Meeting(Workshop):
        def mine(self, made: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
            meet.wait()  # passes only where two are mined at once
            return super().mine(made, model, seed)

    assert all(not trial.reason for trial in Meeting().run(workers=2))


def test_workers_are_one_or_more() -> None:
    with pytest.raises(ParameterError) as caught:
        Workshop().run(workers=0)
    assert str(caught.value) == "workers is 0, expected a whole number of 1 or more"


# What goes wrong with one


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Cube2netError("no cell touches\n the query"), "no cell touches the query"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (MemoryError(), "MemoryError"),
        (InputError(), "InputError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_configuration_that_cannot_be_made_says_why_and_the_others_go_on(error: Exception, reason: str) -> None:
    trials = Workshop(broken={"anneal": error}).run()
    assert {trial.reason for trial in found(trials, OTHER)} == {reason} == {describe_error(error)}
    assert {trial.nodes for trial in found(trials, OTHER)} == {0}
    assert not any(trial.reason for trial in trials if trial.configuration != OTHER)
    assert len(trials) == 16


def test_a_network_that_cannot_be_mined_says_why_and_keeps_its_size() -> None:
    trials = Workshop(broken={("line", 8): RuntimeError("no walk")}).run(configs=(ALONE, GREEDY), seeds=(1,))
    assert [trial.reason for trial in trials] == ["", "", "", "RuntimeError: no walk"]
    assert (trials[3].nodes, trials[3].links, trials[3].loose) == (8, 4, 3)
    assert not trials[3].scores


@pytest.mark.parametrize("given", [({}, np.zeros(4, np.int32), 0.1), ({"F1": 1.0}, None, 0.1), None])
def test_a_model_that_gives_no_scores_is_a_reason_too(given: Any) -> None:
    trials = Trials(Workshop().make, lambda *_: given).run((ALONE,), ("odd",), (0,), Journal())
    assert trials[0].reason and not trials[0].scores


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_while_making_goes_through_and_what_was_made_is_written_down(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    workshop = Workshop(broken={("anneal", 2): KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        workshop.run(Journal.open(path, {}), workers=workers)
    kept = Journal.open(path, {}).trials
    assert set(kept) >= {(config.name, model, 1) for config in CONFIGURATIONS for model in MODELS}
    assert {(len_, model) for len_, model, seed in workshop.mined if seed == 2} == {
        (trial.nodes, trial.model) for trial in kept.values() if trial.seed == 2
    }
    assert not any(trial.reason for trial in kept.values())
    again = Workshop()
    assert plain(again.run(Journal.open(path, {}))) == plain(Workshop().run())
    assert {call[:2] for call in again.made} == {
        (config.name, 2) for config in CONFIGURATIONS if any((config.name, model, 2) not in kept for model in MODELS)
    }


def test_networks_that_were_mined_before_an_interrupt_are_not_mined_again(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    mined = threading.Event()

    class Interrupted(Workshop):
        def make(self, config: Configuration, seed: int, nodes: int | None) -> Network:
            if config == GREEDY:
                assert mined.wait(20)
                raise KeyboardInterrupt
            return super().make(config, seed, nodes)

        def mine(self, made: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
            answer = super().mine(made, model, seed)
            mined.set()
            return answer

    with pytest.raises(KeyboardInterrupt):
        Interrupted().run(Journal.open(path, {}), models=("line",))
    assert list(Journal.open(path, {}).trials) == [("none", "line", 1)]


def test_an_interrupt_while_mining_goes_through_and_is_no_trial(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with pytest.raises(KeyboardInterrupt):
        Workshop(broken={("line", 2): KeyboardInterrupt()}).run(Journal.open(path, {}))
    kept = Journal.open(path, {}).trials
    assert {key for key in kept if key[2] == 1} == {
        (config.name, model, 1) for config in CONFIGURATIONS for model in MODELS
    }
    assert not any(trial.reason for trial in kept.values())
    assert plain(Workshop().run(Journal.open(path, {}))) == plain(Workshop().run())


def test_what_was_mined_beside_the_one_that_was_interrupted_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    mined = threading.Event()

    class Interrupted(Workshop):
        def make(self, config: Configuration, seed: int, nodes: int | None) -> Network:
            assert config != PEER or mined.wait(20)
            return super().make(config, seed, nodes)

        def mine(self, made: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
            if len(made) == len(LABELS):
                raise KeyboardInterrupt
            answer = super().mine(made, model, seed)
            mined.set()
            return answer

    with pytest.raises(KeyboardInterrupt):
        Interrupted().run(Journal.open(path, {}), models=("line",))
    kept = Journal.open(path, {}).trials
    assert (GREEDY.name, "line", 1) in kept and ("none", "line", 1) not in kept


def test_trouble_with_the_journal_is_not_taken_for_trouble_with_a_configuration() -> None:
    class Full(Journal):
        def add(self, trial: Trial) -> None:
            raise InputError("cannot write 'trials.jsonl': no space left on device")

    with pytest.raises(InputError, match="no space left"):
        Workshop().run(Full())


# What is in the journal is not made again


def test_a_second_run_makes_nothing_and_returns_the_same(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    broken: dict[object, BaseException] = {"anneal": InputError("no cells"), ("line", 2): ValueError("odd")}
    first = Workshop(broken=broken).run(Journal.open(path, {}))
    written = path.read_bytes()
    again = Workshop()
    assert plain(again.run(Journal.open(path, {}))) == plain(first)
    assert not again.made and not again.mined
    assert path.read_bytes() == written


def test_more_seeds_models_and_configurations_are_added_to_what_is_there() -> None:
    journal = Journal()
    Workshop().run(journal, (ALONE, GREEDY), (1,), models=("line",))
    more = Workshop()
    assert plain(more.run(journal)) == plain(Workshop().run())
    assert ("none", 1, None) in more.made
    assert (4, "line", 1) not in more.mined and (4, "deepwalk", 1) in more.mined


# As large as another


def test_a_configuration_is_as_large_as_the_one_it_follows_seed_by_seed() -> None:
    workshop = Workshop()
    trials = workshop.run()
    assert [call for call in workshop.made if call[0] == PEER.name] == [(PEER.name, 1, 8), (PEER.name, 2, 9)]
    assert [t.nodes for t in found(trials, PEER)] == [t.nodes for t in found(trials, GREEDY)] == [8, 9, 8, 9]
    assert {nodes for name, _, nodes in workshop.made if name != PEER.name} == {None}


def test_the_size_to_follow_may_come_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    Workshop().run(Journal.open(path, {}), (ALONE, GREEDY))
    later = Workshop({"none": 99, "greedy": 99, "anneal": 99})
    later.run(Journal.open(path, {}), (ALONE, GREEDY, PEER))
    assert later.made == [(PEER.name, 1, 8), (PEER.name, 2, 9)]


def test_a_configuration_whose_network_could_not_be_made_cannot_be_followed() -> None:
    for journal in (Journal(), Journal()):
        for _ in range(2):  # the second time the failures come from the journal, and the sentence stays
            trials = Workshop(broken={"greedy": InputError("no cells")}).run(journal)
            assert {trial.reason for trial in found(trials, PEER)} == {
                "there is no network of 'greedy · linked · cells · n_cells 20' to be as large as"
            }


def test_a_network_that_could_not_be_mined_can_be_followed_also_when_it_comes_from_the_journal() -> None:
    journal = Journal()
    broken: dict[object, BaseException] = {("deepwalk", 8): ValueError("odd"), ("deepwalk", 9): ValueError("odd")}
    Workshop(broken=broken).run(journal, (ALONE, GREEDY))
    assert next(trial.reason for trial in journal.trials.values() if trial.configuration == GREEDY) == "ValueError: odd"
    later = Workshop()
    trials = later.run(journal, (ALONE, GREEDY, PEER))
    assert [trial.nodes for trial in found(trials, PEER)] == [8, 9, 8, 9]
    assert [name for name, _, _ in later.made] == [PEER.name] * 2


def test_trouble_that_an_interrupt_made_is_no_reason_of_a_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = threading.Event()
    monkeypatch.setattr("cube2net._util.progress._all_stopped", asked)
    path = tmp_path / "trials.jsonl"

    def mine(made: Network, model: str, seed: int) -> Any:
        asked.set()
        raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt):
        Trials(Workshop().make, mine).run((ALONE,), ("odd",), (0,), Journal.open(path, {}))
    assert Journal.open(path, {}).trials == {}


def test_an_interrupt_does_not_wait_for_a_long_model(tmp_path: Path) -> None:
    from cube2net._util.progress import check_stop

    stopped, begun = threading.Event(), threading.Event()

    class Long(Workshop):
        def make(self, config: Configuration, seed: int, nodes: int | None) -> Network:
            if config == GREEDY:
                assert begun.wait(20)
                raise KeyboardInterrupt
            return super().make(config, seed, nodes)

        def mine(self, made: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
            begun.set()
            try:
                while True:
                    check_stop()
            finally:
                stopped.set()

    with pytest.raises(KeyboardInterrupt):
        Long().run(Journal.open(tmp_path / "trials.jsonl", {}), models=("line",))
    assert stopped.wait(20), "it was asked to stop"
