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
from cube2net.model.names import cell_title
from cube2net.model.objects import Found
from cube2net.model.query import ReadNames
from cube2net.network.attributes import describe_objects

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService

MOST_FILE = 2_900_000
"""A file has at most so many bytes: in base64 they fit into a request."""
UNNAMED = "the file"
MOST_CASED = 5_000
"""For so many names that are not in the cube those are looked for that have other capitals."""
CANDIDATES = 5
"""So many objects are offered for a name that several bear, or none."""
NEAREST = 200
"""For so many missing names the nearest spellings are looked for."""
MOST_GIVEN = 200_000
"""No text names more objects."""
MOST_CELLS = 1_000
"""No more cells are looked into at once."""


def names(service: CubeService, body: NamesRequest, progress: Progress) -> NamesAnswer:
    """Return what names mean that somebody pasted, in their order."""
    read = names_in(service.cube, body)
    if len(read.names) > MOST_GIVEN:
        named = "file" if "file" in body else "text"
        raise ParameterError(f"{named} names {len(read.names):,} objects, expected at most {MOST_GIVEN:,}")
    answer = meanings(service, read.names, read.labels)
    if read.columns:
        answer |= {"columns": list(read.columns), "column": read.column}
        if read.column is None:
            answer["sentence"] = which_column(body, read.columns)
    return answer


def meanings(
    service: CubeService, given: list[str], labels: list[str] | None = None, *, most: int = CANDIDATES
) -> NamesAnswer:
    """Return what names mean, in their order, with so many objects at most that may be meant by one."""
    objects = service.cube.objects
    found = _by_capitals(service, given, objects.find(given))
    shared = objects.also_called(given, found.rows)
    ambiguous = set(found.ambiguous)
    own = found.rows[found.rows >= 0]
    called = dict(zip(own.tolist(), objects.table["name"].take(own).to_pylist(), strict=True))
    keys = dict(zip(own.tolist(), objects.ids(own).to_pylist(), strict=True))
    row_of = dict(zip(given, found.rows.tolist(), strict=True))
    bearing = {name: [row_of[name], *others] for name, others in shared.items()}
    bearing |= {name: objects.rows_bearing(name).tolist() for name in found.ambiguous}
    offered = _offered(service, bearing, list(dict.fromkeys(found.missing))[:NEAREST], most)
    seen: set[Any] = set()
    rows: list[NameRow] = []
    for place, (name, row) in enumerate(zip(given, found.rows.tolist(), strict=True)):
        state = "found" if row >= 0 else "ambiguous" if name in ambiguous else "missing"
        mark = row if row >= 0 else name
        one: NameRow = {
            "given": name,
            "state": "repeated" if mark in seen else state,  # type: ignore[typeddict-item]
            "id": keys.get(row),
            "name": called.get(row, ""),
            "label": labels[place] if labels else "",
            "candidates": [] if mark in seen else offered.get(name, []),
        }
        if name in bearing and mark not in seen:
            one["bearers"] = len(bearing[name])
        rows.append(one)
        seen.add(mark)
    counts: Counter[str] = Counter(row["state"] for row in rows)
    return {
        "rows": rows,
        "found": counts["found"],
        "ambiguous": counts["ambiguous"],
        "missing": counts["missing"],
        "repeated": counts["repeated"],
        "labelled": labels is not None,
        "sentence": _sentence(
            len(rows),
            counts,
            labels and [row["label"] for row in rows if row["id"] is not None],
            sum(row["state"] == "found" and row["given"] in shared for row in rows),
            sum(row["state"] == "found" and _is_turned(row["given"], row["name"]) for row in rows),
            sum(row["state"] == "found" and _is_capitalised(row["given"], row["name"]) for row in rows),
        ),
    }


def complete(service: CubeService, body: CompleteRequest, progress: Progress) -> CompleteAnswer:
    """Return the objects whose names begin as somebody types, the best known first."""
    most = check_int("most", body.get("most", FEW_NAMES), 1, MOST_NAMES, what="names")
    rows = service.names.find_by_prefix(body["text"][:200], most)
    return {"candidates": candidates(service, rows.tolist())}


def members(service: CubeService, body: MembersRequest, progress: Progress) -> MembersAnswer:
    """Return the objects of cells, those with most items there first."""
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
    """Raise where more cells are named than are looked into at once."""
    if len(cells) > MOST_CELLS:
        raise ParameterError(f"cells has {len(cells):,} entries, expected at most {MOST_CELLS:,}")


def candidates(service: CubeService, rows: list[int]) -> list[Candidate]:
    """Return objects with what tells them from others of their name."""
    found = describe_objects(service.cube, np.array(rows, dtype=np.int64)) if rows else []
    return found  # type: ignore[return-value]


def _offered(
    service: CubeService, bearing: dict[str, list[int]], missing: list[str], most: int
) -> dict[str, list[Candidate]]:
    """Return the objects that may be meant by names that several bear, and by names that none bears."""
    rows = {name: bearers[:most] for name, bearers in bearing.items()}
    rows |= {name: service.names.find_similar(name, CANDIDATES) for name in missing}
    every = list(dict.fromkeys(row for each in rows.values() for row in each))
    known = dict(zip(every, candidates(service, every), strict=True))
    return {name: [known[row] for row in each] for name, each in rows.items()}


def _sentence(count: int, counts: Counter[str], labels: list[str] | None, *others: int) -> str:
    """Return how many names mean what; of those found, ``others`` are also those of others, turned, or in capitals.

    >>> _sentence(4, Counter(found=2, missing=1, repeated=1), None, 1)
    '2 of 4 names are found, 1 of them is also the name of others; 1 is not in the cube; 1 is there twice'
    """
    shared, turned, capitals = (*others, 0, 0, 0)[:3]
    also = f", {shared:,} of them {'is also the name' if shared == 1 else 'are also names'} of others" if shared else ""
    parts = [f"{counts['found']:,} of {count:,} name{'s are' if count != 1 else ' is'} found{also}"]
    if turned:
        parts.append(f"{_are(turned)} turned around, as 'Last, First' is 'First Last'")
    if capitals:
        parts.append(f"{_are(capitals)} found with other capitals")
    if counts["ambiguous"]:
        parts.append(f"{_are(counts['ambiguous'])} borne by several objects: choose")
    if counts["missing"]:
        parts.append(f"{_are(counts['missing'])} not in the cube")
    if counts["repeated"]:
        parts.append(f"{_are(counts['repeated'])} there twice")
    if kinds := len({label for label in labels or [] if label}):
        parts.append(f"{kinds:,} label{'s' * (kinds != 1)}")
    return "; ".join(parts)


def _is_turned(given: str, name: str) -> bool:
    """Return whether a name that was given is another turned around."""
    return given != name and name in list_variants(given) and name not in list_normal_forms(given)


def _by_capitals(service: CubeService, given: list[str], found: Found) -> Found:
    """Return what names mean, those among it that one object bears with other capitals."""
    rows, missing = found.rows.copy(), list[str]()
    places: dict[str, list[int]] = {}
    for place, name in enumerate(given if found.missing else []):
        places.setdefault(name, []).append(place)
    names = service.cube.objects.table["name"]
    for name in found.missing[:MOST_CASED]:
        own = {_in_small(form) for form in (name, *reorder_name(name))}
        alike = [
            row
            for form in own
            for row in service.names.find_by_name(form).tolist()
            if _in_small(names[row].as_py()) in own
        ]
        if len(set(alike)) == 1:
            rows[places[name]] = alike[0]
        else:
            missing.append(name)
    return replace(found, rows=rows, missing=(*missing, *found.missing[MOST_CASED:]))


def _in_small(text: str) -> str:
    """Return a text in small letters, each with its accent as one sign."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(text.split())).casefold())


def _is_capitalised(given: str, name: str) -> bool:
    """Return whether a name that was given differs from another by its capitals."""
    return given != name and name not in list_variants(given) and _in_small(given) == _in_small(name)


def _are(number: int) -> str:
    return f"{number:,} {'is' if number == 1 else 'are'}"


def names_in(cube: Cube, body: NamesRequest) -> ReadNames:
    """Return the names that a request gives, in its text or in its file."""
    column = body.get("column")
    if ("text" in body) == ("file" in body):
        both = "has both" if "text" in body else "lacks the field"
        raise ParameterError(f"the request {both} 'text' {'and' if 'text' in body else 'or'} 'file': give one")
    if "text" in body:
        return read_query_text(cube, body["text"], column)
    try:
        content = base64.b64decode(body["file"], validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError("file is no base64, expected the bytes of a file written so") from None
    name = body.get("name", UNNAMED)
    if len(content) > MOST_FILE:
        raise ParameterError(
            f"{quote_unsafe(name)} has {len(content):,} bytes, expected a list of at most {MOST_FILE:,}"
        )
    return read_query_bytes(cube, content, name, column)


def which_column(body: NamesRequest, columns: Sequence[str]) -> str:
    """Return the sentence that asks for the column of the names, since none holds objects of the cube.

    >>> which_column({"file": "", "name": "x.csv"}, ["Group", "Surname"])
    'no column of x.csv has names that the cube knows: it has Group, Surname; choose the one to be read'
    """
    called = quote_unsafe(body.get("name", UNNAMED)) if "file" in body else "the text"
    return (
        f"no column of {called} has names that the cube knows: it has {join_names(columns)}; choose the one to be read"
    )
