"""The paper's tables on our tasks: its methods, measures and times, ten runs; writes docs/findings/paper.md.

    python benchmarks/paper.py DATA OUT [--only labs] [--part 0] [--runs 10] [--page docs/findings/paper.md]

DATA is the folder of the raw data (``acl/`` and ``movies/``). Cubes, queries and trials go to OUT, a folder for every
task; what is there already is not made again, so an interrupted run goes on where it stopped. ``--cubes`` names another
folder that has cubes and queries. Part after part is made, each of all tasks; then the page is written of all that is
there. ``--page`` alone writes it.

Parts: ``table`` is Tables II and III; ``steps`` NoCube+ and NoCube++ where they are large (the network is the same
every time, so one run); ``sweep`` the paper's Figure 3; ``paper`` and ``paper-sweep`` the same for ``--preset paper``,
which learns for a minute and more where the default takes a second.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import cube2net as c2n
from cube2net.pipeline import compare
from cube2net.records import Comparison, Cube, Query
from cube2net.select import Cube2net
from paper_page import pictures, write_page
from results import SIGS, Task, acl, films, planted

METHODS = ("none", "hops", "maxdisc", "random", "greedy", "cube2net")
SMALL = tuple(method for method in METHODS if method != "hops")
MINERS = {"clustering": ("deepwalk", "line", "node2vec"), "links": ("popularity", "softimpute")}
THE_PAPERS: dict[str, Any] = {"objectives": ("jaccard",), "forms": ("objects",), "as_large": False, "workers": 1}
SWEEP: dict[str, Any] = {"m": (5, 10, 20, 50, 100), "miners": ("deepwalk", "node2vec")}
PARTS = ("table", "steps", "sweep", "paper", "paper-sweep")
TASKS = (
    Task(
        "labs",
        acl("labs"),
        (
            {"methods": METHODS},
            {"methods": ("none", "hops 2"), "runs": 1},
            {**SWEEP, "methods": ("none", "random", "greedy", "cube2net")},
            {"methods": ("none", "cube2net paper")},
            {**SWEEP, "methods": ("none", "cube2net paper"), "runs": 2},
        ),
    ),
    Task(
        "labs2",
        acl("labs2"),
        (
            {"methods": METHODS},
            {"methods": ("none", "hops 2"), "runs": 1},
            {},
            {"methods": ("none", "cube2net paper"), "runs": 3},
        ),
    ),
    Task(
        "areas",
        acl("areas", SIGS["areas"]),
        (
            {"methods": SMALL},
            {"methods": ("none", "hops", "hops 2"), "runs": 1},
            {},
            {"methods": ("none", "cube2net paper"), "runs": 3},
        ),
    ),
    Task(
        "areas2",
        acl("areas2", SIGS["areas2"]),
        (
            {"methods": SMALL},
            {"methods": ("none", "hops", "hops 2"), "runs": 1},
            {},
            {"methods": ("none", "cube2net paper"), "runs": 3},
        ),
    ),
    Task(
        "planted",
        planted,
        (
            {"methods": METHODS, "m": 16},
            {"methods": ("none", "hops 2"), "runs": 1},
            {},
            {"methods": ("none", "cube2net paper"), "m": 16, "runs": 3},
        ),
    ),
    Task(
        "scifi00",
        films("scifi00"),
        (
            {"methods": METHODS, "m": 50, "runs": 3},
            {"methods": ("none", "hops 2"), "runs": 1},
            {},
            {"methods": ("none", "cube2net paper"), "m": 50, "runs": 1},
        ),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cubes", type=Path, help="a folder that has cubes and queries already, made by results.py")
    parser.add_argument("--only", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part of each task")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--page", type=Path, help="write the page only, of the trials that are there")
    parser.add_argument("--pictures", action="store_true", help="with --page: draw the close-ups of labs anew")
    asked = parser.parse_args()
    made = asked.cubes or asked.out
    if asked.page is None:
        for part in asked.part or PARTS:
            for task in TASKS:
                options = dict(zip(PARTS, task.parts, strict=False)).get(part)
                if options and (not asked.only or task.name in asked.only):
                    run(task, part, options, asked.data, made, asked.out, asked.runs)
    if asked.page is not None or not (asked.only or asked.part):
        page = asked.page or Path("docs/findings/paper.md")
        there = [task for task in TASKS if (asked.out / task.name / "trials.jsonl").exists()]
        if asked.pictures or asked.page is None:
            pictures(*TASKS[0].load(asked.data, made)[:2], page.parent)
        write_page({task.name: compared(task, asked.data, made, asked.out) for task in there}, labs(asked, made), page)


def run(task: Task, name: str, part: dict[str, Any], data: Path, made: Path, out: Path, runs: int) -> None:
    """Make the trials of one part of a task."""
    cube, query, options = task.load(data, made)
    print(f"{task.name}, {name}: {cube}, {query}", flush=True)
    warm(cube, query)
    wanted = {"miners": MINERS[options["task"]], **THE_PAPERS, **options, **part}
    wanted["runs"] = min(runs, part.get("runs", runs))
    print(compare(cube, query, out=out / task.name, progress=said, **wanted), flush=True)


def warm(cube: Cube, query: Query) -> None:
    """Load and compile all that a construction needs, so that no time below has it."""
    for method in ("hops", "maxdisc", "random", "greedy"):
        c2n.construct(cube, query, method, m=2)
    for preset in ("default", "paper"):
        c2n.construct(cube, query, Cube2net(preset=preset, trajectories=2, updates=1, epochs=1), m=2)


def said(stage: str, done: int, total: int | None = None) -> None:
    print(f"  {done:,} of {total or 0:,}: {stage}", flush=True)


def compared(task: Task, data: Path, made: Path, out: Path) -> tuple[Cube, Query, Comparison]:
    """Return all trials of a task that are there."""
    cube, query, _ = task.load(data, made)
    comparison = c2n.read_comparison(out / task.name, query)
    return cube, query, replace(comparison, settings={**comparison.settings, "cube": repr(cube), "query": repr(query)})


def labs(asked: argparse.Namespace, made: Path) -> tuple[Cube, Query]:
    """Return the cube and the query of the case study."""
    cube, query, _ = TASKS[0].load(asked.data, made)
    return cube, query


if __name__ == "__main__":
    main()
