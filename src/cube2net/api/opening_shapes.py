"""What may be asked of an explorer that was started without a cube: tables to look at, and a cube to open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict

from cube2net.api.shapes import ReadingShape


class StartQuestion(TypedDict):
    """What can be opened? Nothing more is asked."""


class RecentCube(TypedDict):
    """A cube in the folder that the explorer was started in."""

    name: str
    objects: int
    cells: int
    files: Annotated[list[str], "the spreadsheet that it was made of; empty of other cubes"]
    made: Annotated[int, "when it was made, in seconds since 1970"]


class StartAnswer(TypedDict):
    """What can be opened, and within which limits."""

    opens: Annotated[bool, "whether tables can be opened: not where the explorer was started with its cube"]
    cube: Annotated[str | None, "the name of the cube that is open"]
    folder: Annotated[str, "the name of the folder that cubes are kept in"]
    keeps: Annotated[bool, "whether something can be written there"]
    recent: Annotated[list[RecentCube], "the cubes there, the newest first"]
    endings: Annotated[list[str], "the ends of the names of files that are taken"]
    files: Annotated[int, "at most so many files are taken at once"]
    bytes: Annotated[int, "of so many bytes together"]
    example: Annotated[str, "the example that comes with the program"]


class UploadAnswer(TypedDict):
    """The files that were handed over and are still there, by name."""

    name: Annotated[str, "what the file is called here: without folders, drives and spaces at its ends"]
    files: list[str]


class TablesQuestion(TypedDict):
    """Files that were handed over, to be looked at, and what is said of them instead of guessed."""

    files: Annotated[list[str], "their names"]
    columns: NotRequired[Annotated[dict[str, str], "which column is what, by the roles of uses; empty: none is"]]
    dimensions: NotRequired[Annotated[list[str], "the dimensions; without any, those that are proposed"]]
    min_objects: NotRequired[Annotated[int | None, "cells with fewer objects are left out"]]


class ColumnChoice(TypedDict):
    """A column, and the dimension that it may become."""

    column: str
    dimension: Annotated[str, "empty where it can become none"]
    chosen: bool


class ColumnUse(TypedDict):
    """A column, what it is used as, and what it may be instead."""

    table: Annotated[str, "which table it stands in; empty where columns have no roles"]
    column: str
    role: Annotated[str, "such as nodes.name, as columns takes it; empty where it is none"]
    may: Annotated[list[str], "the roles that it may have"]


class TablesAnswer(TypedDict):
    """What files hold, before a cube is made of them."""

    read: ReadingShape
    choices: Annotated[list[ColumnChoice], "the columns that have no role"]
    uses: Annotated[list[ColumnUse], "every column"]


class OpenQuestion(TypedDict):
    """A cube to open: one of files, one that is there, or the example."""

    files: NotRequired[Annotated[list[str], "files that were handed over"]]
    columns: NotRequired[Annotated[dict[str, str], "as in tables"]]
    dimensions: NotRequired[Annotated[list[str], "as in tables"]]
    min_objects: NotRequired[Annotated[int | None, "as in tables"]]
    keep: NotRequired[Annotated[bool, "keep the cube in the folder; else it is gone when the explorer ends"]]
    recent: NotRequired[Annotated[str, "instead of files: the name of a cube that is there"]]
    example: NotRequired[Annotated[bool, "instead of files: the example"]]


class OpenAnswer(TypedDict):
    """A cube that is open now."""

    cube: Annotated[str, "its name"]
    begin: Annotated[str, "the end of an address with the question to begin with; empty where there is none"]
    kept: Annotated[bool, "whether it is kept"]


@dataclass(frozen=True)
class OpeningRoute:
    """A question to the explorer itself: what is asked and answered, and what it does."""

    name: str
    asks: type
    answers: type
    does: str


OPENINGS: dict[str, OpeningRoute] = {
    route.name: route
    for route in (
        OpeningRoute("start", StartQuestion, StartAnswer, "Return what can be opened."),
        OpeningRoute("tables", TablesQuestion, TablesAnswer, "Return what files hold. It may take long."),
        OpeningRoute("open", OpenQuestion, OpenAnswer, "Return the cube that was opened. It may take long."),
    )
}
"""The questions that need no cube."""
UPLOAD = "upload"
"""Where files are handed over, their bytes as they are."""
