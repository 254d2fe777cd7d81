"""The command that drills into a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cube2net.cli.options import AsJson, Between, CubePath, QueryFile, Quiet, RollUp, SkipMissing, Where
from cube2net.cli.terminal import say, show_json, show_table, shown_progress

if TYPE_CHECKING:
    from cube2net.records.drilled import Drilled


def drill(
    cube: CubePath,
    query: QueryFile,
    cell: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="The cell to drill into: a label of any level, or ∗ (or *), for each dimension, as '201X, ACL, *'; "
            "or one label. Without, the whole cube.",
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
    from cube2net import pipeline
    from cube2net.cli import answering

    with shown_progress(quiet or as_json):
        opened = answering.view(pipeline.open_cube(cube), where, roll_up, between)
        asked = pipeline.read_query(opened, query, skip_missing=skip_missing)
        found = pipeline.drill(opened, asked, cell, k)
    if as_json:
        show_json(found.to_dict() | answering.about_view(opened, brings=False) | answering.about_missing(asked))
    else:
        answering.show_view(opened, brings=False)
        show(found)
        answering.show_missing(asked, cube=opened)


def show(found: Drilled) -> None:
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
        say("new: held by no cell before; bits: what it saves beside those, for one of n objects takes log2 n to name")
    say(found.sentence)
