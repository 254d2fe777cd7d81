"""Hostile names in every command: the output contains nothing that controls a terminal."""

from __future__ import annotations

import os
from pathlib import Path

from stress.launch import run_command
from stress.outcome import Outcome


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Run all calls of tests/hostile.py, each in its own process."""
    from hostile import CALLS, World, harmful

    world = World.make(scratch)
    outcome.begin()
    for command, calls in CALLS.items():
        for words in calls(world):
            ended = run_command(words, scratch, streams=scratch / "streams")
            outcome.done += 1
            outcome.counts[f"{command}, status {ended.status}"] += 1
            for raw in (ended.out, ended.err):
                if found := harmful(raw):
                    outcome.fail(f"{command}: {found[0]} reaches the terminal", f"{words!r}\n{found}\n{raw!r}")
            if b"Traceback" in ended.err or ended.status not in (0, 1, 2):
                told = os.fsdecode(ended.err).encode("unicode_escape").decode()
                outcome.fail(f"{command}: status {ended.status} with a traceback", f"{words!r}\n{told}")
            if outcome.left < 0 or outcome.done >= outcome.wanted:
                return outcome
    return outcome
