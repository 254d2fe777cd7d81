"""Ctrl-C and SIGTERM at random times, to processes as a shell starts them: obeyed within two seconds."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from cube2net.seeding import stream
from stress.bases import make_bases
from stress.kills import check_cube
from stress.launch import Ended
from stress.outcome import Outcome
from stress.scenes import SCENES, Known, Scene, known, stage

OBEYED = 2.0
WANTED = {signal.SIGINT: 130, signal.SIGTERM: 143}
READY = 0.3
"""Seconds that Python itself needs before a command can be asked to stop in its own way, at most."""


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Interrupt every scene, by both signals in turn."""
    make_bases(scratch)
    states = {name: known(scratch, scene) for name, scene in SCENES.items()}
    alone = {name: _shell(scratch, scratch / f"alone-{name}", scene)[0].seconds for name, scene in SCENES.items()}
    outcome.notes["the longest took, in seconds"] = 0.0
    outcome.begin()

    def once(number: int) -> None:
        name = list(SCENES)[number % len(SCENES)]
        scene, folder = SCENES[name], scratch / f"signal-{number}"
        sent = (signal.SIGINT, signal.SIGTERM)[number // len(SCENES) % 2]
        delay = READY + float(stream(number, "stress", "signals").random()) * max(0.1, alone[name] - READY)
        _interrupt(outcome, scratch, folder, scene, states[name], sent, delay)

    outcome.each(once)
    return outcome


def _interrupt(
    outcome: Outcome, base: Path, folder: Path, scene: Scene, states: Known, sent: signal.Signals, delay: float
) -> None:
    ended, waited = _shell(base, folder, scene, sent, delay)
    told = f"{scene.name}: {sent.name} after {delay:.2f} s, {waited:.2f} s until it ended\n{ended.told}"
    fail = partial(outcome.fail, repeat=f"{scene.name}, {sent.name} after {delay:.2f} s")
    outcome.counts[f"{scene.name}, {sent.name}, status {ended.status}"] += 1
    outcome.notes["the longest took, in seconds"] = max(outcome.notes["the longest took, in seconds"], round(waited, 2))
    if waited > OBEYED:
        fail(f"{scene.name}: {sent.name} takes more than {OBEYED:g} s", told)
    if ended.status not in (0, WANTED[sent]):
        fail(f"{scene.name}: {sent.name} gives status {ended.status}, expected {WANTED[sent]}", told)
    if b"Traceback" in ended.err or ended.err.count(b"\n") > 1:
        fail(f"{scene.name}: {sent.name} is not told in one sentence", told)
    at = folder / scene.place
    if scene.digest(at) not in states.whole:
        fail(f"{scene.name}: {sent.name} leaves neither the old nor the new", told)
    check_cube(fail, scene, at)
    shutil.rmtree(folder)


def _shell(
    base: Path, folder: Path, scene: Scene, sent: signal.Signals | None = None, delay: float = 0.0
) -> tuple[Ended, float]:
    """Return how a command ended that was started as a shell does, and how long it took to obey a signal."""
    stage(base, folder, scene)
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "cube2net", *scene.argv],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "100"},
    )
    if sent is not None:
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
    asked = time.monotonic()
    out, err = process.communicate(timeout=300)
    return Ended(process.returncode, out, err, time.monotonic() - started), time.monotonic() - asked
