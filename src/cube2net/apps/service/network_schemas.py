"""Types of requests and answers about networks, explanations, contrasts and changes in JSON."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, get_args, get_origin, get_type_hints

from cube2net.apps.service.schemas import DEFAULT_CELLS, MAX_CELLS, Id, Labels, NetworkRequest, Node, View
from cube2net.apps.service.validation import list_choices, schema_fields
from cube2net.model.explanation import CellExplanation, ObjectExplanation, ValueAccount

# Why


@cache
def _derive_schema(record: type) -> Any:
    """Return the schema of a record in JSON: its fields, with tuples as lists and records inside as their schemas."""
    return _make_schema(record, {name: _as_json_type(hint) for name, hint in get_type_hints(record).items()})


def _derive_explanation(record: type, kind: Any) -> Any:
    """Return the schema of an explanation, which also has its kind and its sentence."""
    fields = schema_fields(_derive_schema(record))
    return _make_schema(record, {"kind": kind, "sentence": str, **{name: field.type for name, field in fields.items()}})


def _make_schema(record: type, fields: dict[str, Any]) -> Any:
    schema = TypedDict(f"{record.__name__}Schema", fields)  # type: ignore[misc]
    schema.__doc__, schema.__module__ = record.__doc__, __name__
    return schema


def _as_json_type(hint: Any) -> Any:
    if is_dataclass(hint):
        return _derive_schema(hint)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        return list[_as_json_type(get_args(hint)[0])]  # type: ignore[misc]
    kinds = [_as_json_type(kind) for kind in list_choices(hint)] if len(list_choices(hint)) > 1 else [hint]
    return reduce(or_, kinds)


if TYPE_CHECKING:
    ObjectExplanationSchema = dict[str, Any]
    CellExplanationSchema = dict[str, Any]
    ValueAccountSchema = dict[str, Any]
else:
    ObjectExplanationSchema = _derive_explanation(ObjectExplanation, Literal["object"])
    CellExplanationSchema = _derive_explanation(CellExplanation, Literal["cell"])
    ValueAccountSchema = _derive_explanation(ValueAccount, Literal["account"])


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


# Contrasts


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
    p_value: Annotated[float, "of Fisher's exact test, corrected for all cells tested"]
    raw_p_value: float
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
    value: Annotated[float, "how well the cells distinguish the objects, 0 to 1"]
    bound: Annotated[float, "upper bound of the value for this number of cells"]
    proven: bool
    tested: int
    n_significant: int
    explained: Annotated[int, "how many significant cells are left out, since a more general one says as much"]
    outside: Annotated[int, "how many objects are on neither side"]
    alpha: float
    nearest: Annotated[SeparatingCellSchema | None, "the cell with the smallest p-value, where none is significant"]


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
    bits: Annotated[float, "bits saved in addition to the cells before it"]


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


# Explanations, changes, contrasts


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
    n_cells: NotRequired[Annotated[int, f"maximum number of cells, 1 to {MAX_CELLS}; {DEFAULT_CELLS} by default"]]


class ContrastAnswer(TypedDict):
    """The cells that tell them apart."""

    sentence: str
    contrast: Annotated[ContrastSchema | DescriptionSchema, "of two sides, or of all labels of one query"]


class DrillRequest(View):
    """The cells below a cell that say most about the query."""

    query: list[Id]
    cell: NotRequired[Labels]
    k: NotRequired[Annotated[int, f"maximum number of cells, 1 to {MAX_CELLS}; {DEFAULT_CELLS} by default"]]


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
    helps: Annotated[bool, "whether it is significantly better than the query alone"]
    finding: Annotated[
        Literal["helps", "maybe", "level", "few", "nothing"],
        "significantly better than the query alone; higher, but not significantly; not higher; "
        "too few links or runs to tell; nothing could be compared",
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
    """Progress of long work; total is null if unknown."""

    stage: str
    done: int
    total: int | None
