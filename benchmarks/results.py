"""The evidence: every method on real tasks, judged by the referee; writes the page docs/results.md.

    python benchmarks/results.py DATA OUT [--only labs] [--part 0] [--runs 10] [--page docs/results.md]

DATA is the folder of the raw data (``acl/`` and ``movies/``). Cubes, trials and reports go to OUT, a folder for every
task; what is there already is not made again, so an interrupted run goes on where it stopped. Without ``--only`` all
tasks are run, part after part, and then the page is written of all that is there; ``--page`` alone writes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cube2net as c2n
from cube2net.pipeline.comparing import compare
from cube2net.pipeline.reporting import write_report
from cube2net.records import Comparison, Cube, Query
from queries import areas, institutions, write
from results_page import write_page

ALL = ("none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy", "anneal", "exact", "cube2net")
LOCAL = ("none", "pagerank", "steiner", "maxdisc", "random", "greedy", "anneal", "exact", "cube2net")
FEW = ("none", "pagerank", "greedy", "anneal")
SMALL = ("cells", "woven")
SIGS = {"areas": ("sigmt", "sigdial", "sigbiomed", "sigedu"), "areas2": ("sigsem", "siggen", "sigslt", "sigarab")}


@dataclass(frozen=True)
class Task:
    """A query on a cube, and the comparisons to make: options of ``compare``, with the most runs where few suffice."""

    name: str
    load: Callable[[Path, Path], tuple[Cube, Query, dict[str, Any]]]
    parts: tuple[dict[str, Any], ...] = field(default=())


def acl(labels: str, without: tuple[str, ...] = ()) -> Callable[[Path, Path], tuple[Cube, Query, dict[str, Any]]]:
    """Return what loads the Anthology's cube, made without the volumes of some groups, and a labelled query."""

    def load(data: Path, out: Path) -> tuple[Cube, Query, dict[str, Any]]:
        archive = next((data / "acl").glob("*.tar.xz"))
        folder = out / "cubes" / ("acl" if not without else "acl-" + labels)
        if not folder.exists():
            c2n.build_cube(c2n.read_acl(archive, without_sigs=without), out=folder)
        path = data / "acl" / f"{labels}.csv"
        if not path.exists():
            path = out / "queries" / f"{labels}.csv"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                found = institutions(archive) if labels == "labs2" else areas(archive)
                if without and {label.lower() for label in found.values()} != set(without):
                    raise SystemExit(f"{labels} has other groups than the volumes that are left out: {without}")
                write(path, found)
        cube = c2n.open_cube(folder)
        return cube, c2n.read_query(cube, path, skip_missing=True), {"task": "clustering"}

    return load


def planted(data: Path, out: Path) -> tuple[Cube, Query, dict[str, Any]]:
    """Return four of twenty planted communities, noisy, with links that leave many of them apart."""
    made = c2n.make_planted(objects=3_000, communities=20, noise=0.4, links=2.0, within=0.6, seed=0)
    cube = c2n.build_cube(made.corpus)
    labels = {name: f"community {number}" for number in range(4) for name in made.query(number)}
    return cube, cube.query(labels), {"task": "clustering"}


def films(name: str) -> Callable[[Path, Path], tuple[Cube, Query, dict[str, Any]]]:
    """Return what loads a task of the paper's kind: films by genre and decade, their users, the latest links hidden."""

    def load(data: Path, out: Path) -> tuple[Cube, Query, dict[str, Any]]:
        archives = sorted((data / "movies").glob("*.tar.xz"))
        task = c2n.read_task("movies", *archives, name=name)
        folder = out / "cubes" / name
        if not folder.exists():
            c2n.build_cube(task.corpus, topics=c2n.find_topics(task.corpus, count=50), out=folder)
        cube = c2n.open_cube(folder)
        hidden = tuple(task.hidden[end].to_numpy() for end in ("source", "target"))
        return cube, cube.query(list(task.query)), {"task": "links", "hidden": hidden}

    return load


SWEEP = {"methods": ("none", "random", "greedy", "cube2net"), "objectives": ("jaccard",), "as_large": False}
FILMS = {
    "methods": ("none", "hops", "pagerank", "random", "greedy", "cube2net"),
    "objectives": ("jaccard",),
    "forms": ("objects", "woven"),
}
TASKS = (
    Task(
        "labs",
        acl("labs"),
        (
            {"methods": ALL},
            {**SWEEP, "forms": ("objects", "woven"), "m": (5, 10, 20, 50, 100), "miners": ("deepwalk", "node2vec")},
            {"methods": ("none", "hops 2"), "runs": 1},
        ),
    ),
    Task(
        "areas",
        acl("areas", SIGS["areas"]),
        (
            {"methods": LOCAL, "forms": SMALL},
            {"methods": ("none", "greedy"), "forms": SMALL, "m": (50, 100, 300), "objectives": ("jaccard", "coverage")},
            {
                "methods": ("none", "random", "greedy", "cube2net"),
                "objectives": ("jaccard",),
                "forms": ("objects",),
                "as_large": False,
                "runs": 3,
            },
            {"methods": ("none", "hops"), "runs": 1},
        ),
    ),
    Task("labs2", acl("labs2"), ({"methods": FEW, "objectives": ("jaccard", "coverage")},)),
    Task(
        "areas2",
        acl("areas2", SIGS["areas2"]),
        ({"methods": FEW, "forms": SMALL, "objectives": ("jaccard", "coverage")},),
    ),
    Task("planted", planted, ({"methods": ALL, "objectives": ("jaccard", "coverage"), "m": 16},)),
    Task("scifi00", films("scifi00"), (FILMS,)),
    Task("drama10", films("drama10"), (FILMS,)),
)
MINERS = {"clustering": ("deepwalk", "line", "node2vec"), "links": ("popularity", "softimpute", "ease")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--part", type=int, help="only this part of each task, from 0")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--page", type=Path, help="write the page only, of the trials that are there")
    asked = parser.parse_args()
    for task in TASKS:
        if asked.page is None and (not asked.only or task.name in asked.only):
            run(task, asked.data, asked.out, asked.runs, asked.part)
    if asked.page is not None or asked.only is None:
        done = {task.name: compared(task, asked.data, asked.out) for task in TASKS if there(task, asked.out)}
        write_page(done, asked.page or Path("docs/results.md"))


def there(task: Task, out: Path) -> bool:
    return (out / task.name / "trials.jsonl").exists()


def run(task: Task, data: Path, out: Path, runs: int, only: int | None) -> None:
    """Make the trials of a task, part after part, and its report."""
    cube, query, options = task.load(data, out)
    print(f"{task.name}: {cube}, {query}", flush=True)
    for number, part in enumerate(task.parts):
        if only in (None, number):
            wanted = {"miners": MINERS[options["task"]], **options, **part, "runs": min(runs, part.get("runs", runs))}
            print(number, compare(cube, query, out=out / task.name, progress=said, **wanted), flush=True)
    command = f"python benchmarks/results.py DATA OUT --only {task.name}"
    known = c2n.read_comparison(out / task.name, query)
    write_report(cube, query, known, out / task.name, command=command, title=f"Did it help? {task.name}")


def said(stage: str, done: int, total: int | None = None) -> None:
    if total and done % max(total // 20, 1) < 3:
        print(f"  {done:,} of {total:,}: {stage}", flush=True)


def compared(task: Task, data: Path, out: Path) -> Comparison:
    """Return all trials of a task that are there."""
    cube, query, _ = task.load(data, out)
    comparison = c2n.read_comparison(out / task.name, query)
    return replace(comparison, settings={**comparison.settings, "cube": repr(cube), "query": repr(query)})


if __name__ == "__main__":
    main()
