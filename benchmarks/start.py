"""Time of complete commands, each in its own process: a table.

    python benchmarks/start.py CUBE QUERY [--node NAME] [--runs 10] [--against SOURCES …] [--cold]

CUBE is the folder of a cube and QUERY a file with names of its objects. Measured is the processor time of the whole
process, which depends less on other load than wall-clock time; commands take turns. Printed are the minimum of all
runs, and ratios to ``python -c pass`` and ``python -c "import numpy, numba"`` in the same run. ``--against`` names
other ``src`` folders of the package to measure in turn, such as that of another commit. ``--cold`` adds a query whose
method needs compiled code (``--method anneal``), with and without a cache.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parents[1] / "src"
NOTHING, COMPILER = "python -c pass", 'python -c "import numpy, numba"'


class Run(NamedTuple):
    """Processor and wall-clock seconds."""

    busy: float
    wall: float


def run(command: Sequence[str], sources: Path, cache: Path | None) -> Run:
    """Return the time of a command, which must succeed."""
    changed = {"PYTHONPATH": str(sources)} | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    left = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with subprocess.Popen(command, env=left | changed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("query", type=Path)
    parser.add_argument("--node", help="Whom to explain; without, what every cell added.")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--against", type=Path, nargs="*", default=[])
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    asked = [str(options.cube), "--query", str(options.query)]
    node = ["--node", options.node] if options.node else []
    python, tool = [sys.executable], [sys.executable, "-m", "cube2net"]
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", str(Path(folder, "network.graphml"))]
        floor = {NOTHING: [*python, "-c", "pass"], COMPILER: [*python, "-c", "import numpy, numba"]}
        commands = {
            "import cube2net": [*python, "-c", "import cube2net"],
            "cube2net --version": [*tool, "--version"],
            "cube2net --help": [*tool, "--help"],
            "cube2net query --help": [*tool, "query", "--help"],
            "cube2net info CUBE": [*tool, "info", str(options.cube)],
            "cube2net query CUBE --query FILE --out n.graphml": [*tool, "query", *asked, *out],
            "cube2net explain CUBE --query FILE": [*tool, "explain", *asked, *node],
        }
        if options.cold:
            commands["… query … --method anneal, compiled before"] = [*tool, "query", *asked, "--method", "anneal"]
        places = {"": HERE, **{f" [{place}]": place.resolve() for place in options.against}}
        jobs = [(name, command, HERE) for name, command in floor.items()]
        jobs += [(name + end, command, at) for name, command in commands.items() for end, at in places.items()]
        seen: dict[str, list[Run]] = {name: [] for name, _, _ in jobs}
        for _, command, at in jobs:
            run(command, at, None)  # byte code and compiled code are there from now on
        for _ in range(options.runs):
            for name, command, at in jobs:
                seen[name].append(run(command, at, None))
        if options.cold:
            empty = Path(folder, "numba")
            query = [*tool, "query", *asked]
            seen["cube2net query CUBE --query FILE, nothing compiled"] = [run(query, HERE, empty)]
            seen["… query … --method anneal, nothing compiled"] = [run([*query, "--method", "anneal"], HERE, empty)]
    least = {name: min(each.busy for each in runs) for name, runs in seen.items()}
    print(f"{'command':64s} {'least':>8s} {'median':>8s} {'wall':>8s} {'× pass':>7s} {'× numba':>8s}")
    for name, runs in seen.items():
        middle = statistics.median(each.busy for each in runs)
        wall = min(each.wall for each in runs)
        ratios = f"{least[name] / least[NOTHING]:7.1f} {least[name] / least[COMPILER]:8.2f}"
        print(f"{name:64s} {least[name]:6.2f} s {middle:6.2f} s {wall:6.2f} s {ratios}")


if __name__ == "__main__":
    main()
