"""The commands that tell groups of objects apart and say where objects are: contrast, describe and drill."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import cube2net as c2n
from cube2net._util.statistics import LEVEL
from cube2net.apps.cli.options import (
    AsJson,
    Between,
    CubePath,
    QueryFile,
    Quiet,
    RollUp,
    Seed,
    SkipMissing,
    SpreadsheetSafe,
    Where,
)
from cube2net.apps.cli.output import say, show_json, show_table, shown_progress
from cube2net.apps.cli.query import (
    apply_view,
    check_files,
    describe_missing,
    describe_view,
    show_files,
    show_missing,
    show_view,
    write_files,
)

if TYPE_CHECKING:
    from cube2net.model.contrast import Contrast, Description, Drilled
    from cube2net.model.cube import Cube
    from cube2net.model.query import Query


MaxCells = Annotated[int, typer.Option(help="Maximum number of cells for each contrast.")]
Alpha = Annotated[
    float, typer.Option(help="Significance level: only cells with a corrected p-value of at most this are chosen.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the network of all objects with the cells as nodes, in any format that query writes.",
    ),
]
Draw = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw this network: .png .svg .pdf.")]


def contrast(
    cube: CubePath,
    query: QueryFile,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Objects to compare with. Default: each label of the query is compared with the rest."
        ),
    ] = None,
    n_cells: MaxCells = 10,
    alpha: Alpha = 0.05,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    out: Out = None,
    draw: Draw = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find a few cells at mixed levels that distinguish two queries, or the labels of one query."""
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    view = apply_view(c2n.open(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        files = [query] if against is None else [query, against]
        queries = [c2n.read_query(view, file, skip_missing=skip_missing) for file in files]
        result = run_contrast(view, queries, files, n_cells, alpha)
        paths = write_network(result, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    show_result(result, view, queries, paths, as_json=as_json)


def describe(
    cube: CubePath,
    clusters: Annotated[
        Path, typer.Option(metavar="FILE", help="A table object,cluster: CSV, Excel, Parquet or JSON lines.")
    ],
    n_cells: MaxCells = 10,
    alpha: Alpha = 0.05,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    out: Out = None,
    draw: Draw = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Describe clusters of objects: for each cluster, find a few cells that distinguish it from the others."""
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    view = apply_view(c2n.open(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        query = c2n.api.read_clusters(view, clusters, skip_missing=skip_missing)
        result = c2n.api.describe_clusters(view, query, n_cells, alpha=alpha)
        paths = write_network(result, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    show_result(result, view, [query], paths, as_json=as_json)


def run_contrast(
    cube: Cube, queries: Sequence[Query], files: Sequence[Path], n_cells: int, alpha: float
) -> Contrast | Description:
    """Contrast two queries, named after their files, or the labels of one query."""
    if len(queries) == 1:
        return c2n.contrast(cube, queries[0], n_cells=n_cells, alpha=alpha)
    first, second = queries
    return c2n.contrast(cube, first, second, n_cells, names=make_side_names(*files), alpha=alpha)


def make_side_names(first: Path, second: Path) -> tuple[str, str]:
    """Return names for the sides of two files: the file names without endings, or if equal, longer ones.

    >>> make_side_names(Path("a/labs.csv"), Path("b/areas.csv"))
    ('labs', 'areas')
    >>> make_side_names(Path("a/labs.csv"), Path("b/labs.csv"))
    ('a/labs.csv', 'b/labs.csv')
    >>> make_side_names(Path("labs.csv"), Path("labs.csv"))
    ('labs', 'labs (again)')
    """
    if first.stem != second.stem:
        return first.stem, second.stem
    if first == second:
        return first.stem, f"{first.stem} (again)"
    return (first.name, second.name) if first.name != second.name else (str(first), str(second))


def write_network(
    result: Contrast | Description, out: Path | None, draw: Path | None, *, spreadsheet_safe: bool, seed: int
) -> list[Path]:
    """Write and draw the network of a contrast, and return the files; without any, it is not constructed."""
    if out is None and draw is None:
        return []
    return write_files(result.network, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed, name_cells=True)


def show_result(
    result: Contrast | Description, cube: Cube, queries: Sequence[Query], paths: Sequence[Path], *, as_json: bool
) -> None:
    """Print a contrast, the part of the cube it used, objects left out, and the files written."""
    if as_json:
        show_json(result.to_dict() | describe_view(cube, brings=False) | describe_missing(*queries))
        return
    show_view(cube, brings=False)
    show_contrasts(result)
    show_missing(*queries, cube=cube)
    if paths:
        say("")
        show_files(paths)


def show_contrasts(result: Contrast | Description) -> None:
    """Show the cells of each contrast, and a sentence."""
    from cube2net.model.contrast import Description

    for number, contrast_result in enumerate(result.contrasts if isinstance(result, Description) else (result,)):
        if number:
            say("")
        show_contrast(contrast_result)
    if isinstance(result, Description) and result.note:
        say(result.note)


def show_contrast(result: Contrast) -> None:
    """Show the cells of a contrast in a table, with notes."""
    first_name, second_name = result.names
    if result.cells:
        columns = ("cell", first_name, second_name, "lift", "difference, 95 %", "p")
        rows = [
            (
                cell.title,
                f"{cell.shares[0]:.0%} ({cell.in_first:,})",
                f"{cell.shares[1]:.0%} ({cell.in_second:,})",
                "∞" if math.isinf(cell.lift) else f"{cell.lift:,.1f}",
                f"{cell.difference:+.2f} ({cell.low:+.2f} to {cell.high:+.2f})",
                f"{cell.p_value:.2g}",
            )
            for cell in result.cells
        ]
        show_table(f"{first_name} against {second_name}", columns, rows, right=columns[1:])
    say(result.sentence)
    if result.cells:
        say(f"{_describe_value(result)}; {_describe_tests(result)}")


def _describe_value(result: Contrast) -> str:
    if result.proven:
        return f"value {result.value:.3f}, which is optimal for this number of cells"
    return f"value {result.value:.3f}, at most {result.bound:.3f}"


def _describe_tests(result: Contrast) -> str:
    explained = f", {result.explained:,} of them explained by more general ones" if result.explained else ""
    level = "" if result.alpha <= LEVEL else f" at the level {result.alpha:g}"
    return f"{result.tested:,} cells tested, {result.n_significant:,} significant{level}{explained}"


def drill(
    cube: CubePath,
    query: QueryFile,
    cell: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="The cell to drill into: a label of any level, or ∗ (or *), for each dimension, as in '201X, ACL, *'; "
            "or a single label. Default: the whole cube.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Maximum number of cells.")] = 10,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the few cells below a cell that contain most of a query and few other objects."""
    with shown_progress(quiet or as_json):
        view = apply_view(c2n.open(cube), where, roll_up, between)
        query_objects = c2n.read_query(view, query, skip_missing=skip_missing)
        drilled = c2n.drill(view, query_objects, cell, k)
    if as_json:
        show_json(drilled.to_dict() | describe_view(view, brings=False) | describe_missing(query_objects))
    else:
        show_view(view, brings=False)
        show_drilled(drilled)
        show_missing(query_objects, cube=view)


def show_drilled(drilled: Drilled) -> None:
    """Show the cells in a table, and a sentence."""
    if drilled.cells:
        numbers = ("of the query", "new", "objects", "share", "lift", "bits")
        rows = [
            (
                rank,
                *cell.labels,
                f"{cell.query_objects:,}",
                f"{cell.new:,}",
                f"{cell.objects:,}",
                f"{cell.share:.1%}",
                f"{cell.lift:.1f}",
                f"{cell.bits:.1f}",
            )
            for rank, cell in enumerate(drilled.cells, start=1)
        ]
        columns = ("rank", *drilled.dimensions, *numbers)
        show_table(f"cells below {drilled.title}", columns, rows, right=("rank", *numbers))
        say("new: objects in no earlier cell; bits: code length saved (one of n objects takes log2 n)")
    say(drilled.sentence)
