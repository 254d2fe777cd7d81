"""The command that asks what a network would be without some of its cells and objects, or with others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.cli.asking import MaybeQuery, NetworkFile, asks_as_query, network_of
from cube2net.cli.options import AsJson, CubePath, Quiet, SpreadsheetSafe
from cube2net.cli.terminal import say, show_json, show_table, shown_progress
from cube2net.errors import ParameterError

if TYPE_CHECKING:
    from cube2net.records.change import Change

# So many of the cells and objects that came or went are shown.
SHOWN = 20


@asks_as_query
def without(
    cube: CubePath,
    query: MaybeQuery = None,
    node: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What is left out: a cell, as '2019 · ACL · parsing', or an object by id or name; may be repeated.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What must be in, named likewise; may be repeated.")
    ] = None,
    network: NetworkFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the new network, in any format that query writes.")
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Tell what a network would be without some of its cells or objects, or with others: who comes, who goes."""
    from cube2net import pipeline
    from cube2net.cli import answering, network_files

    network_files.check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    if not node and not add:
        raise ParameterError("nothing is asked: name what is left out (--node NAME), or what is put in (--add NAME)")
    with shown_progress(quiet or as_json) as progress:
        made = network_of(cube, query, network, options, progress)
        change = pipeline.change(made, without=list(node or []), with_=list(add or []))
        written = network_files.write_files(change.network, out, spreadsheet_safe=spreadsheet_safe)
    asked = answering.cube_of(made)
    if as_json:
        show_json(change.to_dict() | answering.about_view(asked))
    else:
        answering.show_view(asked)
        show_change(change)
        network_files.say_files(written)


def show_change(change: Change) -> None:
    """Show who goes and who comes, how large the network is now, and the sentence."""
    ways = ((change.left, "leaves"), (change.entered, "comes in"))
    rows = [(way, each.node.kind, each.title) for nodes, way in ways for each in nodes]
    if rows:
        show_table("what changes", ("", "kind", "name"), rows[:SHOWN])
    if len(rows) > SHOWN:
        say(f"and {len(rows) - SHOWN:,} more (--json has them all)")
    say(change.network, change.sentence)
