"""What docs/findings/performance.md says of building a cube and of asking it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measures import plots
from measures.answers import PAPER
from measures.page_words import Values, bytes_said, duration, remark, table
from measures.processes import Results


def builds_of(results: Results) -> list[dict[str, Any]]:
    """Return the builds that were not told how much memory to use, by size."""
    return [row for row in results.named("build-") if row["limit"] is None]


def build(results: Results, folder: Path) -> Values:
    """Return the builds by size, and the stages of the largest."""
    rows = builds_of(results)
    if not rows:
        return None
    plots.build_plot(rows, folder / "performance-build.png")
    last, limited = rows[-1], [row for row in results.named("build-") if row["limit"] is not None]
    header = (
        "papers",
        "objects",
        "links",
        "cells",
        "time",
        "CPU",
        "µs per paper",
        "private memory",
        "resident memory",
        "on disk",
    )
    stages = [
        (name, duration(seconds), f"{seconds / last['seconds']:.0%}", bytes_said(anon) if anon else "–")
        for name, seconds, anon in plots.checkpoints_of(last)
        if seconds > 0.002 * last["seconds"]
    ]
    made = [
        f"{row['papers']:,} papers in {duration(row['seconds'])}" for row in results.named("make-") if row["seconds"]
    ]
    return {
        "table": table(header, [_build_row(row) for row in rows + limited]),
        "remark": remark(rows + limited),
        "papers": f"{last['papers']:,}",
        "stages": table(("stage", "time", "share", "private memory"), stages),
        "made": f"The literatures themselves were made before: {', '.join(made)}." if made else "",
    }


def _build_row(row: dict[str, Any]) -> tuple[str, ...]:
    limit = f' (`memory="{row["limit"]}"`)' if row["limit"] else ""
    return (
        f"{row['papers']:,}{limit}",
        *(f"{row[name]:,}" for name in ("objects", "links", "cells")),
        duration(row["seconds"]),
        duration(row["cpu"]),
        f"{1e6 * row['seconds'] / row['papers']:.1f}",
        *(bytes_said(row["memory"][name]) for name in ("anon", "peak")),
        bytes_said(row["bytes"]),
    )


def update(results: Results, folder: Path) -> Values:
    """Return updates beside rebuilds."""
    rows = results.named("update-")
    if not rows:
        return None
    same = all(row["same"] for row in rows)
    return {
        "papers": f"{rows[0]['papers']:,} papers",
        "same": "Both give byte-identical files." if same else "**They give other files, which is a fault.**",
        "table": table(
            ("papers added", "update", "CPU", "rebuild", "CPU", "rebuild / update", "by CPU time"),
            [
                (
                    f"{row['added']:,}",
                    *(duration(row[name][of]) for name in ("update", "rebuild") for of in ("seconds", "cpu")),
                    *(f"{row['rebuild'][of] / row['update'][of]:.1f} ×" for of in ("seconds", "cpu")),
                )
                for row in rows
            ],
        ),
        "remark": remark(rows),
    }


def answers(results: Results, folder: Path) -> Values:
    """Return what a process pays once, and every method's answer."""
    opened, found = results.read("open"), results.named("answers-")
    if not opened or not found:
        return None
    came = " and ".join(
        f"{bytes_said(opened['opened'][name])} {what}" for name, what in (("anon", "of private"), ("file", "mapped"))
    )
    once = [
        ("open the first cube of a process, including imports", duration(opened["opening"])),
        (f"open a cube ({came} of memory)", duration(opened["reopening"])),
        (f"find {opened['size']} objects by id, first time", duration(opened["finding"])),
        ("find them again", duration(opened["finding again"])),
        ("first answer (one hop), including loading the kernels", duration(opened["first"])),
        ("second answer", duration(opened["second"])),
    ]
    header = (
        "method",
        "time",
        "CPU",
        "choose",
        "learn",
        "links",
        "nodes",
        "links found",
        "jaccard",
        "paper: time",
        "paper: nodes",
    )
    tables = []
    for one in found:
        rows = [_answer_row(name, row, PAPER.get(one["size"], {})) for name, row in one["methods"].items()]
        tables.append(f"**{one['size']:,} objects**, of which {one['touched']:,} cells contain at least one:")
        tables.append(table(header, rows))
    return {
        **{name: f"{opened['cube'][name]:,}" for name in ("objects", "links", "cells")},
        "disk": bytes_said(opened["bytes"]),
        "once": table(("once", "time"), once),
        "m": str(found[0]["cells"]),
        "answers": "\n\n".join(tables),
        "remark": remark([opened, *found]),
    }


def _answer_row(name: str, row: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, ...]:
    parts = row["parts"]
    learn = parts.get("train", 0.0) + parts.get("vectors", 0.0)
    choose = parts.get("select", 0.0) + parts.get("weigh", 0.0)
    paper = (f"{theirs[name][0]:,} s", f"{theirs[name][1]:,}") if name in theirs else ("", "")
    return (
        name,
        duration(row["seconds"]),
        duration(row["cpu"]) if "cpu" in row else "",
        duration(choose) if parts else "",
        duration(learn) if learn else "",
        duration(parts["links"]) if parts else "",
        f"{row['nodes']:,}",
        f"{row['links']:,}",
        f"{row['value']:.3f}" if row.get("value") else "",
        *paper,
    )
