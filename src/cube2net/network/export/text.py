"""A network as text for people and language models, in sections or as a brief list of names.

A text keeps to a budget of tokens. All lines of all sections have one order of importance; the text has the longest
prefix of this order that fits, arranged by section. So a small budget shows the first lines of every section.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import escape_markdown, format_count
from cube2net.errors import ParameterError, quote
from cube2net.model.network import NODES, Network
from cube2net.model.node_names import cell_line, cell_title
from cube2net.network.assembly import format_certificate, summarize
from cube2net.network.attributes import ITEMS

Count = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Return an estimate of how many tokens a text has: two for every five bytes of UTF-8, rounded up.

    >>> estimate_tokens("Ten bytes!"), estimate_tokens("")
    (4, 0)
    """
    return -(-2 * len(text.encode("utf-8", "replace")) // 5)


@dataclass(frozen=True, eq=False)
class Section:
    """Lines of one kind, one for each of ``rows``, the most important first; lines are made when needed.

    ``what`` is the noun by which omitted lines are counted, empty if they are not. ``weight`` is the number of lines in
    turn with other sections: for infinity all lines come first, for 0 last.
    """

    what: str
    title: str
    rows: Sequence[Any] | Array
    line: Callable[[Any], str] = str
    weight: float = 1.0
    cache: list[str] = field(default_factory=list, init=False, repr=False)

    def lines(self, count: int) -> list[str]:
        """Return the first lines."""
        self.cache.extend(map(self.line, self.rows[len(self.cache) : count]))
        return self.cache[:count]


def fit_text(sections: Sequence[Section], most: int, count: Count) -> str:
    """Return the longest text of at most ``most`` tokens, the most important lines first.

    If no line fits, the text is the line of counts, or empty. Complete texts are counted, so counts need not be
    additive.
    """
    sections = [section for section in sections if len(section.rows)]
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.concatenate([np.arange(1, len(each.rows) + 1) / np.float64(each.weight) for each in sections])
    order = np.repeat(np.arange(len(sections)), [len(each.rows) for each in sections])[np.argsort(turns, kind="stable")]

    def text(lines: int) -> str:
        return _join_sections(sections, np.bincount(order[:lines], minlength=len(sections)).tolist())

    def fits(lines: int) -> bool:
        tokens: object = count(text(lines))
        if isinstance(tokens, bool) or not isinstance(tokens, Real) or math.isnan(tokens):
            raise ParameterError(f"the counter gave {quote(tokens)} for a text, expected how many tokens it has")
        return float(tokens) <= most

    if not fits(0):
        return ""
    # Lengths are doubled, so that the cost depends on the text and not on the network.
    low, high = 0, 1
    while high <= len(order) and fits(high):
        low, high = high, 2 * high
    high = min(high, len(order) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text(low)


def _join_sections(sections: Sequence[Section], shown: Sequence[int]) -> str:
    """Return the first lines of every section, and a last line with the counts of omitted ones."""
    blocks = [
        "\n".join([section.title] * bool(section.title) + section.lines(count))
        for section, count in zip(sections, shown, strict=True)
        if count
    ]
    left: Counter[str] = Counter()
    for section, count in sorted(zip(sections, shown, strict=True), key=lambda each: each[0].what != "object"):
        left[section.what] += len(section.rows) - count
    more = [f"{count:,} more {what}{'s' * (count != 1)}" for what, count in left.items() if what and count]
    return "\n\n".join([*blocks, *([f"and {', '.join(more)}"] if more else [])])


MAX_NAMES, MAX_CELLS, MAX_LABELS, MAX_COLUMNS = 3, 6, 3, 8
"""Of one object: links named and cells listed; of a group: labels of each dimension; of all: attributes shown."""
MAX_VALUE_LETTERS = 60
NAMES_IN_TURN = 100
"""Names of a brief text in turn with one line of every other section."""
MEANINGS = {
    "cover": "how often chosen cells hold objects of the query, {times}",
    "jaccard": "the objects of the query that the cells hold, as a share of all that they hold or the query has",
    "coverage": "the share of the query that the cells hold",
    "precision": "the share of what the cells hold that is in the query",
}
STEERED = {"pins": "in it", "bans": "not in it", "prefer": "more like"}


def format_text(network: Network, most: int, count: Count = estimate_tokens) -> str:
    """Return a text of at most ``most`` tokens about a network; see :meth:`cube2net.Network.to_text`."""
    nodes = NodeTexts(network)
    outside, inside, cells = nodes.outside, len(network.query), len(network.labels)
    head = [*nodes.opening_lines(), nodes.describe_worth()]
    if cells:
        head.append(
            f"A cell {nodes.dimensions} holds the objects of all items with these labels; its gain is what it added "
            "when it was chosen."
        )
        head.append(nodes.describe_held())
    if network.form == "hybrid" and outside:
        head.append("Neighbours are those that walks along links from the query come to most often.")
    order = "those with most cells and links first" if cells else "those with most links first"
    sections = [
        Section("", "", [*head, *nodes.closing_lines()], weight=math.inf),
        nodes.group_section(6),
        nodes.cell_section(2),
        Section("object", f"## In the query: {inside:,}, {order}", nodes.rank(True), nodes.object_line, 2),
        Section(
            "object",
            f"## {nodes.others}, not in the query: {outside:,}, {order}",
            nodes.rank(False),
            nodes.object_line,
            1,
        ),
        nodes.link_section(),
    ]
    return fit_text(sections, most, count)


def format_brief_text(
    network: Network, most: int, count: Count = estimate_tokens, nearness: Array | None = None
) -> str:
    """Return a list of names of a network of at most ``most`` tokens; see :meth:`cube2net.Network.to_text`.

    ``nearness`` is the PageRank of every object of the network for the query.
    """
    nodes = NodeTexts(network)
    held = ", chosen cells that hold it" if network.labels else ""
    what = f"name{held}, objects of the query it is linked to"
    others = f"## {nodes.others}, not in the query: {nodes.outside:,}, the likeliest first; {what}"
    inside = f"## In the query: {len(network.query):,}, those with most cells and links first; {what}"
    sections = [
        Section("", "", [*nodes.opening_lines(), *nodes.closing_lines()], weight=math.inf),
        Section("", "", [None], lambda _: nodes.describe_worth()),
        Section("object", others, rank_by_likelihood(network, nearness), nodes.name_line, NAMES_IN_TURN),
        nodes.group_section(1),
        nodes.cell_section(1),
        Section("object", inside, nodes.rank(True), nodes.name_line),
        nodes.link_section(),
    ]
    return fit_text(sections, most, count)


def rank_by_likelihood(network: Network, nearness: Array | None = None) -> Array:
    """Return the positions of the objects outside the query, those that most likely belong to it first.

    The score of an object is nearness · √((1 + cells) · (1 + links)), with the numbers of chosen cells that hold it and
    of the query's objects that it is linked to; without ``nearness`` the root alone. Pinned objects come first.
    """
    rows = np.arange(len(network.query), len(network.objects))
    reasons = np.sqrt((1.0 + network.brought_by.sizes[rows]) * (1.0 + network.query_links[rows]))
    worth = reasons if nearness is None else nearness[rows] * reasons
    return rows[np.lexsort((-reasons, -worth, ~_is_pinned(network)[rows]))]


class NodeTexts:
    """Texts about a network and its nodes, computed once."""

    def __init__(self, network: Network) -> None:
        self.network, self.table, self.about = network, network.nodes.to_arrow(), summarize(network)
        self.labels: list[str] = self._texts("label")
        self.kinds: list[str] = self._texts("kind")[: len(network.objects)]
        self.has_kinds = len(set(self.kinds)) > 1
        self.dimensions = cell_title(network.dimensions, escape_markdown)
        self.outside = len(network.objects) - len(network.query)
        self.others = "Neighbours" if network.form == "hybrid" else "Other objects"

    def _texts(self, column: str) -> list[str]:
        return [escape_markdown(text or "") for text in self.table[column].to_pylist()]

    def opening_lines(self) -> list[str]:
        """Return the first lines: the query and the size of the network."""
        network, cells = self.network, len(self.network.labels)
        beside = format_count(self.outside, "neighbour") if network.form == "hybrid" else f"{self.outside:,} others"
        counts = f"{len(network.query):,} of the query, {beside}"
        parts = [f"{format_count(len(network.objects), 'object')} ({counts})"]
        parts += [f"{format_count(cells, 'cell')} chosen"] if cells else []
        parts.append(f"{format_count(len(self.heaviest), 'link')} among objects")
        kind = "" if self.has_kinds or self.kinds[0] in ("", "object") else f" An object here is: {self.kinds[0]}."
        head = f"# Network around a query of {format_count(len(network.query), 'object')}"
        views = [escape_markdown(view, 400) for view in network.settings.get("views") or ()]
        if brought := network.settings.get("may_be_brought"):
            views.append(f"{brought[0]:,} of its {brought[1]:,} objects may be brought")
        return [head, f"It has {', '.join(parts)}.{kind}", *([f"Of the cube: {'; '.join(views)}."] if views else [])]

    def closing_lines(self) -> list[str]:
        """Return the lines about pins and preferences, missing names, and the note."""
        network, lines = self.network, []
        wanted = [
            f"{word} {_list_first([escape_markdown(title) for title in titles])}"
            for key, word in STEERED.items()
            if (titles := network.settings.get(key))
        ]
        if wanted:
            lines.append(f"The user wanted {'; '.join(wanted)}.")
        if missing := network.query.missing:
            lines.append(f"Asked for, and not found: {_list_first([escape_markdown(name) for name in missing])}.")
        note = self.about["note"]
        return lines + ([f"Note: {escape_markdown(note, 400)}."] if note else [])

    def describe_worth(self) -> str:
        """Return the sentence about the method, the objective and the value."""
        about = self.about
        text = f"It was made by the method {escape_markdown(about['method'])}"
        if not about["cells"]:
            return f"{text}, which chose no cells."
        objective, is_count, recipe = about["objective"], about["objective"] == "cover", self.network.recipe
        most = None if recipe is None else recipe.objective.get("options", {}).get("r")
        times = "every time counted" if most is None else f"each counted {most} times at most"
        meaning = f" ({MEANINGS[objective].format(times=times)})" if objective in MEANINGS else ""
        value = f"{about['value']:{',.0f' if is_count else '.4f'}}"
        text += f" for the objective {escape_markdown(objective)}{meaning}: {value}"
        if about["bound"] is None or not math.isfinite(about["bound"]):
            return f"{text}."
        return f"{text}; {format_certificate(about['bound'], about['gap'], about['proven'], is_count=is_count)}."

    def describe_held(self) -> str:
        """Return the sentence about the objects of the query that chosen cells hold."""
        count = len(self.network.query)
        loose = np.flatnonzero(self.network.brought_by.sizes[:count] == 0).tolist()
        without = f", all but {_list_first([self.names[at] for at in loose])}" if loose else ""
        return f"The cells hold {count - len(loose):,} of the {format_count(count, 'object')} of the query{without}."

    @cached_property
    def names(self) -> list[str]:
        """The name of every object, with its id if the name is ambiguous."""
        return [f"{name or 'no name'}{self.ids_beside[at]}" for at, name in enumerate(self.bare_names)]

    @cached_property
    def bare_names(self) -> list[str]:
        """The name of every object."""
        return self._texts("name")[: len(self.network.objects)]

    @cached_property
    def ids_beside(self) -> list[str]:
        """The id of every object, or an empty text if its name is unique in the network and in the cube.

        Without the cube, names are assumed to be unique in it.
        """
        network, names = self.network, self.bare_names
        unique = [True] * len(names)
        if network.context is not None:
            name_texts = [str(name or "").strip() for name in self.table["name"].to_pylist()[: len(names)]]
            unique = (network.context.whole.objects.find(name_texts).rows == network.objects).tolist()
        times = Counter(names)
        keys = [escape_markdown(str(key)) for key in self.table["id"].to_pylist()[: len(names)]]
        return [
            "" if name and alone and (times[name] == 1 or name == key) else f" (id {key})"
            for name, key, alone in zip(names, keys, unique, strict=True)
        ]

    @cached_property
    def counts(self) -> Any:
        """The counts of items and labels of every object; None if the cube does not keep items."""
        lookups = self.network.lookups
        return None if lookups is None else lookups.labels(self.network.objects)

    def group_section(self, weight: float) -> Section:
        """Return the groups of objects by label, and the others, with sizes and most frequent labels."""
        network, count = self.network, len(self.network.query)
        labels = self.labels[:count] if network.query.labels is not None else ["All of the query"] * count
        places = {label: [at for at, one in enumerate(labels) if one == label] for label in dict.fromkeys(labels)}
        groups = [(label or "No label", np.array(rows)) for label, rows in places.items() if len(rows) > 1]
        groups.sort(key=lambda group: -len(group[1]))
        if self.outside and self.counts:
            groups.append((f"{self.others}, not in the query", np.arange(count, len(network.objects))))
        what = "" if self.counts is None else ", and which labels the items that mention them have most often"
        return Section("group", f"## Who they are{what}", groups, self._group_line, weight)

    def _group_line(self, group: tuple[str, Array]) -> str:
        title, rows = group
        parts = [format_count(len(rows), "object")]
        if self.counts is not None:
            inside = np.zeros(len(self.network.objects), dtype=bool)
            inside[rows] = True
            items = max(1, int(self.counts.items[rows].sum()))
            for name, (labels, places, numbers, times) in self.counts.dimensions.items():
                of = inside[places]
                totals = np.bincount(numbers[of], times[of], minlength=1)
                best = [at for at in np.argsort(-totals, kind="stable")[:MAX_LABELS].tolist() if totals[at]]
                shares = [f"{escape_markdown(labels[at])} {totals[at] / items:.0%}" for at in best]
                parts += [f"{escape_markdown(name)} {', '.join(shares)}"] if shares else []
        return f"- {title}: {'; '.join(parts)}"

    def cell_section(self, weight: float) -> Section:
        """Return the chosen cells with labels, gain, and the objects of the query in each."""
        network, count = self.network, len(self.network.query)
        held = network.brought_by.indices[: network.brought_by.indptr[count]]
        owner = np.repeat(np.arange(count), network.brought_by.sizes[:count])[np.argsort(held, kind="stable")]
        ends = np.searchsorted(np.sort(held), np.arange(len(network.labels) + 1))
        digits = "+,.0f" if self.about["objective"] == "cover" else "+.4f"

        def line(rank: int) -> str:
            cell, rows = self.about["cells"][rank], owner[ends[rank] : ends[rank + 1]].tolist()
            labels = Counter(self.labels[at] for at in rows if self.labels[at]).most_common()
            of = f": {_list_first([f'{label} {times}' for label, times in labels])}" if labels else ""
            share = f"{len(rows) / count:.0%}" if rows else "0%"
            title = cell_title(network.labels[rank], escape_markdown)
            in_all = "" if cell["objects"] is None else f"; {cell['objects']:,} in all"
            return f"{rank + 1}. {title} {cell['gain']:{digits}}: {len(rows):,} of the query ({share}){of}{in_all}"

        title = f"## Chosen cells, first chosen first: number. {self.dimensions} gain: of the query; objects in all"
        return Section("cell", title, range(len(network.labels)), line, weight)

    def rank(self, in_query: bool) -> Array:
        """Return the objects of the query, or the others: pinned ones first, then by cells and links."""
        network, count = self.network, len(self.network.query)
        rows = np.arange(count) if in_query else np.arange(count, len(network.objects))
        reasons = network.brought_by.sizes[rows] + network.query_links[rows]
        return rows[np.lexsort((-reasons, ~_is_pinned(network)[rows]))]

    def name_line(self, at: int) -> str:
        """Return the name of an object, with its numbers of cells and links."""
        network, name = self.network, self.bare_names[at].replace('"', '\\"')
        counts = [network.brought_by.sizes[at]] if network.labels else []
        numbers = " ".join(f"{int(count):,}" for count in (*counts, network.query_links[at]))
        return f'- "{name}"{self.ids_beside[at]}{self._kind_and_label(at)} {numbers}'

    def object_line(self, at: int) -> str:
        """Return the attributes of an object, and why it is in the network."""
        parts = "; ".join([*_describe_attributes(self.columns, at), *self._reasons(at)])
        return f"- {self.names[at]}{self._kind_and_label(at)}: {parts or 'nothing more is known'}"

    def _kind_and_label(self, at: int) -> str:
        label = self.labels[at] if at < len(self.network.query) else ""
        aside = ", ".join(part for part in (self.kinds[at] if self.has_kinds else "", label) if part)
        return f" ({aside})" if aside else ""

    def _reasons(self, at: int) -> Iterator[str]:
        """Yield the reasons for an object: the cells that hold it, and its links to the query."""
        network, inside = self.network, at < len(self.network.query)
        cells = [f"{rank + 1}" for rank in network.brought_by[at].tolist()]
        if cells:
            many = f"{len(cells):,} cells: " if len(cells) > MAX_CELLS else "cells " if len(cells) > 1 else "cell "
            yield f"in {many}{', '.join(cells[:MAX_CELLS])}{', …' * (len(cells) > MAX_CELLS)}"
        elif network.labels and inside:
            yield "in no chosen cell"
        begin, end = self.partners[0][at : at + 2].tolist()
        linked = self.partners[1][begin:end].tolist()
        if linked:
            names = [self.names[other] for other in linked[:MAX_NAMES]]
            labels = Counter(self.labels[other] for other in linked if self.labels[other]).most_common(1)
            whose = f", {labels[0][1]:,} of {labels[0][0]}" if labels and not inside else ""
            more = ", …" * (len(linked) > MAX_NAMES)
            yield f"linked to {len(linked):,} of the query{whose}: {', '.join(names)}{more}"
        elif inside:
            yield "linked to none of the query"

    @cached_property
    def columns(self) -> list[tuple[str, list[Any]]]:
        """The attributes to show, with the values of all nodes."""
        names = [name for name in self.table.column_names if name not in NODES]
        return [(escape_markdown(name), self.table[name].to_pylist()) for name in names[:MAX_COLUMNS]]

    @cached_property
    def partners(self) -> tuple[Array, Array]:
        """Offsets and ends of the links of each object to the query, heaviest first."""
        network, rows = self.network, self.heaviest
        source, target, weight = network.source[rows], network.target[rows], network.weight[rows]
        own, other = np.concatenate([source, target]), np.concatenate([target, source])
        into = other < len(network.query)
        own, other, heavy = own[into], other[into], np.tile(weight, 2)[into]
        order = np.lexsort((other, -heavy, own))
        return np.searchsorted(own[order], np.arange(len(network.objects) + 1)), other[order]

    @cached_property
    def heaviest(self) -> Array:
        """The links between objects, heaviest first."""
        network = self.network
        among = np.flatnonzero(np.maximum(network.source, network.target) < len(network.objects))
        return among[np.argsort(-network.weight[among], kind="stable")]

    def link_section(self) -> Section:
        """Return the links between objects, the last section."""
        network = self.network

        def line(at: int) -> str:
            ends = self.names[network.source[at]], self.names[network.target[at]]
            return f"- {ends[0]} — {ends[1]}: {float(network.weight[at]):.3g}"

        return Section("link", "## Links, heaviest first: weight", self.heaviest, line, 0)


def _describe_attributes(columns: Sequence[tuple[str, list[Any]]], at: int) -> Iterator[str]:
    """Yield the attributes of a node; after the number of items come their most frequent labels."""
    mostly: list[str] | None = None
    for name, values in columns:
        value = values[at]
        if name == ITEMS:
            mostly = []
            if value is not None:
                yield format_count(value, "item")
        elif value is not None and mostly is not None:
            mostly.append(escape_markdown(str(value), MAX_VALUE_LETTERS))
        elif value is not None:
            yield f"{name} {escape_markdown(str(value), MAX_VALUE_LETTERS)}"
    if mostly:
        yield f"mostly {cell_line(mostly)}"


def _is_pinned(network: Network) -> Array:
    pins = [] if network.context is None else network.context.steering.objects("pins")
    return np.isin(network.objects, np.array(pins, dtype=np.int64))


def _list_first(names: Sequence[str]) -> str:
    """Return the first names and the number of others.

    >>> _list_first(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(names[:MAX_NAMES])}{more}"
