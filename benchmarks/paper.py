"""The paper, reproduced: its tables and figures on data that can be had, ours beside, with intervals, as one page.

    python benchmarks/paper.py OUT [DATA] [--only labs] [--part table] [--runs 10] [--gather] [--keep | --add]
    python benchmarks/paper.py --page

Without DATA it runs on what comes with the package, fewer runs, in some minutes. DATA is the folder of the raw data
(``acl/``, ``movies/`` and ``tasks/``), which takes hours. Cubes and trials go to OUT, a folder for every task; what is
there already is not made again, so an interrupted run goes on where it stopped. Then OUT gets ``scores.json`` and the
page ``paper.md`` of all that is there. ``--keep`` makes these the ones of the repository, ``paper_scores*.json`` here
and ``docs/findings/paper.md``; ``--add`` adds them to the ones that are kept, where cube and query are the same, so
that one part can be run alone (``--machine`` says where, since seconds of two machines are not compared); ``--page``
alone writes that page anew from the scores that are kept. Several processes can share the work: ``--seed-from 3 --runs
1 --method greedy`` makes the trials of one seed and one method only, in a folder of their own, and ``--gather``
runs nothing and takes the trials of all folders.

Parts: ``table`` is Tables II and III; ``steps`` NoCube+ and NoCube++ where they are large (the network is the same
every time, so one run); ``sweep`` the paper's Figure 3; ``paper`` the table for the paper to the letter (the preset
``paper``), which learns for a minute and more where the default takes seconds.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import cube2net as c2n
from cube2net.api.compare import compare_by_name
from cube2net.api.datasets import AREA_SIGS
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.selection.rl.cube2net import Cube2net
from paper_case import case_of, pictures
from paper_page import write_page
from paper_scores import added, keep_scores, read_scores, stored, write_scores
from results import Task
from tasks import TASKS, Load, acl, businesses, films, planted

METHODS = ("none", "hops", "maxdisc", "random", "greedy", "cube2net")
SMALL = tuple(method for method in METHODS if method != "hops")
MODELS = {"clustering": ("deepwalk", "line", "node2vec"), "links": ("popularity", "softimpute")}
THE_PAPERS: dict[str, Any] = {"objectives": ("jaccard",), "forms": ("objects",), "as_large": False, "workers": 1}
SWEEP: dict[str, Any] = {
    "n_cells": (5, 10, 20, 50, 100),
    "models": ("deepwalk", "node2vec"),
    "methods": ("none", "random", "greedy", "cube2net"),
}
PARTS = ("table", "sweep", "steps", "paper")
PAGE = Path(__file__).parents[1] / "docs" / "findings" / "paper.md"


def letter(runs: int, **more: Any) -> dict[str, Any]:
    """Return the part of the paper to the letter."""
    return {"methods": ("none", "cube2net paper"), "runs": runs, **more}


def steps(*methods: str) -> dict[str, Any]:
    """Return the part of large networks."""
    return {"methods": ("none", *methods), "runs": 1}


def bundled(labels: str) -> Any:
    """Return what loads the cube of the papers that come with the package, and a labelled query."""

    def load(data: Path | None, out: Path) -> tuple[Cube, Query, dict[str, Any]]:
        folder = out / "cubes" / labels
        if not folder.exists():
            corpus = c2n.load_bundled(without_sigs=AREA_SIGS if labels == "areas" else ())
            c2n.build(corpus, ["decade=year@decades", "venue", "topic"], out=folder)
        cube = c2n.open(folder)
        return cube, cube.query(c2n.load_areas() if labels == "areas" else c2n.load_labs()), {"task": "clustering"}

    return load


def larger(name: str) -> Task:
    """Return a larger query set that the paper does not have."""
    return Task(name, TASKS[name], ({"methods": METHODS},))


def of_links(name: str, load: Load, m: int) -> Task:
    """Return a task of hidden links."""
    return Task(name, load, ({"methods": METHODS, "n_cells": m}, {}, {}, letter(1, n_cells=m)))


PLANTED = ({"methods": METHODS, "n_cells": 16}, {}, steps("hops 2"), letter(3, n_cells=16))
FULL = (
    Task("labs", acl("labs"), ({"methods": METHODS}, SWEEP, steps("hops 2"), letter(10))),
    Task("labs2", acl("labs2"), ({"methods": METHODS}, {}, steps("hops 2"), letter(3))),
    Task("areas", acl("areas"), ({"methods": METHODS}, {}, steps("hops 2"), letter(3))),
    Task("areas2", acl("areas2"), ({"methods": SMALL}, {}, steps("hops", "hops 2"), letter(3))),
    Task("planted", planted, PLANTED),
    larger("fourarea-large"),
    larger("debian"),
    larger("reviews"),
    of_links("scifi00", films("scifi00"), 50),
    of_links("yelp", businesses("yelp"), 50),
    of_links("drama10", films("drama10"), 100),
    of_links("yelp-large", businesses("yelp-large"), 100),
)
SHIPPED = (
    Task("labs", bundled("labs"), ({"methods": METHODS}, SWEEP, {}, letter(1))),
    Task("areas", bundled("areas"), ({"methods": SMALL}, {}, steps("hops"))),
    Task("planted", planted, ({"methods": METHODS, "n_cells": 16},)),
)


def main() -> None:
    """Run what is asked for and write the page of all that is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", help="where cubes, trials, scores and the page go")
    parser.add_argument("data", type=Path, nargs="?", help="the raw data; without, what comes with the package")
    parser.add_argument("--only", action="append", choices=[task.name for task in FULL])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part of each task")
    parser.add_argument("--runs", type=int, help="at most so many of each part: 10 with DATA, 3 without")
    parser.add_argument("--seed-from", type=int, help="make trials only, of this seed and those after it")
    parser.add_argument("--method", action="append", help="with --seed-from: only this method, and the query alone")
    parser.add_argument("--gather", action="store_true", help="run nothing, and gather the trials that are there")
    parser.add_argument("--machine", default=f"{os.cpu_count()} cores", help="where the trials ran")
    parser.add_argument("--keep", action="store_true", help="make scores and page those of the repository")
    parser.add_argument("--add", action="store_true", help="add the scores to those of the repository")
    parser.add_argument("--page", action="store_true", help="write the page of the scores that are kept, and no more")
    asked = parser.parse_args()
    if asked.page:
        write_page(read_scores(), PAGE)
        return
    if asked.out is None:
        parser.error("say where to: python benchmarks/paper.py OUT [DATA], or --page")
    every = SHIPPED if asked.data is None else FULL
    tasks = tuple(task for task in every if not asked.only or task.name in asked.only)
    runs = asked.runs or (3 if asked.data is None else 10)
    for part in () if asked.gather else asked.part or PARTS:
        for task in tasks:
            options = dict(zip(PARTS, task.parts, strict=False)).get(part)
            if options:
                options = {**options, "methods": ("none", *asked.method)} if asked.method else options
                run(task, part, options, asked.data, asked.out, runs, asked.seed_from)
    if asked.seed_from is not None:
        return
    scores = gathered(tasks if asked.add else every, asked.data, asked.out, asked.machine)
    if asked.add:
        keep_scores(added(read_scores(), scores))
        write_page(read_scores(), PAGE)
        return
    if every[0].name not in scores["tasks"]:
        print(f"no page yet: it wants trials of {every[0].name}")
        return
    cube, query, _ = every[0].load(asked.data, asked.out)
    scores["case"] = case_of(cube, query)
    write_scores(scores, asked.out / "scores.json")
    for folder in (asked.out, *([PAGE.parent] if asked.keep else [])):
        pictures(cube, query, folder)
        write_page(scores, folder / "paper.md")
    if asked.keep:
        keep_scores(scores)


def run(
    task: Task, name: str, part: dict[str, Any], data: Path | None, out: Path, runs: int, first: int | None
) -> None:
    """Make the trials of one part of a task, from a first seed where one is given."""
    cube, query, options = task.load(data, out)
    print(f"{task.name}, {name}: {cube}, {query}", flush=True)
    warm(cube, query)
    wanted = {"models": MODELS[options["task"]], **THE_PAPERS, **options, **part}
    wanted["runs"] = min(runs, part.get("runs", runs))
    folder = out / (task.name if first is None else "-".join([task.name, "from", str(first), *part["methods"][1:]]))
    print(compare_by_name(cube, query, out=folder, seed=first or 0, progress=said, **wanted), flush=True)


def warm(cube: Cube, query: Query) -> None:
    """Load and compile all that a construction needs, so that no time below has it."""
    for method in ("hops", "maxdisc", "random", "greedy"):
        c2n.construct(cube, query, method, n_cells=2)
    for preset in ("default", "paper"):
        c2n.construct(cube, query, Cube2net(preset=preset, trajectories=2, updates=1, epochs=1), n_cells=2)


def said(stage: str, done: int, total: int | None = None) -> None:
    print(f"  {done:,} of {total or 0:,}: {stage}", flush=True)


def gathered(tasks: tuple[Task, ...], data: Path | None, out: Path, machine: str) -> dict[str, Any]:
    """Return the trials of every task, of all its folders."""
    found: dict[str, Any] = {"command": f"make paper{'' if data is None else ' DATA=folder'}", "tasks": {}}
    for task in tasks:
        folders = [out / task.name, *sorted(out.glob(f"{task.name}-from-*"))]
        folders = [folder for folder in folders if (folder / "trials.jsonl").exists()]
        if folders:
            cube, query, _ = task.load(data, out)
            parts = [c2n.read_comparison(folder, query) for folder in folders]
            trials = {trial.key: trial for part in parts for trial in part.trials}
            whole = replace(parts[0], trials=tuple(trials.values()))
            found["tasks"][task.name] = {"machine": machine, **stored(whole, repr(cube), repr(query))}
    return found


if __name__ == "__main__":
    main()
