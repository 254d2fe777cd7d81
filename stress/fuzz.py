"""Every reader on damaged input: what comes back is an answer that holds together, or one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stress.bases import make_bases
from stress.outcome import Outcome
from stress.pool import Job, Limits, Verdict, Worker, ask_all
from stress.targets import LARGE, SMALL

ROUND = 25
"""So many inputs of one target come after each other, where it does not say otherwise."""


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Ask every target in turn, each from its undamaged input on."""
    make_bases(scratch)
    outcome.begin()
    ask_all(outcome, _jobs(outcome), scratch, Limits())
    outcome.notes["inputs an hour"] = round(3600 * outcome.done / (outcome.end().took or 1))
    return outcome


def run_large(outcome: Outcome, scratch: Path) -> Outcome:
    """Ask cubes too large to be looked through at opening, with a few wrong entries."""
    from stress.large import make_large

    outcome.notes["large cube"] = make_large(scratch)
    outcome.begin()
    jobs = ((target, seed) for seed in outcome.numbers() for target in LARGE)
    ask_all(outcome, jobs, scratch, Limits(seconds=60, memory=6 << 30))
    return outcome


def again(part: str, target: str, seed: int, scratch: Path) -> Verdict:
    """Return how one input ends, asked of a worker of its own."""
    if part == "large":
        from stress.large import make_large

        make_large(scratch)
        limits = Limits(seconds=60, memory=6 << 30)
    else:
        make_bases(scratch)
        limits = Limits()
    worker = Worker(scratch, scratch / "worker", limits)
    try:
        worker.ask((target, 0))  # what has to be compiled is no part of the answer
        return worker.ask((target, seed))
    finally:
        worker.stop()


def _jobs(outcome: Outcome) -> Iterator[Job]:
    first = outcome.seed
    while True:
        for name, target in SMALL.items():
            yield from ((name, seed) for seed in range(first, first + getattr(target, "each_round", ROUND)))
        first += ROUND
