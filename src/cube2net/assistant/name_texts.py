"""Names as a model gives them: which objects they mean, and what is to be said of those that mean none or several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cube2net.api import Desk
from cube2net.api.name_answers import meanings
from cube2net.api.shapes import Candidate, Id, NameRow, NamesAnswer
from cube2net.assistant.tool_replies import ToolReply, key, lines_within, name, reply_within, section_of
from cube2net.errors import ParameterError
from cube2net.pipeline import Section

SHARE = 4
"""Of the budget of an answer, one in so many tokens at most goes to names of a list that were not taken."""
MANY = 20_000
"""No list of names is longer."""
MARKED = re.compile(r"\\([^\w\s])")


class NamesError(Exception):
    """None of some names means one object; ``said`` is the answer to the call."""

    def __init__(self, said: ToolReply) -> None:
        super().__init__(said.text)
        self.said = said


@dataclass(frozen=True)
class Meant:
    """The ids that some names mean, each once, and a remark on those that were not taken, empty where all were."""

    ids: list[Id]
    remark: str


def look_up(desk: Desk, names: Sequence[Id], where: str = "objects") -> NamesAnswer:
    """Return what names mean, also as answers write them, with a backslash before signs of Markdown."""
    if not 0 < len(names) <= MANY:
        raise ParameterError(f"{where} has {len(names):,} entries, expected 1 to {MANY:,} names or ids")
    given = [str(each).strip() for each in names]
    plain = {each: MARKED.sub(r"\1", each) for each in given if MARKED.search(each)}
    lost = set(desk.cube.objects.find(list(plain)).missing) if plain else set()
    return meanings(desk, [plain[each] if each in lost else each for each in given])


def meant(desk: Desk, asked: Mapping[str, Any], budget: int, where: str = "objects") -> Meant:
    """Return the objects that names mean, without those that mean none or several; an error where none is left."""
    found = look_up(desk, asked[where], where)
    ids = [row["id"] for row in found["rows"] if row["state"] == "found" and row["id"] is not None]
    head = f"Of {where}: {found['sentence']}."
    if not ids:
        head = f"no name of {where} means one object: {found['sentence']}; give the id of one that is meant"
        text = lines_within(budget, [head], *_problems(found))
        raise NamesError(reply_within(text, budget, _plain(found), wrong=True))
    lost = found["ambiguous"] + found["missing"]
    return Meant(ids, lines_within(budget // SHARE, [head], *_problems(found)) if lost else "")


def find_text(found: NamesAnswer, budget: int) -> ToolReply:
    """Return what names mean, as an answer."""
    rows = [row for row in found["rows"] if row["state"] == "found"]
    sections = [section_of("name", "## Found: as given, the object", rows, _found_line), *_problems(found)]
    return reply_within(lines_within(budget, [f"{found['sentence']}."], *sections), budget, _plain(found))


def candidates_text(begins: str, candidates: Sequence[Candidate], budget: int) -> ToolReply:
    """Return the objects whose names begin so, as an answer."""
    count = len(candidates)
    head = f"{count:,} name{'s begin' if count != 1 else ' begins'} like {name(begins)}, the best known first."
    if not candidates:
        head = f"no name begins like {name(begins)}: try fewer letters, or the other parts of the name."
    text = lines_within(budget, [head], section_of("name", "", candidates, lambda each: f"- {candidate(each)}"))
    return reply_within(text, budget, {"candidates": list(candidates)})


def candidate(each: Candidate) -> str:
    """Return an object that may be meant, in a few words."""
    about = ", ".join(part for part in (each["kind"], each["about"]) if part and part != "object")
    said = f": {name(about)[1:-1]}" if about else ""
    return f"{name(each['name'])} ({key(each['id'])}){said}"


def _found_line(row: NameRow) -> str:
    given = "" if row["given"] == row["name"] else f"{name(row['given'])} is "
    return f"- {given}{name(row['name'])} ({key(row['id'])})"


def _problems(found: NamesAnswer) -> Iterator[Section]:
    """Give the sections of names that several bear, and of those that none bears."""
    titles = {
        "ambiguous": "## Borne by several objects: give the id of the one that is meant",
        "missing": "## Not in the cube, with the nearest names there are",
    }
    for state, title in titles.items():
        rows = [row for row in found["rows"] if row["state"] == state]
        yield section_of("name", title, rows, _problem_line)


def _problem_line(row: NameRow) -> str:
    offered = "; ".join(map(candidate, row["candidates"]))
    return f"- {name(row['given'])}: {offered or 'nothing is spelled like it'}"


def _plain(found: NamesAnswer) -> dict[str, Any]:
    """Return what names mean as JSON; only what says something."""
    rows = [{key_: value for key_, value in row.items() if value not in (None, "", [])} for row in found["rows"]]
    return {"rows": rows, "found": found["found"], "ambiguous": found["ambiguous"], "missing": found["missing"]}
