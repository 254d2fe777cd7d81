"""Options that several commands share, and the names that their help lists: loaded without anything that takes long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from cube2net.cli.terminal import complain
from cube2net.errors import ParameterError

METHOD_NAMES = ("none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy", "anneal", "exact", "cube2net")
OBJECTIVE_NAMES = ("jaccard", "fbeta", "precision", "coverage", "linked", "cover")
MEMBERSHIP_NAMES = ("unit", "share", "even", "need")
EMBEDDING_NAMES = ("deepwalk", "node2vec", "line")
RECOMMENDER_NAMES = ("popularity", "itemknn", "softimpute", "als", "ease")
FORM_NAMES = ("objects", "cells", "both", "woven")
TASK_NAMES = ("clustering", "links", "hidden")
SOURCE_NAMES = ("tables", "acl", "aminer", "dblp", "yelp", "movies", "bundled")

CubePath = Annotated[Path, typer.Argument(metavar="CUBE", help="Folder of a cube.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of source, method or objective; may be repeated."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="DIMENSION=LABEL", help="Only cells with this label; may be repeated."),
]
RollUp = Annotated[list[str] | None, typer.Option(metavar="DIMENSION", help="Use the level above; may be repeated.")]
SkipMissing = Annotated[bool, typer.Option("--skip-missing", help="Go on without names that are not in the cube.")]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="In CSV files, put ' before names that spreadsheets would run as formulas: =, +, - or @ first.",
    ),
]


def check_safe(out: Path | None, spreadsheet_safe: bool, example: str) -> None:
    """Raise where tables are to be safe for spreadsheets and none is written."""
    if spreadsheet_safe and out is None:
        raise ParameterError(f"--spreadsheet-safe guards CSV files, and none is written: add {example}")


def warn_of_formulas(paths: Iterable[Path]) -> None:
    """Say which of the tables written hold cells that a spreadsheet would run."""
    from cube2net.escaping import formulas_in

    for path in paths:
        count = formulas_in(path) if path.suffix.lower() == ".csv" else 0
        if count:
            begin = f"{count:,} cell{'s begin' if count > 1 else ' begins'}"
            complain(
                f"{path.name}: {begin} with =, +, - or @, which spreadsheets run as formulas "
                "(--spreadsheet-safe guards them)"
            )


def say_new_name(old: str, new: str) -> None:
    """Say what an option of the release before is called now."""
    complain(f"{old} is now {new}: the old name goes with the next release")


def one_of(given: Mapping[str, list[str] | None]) -> list[str] | None:
    """Return what was given by an option or by one of its old names, of which the new one is said; two are refused."""
    new = next(iter(given))
    used = [name for name, texts in given.items() if texts]
    if len(used) > 1:
        raise ParameterError(f"{used[0]} and {used[1]} are the same option: give {new} alone")
    if used and used[0] != new:
        say_new_name(used[0], new)
    return given[used[0]] if used else None
