"""Explanations as lines: what stands behind the sentence of an object, a cell or a whole network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cube2net.assistant.tool_replies import name, section, section_of
from cube2net.escaping import in_markdown
from cube2net.pipeline import Section
from cube2net.records.cell_titles import cell_title

LONGEST = 4_000
"""A sentence has no more letters than this."""


def said(sentence: str) -> str:
    """Return a sentence as one line that is inert in Markdown."""
    return in_markdown(sentence, LONGEST)


def title(labels: Sequence[str]) -> str:
    """Return a cell by its labels between angles."""
    return cell_title(labels, in_markdown)


def explanation_sections(told: Mapping[str, Any]) -> Iterator[Section]:
    """Give what stands behind an explanation, by its kind."""
    if told["kind"] == "object":
        yield section_of("cell", "## Chosen cells that hold it: gain when chosen", told["cells"], _bringing_line, 2)
        yield section_of("link", "## Its heaviest links to the query", told["links"], _link_line, 2)
        yield section_of("path", "## Shortest ways to the query", told["paths"], _path_line)
    elif told["kind"] == "cell":
        lifts = [each for each in told["label_lifts"] if each["label"]]
        yield section_of("label", "## How much more common its labels are in the query", lifts, _lift_line, 4)
        only = told["only_first"]
        yield section_of("object", "## The first objects that no other chosen cell holds", only, _only_line)
    else:
        yield section_of("cell", "## What every chosen cell added, in their order", told["cells"], _added_line)
    if told.get("note"):
        yield section("", "", [said(told["note"])])


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
    return f"- {in_markdown(lift['dimension'])} {name(lift['label'])}: {times}; {counts}"


def _only_line(each: Mapping[str, Any]) -> str:
    return f"- {name(each['name'])}{', of the query' * bool(each['in_query'])}"


def _added_line(cell: Mapping[str, Any]) -> str:
    pinned = ", pinned" * bool(cell["pinned"])
    return f"{cell['rank']}. {title(cell['labels'])} {cell['added']:+.4g}: {cell['new_objects']:,} new objects{pinned}"
