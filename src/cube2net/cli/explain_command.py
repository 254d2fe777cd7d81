"""The command that says why something is in a network, or is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.cli.asking import MaybeQuery, NetworkFile, asks_as_query, network_of
from cube2net.cli.options import AsJson, CubePath, Quiet
from cube2net.cli.terminal import say, show_json, show_table, shown_progress

if TYPE_CHECKING:
    from cube2net.records import CellExplanation, ObjectExplanation, ValueAccount
    from cube2net.records.cell_explanation import Lift
    from cube2net.records.explanation import QueryLink

SHOWN = 20
"""So many rows of a table are shown."""


@asks_as_query
def explain(
    cube: CubePath,
    query: MaybeQuery = None,
    node: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="An object by its id or name, or a cell as '2019 · ACL · parsing', in the network or not. Without, "
            "what every chosen cell added.",
        ),
    ] = None,
    network: NetworkFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Say why an object or a cell is in the network of a query, or is not and what would have brought it."""
    from cube2net import pipeline
    from cube2net.cli.answering import about_view, cube_of, show_view
    from cube2net.records import CellExplanation, ObjectExplanation

    with shown_progress(quiet or as_json) as progress:
        made = network_of(cube, query, network, options, progress)
        found = pipeline.explain(made) if node is None else pipeline.explain(made, node)
    asked = cube_of(made)
    if as_json:
        show_json(found.to_dict() | about_view(asked))
        return
    show_view(asked)
    if isinstance(found, ObjectExplanation):
        show_object(found)
    elif isinstance(found, CellExplanation):
        show_cell(found)
    else:
        show_account(found)


def show_object(found: ObjectExplanation) -> None:
    """Show the cells that hold an object, its links to the query, the items behind them, and the sentence."""
    from cube2net.records.cell_titles import cell_line
    from cube2net.records.explanation import number

    if found.cells:
        cells = [(each.rank, cell_line(each.labels), number(each.gain, signed=True)) for each in found.cells]
        _show("chosen cells that hold it", ("rank", "cell", "gain"), cells, right=("rank", "gain"))
    if found.links:
        which = "newest items" if any(each.timed for each in found.links) else "such as"
        said = {"kind": [", ".join(each.kinds) for each in found.links], "when": [each.when for each in found.links]}
        given = {name: texts for name, texts in said.items() if any(texts)}
        columns = ("object of the query", "weight", *given, "items", which, "time")
        told = [[texts[at] for texts in given.values()] for at in range(len(found.links))]
        rows = [row for each, more in zip(found.links, told, strict=True) for row in _link_rows(each, more)]
        show_table("links to the query", columns, rows, right=("weight", "items", "time"))
        if found.linked > len(found.links):
            say(f"and {found.linked - len(found.links):,} more links to the query")
    if found.paths and not found.links:
        paths = [(str(each), f"{each.weight:.4g}") for each in found.paths]
        _show("shortest paths to the query", ("path", "weight"), paths, right=("weight",))
    say(found.sentence)
    if found.note:
        say(found.note)


def show_cell(found: CellExplanation) -> None:
    """Show the lifts of a cell's labels, the objects that it alone holds, and the sentence."""
    rows = [_lift(each, each.dimension) for each in found.label_lifts] + [_lift(found.lift, "the cell")]
    columns = ("dimension", "label", "of the query", "of the cube", "lift", "95 % (Wilson)")
    _show("labels in the query and in the cube", columns, rows, right=columns[2:])
    if found.only_first:
        more = f"the first of {found.only:,}" if found.only > len(found.only_first) else f"{found.only:,}"
        other = "other " if found.chosen else ""
        title = f"{more} objects that no {other}chosen cell holds" if found.only > 1 else "an object of its own"
        names = [(each.name, "yes" if each.in_query else "") for each in found.only_first]
        _show(title, ("object", "in the query"), names)
    say(found.sentence)


def show_account(found: ValueAccount) -> None:
    """Show what every chosen cell added, and the sentence."""
    from cube2net.records.cell_titles import cell_line
    from cube2net.records.explanation import number

    rows = [
        (
            each.rank,
            cell_line(each.labels),
            f"{each.new_objects:,}",
            number(each.added, signed=True),
            number(each.value),
        )
        for each in found.cells
    ]
    columns = ("rank", "cell", "new objects", "added", "value")
    if rows:
        _show("what every cell added", columns, rows, right=("rank", *columns[2:]))
    say(found.sentence)


def _lift(lift: Lift, what: str) -> tuple[str, ...]:
    shares = (f"{lift.query:,} of {lift.queried:,}", f"{lift.everyone:,} of {lift.objects:,}")
    return (what, lift.label, *shares, f"{lift.lift:.2f}", f"{lift.low:.2f} to {lift.high:.2f}")


def _link_rows(link: QueryLink, more: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for every item that is shown of a link, and one for a link without any; ``more`` is said of it."""
    items = [(each.title or each.id, "" if each.time is None else str(each.time)) for each in link.newest]
    count = "" if link.items is None else f"{link.items:,}"
    firsts = [(link.name, f"{link.weight:.4g}", *more, count)] + [("",) * (len(more) + 3)] * (len(items) - 1)
    return [(*first, *item) for first, item in zip(firsts, items or [("", "")], strict=True)]


def _show(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], *, right: Sequence[str] = ()) -> None:
    show_table(title, columns, rows[:SHOWN], right=right)
    if len(rows) > SHOWN:
        say(f"and {len(rows) - SHOWN:,} more (--json has them all)")
