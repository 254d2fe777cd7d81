"""Readers while a writer replaces the cube: settings, weights, links and names must belong together."""

from __future__ import annotations

import os
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from stress.bases import write_tables
from stress.launch import CONTEXT
from stress.outcome import Outcome

READERS = 2
KEPT_OPEN = 20
"""Every so many openings one cube is kept open while others come into its place."""


def run(outcome: Outcome, scratch: Path) -> Outcome:
    """Let a writer alternate three cubes in one place while readers open it."""
    import cube2net as c2n

    for number in range(3):  # the first two have the same sizes, the third has others
        tables = write_tables(scratch / f"tables-{number}", count=400 if number == 2 else 300, weight=1.0 + number)
        c2n.build(
            c2n.read_tables(tables), ["city/state", "trade"], min_objects=5, seed=number, out=scratch / str(number)
        )
    c2n.open(scratch / "0").save(scratch / "place")
    outcome.begin()
    stop = CONTEXT.Event()
    told, theirs = CONTEXT.Pipe(duplex=False)
    writer = CONTEXT.Process(target=_write, args=(scratch, stop, theirs))
    writer.start()
    if not told.poll(120):
        raise RuntimeError("the writer does not start")
    told.recv()
    share = -(-outcome.wanted // READERS)
    answers: list[dict[str, Any]] = []

    def read() -> None:
        ours, other = CONTEXT.Pipe()
        reader = CONTEXT.Process(target=_read, args=(other, scratch / "place", share, outcome.seconds))
        reader.start()
        other.close()
        try:
            answers.append(ours.recv())
        except EOFError:
            reader.join()
            answers.append({"done": 1, "failed": [(f"a reader died with status {reader.exitcode}", "")], "kept": 0})
        reader.join()

    threads = [threading.Thread(target=read) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    outcome.notes["exchanges"] = told.recv() if told.poll(30) else "the writer died"
    writer.join()
    for answer in answers:
        outcome.done += answer["done"]
        outcome.counts["kept open over exchanges"] += answer["kept"]
        for kind, text in answer["failed"]:
            outcome.fail(kind, text)
    return outcome


def _write(scratch: Path, stop: Any, told: Connection) -> None:
    """Replace the cube: every tenth time by saving, otherwise by exchanging files as saving does."""
    import cube2net as c2n
    from cube2net._util.files import new_folder

    cubes = [c2n.open(scratch / str(number)) for number in range(3)]
    count = 0
    told.send(count)
    while not stop.is_set():
        number = (0, 1, 0, 1, 2)[count % 5]
        if count % 10 == 0:
            cubes[number].save(scratch / "place")
        else:
            with new_folder(scratch / "place") as aside:
                for path in (scratch / str(number)).iterdir():
                    os.link(path, aside / path.name)
        count += 1
    told.send(count)


def _read(pipe: Connection, place: Path, wanted: int, seconds: float) -> None:
    import cube2net as c2n
    from cube2net.errors import Cube2netError

    c2n.open(place.with_name("0"))  # what has to be imported is now
    end = time.monotonic() + seconds
    done, kept, failed = 0, 0, []
    while done < wanted and time.monotonic() < end:
        done += 1
        try:
            cube = c2n.open(place)
            failed += _check(cube, "mixed")
            if done % KEPT_OPEN == 0:
                kept += 1
                time.sleep(0.02)
                failed += _check(cube, "changed while it was open")
        except Cube2netError as error:
            failed.append(("a false alarm", str(error)))
        except Exception as error:
            failed.append((f"{type(error).__name__} on opening", str(error)))
    pipe.send({"done": done, "kept": kept, "failed": failed})


def _check(cube: Any, what: str) -> list[tuple[str, str]]:
    """Return what does not belong together, from the seed in the settings."""
    seed = cube.settings["seed"]
    weights = np.unique(cube.links.weights[:] if len(cube.links.weights) else [])
    held = (len(cube.objects), cube.objects.table.num_rows, len(cube.items().load()), int(weights.min()))
    expected = 400 if seed == 2 else 300
    if held != (expected, expected, expected, seed + 1):
        return [(f"a cube is {what}", f"seed {seed} with objects, rows, items, least weight {held}")]
    return []
