"""The commands that make a network of a query and compare networks; their work is in answering.py and comparing.py."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.cli.completing import levels as which_cells
from cube2net.cli.completing import offer, offer_some
from cube2net.cli.options import (
    EMBEDDING_NAMES,
    RECOMMENDER_NAMES,
    TASK_NAMES,
    AsJson,
    Between,
    CubePath,
    Kind,
    PresetName,
    Prices,
    QueryFile,
    Quiet,
    RollUp,
    Seed,
    Set,
    SkipMissing,
    SpreadsheetSafe,
    Where,
    check_safe,
    takes_network_options,
    warn_of_formulas,
)
from cube2net.cli.signals import KEPT
from cube2net.cli.terminal import say, show_json, show_text, shown_progress
from cube2net.network_options import FORMS, MEMBERSHIPS, METHOD_NAMES, OBJECTIVE_NAMES

if TYPE_CHECKING:
    from cube2net.records import Cube


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
    from cube2net import pipeline
    from cube2net.cli import answering, network_files
    from cube2net.pipeline import missing_names, summary

    answering.check_text(text, max_tokens, as_json=as_json)
    network_files.check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = answering.view(_opened(cube), where, roll_up, between, kind)
    if show_missing:
        missing = missing_names(opened, query)
        if as_json:
            show_json({"missing": list(missing)})
        elif missing:
            say(*missing)
        raise typer.Exit(1 if missing else 0)
    with shown_progress(quiet or as_json or text) as progress:
        network = answering.answer(
            opened,
            query,
            settings=set_ or [],
            shortcuts={"seconds": seconds, "preset": preset, "device": device},
            skip_missing=skip_missing,
            progress=progress,
            **options,
        )
        steered = options["pins"] or options["bans"]
        priced = pipeline.prices(network, progress=progress) if prices and steered else ()
        written = network_files.write_files(
            network, out, draw, spreadsheet_safe=spreadsheet_safe, progress=progress, seed=options["seed"]
        )
    if as_json:
        costs = {"prices": [price.to_dict() for price in priced]} if priced else {}
        show_json(summary(network) | costs | answering.about_view(opened))
    elif text:
        show_text(answering.text_of(network, max_tokens))
    else:
        answering.show_view(opened)
        answering.show_network(network)
        for price in priced:
            say(price.sentence)
        network_files.say_files(written)


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
    from cube2net import pipeline
    from cube2net.cli import network_files

    network_files.check_files(out, None, spreadsheet_safe=spreadsheet_safe)
    with shown_progress(quiet or as_json) as progress:
        again = pipeline.replay(file, cube, progress=progress)
        written = network_files.write_files(again.network, out, spreadsheet_safe=spreadsheet_safe)
    if as_json:
        show_json({"same": again.same, "differences": list(again.differences), "recipe": again.recipe.to_dict()})
    else:
        told = "the same to the byte" if again.same else "not the same"
        say(f"{told}: {again.network!r}", *(f"- {sentence}" for sentence in again.differences))
        network_files.say_files(written)
    if not again.same:
        raise typer.Exit(1)


def compare(
    cube: CubePath,
    query: QueryFile,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The next step: clustering (judged by labels), hidden (links of the query found again) or links "
            "(those of --hidden found again). Without, clustering where there are labels, and else hidden.",
            autocompletion=offer(*TASK_NAMES),
        ),
    ] = None,
    hidden: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For links: a CSV with source,target: links that the cube was built without."
        ),
    ] = None,
    users: Annotated[str, typer.Option(metavar="KIND", help="For links: the kind of objects that get them.")] = "user",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Several with commas: {', '.join(METHOD_NAMES)}, hops 2, cube2net paper. Without, all but the last.",
            autocompletion=offer_some(*METHOD_NAMES),
        ),
    ] = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Several with commas. Without, cover, jaccard, coverage and linked.",
            autocompletion=offer_some(*OBJECTIVE_NAMES),
        ),
    ] = None,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Several with commas: {', '.join(FORMS)}. Without, all.",
            autocompletion=offer_some(*FORMS),
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which cells: full, one, or levels that stay; may be repeated.",
            autocompletion=which_cells,
        ),
    ] = None,
    near: Annotated[list[int] | None, typer.Option(help="How many near objects (form woven); may be repeated.")] = None,
    memberships: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Several with commas: {', '.join(MEMBERSHIPS)}. Without, even.",
            autocompletion=offer_some(*MEMBERSHIPS),
        ),
    ] = None,
    miners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"For clustering and hidden: {', '.join(EMBEDDING_NAMES)}; without, all. For links: "
            f"{', '.join(RECOMMENDER_NAMES)}; without, popularity, softimpute and ease.",
            autocompletion=offer_some(*EMBEDDING_NAMES, *RECOMMENDER_NAMES),
        ),
    ] = None,
    m: Annotated[
        list[int] | None,
        typer.Option("-m", help="How many cells; without a number sized by the query (cover) or 20; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(help="How many runs, each with a seed of its own, the same for all.")] = 10,
    as_large: Annotated[
        bool,
        typer.Option(help="Also PageRank and hops with as many nodes as every choice of cells has."),
    ] = True,
    rivals: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which of PageRank and hops are made as large: pagerank, hops, or both.",
            autocompletion=offer_some("pagerank", "hops"),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a report there; what was interrupted there goes on."),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    workers: Annotated[int, typer.Option(help="How many networks to mine at a time; 0 is one a core.")] = 0,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    kind: Kind = None,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Tell whether a network helps the next step, by labels or without, with paired runs.

    Without names of methods, objectives, forms, levels or numbers the list is short: the network that query makes, two
    variants of it, the paper's form, and PageRank and hops as large as each.
    """
    from cube2net.cli import answering, comparing
    from cube2net.pipeline import JOURNAL, results

    opened = answering.view(_opened(cube), where, roll_up, between, kind)
    check_safe(out, spreadsheet_safe, "--out FOLDER")
    if out is not None:
        KEPT.append(out / JOURNAL)
    with shown_progress(quiet) as progress:
        comparison, files = comparing.compare(
            opened,
            query,
            task=task,
            hidden=hidden,
            users=users,
            methods=methods,
            objectives=objectives,
            forms=forms,
            levels=levels,
            near=near or None,
            memberships=memberships,
            miners=miners,
            m=m or None,
            runs=runs,
            as_large=as_large,
            rivals=rivals,
            out=out,
            spreadsheet_safe=spreadsheet_safe,
            workers=workers,
            skip_missing=skip_missing,
            seed=seed,
            command=" ".join(["cube2net", *map(shlex.quote, sys.argv[1:])]),
            progress=progress,
        )
    warn_of_formulas(files)
    if as_json:
        show_json(results(comparison))
    else:
        answering.show_view(opened)
        comparing.show_comparison(comparison)
        for path in files:
            say(f"wrote {path}")


def _opened(path: Path) -> Cube:
    from cube2net.pipeline import open_cube

    return open_cube(path)
