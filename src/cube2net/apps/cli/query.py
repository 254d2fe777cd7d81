"""The commands that make a network: query and replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cube2net as c2n
from cube2net.apps.cli import answers
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
    takes_network_options,
)
from cube2net.apps.cli.output import say, show_json, show_text, shown_progress

if TYPE_CHECKING:
    from cube2net.model.cube import Cube


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
    answers.check_text(text, max_tokens, as_json=as_json)
    answers.check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = answers.view(_opened(cube), where, roll_up, between, kind)
    if show_missing:
        missing = c2n.api.missing_names(opened, query)
        if as_json:
            show_json({"missing": list(missing)})
        elif missing:
            say(*missing)
        raise typer.Exit(1 if missing else 0)
    with shown_progress(quiet or as_json or text) as progress:
        network = answers.answer(
            opened,
            query,
            settings=set_ or [],
            shortcuts={"seconds": seconds, "preset": preset, "device": device},
            skip_missing=skip_missing,
            progress=progress,
            **options,
        )
        steered = options["pins"] or options["bans"]
        priced = c2n.prices(network, progress=progress) if prices and steered else ()
        written = answers.write_files(
            network, out, draw, spreadsheet_safe=spreadsheet_safe, progress=progress, seed=options["seed"]
        )
    if as_json:
        costs = {"prices": [price.to_dict() for price in priced]} if priced else {}
        show_json(c2n.api.summary(network) | costs | answers.about_view(opened))
    elif text:
        show_text(answers.text_of(network, max_tokens))
    else:
        answers.show_view(opened)
        answers.show_network(network)
        for price in priced:
            say(price.sentence)
        answers.say_files(written)


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

    answers.check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    with shown_progress(quiet or as_json) as progress:
        again = c2n.replay(file, cube, progress=progress)
        written = answers.write_files(again.network, out, spreadsheet_safe=spreadsheet_safe)
    if as_json:
        show_json({"same": again.same, "differences": list(again.differences), "recipe": again.recipe.to_dict()})
    else:
        told = "the same to the byte" if again.same else "not the same"
        say(f"{told}: {again.network!r}", *(f"- {sentence}" for sentence in again.differences))
        answers.say_files(written)
    if not again.same:
        raise typer.Exit(1)


def _opened(path: Path) -> Cube:
    from cube2net.api.cubes import open_cube

    return open_cube(path)
