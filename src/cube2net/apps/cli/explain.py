"""The commands that explain a network and ask what it would be without some of its nodes: explain and without."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.apps.cli.options import AsJson, CubePath, Quiet, SpreadsheetSafe, add_options
from cube2net.apps.cli.output import say, show_json, show_table, shown_progress
from cube2net.apps.cli.query import (
    apply_view,
    check_files,
    construct_from_options,
    describe_view,
    get_cube,
    show_files,
    show_view,
    write_files,
)
from cube2net.apps.cli.query import query as query_command
from cube2net.errors import ParameterError

if TYPE_CHECKING:
    from cube2net._util.progress import Progress
    from cube2net.model.change import Change
    from cube2net.model.explanation import CellExplanation, Lift, ObjectExplanation, QueryLink, ValueAccount
    from cube2net.model.network import Network


OF_QUERY_ALONE = {"out", "draw", "text", "max_tokens", "spreadsheet_safe", "show_missing", "prices"}
"""The options of ``query`` that do not make the network, but say what becomes of it."""
VIEW = ("where", "roll_up", "between", "kind")
SHORTCUTS = ("seconds", "preset", "device")
MaybeQuery = Annotated[
    Path | None,
    typer.Option(
        "--query", metavar="FILE|NAMES", help="A file of names (one a line, or CSV), or the names themselves."
    ),
]
NetworkFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Instead of --query and its options: a network that query wrote.")
]


def asks_as_query(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that also takes the options by which ``query`` makes a network."""
    hints = typing.get_type_hints(query_command, include_extras=True)
    own = inspect.signature(command).parameters
    options = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(query_command).parameters.items()
        if name not in own and name not in OF_QUERY_ALONE
    ]
    return add_options(command, options, first=False)


def find_network(
    cube: Path, query: Path | None, file: Path | None, options: Mapping[str, Any], progress: Progress
) -> Network:
    """Return the network that ``query`` would make with the options that a command was handed, or the one of a file."""
    from cube2net.api import cubes
    from cube2net.api.replay import read_asked

    if query is not None and file is not None:
        raise ParameterError("--query and --network both say which network is meant: leave one of them out")
    if query is None and file is None:
        raise ParameterError("say which network is meant: give --query FILE, or --network FILE that query wrote")
    if file is not None:
        _check_nothing_given(options)
        return read_asked(file, cubes.open(cube), progress=progress)
    assert query is not None
    rest = dict(options)
    opened = apply_view(cubes.open(cube), *(rest.pop(name) for name in VIEW))
    shortcuts = {name: rest.pop(name) for name in SHORTCUTS}
    return construct_from_options(
        opened,
        query,
        settings=rest.pop("set_") or [],
        shortcuts=shortcuts,
        progress=progress,
        **rest,
    )


def _check_nothing_given(options: Mapping[str, Any]) -> None:
    """Raise if options of construction are given with an existing network."""
    parameters = inspect.signature(query_command).parameters
    for name, value in options.items():
        if value != parameters[name].default:
            raise ParameterError(
                f"{_parameter_type(parameters[name])} says how to make a network, and --network has one: "
                "leave one of them out"
            )


def _parameter_type(parameter: inspect.Parameter) -> str:
    """Return an option of ``query`` as it is typed."""
    *_, option = typing.get_args(typing.get_type_hints(query_command, include_extras=True)[parameter.name])
    given = [name for name in (option.default, *(option.param_decls or ())) if str(name).startswith("-")]
    return given[0] if given else f"--{parameter.name.replace('_', '-')}"


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
    from cube2net.api import explain as explain_module
    from cube2net.model.explanation import CellExplanation, ObjectExplanation

    with shown_progress(quiet or as_json) as progress:
        made = find_network(cube, query, network, options, progress)
        found = explain_module.explain(made) if node is None else explain_module.explain(made, node)
    asked = get_cube(made)
    if as_json:
        show_json(found.to_dict() | describe_view(asked))
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
    from cube2net.model.explanation import format_number
    from cube2net.model.node_names import cell_line

    if found.cells:
        cells = [(each.rank, cell_line(each.labels), format_number(each.gain, signed=True)) for each in found.cells]
        _show("chosen cells that hold it", ("rank", "cell", "gain"), cells, right=("rank", "gain"))
    if found.links:
        which = "newest items" if any(each.has_times for each in found.links) else "such as"
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
    from cube2net.model.explanation import format_number
    from cube2net.model.node_names import cell_line

    rows = [
        (
            each.rank,
            cell_line(each.labels),
            f"{each.new_objects:,}",
            format_number(each.added, signed=True),
            format_number(each.value),
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
    """Return a row for every item shown of a link, and one for a link without items, which ``more`` describes."""
    items = [(each.title or each.id, "" if each.time is None else str(each.time)) for each in link.newest]
    count = "" if link.items is None else f"{link.items:,}"
    firsts = [(link.name, f"{link.weight:.4g}", *more, count)] + [("",) * (len(more) + 3)] * (len(items) - 1)
    return [(*first, *item) for first, item in zip(firsts, items or [("", "")], strict=True)]


def _show(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], *, right: Sequence[str] = ()) -> None:
    show_table(title, columns, rows[:SHOWN], right=right)
    if len(rows) > SHOWN:
        say(f"and {len(rows) - SHOWN:,} more (--json has them all)")


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
    """Compute how a network changes without some of its cells or objects, or with others."""
    from cube2net.api import what_if

    check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    if not node and not add:
        raise ParameterError("nothing is asked: name what is left out (--node NAME), or what is put in (--add NAME)")
    with shown_progress(quiet or as_json) as progress:
        made = find_network(cube, query, network, options, progress)
        change = what_if.change(made, without=list(node or []), with_=list(add or []))
        written = write_files(change.network, out, spreadsheet_safe=spreadsheet_safe)
    asked = get_cube(made)
    if as_json:
        show_json(change.to_dict() | describe_view(asked))
    else:
        show_view(asked)
        show_change(change)
        show_files(written)


def show_change(change: Change) -> None:
    """Show which nodes are added and removed, and the size of the new network."""
    ways = ((change.left, "leaves"), (change.entered, "comes in"))
    rows = [(way, each.node.kind, each.title) for nodes, way in ways for each in nodes]
    if rows:
        _show("what changes", ("", "kind", "name"), rows)
    say(change.network, change.sentence)
