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
from cube2net.network.export.text import Section, estimate_tokens, fit_text

DEFAULT_BUDGET, MIN_BUDGET, MAX_BUDGET = 1_500, 200, 100_000
"""Default, minimum and maximum number of tokens of an answer."""


@dataclass(frozen=True)
class ToolReply:
    """The reply of a tool: its text, the same as JSON if both fit the budget, and whether it reports an error."""

    text: str
    structured: dict[str, Any] | None = None
    wrong: bool = False


def parse_budget(arguments: Mapping[str, Any]) -> int:
    """Return the maximum number of tokens of a reply."""
    return check_int("max_tokens", arguments.get("max_tokens", DEFAULT_BUDGET), MIN_BUDGET, MAX_BUDGET, what="tokens")


def make_reply(text: str, budget: int, structured: dict[str, Any] | None = None, *, wrong: bool = False) -> ToolReply:
    """Return a reply, without its JSON if that does not fit the budget."""
    if structured is not None and estimate_tokens(text) + count_tokens(structured) > budget:
        structured = None
    return ToolReply(text, structured, wrong)


def count_tokens(value: Any) -> int:
    """Estimate the number of tokens of a value as JSON."""
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def fit_lines(budget: int, head: Sequence[str], *sections: Section, prefix: str = "") -> str:
    """Return the text ``prefix``, a head, and as many lines of the sections as fit the budget."""

    def count_with_prefix(text: str) -> int:
        return estimate_tokens(join_paragraphs(prefix, text))

    heads = [part for line in head for part in line.split("\n")]
    text = fit_text([Section("", "", heads, weight=math.inf), *sections], budget, count_with_prefix)
    return join_paragraphs(prefix, text)


def join_paragraphs(*texts: str) -> str:
    """Join the texts that are not empty, with an empty line between them."""
    return "\n\n".join(filter(None, texts))


def format_name(text: object) -> str:
    r"""Return a name in quotation marks, on one line and with the characters of Markdown escaped.

    >>> print(format_name('x"\n- y *z*'))
    "x\" - y \*z\*"
    """
    escaped = escape_markdown(str(text)).replace('"', '\\"')
    return f'"{escaped}"'


def format_id(value: object) -> str:
    """Return an id with quotation marks if it is a text, as the tools accept it."""
    return f"id {quote(value)}"


UNRESOLVED_BUDGET_DIVISOR = 4
"""A remark on names that were not resolved takes at most this fraction of the budget: one fourth."""
MAX_CANDIDATES, MAX_LISTED_NAMES = 20, 3
"""Maximum number of objects listed for an ambiguous name, and of such names in another answer."""
MAX_NAMES = 20_000
"""Maximum length of a list of names."""
ESCAPED_CHARACTER = re.compile(r"\\([^\w\s])")


class NamesError(Exception):
    """No name of a list could be resolved; ``reply`` is the reply to the call."""

    def __init__(self, reply: ToolReply) -> None:
        super().__init__(reply.text)
        self.reply = reply


@dataclass(frozen=True)
class ResolvedNames:
    """The ids of the objects that names refer to, and a remark on names that could not be resolved, empty if none."""

    ids: list[Id]
    remark: str


def look_up_names(service: CubeService, names: Sequence[Id], parameter: str = "objects") -> NamesAnswer:
    """Resolve names, also if they are written as in replies, with a backslash before characters of Markdown."""
    if not 0 < len(names) <= MAX_NAMES:
        raise ParameterError(f"{parameter} has {len(names):,} entries, expected 1 to {MAX_NAMES:,} names or ids")
    stripped = [str(name).strip() for name in names]
    unescaped = {name: ESCAPED_CHARACTER.sub(r"\1", name) for name in stripped if ESCAPED_CHARACTER.search(name)}
    not_found = set(service.cube.objects.find(list(unescaped)).missing) if unescaped else set()
    candidates = [unescaped[name] if name in not_found else name for name in stripped]
    missing = service.cube.objects.find(candidates).missing[:MAX_SUGGESTED]
    corrected = {
        name: correct_name for name in missing if (correct_name := correct_spelling(service, name)) is not None
    }
    answer = resolve_names(service, [corrected.get(name, name) for name in candidates], most=MAX_CANDIDATES)
    for row, name in zip(answer["rows"], candidates, strict=True):
        row["given"] = name
    return answer


def correct_spelling(service: CubeService, text: str) -> str | None:
    """Return the name that equals a text except for capitals and spaces; None if there is none, or several."""
    rows = service.names.find_by_prefix(text[:200], MAX_CANDIDATES)
    names = set(service.cube.objects.table["name"].take(rows).to_pylist())
    matches = [name for name in names if _fold(name) == _fold(text)]
    return matches[0] if len(matches) == 1 else None


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def resolve_request_names(
    service: CubeService, arguments: Mapping[str, Any], budget: int, parameter: str = "objects"
) -> ResolvedNames:
    """Return the objects of the names that refer to exactly one; raise NamesError if no name does."""
    answer = look_up_names(service, arguments[parameter], parameter)
    ids = [row["id"] for row in answer["rows"] if row["state"] == "found" and row["id"] is not None]
    head = f"Of {parameter}: {_count_names(answer)}."
    if not ids:
        head = f"no name of {parameter} means one object: {_count_names(answer)}; give the id of one that is meant"
        text = fit_lines(budget, [head], *_list_problem_sections(answer))
        raise NamesError(make_reply(text, budget, _make_structured(answer), wrong=True))
    remark_budget = budget // UNRESOLVED_BUDGET_DIVISOR
    lines = [head] if answer["ambiguous"] + answer["missing"] else []
    lines += [*_describe_ambiguous_ids(answer, remark_budget // 2), *_describe_respelled(answer)]
    remark = fit_lines(remark_budget, lines, *_list_problem_sections(answer)) if lines else ""
    return ResolvedNames(ids, remark)


def format_found_names(answer: NamesAnswer, budget: int) -> ToolReply:
    """Return the reply to a lookup of names."""
    rows = [row for row in answer["rows"] if row["state"] == "found"]
    sections = [
        Section("name", "## Found: as given, the object", rows, _format_found_name),
        *_list_problem_sections(answer, with_shared=True),
    ]
    head = [f"{_count_names(answer)}.", *_describe_respelled(answer)]
    return make_reply(fit_lines(budget, head, *sections), budget, _make_structured(answer))


def format_candidates(prefix: str, candidates: Sequence[Candidate], count: int, budget: int) -> ToolReply:
    """Return the reply to a search for names with a prefix."""
    if count > len(candidates):
        head = (
            f"The first {len(candidates):,} of {count:,} names that begin like {format_name(prefix)}, the best known "
            "first."
        )
    else:
        head = (
            f"{count:,} name{'s begin' if count != 1 else ' begins'} like {format_name(prefix)}, the best known first."
        )
    if not candidates:
        head = f"no name begins like {format_name(prefix)}: try fewer letters, or the other parts of the name."
    text = fit_lines(
        budget, [head], Section("name", "", candidates, lambda candidate: f"- {format_candidate(candidate)}")
    )
    return make_reply(text, budget, {"candidates": list(candidates)})


def format_candidate(candidate: Candidate) -> str:
    """Return the name, the id and a short description of an object."""
    description = ", ".join(part for part in (candidate["kind"], candidate["about"]) if part and part != "object")
    suffix = f": {format_name(description)[1:-1]}" if description else ""
    return f"{format_name(candidate['name'])} ({format_id(candidate['id'])}){suffix}"


def _count_names(answer: NamesAnswer) -> str:
    """Return how many names were found, without quoting any.

    >>> _count_names({"rows": [{}] * 3, "found": 1, "ambiguous": 0, "missing": 2, "repeated": 0})
    '1 of 3 names found, 2 unknown'
    """
    counts = {"ambiguous": answer["ambiguous"], "unknown": answer["missing"], "repeated": answer["repeated"]}
    total = format_count(len(answer["rows"]), "name")
    return ", ".join([f"{answer['found']:,} of {total} found", *(f"{n:,} {state}" for state, n in counts.items() if n)])


def _format_found_name(row: NameRow) -> str:
    given_name = "" if row["given"] == row["name"] else f"{format_name(row['given'])} is "
    return f"- {given_name}{format_name(row['name'])} ({format_id(row['id'])})"


def _describe_ambiguous_ids(answer: NamesAnswer, budget: int) -> list[str]:
    """Return a line on ambiguous names, listing as many ids as fit."""
    rows = [row for row in answer["rows"] if row["state"] == "found" and row["candidates"]]
    if not rows:
        return []
    count = f"{len(rows):,} name{'s are' if len(rows) != 1 else ' is'} ambiguous"
    for n_listed in range(MAX_LISTED_NAMES, 0, -1):
        listed = []
        for row in rows[:n_listed]:
            ids = ", ".join(format_id(candidate["id"]) for candidate in row["candidates"][1 : n_listed + 1])
            listed.append(f"{format_name(row['given'])} also by {ids}")
        more = ", …" if len(rows) > n_listed else ""
        line = f"{count} and taken as the id: {'; '.join(listed)}{more} (find_objects lists all)."
        if estimate_tokens(line) <= budget:
            return [line]
    return [f"{count} (find_objects lists all)."]


def _describe_respelled(answer: NamesAnswer) -> list[str]:
    """Return a line on names that were found with other capitals or spaces."""
    rows = [row for row in answer["rows"] if _is_respelled(row)]
    listed = [f"{format_name(row['given'])} as {format_name(row['name'])}" for row in rows[:MAX_LISTED_NAMES]]
    more = f" and {len(rows) - MAX_LISTED_NAMES:,} more" if len(rows) > MAX_LISTED_NAMES else ""
    return [f"Taken in other capitals or spaces: {', '.join(listed)}{more}."] if rows else []


def _is_respelled(row: NameRow) -> bool:
    is_same_folded = _fold(row["given"]) == _fold(row["name"])
    return row["state"] == "found" and is_same_folded and row["name"] != row["given"] != str(row["id"])


def _list_problem_sections(answer: NamesAnswer, *, with_shared: bool = False) -> Iterator[Section]:
    """Yield the sections of ambiguous and of unknown names, and if ``with_shared`` of ids that are also names."""
    shared = [row for row in answer["rows"] if row["state"] == "found" and row["candidates"]]
    if with_shared:
        section_title = "## Names of others too: the first is taken, give the id of another to mean it"
        yield Section("name", section_title, shared, _format_problem)
    titles = {
        "ambiguous": "## Ambiguous: give the id of one object",
        "missing": "## Unknown, with similar names",
    }
    for state, section_title in titles.items():
        rows = [row for row in answer["rows"] if row["state"] == state]
        yield Section("name", section_title, rows, _format_problem)


def _format_problem(row: NameRow) -> str:
    suggestions = "; ".join(map(format_candidate, row["candidates"]))
    return f"- {format_name(row['given'])}: {suggestions or 'no similar name'}"


def _make_structured(answer: NamesAnswer) -> dict[str, Any]:
    """Return the result of a lookup of names as JSON, without empty fields."""
    rows = [{field: value for field, value in row.items() if value not in (None, "", [])} for row in answer["rows"]]
    return {"rows": rows, "found": answer["found"], "ambiguous": answer["ambiguous"], "missing": answer["missing"]}


MAX_SENTENCE_LENGTH = 4_000
"""Longer sentences are cut."""


def format_sentence(sentence: str) -> str:
    """Return a sentence on one line, with the characters of Markdown escaped."""
    return escape_markdown(sentence, MAX_SENTENCE_LENGTH)


def format_cell(labels: Sequence[str]) -> str:
    """Return the labels of a cell in angle brackets."""
    return cell_title(labels, escape_markdown)


def list_explanation_sections(facts: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the sections of an explanation by its kind."""
    if facts["kind"] == "object":
        yield Section("cell", "## Chosen cells that hold it: gain when chosen", facts["cells"], _format_holding_cell, 2)
        yield Section("link", "## Its heaviest links to the query", facts["links"], _format_link, 2)
        yield Section("path", "## Shortest ways to the query", facts["paths"], _format_path)
    elif facts["kind"] == "cell":
        lifts = [lift for lift in facts["label_lifts"] if lift["label"]]
        yield Section("label", "## How much more common its labels are in the query", lifts, _format_lift, 4)
        own_objects = facts["only_first"]
        yield Section("object", "## The first objects that no other chosen cell holds", own_objects, _format_own_object)
    else:
        yield Section("cell", "## What every chosen cell added, in their order", facts["cells"], _format_chosen_cell)
    if facts.get("note"):
        yield Section("", "", [format_sentence(facts["note"])])


def _format_holding_cell(cell: Mapping[str, Any]) -> str:
    return f"{cell['rank']}. {format_cell(cell['labels'])} {cell['gain']:+.4g}"


def _format_link(link: Mapping[str, Any]) -> str:
    parts = [f"weight {link['weight']:.3g}"]
    parts += [f"{link['items']:,} item{'s' * (link['items'] != 1)}"] if link["items"] else []
    newest_items = [
        format_name(item["title"] or item["id"]) + ("" if item["time"] is None else f" {item['time']}")
        for item in link["newest"]
    ]
    parts += [f"such as {', '.join(newest_items)}"] if newest_items else []
    return f"- {format_name(link['name'])}: {'; '.join(parts)}"


def _format_path(path: Mapping[str, Any]) -> str:
    return f"- {' – '.join(map(format_name, path['names']))}"


def _format_lift(lift: Mapping[str, Any]) -> str:
    counts = (
        f"{lift['query']:,} of {lift['queried']:,} of the query, {lift['everyone']:,} of {lift['objects']:,} in all"
    )
    times = f"{lift['lift']:.1f} times ({lift['low']:.1f} to {lift['high']:.1f})"
    return f"- {escape_markdown(lift['dimension'])} {format_name(lift['label'])}: {times}; {counts}"


def _format_own_object(node: Mapping[str, Any]) -> str:
    return f"- {format_name(node['name'])}{', of the query' * bool(node['in_query'])}"


def _format_chosen_cell(cell: Mapping[str, Any]) -> str:
    pinned = ", pinned" * bool(cell["pinned"])
    return (
        f"{cell['rank']}. {format_cell(cell['labels'])} {cell['added']:+.4g}: {cell['new_objects']:,} new "
        f"objects{pinned}"
    )
