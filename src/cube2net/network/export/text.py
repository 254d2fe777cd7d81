"""A network as text for people and language models: in sections, or brief, as a list of names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import counted, in_markdown
from cube2net.model.names import cell_line, cell_title
from cube2net.model.network import NODES, Network
from cube2net.network.attributes import ITEMS
from cube2net.network.export.token_budget import Count, Section, estimated_tokens, longest_text
from cube2net.network.summary import certificate, summarize

NAMED, LISTED, TOP, COLUMNS = 3, 6, 3, 8
"""Of one object: links named and cells listed; of a group: labels of each dimension; of all: attributes shown."""
VALUE = 60
"""So many letters of an attribute's value are shown."""
MEANINGS = {
    "cover": "how often chosen cells hold objects of the query, {times}",
    "jaccard": "the objects of the query that the cells hold, as a share of all that they hold or the query has",
    "coverage": "the share of the query that the cells hold",
    "precision": "the share of what the cells hold that is in the query",
}

STEERED = {"pins": "in it", "bans": "not in it", "like": "more like", "unlike": "less like"}


def text_of(network: Network, most: int, count: Count = estimated_tokens) -> str:
    """Return as much of a network as a text of so many tokens holds; see :func:`cube2net.to_text`."""
    return longest_text(list(_sections(network)), most, count)


def _sections(network: Network) -> Iterator[Section]:
    """Give the sections of a network, in the order in which they stand."""
    known, about = KnownNodes(network), summarize(network)
    inside, outside = len(network.query), len(network.objects) - len(network.query)
    head, groups, cells = _head(known, about), known.groups(), len(network.labels)
    yield Section("", "", len(head), head.__getitem__, math.inf)
    yield Section("group", f"## Who they are{known.said_of_groups}", len(groups), known.group_line(groups), 6)
    title = f"## Chosen cells, first chosen first: number. {known.dimensions} gain: of the query; objects in all"
    yield Section("cell", title, cells, known.cell_line(about), 2)
    most = "those with most cells and links first" if cells else "those with most links first"
    yield Section("object", f"## In the query: {inside:,}, {most}", inside, known.object_line(known.ranked(True)), 2)
    title = f"## {known.others}, not in the query: {outside:,}, {most}"
    yield Section("object", title, outside, known.object_line(known.ranked(False)), 1)
    links = known.heaviest
    yield Section("link", "## Links, heaviest first: weight", len(links), known.link_line(links), 0)


def _head(known: KnownNodes, about: Mapping[str, Any]) -> list[str]:
    """Return what stands above all: what was asked, how large and how good the answer is, and what its words mean."""
    network = known.network
    outside, cells = len(network.objects) - len(network.query), len(about["cells"])
    head = opening_lines(known, cells)
    head.append(said_of_worth(network, about))
    if cells:
        head.append(
            f"A cell {known.dimensions} holds the objects of all items with these labels; its gain is what it added "
            "when it was chosen."
        )
        head += known.said_of_held
    if about["form"] == "woven" and outside:
        head.append("Near objects are those that walks along links from the query come to most often.")
    return head + said_beside(network, about)


def opening_lines(known: KnownNodes, cells: int) -> list[str]:
    """Return the lines that a text begins with: what was asked, and how large the answer is."""
    network = known.network
    inside, outside = len(network.query), len(network.objects) - len(network.query)
    beside = "near" if network.form == "woven" else "others"
    parts = [f"{counted(len(network.objects), 'object')} ({inside:,} of the query, {outside:,} {beside})"]
    parts += [f"{counted(cells, 'cell')} chosen"] if cells else []
    parts.append(f"{counted(len(known.heaviest), 'link')} among objects")
    sizes = f"It has {', '.join(parts)}.{known.said_of_kind}"
    return [f"# Network around a query of {counted(inside, 'object')}", sizes, *_said_of_views(network)]


def said_beside(network: Network, about: Mapping[str, Any]) -> list[str]:
    """Return what else is to be said of a question and its answer: what was wanted, what was not found, a note."""
    said = []
    steered = [(word, network.settings.get(key)) for key, word in STEERED.items()]
    if any(titles for _, titles in steered):
        wanted = [f"{word} {first_of([in_markdown(title) for title in titles])}" for word, titles in steered if titles]
        said.append(f"The user wanted {'; '.join(wanted)}.")
    if network.query.missing:
        missing = network.query.missing
        said.append(f"Asked for, and not found: {first_of([in_markdown(name) for name in missing])}.")
    return said + ([f"Note: {in_markdown(about['note'], 400)}."] if about["note"] else [])


def _said_of_views(network: Network) -> list[str]:
    """Return which part of its cube was asked, and how many objects may be brought; nothing for a whole cube."""
    views, brought = network.settings.get("views"), network.settings.get("may_be_brought")
    said = [in_markdown(view, 400) for view in views or ()]
    said += [f"{brought[0]:,} of its {brought[1]:,} objects may be brought"] if brought else []
    return [f"Of the cube: {'; '.join(said)}."] if said else []


def said_of_worth(network: Network, about: Mapping[str, Any]) -> str:
    """Return what was asked for, and how good the answer is."""
    said = f"It was made by the method {in_markdown(about['method'])}"
    if not about["cells"]:
        return f"{said}, which chose no cells."
    objective, whole = about["objective"], about["objective"] == "cover"
    options = {} if network.recipe is None else network.recipe.objective.get("options", {})
    most = options.get("r")
    times = "every time counted" if most is None else f"each counted {most} times at most"
    meaning = f" ({MEANINGS[objective].format(times=times)})" if objective in MEANINGS else ""
    said += f" for the objective {in_markdown(objective)}{meaning}: {about['value']:{',.0f' if whole else '.4f'}}"
    if about["bound"] is None or not math.isfinite(about["bound"]):
        return f"{said}."
    return f"{said}; {certificate(about['bound'], about['gap'], about['proven'], whole=whole)}."


class KnownNodes:
    """What is said of a network's nodes, looked up once."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.table = network.nodes
        self.labels: list[str] = self._texts("label")
        self.kinds: list[str] = self._texts("kind")[: len(network.objects)]
        self.several = len(set(self.kinds)) > 1
        self.dimensions = cell_title(network.dimensions, in_markdown)
        self.others = "Near objects" if network.form == "woven" else "Other objects"

    def _texts(self, column: str) -> list[str]:
        return [in_markdown(text or "") for text in self.table[column].to_pylist()]

    @cached_property
    def names(self) -> list[str]:
        """The name of every object, with its id where the name alone does not mean it."""
        return [f"{name or 'no name'}{self.apart[at]}" for at, name in enumerate(self.bare)]

    @cached_property
    def bare(self) -> list[str]:
        """The name of every object."""
        return self._texts("name")[: len(self.network.objects)]

    @cached_property
    def apart(self) -> list[str]:
        """What tells every object from others of its name: its id, or nothing where that is not needed.

        It is needed where the name, given back, means another object of the network or of its cube, or several.
        """
        often, ids = Counter(self.bare), self.table["id"].to_pylist()
        keys = [in_markdown(str(ids[at])) for at in range(len(self.bare))]
        return [
            "" if name and alone and (often[name] == 1 or name == key) else f" (id {key})"
            for name, key, alone in zip(self.bare, keys, self._means_itself, strict=True)
        ]

    @property
    def _means_itself(self) -> list[bool]:
        """Whether the name of every object means it in the cube; where the cube is not at hand that is taken so."""
        network = self.network
        if network.question is None:
            return [True] * len(self.bare)
        called = [str(name or "").strip() for name in self.table["name"].to_pylist()[: len(self.bare)]]
        means: list[bool] = (network.question.whole.objects.find(called).rows == network.objects).tolist()
        return means

    def quoted(self, at: int) -> str:
        """Return the name of an object between quotation marks, with its id where the name alone does not mean it."""
        name = self.bare[at].replace('"', '\\"')
        return f'"{name}"{self.apart[at]}'

    @property
    def said_of_kind(self) -> str:
        """What the objects are, where all are of one kind that says something."""
        kind = self.kinds[0] if not self.several else ""
        return f" An object here is: {kind}." if kind and kind != "object" else ""

    @property
    def said_of_held(self) -> list[str]:
        """How many objects of the query chosen cells hold, and which they do not, in one sentence."""
        count = len(self.network.query)
        loose = np.flatnonzero(self.network.brought_by.sizes[:count] == 0).tolist()
        without = f", all but {first_of([self.names[at] for at in loose])}" if loose else ""
        return [f"The cells hold {count - len(loose):,} of the {counted(count, 'object')} of the query{without}."]

    @property
    def said_of_groups(self) -> str:
        """What the numbers behind the labels of a group are."""
        return "" if self.counts is None else ", and which labels the items that mention them have most often"

    @cached_property
    def counts(self) -> Any:
        """How many items mention each object and have which labels, None where the cube does not keep that."""
        carried = self.network.carried
        return None if carried is None else carried.labels(self.network.objects)

    def groups(self) -> list[tuple[str, Array]]:
        """Return the groups to be described: the labels that several objects of the query have, and the others."""
        network, count = self.network, len(self.network.query)
        labels = self.labels[:count] if network.query.labels is not None else ["All of the query"] * count
        places = {label: [at for at, one in enumerate(labels) if one == label] for label in dict.fromkeys(labels)}
        found = [(label or "No label", np.array(rows)) for label, rows in places.items() if len(rows) > 1]
        found.sort(key=lambda group: -len(group[1]))
        others = np.arange(count, len(network.objects))
        return [*found, *([(f"{self.others}, not in the query", others)] if len(others) and self.counts else [])]

    def group_line(self, groups: Sequence[tuple[str, Array]]) -> Callable[[int], str]:
        """Return what gives the line of a group: its size and its commonest labels."""

        def line(number: int) -> str:
            title, rows = groups[number]
            parts = [counted(len(rows), "object")]
            if self.counts is not None:
                inside = np.zeros(len(self.network.objects), dtype=bool)
                inside[rows] = True
                items = max(1, int(self.counts.items[rows].sum()))
                for name, (labels, places, numbers, times) in self.counts.dimensions.items():
                    of = inside[places]
                    totals = np.bincount(numbers[of], times[of], minlength=1)
                    best = [at for at in np.argsort(-totals, kind="stable")[:TOP].tolist() if totals[at]]
                    said = [f"{in_markdown(labels[at])} {totals[at] / items:.0%}" for at in best]
                    parts += [f"{in_markdown(name)} {', '.join(said)}"] if said else []
            return f"- {title}: {'; '.join(parts)}"

        return line

    def cell_line(self, about: Mapping[str, Any]) -> Callable[[int], str]:
        """Return what gives the line of a cell: its labels, its gain, and whom of the query it holds."""
        network, count = self.network, len(self.network.query)
        held = network.brought_by.indices[: network.brought_by.indptr[count]]
        owner = np.repeat(np.arange(count), network.brought_by.sizes[:count])[np.argsort(held, kind="stable")]
        ends = np.searchsorted(np.sort(held), np.arange(len(network.labels) + 1))
        digits = "+,.0f" if about["objective"] == "cover" else "+.4f"

        def line(rank: int) -> str:
            cell, rows = about["cells"][rank], owner[ends[rank] : ends[rank + 1]].tolist()
            labels = Counter(self.labels[at] for at in rows if self.labels[at]).most_common()
            of = f": {first_of([f'{label} {times}' for label, times in labels])}" if labels else ""
            share = f"{len(rows) / count:.0%}" if rows else "0%"
            title = cell_title(network.labels[rank], in_markdown)
            gain = f"{cell['gain']:{digits}}"
            in_all = "" if cell["objects"] is None else f"; {cell['objects']:,} in all"
            return f"{rank + 1}. {title} {gain}: {len(rows):,} of the query ({share}){of}{in_all}"

        return line

    def ranked(self, in_query: bool) -> Array:
        """Return the objects of the query, or the others: the pinned first, then those for which most speaks."""
        network, count = self.network, len(self.network.query)
        rows = np.arange(count) if in_query else np.arange(count, len(network.objects))
        reasons = network.brought_by.sizes[rows] + network.query_links[rows]
        return rows[np.lexsort((-reasons, ~pinned_objects(network)[rows]))]

    def object_line(self, ranked: Array) -> Callable[[int], str]:
        """Return what gives the line of an object: what is known of it, and why it is here."""
        network, columns = self.network, self.columns

        def line(number: int) -> str:
            at = int(ranked[number])
            label = self.labels[at] if at < len(network.query) else ""
            aside = ", ".join(part for part in (self.kinds[at] if self.several else "", label) if part)
            parts = [*_attributes(columns, at), *self._reasons(at)]
            return f"- {self.names[at]}{f' ({aside})' if aside else ''}: {'; '.join(parts) or 'nothing more is known'}"

        return line

    def _reasons(self, at: int) -> Iterator[str]:
        """Give why an object is in the network: the cells that hold it, and its links to the query."""
        network, inside = self.network, at < len(self.network.query)
        cells = [f"{rank + 1}" for rank in network.brought_by[at].tolist()]
        if cells:
            many = f"{len(cells):,} cells: " if len(cells) > LISTED else "cells " if len(cells) > 1 else "cell "
            yield f"in {many}{', '.join(cells[:LISTED])}{', …' * (len(cells) > LISTED)}"
        elif network.labels and inside:
            yield "in no chosen cell"
        begin, end = self.partners[0][at : at + 2].tolist()
        if end > begin:
            names = [self.names[other] for other in self.partners[1][begin : min(end, begin + NAMED)].tolist()]
            whose = "" if inside else self._whose(self.partners[1][begin:end])
            yield f"linked to {end - begin:,} of the query{whose}: {', '.join(names)}{', …' * (end - begin > NAMED)}"
        elif inside:
            yield "linked to none of the query"

    def _whose(self, linked: Array) -> str:
        """Return which label most of some objects of the query have, and how many do."""
        labels = Counter(self.labels[at] for at in linked.tolist() if self.labels[at]).most_common(1)
        return f", {labels[0][1]:,} of {labels[0][0]}" if labels else ""

    @cached_property
    def columns(self) -> list[tuple[str, list[Any]]]:
        """The attributes to be shown, each with the values of all nodes."""
        names = [name for name in self.table.column_names if name not in NODES]
        return [(in_markdown(name), self.table[name].to_pylist()) for name in names[:COLUMNS]]

    @cached_property
    def partners(self) -> tuple[Array, Array]:
        """Where the links of each object to the query begin and end, and whom they lead to, heaviest first."""
        network, count = self.network, len(self.network.query)
        rows = self.heaviest
        source, target, weight = network.source[rows], network.target[rows], network.weight[rows]
        own, other = np.concatenate([source, target]), np.concatenate([target, source])
        into = other < count
        own, other, heavy = own[into], other[into], np.tile(weight, 2)[into]
        order = np.lexsort((other, -heavy, own))
        return np.searchsorted(own[order], np.arange(len(network.objects) + 1)), other[order]

    @cached_property
    def heaviest(self) -> Array:
        """The links between objects, heaviest first."""
        network = self.network
        among = np.flatnonzero(np.maximum(network.source, network.target) < len(network.objects))
        return among[np.argsort(-network.weight[among], kind="stable")]

    def link_line(self, links: Array) -> Callable[[int], str]:
        """Return what gives the line of a link."""
        network = self.network

        def line(number: int) -> str:
            at = int(links[number])
            ends = (self.names[int(network.source[at])], self.names[int(network.target[at])])
            return f"- {ends[0]} — {ends[1]}: {float(network.weight[at]):.3g}"

        return line


def _attributes(columns: Sequence[tuple[str, list[Any]]], at: int) -> Iterator[str]:
    """Give what is known of a node; behind the number of its items come the labels that most of these have."""
    mostly: list[str] | None = None
    for name, values in columns:
        value = values[at]
        if name == ITEMS:
            mostly = []
            if value is not None:
                yield counted(value, "item")
        elif value is not None and mostly is not None:
            mostly.append(in_markdown(str(value), VALUE))
        elif value is not None:
            yield f"{name} {in_markdown(str(value), VALUE)}"
    if mostly:
        yield f"mostly {cell_line(mostly)}"


def pinned_objects(network: Network) -> Array:
    """Return of every object of a network whether somebody pinned it."""
    pins = [] if network.question is None else network.question.steering.objects("pins")
    return np.isin(network.objects, np.array(pins, dtype=np.int64))


def first_of(names: Sequence[str], most: int = NAMED) -> str:
    """Return the first names, and how many more there are.

    >>> first_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


NAMES = 100
"""So many names come in turn with one line of any other section."""


def brief_text(network: Network, most: int, count: Count = estimated_tokens, nearness: Array | None = None) -> str:
    """Return as many names of a network as a text of so many tokens holds; see :func:`cube2net.to_text`.

    ``nearness`` says of every object of the network how near it is to the query.
    """
    return longest_text(list(_brief_sections(network, nearness)), most, count)


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


def _brief_sections(network: Network, nearness: Array | None) -> Iterator[Section]:
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
