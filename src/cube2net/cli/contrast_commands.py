"""The commands that tell sets of objects apart; their work is in contrast_tables.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cube2net.cli.options import (
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
from cube2net.cli.terminal import shown_progress

Most = Annotated[int, typer.Option("-m", help="How many cells at most, for each group where there are several.")]
Chance = Annotated[
    float, typer.Option(help="Only cells whose chance, corrected for all that were tested, is not above this.")
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
    m: Most = 10,
    chance: Chance = 0.05,
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
    from cube2net import pipeline
    from cube2net.cli import answering, contrast_tables, network_files

    network_files.check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = answering.view(pipeline.open_cube(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        files = [query] if against is None else [query, against]
        asked = [pipeline.read_query(opened, file, skip_missing=skip_missing) for file in files]
        found = contrast_tables.contrasted(opened, asked, files, m, chance)
        paths = contrast_tables.written(found, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    contrast_tables.tell(found, opened, asked, paths, as_json=as_json)


def describe(
    cube: CubePath,
    clusters: Annotated[
        Path, typer.Option(metavar="FILE", help="A table object,cluster: CSV, Excel, Parquet or JSON lines.")
    ],
    m: Most = 10,
    chance: Chance = 0.05,
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
    from cube2net import pipeline
    from cube2net.cli import answering, contrast_tables, network_files

    network_files.check_files(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = answering.view(pipeline.open_cube(cube), where, roll_up, between)
    with shown_progress(quiet or as_json) as progress:
        progress("telling apart", 0, None)
        asked = pipeline.read_clusters(opened, clusters, skip_missing=skip_missing)
        found = pipeline.describe(opened, asked, m, chance=chance)
        paths = contrast_tables.written(found, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed)
    contrast_tables.tell(found, opened, [asked], paths, as_json=as_json)
