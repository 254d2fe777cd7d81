"""Time that numba compiles on first use: a table, and the most expensive kernels.

    python benchmarks/compiling.py [SCENE …] [--sources SRC] [--top 8] [--inside]

Each scene has its own process with an empty ``NUMBA_CACHE_DIR``. Seconds are processor time of threads while they
compile. They count for the kernel called from Python; with ``--inside``, for each compiled function. ``times`` is the
number of combinations of argument types. ``--sources`` measures another ``src`` folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import event

import cube2net as c2n

HERE = Path(__file__).parents[1] / "src"
METHODS = ("anneal", "greedy", "hops", "pagerank", "steiner")


def notebook(folder: Path) -> None:
    """Build a cube of 77 people from a data frame, construct a network and plot it."""
    import pandas as pd

    people = pd.DataFrame({"id": range(77), "city": [f"city {i % 5}" for i in range(77)], "age": range(20, 97)})
    ends = [(i, (i * 7 + step) % 77) for i in range(77) for step in (1, 3, 11)]
    knows = pd.DataFrame(ends, columns=["source", "target"])
    cube = c2n.build(people, links=knows, dimensions=["city", "age@quantiles:3"], min_objects=1)
    c2n.construct(cube, [1, 2, 3]).plot()


def papers(folder: Path) -> None:
    """Build a cube from a table of records, construct a network and plot it."""
    import pandas as pd

    rows = [(paper, (paper * 7 + k * k * paper) % 77, 1990 + paper % 30) for paper in range(200) for k in range(3)]
    frame = pd.DataFrame(rows, columns=["paper", "author", "year"])
    cube = c2n.build(frame, ["decade=year@decades"], item="paper", objects="author", min_objects=1)
    c2n.construct(cube, [1, 2, 3]).plot()


def demo(folder: Path) -> None:
    """Do what ``make demo`` does."""
    from cube2net.apps.cli.demo import run

    run(folder / "demo")


def ask(method: str) -> Callable[[Path], None]:
    """Return a scene that constructs the network of 116 authors in the cube of the bundled papers."""

    def scene(folder: Path) -> None:
        c2n.construct(c2n.open(os.environ["BUNDLED"]), list(c2n.load_labs()), method=method, n_cells=20)

    return scene


SCENES: dict[str, Callable[[Path], None]] = {
    "notebook": notebook,
    "papers": papers,
    "demo": demo,
    **{method: ask(method) for method in METHODS},
}


class Recorder(event.Listener):
    """Adds up the time of compiling by function, or by the kernel called from Python."""

    def __init__(self, inside: bool) -> None:
        self.inside = inside
        self.seconds: dict[str, float] = {}
        self.times: dict[str, int] = {}
        self._own = threading.local()

    def on_start(self, event: Any) -> None:
        """Record the start of a compilation."""
        if not hasattr(self._own, "stack"):
            self._own.stack = []
        self._own.stack.append([time.thread_time(), 0.0])

    def on_end(self, event: Any) -> None:
        """Record the end of a compilation."""
        begin, others = self._own.stack.pop()
        spent = time.thread_time() - begin
        if self._own.stack:
            self._own.stack[-1][1] += spent
            if not self.inside:
                return
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__.removeprefix('cube2net.kernels.')}.{function.__qualname__}"
        self.seconds[name] = self.seconds.get(name, 0.0) + spent - (others if self.inside else 0.0)
        self.times[name] = self.times.get(name, 0) + 1


def child(scene: str, inside: bool) -> None:
    """Run one scene in this process and print what was compiled, in the last line."""
    recorder = Recorder(inside)
    event.register("numba:compile", recorder)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        SCENES[scene](Path(folder))
    print(json.dumps([[name, spent, recorder.times[name]] for name, spent in recorder.seconds.items()]))


def measure(scene: str, inside: bool, sources: Path, bundled: Path) -> list[tuple[str, float, int]]:
    """Return the kernels that a scene compiles, the most expensive first."""
    with tempfile.TemporaryDirectory() as cache:
        changed = {"PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": cache, "BUNDLED": str(bundled)}
        command = [sys.executable, __file__, scene, "--child", *(["--inside"] if inside else [])]
        done = subprocess.run(command, env=os.environ | changed, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{scene} ended with status {done.returncode}:\n{done.stderr}")
    return sorted(map(tuple, json.loads(done.stdout.splitlines()[-1])), key=lambda row: -row[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scene", nargs="*", default=list(SCENES), help=f"any of {', '.join(SCENES)}; all by default")
    parser.add_argument("--sources", type=Path, default=HERE)
    parser.add_argument("--top", type=int, default=8)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.scene[0], options.inside)
        return
    print("| scene | seconds of compiling | kernels | times | costliest |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        bundled = Path(folder, "cube")
        if set(options.scene) & set(METHODS):
            c2n.build(c2n.load_bundled(), out=bundled)
        for scene in options.scene:
            rows = measure(scene, options.inside, options.sources.resolve(), bundled)
            costly = ", ".join(f"{name} {spent:.1f} s ({times} ×)" for name, spent, times in rows[: options.top])
            total, times = sum(spent for _, spent, _ in rows), sum(times for _, _, times in rows)
            print(f"| {scene} | {total:.1f} | {len(rows)} | {times} | {costly} |", flush=True)


if __name__ == "__main__":
    main()
