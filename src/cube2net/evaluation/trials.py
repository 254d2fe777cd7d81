"""Trials of many configurations, made one after the other and noted down, so that none is made twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, Stop, check_stop, silent
from cube2net.errors import Cube2netError, InputError, check_int
from cube2net.evaluation.configurations import DEFAULT
from cube2net.evaluation.journal import Journal
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.recipe import network_fingerprint, query_fingerprint

NEARLY = 0.5
"""So many seconds the models at work have to finish when a comparison is interrupted."""

KEPT = ("methods", "models")
"""What a journal says of a comparison and its settings say too."""

Mined = tuple[Mapping[str, float], Array, float]
Make = Callable[[Configuration, int, int | None], Network]
Mine = Callable[[Network, str, int], Mined]


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes networks and has them mined: ``make(configuration, seed, nodes)`` and ``mine(network, model, seed)``.

    ``make`` is told how many nodes the network should have where the configuration is to be as large as another, and
    else None. ``mine`` returns scores, the evidence for them, and the seconds it took; ``workers`` networks are mined
    at the same time. Equal networks are mined once for a model and a seed. Whatever goes wrong with a configuration
    becomes the reason of its trials.
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
        """Return all trials, in the order of configurations, models and seeds; those in the journal are not made again.

        Seeds are gone through one after the other, so that an interrupted comparison is complete for the first ones; of
        the next one all that was mined is in the journal. A configuration that is as large as another has to come
        behind it.
        """
        total, done = len(configs) * len(models) * len(seeds), 0
        for seed in seeds:
            pool, stop = ThreadPoolExecutor(self.workers), Stop()
            at_work = _Round(self, seed, journal, pool, stop)
            try:
                for config in at_work.run(configs, models):
                    done += len(models)
                    progress(f"comparing: seed {seed}, {config.title}", done, total)
            except BaseException as end:
                pool.shutdown(wait=False, cancel_futures=True)
                wait(at_work.mined.values(), timeout=NEARLY)
                stop.ask()
                if not isinstance(end, Exception):
                    at_work.add_finished()
                raise
            pool.shutdown()
        known = journal.trials
        return tuple(known[config.name, model, seed] for config in configs for model in models for seed in seeds)


@dataclass(frozen=True, eq=False)
class _Round:
    """The trials of one seed: networks are made ahead, and mined by the pool until their turn to be noted comes.

    ``sizes`` are the nodes of the networks of configurations, by name.
    """

    trials: Trials
    seed: int
    journal: Journal
    pool: ThreadPoolExecutor
    stop: Stop
    sizes: dict[str, int] = field(default_factory=dict)
    mined: dict[tuple[bytes, str], Future[Mined]] = field(default_factory=dict)
    ahead: deque[tuple[Configuration, list[tuple[Trial, Future[Mined]]]]] = field(default_factory=deque)

    def run(self, configs: Sequence[Configuration], models: Sequence[str]) -> Iterator[Configuration]:
        """Yield every configuration when its trials are in the journal."""
        for config in configs:
            self.ahead.append((config, self._start(config, models)))
            if len(self.ahead) > 2 * self.trials.workers:
                yield self._finish()
        while self.ahead:
            yield self._finish()

    def add_finished(self) -> None:
        """Note all trials that need not be waited for, but for those that were stopped themselves."""
        for _, waiting in self.ahead:
            for about, work in waiting:
                if about.key not in self.journal.trials and _has_an_answer(work):
                    self.journal.add(_trial(about, work))

    def _start(self, config: Configuration, models: Sequence[str]) -> list[tuple[Trial, Future[Mined]]]:
        """Make the network of a configuration and return its new trials with the work they wait for."""
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
            failed: Future[Mined] = Future()
            failed.set_exception(error)
            return [(Trial(config, model, self.seed, reason="not made"), failed) for model in missing]
        self.sizes.setdefault(config.name, len(network))
        mark, about = network_fingerprint(network), describe_network(config, network, self.seed)
        for model in missing:
            if (mark, model) not in self.mined:
                self.mined[mark, model] = self.pool.submit(self.stop.wrap(self.trials.mine), network, model, self.seed)
        return [(replace(about, model=model), self.mined[mark, model]) for model in missing]

    def _finish(self) -> Configuration:
        """Wait for the trials of the configuration that was begun first, note them, and return it."""
        config, waiting = self.ahead[0]
        for about, work in waiting:
            self.journal.add(_trial(about, work))
        self.ahead.popleft()
        return config


def describe_network(config: Configuration, network: Network, seed: int) -> Trial:
    """Return a trial of a network that is not mined yet: its sizes, its value, and the time it took to make."""
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
    """Return what went wrong in one sentence; a mistake that is not ours to explain is named by its kind."""
    text, kind = " ".join(str(error).split()), type(error).__name__
    return (text or kind) if isinstance(error, Cube2netError) else f"{kind}: {text}".rstrip(": ")


def _trial(about: Trial, work: Future[Mined]) -> Trial:
    """Return what became of a trial: waits for its scores, or says why there are none."""
    try:
        scores, evidence, seconds = work.result()
        return replace(
            about, scores=dict(scores), evidence=evidence, seconds={**about.seconds, "mine": seconds}, reason=""
        )
    except Exception as error:
        check_stop()  # an interrupt that compiled code took for trouble of its own is none of a configuration
        return replace(about, reason=describe_error(error))


def _has_an_answer(work: Future[Mined]) -> bool:
    return work.done() and not work.cancelled() and isinstance(work.exception(), Exception | None)


def read_comparison(path: Path, query: Query) -> Comparison:
    """Return the comparison of all trials that a journal holds, for the query they were made for."""
    journal = Journal.read(path)
    about = journal.about
    if not _is_whole(about):
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    if about["query"] != query_fingerprint(query):
        raise InputError(f"{str(path)!r} holds the trials of another query: give the one that was compared")
    trials = tuple(journal.trials.values())
    measures = next((tuple(trial.scores) for trial in trials if trial.scores), ())
    task: str = about["task"]
    truth = tuple(query.labels or ()) if task == "clustering" else ()
    kept = {name: about[name] for name in KEPT if name in about}
    hidden = {"pairs": sum(about.get("pairs", {}).values())} if task == "hidden" else {}
    settings = {"query": repr(query), "task": task, **kept, **hidden, "default": DEFAULT.name}
    return Comparison(task, measures, trials, truth, settings)


def _is_whole(about: Mapping[str, Any]) -> bool:
    """Return whether the first line of a journal says what a comparison is made of."""
    pairs = about.get("pairs", {})
    return (
        isinstance(about.get("task"), str)
        and isinstance(about.get("query"), str)
        and all(isinstance(about.get(name), dict) for name in KEPT)
        and isinstance(pairs, dict)
        and all(type(count) is int for count in pairs.values())
    )
