"""Count the files, functions and changes of file that a query, a build, a comparison and a pin go through.

    python scripts/trace_calls.py [--walk] [FOLDER]

A change of file is a call from a function in one file of the package to a function in another; each pair of functions
counts once. ``--walk`` lists the files in the order of their first call. The bundled data is used; with the folder of
the ACL Anthology, reading it is traced too. Compiled kernels are not visible.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import cube2net
from cube2net.apps.service import CubeService
from cube2net.apps.service.requests import describe_query

PACKAGE = str(Path(cube2net.__file__).parent)


@dataclass
class Trace:
    """The functions by file in order of their first call, the calls between files, and the maximum depth."""

    functions: dict[str, set[CodeType]] = field(default_factory=dict)
    changes: set[tuple[CodeType, CodeType]] = field(default_factory=set)
    depth: int = 0

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name.startswith("<"):
            return
        self.functions.setdefault(code.co_filename, set()).add(code)
        callers = ours(frame.f_back)
        if callers and callers[0].co_filename != code.co_filename:
            self.changes.add((callers[0], code))
        files = [code.co_filename, *(caller.co_filename for caller in callers)]
        self.depth = max(self.depth, 1 + sum(one != next_ for one, next_ in pairwise(files)))

    def __str__(self) -> str:
        functions = sum(map(len, self.functions.values()))
        return f"{len(self.functions)} files, {functions} functions, {len(self.changes)} changes, {self.depth} deep"


def ours(frame: FrameType | None) -> list[CodeType]:
    """Return the active functions of the package, innermost first."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE) and not frame.f_code.co_name.startswith("<"):
            found.append(frame.f_code)
        frame = frame.f_back
    return found


def command(*words: str) -> None:
    """Run a command of the command line in this process."""
    from cube2net.__main__ import main

    kept = sys.argv
    sys.argv = ["cube2net", *words]
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
            main()
    except SystemExit as end:
        if end.code:
            raise SystemExit(f"cube2net {' '.join(words)}: {said.getvalue()}") from None
    finally:
        sys.argv = kept


def traced(work: Callable[[], None]) -> Trace:
    """Return the trace of a function, in all its threads."""
    trace = Trace()
    threading.setprofile(trace.note)
    sys.setprofile(trace.note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return trace


def question(service: CubeService) -> dict[str, Any]:
    """Return the request for the network of the authors of four labs."""
    return describe_query(service.cube, service.cube.query(cube2net.load_labs(), skip_missing=True))


def explored(cube: Path) -> CubeService:
    """Return the service of a cube after its first network is shown, as in the explorer."""
    service = CubeService(cube2net.open(cube))
    service.answer("construct", {"request": question(service)})
    return service


def pinned_question(service: CubeService) -> dict[str, Any]:
    """Return the request of the page for the same network, with an object pinned."""
    pinned = service.cube.objects.ids(np.array([0])).to_pylist()[0]
    return {"request": {**question(service), "pins": [{"object": pinned}]}, "prices": True}


def works(folder: Path, data: Path | None) -> dict[str, Callable[[], object]]:
    """Return the traced functions by name; the first two create what the others use."""
    cube, query = folder / "cube", folder / "query.txt"
    query.write_text("\n".join(cube2net.load_labs()), encoding="utf-8")
    asked = (str(cube), "--query", str(query))
    few = ("--methods", "greedy", "--baselines", "pagerank", "--models", "deepwalk", "--task", "hidden", "--runs", "2")
    services: list[CubeService] = []
    questions: list[dict[str, Any]] = []

    def explore() -> None:
        services.append(explored(cube))
        questions.append(pinned_question(services[0]))

    found: dict[str, Callable[[], object]] = {
        "build": lambda: cube2net.build(cube2net.load_bundled(), out=cube),
        "query": lambda: command("query", *asked, "--method", "greedy"),
        "default query": lambda: command("query", *asked),
        "compare": lambda: command("compare", *asked, *few),
        "explore": explore,
        "pin": lambda: services[0].answer("construct", questions[0]),
    }
    if data is not None:
        found["build acl"] = lambda: command("build", "acl", str(data), "--out", str(folder / "acl"))
    return found


def main() -> None:
    """Trace every function and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, metavar="FOLDER", help="the ACL Anthology's files")
    parser.add_argument("--walk", action="store_true", help="list the files in the order in which they are entered")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, work in works(Path(folder), asked.data).items():
            trace = traced(work)
            print(f"{name}: {trace}")
            if asked.walk:
                print("  " + " → ".join(str(Path(file).relative_to(PACKAGE)) for file in trace.functions))


if __name__ == "__main__":
    main()
