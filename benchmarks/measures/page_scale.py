"""What docs/findings/performance.md says of many queries, of growing graphs, and of the machine's limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measures import plots
from measures.growing import grown
from measures.page_words import Values, bytes_said, duration, remark, table
from measures.processes import Results


def throughput(results: Results, folder: Path) -> Values:
    """Return queries a second by processes, their memory, and what a second cube does."""
    rows = results.named("throughput-")
    if not rows:
        return None
    plots.throughput_plot(rows, folder / "performance-throughput.png")
    header = (
        "processes",
        *(f"{kind}, per second" for kind in rows[0]["kinds"]),
        "resident",
        "proportional",
        "private",
        "private, per process",
    )
    second = results.read("second-cube")
    said = ""
    if second:
        compared = [
            f"{kind} took {duration(times['alone'])} alone and {duration(times['beside'])} with the second cube "
            f"({times['beside'] / times['alone']:.2f} ×)"
            for kind, times in second["kinds"].items()
        ]
        said = (
            "To show the effect of a second cube, two processes run the same queries alternately, and one of them also "
            f"queries another cube in between. {', '.join(compared).capitalize()}; medians of {second['rounds']} turns."
        )
    return {
        "cores": str((results.read("machine") or {})["cores"]),
        "table": table(header, [_throughput_row(row) for row in rows]),
        "remark": remark(rows),
        "second": said,
    }


def _throughput_row(row: dict[str, Any]) -> tuple[str, ...]:
    sums = [sum(each[name] for each in row["memory"]) for name in ("rss", "pss", "anonymous")]
    rates = [f"{each['answered'] / each['seconds']:,.0f}" for each in row["kinds"].values()]
    return (str(row["processes"]), *rates, *(bytes_said(each) for each in sums), bytes_said(sums[2] / row["processes"]))


def growing(results: Results, folder: Path) -> Values:
    """Return time and memory of the same answers in graphs of all sizes."""
    found = grown(results)
    if not found:
        return None
    rows = found["rows"]
    plots.growing_plot(rows, folder / "performance-growing.png")
    kinds = rows[0]["kinds"]
    sizes = [f"{row['nodes']:,} nodes and {row['links']:,} links ({kind})" for kind, row in kinds.items()]
    return {
        "same": _same(rows),
        "answers": ", ".join(sizes),
        "table": table(
            ("links in the graph", "on disk", "open", *kinds, "touched: open", *kinds),
            [_growing_row(row) for row in rows],
        ),
        "remark": remark([found]),
    }


def _same(rows: list[dict[str, Any]]) -> str:
    """Return which kinds of answers are the same in every graph, and how far the others agree."""
    shares = {}
    for kind, first in rows[0]["kinds"].items():
        own = set(first["found"])
        others = [set(row["kinds"][kind]["found"]) for row in rows]
        shares[kind] = min(len(own & other) / len(own | other) for other in others)
    same = [kind for kind, share in shares.items() if share == 1]
    other = [f"{kind} shares at least {share:.1%} of all objects found" for kind, share in shares.items() if share < 1]
    said = f"exactly, for {', '.join(same)}"
    return said + (f"; {', '.join(other)}" if other else "")


def _growing_row(row: dict[str, Any]) -> tuple[str, ...]:
    kinds = row["kinds"].values()
    touched = [row["opened"], *(kind["touched"] for kind in kinds)]
    return (
        f"{row['graph']:,}",
        bytes_said(row["bytes"]),
        duration(row["opening"]),
        *(duration(kind["seconds"]) for kind in kinds),
        *(bytes_said(max(0, each)) for each in touched),
    )


def limits(results: Results, folder: Path) -> Values:
    """Return the machine's speeds, and every kernel's time over its floor."""
    found = results.read("limits")
    if not found:
        return None
    plots.limits_plot(found["kernels"], folder / "performance-limits.png")
    speeds = found["speeds"]
    rows = [
        (
            row["kernel"],
            row["of"],
            bytes_said(row["streamed"]),
            f"{sum(count for count, _ in row['fetched']):,.0f}",
            duration(row["floor"]),
            duration(row["seconds"]),
            f"{row['seconds'] / row['floor']:.1f} ×",
        )
        for row in found["kernels"]
    ]
    return {
        "stream": bytes_said(speeds["stream"]),
        "fetches": ", ".join(f"{bytes_said(int(size))} {1e9 * each:.1f} ns" for size, each in speeds["fetch"].items()),
        "table": table(
            ("kernel", "work", "sequential", "random reads", "floor", "time", "time / floor"), rows, texts=2
        ),
        "dense": duration(next(row["dense"] for row in found["kernels"] if "dense" in row) / speeds["stream"]),
        "remark": remark([found]),
    }
