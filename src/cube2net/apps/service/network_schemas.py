"""Types of requests and answers about networks in JSON."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from cube2net.apps.service.explanation_schemas import (
    CellExplanationShape,
    ChangeShape,
    ContrastShape,
    DescriptionShape,
    DrilledShape,
    ObjectExplanationShape,
    ValueAccountShape,
)
from cube2net.apps.service.schemas import FEW_CELLS, MOST_CELLS, Ask, Id, Labels, Node, View

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


class SummaryCell(TypedDict):
    """A chosen cell in a summary."""

    labels: Annotated[dict[str, str], "by dimension"]
    gain: float
    objects: int | None
    query_objects: int


class AgreementShape(TypedDict):
    """How many times as often as expected objects of the query with a common neighbour share a cell."""

    lift: float
    low: Annotated[float, "lower 95 % confidence limit"]
    high: Annotated[float, "upper 95 % confidence limit"]
    pairs: Annotated[int, "pairs of objects with a common neighbour"]


class SummaryShape(TypedDict):
    """What a network is, as the command query shows it with --json."""

    method: str
    m: int | None
    objective: str
    form: str
    levels: str | list[str]
    near: int
    near_weight: float | None
    keep: str
    membership: str | None
    trust: Annotated[float | None, "the weight of cells against links, from 0.1 to 1"]
    agreement: Annotated[AgreementShape | None, "what the weight was estimated from; null where it was given"]
    value: Annotated[float | None, "what the choice is worth; null where no cells are chosen"]
    bound: Annotated[float | None, "what no choice exceeds, where that is known"]
    gap: float | None
    proven: bool | None
    note: str | None
    cells: list[SummaryCell]
    nodes: int
    links: int
    left_out: Annotated[int, "how many objects of chosen cells a limit left out"]
    directed: bool
    query_found: int
    query_missing: int
    query_held: Annotated[int, "how many objects of the query chosen cells hold"]
    query_loose: Annotated[int, "how many have no link"]
    chosen: Annotated[str | None, "of the method auto: what it chose"]
    tried: Annotated[list[dict[str, str | int | float]] | None, "of the method auto: what it tried, the best first"]
    pins: list[str]
    bans: list[str]
    like: list[str]
    unlike: list[str]
    seconds: dict[str, float]
    seed: int


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
    summary: SummaryShape
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


class ColumnValue(TypedDict):
    """What a column says of an object."""

    column: str
    value: str


class ExplainAnswer(TypedDict):
    """An explanation; ``kind`` tells of what, and the other fields are those of that record."""

    kind: Literal["object", "cell", "account"]
    sentence: str
    explanation: ObjectExplanationShape | CellExplanationShape | ValueAccountShape
    columns: Annotated[list[ColumnValue], "what the cube knows of an object, by the columns of its source"]


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
    change: Annotated[ChangeShape, "all of it, as cube2net without --json shows it"]


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
    contrast: Annotated[ContrastShape | DescriptionShape, "of two sides, or of all labels of one query"]


class DrillQuestion(View):
    """The cells below a cell that say most about the query."""

    query: list[Id]
    cell: NotRequired[Labels]
    k: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW_CELLS} without a word"]]


class DrillAnswer(TypedDict):
    """These cells."""

    sentence: str
    drilled: DrilledShape


# Does it help?


class CompareQuestion(TypedDict):
    """Does the network help the next step? By the query's labels, or by links that are hidden."""

    ask: Ask
    task: NotRequired[Annotated[Literal["clustering", "hidden"] | None, "by labels where the query has such"]]
    runs: NotRequired[int]


class ScoreShape(TypedDict):
    """How well a miner does on a network, over all runs."""

    miner: str
    measure: str
    mean: float
    low: Annotated[float, "an end of its interval at 95 %"]
    high: float
    runs: int


class ComparedShape(TypedDict):
    """One network of a comparison: its size and scores, or why there is none."""

    network: str
    nodes: int | None
    links: int | None
    scores: list[ScoreShape]
    reason: str


class CompareAnswer(TypedDict):
    """The verdict."""

    sentence: str
    task: str
    helps: Annotated[bool, "whether it is surely better than the query alone"]
    finding: Annotated[
        Literal["helps", "maybe", "level", "few", "nothing"],
        "surely better than the query alone; higher, but not surely; no higher; too few links or runs to tell; "
        "nothing could be compared",
    ]
    table: Annotated[list[ComparedShape], "one row for each network compared"]
    report: Annotated[str, "the key of its report, a page of its own; empty where reports cannot be made here"]
    note: Annotated[str, "why there is no report, where there is none"]


# Keep


class ExportQuestion(TypedDict):
    """A file to keep."""

    ask: Ask
    format: Annotated[str, "an ending of the cube's answer, or recipe.json, query.csv, command.txt or python.txt"]


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
