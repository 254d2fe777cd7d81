"""Types of the requests and answers of the JSON interface.

Requests are checked against these types by :mod:`cube2net.apps.service.validation`; the OpenAPI page and the TypeScript
types of the explorer are generated from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, final, get_type_hints

from cube2net.options import DEFAULTS, OPTIONS, OptionKind

DEFAULT_CELLS, MAX_CELLS = 10, 100
"""Cells of a contrast and of a drill."""
DEFAULT_PIVOT_LABELS, MAX_PIVOT_LABELS = 40, 100
"""Rows and columns of a table, each."""
DEFAULT_COMPLETIONS, MAX_COMPLETIONS = 10, 100
"""Number of completions of a name: default and maximum."""
MAX_MEMBERS = 20_000
"""Objects of cells; so many an ask may have over HTTP."""


Id = str | int
Labels = Annotated[list[str], "one label for every dimension, ∗ for all of them"]


@final
class NamedCell(TypedDict):
    """A cell by its labels."""

    cell: Labels


@final
class NamedObject(TypedDict):
    """An object by its id."""

    object: Id


Node = NamedCell | NamedObject


class View(TypedDict):
    """Which part of the cube is looked at; without words, all of it."""

    where: NotRequired[Annotated[dict[str, list[str]], "only cells with one of these labels, by dimension or level"]]
    roll_up: NotRequired[Annotated[dict[str, str], "dimensions that are rolled up, each with the level wanted"]]
    between: NotRequired[Annotated[str, "only items of a time: 2015..2019, 2015.. or ..2019"]]
    kind: NotRequired[Annotated[list[str], "only objects of these kinds are brought"]]


FURTHER_OPTIONS = tuple(name for name, option in OPTIONS.items() if not option.is_field)
"""The options of a network that a request has among its ``options``."""
OPTION_TYPES: dict[OptionKind, Any] = {
    "registered": str,
    "name": str,
    "levels": str | list[str],
    "count": int,
    "share": float,
    "flag": bool,
    "nodes": list[Node],
    "objects": list[Id],
}


class NetworkRequestBase(View):
    """A request: the objects of a query, and how their network is to be made; the address of the page holds one."""

    query: Annotated[list[Id], "the ids of the objects"]
    labels: NotRequired[Annotated[list[str] | None, "the label of each of them, in the same order"]]
    r: NotRequired[Annotated[int | None, "of the objective cover: in how many cells every object is wanted"]]
    options: NotRequired[
        Annotated[
            dict[str, str | int | float | bool],
            f"further options of the method, of the objective, and of the network: {', '.join(FURTHER_OPTIONS)}",
        ]
    ]
    cube: NotRequired[Annotated[str, "the checksum of the cube that it was asked of: another cube refuses it"]]


def _option_field(name: str) -> Any:
    """Return the type of the field of a request that has an option of a network."""
    option = OPTIONS[name]
    hint = OPTION_TYPES[option.kind]
    may_be_null = DEFAULTS[name] is None and option.kind != "levels"
    return NotRequired[Annotated[hint | None if may_be_null else hint, option.description]]


if TYPE_CHECKING:
    NetworkRequest = NetworkRequestBase
else:
    _fields = get_type_hints(NetworkRequestBase, include_extras=True)
    _fields |= {name: _option_field(name) for name, option in OPTIONS.items() if option.is_field}
    NetworkRequest = TypedDict("NetworkRequest", _fields)
    NetworkRequest.__doc__, NetworkRequest.__module__ = NetworkRequestBase.__doc__, __name__


# What was read of a spreadsheet


class ReadColumn(TypedDict):
    """A column of a table, and what it was taken for."""

    table: Annotated[str, "its table if there are several"]
    column: str
    what: Annotated[str, "what it was taken for: a name, an end of a link, a dimension"]
    why: str
    is_used: Annotated[bool, "whether it has a role or is a dimension"]


class LeftOut(TypedDict):
    """Rows or cells that were left out, by reason."""

    reason: str
    count: int


class ReadingSchema(TypedDict):
    """What was read of a spreadsheet, and what was guessed."""

    files: list[str]
    objects: int
    links: Annotated[int | None, "null where two objects are linked when a record mentions both"]
    columns: list[ReadColumn]
    said: Annotated[list[str], "remarks on what was guessed and left out"]
    left_out: list[LeftOut]
    dimensions: list[str]
    min_objects: Annotated[int, "cells with fewer objects are left out"]
    reason: Annotated[str, "why these dimensions"]


# The cube


class CubeRequest(TypedDict):
    """What is the cube? Nothing more is asked."""


class LevelSchema(TypedDict):
    """A level of a dimension."""

    name: str
    labels: Annotated[int, "how many labels it has"]
    first: Annotated[list[str], "its labels by name, at most a thousand of them"]


class DimensionSchema(TypedDict):
    """A dimension with its levels, the finest that the cube has first."""

    name: str
    levels: list[LevelSchema]
    time: Annotated[bool, "whether its labels are times"]


class OptionSchema(TypedDict):
    """An option of a method with its default."""

    name: str
    default: str | int | float | bool | None


class MethodSchema(TypedDict):
    """A method that can be asked for."""

    name: str
    cells: Annotated[bool, "whether it chooses cells, or follows links"]
    long: Annotated[bool, "whether it may take long: progress is reported, and it can be stopped"]
    missing: Annotated[str | None, "what has to be installed for it, where something is missing"]
    options: list[OptionSchema]


class LimitsSchema(TypedDict):
    """How much may be asked at once."""

    letters: Annotated[int, "maximum number of letters of a text"]
    bytes: Annotated[int, "maximum size of a request over HTTP"]
    file: Annotated[int, "maximum size of a file of names in bytes"]
    names: Annotated[int, "maximum number of names in a text"]
    members: Annotated[int, "maximum number of objects of cells in an answer"]
    least_runs: Annotated[int, "minimum number of runs of a comparison"]
    runs: Annotated[int, "default number of runs"]
    most_runs: Annotated[int, "maximum number of runs"]


class CubeAnswer(TypedDict):
    """A cube: what it has, and what may be asked of it."""

    name: str
    checksum: Annotated[str | None, "of its manifest; None of a cube in memory"]
    sentence: str
    attribution: str
    objects: int
    cells: int
    links: int
    dimensions: list[DimensionSchema]
    kinds: Annotated[list[str], "the kinds of its objects, the most frequent first"]
    items: Annotated[bool, "whether it keeps its items, so that links have titles behind them"]
    times: Annotated[list[str] | None, "the labels of its time in order, where a time window can be asked for"]
    methods: list[MethodSchema]
    objectives: list[str]
    forms: list[str]
    exports: Annotated[list[str], "the endings of files that export writes"]
    pictures: Annotated[list[str], "those of them that are pictures"]
    unmade: Annotated[dict[str, str], "the pictures that cannot be made here, each with the reason"]
    limits: LimitsSchema
    examples: Annotated[list[Candidate], "a few objects to begin with, which share a cell and are linked"]
    read: Annotated[ReadingSchema | None, "of a cube that explore made of a spreadsheet: what was read"]
    version: str


# Names


class NamesRequest(TypedDict):
    """Names as a person has them: a text that is pasted or typed, or a file."""

    text: NotRequired[Annotated[str, "one name or id a line, or a table with a column object and maybe label"]]
    file: NotRequired[
        Annotated[str, "instead of text: the bytes of a list, a table or a workbook in base64, at most 2,900,000 bytes"]
    ]
    name: NotRequired[Annotated[str, "of a file: its name, whose end says what it is"]]
    column: NotRequired[Annotated[str, "the column of a table that has the names; empty: every line is a name"]]


class Candidate(TypedDict):
    """An object that may be meant."""

    id: Id
    name: str
    kind: str
    about: Annotated[str, "what tells it from others of its name: its items, its usual labels"]


class NameRow(TypedDict):
    """A name that was given, and what it means."""

    given: str
    state: Literal["found", "ambiguous", "missing", "repeated"]
    id: Id | None
    name: str
    label: str
    candidates: Annotated[
        list[Candidate],
        "of an ambiguous name those that bear it, of a missing one the nearest; of an id that is found and is the name "
        "of others too the one found, and these",
    ]
    bearers: NotRequired[Annotated[int, "of a name that several bear: how many, of which candidates are the first"]]


class NamesAnswer(TypedDict):
    """What the names given mean, in their order."""

    rows: list[NameRow]
    found: int
    ambiguous: int
    missing: int
    repeated: int
    labelled: Annotated[bool, "whether a column of labels was found"]
    notes: Annotated[list[str], "on names that are repeated, shared, or found in another spelling, and on labels"]
    columns: NotRequired[Annotated[list[str], "of a table: its columns, one of which has the names"]]
    column: NotRequired[Annotated[str | None, "of a table: the column that was read, null where it must be chosen"]]
    sentence: str


class CompleteRequest(TypedDict):
    """The beginning of a name, or of a word of it."""

    text: str
    most: NotRequired[Annotated[int, f"how many names, 1 to {MAX_COMPLETIONS:,}; {DEFAULT_COMPLETIONS} by default"]]


class CompleteAnswer(TypedDict):
    """Objects whose name begins so, the best known first."""

    candidates: list[Candidate]


class MembersRequest(View):
    """Cells to start from: their objects."""

    cells: Annotated[list[Labels], "labels of each, at any levels, ∗ for all"]
    most: NotRequired[Annotated[int, f"how many objects, 1 to {MAX_MEMBERS:,}, which is the default"]]


class MembersAnswer(TypedDict):
    """The objects of cells, those with most items there first."""

    ids: list[Id]
    names: list[str]
    objects: Annotated[int, "how many there are in all"]
    sentence: str


# The cube as a table


class PivotRequest(View):
    """Two levels, crossed: how many objects have both labels."""

    rows: Annotated[str, "the name of a level"]
    columns: Annotated[str, "the name of a level of another dimension"]
    query: NotRequired[list[Id]]
    cells: NotRequired[Annotated[list[Labels], "the chosen cells, to be marked"]]
    most: NotRequired[
        Annotated[
            int,
            f"maximum number of rows and columns, 1 to {MAX_PIVOT_LABELS}; {DEFAULT_PIVOT_LABELS} by default",
        ]
    ]


class PivotAnswer(TypedDict):
    """A table of counts, row by row; labels in the order of the dimension, where that has one."""

    rows: list[str]
    columns: list[str]
    objects: list[list[int]]
    query: Annotated[list[list[int]], "how many of them are in the query; empty without one"]
    lift: Annotated[
        list[list[float | None]], "the query's share there against its share of the cube; empty without one"
    ]
    chosen: Annotated[list[list[int]], "how many of the chosen cells lie there; empty without any"]
    row_objects: Annotated[list[int], "how many objects each row has in all, each once"]
    column_objects: list[int]
    finer: Annotated[list[str | None], "the next finer level of rows and of columns, to drill down"]
    more_rows: Annotated[int, "how many rows are not shown"]
    more_columns: int
    sentence: str


class StartRequest(TypedDict):
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
    files: Annotated[int, "maximum number of files"]
    bytes: Annotated[int, "maximum size of all files together in bytes"]
    uploaded: Annotated[list[str], "the files that are there"]
    example: Annotated[str, "the example that comes with the program"]


class UploadAnswer(TypedDict):
    """The files that were handed over and are still there, by name."""

    name: Annotated[str, "what the file is called here: without folders, drives and spaces at its ends"]
    files: list[str]


class TablesRequest(TypedDict):
    """Uploaded files to be read, and corrections of what was guessed."""

    files: Annotated[list[str], "their names"]
    columns: NotRequired[Annotated[dict[str, str], "which column is what, by the roles of uses; empty: none is"]]
    separators: NotRequired[Annotated[dict[str, str | list[str]], "by column, what separates several values"]]
    sheet: NotRequired[Annotated[str, "the sheet of a workbook; without, the one with the data"]]
    dimensions: NotRequired[Annotated[list[str], "the dimensions; without any, those that are proposed"]]
    min_objects: NotRequired[Annotated[int | None, "cells with fewer objects are left out"]]


class ColumnChoice(TypedDict):
    """A column, and the dimension that it may become."""

    column: str
    dimension: Annotated[str, "empty where it can become none"]
    chosen: bool


class ColumnUse(TypedDict):
    """A column, what it is used as, and what it may be instead."""

    table: Annotated[str, "its table; empty if columns have no roles"]
    column: str
    role: Annotated[str, "such as nodes.name, as columns takes it; empty where it is none"]
    may: Annotated[list[str], "the roles that it may have"]
    samples: Annotated[list[str], "its first distinct values, at most three"]
    separators: Annotated[list[str], "what separates several values in a field; empty if there is one value"]
    can_split: Annotated[bool, "whether separators can be given"]
    distinct: Annotated[int | None, "of an attribute: how many distinct values it has"]


class SheetSchema(TypedDict):
    """A sheet of a workbook."""

    name: str
    rows: Annotated[int | None, "null if it holds no table, or was not looked at"]
    first: Annotated[list[str], "its first values"]
    is_used: bool


class TablesAnswer(TypedDict):
    """What files hold, before a cube is made of them."""

    read: ReadingSchema
    choices: Annotated[list[ColumnChoice], "the columns that have no role"]
    uses: Annotated[list[ColumnUse], "every column"]
    sheets: Annotated[list[SheetSchema], "of a workbook with several sheets"]
    items: Annotated[int, "how many rows or records were read"]
    kinds: Annotated[list[str], "what kinds of objects there are, such as author"]
    is_linked: Annotated[bool, "whether objects are linked, by links or by records that name several"]
    problem: Annotated[str | None, "why no cube can be built yet"]


class OpenRequest(TypedDict):
    """A cube to open: one of files, one that is there, or the example."""

    files: NotRequired[Annotated[list[str], "files that were handed over"]]
    columns: NotRequired[Annotated[dict[str, str], "as in tables"]]
    separators: NotRequired[Annotated[dict[str, str | list[str]], "as in tables"]]
    sheet: NotRequired[Annotated[str, "as in tables"]]
    dimensions: NotRequired[Annotated[list[str], "as in tables"]]
    min_objects: NotRequired[Annotated[int | None, "as in tables"]]
    keep: NotRequired[Annotated[bool, "keep the cube in the folder; else it is gone when the explorer ends"]]
    recent: NotRequired[Annotated[str, "instead of files: the name of a cube that is there"]]
    example: NotRequired[Annotated[bool, "instead of files: the example"]]


class OpenAnswer(TypedDict):
    """A cube that is open now."""

    cube: Annotated[str, "its name"]
    begin: Annotated[str, "the end of an address with the request to begin with; empty where there is none"]
    kept: Annotated[bool, "whether it is kept"]


@dataclass(frozen=True)
class SessionRoute:
    """A request to the explorer itself: the types of the request and its answer, and a description."""

    name: str
    request_type: type
    answer_type: type
    description: str


SESSION_ROUTES: dict[str, SessionRoute] = {
    route.name: route
    for route in (
        SessionRoute("start", StartRequest, StartAnswer, "Return what can be opened."),
        SessionRoute("tables", TablesRequest, TablesAnswer, "Return what files hold. It may take long."),
        SessionRoute("open", OpenRequest, OpenAnswer, "Return the cube that was opened. It may take long."),
    )
}
"""The requests that need no cube."""
UPLOAD = "upload"
"""Where files are handed over, their bytes as they are."""
