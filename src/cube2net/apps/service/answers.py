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
from cube2net.api.compare import judge
from cube2net.api.drill import finer_levels, place_cells
from cube2net.api.export import layout_network
from cube2net.api.plan import WITH_OPTIONS
from cube2net.api.query import example_objects
from cube2net.api.report import check_report, report_files, results
from cube2net.api.spreadsheets import reading_in
from cube2net.apps.service.exports import PICTURES, endings, missing_for
from cube2net.apps.service.names import MAX_FILE_BYTES, MAX_NAMES_GIVEN, describe_candidates
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
from cube2net.apps.service.requests import is_long, list_options, make_parameters, methods, resolve_node, resolve_query
from cube2net.apps.service.schemas import (
    FEW_CELLS,
    FEW_LABELS,
    MOST_CELLS,
    MOST_LABELS,
    MOST_MEMBERS,
    CubeAnswer,
    CubeRequest,
    DimensionSchema,
    MethodSchema,
    Node,
    PivotAnswer,
    PivotRequest,
    ReadingSchema,
)
from cube2net.apps.service.validation import MOST, MOST_BYTES, read, schema_fields
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
    about: Any = summarize(network)
    pins: Any = body["request"].get("pins") or []
    pinned = {tuple(pin["cell"]) for pin in pins if "cell" in pin}
    prices = what_if.compute_pin_costs(network, progress=progress) if body.get("prices") else ()
    return {
        "request": service.with_checksum(request),  # type: ignore[typeddict-item]
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
        "sentence": describe_network(network, about),
        "note": about["note"] or "",
        "certificate": describe_certificate(about),
        "value": about["value"],
        "bound": about["bound"],
        "proven": about["proven"],
        "nodes": _nodes(network),
        "links": {
            "source": network.source.tolist(),
            "target": network.target.tolist(),
            "weight": network.weight.tolist(),
        },
        "cells": [
            {
                "labels": list(labels),
                "title": cell_title(labels),
                "gain": facts["gain"],
                "objects": facts["objects"],
                "query_objects": facts["query_objects"],
                "share": facts["query_objects"] / len(network.query),
                "pinned": labels in pinned,
            }
            for labels, facts in zip(network.labels, about["cells"], strict=True)
        ],
        "dimensions": list(network.dimensions),
        "prices": [
            {"kind": each.kind, "title": each.title, "price": each.price, "sentence": each.sentence} for each in prices
        ],
        "summary": about,
        "seconds": dict(network.seconds),
    }


def layout(service: CubeService, body: LayoutRequest, progress: Progress) -> LayoutAnswer:
    """Return places for the nodes of a request's network."""
    network = service.network(body["request"], progress)
    return {"places": layout_network(network, start=body.get("start")).tolist()}


def _nodes(network: Network) -> NodeColumns:
    table = network.nodes
    others: Role = "neighbor" if network.form == "hybrid" else "brought"
    steering = None if network.context is None else network.context.steering
    pinned = set() if steering is None else set(steering.objects("pins"))
    roles: list[Role] = ["query"] * len(network.query)
    roles += ["pinned" if row in pinned else others for row in network.objects[len(network.query) :].tolist()]
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


MOST_COLUMNS, LONGEST = 50, 1_000
"""Maximum number of columns of an object in an explanation, and of letters of each."""


def explain(service: CubeService, body: ExplainRequest, progress: Progress) -> ExplainAnswer:
    """Return why a cell or an object is in a network, or is not; without one, what every cell adds."""
    network = service.network(body["request"], progress)
    node = body.get("node")
    facts: Any = explain_module.explain(network, None if node is None else resolve_node(service.cube, node)).to_dict()
    columns: list[ColumnValue] = []
    if facts["kind"] == "object":
        row = int(service.cube.objects.find([str(facts["id"])]).rows[0])
        known = list_attributes(service.cube, row)[:MOST_COLUMNS]
        columns = [{"column": name, "value": value[:LONGEST]} for name, value in known]
    return {"kind": facts["kind"], "sentence": facts["sentence"], "explanation": facts, "columns": columns}


def without(service: CubeService, body: WithoutRequest, progress: Progress) -> ChangeAnswer:
    """Return what becomes of a network without some cells and objects, or with others."""
    network = service.network(body["request"], progress)
    out = [resolve_node(service.cube, node) for node in body.get("without", [])]
    inside = [resolve_node(service.cube, node) for node in body.get("with_", [])]
    change = what_if.change(network, without=out, with_=inside)
    facts: Any = change.to_dict()
    return {
        "sentence": change.sentence,
        "value": facts["value"],
        "before": facts["before"],
        "merely": facts["merely"],
        "entered": [_node(each) for each in change.entered],
        "left": [_node(each) for each in change.left],
        "change": facts,
    }


def contrast(service: CubeService, body: ContrastRequest, progress: Progress) -> ContrastAnswer:
    """Return the few cells that tell two queries apart, or each label of one from the others."""
    seen = service.view(body)
    query = resolve_query(service.cube, body["query"], body.get("labels"))
    n_cells = check_int("n_cells", body.get("n_cells", FEW_CELLS), 1, MOST_CELLS, what="cells")
    names = body.get("names")
    if "against" in body:
        if not body["against"]:
            raise ParameterError(
                "against is [], expected the id of at least one object: leave it out to tell the query from all others"
            )
        against = resolve_query(service.cube, body["against"])
        found: Contrast | Description = contrast_module.contrast(
            seen, Query(query.objects), against, n_cells, names=names
        )
    else:
        found = contrast_module.contrast(seen, query, n_cells=n_cells, names=names)
    sentence = str(found) if isinstance(found, Description) else found.sentence
    return {"sentence": sentence, "contrast": _plain(found)}


def drill(service: CubeService, body: DrillRequest, progress: Progress) -> DrillAnswer:
    """Return the cells below a cell that say most about a query."""
    cell = body.get("cell")
    query = resolve_query(service.cube, body["query"])
    k = check_int("k", body.get("k", FEW_CELLS), 1, MOST_CELLS, what="cells")
    found = drill_module.drill(service.view(body), query, None if cell is None else tuple(cell), k)
    return {"sentence": found.sentence, "drilled": _plain(found)}


def _plain(record: Contrast | Description | Drilled) -> Any:
    """Return a record as JSON has it, and as its shape says."""
    return record.to_dict()


def _node(named: NamedNode) -> Node:
    return {"cell": list(named.key)} if isinstance(named.key, tuple) else {"object": named.key}


LEAST_RUNS, RUNS, MOST_RUNS = 1, 5, 50
"""Minimum, default and maximum number of runs of a comparison."""


def compare(service: CubeService, body: CompareRequest, progress: Progress) -> CompareAnswer:
    """Return whether the network of a request helps the next step, against PageRank as large and the query alone."""
    runs = check_int("runs", body.get("runs", RUNS), LEAST_RUNS, MOST_RUNS, what="runs")
    request = service.parse(body["request"])
    seen, parameters = service.view(request.fields), make_parameters(service.cube, request)
    judged = judge(seen, task=body.get("task"), runs=runs, progress=progress, **parameters)
    said = judged.comparison.verdict()
    key = _key(request.fields, body.get("task"), runs, judged.comparison)
    note = ""
    try:
        check_report()
    except MissingPackageError as missing:
        key, note = "", str(missing)
    if key:
        progress("writing the report", 0, None)
        with tempfile.TemporaryDirectory() as folder:
            page, *_ = report_files(judged.make, judged.comparison, folder)
            service.keep_report(key, Path(page).read_text(encoding="utf-8"))
    return {
        "sentence": said.sentence,
        "table": _rows(judged.comparison),
        "task": judged.comparison.task,
        "helps": bool(said.helps),
        "finding": said.outcome,
        "report": key,
        "note": note,
    }


def _key(words: dict[str, Any], task: str | None, runs: int, comparison: Comparison) -> str:
    """Return the key of a report: the same for the same request."""
    text = json.dumps([words, task, runs, comparison.task], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(comparison: Comparison) -> list[ComparedSchema]:
    """Return a row for each network compared: its scores by model, its size, or why there is none."""
    found = results(comparison)
    deciding = set(found["deciding"])
    rows: list[ComparedSchema] = []
    for config in comparison.configurations:
        trials = [trial for trial in comparison.trials if trial.configuration == config]
        scored = [trial for trial in trials if trial.scores]
        rows.append(
            {
                "network": config.name,
                "nodes": max((trial.nodes for trial in scored), default=None),
                "links": max((trial.links for trial in scored), default=None),
                "scores": [
                    _score(each)
                    for each in found["estimates"]
                    if each["configuration"] == config.name and each["model"] in deciding
                ],
                "reason": "" if scored else next((trial.reason for trial in trials), ""),
            }
        )
    return rows


def _score(estimate: Mapping[str, Any]) -> ScoreSchema:
    facts: Any = {name: estimate[name] for name in ScoreSchema.__annotations__}
    return facts  # type: ignore[no-any-return]


LABELS = 1_000
"""So many labels of a level are named, to choose among them."""


def cube(service: CubeService, body: CubeRequest, progress: Progress) -> CubeAnswer:
    """Return what a cube has, and what may be asked of it."""
    whole = service.cube
    return {
        "name": service.name,
        "checksum": service.checksum,
        "sentence": _sentence(whole),
        "attribution": str(whole.settings.get("attribution") or ""),
        "objects": len(whole.objects),
        "cells": len(whole.cells),
        "links": whole.links.count,
        "dimensions": _dimensions(whole),
        "kinds": list_kinds(whole),
        "items": whole.items is not None,
        "times": list_window_labels(whole),
        "methods": [_method(name) for name in [*methods(), *WITH_OPTIONS]],
        "objectives": list(OBJECTIVES),
        "forms": list(FORMS),
        "exports": endings(),
        "pictures": [ending for ending in endings() if ending in PICTURES],
        "unmade": missing_for(),
        "limits": {
            "letters": MOST,
            "bytes": MOST_BYTES,
            "file": MAX_FILE_BYTES,
            "names": MAX_NAMES_GIVEN,
            "members": MOST_MEMBERS,
            "least_runs": LEAST_RUNS,
            "runs": RUNS,
            "most_runs": MOST_RUNS,
        },
        "examples": describe_candidates(service, example_objects(whole)),
        "read": _reading(whole),
        "version": __version__,
    }


def pivot(service: CubeService, body: PivotRequest, progress: Progress) -> PivotAnswer:
    """Return how many objects have a label of each of two levels, and how many of a query."""
    seen = service.view(body)
    asked = resolve_query(service.cube, body["query"]) if body.get("query") else None
    most = check_int("most", body.get("most", FEW_LABELS), 1, MOST_LABELS, what="rows and columns")
    found = drill_module.pivot(seen, body["rows"], body["columns"], asked, most=most)
    facts, cells = found.to_dict(), body.get("cells")
    return {
        "rows": facts["rows"],
        "columns": facts["columns"],
        "objects": facts["objects"],
        "query": facts["query"],
        "lift": facts["lift"],
        "chosen": place_cells(seen, found, map(tuple, cells)).tolist() if cells else [],
        "finer": finer_levels(seen, found),
        "row_objects": facts["row_objects"],
        "column_objects": facts["column_objects"],
        "more_rows": found.more[0],
        "more_columns": found.more[1],
        "sentence": found.sentence,
    }


def _reading(whole: Cube) -> ReadingSchema | None:
    """Return what was read of a spreadsheet; what a file says that is nothing of the kind is none."""
    kept = reading_in(whole.settings)
    if kept is None:
        return None
    try:
        found: ReadingSchema = read(ReadingSchema, {name: kept[name] for name in schema_fields(ReadingSchema)})
    except (KeyError, ParameterError):
        return None
    return found


def _sentence(whole: Cube) -> str:
    names = [dimension.name for dimension in whole.dimensions]
    sides = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    kinds = list_kinds(whole)
    of_kind = f" ({', '.join(kinds[:3])})" if any(kinds) else ""
    return (
        f"{len(whole.objects):,} objects{of_kind} in {len(whole.cells):,} cells by {sides}, "
        f"with {whole.links.count:,} links among them"
    )


def _dimensions(whole: Cube) -> list[DimensionSchema]:
    times = find_time_dimensions(whole)
    return [
        {
            "name": dimension.name,
            "levels": [
                {"name": level.name, "labels": len(level.labels), "first": sorted(map(str, level.labels))[:LABELS]}
                for level in (dimension.levels[at] for at in list_levels(dimension))
            ],
            "time": number in times,
        }
        for number, dimension in enumerate(whole.dimensions)
    ]


def _method(name: str) -> MethodSchema:
    own, options = WITH_OPTIONS.get(name, (name, {}))
    kind = methods()[own]
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
        "long": is_long(name),
        "missing": missing,
        "options": [{"name": option, "default": value} for option, value in (list_options(kind) | options).items()],
    }
