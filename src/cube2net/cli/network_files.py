"""The files that commands write a network to: checked before any work, warned of, and said at the end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.cli.options import check_safe, warn_of_formulas
from cube2net.cli.terminal import say
from cube2net.progress import Progress, silent
from cube2net.records import Network


def check_files(out: Path | None, draw: Path | None, *, spreadsheet_safe: bool) -> None:
    """Raise where a network could not be written or drawn to these files."""
    check_safe(out, spreadsheet_safe, "--out network.csv")
    pipeline.check_outputs(out, draw, spreadsheet_safe=spreadsheet_safe)


def write_files(
    network: Network,
    out: Path | None,
    draw: Path | None = None,
    *,
    spreadsheet_safe: bool,
    progress: Progress = silent,
    **drawing: Any,
) -> list[Path]:
    """Return the files that a network was written and drawn to; what spreadsheets would run in them is warned of."""
    written = [] if out is None else pipeline.write_network(network, out, spreadsheet_safe=spreadsheet_safe)
    warn_of_formulas(written)
    if draw is not None:
        progress("drawing", 0, None)
        pipeline.draw_network(network, draw, **drawing)
        written.append(draw)
    return written


def say_files(paths: Iterable[Path]) -> None:
    """Say which files were written."""
    for path in paths:
        say(f"wrote {path}")
