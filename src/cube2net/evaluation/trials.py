"""Run the trials of a comparison and record them in a journal, so that none is repeated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, Stage, Stop, check_stop, silent
from cube2net.errors import Cube2netError, InputError, check_int
from cube2net.evaluation.configurations import DEFAULT
from cube2net.evaluation.journal import Journal
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query
from cube2net.model.recipe import query_fingerprint

SHUTDOWN_SECONDS = 0.5
"""Time for running models to finish when a comparison is interrupted."""

SHARED_SETTINGS = ("methods", "models")
"""Settings of a comparison that are in the header of its journal."""

MineResult = tuple[Mapping[str, float], Array, float]
Make = Callable[[Configuration, int, int | None], Network]
Mine = Callable[[Network, str, int], MineResult]


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes networks with ``make(configuration, seed, nodes)`` and scores them with ``mine(network, model, seed)``.

    ``nodes`` is the size of a baseline, None for other configurations. ``mine`` returns scores, the evidence for them,
    and the seconds; ``workers`` networks are mined in parallel, and equal networks once for a model and a seed. An
    exception becomes the reason of its trials.
    """

    make: Make
    mine: Mine
    workers: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "workers", check_int("workers", self.workers, 1))

    def run(
        self,
        configs: Sequence[Configuration],
        models: Sequence[str],
        seeds: Sequence[int],
        journal: Journal,
        *,
        progress: Progress = silent,
    ) -> tuple[Trial, ...]:
        """Return all trials, in the order of configurations, models and seeds; those in the journal are not repeated.

        Seeds are processed one after the other, so that an interrupted comparison is complete for the first ones; all
        finished trials of the next one are in the journal. A baseline must come after the configuration whose size it
        has.
        """
        total, done = len(configs) * len(models) * len(seeds), 0
        for seed in seeds:
            pool, stop = ThreadPoolExecutor(self.workers), Stop()
            current = _Round(self, seed, journal, pool, stop)
            try:
                for config in current.run(configs, models):
                    done += len(models)
                    progress(Stage("comparing", f"seed {seed}, {config.title}"), done, total)
            except BaseException as end:
                pool.shutdown(wait=False, cancel_futures=True)
                wait(current.mined.values(), timeout=SHUTDOWN_SECONDS)
                stop.ask()
                if not isinstance(end, Exception):
                    current.add_finished()
                raise
            pool.shutdown()
        trials = journal.trials
        return tuple(trials[config.name, model, seed] for config in configs for model in models for seed in seeds)


@dataclass(frozen=True, eq=False)
class _Round:
    """The trials of one seed: networks are made ahead and mined by the pool; trials are recorded in order.

    ``sizes`` are the numbers of nodes of the networks by the names of their configurations.
    """

    trials: Trials
    seed: int
    journal: Journal
    pool: ThreadPoolExecutor
    stop: Stop
    sizes: dict[str, int] = field(default_factory=dict)
    mined: dict[tuple[bytes, str], Future[MineResult]] = field(default_factory=dict)
    ahead: deque[tuple[Configuration, list[tuple[Trial, Future[MineResult]]]]] = field(default_factory=deque)

    def run(self, configs: Sequence[Configuration], models: Sequence[str]) -> Iterator[Configuration]:
        """Yield every configuration once its trials are in the journal."""
        for config in configs:
            self.ahead.append((config, self._start(config, models)))
            if len(self.ahead) > 2 * self.trials.workers:
                yield self._finish()
        while self.ahead:
            yield self._finish()

    def add_finished(self) -> None:
        """Record all trials that are finished and were not stopped."""
        for _, waiting in self.ahead:
            for about, work in waiting:
                if about.key not in self.journal.trials and _is_finished(work):
                    self.journal.add(_make_trial(about, work))

    def _start(self, config: Configuration, models: Sequence[str]) -> list[tuple[Trial, Future[MineResult]]]:
        """Make the network of a configuration; return its new trials and the results that they wait for."""
        keys = [(config.name, model, self.seed) for model in models]
        sizes = [self.journal.trials[key].nodes for key in keys if key in self.journal.trials]
        if any(sizes):
            self.sizes[config.name] = max(sizes)
        missing = [model for key, model in zip(keys, models, strict=True) if key not in self.journal.trials]
        if not missing:
            return []
        try:
            if config.like and config.like not in self.sizes:
                raise Cube2netError(f"there is no network of {config.like!r} to be as large as")
            network = self.trials.make(config, self.seed, self.sizes.get(config.like))
        except Exception as error:
            failed: Future[MineResult] = Future()
            failed.set_exception(error)
            return [(Trial(config, model, self.seed, reason="not made"), failed) for model in missing]
        self.sizes.setdefault(config.name, len(network))
        fingerprint, about = network_fingerprint(network), describe_network(config, network, self.seed)
        for model in missing:
            if (fingerprint, model) not in self.mined:
                self.mined[fingerprint, model] = self.pool.submit(
                    self.stop.wrap(self.trials.mine), network, model, self.seed
                )
        return [(replace(about, model=model), self.mined[fingerprint, model]) for model in missing]

    def _finish(self) -> Configuration:
        """Wait for the trials of the first configuration, record them, and return it."""
        config, waiting = self.ahead[0]
        for about, work in waiting:
            self.journal.add(_make_trial(about, work))
        self.ahead.popleft()
        return config


def describe_network(config: Configuration, network: Network, seed: int) -> Trial:
    """Return a trial of a network that is not mined yet, with its sizes, value and seconds."""
    linked = np.zeros(len(network), dtype=bool)
    linked[network.source] = linked[network.target] = True
    return Trial(
        config,
        model="",
        seed=seed,
        nodes=len(network),
        links=len(network.source),
        loose=int((~linked[: len(network.query)]).sum()),
        value=float(network.selection.value) if len(network.selection.cells) else None,
        seconds=dict(network.seconds),
        reason="not mined yet",
    )


def describe_error(error: Exception) -> str:
    """Return the message of an exception on one line, with its type unless it is one of ours."""
    text, kind = " ".join(str(error).split()), type(error).__name__
    return (text or kind) if isinstance(error, Cube2netError) else f"{kind}: {text}".rstrip(": ")


def _make_trial(about: Trial, work: Future[MineResult]) -> Trial:
    """Wait for the result of a trial; return the trial with its scores or the reason why it has none."""
    try:
        scores, evidence, mining = work.result()
        seconds = {**about.seconds, "mine": mining}
        return replace(about, scores=dict(scores), evidence=evidence, seconds=seconds, reason="")
    except Exception as error:
        check_stop()  # compiled code may have turned an interrupt into an exception of its own
        return replace(about, reason=describe_error(error))


def _is_finished(work: Future[MineResult]) -> bool:
    return work.done() and not work.cancelled() and isinstance(work.exception(), Exception | None)


def read_comparison(path: Path, query: Query) -> Comparison:
    """Return the comparison whose trials are in a journal, given its query."""
    journal = Journal.read(path)
    about = journal.about
    if not _is_header(about):
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    if about["query"] != query_fingerprint(query):
        raise InputError(f"{str(path)!r} holds the trials of another query: give the one that was compared")
    trials = tuple(journal.trials.values())
    measures = next((tuple(trial.scores) for trial in trials if trial.scores), ())
    task: str = about["task"]
    truth = tuple(query.labels or ()) if task == "clustering" else ()
    shared = {name: about[name] for name in SHARED_SETTINGS if name in about}
    hidden = {"pairs": sum(about.get("pairs", {}).values())} if task == "hidden" else {}
    settings = {"query": repr(query), "task": task, **shared, **hidden, "default": DEFAULT.name}
    return Comparison(task, measures, trials, truth, settings)


def _is_header(about: Mapping[str, Any]) -> bool:
    """Return whether the first line of a journal is that of a comparison."""
    pairs = about.get("pairs", {})
    return (
        isinstance(about.get("task"), str)
        and isinstance(about.get("query"), str)
        and all(isinstance(about.get(name), dict) for name in SHARED_SETTINGS)
        and isinstance(pairs, dict)
        and all(type(count) is int for count in pairs.values())
    )
