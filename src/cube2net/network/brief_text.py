"""A network as a list of names: who beside the query belongs to it most likely, first, and little of all else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from cube2net.array_types import Array
from cube2net.network.network_text import KnownNodes, opening_lines, pinned_objects, said_beside, said_of_worth
from cube2net.network.summary import summarize
from cube2net.network.text_budget import Count, Section, estimated_tokens, longest_text
from cube2net.records import Network

NAMES = 100
"""So many names come in turn with one line of any other section."""


def brief_text(network: Network, most: int, count: Count = estimated_tokens, nearness: Array | None = None) -> str:
    """Return as many names of a network as a text of so many tokens holds; see :func:`cube2net.to_text`.

    ``nearness`` says of every object of the network how near it is to the query.
    """
    return longest_text(list(_sections(network, nearness)), most, count)


def likeliest(network: Network, nearness: Array | None = None) -> Array:
    """Return the places of the objects outside the query, those that most likely belong to it first.

    An object counts nearness · √((1 + cells) · (1 + links)): how near it is, the chosen cells that hold it, and the
    objects of the query that it is linked to. Where nobody knows how near objects are, only the latter count. Those
    that somebody pinned come before all others.
    """
    rows = np.arange(len(network.query), len(network.objects))
    reasons = np.sqrt((1.0 + network.brought_by.sizes[rows]) * (1.0 + network.query_links[rows]))
    worth = reasons if nearness is None else nearness[rows] * reasons
    return rows[np.lexsort((-reasons, -worth, ~pinned_objects(network)[rows]))]


def _sections(network: Network, nearness: Array | None) -> Iterator[Section]:
    """Give the sections of a network, in the order in which they stand."""
    known, about = KnownNodes(network), summarize(network)
    inside, outside, cells = len(network.query), len(network.objects) - len(network.query), len(network.labels)
    head = [*opening_lines(known, cells), *said_beside(network, about)]
    yield Section("", "", len(head), head.__getitem__, math.inf)
    yield Section("", "", 1, lambda _: said_of_worth(network, about), 1)
    held = ", chosen cells that hold it" if cells else ""
    what = f"name{held}, objects of the query it is linked to"
    title = f"## {known.others}, not in the query: {outside:,}, the likeliest first; {what}"
    yield Section("object", title, outside, _name_line(known, likeliest(network, nearness)), NAMES)
    groups = known.groups()
    yield Section("group", f"## Who they are{known.said_of_groups}", len(groups), known.group_line(groups), 1)
    title = f"## Chosen cells, first chosen first: number. {known.dimensions} gain: of the query; objects in all"
    yield Section("cell", title, cells, known.cell_line(about), 1)
    title = f"## In the query: {inside:,}, those with most cells and links first; {what}"
    yield Section("object", title, inside, _name_line(known, known.ranked(True)), 1)
    links = known.heaviest
    yield Section("link", "## Links, heaviest first: weight", len(links), known.link_line(links), 0)


def _name_line(known: KnownNodes, ranked: Array) -> Callable[[int], str]:
    """Return what gives the line of an object: its name, and how much speaks for it."""
    network = known.network

    def line(number: int) -> str:
        at = int(ranked[number])
        label = known.labels[at] if at < len(network.query) else ""
        aside = ", ".join(part for part in (known.kinds[at] if known.several else "", label) if part)
        counts = [network.brought_by.sizes[at]] if network.labels else []
        said = " ".join(f"{int(count):,}" for count in (*counts, network.query_links[at]))
        return f"- {known.quoted(at)}{f' ({aside})' if aside else ''} {said}"

    return line
