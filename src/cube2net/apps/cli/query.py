"""The commands query and replay, and functions that show networks."""

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
    seconds: Annotated[float | None, typer.Option(help="Time limit of the method, in seconds.")] = None,
    preset: PresetName = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device on which the method computes, such as cuda.")
    ] = None,
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
            help="List the names that are unknown or ambiguous, and stop; the exit status is 1 if there are any.",
        ),
    ] = False,
    as_json: AsJson = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print the network as text for people and language models.")
    ] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="With --text: maximum number of tokens, estimated as two per five bytes. Default: 4,000."),
    ] = None,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Construct the network around the objects of a query."""
    check_text(text, max_tokens, as_json=as_json)
    check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    view = apply_view(c2n.open(cube), where, roll_up, between, kind)
    if show_missing:
        missing = c2n.api.missing_names(view, query)
        if as_json:
            show_json({"missing": list(missing)})
        elif missing:
            say(*missing)
        raise typer.Exit(1 if missing else 0)
    with shown_progress(quiet or as_json or text) as progress:
        network = construct_from_options(
            view,
            query,
            settings=set_ or [],
            shortcuts={"seconds": seconds, "preset": preset, "device": device},
            skip_missing=skip_missing,
            progress=progress,
            **options,
        )
        has_pins_or_bans = options["pins"] or options["bans"]
        pin_costs = network.pin_costs(progress=progress) if prices and has_pins_or_bans else ()
        written = write_files(
            network, out, draw, spreadsheet_safe=spreadsheet_safe, progress=progress, seed=options["seed"]
        )
    if as_json:
        costs = {"prices": [price.to_dict() for price in pin_costs]} if pin_costs else {}
        show_json(network.summary() | costs | describe_view(view))
    elif text:
        show_text(format_text(network, max_tokens))
    else:
        show_view(view)
        show_network(network)
        for price in pin_costs:
            say(price.sentence)
        show_files(written)


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A network written by query, in any format.")],
    cube: Annotated[
        Path | None,
        typer.Option(
            metavar="CUBE", help="Folder of its cube. Default: the recipe's cube next to the file or in this folder."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the reconstructed network, in any format.")
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Construct a saved network again from its recipe and compare the bytes (exit status 1 if they differ)."""

    check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    with shown_progress(quiet or as_json) as progress:
        replayed = c2n.replay(file, cube, progress=progress)
        written = write_files(replayed.network, out, spreadsheet_safe=spreadsheet_safe)
    if as_json:
        show_json(
            {"same": replayed.same, "differences": list(replayed.differences), "recipe": replayed.recipe.to_dict()}
        )
    else:
        result = "identical bytes" if replayed.same else "different"
        say(f"{result}: {replayed.network!r}", *(f"- {sentence}" for sentence in replayed.differences))
        show_files(written)
    if not replayed.same:
        raise typer.Exit(1)


MAX_SHOWN_CELLS = 20


def apply_view(
    cube: Cube,
    where: Sequence[str] | None,
    roll_up: Sequence[str] | None,
    between: str | None = None,
    kinds: Sequence[str] | None = None,
) -> Cube:
    """Return the view of a cube: rolled up, with only some labels, a time interval, and kinds of objects."""
    labels_by_dimension: dict[str, list[str]] = {}
    for text in where or ():
        dimension, equals, label = text.partition("=")
        if not equals:
            raise ParameterError(f"cannot read the condition {text!r}: write dimension=label")
        labels_by_dimension.setdefault(dimension, []).append(label)
    levels = [_dimension_and_level(cube, text) for text in roll_up or ()]
    return c2n.api.view_cube(cube, roll_up=levels, where=labels_by_dimension, between=between, kind=kinds or ())


def describe_view(cube: Cube, *, brings: bool = True) -> dict[str, Any]:
    """Return the views of a cube and how many objects may be added from it; empty for a complete cube."""
    views, bringable = cube.settings.get("views"), cube.bringable
    if not views:
        return {}
    count = len(cube.objects) if bringable is None else int(bringable.sum())
    return {"views": list(views)} | ({"objects_that_may_be_brought": count} if brings else {})


def show_view(cube: Cube, *, brings: bool = True) -> None:
    """Show the views of a cube, and how many objects may be added from it if they are limited."""
    description = describe_view(cube)
    for view in description.get("views", ()):
        say(f"of the cube: {view}")
    if brings and cube.bringable is not None:
        say(f"{description['objects_that_may_be_brought']:,} of its {len(cube.objects):,} objects may be brought")


def describe_missing(*queries: Query) -> dict[str, Any]:
    """Return the names that were left out of queries, and those that other objects have too, if any."""
    missing, shared = (
        list(dict.fromkeys(name for query in queries for name in getattr(query, attribute)))
        for attribute in ("missing", "shared")
    )
    return ({"missing": missing} if missing else {}) | ({"shared": shared} if shared else {})


def show_missing(*queries: Query, cube: Cube | None = None) -> None:
    """Show the names that were left out of queries, and with a ``cube`` those that other objects have too."""
    missing = describe_missing(*queries).get("missing")
    if missing:
        say(f"left out, being unknown or the name of several objects: {len(missing):,} ({quote_few(missing)})")
    shared = describe_missing(*queries).get("shared")
    if cube is not None and shared:
        from cube2net.model.query import describe_shared_names

        say(describe_shared_names(cube.objects, shared))


def get_cube(network: Network) -> Cube:
    """Return the cube or view from which a network of this process was constructed."""
    assert network.context is not None
    return network.context.whole


def _dimension_and_level(cube: Cube, text: str) -> str | tuple[str, str]:
    """Return the dimension that a text names, and the level behind a = if there is one."""
    dimension, equals, level = text.rpartition("=")
    level_names = {level.name for dimension in cube.dimensions for level in dimension.levels}
    return (dimension, level) if equals and text not in level_names else text


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
    """Construct the network of a query file; settings that are not of the method are of the objective.

    ``shortcuts`` are parameters of the method with options of their own, None if not given; a preset without a method
    selects the method that has presets.
    """
    from cube2net.api.plan import METHODS, WITH_OPTIONS, default_objective
    from cube2net.model.interfaces import chooses_cells
    from cube2net.selection.objectives import OBJECTIVES

    method = method or ("greedy" if shortcuts.get("preset") is None else "cube2net")
    method, preset_options = WITH_OPTIONS.get(method, (method, {}))
    method_classes: Mapping[str, Any] = METHODS if method in METHODS else list_methods()
    if method not in method_classes:
        raise unknown_name("method", method, method_classes)
    if objective is not None and objective not in OBJECTIVES:
        raise unknown_name("objective", objective, OBJECTIVES)
    parameters = split_settings(settings)
    method_fields = list_fields(method_classes[method])
    method_parameters = {name: str(value) for name, value in preset_options.items()}
    method_parameters |= {name: text for name, text in parameters.items() if name in method_fields}
    for name, value in shortcuts.items():
        if value is not None:
            _check_shortcut(name, method, parameters)
            method_parameters[name] = str(value)
    configured_method = configure(method_classes[method], method_parameters, f"method {method!r}")
    objective_name = objective or default_objective(configured_method, options["form"])
    uses_objective = objective is not None or chooses_cells(configured_method)
    objective_fields = list_fields(OBJECTIVES[objective_name]) if uses_objective else {}
    objective_parameters = {
        name: text for name, text in parameters.items() if name in objective_fields and name not in method_fields
    }
    # A setting of neither the method nor the objective is reported as an unknown setting of the method.
    typed_values(
        method_classes[method],
        {name: text for name, text in parameters.items() if name not in objective_parameters},
        f"method {method!r}",
    )
    return c2n.api.construct_by_name(
        cube,
        c2n.read_query(cube, path, skip_missing=skip_missing),
        configured_method,
        objective=configure(OBJECTIVES[objective_name], objective_parameters, f"objective {objective_name!r}")
        if objective_parameters
        else objective,
        levels=levels[0] if levels and len(levels) == 1 else levels or None,
        **options,
    )


def list_methods() -> dict[str, Any]:
    """Return all methods by name, and the one that chooses among them."""
    return {**c2n.methods.METHODS, "auto": c2n.methods.Auto}


def _check_shortcut(name: str, method: str, parameters: Mapping[str, str]) -> None:
    accepting_methods = [
        method_name for method_name, method_class in list_methods().items() if name in list_fields(method_class)
    ]
    if method not in accepting_methods:
        hint = f"choose one of {join_names(accepting_methods)}" if accepting_methods else "no method does"
        raise ParameterError(f"method {method!r} takes no --{name}: {hint}")
    if name in parameters:
        raise ParameterError(f"{name} is given twice, by --{name} and by --set {name}={parameters[name]}")


def check_text(text: bool, max_tokens: int | None, *, as_json: bool) -> None:
    """Raise for options that contradict --text, or need it."""
    if text and as_json:
        raise ParameterError("--text and --json both say what is printed: give one of them")
    if max_tokens is not None and not text:
        raise ParameterError(f"--max-tokens {max_tokens!r} limits what --text prints: add --text")


def format_text(network: Network, max_tokens: int | None) -> str:
    """Return a network as text."""
    return network.to_text() if max_tokens is None else network.to_text(max_tokens)


def show_network(network: Network) -> None:
    """Show the chosen cells of a network, its size and its parts."""
    from cube2net.network.assembly import describe_certificate, summarize

    summary = summarize(network)
    if summary["cells"]:
        _show_cells(network, summary)
    value_text = (
        "" if summary["value"] is None else f", {summary['objective']} {summary['value']:{_get_value_format(summary)}}"
    )
    say(f"{network}{value_text}")
    if describe_parts(summary):
        say(describe_parts(summary))
    if certificate := describe_certificate(summary):
        say(certificate)
    if summary["note"]:
        say(summary["note"])
    if summary["directed"]:
        say("links have a direction: the method took them as undirected, and forward and backward say what leads where")
    if summary["tried"]:
        _show_tried_networks(summary["tried"])
    if summary["left_out"]:
        say(f"{summary['left_out']:,} objects without a link to the network are left out (--keep-unlinked keeps them)")
    show_missing(network.query)


def _get_value_format(summary: Mapping[str, Any]) -> str:
    """Return the format of the values of an objective; those of cover are whole numbers."""
    return ".0f" if summary["objective"] == "cover" else ".4f"


def _show_cells(network: Network, summary: Mapping[str, Any]) -> None:
    """Show the first chosen cells, and how many of all lower the value."""
    rows = [
        (
            rank,
            *cell["labels"].values(),
            f"{cell['gain']:+{_get_value_format(summary)}}",
            f"{cell['objects']:,}",
            f"{cell['query_objects']:,}",
        )
        for rank, cell in enumerate(summary["cells"], start=1)
    ]
    numbers = ("gain", "objects", "of the query")
    columns = ("rank", *network.dimensions, *numbers)
    show_table(f"cells chosen by {summary['method']}", columns, rows[:MAX_SHOWN_CELLS], right=("rank", *numbers))
    if len(rows) > MAX_SHOWN_CELLS:
        say(f"and {len(rows) - MAX_SHOWN_CELLS:,} more cells (--json and every export have them all)")
    if summary["objective"] == "cover":
        say("gain: objects of the query in the cell that the cells above do not cover often enough")
    n_lowering = sum(cell["gain"] < 0 for cell in summary["cells"])
    if n_lowering:
        best = float(network.selection.values.max())
        statement = f"{n_lowering} of {len(rows)} cells lower the {summary['objective']}"
        say(f"{statement}: --best-prefix stops at its best, {best:.4f}")
    if summary["n_cells"] is not None and len(rows) < summary["n_cells"] and not summary["note"]:
        say(f"{len(rows)} cells, of {summary['n_cells']} at most")


def _show_tried_networks(tried: Sequence[Mapping[str, Any]]) -> None:
    measure = "F1" if any("F1" in entry for entry in tried) else "AUC"
    rows = [
        (entry["configuration"], f"{entry[measure]:.3f}", f"{entry['runs']}", f"{entry['nodes']:,}")
        if measure in entry
        else (entry["configuration"], "–", "0", entry["reason"])
        for entry in tried
    ]
    show_table("what was tried", ("network", measure, "runs", "nodes"), rows, right=(measure, "runs", "nodes"))


def describe_parts(summary: Mapping[str, Any]) -> str:
    """Return a sentence on the parts of a network with cells as nodes; empty for other forms.

    >>> counts = {"query_found": 116, "query_held": 113, "query_loose": 2, "n_neighbors": 116}
    >>> describe_parts({"form": "hybrid", "cells": [{}] * 59, "cell_weight": 0.54, **counts})
    '59 cells, of weight 0.54, hold 113 of the 116 objects of the query; 116 neighbours; 2 of the query have neither'
    """
    if summary["form"] not in ("cells", "hybrid"):
        return ""
    count, cells = summary["query_found"], len(summary["cells"])
    weight_text = "" if summary["cell_weight"] is None or not cells else f", of weight {summary['cell_weight']:.2f},"
    coverage = (
        f"hold{'s' * (cells == 1)} {summary['query_held']:,} of the {count:,} object{'s' * (count != 1)} of the query"
    )
    parts = [f"{cells:,} cell{'s' * (cells != 1)}{weight_text} {coverage}"]
    parts += (
        [f"{summary['n_neighbors']:,} neighbour{'s' * (summary['n_neighbors'] != 1)}"] if summary["n_neighbors"] else []
    )
    n_loose = summary["query_loose"]
    parts += [f"{n_loose:,} of the query {'has' if n_loose == 1 else 'have'} neither"] if n_loose else []
    return "; ".join(parts)


def check_files(out: Path | None, draw: Path | None, *, spreadsheet_safe: bool) -> None:
    """Raise if a network cannot be written or drawn to these files."""
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
    **plot_options: Any,
) -> list[Path]:
    """Write and draw a network, warn of formulas in tables, and return the files."""
    written = [] if out is None else network.save(out, spreadsheet_safe=spreadsheet_safe)
    warn_of_formulas(written)
    if draw is not None:
        progress("drawing", 0, None)
        network.plot(draw, **plot_options)
        written.append(draw)
    return written


def show_files(paths: Iterable[Path]) -> None:
    """Show which files were written."""
    for path in paths:
        say(f"wrote {path}")
