"""Damaged input for every reader: the result is consistent, or one error message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from stress.bases import make_bases
from stress.fuzz_exports import EXPORTS
from stress.large import LARGE, make_large
from stress.outcome import Outcome
from stress.pool import Job, Limits, Verdict, Worker, ask_all
from stress.targets import SMALL, Target

ROUND = 25
"""So many inputs of one target come after each other, where it does not say otherwise."""
LARGE_LIMITS = Limits(seconds=60, memory=6 << 30)


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Run all targets in turn, each from its undamaged input."""
    make_bases(scratch)
    outcome.begin()
    ask_all(outcome, islice(_jobs(outcome, SMALL), outcome.wanted), scratch, Limits())
    outcome.notes["inputs an hour"] = round(3600 * outcome.done / (outcome.end().took or 1))
    return outcome


def run_exports(outcome: Outcome, scratch: Path) -> Outcome:
    """Read damaged citation exports and build cubes of them."""
    outcome.notes["kinds of exports"] = len(EXPORTS)
    outcome.begin()
    ask_all(outcome, islice(_jobs(outcome, EXPORTS), outcome.wanted), scratch, Limits())
    return outcome


def run_large(outcome: Outcome, scratch: Path) -> Outcome:
    """Query cubes that are too large to be checked completely on opening, with a few wrong entries."""
    outcome.notes["large cube"] = make_large(scratch)
    outcome.begin()
    jobs = ((target, seed) for seed in outcome.numbers() for target in LARGE)
    ask_all(outcome, islice(jobs, outcome.wanted), scratch, LARGE_LIMITS)
    return outcome


def again(part: str, target: str, seed: int, scratch: Path) -> Verdict:
    """Repeat one input in a new worker, and return the result."""
    large = part == "large"
    (make_large if large else make_bases)(scratch)
    worker = Worker(scratch, scratch / "worker", LARGE_LIMITS if large else Limits())
    try:
        worker.ask((target, 0))  # what has to be compiled is no part of the answer
        return worker.ask((target, seed))
    finally:
        worker.stop()


def _jobs(outcome: Outcome, targets: Mapping[str, Target]) -> Iterator[Job]:
    yield from ((name, 0) for name in targets)  # undamaged
    first = outcome.seed
    while True:
        for name, target in targets.items():
            yield from ((name, seed) for seed in range(first, first + getattr(target, "each_round", ROUND)))
        first += ROUND
