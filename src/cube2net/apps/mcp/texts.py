"""Texts for language models within a budget of tokens: replies, names and explanations."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cube2net._util.text import escape_markdown, format_count
from cube2net.apps.service.names import MAX_SUGGESTED, resolve_names
from cube2net.apps.service.schemas import Candidate, Id, NameRow, NamesAnswer
from cube2net.apps.service.service import CubeService
from cube2net.errors import ParameterError, check_int, quote
from cube2net.model.node_names import cell_title
from cube2net.network.export.token_budget import Section, estimate_tokens, fit_text

MAX_TOKENS, LEAST, MOST = 1_500, 200, 100_000
"""Default, minimum and maximum number of tokens of an answer."""


@dataclass(frozen=True)
class ToolReply:
    """An answer: its text, the same as JSON where both fit the budget, and whether it says that something is wrong."""

    text: str
    structured: dict[str, Any] | None = None
    wrong: bool = False


def parse_budget(asked: Mapping[str, Any]) -> int:
    """Return how many tokens an answer may have."""
    return check_int("max_tokens", asked.get("max_tokens", MAX_TOKENS), LEAST, MOST, what="tokens")


def reply_within(text: str, most: int, structured: dict[str, Any] | None = None, *, wrong: bool = False) -> ToolReply:
    """Return an answer, without its JSON if that does not fit the budget."""
    if structured is not None and estimate_tokens(text) + count_tokens(structured) > most:
        structured = None
    return ToolReply(text, structured, wrong)


def count_tokens(value: Any) -> int:
    """Return about how many tokens a value has as JSON."""
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def lines_within(most: int, head: Sequence[str], *sections: Section, before: str = "") -> str:
    """Return a head and as many lines of the sections as fit after the text ``before``."""

    def count(text: str) -> int:
        return estimate_tokens(after(before, text))

    heads = [each for line in head for each in line.split("\n")]
    text = fit_text([Section("", "", heads, weight=math.inf), *sections], most, count)
    return after(before, text)


def after(*texts: str) -> str:
    """Return texts one after the other, with an empty line between those that say something."""
    return "\n\n".join(filter(None, texts))


def name(text: object) -> str:
    r"""Return a name between quotation marks, on one line and inert in Markdown: data, and nothing else.

    >>> print(name('x"\n- y *z*'))
    "x\" - y \*z\*"
    """
    escaped = escape_markdown(str(text)).replace('"', '\\"')
    return f'"{escaped}"'


def key(value: object) -> str:
    """Return an id in ``repr``, so that it can be given back."""
    return f"id {quote(value)}"


SHARE = 4
"""Divisor of the budget for names that were not resolved."""
BEARERS, SHOWN = 20, 3
"""Maximum number of objects listed for an ambiguous name, and of such names in another answer."""
MANY = 20_000
"""No list of names is longer."""
MARKED = re.compile(r"\\([^\w\s])")


class NamesError(Exception):
    """None of some names means one object; ``reply`` is the answer to the call."""

    def __init__(self, reply: ToolReply) -> None:
        super().__init__(reply.text)
        self.reply = reply


@dataclass(frozen=True)
class Meant:
    """The ids that some names mean, each once, and a remark on those that were not taken, empty where all were."""

    ids: list[Id]
    remark: str


def look_up(service: CubeService, names: Sequence[Id], where: str = "objects") -> NamesAnswer:
    """Return what names mean, also as answers write them, with a backslash before signs of Markdown."""
    if not 0 < len(names) <= MANY:
        raise ParameterError(f"{where} has {len(names):,} entries, expected 1 to {MANY:,} names or ids")
    given = [str(each).strip() for each in names]
    plain = {each: MARKED.sub(r"\1", each) for each in given if MARKED.search(each)}
    lost = set(service.cube.objects.find(list(plain)).missing) if plain else set()
    taken = [plain[each] if each in lost else each for each in given]
    missing = service.cube.objects.find(taken).missing[:MAX_SUGGESTED]
    spelled = {each: right for each in missing if (right := correct_spelling(service, each)) is not None}
    found = resolve_names(service, [spelled.get(each, each) for each in taken], most=BEARERS)
    for row, each in zip(found["rows"], taken, strict=True):
        row["given"] = each
    return found


def correct_spelling(service: CubeService, text: str) -> str | None:
    """Return the one name that is a text in other capitals, or with other spaces; None where none or several are."""
    rows = service.names.find_by_prefix(text[:200], BEARERS)
    names = set(service.cube.objects.table["name"].take(rows).to_pylist())
    same = [each for each in names if _fold(each) == _fold(text)]
    return same[0] if len(same) == 1 else None


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def resolve_request_names(service: CubeService, asked: Mapping[str, Any], budget: int, where: str = "objects") -> Meant:
    """Return the objects that names mean, without those that mean none or several; an error where none is left."""
    found = look_up(service, asked[where], where)
    ids = [row["id"] for row in found["rows"] if row["state"] == "found" and row["id"] is not None]
    head = f"Of {where}: {_count_names(found)}."
    if not ids:
        head = f"no name of {where} means one object: {_count_names(found)}; give the id of one that is meant"
        text = lines_within(budget, [head], *_problems(found))
        raise NamesError(reply_within(text, budget, _plain(found), wrong=True))
    lost, notes = (
        found["ambiguous"] + found["missing"],
        [*_list_shared(found, budget // SHARE // 2), *_list_respelled(found)],
    )
    heads = [*([head] if lost else []), *notes]
    return Meant(ids, lines_within(budget // SHARE, heads, *_problems(found)) if heads else "")


def find_text(found: NamesAnswer, budget: int) -> ToolReply:
    """Return what names mean, as an answer."""
    rows = [row for row in found["rows"] if row["state"] == "found"]
    sections = [Section("name", "## Found: as given, the object", rows, _found_line), *_problems(found, whole=True)]
    head = [f"{_count_names(found)}.", *_list_respelled(found)]
    return reply_within(lines_within(budget, head, *sections), budget, _plain(found))


def candidates_text(begins: str, candidates: Sequence[Candidate], count: int, budget: int) -> ToolReply:
    """Return the first objects with a prefix, as an answer."""
    if count > len(candidates):
        head = f"The first {len(candidates):,} of {count:,} names that begin like {name(begins)}, the best known first."
    else:
        head = f"{count:,} name{'s begin' if count != 1 else ' begins'} like {name(begins)}, the best known first."
    if not candidates:
        head = f"no name begins like {name(begins)}: try fewer letters, or the other parts of the name."
    text = lines_within(budget, [head], Section("name", "", candidates, lambda each: f"- {candidate(each)}"))
    return reply_within(text, budget, {"candidates": list(candidates)})


def candidate(each: Candidate) -> str:
    """Return an object that may be meant, in a few words."""
    about = ", ".join(part for part in (each["kind"], each["about"]) if part and part != "object")
    return f"{name(each['name'])} ({key(each['id'])})" + (f": {name(about)[1:-1]}" if about else "")


def _count_names(found: NamesAnswer) -> str:
    """Return how many names were found, without quoting any.

    >>> _count_names({"rows": [{}] * 3, "found": 1, "ambiguous": 0, "missing": 2, "repeated": 0})
    '1 of 3 names found, 2 unknown'
    """
    counts = {"ambiguous": found["ambiguous"], "unknown": found["missing"], "repeated": found["repeated"]}
    total = format_count(len(found["rows"]), "name")
    return ", ".join([f"{found['found']:,} of {total} found", *(f"{n:,} {what}" for what, n in counts.items() if n)])


def _found_line(row: NameRow) -> str:
    given = "" if row["given"] == row["name"] else f"{name(row['given'])} is "
    return f"- {given}{name(row['name'])} ({key(row['id'])})"


def _list_shared(found: NamesAnswer, budget: int) -> list[str]:
    """Return a line on ambiguous names, listing as many ids as fit."""
    rows = [row for row in found["rows"] if row["state"] == "found" and row["candidates"]]
    if not rows:
        return []
    count = f"{len(rows):,} name{'s are' if len(rows) != 1 else ' is'} ambiguous"
    for few in range(SHOWN, 0, -1):
        listed = [
            f"{name(row['given'])} also by {', '.join(key(each['id']) for each in row['candidates'][1 : few + 1])}"
            for row in rows[:few]
        ]
        more = ", …" if len(rows) > few else ""
        line = f"{count} and taken as the id: {'; '.join(listed)}{more} (find_objects lists all)."
        if estimate_tokens(line) <= budget:
            return [line]
    return [f"{count} (find_objects lists all)."]


def _list_respelled(found: NamesAnswer) -> list[str]:
    """Return a line on names that were found in other capitals, or with other spaces."""
    rows = [row for row in found["rows"] if _is_respelled(row)]
    listed = [f"{name(row['given'])} as {name(row['name'])}" for row in rows[:SHOWN]]
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return [f"Taken in other capitals or spaces: {', '.join(listed)}{more}."] if rows else []


def _is_respelled(row: NameRow) -> bool:
    same = _fold(row["given"]) == _fold(row["name"])
    return row["state"] == "found" and same and row["name"] != row["given"] != str(row["id"])


def _problems(found: NamesAnswer, *, whole: bool = False) -> Iterator[Section]:
    """Give the sections of names that several bear, and of those that none bears; if wanted of ids that are names."""
    shared = [row for row in found["rows"] if row["state"] == "found" and row["candidates"]]
    if whole:
        title = "## Names of others too: the first is taken, give the id of another to mean it"
        yield Section("name", title, shared, _problem_line)
    titles = {
        "ambiguous": "## Ambiguous: give the id of one object",
        "missing": "## Unknown, with similar names",
    }
    for state, title in titles.items():
        rows = [row for row in found["rows"] if row["state"] == state]
        yield Section("name", title, rows, _problem_line)


def _problem_line(row: NameRow) -> str:
    offered = "; ".join(map(candidate, row["candidates"]))
    return f"- {name(row['given'])}: {offered or 'no similar name'}"


def _plain(found: NamesAnswer) -> dict[str, Any]:
    """Return what names mean as JSON; only what says something."""
    rows = [{key_: value for key_, value in row.items() if value not in (None, "", [])} for row in found["rows"]]
    return {"rows": rows, "found": found["found"], "ambiguous": found["ambiguous"], "missing": found["missing"]}


LONGEST = 4_000
"""A sentence has no more letters than this."""


def format_sentence(sentence: str) -> str:
    """Return a sentence as one line that is inert in Markdown."""
    return escape_markdown(sentence, LONGEST)


def title(labels: Sequence[str]) -> str:
    """Return a cell by its labels between angles."""
    return cell_title(labels, escape_markdown)


def explanation_sections(facts: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the sections of an explanation by its kind."""
    if facts["kind"] == "object":
        yield Section("cell", "## Chosen cells that hold it: gain when chosen", facts["cells"], _bringing_line, 2)
        yield Section("link", "## Its heaviest links to the query", facts["links"], _link_line, 2)
        yield Section("path", "## Shortest ways to the query", facts["paths"], _path_line)
    elif facts["kind"] == "cell":
        lifts = [each for each in facts["label_lifts"] if each["label"]]
        yield Section("label", "## How much more common its labels are in the query", lifts, _lift_line, 4)
        only = facts["only_first"]
        yield Section("object", "## The first objects that no other chosen cell holds", only, _only_line)
    else:
        yield Section("cell", "## What every chosen cell added, in their order", facts["cells"], _added_line)
    if facts.get("note"):
        yield Section("", "", [format_sentence(facts["note"])])


def _bringing_line(cell: Mapping[str, Any]) -> str:
    return f"{cell['rank']}. {title(cell['labels'])} {cell['gain']:+.4g}"


def _link_line(link: Mapping[str, Any]) -> str:
    parts = [f"weight {link['weight']:.3g}"]
    parts += [f"{link['items']:,} item{'s' * (link['items'] != 1)}"] if link["items"] else []
    shown = [
        name(each["title"] or each["id"]) + ("" if each["time"] is None else f" {each['time']}")
        for each in link["newest"]
    ]
    parts += [f"such as {', '.join(shown)}"] if shown else []
    return f"- {name(link['name'])}: {'; '.join(parts)}"


def _path_line(path: Mapping[str, Any]) -> str:
    return f"- {' – '.join(map(name, path['names']))}"


def _lift_line(lift: Mapping[str, Any]) -> str:
    counts = (
        f"{lift['query']:,} of {lift['queried']:,} of the query, {lift['everyone']:,} of {lift['objects']:,} in all"
    )
    times = f"{lift['lift']:.1f} times ({lift['low']:.1f} to {lift['high']:.1f})"
    return f"- {escape_markdown(lift['dimension'])} {name(lift['label'])}: {times}; {counts}"


def _only_line(each: Mapping[str, Any]) -> str:
    return f"- {name(each['name'])}{', of the query' * bool(each['in_query'])}"


def _added_line(cell: Mapping[str, Any]) -> str:
    pinned = ", pinned" * bool(cell["pinned"])
    return f"{cell['rank']}. {title(cell['labels'])} {cell['added']:+.4g}: {cell['new_objects']:,} new objects{pinned}"
