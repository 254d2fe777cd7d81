"""Many queries: per second with one process or several on one cube, what they share, and a second cube beside it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cube2net as c2n
from measures.answers import CELLS, SIZES
from measures.literature import person_query
from measures.processes import Results, median, memory, result_of, shared, timed, worker

PROCESSES = (1, 2, 4, 8)
KINDS = {"one hop": "hops", "greedy": "greedy"}
SECONDS = 4.0
QUERIES = 100
# In a worker: the cubes it has opened, and the queries it asks.
OPENED: dict[str, Any] = {}


def measure(results: Results, cube: Path, other: Path) -> None:
    """Measure queries per second by processes, and then whether a second cube slows the first."""
    for count in PROCESSES:
        results.measure(f"throughput-{count}", throughput, cube, count)
    results.measure("second-cube", second_cube, cube, other)


def throughput(cube: Path, count: int) -> dict[str, Any]:
    """Return how many queries a second some processes answer together, and the memory of each after that."""
    found: dict[str, Any] = {"processes": count, "kinds": {}}
    with ExitStack() as stack:
        pools = [stack.enter_context(worker()) for _ in range(count)]
        for future in [pool.submit(ready, cube, number) for number, pool in enumerate(pools)]:
            result_of(future)
        for kind, method in KINDS.items():
            start = time.time() + 0.5
            done = [result_of(each) for each in [pool.submit(answer_for, method, start, SECONDS) for pool in pools]]
            wall = max(end for _, end in done) - start
            found["kinds"][kind] = {"answered": sum(number for number, _ in done), "seconds": wall}
        found["memory"] = [result_of(each) for each in [pool.submit(shared) for pool in pools]]
    found["bytes"] = sum(path.stat().st_size for path in cube.iterdir())
    return found


def ready(cube: Path, number: int) -> None:
    """Open the cube in this process, think of queries that no other process asks, and warm up."""
    OPENED["cube"] = c2n.open(cube)
    OPENED["queries"] = [
        OPENED["cube"].query(person_query(OPENED["cube"], SIZES[0], 1_000 * number + each).tolist())
        for each in range(QUERIES)
    ]
    for method in KINDS.values():
        c2n.construct(OPENED["cube"], OPENED["queries"][0], method, CELLS, form="objects")


def answer_for(method: str, start: float, seconds: float) -> tuple[int, float]:
    """Answer one query after another from a moment on for some seconds; return how many, and when it was over."""
    time.sleep(max(0.0, start - time.time()))
    done = 0
    while time.time() < start + seconds:
        c2n.construct(OPENED["cube"], OPENED["queries"][done % QUERIES], method, CELLS, form="objects")
        done += 1
    return done, time.time()


def second_cube(cube: Path, other: Path, rounds: int = 60) -> dict[str, Any]:
    """Return the time of a query where only its cube is open, and where another is open and asked in between."""
    times: dict[str, dict[str, list[float]]] = {kind: {"alone": [], "beside": []} for kind in KINDS}
    with worker() as one, worker() as two:
        for future in (one.submit(ready, cube, 0), two.submit(ready, cube, 0)):
            result_of(future)
        result_of(two.submit(open_other, other))
        for number in range(rounds):
            for kind, method in KINDS.items():
                for name, pool in (
                    (("alone", one), ("beside", two)) if number % 2 else (("beside", two), ("alone", one))
                ):
                    times[kind][name].append(result_of(pool.submit(ask, method, number, name == "beside")))
        kept = {"alone": result_of(one.submit(memory)), "beside": result_of(two.submit(memory))}
    return {
        "kinds": {kind: {name: median(taken) for name, taken in each.items()} for kind, each in times.items()},
        "rounds": rounds,
        "memory": kept,
    }


def open_other(other: Path) -> None:
    """Open a second cube and answer there once."""
    OPENED["other"] = c2n.open(other)
    OPENED["other query"] = OPENED["other"].query(person_query(OPENED["other"], SIZES[0], 7).tolist())


def ask(method: str, number: int, other: bool) -> float:
    """Return the time of one query to the first cube, after one to the second where it is open."""
    if other:
        c2n.construct(OPENED["other"], OPENED["other query"], method, CELLS, form="objects")
    query = OPENED["queries"][number % QUERIES]
    return timed(lambda: c2n.construct(OPENED["cube"], query, method, CELLS, form="objects"))[0]
