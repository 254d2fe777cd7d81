"""The answers of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cube2net.apps.mcp.texts import (
    ToolReply,
    correct_spelling,
    count_tokens,
    fit_lines,
    format_candidates,
    format_cell,
    format_found_names,
    format_id,
    format_name,
    format_sentence,
    join_paragraphs,
    list_explanation_sections,
    look_up_names,
    make_reply,
    parse_budget,
    resolve_request_names,
)
from cube2net.apps.service.requests import describe_node
from cube2net.apps.service.schemas import NetworkRequest, Node
from cube2net.apps.service.service import CubeService
from cube2net.cube.cuboids import BOTH, cuboid
from cube2net.errors import ParameterError, QueryError, quote
from cube2net.model.node_names import resolve_cell, resolve_node, resolve_object
from cube2net.network.export.token_budget import Section, estimate_tokens

DEFAULT_COUNT = 10
"""Number of cells, rows, columns or names that a tool lists by default."""
MIN_NEIGHBORS = 500
"""Minimum number of neighbours of a network; more than the default of the library, so that there are names to list."""


def find_objects(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the objects of names, or the names with a prefix."""
    budget = parse_budget(arguments)
    if ("objects" in arguments) == ("begins" in arguments):
        raise ParameterError("give either objects, the names to look up, or begins, the beginning of a name")
    if "objects" in arguments:
        return format_found_names(look_up_names(service, arguments["objects"]), budget)
    prefix = arguments["begins"]
    if not any(character.isalnum() for character in prefix):
        raise ParameterError(
            f"begins is {quote(prefix)}, expected a text with letters or digits", parameter="begins", value=prefix
        )
    completions = service.answer("complete", {"text": prefix, "most": arguments.get("most", DEFAULT_COUNT)})
    count = len(service.names.find_by_prefix(prefix[:200], len(service.cube.objects)))
    return format_candidates(prefix, completions["candidates"], count, budget)


def construct(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the network around some objects as text."""
    budget = parse_budget(arguments)
    request, name_remark = make_network_request(service, arguments, budget)
    network = service.network(request)
    facts = {
        "objects": len(network.objects),
        "query": len(network.query),
        "cells": len(network.labels),
        "fingerprint": network.recipe.made["checksum"] if network.recipe else "",
    }
    text_budget = budget - count_tokens(facts)
    text = network.to_text(
        text_budget,
        lambda text: estimate_tokens(join_paragraphs(name_remark, text)),
        brief=arguments.get("detail", "brief") == "brief",
    )
    return make_reply(join_paragraphs(name_remark, text), budget, facts)


def explain(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return why a node is in the network of a request, or is not."""
    budget = parse_budget(arguments)
    request, name_remark = make_network_request(service, arguments, budget)
    body: dict[str, Any] = {"request": request}
    if "node" in arguments:
        body["node"] = resolve_node_argument(service, arguments, arguments["node"])
    answer = service.answer("explain", body)
    text = fit_lines(
        budget,
        [format_sentence(answer["sentence"])],
        *list_explanation_sections(answer["explanation"]),
        prefix=name_remark,
    )
    return make_reply(text, budget, answer["explanation"])


def contrast(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the cells that distinguish two lists of objects."""
    budget = parse_budget(arguments)
    names = resolve_request_names(service, arguments, budget)
    body = {**_get_view(arguments), "query": names.ids, "n_cells": arguments.get("n_cells", DEFAULT_COUNT)}
    remarks = [names.remark]
    if "against" in arguments:
        other_names = resolve_request_names(service, arguments, budget, "against")
        body["against"] = other_names.ids
        remarks.append(other_names.remark)
    if "names" in arguments:
        body["names"] = arguments["names"]
    answer = service.answer("contrast", body)
    cells = answer["contrast"].get("cells", [])
    lines = [f"- {format_sentence(cell['sentence'])}" for cell in cells]
    value, bound = answer["contrast"].get("value"), answer["contrast"].get("bound")
    head = [format_sentence(answer["sentence"])]
    if cells:
        head.append(
            f"These cells tell {value:.0%} of the objects apart, and no choice of so many could tell more than "
            f"{bound:.0%}; p-values are corrected for all {answer['contrast']['tested']:,} cells tested."
        )
    cell_section = Section("cell", "## Cells, in the order chosen", lines)
    text = fit_lines(budget, head, cell_section, prefix=join_paragraphs(*remarks))
    return make_reply(text, budget, answer["contrast"])


def drill(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the cells below a cell that hold most of a list of objects."""
    budget = parse_budget(arguments)
    names = resolve_request_names(service, arguments, budget)
    body: dict[str, Any] = {**_get_view(arguments), "query": names.ids, "k": arguments.get("k", DEFAULT_COUNT)}
    if "cell" in arguments:
        view = service.view(body)
        cell = arguments["cell"]
        if isinstance(cell, dict):
            cell = _get_single_value(cell, "cell", "cell")
        body["cell"] = list(resolve_cell(view, tuple(cell) if isinstance(cell, list) else cell).names(view))
    answer = service.answer("drill", body)
    drilled = answer["drilled"]

    def format_line(cell: Mapping[str, Any]) -> str:
        counts = f"{cell['query_objects']:,} of yours, {cell['new']:,} of them in no cell above"
        return (
            f"- {format_cell(cell['labels'])}: {counts}; {cell['objects']:,} in all; {cell['lift']:,.1f} times as "
            "expected"
        )

    sections = [
        Section(
            "cell",
            f"## Cells below {format_cell(drilled['labels'])}, those that say most first",
            drilled["cells"],
            format_line,
            4,
        ),
        Section(
            "object",
            "## In none of them",
            drilled["left"],
            lambda entry: f"- {format_name(entry['name'])} ({format_id(entry['id'])})",
        ),
    ]
    text = fit_lines(budget, [format_sentence(answer["sentence"])], *sections, prefix=names.remark)
    return make_reply(text, budget, drilled)


def pivot(service: CubeService, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the number of objects for each pair of labels of two levels."""
    budget = parse_budget(arguments)
    body: dict[str, Any] = {**_get_view(arguments), "rows": arguments["rows"], "columns": arguments["columns"]}
    body["most"] = arguments.get("most", DEFAULT_COUNT)
    name_remark = ""
    if "objects" in arguments:
        names = resolve_request_names(service, arguments, budget)
        body["query"], name_remark = names.ids, names.remark
    table = service.answer("pivot", body)

    def format_line(row: int) -> str:
        counts = [f"{count:,}" for count in table["objects"][row]]
        if table["query"]:
            counts = [
                f"{query_count:,}/{count}" for query_count, count in zip(table["query"][row], counts, strict=True)
            ]
        return f"| {_format_table_cell(table['rows'][row])} | {' | '.join(counts)} |"

    entry_meaning = "yours/all objects" if table["query"] else "objects"
    columns = " | ".join(_format_table_cell(label) for label in table["columns"])
    head = [
        format_sentence(table["sentence"]),
        f"Each entry is {entry_meaning} with both labels; an object may be in several.",
    ]
    corner = f"{_format_table_cell(arguments['rows'])} \\ {_format_table_cell(arguments['columns'])}"
    table_head = f"| {corner} | {columns} |\n|{' --- |' * (len(table['columns']) + 1)}"
    rows = Section("row", table_head, range(len(table["rows"])), format_line)
    finer_levels = [
        f"{_format_table_cell(arguments[side])}: {_format_table_cell(level)}"
        for side, level in zip(("rows", "columns"), table["finer"], strict=True)
        if level
    ]
    note = Section("", "", [f"Finer levels there are: {'; '.join(finer_levels)}."] if finer_levels else [], weight=0)
    text = fit_lines(budget, head, rows, note, prefix=name_remark)
    structured = {part: table[part] for part in ("rows", "columns", "objects", "query", "more_rows", "more_columns")}
    return make_reply(text, budget, structured)


def make_network_request(service: CubeService, arguments: Mapping[str, Any], budget: int) -> tuple[NetworkRequest, str]:
    """Return the request for a network, and a remark on names that could not be resolved."""
    names = resolve_request_names(service, arguments, budget)
    method = arguments.get("method", "greedy")
    request: dict[str, Any] = {**_get_view(arguments), "query": names.ids, "method": method}
    for field in ("n_cells", "n_neighbors"):
        if field in arguments:
            if method != "greedy":
                raise ParameterError(f"{field} is of the method 'greedy', and the method is {method!r}: leave it out")
            request[field] = arguments[field]
    if method == "greedy" and "n_neighbors" not in request:
        request["n_neighbors"] = max(MIN_NEIGHBORS, len(names.ids))
    for field in ("pins", "bans"):
        if field in arguments:
            request[field] = [resolve_node_argument(service, arguments, node) for node in arguments[field]]
    remarks = [names.remark]
    if arguments.get("prefer"):
        preferred_names = resolve_request_names(service, arguments, budget, "prefer")
        request["prefer"] = preferred_names.ids
        remarks.append(preferred_names.remark)
    return request, join_paragraphs(*remarks)  # type: ignore[return-value]


def resolve_node_argument(service: CubeService, arguments: Mapping[str, Any], value: Any) -> Node:
    """Return the cell or the object that a text or a JSON value names."""
    view = cuboid(service.view(_get_view(arguments)), BOTH)  # networks have cells of one label too
    if isinstance(value, dict):
        field = "cell" if "cell" in value else "object"
        content = _get_single_value(value, field, "node")
        node = resolve_node(view, tuple(content)) if isinstance(content, list) else resolve_object(view, str(content))
    elif isinstance(value, str) and view.objects.find([value.strip()]).missing:
        try:
            node = resolve_node(view, value)
        except QueryError:
            correct_name = correct_spelling(service, value)
            if correct_name is None:
                raise
            node = resolve_object(view, correct_name)
    else:
        node = resolve_node(view, value)
    return describe_node(view, node)


def _get_single_value(value: Mapping[str, Any], field: str, parameter: str) -> Any:
    """Return the value of the only field of a JSON object; raise if it has other fields."""
    if list(value) != [field]:
        raise ParameterError(
            f"{parameter} is {quote(dict(value))}, expected a text, {{'object': id}} or {{'cell': [labels]}}"
        )
    return value[field]


def _get_view(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {field: arguments[field] for field in ("where", "between") if field in arguments}


def _format_table_cell(text: object) -> str:
    """Return a label for a Markdown table, with bars escaped."""
    return format_name(text)[1:-1].replace("|", "\\|")
