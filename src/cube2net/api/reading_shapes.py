"""What was read of a spreadsheet, as the page shows it: which column is what, what was left out, and why."""

from __future__ import annotations

from typing import Annotated, TypedDict


class ReadColumn(TypedDict):
    """A column of a table, and what it was taken for."""

    table: Annotated[str, "which table it stands in, where there are several"]
    column: str
    what: Annotated[str, "what it was taken for: a name, an end of a link, a dimension"]
    why: str


class LeftOut(TypedDict):
    """Rows or cells that were left out, by reason."""

    reason: str
    count: int


class ReadingShape(TypedDict):
    """What was read of a spreadsheet, and what was guessed."""

    files: list[str]
    objects: int
    links: Annotated[int | None, "null where two objects are linked when a record mentions both"]
    columns: list[ReadColumn]
    said: Annotated[list[str], "what was guessed and left out, a sentence each"]
    left_out: list[LeftOut]
    dimensions: list[str]
    min_objects: Annotated[int, "cells with fewer objects are left out"]
    reason: Annotated[str, "why these dimensions"]
