"""The cube itself: what it has and may be asked, and two of its levels as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cube2net import __version__, pipeline
from cube2net.api.answer_limits import FEW_LABELS, MOST_LABELS, MOST_MEMBERS
from cube2net.api.ask_parameters import is_long, methods, options_shown, query_of
from cube2net.api.compare_answers import LEAST_RUNS, MOST_RUNS, RUNS
from cube2net.api.exports import PICTURES, endings, missing_for
from cube2net.api.json_reading import MOST, MOST_BYTES, fields_of_shape, read
from cube2net.api.name_answers import MOST_FILE, MOST_GIVEN, candidates
from cube2net.api.shapes import (
    CubeAnswer,
    CubeQuestion,
    DimensionShape,
    MethodShape,
    PivotAnswer,
    PivotQuestion,
    ReadingShape,
)
from cube2net.errors import MissingPackageError, ParameterError, whole_number
from cube2net.interfaces import ChecksItself, chooses_cells
from cube2net.progress import Progress
from cube2net.records import Cube
from cube2net.records.mixed_names import levels_of

if TYPE_CHECKING:
    from cube2net.api.desk import Desk

LABELS = 1_000
"""So many labels of a level are named, to choose among them."""


def cube(desk: Desk, question: CubeQuestion, progress: Progress) -> CubeAnswer:
    """Return what a cube has, and what may be asked of it."""
    whole = desk.cube
    return {
        "name": desk.name,
        "checksum": desk.checksum,
        "sentence": _sentence(whole),
        "attribution": str(whole.settings.get("attribution") or ""),
        "objects": len(whole.objects),
        "cells": len(whole.cells),
        "links": whole.links.count,
        "dimensions": _dimensions(whole),
        "kinds": pipeline.kinds_of(whole),
        "items": whole.items is not None,
        "times": pipeline.window_labels(whole),
        "methods": [_method(name) for name in [*methods(), *pipeline.WITH_OPTIONS]],
        "objectives": list(pipeline.OBJECTIVES),
        "forms": list(pipeline.FORMS),
        "exports": endings(),
        "pictures": [ending for ending in endings() if ending in PICTURES],
        "unmade": missing_for(),
        "limits": {
            "letters": MOST,
            "bytes": MOST_BYTES,
            "file": MOST_FILE,
            "names": MOST_GIVEN,
            "members": MOST_MEMBERS,
            "least_runs": LEAST_RUNS,
            "runs": RUNS,
            "most_runs": MOST_RUNS,
        },
        "examples": candidates(desk, pipeline.example_objects(whole)),
        "read": _reading(whole),
        "version": __version__,
    }


def pivot(desk: Desk, question: PivotQuestion, progress: Progress) -> PivotAnswer:
    """Return how many objects have a label of each of two levels, and how many of a query."""
    seen = desk.view(question)
    asked = query_of(desk.cube, question["query"]) if question.get("query") else None
    most = whole_number("most", question.get("most", FEW_LABELS), 1, MOST_LABELS, what="rows and columns")
    found = pipeline.pivot(seen, question["rows"], question["columns"], asked, most=most)
    told, cells = found.to_dict(), question.get("cells")
    return {
        "rows": told["rows"],
        "columns": told["columns"],
        "objects": told["objects"],
        "query": told["query"],
        "lift": told["lift"],
        "chosen": pipeline.place_cells(seen, found, map(tuple, cells)).tolist() if cells else [],
        "finer": pipeline.finer_levels(seen, found),
        "row_objects": told["row_objects"],
        "column_objects": told["column_objects"],
        "more_rows": found.more[0],
        "more_columns": found.more[1],
        "sentence": found.sentence,
    }


def _reading(whole: Cube) -> ReadingShape | None:
    """Return what was read of a spreadsheet; what a file says that is nothing of the kind is none."""
    kept = pipeline.reading_in(whole.settings)
    if kept is None:
        return None
    try:
        found: ReadingShape = read(ReadingShape, {name: kept[name] for name in fields_of_shape(ReadingShape)})
    except (KeyError, ParameterError):
        return None
    return found


def _sentence(whole: Cube) -> str:
    names = [dimension.name for dimension in whole.dimensions]
    sides = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    kinds = pipeline.kinds_of(whole)
    of_kind = f" ({', '.join(kinds[:3])})" if any(kinds) else ""
    return (
        f"{len(whole.objects):,} objects{of_kind} in {len(whole.cells):,} cells by {sides}, "
        f"with {whole.links.count:,} links among them"
    )


def _dimensions(whole: Cube) -> list[DimensionShape]:
    times = pipeline.time_dimensions(whole)
    return [
        {
            "name": dimension.name,
            "levels": [
                {"name": level.name, "labels": len(level.labels), "first": sorted(map(str, level.labels))[:LABELS]}
                for level in (dimension.levels[at] for at in levels_of(dimension))
            ],
            "time": number in times,
        }
        for number, dimension in enumerate(whole.dimensions)
    ]


def _method(name: str) -> MethodShape:
    own, options = pipeline.WITH_OPTIONS.get(name, (name, {}))
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
        "options": [{"name": option, "default": value} for option, value in (options_shown(kind) | options).items()],
    }
