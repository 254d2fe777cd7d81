"""kill −9 at random times: the old or the new output is complete, and the next run gives the same bytes."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cube2net._util.random import stream
from cube2net.cube.storage.reader import verify
from cube2net.errors import Cube2netError
from stress.bases import make_bases
from stress.launch import Command, run_command
from stress.outcome import Outcome
from stress.scenes import SCENES, Known, Scene, known, litter, stage

ORDER = ("build", "overwrite", "update", "export", "compare", "build", "overwrite", "update", "export")


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Kill the commands of all scenes in turn."""
    make_bases(scratch)
    states = {name: known(scratch, scene) for name, scene in SCENES.items()}
    lengths = {name: state.seconds for name, state in states.items()}
    outcome.notes["of which while it ran"] = 0
    outcome.begin()

    def once(number: int) -> None:
        name = ORDER[number % len(ORDER)]
        delay = float(stream(number, "stress", "kills").random()) * lengths[name]
        lengths[name] = kill_once(outcome, scratch, scratch / f"kill-{number}", SCENES[name], states[name], delay)

    outcome.each(once)
    return outcome


def kill_once(outcome: Outcome, base: Path, folder: Path, scene: Scene, states: Known, delay: float) -> float:
    """Run the command of a scene, kill it, check, and run it again; return its time without a kill."""
    stage(base, folder, scene)
    command = Command(scene.argv, folder, streams=folder / "streams")
    time.sleep(delay)
    command.send(signal.SIGKILL)
    killed = command.wait().status == -signal.SIGKILL
    outcome.counts[f"{scene.name}, {'killed' if killed else 'had ended'}"] += 1
    outcome.notes["of which while it ran"] += killed
    fail = partial(outcome.fail, repeat=f"{scene.name} killed after {delay:.3f} s", files=folder)
    at = folder / scene.place
    state = scene.digest(at)
    if state not in states.whole:
        fail(f"{scene.name}: neither the old nor the new is there", f"{state}, expected one of {states.whole}")
    check_cube(fail, scene, at)
    done = state == states.after and scene.after is not None
    ended = run_command(scene.after if done and scene.after else scene.argv, folder, streams=folder / "streams")
    expected = states.later if done else states.after
    if ended.status:
        fail(f"{scene.name}: the next run ends with status {ended.status}", ended.told)
    elif scene.digest(at) != expected:
        fail(f"{scene.name}: the next run gives other bytes", f"{scene.digest(at)}, expected {expected}")
    left = litter(folder, scene.place)
    if left:
        fail(f"{scene.name}: litter stays after the next run", repr(left))
    shutil.rmtree(folder)
    return ended.seconds


def check_cube(fail: Callable[[str, str], None], scene: Scene, at: Path) -> None:
    """Verify the cube of a scene, if it has one."""
    if scene.place == "cube" and at.exists():
        try:
            verify(at)
        except Cube2netError as error:
            fail(f"{scene.name}: the cube is not whole", str(error))
