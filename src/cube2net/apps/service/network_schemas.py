"""Types of requests and answers about networks, explanations, contrasts and changes in JSON."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from cube2net.apps.service.schemas import FEW_CELLS, MOST_CELLS, Id, Labels, NetworkRequest, Node, View

Time = str | int | float | None

# Why


class SharedItemSchema(TypedDict):
    """An item that mentions two objects."""

    id: str
    title: str | None
    time: Time


class QueryLinkSchema(TypedDict):
    """A link to an object of the query."""

    id: Id
    name: str
    weight: float
    items: Annotated[int | None, "how many items mention both; null where the cube does not keep its items"]
    newest: Annotated[list[SharedItemSchema], "the newest of these; some of them where they have no time"]
    kinds: Annotated[list[str], "where the source says what kinds of links there are between the two"]
    first: Time
    last: Time


class BringingCellSchema(TypedDict):
    """A chosen cell that holds an object."""

    rank: int
    labels: Labels
    gain: Annotated[float, "what it added to the value when it was chosen"]


class LinkPathSchema(TypedDict):
    """A shortest path to the query, along links."""

    ids: list[Id]
    names: list[str]
    weight: Annotated[float, "of its links together"]


class NearMissSchema(TypedDict):
    """What would have brought an object that is not in a network."""

    obstacle: Annotated[str, "why it cannot come at all"]
    left_out: Annotated[str, "why it did not come though a chosen cell holds it"]
    cell: Annotated[Labels | None, "the cell that holds it and takes least from the value"]
    value: Annotated[float | None, "the value with that cell"]
    price: Annotated[float | None, "how much less than now that is"]
    option: Annotated[str, "the parameter that would reach as far"]
    needed: int | None
    now: int | None
    exact: Annotated[bool, "whether it is known that this is enough"]
    least: Annotated[bool, "whether less never is"]
    note: str


class ObjectExplanationSchema(TypedDict):
    """Why an object is in a network, or is not."""

    kind: Literal["object"]
    sentence: str
    id: Id
    name: str
    present: bool
    came: Annotated[str, "query, pinned, neighbor, cells, or the method that brought it; empty where it is not there"]
    value: float
    cells: Annotated[list[BringingCellSchema], "the chosen cells that hold it, in their order"]
    chosen_cells: Annotated[int, "how many cells are chosen in all"]
    linked: Annotated[int, "how many objects of the query it is linked to"]
    links: Annotated[list[QueryLinkSchema], "the heaviest of these links"]
    rank: Annotated[int | None, "by personalised PageRank; null for objects of the query and out of reach"]
    ranked: int
    score: float
    steps: Annotated[int | None, "of a shortest path to the query; null where there is none within so many"]
    within: int
    ways: Annotated[int, "how many such paths there are"]
    paths: Annotated[list[LinkPathSchema], "the heaviest of them"]
    gain: Annotated[float | None, "what it adds above, where the value is a ratio of sums"]
    cost: Annotated[float | None, "what it adds below"]
    miss: Annotated[NearMissSchema | None, "what would have brought it, where it is not there"]
    note: str


class LiftSchema(TypedDict):
    """How much more often objects of the query have a label, or are in a cell, than all objects of the cube."""

    dimension: Annotated[str, "empty for a whole cell"]
    label: Annotated[str, "empty for a whole cell"]
    query: int
    queried: int
    everyone: int
    objects: int
    lift: float
    low: float
    high: float


class OnlyObjectSchema(TypedDict):
    """An object that one chosen cell alone holds."""

    id: Id
    name: str
    in_query: bool


class CellExplanationSchema(TypedDict):
    """Why a cell was chosen, or was not."""

    kind: Literal["cell"]
    sentence: str
    number: int
    labels: Labels
    chosen: bool
    rank: int | None
    chosen_cells: int
    value: float
    in_turn: Annotated[float | None, "what it added when it was chosen; null where it is not"]
    alone: Annotated[float, "what it would add as the only cell"]
    last: Annotated[float, "what would be lost without it, or won with it"]
    objects: int
    query_objects: int
    queried: int
    lift: LiftSchema
    label_lifts: list[LiftSchema]
    only: Annotated[int, "how many objects no other chosen cell holds"]
    only_query: int
    only_first: Annotated[list[OnlyObjectSchema], "the first of them"]
    pinned: bool
    banned: bool
    before: Annotated[int | None, "how many cells that are not chosen would add more; null for chosen ones"]
    why_not: str


class AddedCellSchema(TypedDict):
    """What a chosen cell brought in its turn."""

    rank: int
    number: int
    labels: Labels
    pinned: bool
    new_objects: int
    gain: float | None
    cost: float | None
    value: float
    added: Annotated[float, "the change of the value"]


class ValueAccountSchema(TypedDict):
    """What every part of a network adds to its value."""

    kind: Literal["account"]
    sentence: str
    objective: str
    value: float
    gain0: Annotated[float | None, "what is there without any cell, above"]
    cost0: Annotated[float | None, "and below"]
    objects: int
    pinned_gain: float | None
    pinned_cost: float | None
    pinned_cells_gain: float | None
    pinned_cells_cost: float | None
    gain: float | None
    cost: float | None
    cells: Annotated[list[AddedCellSchema], "in the order chosen"]
    note: str
    ratio: bool
    method: str
    chooses_cells: bool
    brought: int
    pinned: int
    picked: Annotated[bool, "whether the cells were chosen beforehand, because they tell objects apart"]


# What if


class ChangedCell(TypedDict):
    """A cell that came or went, or was named."""

    kind: Literal["cell"]
    labels: Labels


class ChangedObject(TypedDict):
    """An object that came or went, or was named."""

    kind: Literal["object"]
    id: Id
    name: str


ChangedNode = ChangedCell | ChangedObject
_With = TypedDict("_With", {"with": list[ChangedNode]})


class ChangeSchema(_With):
    """What becomes of a network without some cells and objects, or with others."""

    sentence: str
    changed: bool
    without: list[ChangedNode]
    known: Annotated[list[ChangedNode], "those named that were out, or in, already"]
    objective: str | None
    before: float | None
    value: float | None
    merely: float | None
    bound_before: float | None
    bound: float | None
    proven_before: bool
    proven: bool
    entered: list[ChangedNode]
    left: list[ChangedNode]
    nodes: Annotated[int, "how many the network has now"]
    links: int


# Against whom


_For = TypedDict("_For", {"for": Annotated[int, "1 or 2: the side that it speaks for"]})


class SeparatingCellSchema(_For):
    """A cell at mixed levels that holds a larger share of one of two sides."""

    labels: Labels
    levels: Annotated[list[str | None], "the level of each label, null for ∗"]
    objects: Annotated[tuple[int, int], "how many objects of each side it holds"]
    shares: tuple[float, float]
    lift: Annotated[float | None, "how many times as often; null where it holds none of the other side"]
    difference: Annotated[float, "the share of the first side less that of the second"]
    interval: Annotated[tuple[float, float], "of the difference, at 95 %"]
    chance: Annotated[float, "of Fisher's exact test, corrected for all cells tested"]
    raw_chance: float
    gain: float


class ContrastCellSchema(SeparatingCellSchema):
    """A cell that was chosen to tell two sides apart."""

    sentence: str


class SideSchema(TypedDict):
    """One of two sides."""

    name: str
    objects: int


class ContrastSchema(TypedDict):
    """The cells that tell two sides apart, in the order chosen."""

    sides: tuple[SideSchema, SideSchema]
    sentence: str
    cells: list[ContrastCellSchema]
    value: Annotated[float, "how far the objects are told apart, 0 to 1"]
    bound: Annotated[float, "what no choice of so many cells exceeds"]
    proven: bool
    tested: int
    sure: int
    explained: Annotated[int, "how many sure cells are left out, since a more general one says as much"]
    outside: Annotated[int, "how many objects are on neither side"]
    chance: float
    nearest: Annotated[SeparatingCellSchema | None, "the cell of the least chance, where none is sure"]


class DescriptionSchema(TypedDict):
    """What tells each label of a query from the others."""

    groups: list[ContrastSchema]
    outside: Annotated[int, "how many objects have no label"]
    elsewhere: Annotated[int, "how many of the others are not in the network that was described"]


# Where


class DrilledCellSchema(TypedDict):
    """A cell below another."""

    cell: Annotated[str, "its labels in one line"]
    labels: Labels
    query_objects: int
    new: Annotated[int, "how many of these no cell before it holds"]
    objects: int
    share: float
    lift: float
    bits: Annotated[float, "what it saves beside the cells before it"]


class LeftObject(TypedDict):
    """An object of the query that no listed cell holds."""

    id: Id
    name: str


class DrilledSchema(TypedDict):
    """The cells below a cell that hold most of a query at least cost, in the order chosen."""

    cell: str
    labels: Labels
    dimensions: list[str]
    objects: int
    query_objects: int
    query: int
    cells: list[DrilledCellSchema]
    held: int
    left: list[LeftObject]
    bits: float
    bound: Annotated[float, "what no choice of as many cells exceeds"]
    gap: float
    proven: bool
    sentence: str


# Networks


Role = Literal["query", "neighbor", "brought", "pinned", "cell"]


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


class PriceSchema(TypedDict):
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


class AgreementSchema(TypedDict):
    """How many times as often as expected objects of the query with a common neighbour share a cell."""

    lift: float
    low: Annotated[float, "lower 95 % confidence limit"]
    high: Annotated[float, "upper 95 % confidence limit"]
    pairs: Annotated[int, "pairs of objects with a common neighbour"]


class SummarySchema(TypedDict):
    """What a network is, as the command query shows it with --json."""

    method: str
    n_cells: int | None
    objective: str
    form: str
    levels: str | list[str]
    n_neighbors: int
    neighbor_weight: float | None
    keep_unlinked: bool
    membership_weights: str | None
    cell_weight: Annotated[float | None, "the weight of cells against links, from 0.1 to 1"]
    agreement: Annotated[AgreementSchema | None, "what the weight was estimated from; null where it was given"]
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
    prefer: list[str]
    avoid: list[str]
    seconds: dict[str, float]
    seed: int


class ConstructRequest(TypedDict):
    """Make the network of a request."""

    request: NetworkRequest
    prices: NotRequired[Annotated[bool, "whether to tell what every pin and ban costs"]]


class NetworkAnswer(TypedDict):
    """The network of a request, and why it is good."""

    request: Annotated[NetworkRequest, "the request in its shortest words: the same network, byte by byte"]
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
    prices: list[PriceSchema]
    summary: SummarySchema
    seconds: dict[str, float]


class LayoutRequest(TypedDict):
    """Places for the nodes of a request's network."""

    request: NetworkRequest
    start: NotRequired[
        Annotated[list[list[float] | None], "where nodes are now, in their order: they move little; null where new"]
    ]


class LayoutAnswer(TypedDict):
    """A place for every node, linked ones near each other; a disc of diameter 1 fits around a node of the query."""

    places: list[list[float]]


# Why, what if, against whom


class ExplainRequest(TypedDict):
    """Why is a cell or an object in the network, or why not; without one, what every chosen cell adds."""

    request: NetworkRequest
    node: NotRequired[Node]


class ColumnValue(TypedDict):
    """What a column says of an object."""

    column: str
    value: str


class ExplainAnswer(TypedDict):
    """An explanation; ``kind`` tells of what, and the other fields are those of that record."""

    kind: Literal["object", "cell", "account"]
    sentence: str
    explanation: ObjectExplanationSchema | CellExplanationSchema | ValueAccountSchema
    columns: Annotated[list[ColumnValue], "what the cube knows of an object, by the columns of its source"]


class WithoutRequest(TypedDict):
    """What if: the network without some cells and objects, with some, or both."""

    request: NetworkRequest
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
    change: Annotated[ChangeSchema, "all of it, as cube2net without --json shows it"]


class ContrastRequest(View):
    """What tells two queries apart; without a second, the labels of one from each other, or it from all others."""

    query: list[Id]
    labels: NotRequired[Annotated[list[str] | None, "the label of each, in the same order"]]
    against: NotRequired[Annotated[list[Id], "the objects of the second, one or more"]]
    names: NotRequired[Annotated[list[str], "how the two are called"]]
    n_cells: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW_CELLS} without a word"]]


class ContrastAnswer(TypedDict):
    """The cells that tell them apart."""

    sentence: str
    contrast: Annotated[ContrastSchema | DescriptionSchema, "of two sides, or of all labels of one query"]


class DrillRequest(View):
    """The cells below a cell that say most about the query."""

    query: list[Id]
    cell: NotRequired[Labels]
    k: NotRequired[Annotated[int, f"at most so many cells, 1 to {MOST_CELLS}; {FEW_CELLS} without a word"]]


class DrillAnswer(TypedDict):
    """These cells."""

    sentence: str
    drilled: DrilledSchema


# Does it help?


class CompareRequest(TypedDict):
    """Does the network help the next step? By the query's labels, or by links that are hidden."""

    request: NetworkRequest
    task: NotRequired[Annotated[Literal["clustering", "hidden"] | None, "by labels where the query has such"]]
    runs: NotRequired[int]


class ScoreSchema(TypedDict):
    """How well a model does on a network, over all runs."""

    model: str
    measure: str
    mean: float
    low: Annotated[float, "an end of its interval at 95 %"]
    high: float
    runs: int


class ComparedSchema(TypedDict):
    """One network of a comparison: its size and scores, or why there is none."""

    network: str
    nodes: int | None
    links: int | None
    scores: list[ScoreSchema]
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
    table: Annotated[list[ComparedSchema], "one row for each network compared"]
    report: Annotated[str, "the key of its report, a page of its own; empty where reports cannot be made here"]
    note: Annotated[str, "why there is no report, where there is none"]


# Keep


class ExportRequest(TypedDict):
    """A file to keep."""

    request: NetworkRequest
    format: Annotated[str, "an ending of the cube's answer, or recipe.json, query.csv, command.txt or python.txt"]


class FailureDetail(TypedDict):
    """Why there is no answer, in one sentence."""

    sentence: str
    kind: str


class Failure(TypedDict):
    """A refusal."""

    error: FailureDetail


class ProgressSchema(TypedDict):
    """How far long work is; total is null while nobody knows."""

    stage: str
    done: int
    total: int | None
