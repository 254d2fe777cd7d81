"""Sheets of .xls, .xlsb and .ods workbooks, which the library calamine reads in a process of its own.

A damaged file can make a reader of such formats fail or take all memory, which then ends that process alone. For .xlsx
our own reader (``workbooks.py``) is more correct: it keeps whole numbers, dates by their format, and limits of size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

from cube2net._util.zip_files import Gauge, Meter
from cube2net.errors import SourceError

MAX_CPU_SECONDS = 300
MAX_MEMORY_BYTES = 8 * 2**30
PROGRAM = "import sys; sys.path.append({root!r}); from cube2net.io.tables.other_workbooks import main; main()"
TIMES = {"date": date, "datetime": datetime}
Row = tuple[int, dict[int, Any]]


def list_sheets(path: Path, meter: Meter) -> list[str]:
    """Return the names of the sheets of a workbook that are not hidden."""
    with closing(_run(path, None, meter.gauge(path))) as answers:
        names: list[str] = next(answers)
    return names


def read_sheet(path: Path, sheet: str, gauge: Gauge) -> list[Row]:
    """Return the rows of a sheet that hold anything: their numbers, and their values by the numbers of the columns."""
    with closing(_run(path, sheet, gauge)) as answers:
        next(answers)
        return [(number, {int(at): _value(cell) for at, cell in cells.items()}) for number, cells in answers]


def _value(cell: Any) -> Any:
    if isinstance(cell, dict):
        ((kind, text),) = cell.items()
        return TIMES[kind].fromisoformat(text)
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell


def _run(path: Path, sheet: str | None, gauge: Gauge) -> Generator[Any, None, None]:
    """Give what the other process answers: the names of the sheets, then the rows of one."""
    program = PROGRAM.format(root=str(Path(__file__).parents[3]))
    command = [sys.executable, "-c", program, str(path.absolute()), *([] if sheet is None else [sheet])]
    gauge.take(path.stat().st_size)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                gauge.count(len(line))
                answer = json.loads(line)
                if isinstance(answer, dict):
                    break
                yield answer
            else:
                answer = {} if process.wait() else None
        finally:
            process.kill()
    if answer is not None:
        if answer.get("error") == "PasswordError":
            raise SourceError(f"{path.name} is locked by a password: save it without one")
        raise SourceError(f"{path.name} cannot be read as a workbook: save it as .xlsx or .csv")


def main() -> None:
    """Write the sheets of a workbook, and the rows of one of them, as JSON: a line each."""
    import python_calamine

    with suppress(ImportError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    path, *sheet = sys.argv[1:]
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        shown = python_calamine.SheetVisibleEnum.Visible
        _write([about.name for about in book.sheets_metadata if about.visible == shown])
        for name in sheet:
            rows = book.get_sheet_by_name(name)
            top, left = rows.start or (0, 0)
            for number, cells in enumerate(rows.to_python(skip_empty_area=True), start=top + 1):
                filled = {at: _json(cell) for at, cell in enumerate(cells, start=left + 1) if cell != ""}
                if filled:
                    _write([number, filled])
    except python_calamine.CalamineError as error:
        _write({"error": type(error).__name__})


def _write(answer: Any) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")


def _json(cell: Any) -> Any:
    if type(cell) in TIMES.values():
        return {type(cell).__name__: cell.isoformat()}
    if isinstance(cell, bool | int | str):
        return cell
    return cell if isinstance(cell, float) and abs(cell) < float("inf") else str(cell)
