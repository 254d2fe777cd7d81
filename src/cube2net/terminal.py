"""What a person sees: progress and tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cube2net.compiling import told_to
from cube2net.interfaces import Progress
from cube2net.pulse import SOON, Pulse


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[Progress | None]:
    """Give a progress callback: bars on a terminal, plain lines on standard error elsewhere."""
    if quiet:
        with told_to(None):
            yield None
    elif sys.stderr.isatty():
        with _bars() as bars, Pulse(bars, terminal=True) as progress:
            yield progress
    else:
        with Pulse(PlainLines()) as progress:
            yield progress


class PlainLines:
    """Progress as lines: one when a stage begins, and one every few seconds while it lasts.

    A stage is what stands before a colon; what stands behind it may change from step to step.
    """

    def __init__(self) -> None:
        self.stage = ""
        self.said = 0.0

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Write a line if the stage is new or the last line is old."""
        now = time.monotonic()
        name = stage.partition(":")[0]
        if not done == total == 1:
            if name == self.stage and now - self.said < SOON:
                return
            self.stage, self.said = name, now
        remark = done == total == 1
        much = f" {done:,}" + (f" of {total:,}" if total is not None else "") if done and not remark else ""
        sys.stderr.write(f"{stage}{much}\n")
        sys.stderr.flush()


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)

        def progress(stage: str, done: int, total: int | None = None) -> None:
            if done == total == 1:
                bars.console.print(stage, highlight=False, markup=False)
            bars.update(task, description=stage, completed=done, total=total)

        yield progress


def say(*lines: str) -> None:
    """Write lines to standard output."""
    sys.stdout.write("\n".join(lines) + "\n")


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = ()) -> None:
    """Write a table to standard output; the columns named in ``right`` are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_printable(str(value)) for value in row))
    width = None if sys.stdout.isatty() else 110
    Console(width=width, highlight=False, markup=False, emoji=False).print(table)


def _printable(text: str) -> str:
    """Return a text without the signs that steer a terminal."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)
