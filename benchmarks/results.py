"""Compare the default network with the query alone, PageRank and hops on real tasks.

    python benchmarks/results.py DATA OUT [--only labs] [--part 0] [--runs 10] [--page docs/findings/results.md]

DATA is the folder of the raw data (``acl/`` and ``movies/``). Cubes, trials and reports are saved to OUT, one folder
per task and judge; existing ones are kept, so an interrupted run continues. Without ``--only`` all tasks are run, and
then the page is written from everything there; ``--page`` alone writes it. The tables of the paper are made by
``benchmarks/paper.py``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cube2net as c2n
from cube2net.api.compare import compare_by_name
from cube2net.model.comparison import Comparison
from results_page import write_page
from tasks import TASKS as LOADS
from tasks import Load


@dataclass(frozen=True)
class Task:
    """A query on a cube, and the comparisons to run: options of ``compare`` with the maximum number of runs."""

    name: str
    load: Load
    parts: tuple[dict[str, Any], ...] = field(default=())


HELPS = {"methods": ("none", "greedy"), "objectives": ("cover",), "forms": ("hybrid",)}
"""The default network, PageRank and hops as large, and the query alone."""
VARIANTS = (
    {"methods": ("none", "greedy"), "objectives": ("cover",), "forms": ("cells",), "runs": 3},
    {**HELPS, "levels": ("one",), "runs": 3},
    {**HELPS, "levels": ("full",), "as_large": False, "runs": 3},
    {"methods": ("none", "greedy"), "objectives": ("jaccard",), "forms": ("objects",), "runs": 3},
)
HIDDEN = {**HELPS, "task": "hidden", "runs": 5}
FILMS = ({"methods": ("none", "hops")}, HELPS, {**HELPS, "n_neighbors": (1200,), "as_large": False})
TASKS = (
    Task("labs", LOADS["labs"], (HELPS, HIDDEN, *VARIANTS)),
    Task("areas", LOADS["areas"], (HELPS, HIDDEN, *VARIANTS)),
    Task("labs2", LOADS["labs2"], (HELPS, HIDDEN, *VARIANTS)),
    Task("areas2", LOADS["areas2"], (HELPS, HIDDEN, *VARIANTS)),
    Task("planted", LOADS["planted"], (HELPS, HIDDEN, *VARIANTS)),
    Task("demo", LOADS["demo"], (HELPS, HIDDEN)),
    Task("fourarea", LOADS["fourarea"], (HELPS, HIDDEN)),
    Task("fourarea-large", LOADS["fourarea-large"], (HELPS, HIDDEN)),
    Task("debian", LOADS["debian"], (HELPS, HIDDEN)),
    Task("reviews", LOADS["reviews"], (HELPS, HIDDEN)),
    Task("scifi00", LOADS["scifi00"], FILMS),
    Task("drama10", LOADS["drama10"], FILMS),
)
MODELS = {"clustering": ("deepwalk", "line"), "hidden": ("deepwalk", "line"), "links": ("softimpute", "ease")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", choices=[task.name for task in TASKS])
    parser.add_argument(
        "--part", type=int, action="append", help="only this part of each task, from 0; may be repeated"
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--page", type=Path, help="write the page only, of the trials that are there")
    asked = parser.parse_args()
    for task in TASKS:
        if asked.page is None and (not asked.only or task.name in asked.only):
            run(task, asked.data, asked.out, asked.runs, asked.part)
    if asked.page is not None or asked.only is None:
        done = {
            (task.name, judge): compared(task, judge, asked.data, asked.out)
            for task in TASKS
            for judge in ("labels", "hidden")
            if there(task, asked.out, judge)
        }
        write_page(done, asked.page or Path("docs/findings/results.md"))


def folder(task: Task, out: Path, judge: str = "labels") -> Path:
    """Return the folder of the trials of a task; hidden links have a folder of their own."""
    return out / (task.name if judge == "labels" else f"{task.name}-hidden")


def there(task: Task, out: Path, judge: str = "labels") -> bool:
    """Return whether a task has trials."""
    return (folder(task, out, judge) / "trials.jsonl").exists()


def run(task: Task, data: Path, out: Path, runs: int, only: list[int] | None) -> None:
    """Run the trials of a task part by part, and write its reports."""
    cube, query, options = task.load(data, out)
    print(f"{task.name}: {cube}, {query}", flush=True)
    judges = []
    for number, part in enumerate(task.parts):
        if only is None or number in only:
            wanted = {**options, **part, "runs": min(runs, part.get("runs", runs))}
            judges.append("hidden" if wanted["task"] == "hidden" else "labels")
            wanted = {"models": MODELS[wanted["task"]], **wanted}
            place = folder(task, out, judges[-1])
            print(number, compare_by_name(cube, query, out=place, progress=said, **wanted), flush=True)
    for judge in dict.fromkeys(judges):
        command = f"python benchmarks/results.py DATA OUT --only {task.name}"
        known = c2n.read_comparison(folder(task, out, judge), query)
        title = f"Did it help? {task.name}, by {judge if judge == 'labels' else 'hidden links'}"
        known.write_report(folder(task, out, judge), cube, query, command=command, title=title)


def said(stage: str, done: int, total: int | None = None) -> None:
    if total and done % max(total // 20, 1) < 3:
        print(f"  {done:,} of {total:,}: {stage}", flush=True)


def compared(task: Task, judge: str, data: Path, out: Path) -> Comparison:
    """Return all trials of a task."""
    cube, query, _ = task.load(data, out)
    comparison = c2n.read_comparison(folder(task, out, judge), query)
    return replace(comparison, settings={**comparison.settings, "cube": repr(cube), "query": repr(query)})


if __name__ == "__main__":
    main()
