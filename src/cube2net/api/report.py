"""Read comparisons, and write their reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cube2net._util.packages import require
from cube2net.api.compare import BY_NAME, JOURNAL, Methods, maker, named_methods
from cube2net.api.query import resolve_query
from cube2net.evaluation import trials
from cube2net.evaluation.report import page
from cube2net.evaluation.report.page import Report, illustrate, write_report_files
from cube2net.evaluation.statistics import compute_all_estimates
from cube2net.evaluation.trials import Make
from cube2net.evaluation.verdict import judge_comparison
from cube2net.model.comparison import Comparison
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call, check_path
from cube2net.model.query import Query


@check_call
def read_comparison(folder: str | Path, query: Query) -> Comparison:
    """Read the comparison saved in a folder.

    Parameters
    ----------
    folder
        The ``out`` of :func:`compare`, or of ``cube2net compare``.
    query
        The query that was compared.

    Returns
    -------
    Comparison
        All saved trials, also of an interrupted comparison.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.compare(cube, query, methods=["pagerank"], models=["deepwalk"], runs=2, out=folder)
    ...     c2n.read_comparison(folder, query)
    Comparison(clustering: 2 configurations × 1 model × 2 seeds)
    """
    return trials.read_comparison(check_path(folder, "the folder of the comparison") / JOURNAL, query)


def results(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict and its numbers as values for JSON."""
    return page.list_results(Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison)))


def check_report() -> None:
    """Raise an error if no report can be written here."""
    require("a report", "plotly", "jinja2")


def write_report(
    comparison: Comparison, folder: str | Path, cube: Cube, query: Query, *, methods: Methods | None, **options: Any
) -> list[Path]:
    """Write the report of a comparison and return its files; see :meth:`cube2net.Comparison.write_report`."""
    make = maker(cube, resolve_query(cube, query), {**BY_NAME, **named_methods(methods)})
    return report_files(make, comparison, folder, **options)


def report_files(
    make: Make,
    comparison: Comparison,
    folder: str | Path,
    *,
    command: str = "",
    title: str = "Did it help?",
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Return the files of the report of a comparison, the page first; ``make`` constructs its networks."""
    place = check_path(folder, "the folder of the report")
    check_report()
    said, estimates = judge_comparison(comparison), compute_all_estimates(comparison)
    report = Report(comparison, said, estimates, command=command, title=title)
    return write_report_files(illustrate(report, make), place, spreadsheet_safe=spreadsheet_safe)
