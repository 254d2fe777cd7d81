"""Run the parts, and print and save their counts."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cube2net
from stress import ROOT, disk, exchange, fuzz, kills, names, signals, writers
from stress.outcome import Outcome

MINUTES = 15.0


@dataclass(frozen=True)
class Part:
    """A part of the run: its guarantee, its unit, the maximum number of units, and its share of the time."""

    promise: str
    unit: str
    count: int
    share: float
    run: Callable[[Outcome, Path], Outcome]


PARTS: dict[str, Part] = {
    "fuzz": Part("damaged input of each reader: a result or one error message", "inputs", 100_000, 0.28, fuzz.run),
    "exports": Part("damaged citation exports: a cube or one error message", "inputs", 20_000, 0.06, fuzz.run_exports),
    "large": Part(
        "wrong entries in a large cube: a result or one error message", "inputs", 2_000, 0.10, fuzz.run_large
    ),
    "kills": Part(
        "after kill −9, the old or the new output is complete and nothing else is left", "kills", 300, 0.32, kills.run
    ),
    "exchange": Part(
        "readers always open one complete cube while others write", "openings", 10_000, 0.08, exchange.run
    ),
    "writers": Part("two simultaneous writers lose nothing", "rounds", 60, 0.05, writers.run),
    "disk": Part("a full disk gives one error message and keeps the old state", "full disks", 60, 0.03, disk.run),
    "names": Part("names from data cannot control a terminal", "commands", 400, 0.03, names.run),
    "signals": Part("Ctrl-C and SIGTERM take effect within 2 s", "signals", 60, 0.05, signals.run),
}
"""In the order in which they run; shares of the time add up to 1."""


def main() -> int:
    """Run the parts; return 1 if anything failed."""
    asked = _arguments()
    out = Path(asked.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if asked.again:
        return _again(*asked.again)
    with tempfile.TemporaryDirectory(prefix="cube2net-stress-") as scratch:
        outcomes = [_run(name, out, asked, Path(scratch)) for name in asked.parts or PARTS]
    summary = {"about": _about(asked.minutes, asked.seed), "parts": [outcome.plain() for outcome in outcomes]}
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    text = "\n".join(_table(summary))
    (out / "summary.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    for outcome in outcomes:
        for kind, count in outcome.failures.most_common():
            print(f"FAILED {outcome.part}: {count:,} × {kind}")
    if asked.page:
        write_page(Path(asked.page), summary)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _run(name: str, out: Path, asked: argparse.Namespace, scratch: Path) -> Outcome:
    part = PARTS[name]
    wanted, seconds = round(part.count * max(1.0, asked.minutes / MINUTES)), 60 * asked.minutes * part.share
    if asked.count is not None:
        wanted, seconds = asked.count, math.inf
    outcome = Outcome(name, part.unit, wanted, seconds, out, asked.seed)
    for old in (out / "failures").glob(f"{name}-*"):
        shutil.rmtree(old)
    part.run(outcome, scratch).end()
    counted = f"{outcome.done:,} {part.unit} in {outcome.took:.0f} s, {sum(outcome.failures.values()):,} failed"
    print(f"{'PASS' if outcome.passed else 'FAIL'} {name}: {counted}", flush=True)
    return outcome


def _again(part: str, target: str, seed: str) -> int:
    with tempfile.TemporaryDirectory(prefix="cube2net-stress-") as scratch:
        verdict = fuzz.again(part, target, int(seed), Path(scratch))
    print(verdict.kind, verdict.told, sep="\n")
    return 0 if verdict.sound else 1


def _about(minutes: float, seed: int) -> dict[str, Any]:
    return {
        "version": cube2net.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "minutes": minutes,
        "seed": seed,
        "day": time.strftime("%Y-%m-%d"),
    }


def _table(summary: dict[str, Any]) -> list[str]:
    """Return the counts as a table in Markdown."""
    lines = ["| part | guarantee | runs | failed | minutes | notes |", "| --- | --- | --- | --- | --- | --- |"]
    for part in summary["parts"]:
        name = part["part"]
        beside = "; ".join(f"{key} {value:,}" if isinstance(value, int | float) else f"{key}: {value}"
                           for key, value in part["notes"].items())  # fmt: skip
        lines.append(
            f"| {name} | {PARTS[name].promise} | {part['done']:,} {part['unit']} | {part['failed']:,} "
            f"| {part['seconds'] / 60:.1f} | {beside} |"
        )
    return lines


START, END = "<!-- counts: written by `python -m stress --page` -->", "<!-- end of counts -->"


def write_page(page: Path, summary: dict[str, Any]) -> None:
    """Write the counts of a run between two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    about = summary["about"]
    said = (
        f"Run of {about['day']}: {about['minutes']:g} minutes on {about['cores']} cores, Python {about['python']}, "
        f"{about['system']}, seed {about['seed']}."
    )
    block = "\n".join([START, "", said, "", *_table(summary), "", END])
    page.write_text(before + block + rest.partition(END)[2], encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"which parts to run, of {', '.join(PARTS)}; all without")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long all parts together may take")
    parser.add_argument("--count", type=int, help="how many units of each part to do, however long that takes")
    parser.add_argument("--seed", type=int, default=1, help="the first number that inputs are made from")
    parser.add_argument("--out", default=str(ROOT / "stress-out"), help="where counts and failures are written")
    parser.add_argument("--page", help="also put the counts into this page")
    parser.add_argument("--again", nargs=3, metavar=("PART", "TARGET", "SEED"), help="repeat one damaged input")
    asked = parser.parse_args()
    unknown = set(asked.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
