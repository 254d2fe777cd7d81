"""Two simultaneous writers: the cube is one that they could have written one after the other."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from cube2net._util.random import stream
from cube2net.cube.storage.reader import verify
from cube2net.errors import Cube2netError
from stress.bases import BUILD, make_bases
from stress.launch import Command, run_command
from stress.outcome import Outcome
from stress.scenes import SCENES, digest, litter, stage

UPDATE, AGAIN = SCENES["update"].argv, SCENES["update"].after or ()
PAIRS = {
    "update and update": (UPDATE, AGAIN),
    "update and build": (UPDATE, ("build", "tables", "other", "--out", "cube", *BUILD)),
    "update and the same": (UPDATE, UPDATE),
}
REFUSED = 2


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Run pairs of commands at the same time, each pair in turn."""
    make_bases(scratch)
    allowed = {name: _allowed(scratch, name) for name in PAIRS}

    outcome.begin()

    def once(number: int) -> None:
        name = list(PAIRS)[number % len(PAIRS)]
        _round(outcome, scratch, scratch / f"writers-{number}", name, allowed[name], number)

    outcome.each(once, threads=1)
    return outcome


def _allowed(scratch: Path, name: str) -> dict[tuple[int, int], set[str]]:
    """Return the allowed cubes for each pair of statuses: those of both sequential orders."""
    found: dict[tuple[int, int], set[str]] = {(REFUSED, REFUSED): set()}
    for order in ((0, 1), (1, 0), (0,), (1,)):
        folder = scratch / f"allowed-{name}-{''.join(map(str, order))}"
        stage(scratch, folder, SCENES["update"])
        statuses = [REFUSED, REFUSED]
        for which in order:
            statuses[which] = run_command(PAIRS[name][which], folder, streams=folder / "streams").status
        found.setdefault((statuses[0], statuses[1]), set()).add(digest(folder / "cube"))
    return found


def _round(
    outcome: Outcome, scratch: Path, folder: Path, name: str, allowed: dict[tuple[int, int], set[str]], number: int
) -> None:
    stage(scratch, folder, SCENES["update"])
    started = []
    for which, argv in enumerate(PAIRS[name]):
        started.append(Command(argv, folder, streams=folder / f"streams-{which}"))
        time.sleep(float(stream(number, "stress", "writers").random()) * 0.2)
    ended = [command.wait() for command in started]
    statuses = (ended[0].status, ended[1].status)
    outcome.counts[f"{name}: statuses {statuses[0]} and {statuses[1]}"] += 1
    told = "\n".join(each.told for each in ended)
    state = digest(folder / "cube")
    if state not in allowed.get(statuses, set()):
        both = (
            "both say they succeeded and one is lost"
            if statuses == (0, 0)
            else f"statuses {statuses} leave another cube"
        )
        outcome.fail(f"{name}: {both}", told, files=folder)
    try:
        verify(folder / "cube")
    except Cube2netError as error:
        outcome.fail(f"{name}: the cube is not whole", f"{error}\n{told}", files=folder)
    if left := litter(folder, "cube"):
        outcome.fail(f"{name}: litter stays", f"{left}\n{told}", files=folder)
    shutil.rmtree(folder)
