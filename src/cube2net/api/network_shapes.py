"""What may be asked about a network over JSON, and what is answered; see :mod:`cube2net.api.shapes`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from cube2net.api.answer_limits import FEW_CELLS, MOST_CELLS
from cube2net.api.shapes import Ask, Id, Labels, Node, View

# Networks


Role = Literal["query", "near", "brought", "pinned", "cell"]


class NodeColumns(TypedDict):
    """The nodes of a network, column by column: the query first, then other objects, then cells."""

    id: list[Id]
    name: list[str]
    kind: list[str]
    role: list[Role]
    label: list[str]
    query_links: list[int]
    cells: Annotated[list[list[int]], "the ranks, from 1, of the chosen cells that hold it"]
    labels: Annotated[list[Labels | None], "of a cell its labels"]


class LinkColumns(TypedDict):
    """The links of a network, column by column, between positions of nodes."""

    source: list[int]
    target: list[int]
    weight: list[float]


class ChosenCell(TypedDict):
    """A chosen cell, in the order chosen."""

    labels: Labels
    title: str
    gain: float
    objects: int
    query_objects: int
    share: Annotated[float, "which share of the query it holds"]
    pinned: bool


class PriceShape(TypedDict):
    """What a pin or a ban costs."""

    kind: str
    title: str
    price: float | None
    sentence: str


class ConstructQuestion(TypedDict):
    """Make the network of a question."""

    ask: Ask
    prices: NotRequired[Annotated[bool, "whether to tell what every pin and ban costs"]]


class NetworkAnswer(TypedDict):
    """The network of a question, and why it is good."""

    ask: Annotated[Ask, "the question in its shortest words: the same network, byte by byte"]
    fingerprint: Annotated[str, "the same for the same nodes, links and weights"]
    sentence: str
    note: str
    certificate: Annotated[str, "how far from the best possible the choice is, where that is known"]
    value: float | None
    bound: float | None
    proven: bool | None
    nodes: NodeColumns
    links: LinkColumns
    cells: list[ChosenCell]
    dimensions: list[str]
    prices: list[PriceShape]
    summary: Annotated[dict[str, Any], "what the command query shows with --json"]
    seconds: dict[str, float]


class LayoutQuestion(TypedDict):
    """Places for the nodes of a question's network."""

    ask: Ask
    start: NotRequired[
        Annotated[list[list[float] | None], "where nodes are now, in their order: they move little; null where new"]
    ]


class LayoutAnswer(TypedDict):
    """A place for every node, linked ones near each other; a disc of diameter 1 fits around a node of the query."""

    places: list[list[float]]


# Why, what if, against whom


class ExplainQuestion(TypedDict):
    """Why is a cell or an object in the network, or why not; without one, what every chosen cell adds."""

    ask: Ask
    node: NotRequired[Node]


class ExplainAnswer(TypedDict):
    """An explanation; ``kind`` tells of what, and the other fields are those of that record."""

    kind: Literal["object", "cell", "account"]
    sentence: str
    explanation: dict[str, Any]


class WithoutQuestion(TypedDict):
    """What if: the network without some cells and objects, with some, or both."""

    ask: Ask
    without: NotRequired[list[Node]]
    with_: NotRequired[list[Node]]


class ChangeAnswer(TypedDict):
    """What changes."""

    sentence: str
    value: Annotated[float | None, "what the choice is worth now; null where no cells are chosen"]
    before: float | None
    merely: Annotated[float | None, "what the old choice is worth so, with nothing chosen anew"]
    entered: list[Node]
    left: list[Node]
    change: Annotated[dict[str, Any], "all of it, as cube2net without --json shows it"]


class ContrastQuestion(View):
    """What tells two queries apart; without a second, the labels of one from each other, or it from all others."""

    query: list[Id]
    labels: NotRequired[Annotated[list[str] | None, "the label of each, in the same order"]]
    against: NotRequired[Annotated[list[Id], "the objects of the second, one or more"]]
    names: NotRequired[Annotated[list[str], "how the two are called"]]
    m: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW_CELLS} without a word"]]


class ContrastAnswer(TypedDict):
    """The cells that tell them apart."""

    sentence: str
    contrast: dict[str, Any]


class DrillQuestion(View):
    """The cells below a cell that say most about the query."""

    query: list[Id]
    cell: NotRequired[Labels]
    k: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW_CELLS} without a word"]]


class DrillAnswer(TypedDict):
    """These cells."""

    sentence: str
    drilled: dict[str, Any]


# Does it help?


class CompareQuestion(TypedDict):
    """Does the network help the next step? By the query's labels, or by links that are hidden."""

    ask: Ask
    task: NotRequired[Annotated[Literal["clustering", "hidden"] | None, "by labels where the query has such"]]
    runs: NotRequired[int]


class CompareAnswer(TypedDict):
    """The verdict."""

    sentence: str
    task: str
    helps: Annotated[bool, "whether it is surely better than the query alone"]
    table: Annotated[list[dict[str, Any]], "one row for each network compared"]
    report: Annotated[str, "the key of its report, a page of its own; empty where reports cannot be made here"]
    note: Annotated[str, "why there is no report, where there is none"]


# Keep


class ExportQuestion(TypedDict):
    """A file to keep."""

    ask: Ask
    format: Annotated[str, "an ending of the cube's answer, or recipe.json, query.csv, command.txt, python.txt"]


class FailureDetail(TypedDict):
    """Why there is no answer, in one sentence."""

    sentence: str
    kind: str


class Failure(TypedDict):
    """A refusal."""

    error: FailureDetail


class ProgressShape(TypedDict):
    """How far long work is; total is null while nobody knows."""

    stage: str
    done: int
    total: int | None
