"""A disk that fills up while a command writes: one error message, and the old state remains."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cube2net._util.random import stream
from stress.bases import make_bases
from stress.kills import check_cube
from stress.launch import run_command
from stress.outcome import Outcome
from stress.scenes import SCENES, Known, Scene, known, litter, stage

NEED = 400_000
"""Bytes within which every command of the scenes runs full somewhere; the last tries have room enough."""
FULL = re.compile(rb"^cube2net: [^\n]*(no space left|disk|too large)[^\n]*\n$", re.IGNORECASE)


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Run all scenes on disks with increasing space."""
    make_bases(scratch)
    states = {name: known(scratch, scene) for name, scene in SCENES.items()}
    mounts = can_mount(scratch / "try")
    outcome.notes["by"] = "small disks in memory" if mounts else "a limit on the size of files"
    outcome.begin()

    def once(number: int) -> None:
        scene = list(SCENES.values())[number % len(SCENES)]
        room = int(stream(number, "stress", "disk").random() ** 2 * NEED)
        with small_disk(scratch / f"disk-{number}", mounted=mounts) as folder:
            _full(outcome, scratch, folder, scene, states[scene.name], room, mounted=mounts)

    outcome.each(once)
    return outcome


def _full(outcome: Outcome, base: Path, folder: Path, scene: Scene, states: Known, room: int, *, mounted: bool) -> None:
    at = folder / "here"
    stage(base, at, scene)
    if mounted:
        fill(folder, room)
    streams = base / f"streams-{folder.name}"
    ended = run_command(scene.argv, at, streams=streams, size=None if mounted else max(1, room // 10))
    outcome.counts[f"{scene.name}, status {ended.status}"] += 1
    told = f"{scene.name} with {room:,} bytes left\n{ended.told}"
    state = scene.digest(at / scene.place)
    if ended.status == 0:
        if state != states.after:
            outcome.fail(f"{scene.name}: status 0 and not what it should have written", told)
        return
    if ended.status != 2 or not FULL.match(ended.err):
        outcome.fail(f"{scene.name}: a full disk is not one sentence that names it", told)
    if state not in states.whole:
        outcome.fail(f"{scene.name}: a full disk changes what was there", told)
    check_cube(lambda kind, text: outcome.fail(kind, f"{text}\n{told}"), scene, at / scene.place)
    left = [name for name in litter(at, scene.place) if not name.endswith(".stages")]  # what a build goes on from
    if left:
        outcome.fail(f"{scene.name}: a full disk leaves litter", f"{left}\n{told}")


def can_mount(folder: Path) -> bool:
    """Return whether a small disk in memory can be mounted, which needs root on Linux."""
    try:
        with small_disk(folder, mounted=True):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def small_disk(folder: Path, *, mounted: bool) -> Iterator[Path]:
    """Mount a disk of four megabytes, if possible, for a context."""
    folder.mkdir()
    try:
        if mounted:
            options = ["-t", "tmpfs", "-o", "size=4m", "cube2net-stress", str(folder)]
            subprocess.run(["mount", *options], check=True, capture_output=True)
        try:
            yield folder
        finally:
            if mounted:
                subprocess.run(["umount", str(folder)], check=True, capture_output=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(disk: Path, room: int) -> None:
    """Fill a disk except for some bytes."""
    free = os.statvfs(disk)
    with (disk / "filler").open("wb") as file:
        file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - room))
