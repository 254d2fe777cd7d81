"""The verdict and the report of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cube2net._util.packages import require
from cube2net.api.compare import BY_NAME, JOURNAL, Methods, maker, named_methods
from cube2net.api.query import query_of
from cube2net.evaluation import trials
from cube2net.evaluation.report import page
from cube2net.evaluation.report.page import Illustrator, Report, write_report_files
from cube2net.evaluation.statistics import all_estimates
from cube2net.evaluation.trials import Make
from cube2net.evaluation.verdict import Verdict, judge_comparison
from cube2net.model.comparison import Comparison
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call, expect, path_of
from cube2net.model.query import Query
from cube2net.network.drawing.layout import layout


@check_call
def read_comparison(folder: str | Path, query: Query) -> Comparison:
    """Return the comparison of all trials that a folder holds, for the query they were made for.

    Parameters
    ----------
    folder
        The ``out`` of :func:`compare`, or of ``cube2net compare``.
    query
        The one that was compared.

    Returns
    -------
    Comparison
        As it was, also of one that was interrupted.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.compare(cube, query, methods=["pagerank"], models=["deepwalk"], runs=2, out=folder)
    ...     c2n.read_comparison(folder, query)
    Comparison(clustering: 2 configurations × 1 model × 2 seeds)
    """
    return trials.read_comparison(path_of(folder, "the folder of the comparison") / JOURNAL, query)


@check_call
def verdict(comparison: Comparison) -> Verdict:
    """Return which network helped, by how much, and how sure that is, in one sentence and in numbers.

    Parameters
    ----------
    comparison
        Of :func:`compare` or :func:`read_comparison`.

    Returns
    -------
    Verdict
        ``sentence`` summarizes it; ``helps`` says whether ``best`` is significantly better than the query alone, and
        ``differences`` are those of every configuration to it. ``notes`` name the networks whose clustering puts
        nearly all objects of the query in one cluster.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> labels = {name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]}
    >>> said = c2n.verdict(c2n.compare(cube, labels, methods=["pagerank"], models=["deepwalk"], runs=3))
    >>> said.helps, said.sentence
    (True, 'pagerank helps: F1 +0.3... over the query alone, at 120 nodes; NMI: pagerank 1.000, the query alone 0...')
    """
    return judge_comparison(expect(Comparison, comparison, "comparison"))


def results(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict, and the numbers it rests on, as JSON can carry them."""
    return page.list_results(Report(comparison, judge_comparison(comparison), all_estimates(comparison)))


def check_report() -> None:
    """Raise where no report can be made here, before any work is done for it."""
    require("a report", "plotly", "jinja2")


@check_call
def write_report(
    cube: Cube,
    query: Query,
    comparison: Comparison,
    folder: str | Path,
    *,
    methods: Methods | None = None,
    command: str = "",
    title: str = "Did it help?",
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Write the report of a comparison into a folder, and return its files: a page, tables as CSV, and JSON.

    It needs the packages of the extra ``report``.

    Parameters
    ----------
    cube, query
        Those that were compared.
    comparison
        Of :func:`compare` or :func:`read_comparison`.
    folder
        Where to; it is made where it is not there.
    methods
        Those of the comparison, where some are objects of your own.
    command
        The command to show as the one that does it again; without one none is shown.
    title
        What stands above the page.
    spreadsheet_safe
        Whether labels in the tables that spreadsheets would run as formulas get an apostrophe in front. By default they
        are written to the letter.

    Returns
    -------
    list of Path
        The page first.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]})
    >>> comparison = c2n.compare(cube, query, methods=["pagerank"], models=["deepwalk"], runs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in c2n.write_report(cube, query, comparison, folder)]
    ['report.html', 'trials.csv', 'scores.csv', 'costs.csv', 'results.json']
    """
    expect(Comparison, comparison, "comparison")
    make = maker(cube, query_of(cube, query), {**BY_NAME, **named_methods(methods)})
    safe = spreadsheet_safe
    return report_files(make, comparison, folder, command=command, title=title, spreadsheet_safe=safe)


def report_files(
    make: Make,
    comparison: Comparison,
    folder: str | Path,
    *,
    command: str = "",
    title: str = "Did it help?",
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Return the files of a comparison's report, the page first; ``make`` makes the networks that were compared."""
    place = path_of(folder, "the folder of the report")
    check_report()
    said, estimates = judge_comparison(comparison), all_estimates(comparison)
    report = Report(comparison, said, estimates, command=command, title=title)
    return write_report_files(Illustrator(make, layout).illustrate(report), place, spreadsheet_safe=spreadsheet_safe)
