"""The commands that make a network, query and replay, and how networks are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cube2net as c2n
from cube2net._util.progress import Progress, silent
from cube2net.apps.cli.options import (
    AsJson,
    Between,
    CubePath,
    Kind,
    PresetName,
    Prices,
    QueryFile,
    Quiet,
    RollUp,
    Set,
    SkipMissing,
    SpreadsheetSafe,
    Where,
    check_safe,
    configure,
    list_fields,
    split_settings,
    takes_network_options,
    typed_values,
    warn_of_formulas,
)
from cube2net.apps.cli.output import say, show_json, show_table, show_text, shown_progress
from cube2net.errors import ParameterError, join_names, quote_few, unknown_name

if TYPE_CHECKING:
    from cube2net.model.cube import Cube
    from cube2net.model.network import Network
    from cube2net.model.query import Query


@takes_network_options
def query(
    cube: CubePath,
    query: QueryFile,
    *,
    prices: Prices = True,
    seconds: Annotated[float | None, typer.Option(help="How long the method may search.")] = None,
    preset: PresetName = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="Where the method computes, such as cuda.")] = None,
    set_: Set = None,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    kind: Kind = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the network: .graphml .gexf .xlsx .csv .parquet .npz .json .cyjs .vosviewer.json .neo4j.csv.",
        ),
    ] = None,
    draw: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the network: .png .svg .pdf.")] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    skip_missing: SkipMissing = False,
    show_missing: Annotated[
        bool,
        typer.Option(
            "--show-missing",
            help="List the names that are not in the cube or that several objects bear, and stop; status 1 if there "
            "are any.",
        ),
    ] = False,
    as_json: AsJson = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print the network as text for people and language models.")
    ] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="With --text: no more tokens than this, estimated at two for five bytes. Without, 4,000."),
    ] = None,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Make the network around the objects of a query; without options, the one that helps the next step."""
    check_text(text, max_tokens, as_json=as_json)
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = apply_view(c2n.open(cube), where, roll_up, between, kind)
    if show_missing:
        missing = c2n.api.missing_names(opened, query)
        if as_json:
            show_json({"missing": list(missing)})
        elif missing:
            say(*missing)
        raise typer.Exit(1 if missing else 0)
    with shown_progress(quiet or as_json or text) as progress:
        network = construct_from_options(
            opened,
            query,
            settings=set_ or [],
            shortcuts={"seconds": seconds, "preset": preset, "device": device},
            skip_missing=skip_missing,
            progress=progress,
            **options,
        )
        steered = options["pins"] or options["bans"]
        priced = network.pin_costs(progress=progress) if prices and steered else ()
        written = write_files(
            network, out, draw, spreadsheet_safe=spreadsheet_safe, progress=progress, seed=options["seed"]
        )
    if as_json:
        costs = {"prices": [price.to_dict() for price in priced]} if priced else {}
        show_json(network.summary() | costs | describe_view(opened))
    elif text:
        show_text(format_text(network, max_tokens))
    else:
        show_view(opened)
        show_network(network)
        for price in priced:
            say(price.sentence)
        show_files(written)


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A network that query wrote, in any format.")],
    cube: Annotated[
        Path | None,
        typer.Option(
            metavar="CUBE", help="Folder of its cube. Without, one of the recipe's name beside the file, or here."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the network made again, also in another format.")
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a network again by the recipe in its file: the same bytes (status 0), or what differs (status 1)."""

    check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    with shown_progress(quiet or as_json) as progress:
        again = c2n.replay(file, cube, progress=progress)
        written = write_files(again.network, out, spreadsheet_safe=spreadsheet_safe)
    if as_json:
        show_json({"same": again.same, "differences": list(again.differences), "recipe": again.recipe.to_dict()})
    else:
        result = "identical bytes" if again.same else "different"
        say(f"{result}: {again.network!r}", *(f"- {sentence}" for sentence in again.differences))
        show_files(written)
    if not again.same:
        raise typer.Exit(1)


MAX_SHOWN_CELLS = 20


def apply_view(
    cube: Cube,
    where: Sequence[str] | None,
    rolled: Sequence[str] | None,
    between: str | None = None,
    kinds: Sequence[str] | None = None,
) -> Cube:
    """Return the cube of a time, rolled up in some dimensions, only cells with some labels, and objects of a kind."""
    wanted: dict[str, list[str]] = {}
    for text in where or ():
        dimension, equals, label = text.partition("=")
        if not equals:
            raise ParameterError(f"cannot read the condition {text!r}: write dimension=label")
        wanted.setdefault(dimension, []).append(label)
    levels = [_dimension_and_level(cube, text) for text in rolled or ()]
    return c2n.api.view_cube(cube, roll_up=levels, where=wanted, between=between, kind=kinds or ())


def describe_view(cube: Cube, *, brings: bool = True) -> dict[str, Any]:
    """Return the views of a cube and how many objects may be added from it; empty for a complete cube."""
    views, marks = cube.settings.get("views"), cube.bringable
    if not views:
        return {}
    count = len(cube.objects) if marks is None else int(marks.sum())
    return {"views": list(views)} | ({"objects_that_may_be_brought": count} if brings else {})


def show_view(cube: Cube, *, brings: bool = True) -> None:
    """Say what a view is of its cube, and how many objects it lets come, where any do."""
    about = describe_view(cube)
    for view in about.get("views", ()):
        say(f"of the cube: {view}")
    if brings and cube.bringable is not None:
        say(f"{about['objects_that_may_be_brought']:,} of its {len(cube.objects):,} objects may be brought")


def describe_missing(*queries: Query) -> dict[str, Any]:
    """Return which names were left out of queries, and which are those of others too, where any are."""
    missing, shared = (
        list(dict.fromkeys(name for query in queries for name in getattr(query, part)))
        for part in ("missing", "shared")
    )
    return ({"missing": missing} if missing else {}) | ({"shared": shared} if shared else {})


def show_missing(*queries: Query, cube: Cube | None = None) -> None:
    """Say which names were left out of queries; and which are names of others of the cube too, where one is given."""
    missing = describe_missing(*queries).get("missing")
    if missing:
        say(f"left out, being unknown or the name of several objects: {len(missing):,} ({quote_few(missing)})")
    shared = describe_missing(*queries).get("shared")
    if cube is not None and shared:
        from cube2net.model.query import describe_shared_names

        say(describe_shared_names(cube.objects, shared))


def get_cube(network: Network) -> Cube:
    """Return the cube, or the view of one, that a network of this process was asked of."""
    assert network.context is not None
    return network.context.whole


def _dimension_and_level(cube: Cube, text: str) -> str | tuple[str, str]:
    """Return the dimension that a text names, and the level behind a = if there is one."""
    dimension, equals, level = text.rpartition("=")
    known = {level.name for dimension in cube.dimensions for level in dimension.levels}
    return (dimension, level) if equals and text not in known else text


def construct_from_options(
    cube: Cube,
    path: Path,
    *,
    settings: Sequence[str],
    shortcuts: Mapping[str, object],
    skip_missing: bool,
    method: str | None,
    objective: str | None,
    levels: Sequence[str] | None,
    **options: Any,
) -> Network:
    """Return the network of a query file; settings that the method does not know are the objective's.

    ``shortcuts`` are parameters of the method that have an option of their own, None where it was not used; a preset
    alone asks for the method that has presets.
    """
    from cube2net.api.plan import METHODS, WITH_OPTIONS, default_objective
    from cube2net.model.interfaces import chooses_cells
    from cube2net.selection.objectives import OBJECTIVES

    method = method or ("greedy" if shortcuts.get("preset") is None else "cube2net")
    method, own = WITH_OPTIONS.get(method, (method, {}))
    kinds: Mapping[str, Any] = METHODS if method in METHODS else methods()
    if method not in kinds:
        raise unknown_name("method", method, kinds)
    if objective is not None and objective not in OBJECTIVES:
        raise unknown_name("objective", objective, OBJECTIVES)
    given = split_settings(settings)
    of_method = list_fields(kinds[method])
    chosen = {name: str(value) for name, value in own.items()}
    chosen |= {name: text for name, text in given.items() if name in of_method}
    for name, value in shortcuts.items():
        if value is not None:
            _check_shortcut(name, method, given)
            chosen[name] = str(value)
    chooser = configure(kinds[method], chosen, f"method {method!r}")
    named = objective or default_objective(chooser, options["form"])
    takes_worth = objective is not None or chooses_cells(chooser)
    of_objective = list_fields(OBJECTIVES[named]) if takes_worth else {}
    worth = {name: text for name, text in given.items() if name in of_objective and name not in of_method}
    # A setting that is neither the method's nor the objective's is refused in the words of the method.
    typed_values(kinds[method], {name: text for name, text in given.items() if name not in worth}, f"method {method!r}")
    return c2n.api.construct_by_name(
        cube,
        c2n.read_query(cube, path, skip_missing=skip_missing),
        chooser,
        objective=configure(OBJECTIVES[named], worth, f"objective {named!r}") if worth else objective,
        levels=levels[0] if levels and len(levels) == 1 else levels or None,
        **options,
    )


def methods() -> dict[str, Any]:
    """Return all methods by name, and the one that chooses among them."""
    return {**c2n.methods.METHODS, "auto": c2n.methods.Auto}


def _check_shortcut(name: str, method: str, given: Mapping[str, str]) -> None:
    takers = [other for other, kind in methods().items() if name in list_fields(kind)]
    if method not in takers:
        ending = f"choose one of {join_names(takers)}" if takers else "no method does"
        raise ParameterError(f"method {method!r} takes no --{name}: {ending}")
    if name in given:
        raise ParameterError(f"{name} is given twice, by --{name} and by --set {name}={given[name]}")


def check_text(text: bool, max_tokens: int | None, *, as_json: bool) -> None:
    """Raise where a text is asked for in a way that cannot be."""
    if text and as_json:
        raise ParameterError("--text and --json both say what is printed: give one of them")
    if max_tokens is not None and not text:
        raise ParameterError(f"--max-tokens {max_tokens!r} limits what --text prints: add --text")


def format_text(network: Network, max_tokens: int | None) -> str:
    """Return a network as text."""
    return network.to_text() if max_tokens is None else network.to_text(max_tokens)


def show_network(network: Network) -> None:
    """Show the chosen cells of a network, its size, and what it is made of."""
    from cube2net.network.assembly import describe_certificate, summarize

    about = summarize(network)
    if about["cells"]:
        _show_cells(network, about)
    worth = "" if about["value"] is None else f", {about['objective']} {about['value']:{_digits(about)}}"
    say(f"{network}{worth}")
    if describe_parts(about):
        say(describe_parts(about))
    if certificate := describe_certificate(about):
        say(certificate)
    if about["note"]:
        say(about["note"])
    if about["directed"]:
        say("links have a direction: the method took them as undirected, and forward and backward say what leads where")
    if about["tried"]:
        _show_tried(about["tried"])
    if about["left_out"]:
        say(f"{about['left_out']:,} objects without a link to the network are left out (--keep-unlinked keeps them)")
    show_missing(network.query)


def _digits(about: Mapping[str, Any]) -> str:
    """Return the format of an objective's values: those of cover are whole numbers."""
    return ".0f" if about["objective"] == "cover" else ".4f"


def _show_cells(network: Network, about: Mapping[str, Any]) -> None:
    """Show the first cells chosen, and how many lower the value."""
    rows = [
        (
            rank,
            *cell["labels"].values(),
            f"{cell['gain']:+{_digits(about)}}",
            f"{cell['objects']:,}",
            f"{cell['query_objects']:,}",
        )
        for rank, cell in enumerate(about["cells"], start=1)
    ]
    numbers = ("gain", "objects", "of the query")
    columns = ("rank", *network.dimensions, *numbers)
    show_table(f"cells chosen by {about['method']}", columns, rows[:MAX_SHOWN_CELLS], right=("rank", *numbers))
    if len(rows) > MAX_SHOWN_CELLS:
        say(f"and {len(rows) - MAX_SHOWN_CELLS:,} more cells (--json and every export have them all)")
    if about["objective"] == "cover":
        say("gain: objects of the query in the cell that the cells above do not cover often enough")
    falling = sum(cell["gain"] < 0 for cell in about["cells"])
    if falling:
        best = float(network.selection.values.max())
        lower = f"{falling} of {len(rows)} cells lower the {about['objective']}"
        say(f"{lower}: --best-prefix stops at its best, {best:.4f}")
    if about["n_cells"] is not None and len(rows) < about["n_cells"] and not about["note"]:
        say(f"{len(rows)} cells, of {about['n_cells']} at most")


def _show_tried(tried: Sequence[Mapping[str, Any]]) -> None:
    measure = "F1" if any("F1" in entry for entry in tried) else "AUC"
    rows = [
        (entry["configuration"], f"{entry[measure]:.3f}", f"{entry['runs']}", f"{entry['nodes']:,}")
        if measure in entry
        else (entry["configuration"], "–", "0", entry["reason"])
        for entry in tried
    ]
    show_table("what was tried", ("network", measure, "runs", "nodes"), rows, right=(measure, "runs", "nodes"))


def describe_parts(about: Mapping[str, Any]) -> str:
    """Return in one sentence what a network with cells as nodes is made of; nothing for other forms.

    >>> counts = {"query_found": 116, "query_held": 113, "query_loose": 2, "n_neighbors": 116}
    >>> describe_parts({"form": "hybrid", "cells": [{}] * 59, "cell_weight": 0.54, **counts})
    '59 cells, of weight 0.54, hold 113 of the 116 objects of the query; 116 neighbours; 2 of the query have neither'
    """
    if about["form"] not in ("cells", "hybrid"):
        return ""
    count, cells = about["query_found"], len(about["cells"])
    weight = "" if about["cell_weight"] is None or not cells else f", of weight {about['cell_weight']:.2f},"
    held = f"hold{'s' * (cells == 1)} {about['query_held']:,} of the {count:,} object{'s' * (count != 1)} of the query"
    parts = [f"{cells:,} cell{'s' * (cells != 1)}{weight} {held}"]
    parts += [f"{about['n_neighbors']:,} neighbour{'s' * (about['n_neighbors'] != 1)}"] if about["n_neighbors"] else []
    loose = about["query_loose"]
    parts += [f"{loose:,} of the query {'has' if loose == 1 else 'have'} neither"] if loose else []
    return "; ".join(parts)


def check_files(out: Path | None, draw: Path | None, *, spreadsheet_safe: bool) -> None:
    """Raise where a network could not be written or drawn to these files."""
    check_safe(out, spreadsheet_safe, "--out network.csv")
    if out is not None or draw is not None:
        c2n.api.check_outputs(out, draw, spreadsheet_safe=spreadsheet_safe)


def write_files(
    network: Network,
    out: Path | None,
    draw: Path | None = None,
    *,
    spreadsheet_safe: bool,
    progress: Progress = silent,
    **drawing: Any,
) -> list[Path]:
    """Return the files that a network was written and drawn to; what spreadsheets would run in them is warned of."""
    written = [] if out is None else network.save(out, spreadsheet_safe=spreadsheet_safe)
    warn_of_formulas(written)
    if draw is not None:
        progress("drawing", 0, None)
        network.plot(draw, **drawing)
        written.append(draw)
    return written


def show_files(paths: Iterable[Path]) -> None:
    """Say which files were written."""
    for path in paths:
        say(f"wrote {path}")
