"""Run the trials of a comparison and record them in a journal, so that none is repeated.

The journal is a file with one trial per line and a checksum, so that an interrupted comparison can be resumed.
"""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.files import explain_disk_errors, write_files
from cube2net._util.progress import Progress, Stage, Stop, check_stop, silent
from cube2net.errors import Cube2netError, InputError, check_int, join_names
from cube2net.evaluation.configurations import DEFAULT
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query
from cube2net.model.recipe import query_fingerprint

FORMAT = 4
"""Increased when a default changes or an option gets another meaning, so that old and new trials are not mixed."""

MAX_LINE_BYTES = 2**28
"""Ten times the length of a trial of a million objects."""

DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""Exceptions raised by damaged lines."""

SHUTDOWN_SECONDS = 0.5
"""Time for running models to finish when a comparison is interrupted."""

SHARED_SETTINGS = ("methods", "models")
"""Settings of a comparison that are in the header of its journal."""

Key = tuple[str, str, int]
MineResult = tuple[Mapping[str, float], Array, float]
Make = Callable[[Configuration, int, int | None], Network]
Mine = Callable[[Network, str, int], MineResult]


@dataclass(frozen=True, eq=False)
class Journal:
    """Finished trials by configuration, model and seed; with a path, new ones are appended at once.

    The first line of the file, the header, describes the comparison. A file with another header is refused; parameters
    of methods and models must agree only if their names are equal. An incomplete last line is dropped.
    """

    path: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    trials: dict[Key, Trial] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path | None, about: Mapping[str, Any]) -> Journal:
        """Return the journal of a comparison, with the trials in the file."""
        header = json.loads(json.dumps({"format": FORMAT, **about}, allow_nan=False))
        if path is None:
            return cls(None, header)
        _create_folder(path)
        lines, torn = _read_lines(path) if path.exists() else ([], b"")
        if not lines and not torn:
            _rewrite(path, header, [])
            return cls(path, header)
        stored = _read_header(path, lines)
        differs = _find_differences(stored, header)
        if differs:
            raise InputError(
                f"{str(path)!r} holds the trials of another comparison (it differs in {join_names(differs)}): "
                "choose another folder, or remove it"
            )
        trials = _read_trials(path, lines[1:])
        merged = {name: _merge(stored.get(name), header.get(name)) for name in {**stored, **header}}
        if torn or merged != stored:
            _rewrite(path, merged, lines[1:])
        return cls(path, merged, trials)

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Return the contents of a file, for any comparison; the file is not changed, not even by further trials."""
        lines, _ = _read_lines(path)
        stored = _read_header(path, lines)
        if stored["format"] != FORMAT:
            raise InputError(
                f"{str(path)!r} is a journal of format {stored['format']!r}, expected {FORMAT}: "
                "it was written by another version"
            )
        return cls(None, stored, _read_trials(path, lines[1:]))

    def add(self, trial: Trial) -> None:
        """Append a trial."""
        if self.path is not None:
            line = _to_line(trial) + b"\n"
            with explain_disk_errors(self.path), self.path.open("ab") as file:
                file.write(line)
        self.trials[trial.key] = trial


def _create_folder(path: Path) -> None:
    for folder in path.parents:
        if folder.is_file():
            raise InputError(f"cannot write {str(path)!r}: {str(folder)!r} is a file, not a folder")
    with explain_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)


def _rewrite(path: Path, header: Mapping[str, Any], lines: Sequence[bytes]) -> None:
    """Replace a file by a header and some lines."""
    content = b"\n".join([json.dumps(header, allow_nan=False).encode(), *lines, b""])

    def write(aside: Path) -> None:
        aside.write_bytes(content)

    write_files({path: write})


def _read_lines(path: Path) -> tuple[list[bytes], bytes]:
    """Return the complete lines of a file, and an incomplete last one."""
    lines: list[bytes] = []
    with explain_disk_errors(path, "read"), path.open("rb") as file:
        while (line := file.readline(MAX_LINE_BYTES + 1)).endswith(b"\n"):
            lines.append(line[:-1])
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{path.name} line {len(lines) + 1:,}: longer than {MAX_LINE_BYTES:,} bytes, which no trial is: "
                "remove it, and it is made again"
            )
    return lines, line


def _read_header(path: Path, lines: Sequence[bytes]) -> dict[str, Any]:
    """Return the header of a journal."""
    try:
        stored = json.loads(lines[0]) if lines else None
    except DAMAGE:
        stored = None
    if not isinstance(stored, dict) or "format" not in stored:
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    return stored


def _read_trials(path: Path, lines: Sequence[bytes]) -> dict[Key, Trial]:
    trials = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = _from_line(line)
            trials[trial.key] = trial
        except DAMAGE:
            raise InputError(f"{path.name} line {number:,}: not a trial: remove it, and it is made again") from None
    return trials


def _find_differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names in which two headers differ; of mappings, only common keys are compared.

    >>> _find_differences({"query": 1, "methods": {"a": 1, "b": 2}}, {"query": 1, "methods": {"a": 3, "c": 4}})
    ["methods 'a'"]
    """
    differing = []
    for name in sorted({*stored, *wanted}):
        one, other = stored.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            differing += [f"{name} {part!r}" for part in sorted(one.keys() & other.keys()) if one[part] != other[part]]
        elif one != other:
            differing.append(name)
    return differing


def _merge(stored: Any, wanted: Any) -> Any:
    return {**stored, **wanted} if isinstance(stored, dict) else stored


def _to_line(trial: Trial) -> bytes:
    """Return a trial as a line without its end: a checksum and JSON."""
    plain = {
        **vars(trial),
        "configuration": asdict(trial.configuration),
        "scores": {name: float(score) for name, score in trial.scores.items()},
        "seconds": {part: float(seconds) for part, seconds in trial.seconds.items()},
        "value": None if trial.value is None else float(trial.value),
        "evidence": trial.evidence.ravel().tolist(),
        "shape": trial.evidence.shape,
        "dtype": "int32" if np.issubdtype(trial.evidence.dtype, np.integer) else "float64",
    }
    text = json.dumps(plain).encode()
    return b"%08x %s" % (zlib.crc32(text), text)


def _from_line(line: bytes) -> Trial:
    """Return the trial of a line; raises one of ``DAMAGE`` if it has none."""
    checksum, _, text = line.partition(b" ")
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError("the checksum of the line is wrong")
    plain = json.loads(text)
    evidence = np.array(plain.pop("evidence"), dtype=plain.pop("dtype")).reshape(plain.pop("shape"))
    return Trial(**{**plain, "configuration": Configuration(**plain["configuration"]), "evidence": evidence})


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
