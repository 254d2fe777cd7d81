"""What the commands say of the tables that they write for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cube2net.cli.terminal import complain
from cube2net.errors import ParameterError
from cube2net.escaping import formulas_in


def check_safe(out: Path | None, spreadsheet_safe: bool, example: str) -> None:
    """Raise where tables are to be safe for spreadsheets and none is written."""
    if spreadsheet_safe and out is None:
        raise ParameterError(f"--spreadsheet-safe guards CSV files, and none is written: add {example}")


def warn_of_formulas(paths: Iterable[Path]) -> None:
    """Say which of the tables written hold cells that a spreadsheet would run."""
    for path in paths:
        count = formulas_in(path) if path.suffix.lower() == ".csv" else 0
        if count:
            begin = f"{count:,} cell{'s begin' if count > 1 else ' begins'}"
            complain(
                f"{path.name}: {begin} with =, +, - or @, which spreadsheets run as formulas "
                "(--spreadsheet-safe guards them)"
            )
