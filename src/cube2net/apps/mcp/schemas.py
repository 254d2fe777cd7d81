"""Parameters of the tools."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from cube2net.apps.service.schemas import MOST_CELLS, MOST_LABELS, MOST_NAMES, Id

FEW = 10
"""So many cells, rows, columns and names are listed without a word."""

Named = Annotated[list[Id], "objects by name as somebody typed it, or by id; several hundred are fine"]
GivenNode = str | list[str] | dict[str, str | int | list[str]]
"""A text; or as the JSON interface has it: {"object": id}, {"cell": labels}, the labels alone."""
Cells = Annotated[list[GivenNode], "objects by name or id, or cells by labels, such as '2019 · ACL · parsing'"]


class Limited(TypedDict):
    """Every tool has a budget."""

    max_tokens: NotRequired[
        Annotated[int, "the answer has no more tokens than this, about: 200 to 100,000; 1,500 without a word"]
    ]


class Looked(Limited):
    """Which part of the cube is looked at."""

    where: NotRequired[
        Annotated[
            dict[str, list[str]], "only cells with one of these labels, by dimension or level: {'venue': ['ACL']}"
        ]
    ]
    between: NotRequired[Annotated[str, "only items of a time: 2015..2019, 2015.. or ..2019"]]


class Steered(Looked):
    """How a network is to be made; the same words give the same network in construct and explain."""

    objects: Named
    method: NotRequired[
        Annotated[
            Literal["greedy", "hops", "pagerank"],
            "greedy (the default) chooses cells and adds the objects nearest by links; hops takes all that are linked; "
            "pagerank the nearest by links alone",
        ]
    ]
    m: NotRequired[Annotated[int, "greedy: at most so many cells; without a number sized by the query"]]
    near: NotRequired[Annotated[int, "greedy: how many objects nearest by links; at least 500 without a word"]]
    pins: NotRequired[Annotated[Cells, "must be in the network: objects by name or id, cells by labels"]]
    bans: NotRequired[Annotated[Cells, "must not be in it: objects by name or id, cells by labels"]]
    like: NotRequired[Annotated[Named, "objects of which it should be more like"]]
    unlike: NotRequired[Annotated[Named, "objects of which it should be less like"]]


class FindObjectsAsked(Limited):
    """Names to look up, or the beginning of one."""

    objects: NotRequired[Named]
    begins: NotRequired[Annotated[str, "the beginning of a name, or of words of it, to see which names there are"]]
    most: NotRequired[Annotated[int, f"how many names to list for begins, 1 to {MOST_NAMES}; {FEW} without a word"]]


class ConstructAsked(Steered):
    """A network around some objects."""

    detail: NotRequired[
        Annotated[
            Literal["brief", "full"],
            "brief (the default) lists as many names as fit, the likeliest first; full says of fewer objects why they "
            "are there, with cells, groups and links",
        ]
    ]


class ExplainAsked(Steered):
    """A node of that network, or none."""

    node: NotRequired[
        Annotated[
            GivenNode, "an object by name or id, or a cell by labels as '2019 · ACL · parsing'; without one all cells"
        ]
    ]


class ContrastAsked(Looked):
    """Two lists of objects."""

    objects: Named
    against: NotRequired[Annotated[Named, "the objects to tell them from; without any, all others of the cube"]]
    names: NotRequired[Annotated[list[str], "what to call the two lists, two words or so"]]
    m: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW} without a word"]]


class DrillAsked(Looked):
    """Objects, and a cell to look below."""

    objects: Named
    cell: NotRequired[
        Annotated[
            GivenNode, "the cell to look below, its labels with ∗ for all: '201X · ACL · ∗', or one label; else all"
        ]
    ]
    k: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW} without a word"]]


class PivotAsked(Looked):
    """Two levels of different dimensions."""

    rows: Annotated[str, "the name of a level, for the rows"]
    columns: Annotated[str, "the name of a level of another dimension, for the columns"]
    objects: NotRequired[Annotated[Named, "of which it is told how many are where"]]
    most: NotRequired[
        Annotated[int, f"at most so many rows and columns, the largest, 1 to {MOST_LABELS}; {FEW} without a word"]
    ]
