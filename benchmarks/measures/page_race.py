"""The tables of docs/findings/performance.md in which everybody gives the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measures import plots
from measures.page_words import bytes_said, duration, remark, table
from measures.processes import Results, median
from measures.race import HEATS, MISSING

Heat = dict[str, Any]


def heats_of(results: Results, mark: str) -> list[Heat]:
    """Return the heats that were run."""
    return [heat for heat in (results.read(name + mark) for name in HEATS) if heat]


def ready_table(results: Results) -> str:
    """Return what everybody took to get ready; an empty text where nobody ran."""
    rows: list[tuple[str, ...]] = []
    for heat in heats_of(results, ""):
        for name, row in heat["contestants"].items():
            if name == "cube2net, tight" or name in [each[0] for each in rows]:
                continue
            ready = row["ready"]
            if ready == MISSING:
                rows.append((name, row["note"], MISSING, "", ""))
                continue
            taken = bytes_said(max(ready["anon"], 0))
            rows.append((name, row["note"], duration(ready["seconds"]), taken, bytes_said(row["after"]["anon"])))
    header = ("", "call", "preparation", "memory for preparation", "total afterwards")
    return table(header, rows, texts=2) if rows else ""


def task_tables(results: Results, mark: str, picture: Path | None) -> tuple[str, str]:
    """Return a table for every task, with a remark where the machine was busy, and draw the times."""
    heats = heats_of(results, mark)
    tops = (results.read(f"exact{mark}") or {"tops": {}})["tops"]
    names = [task for heat in heats[:1] for task in heat["contestants"]["cube2net"]["tasks"]]
    parts, panels = [], {}
    for task in names:
        rows, times = _task(heats, task, tops)
        last = "of the exact top" if task.startswith("PageRank") else "same network"
        parts += [_title(heats[0], task), table(("", "time", "ratio", "CPU", "turns", last), rows)]
        name, _, size = task.rpartition(" ")
        panels[f"{name}, {int(size):,} objects"] = times
    if picture is not None:
        plots.race_plot(panels, picture)
    return "\n\n".join(parts), remark(heats)


def closest(results: Results) -> tuple[float, str, str] | None:
    """Return the smallest ratio of a peer's time to ours in any task, whose it is, and in which task."""
    found = []
    for heat in heats_of(results, ""):
        own = heat["contestants"]["cube2net"]["tasks"]
        for name, row in heat["contestants"].items():
            if not name.startswith("cube2net"):
                found += [
                    (median(row["tasks"][task]["turns"]) / median(own[task]["turns"]), name, task)
                    for task in row["tasks"]
                ]
    return min(found, default=None)


def _task(heats: list[Heat], task: str, tops: dict[str, list[int]]) -> tuple[list[tuple[str, ...]], dict[str, float]]:
    rows: list[tuple[str, ...]] = []
    times: dict[str, float] = {}
    for heat in heats:
        found = {name: row["tasks"][task] for name, row in heat["contestants"].items() if task in row["tasks"]}
        if "cube2net" not in found:
            continue
        own = found["cube2net"]
        for name, row in found.items():
            if name in times:
                continue
            taken = times[name] = median(row["turns"])
            ratio = "1" if row is own else f"{taken / median(own['turns']):,.1f} ×"
            if heat is not heats[0]:
                ratio += f" (cube2net: {duration(median(own['turns']))})"
            note = _share(row, tops, task) if task.startswith("PageRank") else _equal(row, own)
            rows.append((name, duration(taken), ratio, duration(median(row["cpus"])), str(len(row["turns"])), note))
    return rows, times


def _equal(row: dict[str, Any], own: dict[str, Any]) -> str:
    return "yes" if row["sum"] == own["sum"] else f"**no**: {row['nodes']:,} nodes, {row['links']:,} links"


def _share(row: dict[str, Any], tops: dict[str, list[int]], task: str) -> str:
    exact = set(tops.get(task.split()[-1], ()))
    return f"{len(exact & set(row['top'])) / len(exact):.1%}" if exact else "–"


def _title(heat: Heat, task: str) -> str:
    own = heat["contestants"]["cube2net"]["tasks"][task]
    name, _, size = task.rpartition(" ")
    if name == "PageRank":
        return f"**PageRank from {int(size):,} objects**, the top {len(own['top']):,}:"
    return f"**{name.capitalize()} from {int(size):,} objects**, {own['nodes']:,} nodes and {own['links']:,} links:"
