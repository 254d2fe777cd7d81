"""The answers of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cube2net.apps.mcp.texts import (
    ToolReply,
    after,
    candidates_text,
    correct_spelling,
    count_tokens,
    explanation_sections,
    find_text,
    format_sentence,
    key,
    lines_within,
    look_up,
    name,
    parse_budget,
    reply_within,
    resolve_request_names,
    title,
)
from cube2net.apps.service.requests import describe_node
from cube2net.apps.service.schemas import NetworkRequest, Node
from cube2net.apps.service.service import CubeService
from cube2net.cube.cuboids import BOTH, cuboid
from cube2net.errors import ParameterError, QueryError, quote
from cube2net.model.node_names import resolve_cell, resolve_node, resolve_object
from cube2net.network.export.token_budget import Section, estimate_tokens

FEW = 10
"""So many cells, rows, columns and names are listed without a word."""
NEAR = 500
"""So many neighbours a network has at least, so that there are names to list; a network of the library has fewer."""


def find_objects(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return what names mean, or which names begin as a text does."""
    budget = parse_budget(asked)
    if ("objects" in asked) == ("begins" in asked):
        raise ParameterError("give either objects, the names to look up, or begins, the beginning of a name")
    if "objects" in asked:
        return find_text(look_up(service, asked["objects"]), budget)
    begins = asked["begins"]
    if not any(sign.isalnum() for sign in begins):
        raise ParameterError(
            f"begins is {quote(begins)}, expected a text with letters or digits", parameter="begins", value=begins
        )
    found = service.answer("complete", {"text": begins, "most": asked.get("most", FEW)})
    count = len(service.names.find_by_prefix(begins[:200], len(service.cube.objects)))
    return candidates_text(begins, found["candidates"], count, budget)


def construct(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return the network around some objects as text."""
    budget = parse_budget(asked)
    request, remark = make_request(service, asked, budget)
    network = service.network(request)
    facts = {
        "objects": len(network.objects),
        "query": len(network.query),
        "cells": len(network.labels),
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
    }
    room = budget - count_tokens(facts)
    text = network.to_text(
        room,
        lambda text: estimate_tokens(after(remark, text)),
        brief=asked.get("detail", "brief") == "brief",
    )
    return reply_within(after(remark, text), budget, facts)


def explain(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return why something is in that network, or is not."""
    budget = parse_budget(asked)
    request, remark = make_request(service, asked, budget)
    body: dict[str, Any] = {"request": request}
    if "node" in asked:
        body["node"] = node_asked(service, asked, asked["node"])
    found = service.answer("explain", body)
    text = lines_within(
        budget, [format_sentence(found["sentence"])], *explanation_sections(found["explanation"]), before=remark
    )
    return reply_within(text, budget, found["explanation"])


def contrast(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return the cells that tell two lists of objects apart."""
    budget = parse_budget(asked)
    one = resolve_request_names(service, asked, budget)
    body = {**_view(asked), "query": one.ids, "n_cells": asked.get("n_cells", FEW)}
    remarks = [one.remark]
    if "against" in asked:
        other = resolve_request_names(service, asked, budget, "against")
        body["against"] = other.ids
        remarks.append(other.remark)
    if "names" in asked:
        body["names"] = asked["names"]
    found = service.answer("contrast", body)
    cells = found["contrast"].get("cells", [])
    lines = [f"- {format_sentence(cell['sentence'])}" for cell in cells]
    value, bound = found["contrast"].get("value"), found["contrast"].get("bound")
    head = [format_sentence(found["sentence"])]
    if cells:
        head.append(
            f"These cells tell {value:.0%} of the objects apart, and no choice of so many could tell more than "
            f"{bound:.0%}; p-values are corrected for all {found['contrast']['tested']:,} cells tested."
        )
    listed = Section("cell", "## Cells, in the order chosen", lines)
    text = lines_within(budget, head, listed, before=after(*remarks))
    return reply_within(text, budget, found["contrast"])


def drill(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return the cells below a cell that hold most of some objects."""
    budget = parse_budget(asked)
    found = resolve_request_names(service, asked, budget)
    body: dict[str, Any] = {**_view(asked), "query": found.ids, "k": asked.get("k", FEW)}
    if "cell" in asked:
        seen = service.view(body)
        cell = asked["cell"]
        if isinstance(cell, dict):
            cell = _only(cell, "cell", "cell")
        body["cell"] = list(resolve_cell(seen, tuple(cell) if isinstance(cell, list) else cell).names(seen))
    answer = service.answer("drill", body)
    drilled = answer["drilled"]

    def line(cell: Mapping[str, Any]) -> str:
        counts = f"{cell['query_objects']:,} of yours, {cell['new']:,} of them in no cell above"
        return f"- {title(cell['labels'])}: {counts}; {cell['objects']:,} in all; {cell['lift']:,.1f} times as expected"

    sections = [
        Section(
            "cell", f"## Cells below {title(drilled['labels'])}, those that say most first", drilled["cells"], line, 4
        ),
        Section(
            "object", "## In none of them", drilled["left"], lambda each: f"- {name(each['name'])} ({key(each['id'])})"
        ),
    ]
    text = lines_within(budget, [format_sentence(answer["sentence"])], *sections, before=found.remark)
    return reply_within(text, budget, drilled)


def pivot(service: CubeService, asked: Mapping[str, Any]) -> ToolReply:
    """Return how many objects have a label of each of two levels."""
    budget = parse_budget(asked)
    body: dict[str, Any] = {**_view(asked), "rows": asked["rows"], "columns": asked["columns"]}
    body["most"] = asked.get("most", FEW)
    remark = ""
    if "objects" in asked:
        found = resolve_request_names(service, asked, budget)
        body["query"], remark = found.ids, found.remark
    table = service.answer("pivot", body)

    def line(row: int) -> str:
        counts = [f"{count:,}" for count in table["objects"][row]]
        if table["query"]:
            counts = [f"{own:,}/{count}" for own, count in zip(table["query"][row], counts, strict=True)]
        return f"| {_cell(table['rows'][row])} | {' | '.join(counts)} |"

    what = "yours/all objects" if table["query"] else "objects"
    columns = " | ".join(_cell(label) for label in table["columns"])
    head = [format_sentence(table["sentence"]), f"Each entry is {what} with both labels; an object may be in several."]
    corner = f"{_cell(asked['rows'])} \\ {_cell(asked['columns'])}"
    titled = f"| {corner} | {columns} |\n|{' --- |' * (len(table['columns']) + 1)}"
    rows = Section("row", titled, range(len(table["rows"])), line)
    finer = [
        f"{_cell(asked[side])}: {_cell(level)}"
        for side, level in zip(("rows", "columns"), table["finer"], strict=True)
        if level
    ]
    below = Section("", "", [f"Finer levels there are: {'; '.join(finer)}."] if finer else [], weight=0)
    text = lines_within(budget, head, rows, below, before=remark)
    kept = {part: table[part] for part in ("rows", "columns", "objects", "query", "more_rows", "more_columns")}
    return reply_within(text, budget, kept)


def make_request(service: CubeService, asked: Mapping[str, Any], budget: int) -> tuple[NetworkRequest, str]:
    """Return the request of a network that a model means, and a remark on names that were not taken."""
    found = resolve_request_names(service, asked, budget)
    method = asked.get("method", "greedy")
    request: dict[str, Any] = {**_view(asked), "query": found.ids, "method": method}
    for word in ("n_cells", "n_neighbors"):
        if word in asked:
            if method != "greedy":
                raise ParameterError(f"{word} is of the method 'greedy', and the method is {method!r}: leave it out")
            request[word] = asked[word]
    if method == "greedy" and "n_neighbors" not in request:
        request["n_neighbors"] = max(NEAR, len(found.ids))
    for word in ("pins", "bans"):
        if word in asked:
            request[word] = [node_asked(service, asked, each) for each in asked[word]]
    remarks = [found.remark]
    if asked.get("prefer"):
        others = resolve_request_names(service, asked, budget, "prefer")
        request["prefer"] = others.ids
        remarks.append(others.remark)
    return request, after(*remarks)  # type: ignore[return-value]


def node_asked(service: CubeService, asked: Mapping[str, Any], given: Any) -> Node:
    """Return the cell or the object that a text names, or what the JSON interface takes as one."""
    seen = cuboid(service.view(_view(asked)), BOTH)  # networks have cells of one label too
    if isinstance(given, dict):
        word = "cell" if "cell" in given else "object"
        inside = _only(given, word, "node")
        node = resolve_node(seen, tuple(inside)) if isinstance(inside, list) else resolve_object(seen, str(inside))
    elif isinstance(given, str) and seen.objects.find([given.strip()]).missing:
        try:
            node = resolve_node(seen, given)
        except QueryError:
            spelled = correct_spelling(service, given)
            if spelled is None:
                raise
            node = resolve_object(seen, spelled)
    else:
        node = resolve_node(seen, given)
    return describe_node(seen, node)


def _only(given: Mapping[str, Any], word: str, where: str) -> Any:
    """Return what an object of JSON has, which has nothing but this word."""
    if list(given) != [word]:
        raise ParameterError(
            f"{where} is {quote(dict(given))}, expected a text, {{'object': id}} or {{'cell': [labels]}}"
        )
    return given[word]


def _view(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {word: asked[word] for word in ("where", "between") if word in asked}


def _cell(text: object) -> str:
    """Return a label as it stands in a table: between bars that are none of its own."""
    return name(text)[1:-1].replace("|", "\\|")
