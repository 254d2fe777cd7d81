"""Why, what if, against whom, and where: the records of the library as JSON has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cube2net import pipeline
from cube2net.api.answer_limits import FEW_CELLS, MOST_CELLS
from cube2net.api.ask_parameters import node_given, query_of
from cube2net.api.network_shapes import (
    ChangeAnswer,
    ColumnValue,
    ContrastAnswer,
    ContrastQuestion,
    DrillAnswer,
    DrillQuestion,
    ExplainAnswer,
    ExplainQuestion,
    WithoutQuestion,
)
from cube2net.api.shapes import Node
from cube2net.errors import ParameterError, whole_number
from cube2net.progress import Progress
from cube2net.records import Query
from cube2net.records.change import NamedNode
from cube2net.records.contrast import Contrast, Description
from cube2net.records.drilled import Drilled

if TYPE_CHECKING:
    from cube2net.api.desk import Desk

MOST_COLUMNS, LONGEST = 50, 1_000
"""So many columns of an object are told, and so many letters of each."""


def explain(desk: Desk, question: ExplainQuestion, progress: Progress) -> ExplainAnswer:
    """Return why a cell or an object is in a network, or is not; without one, what every cell adds."""
    network = desk.network(question["ask"], progress)
    node = question.get("node")
    told: Any = pipeline.explain(network, None if node is None else node_given(desk.cube, node)).to_dict()
    columns: list[ColumnValue] = []
    if told["kind"] == "object":
        row = int(desk.cube.objects.find([str(told["id"])]).rows[0])
        known = pipeline.columns_of(desk.cube, row)[:MOST_COLUMNS]
        columns = [{"column": name, "value": value[:LONGEST]} for name, value in known]
    return {"kind": told["kind"], "sentence": told["sentence"], "explanation": told, "columns": columns}


def without(desk: Desk, question: WithoutQuestion, progress: Progress) -> ChangeAnswer:
    """Return what becomes of a network without some cells and objects, or with others."""
    network = desk.network(question["ask"], progress)
    out = [node_given(desk.cube, node) for node in question.get("without", [])]
    inside = [node_given(desk.cube, node) for node in question.get("with_", [])]
    change = pipeline.change(network, without=out, with_=inside)
    told: Any = change.to_dict()
    return {
        "sentence": change.sentence,
        "value": told["value"],
        "before": told["before"],
        "merely": told["merely"],
        "entered": [_node(each) for each in change.entered],
        "left": [_node(each) for each in change.left],
        "change": told,
    }


def contrast(desk: Desk, question: ContrastQuestion, progress: Progress) -> ContrastAnswer:
    """Return the few cells that tell two queries apart, or each label of one from the others."""
    seen = desk.view(question)
    query = query_of(desk.cube, question["query"], question.get("labels"))
    m = whole_number("m", question.get("m", FEW_CELLS), 1, MOST_CELLS, what="cells")
    names = question.get("names")
    if "against" in question:
        if not question["against"]:
            raise ParameterError(
                "against is [], expected the id of at least one object: leave it out to tell the query from all others"
            )
        against = query_of(desk.cube, question["against"])
        found = pipeline.contrast(seen, Query(query.objects), against, m, names=names)
    elif query.labels is not None:
        described = pipeline.contrast(seen, query, m=m, names=names)  # type: ignore[arg-type]
        return {"sentence": str(described), "contrast": _plain(described)}
    else:
        found = pipeline.contrast_with_others(seen, query, m, names=names)
    return {"sentence": found.sentence, "contrast": _plain(found)}


def drill(desk: Desk, question: DrillQuestion, progress: Progress) -> DrillAnswer:
    """Return the cells below a cell that say most about a query."""
    cell = question.get("cell")
    query = query_of(desk.cube, question["query"])
    k = whole_number("k", question.get("k", FEW_CELLS), 1, MOST_CELLS, what="cells")
    found = pipeline.drill(desk.view(question), query, None if cell is None else tuple(cell), k)
    return {"sentence": found.sentence, "drilled": _plain(found)}


def _plain(record: Contrast | Description | Drilled) -> Any:
    """Return a record as JSON has it, and as its shape says."""
    return record.to_dict()


def _node(named: NamedNode) -> Node:
    return {"cell": list(named.key)} if isinstance(named.key, tuple) else {"object": named.key}
