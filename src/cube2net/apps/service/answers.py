"""Answers about the cube, networks, explanations and comparisons."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net import __version__
from cube2net._util.progress import Progress
from cube2net.api import contrast as contrast_module
from cube2net.api import drill as drill_module
from cube2net.api import explain as explain_module
from cube2net.api import what_if
from cube2net.api.compare import check_report, judge, report_files, results
from cube2net.api.drill import finer_levels, place_cells
from cube2net.api.export import layout_network
from cube2net.api.plan import WITH_OPTIONS
from cube2net.api.query import example_objects
from cube2net.api.spreadsheets import reading_in
from cube2net.apps.service.exports import PICTURE_FORMATS, find_missing_formats, list_formats
from cube2net.apps.service.names import MAX_FILE_BYTES, MAX_NAMES, describe_candidates
from cube2net.apps.service.network_schemas import (
    ChangeAnswer,
    ColumnValue,
    CompareAnswer,
    ComparedSchema,
    CompareRequest,
    ConstructRequest,
    ContrastAnswer,
    ContrastRequest,
    DrillAnswer,
    DrillRequest,
    ExplainAnswer,
    ExplainRequest,
    LayoutAnswer,
    LayoutRequest,
    NetworkAnswer,
    NodeColumns,
    Role,
    ScoreSchema,
    WithoutRequest,
)
from cube2net.apps.service.requests import (
    is_long_method,
    list_methods,
    list_options,
    make_parameters,
    resolve_node,
    resolve_query,
)
from cube2net.apps.service.schemas import (
    DEFAULT_CELLS,
    DEFAULT_PIVOT_LABELS,
    MAX_CELLS,
    MAX_MEMBERS,
    MAX_PIVOT_LABELS,
    CubeAnswer,
    CubeRequest,
    DimensionSchema,
    MethodSchema,
    Node,
    PivotAnswer,
    PivotRequest,
    ReadingSchema,
)
from cube2net.apps.service.validation import MAX_LENGTH, MAX_REQUEST_BYTES, read, schema_fields
from cube2net.cube.views import list_kinds
from cube2net.cube.window import find_time_dimensions, list_window_labels
from cube2net.errors import MissingPackageError, ParameterError, check_int
from cube2net.model.change import NamedNode
from cube2net.model.comparison import Comparison
from cube2net.model.contrast import Contrast, Description, Drilled
from cube2net.model.cube import Cube
from cube2net.model.interfaces import ChecksItself, chooses_cells
from cube2net.model.network import Network
from cube2net.model.node_names import cell_title, list_levels
from cube2net.model.query import Query
from cube2net.network.assembly import describe_certificate, describe_network, summarize
from cube2net.network.attributes import list_attributes
from cube2net.options import FORMS
from cube2net.selection.objectives import OBJECTIVES

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService


def construct(service: CubeService, body: ConstructRequest, progress: Progress) -> NetworkAnswer:
    """Return the network of a request."""
    request = service.parse(body["request"])
    network = service.network(request, progress)
    summary: Any = summarize(network)
    pins: Any = body["request"].get("pins") or []
    pinned = {tuple(pin["cell"]) for pin in pins if "cell" in pin}
    pin_costs = what_if.compute_pin_costs(network, progress=progress) if body.get("prices") else ()
    return {
        "request": service.with_checksum(request),  # type: ignore[typeddict-item]
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
        "sentence": describe_network(network, summary),
        "note": summary["note"] or "",
        "certificate": describe_certificate(summary),
        "value": summary["value"],
        "bound": summary["bound"],
        "proven": summary["proven"],
        "nodes": _make_node_columns(network),
        "links": {
            "source": network.source.tolist(),
            "target": network.target.tolist(),
            "weight": network.weight.tolist(),
        },
        "cells": [
            {
                "labels": list(labels),
                "title": cell_title(labels),
                "gain": cell_facts["gain"],
                "objects": cell_facts["objects"],
                "query_objects": cell_facts["query_objects"],
                "share": cell_facts["query_objects"] / len(network.query),
                "pinned": labels in pinned,
            }
            for labels, cell_facts in zip(network.labels, summary["cells"], strict=True)
        ],
        "dimensions": list(network.dimensions),
        "prices": [
            {"kind": cost.kind, "title": cost.title, "price": cost.price, "sentence": cost.sentence}
            for cost in pin_costs
        ],
        "summary": summary,
        "seconds": dict(network.seconds),
    }


def layout(service: CubeService, body: LayoutRequest, progress: Progress) -> LayoutAnswer:
    """Return places for the nodes of a request's network."""
    network = service.network(body["request"], progress)
    return {"places": layout_network(network, start=body.get("start")).tolist()}


def _make_node_columns(network: Network) -> NodeColumns:
    table = network.nodes.to_arrow()
    other_role: Role = "neighbor" if network.form == "hybrid" else "brought"
    steering = None if network.context is None else network.context.steering
    pinned = set() if steering is None else set(steering.objects("pins"))
    roles: list[Role] = ["query"] * len(network.query)
    roles += ["pinned" if row in pinned else other_role for row in network.objects[len(network.query) :].tolist()]
    roles += ["cell"] * len(network.cells)
    cells = dict(zip(network.selection.cells.tolist(), network.labels, strict=True))
    labels: list[list[str] | None] = [None] * len(network.objects)
    labels += [list(cells[number]) for number in network.cells.tolist()]
    return {
        "id": table["id"].to_pylist(),
        "name": table["name"].to_pylist(),
        "kind": table["kind"].to_pylist(),
        "role": roles,
        "label": table["label"].to_pylist(),
        "query_links": table["query_links"].to_pylist(),
        "cells": table["cells"].to_pylist(),
        "labels": labels,
    }


MAX_EXPLAINED_COLUMNS, MAX_COLUMN_VALUE_LENGTH = 50, 1_000
"""Maximum number of columns of an object in an explanation, and of characters of each value."""


def explain(service: CubeService, body: ExplainRequest, progress: Progress) -> ExplainAnswer:
    """Return why a cell or an object is in a network, or is not; without one, what every cell adds."""
    network = service.network(body["request"], progress)
    node = body.get("node")
    facts: Any = explain_module.explain(network, None if node is None else resolve_node(service.cube, node)).to_dict()
    columns: list[ColumnValue] = []
    if facts["kind"] == "object":
        row = int(service.cube.objects.find([str(facts["id"])]).rows[0])
        attributes = list_attributes(service.cube, row)[:MAX_EXPLAINED_COLUMNS]
        columns = [{"column": name, "value": value[:MAX_COLUMN_VALUE_LENGTH]} for name, value in attributes]
    return {"kind": facts["kind"], "sentence": facts["sentence"], "explanation": facts, "columns": columns}


def without(service: CubeService, body: WithoutRequest, progress: Progress) -> ChangeAnswer:
    """Return what becomes of a network without some cells and objects, or with others."""
    network = service.network(body["request"], progress)
    removed = [resolve_node(service.cube, node) for node in body.get("without", [])]
    added = [resolve_node(service.cube, node) for node in body.get("with_", [])]
    change = what_if.change(network, without=removed, with_=added)
    facts: Any = change.to_dict()
    return {
        "sentence": change.sentence,
        "value": facts["value"],
        "before": facts["before"],
        "merely": facts["merely"],
        "entered": [_describe_change_node(node) for node in change.entered],
        "left": [_describe_change_node(node) for node in change.left],
        "change": facts,
    }


def contrast(service: CubeService, body: ContrastRequest, progress: Progress) -> ContrastAnswer:
    """Return the few cells that tell two queries apart, or each label of one from the others."""
    view = service.view(body)
    query = resolve_query(service.cube, body["query"], body.get("labels"))
    n_cells = check_int("n_cells", body.get("n_cells", DEFAULT_CELLS), 1, MAX_CELLS, what="cells")
    names = body.get("names")
    if "against" in body:
        if not body["against"]:
            raise ParameterError(
                "against is [], expected the id of at least one object: leave it out to tell the query from all others"
            )
        against = resolve_query(service.cube, body["against"])
        result: Contrast | Description = contrast_module.contrast(
            view, Query(query.objects), against, n_cells, names=names
        )
    else:
        result = contrast_module.contrast(view, query, n_cells=n_cells, names=names)
    sentence = str(result) if isinstance(result, Description) else result.sentence
    return {"sentence": sentence, "contrast": _to_json(result)}


def drill(service: CubeService, body: DrillRequest, progress: Progress) -> DrillAnswer:
    """Return the cells below a cell that say most about a query."""
    cell = body.get("cell")
    query = resolve_query(service.cube, body["query"])
    k = check_int("k", body.get("k", DEFAULT_CELLS), 1, MAX_CELLS, what="cells")
    drilled = drill_module.drill(service.view(body), query, None if cell is None else tuple(cell), k)
    return {"sentence": drilled.sentence, "drilled": _to_json(drilled)}


def _to_json(record: Contrast | Description | Drilled) -> Any:
    """Return a record as JSON; its type is checked where it is used."""
    return record.to_dict()


def _describe_change_node(named: NamedNode) -> Node:
    return {"cell": list(named.key)} if isinstance(named.key, tuple) else {"object": named.key}


MIN_RUNS, DEFAULT_RUNS, MAX_RUNS = 1, 5, 50
"""Minimum, default and maximum number of runs of a comparison."""


def compare(service: CubeService, body: CompareRequest, progress: Progress) -> CompareAnswer:
    """Return whether the network of a request helps the next step, against PageRank as large and the query alone."""
    runs = check_int("runs", body.get("runs", DEFAULT_RUNS), MIN_RUNS, MAX_RUNS, what="runs")
    request = service.parse(body["request"])
    view, parameters = service.view(request.fields), make_parameters(service.cube, request)
    judgement = judge(view, task=body.get("task"), runs=runs, progress=progress, **parameters)
    verdict = judgement.comparison.verdict()
    report_key = _make_report_key(request.fields, body.get("task"), runs, judgement.comparison)
    note = ""
    try:
        check_report()
    except MissingPackageError as missing:
        report_key, note = "", str(missing)
    if report_key:
        progress("writing the report", 0, None)
        with tempfile.TemporaryDirectory() as folder:
            page, *_ = report_files(judgement.make, judgement.comparison, folder)
            service.keep_report(report_key, Path(page).read_text(encoding="utf-8"))
    return {
        "sentence": verdict.sentence,
        "table": _make_comparison_rows(judgement.comparison),
        "task": judgement.comparison.task,
        "helps": bool(verdict.helps),
        "finding": verdict.outcome,
        "report": report_key,
        "note": note,
    }


def _make_report_key(fields: dict[str, Any], task: str | None, runs: int, comparison: Comparison) -> str:
    """Return the key of a report; equal requests have equal keys."""
    text = json.dumps([fields, task, runs, comparison.task], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _make_comparison_rows(comparison: Comparison) -> list[ComparedSchema]:
    """Return a row for each network compared: its scores by model, its size, or why there is none."""
    summary = results(comparison)
    deciding = set(summary["deciding"])
    rows: list[ComparedSchema] = []
    for config in comparison.configurations:
        trials = [trial for trial in comparison.trials if trial.configuration == config]
        scored_trials = [trial for trial in trials if trial.scores]
        rows.append(
            {
                "network": config.name,
                "nodes": max((trial.nodes for trial in scored_trials), default=None),
                "links": max((trial.links for trial in scored_trials), default=None),
                "scores": [
                    _make_score(estimate)
                    for estimate in summary["estimates"]
                    if estimate["configuration"] == config.name and estimate["model"] in deciding
                ],
                "reason": "" if scored_trials else next((trial.reason for trial in trials), ""),
            }
        )
    return rows


def _make_score(estimate: Mapping[str, Any]) -> ScoreSchema:
    score: Any = {name: estimate[name] for name in ScoreSchema.__annotations__}
    return score  # type: ignore[no-any-return]


MAX_LISTED_LABELS = 1_000
"""Maximum number of labels of a level that can be chosen from."""


def cube(service: CubeService, body: CubeRequest, progress: Progress) -> CubeAnswer:
    """Return what a cube has, and what may be asked of it."""
    opened_cube = service.cube
    return {
        "name": service.name,
        "checksum": service.checksum,
        "sentence": _describe_cube(opened_cube),
        "attribution": str(opened_cube.settings.get("attribution") or ""),
        "objects": len(opened_cube.objects),
        "cells": len(opened_cube.cells),
        "links": opened_cube.links.count,
        "dimensions": _describe_dimensions(opened_cube),
        "kinds": list_kinds(opened_cube),
        "items": opened_cube.items is not None,
        "times": list_window_labels(opened_cube),
        "methods": [_describe_method(name) for name in [*list_methods(), *WITH_OPTIONS]],
        "objectives": list(OBJECTIVES),
        "forms": list(FORMS),
        "exports": list_formats(),
        "pictures": [ending for ending in list_formats() if ending in PICTURE_FORMATS],
        "unmade": find_missing_formats(),
        "limits": {
            "letters": MAX_LENGTH,
            "bytes": MAX_REQUEST_BYTES,
            "file": MAX_FILE_BYTES,
            "names": MAX_NAMES,
            "members": MAX_MEMBERS,
            "least_runs": MIN_RUNS,
            "runs": DEFAULT_RUNS,
            "most_runs": MAX_RUNS,
        },
        "examples": describe_candidates(service, example_objects(opened_cube)),
        "read": _get_reading(opened_cube),
        "version": __version__,
    }


def pivot(service: CubeService, body: PivotRequest, progress: Progress) -> PivotAnswer:
    """Return how many objects have a label of each of two levels, and how many of a query."""
    view = service.view(body)
    query = resolve_query(service.cube, body["query"]) if body.get("query") else None
    max_labels = check_int("most", body.get("most", DEFAULT_PIVOT_LABELS), 1, MAX_PIVOT_LABELS, what="rows and columns")
    table = drill_module.pivot(view, body["rows"], body["columns"], query, most=max_labels)
    facts, cells = table.to_dict(), body.get("cells")
    return {
        "rows": facts["rows"],
        "columns": facts["columns"],
        "objects": facts["objects"],
        "query": facts["query"],
        "lift": facts["lift"],
        "chosen": place_cells(view, table, map(tuple, cells)).tolist() if cells else [],
        "finer": finer_levels(view, table),
        "row_objects": facts["row_objects"],
        "column_objects": facts["column_objects"],
        "more_rows": table.more[0],
        "more_columns": table.more[1],
        "sentence": table.sentence,
    }


def _get_reading(cube: Cube) -> ReadingSchema | None:
    """Return what was read from the files of a cube; None if it was not built from files or the record is invalid."""
    stored = reading_in(cube.settings)
    if stored is None:
        return None
    try:
        reading: ReadingSchema = read(ReadingSchema, {name: stored[name] for name in schema_fields(ReadingSchema)})
    except (KeyError, ParameterError):
        return None
    return reading


def _describe_cube(cube: Cube) -> str:
    names = [dimension.name for dimension in cube.dimensions]
    joined_names = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    kinds = list_kinds(cube)
    kind_text = f" ({', '.join(kinds[:3])})" if any(kinds) else ""
    return (
        f"{len(cube.objects):,} objects{kind_text} in {len(cube.cells):,} cells by {joined_names}, "
        f"with {cube.links.count:,} links among them"
    )


def _describe_dimensions(cube: Cube) -> list[DimensionSchema]:
    time_dimensions = find_time_dimensions(cube)
    return [
        {
            "name": dimension.name,
            "levels": [
                {
                    "name": level.name,
                    "labels": len(level.labels),
                    "first": sorted(map(str, level.labels))[:MAX_LISTED_LABELS],
                }
                for level in (dimension.levels[level_number] for level_number in list_levels(dimension))
            ],
            "time": number in time_dimensions,
        }
        for number, dimension in enumerate(cube.dimensions)
    ]


def _describe_method(name: str) -> MethodSchema:
    method_name, options = WITH_OPTIONS.get(name, (name, {}))
    kind = list_methods()[method_name]
    missing = None
    try:
        method = kind(**options)
        if isinstance(method, ChecksItself):
            method.check()
    except MissingPackageError as error:
        missing = str(error)
    return {
        "name": name,
        "cells": chooses_cells(kind),
        "long": is_long_method(name),
        "missing": missing,
        "options": [{"name": option, "default": value} for option, value in (list_options(kind) | options).items()],
    }
