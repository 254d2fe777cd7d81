"""The pictures of docs/findings/performance.md, in colours that everybody can tell apart (Okabe and Ito's)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import ticker

OURS, GREY = "#0072B2", "#777777"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
MARKS = "osD^vPX*"
LOOKS = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}


def build_plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw seconds and memory of the build by size, beside a line of strict proportion, and the largest's stages."""
    with plt.rc_context(LOOKS):
        figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
        papers = [row["papers"] / 1e6 for row in rows]
        lines = (
            ("clock", [row["seconds"] for row in rows]),
            ("processor, all cores", [row["cpu"] for row in rows]),
        )
        for axis, drawn, what in (
            (axes[0], lines, "seconds"),
            (
                axes[1],
                (
                    ("all pages, mapped files too", [row["memory"]["peak"] / 1e9 for row in rows]),
                    ("the process's own", [row["memory"]["anon"] / 1e9 for row in rows]),
                    ("the cube on disk", [row["bytes"] / 1e9 for row in rows]),
                ),
                "GB, most at any time",
            ),
        ):
            for number, (label, values) in enumerate(drawn):
                axis.loglog(papers, values, color=COLOURS[number], marker=MARKS[number], label=label)
            first = drawn[0][1][0]
            straight = [first * each / papers[0] for each in papers]
            axis.loglog(papers, straight, color=GREY, linestyle=":", label="in proportion")
            axis.set_xlabel("million papers")
            axis.set_ylabel(what)
            axis.set_xticks(papers, [f"{each:g}" for each in papers])
            axis.minorticks_off()
            _plain(axis)
            axis.legend(frameon=False, fontsize=8)
        stages = [stage for stage in checkpoints_of(rows[-1]) if stage[1] > 0.01 * rows[-1]["seconds"]]
        axes[2].barh([name for name, _, _ in stages], [seconds for _, seconds, _ in stages], color=OURS)
        axes[2].invert_yaxis()
        axes[2].set_xlabel(f"seconds by the clock, {rows[-1]['papers']:,} papers")
        figure.savefig(path, dpi=110)
        plt.close(figure)


def _plain(axis: Any) -> None:
    """Write the numbers of a logarithmic axis out."""
    axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))


def _plain_x(axis: Any) -> None:
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))


def checkpoints_of(row: dict[str, Any]) -> list[tuple[str, float, int]]:
    """Return the stages of a build by name, each with its seconds and the most memory of its own."""
    found: dict[str, tuple[float, int]] = {}
    for stage in row["stages"]:
        name = stage["stage"].removeprefix("cube: ")
        seconds, anon = found.get(name, (0.0, 0))
        found[name] = (seconds + stage["seconds"], max(anon, stage["anon"] or 0))
    return [(name, seconds, anon) for name, (seconds, anon) in found.items()]


def race_plot(panels: dict[str, dict[str, float]], path: Path) -> None:
    """Draw the seconds of everybody, a panel for each task, from quick to slow."""
    with plt.rc_context({**LOOKS, "axes.grid.axis": "x"}):
        figure, axes = plt.subplots(2, 3, figsize=(12, 5.2), layout="constrained")
        for axis, (title, times) in zip(axes.flat, panels.items(), strict=False):
            order = sorted(times, key=lambda name: times[name])
            colours = [OURS if name.startswith("cube2net") else GREY for name in order]
            values = [1e3 * times[name] for name in order]
            names = [name.replace(", ", ",\n") for name in order]
            axis.hlines(names, min(values) / 3, values, color="#DDDDDD", linewidth=2, zorder=1)
            axis.scatter(values, names, color=colours, s=45, zorder=2)
            axis.set_xscale("log")
            axis.set_xlim(min(values) / 3, max(values) * 8)
            for place, value in enumerate(values):
                axis.text(value * 1.3, place, _short(value), va="center", fontsize=8)
            axis.set_ylim(len(values) - 0.5, -0.5)
            _plain_x(axis)
            axis.set_title(title, fontsize=10)
            axis.set_xlabel("milliseconds")
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def _short(value: float) -> str:
    return f"{value / 1e3:,.1f} s" if value >= 1_000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def throughput_plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw queries a second by processes, and the memory of all processes together, shared pages counted once."""
    with plt.rc_context(LOOKS):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        counts = [row["processes"] for row in rows]
        for number, kind in enumerate(rows[0]["kinds"]):
            rates = [row["kinds"][kind]["answered"] / row["kinds"][kind]["seconds"] for row in rows]
            axes[0].plot(counts, rates, color=COLOURS[number], marker=MARKS[number], label=kind)
        axes[0].set_ylabel("queries a second")
        axes[0].set_ylim(bottom=0)
        sums = {
            "all pages, added up": [sum(each["rss"] for each in row["memory"]) / 1e9 for row in rows],
            "shared pages once": [sum(each["pss"] for each in row["memory"]) / 1e9 for row in rows],
            "own pages": [sum(each["anonymous"] for each in row["memory"]) / 1e9 for row in rows],
        }
        for number, (label, values) in enumerate(sums.items()):
            axes[1].plot(counts, values, color=COLOURS[number], marker=MARKS[number], label=label)
        axes[1].axhline(rows[0]["bytes"] / 1e9, color=GREY, linestyle=":", label="the cube on disk")
        axes[1].set_ylabel("GB, all processes")
        axes[1].set_ylim(bottom=0)
        for axis in axes:
            axis.set_xlabel("processes")
            axis.set_xticks(counts)
            axis.legend(frameon=False, fontsize=8)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def growing_plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw time and touched memory of the same answer against the size of the graph."""
    with plt.rc_context(LOOKS):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
        links = [row["graph"] / 1e6 for row in rows]
        for number, kind in enumerate(rows[0]["kinds"]):
            times = [1e3 * row["kinds"][kind]["seconds"] for row in rows]
            axes[0].loglog(links, times, color=COLOURS[number], marker=MARKS[number], label=kind)
            touched = [row["kinds"][kind]["touched"] / 1e6 for row in rows]
            axes[1].loglog(links, [max(each, 0.1) for each in touched], color=COLOURS[number], marker=MARKS[number])
        number = len(rows[0]["kinds"])
        look = {"color": COLOURS[number], "marker": MARKS[number], "label": "open"}
        axes[0].loglog(links, [1e3 * row["opening"] for row in rows], **look)
        opened = [row["opened"] / 1e6 for row in rows]
        axes[1].loglog(links, [max(each, 0.1) for each in opened], **look)
        axes[1].loglog(links, [row["bytes"] / 1e6 for row in rows], color=GREY, linestyle=":", label="the cube on disk")
        axes[0].set_ylabel("milliseconds")
        axes[1].set_ylabel("MB touched the first time")
        for axis in axes:
            axis.set_xlabel("million links in the graph; the answer is the same")
            axis.set_xticks(links, [f"{each:.1f}" for each in links])
            axis.minorticks_off()
            _plain(axis)
        handles = [*axes[0].get_lines(), axes[1].get_lines()[-1]]
        figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=8)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def limits_plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw each kernel's time over its floor."""
    with plt.rc_context({**LOOKS, "axes.grid.axis": "x"}):
        figure, axis = plt.subplots(figsize=(9, 4), layout="constrained")
        names = [f"{row['kernel']}: {row['of']}" for row in rows]
        ratios = [row["seconds"] / row["floor"] for row in rows]
        axis.barh(names, [ratio - 1.0 for ratio in ratios], left=1.0, color=OURS)
        axis.set_xscale("log")
        for place, ratio in enumerate(ratios):
            axis.text(max(ratio, 1.0) * 1.05, place, f"{ratio:.1f} ×", va="center", fontsize=8)
        axis.axvline(1.0, color="#D55E00", linewidth=1.5)
        axis.set_xlim(min(0.8, *ratios), 2 * max(ratios))
        _plain_x(axis)
        axis.invert_yaxis()
        axis.set_xlabel("times the floor (1: nothing left to win without touching less)")
        figure.savefig(path, dpi=110)
        plt.close(figure)
