"""Resolve and complete names of objects."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.progress import Progress
from cube2net._util.spelling import list_normal_forms, list_variants, reorder_name
from cube2net._util.text import format_count
from cube2net.api import drill
from cube2net.api.query import read_query_bytes, read_query_text
from cube2net.apps.service.schemas import (
    FEW_NAMES,
    MOST_MEMBERS,
    MOST_NAMES,
    Candidate,
    CompleteAnswer,
    CompleteRequest,
    Labels,
    MembersAnswer,
    MembersRequest,
    NameRow,
    NamesAnswer,
    NamesRequest,
)
from cube2net.errors import ParameterError, check_int, join_names, quote_unsafe
from cube2net.model.cube import Cube
from cube2net.model.node_names import cell_title
from cube2net.model.objects import Found
from cube2net.model.query import ReadNames
from cube2net.network.attributes import describe_objects

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService

MAX_FILE_BYTES = 2_900_000
"""The largest file of names; in base64 it fits into a request."""
DEFAULT_FILE_NAME = "the file"
MAX_CASE_FOLDED = 5_000
"""Number of unknown names that are also looked up without regard to capitals."""
MAX_CANDIDATES = 5
MAX_SUGGESTED = 200
"""Number of unknown names for which similar names are suggested."""
MAX_NAMES_GIVEN = 200_000
MAX_CELLS = 1_000
MAX_QUOTED = 3
"""Number of unknown names that the sentence quotes."""


def find_names(service: CubeService, body: NamesRequest, progress: Progress) -> NamesAnswer:
    """Return the objects that a pasted text or a file names, in its order."""
    read = _read_names(service.cube, body)
    if len(read.names) > MAX_NAMES_GIVEN:
        source = "file" if "file" in body else "text"
        raise ParameterError(f"{source} names {len(read.names):,} objects, expected at most {MAX_NAMES_GIVEN:,}")
    answer = resolve_names(service, read.names, read.labels)
    if read.columns:
        answer |= {"columns": list(read.columns), "column": read.column}
        if read.column is None:
            answer["sentence"] = _ask_for_column(body, read.columns)
    return answer


def resolve_names(
    service: CubeService, given: list[str], labels: list[str] | None = None, *, most: int = MAX_CANDIDATES
) -> NamesAnswer:
    """Return the object of each name, or up to ``most`` candidates if several objects share it or none has it."""
    objects = service.cube.objects
    found = _find_ignoring_case(service, given, objects.find(given))
    shared = objects.also_called(given, found.rows)
    ambiguous = set(found.ambiguous)
    own = found.rows[found.rows >= 0]
    name_of_row = dict(zip(own.tolist(), objects.table["name"].take(own).to_pylist(), strict=True))
    id_of_row = dict(zip(own.tolist(), objects.ids(own).to_pylist(), strict=True))
    row_of_name = dict(zip(given, found.rows.tolist(), strict=True))
    bearers = {name: [row_of_name[name], *others] for name, others in shared.items()}
    bearers |= {name: objects.rows_bearing(name).tolist() for name in found.ambiguous}
    candidates = _find_candidates(service, bearers, list(dict.fromkeys(found.missing))[:MAX_SUGGESTED], most)
    seen: set[Any] = set()
    rows: list[NameRow] = []
    for place, (name, row) in enumerate(zip(given, found.rows.tolist(), strict=True)):
        state = "found" if row >= 0 else "ambiguous" if name in ambiguous else "missing"
        key = row if row >= 0 else name
        answer: NameRow = {
            "given": name,
            "state": "repeated" if key in seen else state,  # type: ignore[typeddict-item]
            "id": id_of_row.get(row),
            "name": name_of_row.get(row, ""),
            "label": labels[place] if labels else "",
            "candidates": [] if key in seen else candidates.get(name, []),
        }
        if name in bearers and key not in seen:
            answer["bearers"] = len(bearers[name])
        rows.append(answer)
        seen.add(key)
    counts: Counter[str] = Counter(row["state"] for row in rows)
    notes = _list_notes(rows, set(shared))
    return {
        "rows": rows,
        "found": counts["found"],
        "ambiguous": counts["ambiguous"],
        "missing": counts["missing"],
        "repeated": counts["repeated"],
        "labelled": labels is not None,
        "notes": notes,
        "sentence": "; ".join([*_list_counts(rows, counts), *notes]),
    }


def complete_name(service: CubeService, body: CompleteRequest, progress: Progress) -> CompleteAnswer:
    """Return the objects whose names contain words with the typed beginnings, the best known first."""
    most = check_int("most", body.get("most", FEW_NAMES), 1, MOST_NAMES, what="names")
    rows = service.names.find_by_prefix(body["text"][:200], most)
    return {"candidates": describe_candidates(service, rows.tolist())}


def list_members(service: CubeService, body: MembersRequest, progress: Progress) -> MembersAnswer:
    """Return the objects of cells, those with the most items there first."""
    if not body["cells"]:
        raise ParameterError("cells is [], expected the labels of at least one cell")
    check_cells(body["cells"])
    most = check_int("most", body.get("most", MOST_MEMBERS), 1, MOST_MEMBERS, what="objects")
    rows = drill.members(service.view(body), [tuple(labels) for labels in body["cells"]])
    shown = rows[:most]
    named = ", ".join(cell_title(labels) for labels in body["cells"][:2])
    more = len(body["cells"]) - 2
    cells = f"{named} and {more:,} more cells" if more > 0 else named
    verb = "hold" if len(body["cells"]) > 1 else "holds"
    return {
        "ids": service.cube.objects.ids(shown).to_pylist(),
        "names": service.cube.objects.table["name"].take(shown).to_pylist(),
        "objects": len(rows),
        "sentence": f"{cells} {verb} {len(rows):,} object{'s' * (len(rows) != 1)}"
        + (f", of which the first {most:,} are here" if len(rows) > most else ""),
    }


def check_cells(cells: list[Labels]) -> None:
    """Raise if too many cells are named."""
    if len(cells) > MAX_CELLS:
        raise ParameterError(f"cells has {len(cells):,} entries, expected at most {MAX_CELLS:,}")


def describe_candidates(service: CubeService, rows: list[int]) -> list[Candidate]:
    """Return objects with what distinguishes them from others of the same name."""
    found = describe_objects(service.cube, np.array(rows, dtype=np.int64)) if rows else []
    return found  # type: ignore[return-value]


def _find_candidates(
    service: CubeService, bearers: dict[str, list[int]], missing: list[str], most: int
) -> dict[str, list[Candidate]]:
    """Return the objects that share a name, and those with names similar to missing ones."""
    rows = {name: each[:most] for name, each in bearers.items()}
    rows |= {name: service.names.find_similar(name, MAX_CANDIDATES) for name in missing}
    every = list(dict.fromkeys(row for each in rows.values() for row in each))
    candidates = dict(zip(every, describe_candidates(service, every), strict=True))
    return {name: [candidates[row] for row in each] for name, each in rows.items()}


def _list_counts(rows: list[NameRow], counts: Counter[str]) -> list[str]:
    """Return how many names were found, and which have no match, with the most similar name."""
    lost = [row for row in rows if row["state"] in ("ambiguous", "missing")]
    parts = [] if len(rows) == len(lost) == 1 else [f"{counts['found']:,} of {format_count(len(rows), 'name')} found"]
    shared = [row for row in lost if row["state"] == "ambiguous"]
    missing = [row for row in lost if row["state"] == "missing"]
    if len(shared) == 1:
        parts.append(f'"{quote_unsafe(shared[0]["given"])}" is the name of {shared[0]["bearers"]} objects: choose one')
    elif shared:
        parts.append(f"{len(shared):,} names belong to several objects each: choose one of them")
    if len(missing) > MAX_QUOTED:
        parts.append(f"{len(missing):,} names have no match")
    for row in missing if len(missing) <= MAX_QUOTED else ():
        near = "".join(f' (did you mean "{quote_unsafe(each["name"])}"?)' for each in row["candidates"][:1])
        parts.append(f'no match for "{quote_unsafe(row["given"])}"{near}')
    return parts


def _list_notes(rows: list[NameRow], shared: set[str]) -> list[str]:
    """Return remarks on names that were found in another spelling, are shared or repeated, and on their labels."""
    found = [row for row in rows if row["state"] == "found"]
    labels = {row["label"] for row in rows if row["id"] is not None} - {""}
    counts = {
        "also belonging to other objects": sum(row["given"] in shared for row in found),
        "read as 'First Last' instead of 'Last, First'": sum(_is_turned(row["given"], row["name"]) for row in found),
        "found in other capitals": sum(_differs_in_case(row["given"], row["name"]) for row in found),
        "repeated": sum(row["state"] == "repeated" for row in rows),
    }
    notes = [f"{format_count(count, 'name')} {what}" for what, count in counts.items() if count]
    return notes + ([format_count(len(labels), "label")] if labels else [])


def _is_turned(given: str, name: str) -> bool:
    """Return whether a name was given as 'Last, First'."""
    return given != name and name in list_variants(given) and name not in list_normal_forms(given)


def _find_ignoring_case(service: CubeService, given: list[str], found: Found) -> Found:
    """Return the rows of names, including those that exactly one object bears with other capitals."""
    rows, missing = found.rows.copy(), list[str]()
    places: dict[str, list[int]] = {}
    for place, name in enumerate(given if found.missing else []):
        places.setdefault(name, []).append(place)
    names = service.cube.objects.table["name"]
    for name in found.missing[:MAX_CASE_FOLDED]:
        forms = {_fold_case(form) for form in (name, *reorder_name(name))}
        alike = {
            row
            for form in forms
            for row in service.names.find_by_name(form).tolist()
            if _fold_case(names[row].as_py()) in forms
        }
        if len(alike) == 1:
            rows[places[name]] = alike.pop()
        else:
            missing.append(name)
    return replace(found, rows=rows, missing=(*missing, *found.missing[MAX_CASE_FOLDED:]))


def _fold_case(text: str) -> str:
    """Return a text in lower case, with composed accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(text.split())).casefold())


def _differs_in_case(given: str, name: str) -> bool:
    return given != name and name not in list_variants(given) and _fold_case(given) == _fold_case(name)


def _read_names(cube: Cube, body: NamesRequest) -> ReadNames:
    """Return the names in the text or the file of a request."""
    column = body.get("column")
    if ("text" in body) == ("file" in body):
        both = "has both" if "text" in body else "lacks the field"
        raise ParameterError(f"the request {both} 'text' {'and' if 'text' in body else 'or'} 'file': give one")
    if "text" in body:
        return read_query_text(cube, body["text"], column)
    try:
        content = base64.b64decode(body["file"], validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError("file is no base64, expected the bytes of a file in base64") from None
    name = body.get("name", DEFAULT_FILE_NAME)
    if len(content) > MAX_FILE_BYTES:
        raise ParameterError(
            f"{quote_unsafe(name)} has {len(content):,} bytes, expected a list of at most {MAX_FILE_BYTES:,}"
        )
    return read_query_bytes(cube, content, name, column)


def _ask_for_column(body: NamesRequest, columns: Sequence[str]) -> str:
    """Return the sentence that asks for the column of the names, since none contains names of the cube.

    >>> _ask_for_column({"file": "", "name": "x.csv"}, ["Group", "Surname"])
    'no column of x.csv contains names of this cube: choose one of Group, Surname'
    """
    source = quote_unsafe(body.get("name", DEFAULT_FILE_NAME)) if "file" in body else "the text"
    return f"no column of {source} contains names of this cube: choose one of {join_names(columns)}"
