"""The commands explain and without, which explain a network and change its nodes."""

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


OUTPUT_OPTIONS = {"out", "draw", "text", "max_tokens", "spreadsheet_safe", "show_missing", "prices"}
"""The options of ``query`` for its output, which do not change the network."""
VIEW_OPTIONS = ("where", "roll_up", "between", "kind")
SHORTCUTS = ("seconds", "preset", "device")
OptionalQuery = Annotated[
    Path | None,
    typer.Option(
        "--query", metavar="FILE|NAMES", help="A file of names (one per line, or CSV), or the names themselves."
    ),
]
NetworkFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A network written by query, instead of --query and its options.")
]


def takes_query_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that also takes the options with which ``query`` constructs a network."""
    hints = typing.get_type_hints(query_command, include_extras=True)
    own_parameters = inspect.signature(command).parameters
    options = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(query_command).parameters.items()
        if name not in own_parameters and name not in OUTPUT_OPTIONS
    ]
    return add_options(command, options, first=False)


def find_network(
    cube: Path, query: Path | None, file: Path | None, options: Mapping[str, Any], progress: Progress
) -> Network:
    """Construct the network that ``query`` constructs with the same options, or that of a file."""
    from cube2net.api import cubes
    from cube2net.api.replay import read_asked

    if query is not None and file is not None:
        raise ParameterError("--query and --network both say which network is meant: leave one of them out")
    if query is None and file is None:
        raise ParameterError("say which network is meant: give --query FILE, or --network FILE that query wrote")
    if file is not None:
        _check_no_options(options)
        return read_asked(file, cubes.open(cube), progress=progress)
    assert query is not None
    remaining = dict(options)
    view = apply_view(cubes.open(cube), *(remaining.pop(name) for name in VIEW_OPTIONS))
    shortcuts = {name: remaining.pop(name) for name in SHORTCUTS}
    return construct_from_options(
        view,
        query,
        settings=remaining.pop("set_") or [],
        shortcuts=shortcuts,
        progress=progress,
        **remaining,
    )


def _check_no_options(options: Mapping[str, Any]) -> None:
    """Raise if options of ``query`` are given together with the file of a network."""
    parameters = inspect.signature(query_command).parameters
    for name, value in options.items():
        if value != parameters[name].default:
            raise ParameterError(
                f"{_get_option_name(parameters[name])} says how to make a network, and --network has one: "
                "leave one of them out"
            )


def _get_option_name(parameter: inspect.Parameter) -> str:
    """Return the name of an option of ``query`` on the command line."""
    *_, option = typing.get_args(typing.get_type_hints(query_command, include_extras=True)[parameter.name])
    names = [name for name in (option.default, *(option.param_decls or ())) if str(name).startswith("-")]
    return names[0] if names else f"--{parameter.name.replace('_', '-')}"


MAX_SHOWN_ROWS = 20
"""Maximum number of rows of a table."""


@takes_query_options
def explain(
    cube: CubePath,
    query: OptionalQuery = None,
    node: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="An object by its id or name, or a cell as '2019 · ACL · parsing', in the network or not. "
            "Default: list the gains of all chosen cells.",
        ),
    ] = None,
    network: NetworkFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Explain why an object or a cell is in the network of a query, or what would add it."""
    from cube2net.api import explain as explain_module
    from cube2net.model.explanation import CellExplanation, ObjectExplanation

    with shown_progress(quiet or as_json) as progress:
        explained_network = find_network(cube, query, network, options, progress)
        explanation = (
            explain_module.explain(explained_network)
            if node is None
            else explain_module.explain(explained_network, node)
        )
    view = get_cube(explained_network)
    if as_json:
        show_json(explanation.to_dict() | describe_view(view))
        return
    show_view(view)
    if isinstance(explanation, ObjectExplanation):
        show_object(explanation)
    elif isinstance(explanation, CellExplanation):
        show_cell(explanation)
    else:
        show_account(explanation)


def show_object(explanation: ObjectExplanation) -> None:
    """Show the cells that hold an object, its links to the query, the items behind them, and the sentence."""
    from cube2net.model.explanation import format_number
    from cube2net.model.node_names import cell_line

    if explanation.cells:
        cells = [
            (cell.rank, cell_line(cell.labels), format_number(cell.gain, signed=True)) for cell in explanation.cells
        ]
        _show_rows("chosen cells that hold it", ("rank", "cell", "gain"), cells, right=("rank", "gain"))
    if explanation.links:
        items_title = "newest items" if any(link.has_times for link in explanation.links) else "such as"
        optional_columns = {
            "kind": [", ".join(link.kinds) for link in explanation.links],
            "when": [link.when for link in explanation.links],
        }
        shown_columns = {name: texts for name, texts in optional_columns.items() if any(texts)}
        columns = ("object of the query", "weight", *shown_columns, "items", items_title, "time")
        extra_values = [[texts[index] for texts in shown_columns.values()] for index in range(len(explanation.links))]
        rows = [
            row
            for link, extra in zip(explanation.links, extra_values, strict=True)
            for row in _make_link_rows(link, extra)
        ]
        show_table("links to the query", columns, rows, right=("weight", "items", "time"))
        if explanation.linked > len(explanation.links):
            say(f"and {explanation.linked - len(explanation.links):,} more links to the query")
    if explanation.paths and not explanation.links:
        paths = [(str(path), f"{path.weight:.4g}") for path in explanation.paths]
        _show_rows("shortest paths to the query", ("path", "weight"), paths, right=("weight",))
    say(explanation.sentence)
    if explanation.note:
        say(explanation.note)


def show_cell(explanation: CellExplanation) -> None:
    """Show the lifts of a cell's labels, the objects that it alone holds, and the sentence."""
    rows = [_make_lift_row(item, item.dimension) for item in explanation.label_lifts] + [
        _make_lift_row(explanation.lift, "the cell")
    ]
    columns = ("dimension", "label", "of the query", "of the cube", "lift", "95 % (Wilson)")
    _show_rows("labels in the query and in the cube", columns, rows, right=columns[2:])
    if explanation.only_first:
        count = (
            f"the first of {explanation.only:,}"
            if explanation.only > len(explanation.only_first)
            else f"{explanation.only:,}"
        )
        qualifier = "other " if explanation.chosen else ""
        title = (
            f"{count} objects that no {qualifier}chosen cell holds" if explanation.only > 1 else "an object of its own"
        )
        names = [(item.name, "yes" if item.in_query else "") for item in explanation.only_first]
        _show_rows(title, ("object", "in the query"), names)
    say(explanation.sentence)


def show_account(account: ValueAccount) -> None:
    """Show what every chosen cell added, and the sentence."""
    from cube2net.model.explanation import format_number
    from cube2net.model.node_names import cell_line

    rows = [
        (
            cell.rank,
            cell_line(cell.labels),
            f"{cell.new_objects:,}",
            format_number(cell.added, signed=True),
            format_number(cell.value),
        )
        for cell in account.cells
    ]
    columns = ("rank", "cell", "new objects", "added", "value")
    if rows:
        _show_rows("what every cell added", columns, rows, right=("rank", *columns[2:]))
    say(account.sentence)


def _make_lift_row(lift: Lift, name: str) -> tuple[str, ...]:
    shares = (f"{lift.query:,} of {lift.queried:,}", f"{lift.everyone:,} of {lift.objects:,}")
    return (name, lift.label, *shares, f"{lift.lift:.2f}", f"{lift.low:.2f} to {lift.high:.2f}")


def _make_link_rows(link: QueryLink, extra: Sequence[str]) -> list[tuple[str, ...]]:
    """Return one row for each newest item of a link, or one row if there is none; ``extra`` are further columns."""
    items = [(each.title or each.id, "" if each.time is None else str(each.time)) for each in link.newest]
    count = "" if link.items is None else f"{link.items:,}"
    first_columns = [(link.name, f"{link.weight:.4g}", *extra, count)] + [("",) * (len(extra) + 3)] * (len(items) - 1)
    return [(*first, *item) for first, item in zip(first_columns, items or [("", "")], strict=True)]


def _show_rows(
    title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], *, right: Sequence[str] = ()
) -> None:
    show_table(title, columns, rows[:MAX_SHOWN_ROWS], right=right)
    if len(rows) > MAX_SHOWN_ROWS:
        say(f"and {len(rows) - MAX_SHOWN_ROWS:,} more (--json has them all)")


@takes_query_options
def without(
    cube: CubePath,
    query: OptionalQuery = None,
    node: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A cell ('2019 · ACL · parsing') or object (by id or name) to remove; may be repeated.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A cell or object to add; may be repeated.")
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
    """Show how a network changes if cells or objects are removed or added."""
    from cube2net.api import what_if

    check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    if not node and not add:
        raise ParameterError("nothing is asked: name what is left out (--node NAME), or what is put in (--add NAME)")
    with shown_progress(quiet or as_json) as progress:
        base_network = find_network(cube, query, network, options, progress)
        change = what_if.change(base_network, without=list(node or []), with_=list(add or []))
        written = write_files(change.network, out, spreadsheet_safe=spreadsheet_safe)
    view = get_cube(base_network)
    if as_json:
        show_json(change.to_dict() | describe_view(view))
    else:
        show_view(view)
        show_change(change)
        show_files(written)


def show_change(change: Change) -> None:
    """Show which nodes are added and removed, and the size of the new network."""
    groups = ((change.left, "leaves"), (change.entered, "comes in"))
    rows = [(verb, node.node.kind, node.title) for nodes, verb in groups for node in nodes]
    if rows:
        _show_rows("what changes", ("", "kind", "name"), rows)
    say(change.network, change.sentence)
