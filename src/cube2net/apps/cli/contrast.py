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


Most = Annotated[int, typer.Option(help="How many cells at most, for each group where there are several.")]
Alpha = Annotated[
    float, typer.Option(help="Significance level: only cells with a corrected p-value up to this are chosen.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the network of all objects with the cells as nodes, as query does."),
]
Draw = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw that network: .png .svg .pdf.")]


def contrast(
    cube: CubePath,
    query: QueryFile,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Objects to tell them from. Without, each label of the query from the rest."),
    ] = None,
    n_cells: Most = 10,
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
    """Tell two queries apart, or the labels of one, by a few cells at mixed levels."""
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = apply_view(c2n.open(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        files = [query] if against is None else [query, against]
        asked = [c2n.read_query(opened, file, skip_missing=skip_missing) for file in files]
        found = run_contrast(opened, asked, files, n_cells, alpha)
        paths = write_network(found, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    tell(found, opened, asked, paths, as_json=as_json)


def describe(
    cube: CubePath,
    clusters: Annotated[
        Path, typer.Option(metavar="FILE", help="A table object,cluster: CSV, Excel, Parquet or JSON lines.")
    ],
    n_cells: Most = 10,
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
    """Say what clusters of objects are: for each, the few cells that tell it from the others."""
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = apply_view(c2n.open(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        asked = c2n.api.read_clusters(opened, clusters, skip_missing=skip_missing)
        found = c2n.api.describe_clusters(opened, asked, n_cells, alpha=alpha)
        paths = write_network(found, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    tell(found, opened, [asked], paths, as_json=as_json)


def run_contrast(
    cube: Cube, queries: Sequence[Query], files: Sequence[Path], n_cells: int, alpha: float
) -> Contrast | Description:
    """Return what tells two queries apart, called as their files are, or the labels of one."""
    if len(queries) == 1:
        return c2n.contrast(cube, queries[0], n_cells=n_cells, alpha=alpha)
    one, two = queries
    return c2n.contrast(cube, one, two, n_cells, names=side_names(*files), alpha=alpha)


def side_names(one: Path, two: Path) -> tuple[str, str]:
    """Return what to call the sides of two files: what their names are without endings, or what else tells them apart.

    >>> side_names(Path("a/labs.csv"), Path("b/areas.csv")), side_names(Path("a/labs.csv"), Path("b/labs.csv"))
    (('labs', 'areas'), ('a/labs.csv', 'b/labs.csv'))
    >>> side_names(Path("labs.csv"), Path("labs.csv"))
    ('labs', 'labs (again)')
    """
    if one.stem != two.stem:
        return one.stem, two.stem
    if one == two:
        return one.stem, f"{one.stem} (again)"
    return (one.name, two.name) if one.name != two.name else (str(one), str(two))


def write_network(
    found: Contrast | Description, out: Path | None, draw: Path | None, *, spreadsheet_safe: bool, seed: int
) -> list[Path]:
    """Return the files that the network of a contrast was written and drawn to; without any it is not made."""
    if out is None and draw is None:
        return []
    return write_files(found.network, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed, name_cells=True)


def tell(
    found: Contrast | Description, cube: Cube, queries: Sequence[Query], paths: Sequence[Path], *, as_json: bool
) -> None:
    """Print a contrast, the part of the cube it used, objects left out, and the files written."""
    if as_json:
        show_json(found.to_dict() | describe_view(cube, brings=False) | describe_missing(*queries))
        return
    show_view(cube, brings=False)
    show_contrasts(found)
    show_missing(*queries, cube=cube)
    if paths:
        say("")
        show_files(paths)


def show_contrasts(found: Contrast | Description) -> None:
    """Show the cells of each contrast, and a sentence."""
    from cube2net.model.contrast import Description

    for number, each in enumerate(found.contrasts if isinstance(found, Description) else (found,)):
        if number:
            say("")
        show_contrast(each)
    if isinstance(found, Description) and found.note:
        say(found.note)


def show_contrast(found: Contrast) -> None:
    """Show the cells of a contrast in a table, with notes."""
    one, two = found.names
    if found.cells:
        columns = ("cell", one, two, "lift", "difference, 95 %", "p")
        rows = [
            (
                cell.title,
                f"{cell.shares[0]:.0%} ({cell.in_first:,})",
                f"{cell.shares[1]:.0%} ({cell.in_second:,})",
                "∞" if math.isinf(cell.lift) else f"{cell.lift:,.1f}",
                f"{cell.difference:+.2f} ({cell.low:+.2f} to {cell.high:+.2f})",
                f"{cell.p_value:.2g}",
            )
            for cell in found.cells
        ]
        show_table(f"{one} against {two}", columns, rows, right=columns[1:])
    say(found.sentence)
    if found.cells:
        say(f"{_worth(found)}; {_looked_at(found)}")


def _worth(found: Contrast) -> str:
    if found.proven:
        return f"value {found.value:.3f}, which is optimal for this number of cells"
    return f"value {found.value:.3f}, at most {found.bound:.3f}"


def _looked_at(found: Contrast) -> str:
    explained = f", {found.explained:,} of them explained by more general ones" if found.explained else ""
    level = "" if found.alpha <= LEVEL else f" at the level {found.alpha:g}"
    return f"{found.tested:,} cells tested, {found.n_significant:,} significant{level}{explained}"


def drill(
    cube: CubePath,
    query: QueryFile,
    cell: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="The cell to drill into: a label of any level, or ∗ (or *), for each dimension, as '201X, ACL, *'; "
            "or one label. By default, the complete cube.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many cells at most.")] = 10,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the cells below a cell that hold most of a query at least cost, and what is left over."""
    with shown_progress(quiet or as_json):
        opened = apply_view(c2n.open(cube), where, roll_up, between)
        asked = c2n.read_query(opened, query, skip_missing=skip_missing)
        found = c2n.drill(opened, asked, cell, k)
    if as_json:
        show_json(found.to_dict() | describe_view(opened, brings=False) | describe_missing(asked))
    else:
        show_view(opened, brings=False)
        show_drilled(found)
        show_missing(asked, cube=opened)


def show_drilled(found: Drilled) -> None:
    """Show the cells, and in one sentence what they hold."""
    if found.cells:
        numbers = ("of the query", "new", "objects", "share", "lift", "bits")
        rows = [
            (
                rank,
                *each.labels,
                f"{each.query_objects:,}",
                f"{each.new:,}",
                f"{each.objects:,}",
                f"{each.share:.1%}",
                f"{each.lift:.1f}",
                f"{each.bits:.1f}",
            )
            for rank, each in enumerate(found.cells, start=1)
        ]
        columns = ("rank", *found.dimensions, *numbers)
        show_table(f"cells below {found.title}", columns, rows, right=("rank", *numbers))
        say("new: objects in no earlier cell; bits: code length saved (one of n objects takes log2 n)")
    say(found.sentence)
