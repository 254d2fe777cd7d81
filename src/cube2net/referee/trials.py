"""Trials of many setups, made one after the other and noted down, so that none is made twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from cube2net.errors import Cube2netError
from cube2net.interfaces import Progress
from cube2net.records import Network, Setup, Trial
from cube2net.records.ragged import Array
from cube2net.referee.journal import Journal

Scores = Mapping[str, float]
Make = Callable[[Setup, int, int | None], Network]
Mine = Callable[[Network, str, int], tuple[Scores, Array, float]]


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes networks and has them mined: ``make(setup, seed, nodes)`` and ``mine(network, miner, seed)``.

    ``make`` is told how many nodes the network should have where the setup is to be as large as another, and else
    None. ``mine`` returns scores, the evidence for them, and the seconds it took; ``workers`` networks are mined at
    the same time. Equal networks are mined once for a miner and a seed. Whatever goes wrong with a setup becomes the
    reason of its trials.
    """

    make: Make
    mine: Mine
    workers: int = 1

    def run(
        self,
        setups: Sequence[Setup],
        miners: Sequence[str],
        seeds: Sequence[int],
        journal: Journal,
        *,
        progress: Progress | None = None,
    ) -> tuple[Trial, ...]:
        """Return all trials, in the order of setups, miners and seeds; those in the journal are not made again.

        Seeds are gone through one after the other, so that an interrupted comparison is complete for the first ones.
        A setup that is as large as another has to come behind it.
        """
        known = dict(journal.trials)
        total, done = len(setups) * len(miners) * len(seeds), 0
        for seed in seeds:
            mined: dict[tuple[bytes, str], Future[tuple[Scores, Array, float]]] = {}
            with ThreadPoolExecutor(self.workers) as pool:
                try:
                    for setup, waiting in self._begun(setups, miners, seed, known, mined, pool):
                        for trial in waiting():
                            journal.add(trial)
                            known[trial.key] = trial
                        done += len(miners)
                        if progress is not None:
                            progress(f"comparing: seed {seed}, {setup.title}", done, total)
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
        return tuple(known[setup.name, miner, seed] for setup in setups for miner in miners for seed in seeds)

    def _begun(
        self,
        setups: Sequence[Setup],
        miners: Sequence[str],
        seed: int,
        known: Mapping[tuple[str, str, int], Trial],
        mined: dict[tuple[bytes, str], Future[tuple[Scores, Array, float]]],
        pool: ThreadPoolExecutor,
    ) -> Iterator[tuple[Setup, Callable[[], list[Trial]]]]:
        """Yield every setup with a function that waits for its trials; the next networks are mined meanwhile."""
        sizes: dict[str, int] = {}
        ahead: list[tuple[Setup, Callable[[], list[Trial]]]] = []
        for setup in setups:
            missing = [miner for miner in miners if (setup.name, miner, seed) not in known]
            old = [known[setup.name, miner, seed] for miner in miners if miner not in missing]
            if old and not old[0].reason:
                sizes[setup.name] = old[0].nodes
            ahead.append((setup, self._start(setup, missing, seed, sizes, mined, pool)))
            if len(ahead) > 2 * self.workers:
                yield ahead.pop(0)
        yield from ahead

    def _start(
        self,
        setup: Setup,
        miners: Sequence[str],
        seed: int,
        sizes: dict[str, int],
        mined: dict[tuple[bytes, str], Future[tuple[Scores, Array, float]]],
        pool: ThreadPoolExecutor,
    ) -> Callable[[], list[Trial]]:
        """Make a network, have it mined, and return a function that waits for the trials."""
        if not miners:
            return list
        try:
            if setup.like and setup.like not in sizes:
                raise Cube2netError(f"there is no network of {setup.like!r} to be as large as")
            network = self.make(setup, seed, sizes.get(setup.like))
        except Exception as error:
            reason = told(error)
            return lambda: [Trial(setup, miner, seed, reason=reason) for miner in miners]
        sizes.setdefault(setup.name, len(network))
        mark = fingerprint(network)
        for miner in miners:
            if (mark, miner) not in mined:
                mined[mark, miner] = pool.submit(self.mine, network, miner, seed)
        about = described(setup, network, seed)
        return lambda: [_trial(about, miner, mined[mark, miner]) for miner in miners]


def described(setup: Setup, network: Network, seed: int) -> Trial:
    """Return a trial of a network that is not mined yet: its sizes, its value, and the time it took to make."""
    linked = np.zeros(len(network), dtype=bool)
    linked[network.source] = linked[network.target] = True
    return Trial(
        setup,
        miner="",
        seed=seed,
        nodes=len(network),
        links=len(network.source),
        loose=int((~linked[: len(network.query)]).sum()),
        value=float(network.selection.value) if len(network.selection.cells) else None,
        seconds=dict(network.seconds),
        reason="not mined yet",
    )


def fingerprint(network: Network) -> bytes:
    """Return bytes that are the same for networks of the same nodes and links."""
    digest = hashlib.sha256()
    for part in (network.objects, network.cells, network.source, network.target, network.weight):
        digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(b"|")
    return digest.digest()


def told(error: Exception) -> str:
    """Return what went wrong in one sentence; a mistake that is not ours to explain is named by its kind."""
    text = " ".join(str(error).split())
    return text if isinstance(error, Cube2netError) else f"{type(error).__name__}: {text}".rstrip(": ")


def _trial(about: Trial, miner: str, work: Future[tuple[Scores, Array, float]]) -> Trial:
    try:
        scores, evidence, seconds = work.result()
    except Exception as error:
        return replace(about, miner=miner, reason=told(error))
    return replace(
        about,
        miner=miner,
        scores=dict(scores),
        evidence=evidence,
        seconds={**about.seconds, "mine": seconds},
        reason="",
    )
