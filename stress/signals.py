"""Ctrl-C and SIGTERM at random times, to processes started as by a shell, must take effect within two seconds.

Every second round runs beside a busy loop.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cube2net._util.random import stream
from stress import scenes
from stress.bases import make_bases
from stress.kills import check_cube
from stress.launch import Ended
from stress.outcome import Outcome
from stress.scenes import Known, Scene, known, stage

MAX_SECONDS = 2.0
WANTED = {signal.SIGINT: 130, signal.SIGTERM: 143}
START_SECONDS = 0.3
"""How long Python itself takes to start, at most, where the system does not show which signals are handled."""
EXPLORE = Scene("explore", ("explore", "plain", "--query", "query.csv", "--no-browser"), "plain")
EXPLORE_SECONDS = 2.0
"""The explorer does not end by itself: signals come within so many seconds."""
SCENES = {**scenes.SCENES, EXPLORE.name: EXPLORE}


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Interrupt all scenes, with both signals in turn."""
    make_bases(scratch)
    for sent in WANTED:
        if signal.getsignal(sent) == signal.SIG_IGN:  # a shell in the background; commands would inherit it
            signal.signal(sent, signal.SIG_DFL)
    lengths, states = {EXPLORE.name: EXPLORE_SECONDS}, {}
    for name, scene in SCENES.items():
        if scene is EXPLORE:
            unchanged = scene.digest(scratch / scene.place)
            states[name] = Known(unchanged, unchanged, None, EXPLORE_SECONDS)
        else:
            states[name] = known(scratch, scene)
            lengths[name] = _shell(scratch, scratch / f"alone-{name}", scene)[0].seconds
    outcome.notes |= {"the longest took, in seconds": 0.0, "beside a busy loop": 0}
    outcome.begin()

    def once(number: int) -> None:
        name, turn = list(SCENES)[number % len(SCENES)], number // len(SCENES)
        sent, is_busy = list(WANTED)[turn % 2], turn // 2 % 2 == 1
        delay = float(stream(number, "stress", "signals").random()) * lengths[name]
        with busy_loop(is_busy):
            _interrupt(outcome, scratch, scratch / f"signal-{number}", SCENES[name], states[name], sent, delay)
        outcome.notes["beside a busy loop"] += is_busy

    outcome.each(once)
    return outcome


@contextmanager
def busy_loop(is_wanted: bool) -> Iterator[None]:
    """Optionally keep a processor busy for a context."""
    if not is_wanted:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _interrupt(
    outcome: Outcome, base: Path, folder: Path, scene: Scene, states: Known, sent: signal.Signals, delay: float
) -> None:
    ended, waited = _shell(base, folder, scene, sent, delay)
    told = f"{scene.name}: {sent.name} after {delay:.2f} s, {waited:.2f} s until it ended\n{ended.told}"
    fail = partial(outcome.fail, repeat=f"{scene.name}, {sent.name} after {delay:.2f} s")
    outcome.counts[f"{scene.name}, {sent.name}, status {ended.status}"] += 1
    outcome.notes["the longest took, in seconds"] = max(outcome.notes["the longest took, in seconds"], round(waited, 2))
    if waited > MAX_SECONDS:
        fail(f"{scene.name}: {sent.name} takes more than {MAX_SECONDS:g} s", told)
    if ended.status != WANTED[sent] and (ended.status or scene is EXPLORE):
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
    """Start a command as a shell does, send a signal, and return how it ended and how long that took.

    The signal is sent some seconds after the command began to handle signals.
    """
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
        _wait_until_handled(process)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
    asked = time.monotonic()
    out, err = process.communicate(timeout=300)
    return Ended(process.returncode, out, err, time.monotonic() - started), time.monotonic() - asked


def _wait_until_handled(process: subprocess.Popen[bytes]) -> None:
    """Wait until a command handles SIGTERM, which Python itself does not."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(START_SECONDS)
        return
    while process.poll() is None:
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if int(fields["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)
