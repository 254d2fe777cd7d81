"""Explanations of objects and cells of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cube2net._util.text import format_count
from cube2net.errors import quote_unsafe
from cube2net.model.node_names import quote_title
from cube2net.model.results import Result, make_plain

Id = str | int
"""The id of an object: a whole number where the cube's ids are such."""


def shorten(text: str, most: int = 80) -> str:
    """Return a text on one harmless line, cut between two words where it is long.

    >>> shorten("Attention is all you need", 15)
    'Attention is …'
    """
    if not text.isprintable() or len(text) <= most:
        return quote_unsafe(text)
    cut = text[:most]
    return (cut[: cut.rfind(" ") + 1] or cut) + "…"


def format_number(value: float, *, signed: bool = False) -> str:
    """Return a value as people read it: whole numbers without a point.

    >>> format_number(3.0, signed=True), format_number(0.00412, signed=True), format_number(1234.0)
    ('+3', '+0.0041', '1,234')
    """
    sign = "+" if signed else ""
    if value == int(value) and (abs(value) >= 1 or value == 0):
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.4f}" if abs(value) >= 5e-4 else f"{value:{sign}.1e}"


class Explanation(Result):
    """Why something is in a network or not, or what it adds."""

    KIND = ""
    """What is explained, as JSON names it."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the sentence as JSON has them."""
        fields = {name: make_plain(value) for name, value in vars(self).items()}
        return {"kind": self.KIND, **fields, "sentence": self.sentence}


@dataclass(frozen=True)
class SharedItem:
    """An item that mentions two objects: its id, and its title and time where the cube keeps them."""

    id: str
    title: str | None = None
    time: str | int | float | None = None

    def __str__(self) -> str:
        text = shorten(self.id if self.title is None else self.title)
        return text if self.time is None else f"{text} ({self.time})"


@dataclass(frozen=True)
class QueryLink:
    """A link to an object of the query: its weight, how many items mention both, and the newest of these.

    ``items`` is None where the cube does not keep its items; where these have no time, ``newest`` are some of them.
    Where the source says of links what kinds they are and when they were, ``kinds`` are those of all links between the
    two, from the ``first`` to the ``last``.
    """

    id: Id
    name: str
    weight: float
    items: int | None = None
    newest: tuple[SharedItem, ...] = ()
    kinds: tuple[str, ...] = ()
    first: str | int | float | None = None
    last: str | int | float | None = None

    @property
    def when(self) -> str:
        """When the links were: one time, or two with .. between; empty if the source has no times."""
        if self.first is None:
            return ""
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"

    def __str__(self) -> str:
        details = ", ".join(filter(None, [*map(quote_unsafe, self.kinds), self.when]))
        by = f" ({details})" if details else ""
        by += f" by {format_count(self.items, 'item')}" if self.items else ""
        newest = f", {'the newest' if self.has_times else 'such as'} {self.newest[0]}" if self.newest else ""
        return f"{quote_unsafe(self.name)}{by}{newest}"

    @property
    def has_times(self) -> bool:
        """Whether the items have times, so that these are the newest."""
        return bool(self.newest) and self.newest[0].time is not None


@dataclass(frozen=True)
class BringingCell:
    """A chosen cell that holds an object: its rank, its labels, and what it added to the value when it was chosen."""

    rank: int
    labels: tuple[str, ...]
    gain: float

    def __str__(self) -> str:
        return f"{quote_title(self.labels)}, chosen cell number {self.rank:,} ({format_number(self.gain, signed=True)})"


@dataclass(frozen=True)
class LinkPath:
    """A shortest path to the query, along links: the objects on it, and the weights of its links together."""

    ids: tuple[Id, ...]
    names: tuple[str, ...]
    weight: float

    def __str__(self) -> str:
        return " – ".join(map(quote_unsafe, self.names))


@dataclass(frozen=True)
class NearMiss:
    """What would have brought an object that is not in a network.

    ``obstacle`` says why it cannot come at all, and ``left_out`` why it did not though a chosen cell holds it. ``cell``
    has the labels of the cell that holds it and takes least from the value: with it the value would be ``value``, and
    ``price`` is how much less than now that is. ``option`` is the parameter that would reach as far as the object, at
    ``needed``; ``exact`` says whether it is known that this is enough, and else ``least`` that less never is.
    """

    obstacle: str = ""
    left_out: str = ""
    cell: tuple[str, ...] | None = None
    value: float | None = None
    price: float | None = None
    option: str = ""
    needed: int | None = None
    now: int | None = None
    exact: bool = True
    least: bool = False
    note: str = ""

    def __str__(self) -> str:
        if self.obstacle:
            return self.obstacle
        parts = [self.left_out] if self.left_out else []
        if self.option and self.needed is not None:
            now = "" if self.now is None else f" (it is {self.now:,} now)"
            about = "at least" if self.least else "about"
            asks = f"{self.option} has to be {about} {self.needed} to add it"
            parts.append(f"{self.option}={self.needed} would add it{now}" if self.exact else f"{asks}{now}")
        if self.cell is not None and self.price is not None and self.value is not None:
            price = f"costs {format_number(self.price)}" if self.price > 0 else f"adds {format_number(-self.price)}"
            cell = f"the cheapest cell that contains it, {quote_title(self.cell)}"
            parts.append(f"{cell}, {price}: {format_number(self.value)} with it")
        if self.note:
            parts.append(self.note)
        return "; ".join(parts) or "no option was found that would add it"


@dataclass(frozen=True, eq=False)
class ObjectExplanation(Explanation):
    """Why an object is in a network or not; ``str`` is one sentence.

    ``came`` is its role: ``query``, ``pinned``, ``neighbor``, ``cells`` or the name of a method that chooses objects;
    empty if it is not in the network, and then ``miss`` says what would add it. ``cells`` are the chosen cells that
    contain it, of ``chosen_cells`` in total. ``linked`` counts the objects of the query that it is linked to, and
    ``links`` are the heaviest of these links. ``score`` is its personalised PageRank, and ``rank`` its position among
    the ``ranked`` objects outside the query that can be reached; None if it is in the query or cannot be reached.
    ``steps`` is the length of a shortest path to the query, None if there is none within ``within`` steps; ``ways``
    counts such paths and ``paths`` are the heaviest. ``gain`` and ``cost`` are what it adds to the numerator and the
    denominator of a value that is a ratio of sums. ``note`` says what the cube does not contain.
    """

    id: Id
    name: str
    present: bool
    came: str
    value: float
    cells: tuple[BringingCell, ...] = ()
    linked: int = 0
    links: tuple[QueryLink, ...] = ()
    rank: int | None = None
    ranked: int = 0
    score: float = 0.0
    steps: int | None = None
    within: int = 0
    ways: int = 0
    paths: tuple[LinkPath, ...] = ()
    gain: float | None = None
    cost: float | None = None
    miss: NearMiss | None = None
    note: str = ""
    chosen_cells: int = 0

    KIND = "object"

    def __repr__(self) -> str:
        how = self.came or "not there"
        rank = "" if self.rank is None else f", rank {self.rank:,} by PageRank"
        held = f", {format_count(len(self.cells), 'chosen cell')} hold{'s' * (len(self.cells) == 1)} it"
        held = held if self.chosen_cells else ""
        return (
            f"ObjectExplanation({quote_unsafe(self.name)}: {how}{rank}, linked to {self.linked:,} of the query{held})"
        )

    @property
    def sentence(self) -> str:
        """The explanation in one sentence."""
        return f"{quote_unsafe(self.name)} {'; '.join([self._describe_origin(), *self._links(), *self._cells()])}"

    def _describe_origin(self) -> str:
        ranked = f"rank {self.rank:,} of {self.ranked:,} by PageRank" if self.rank is not None else ""
        if not self.present:
            why = f": {self.miss}" if self.miss is not None else ""
            return f"is not in the network{why}" + (f"; {ranked}" if ranked else "")
        how = {
            "query": "is in the query",
            "pinned": "is in the network because it is pinned",
            "neighbor": "is in the network as a neighbour",
            "cells": f"was added by {self.cells[0]}" if self.cells else "was added by a cell",
        }.get(self.came, f"was added by the method {quote_unsafe(self.came)}")
        if self.came == "hops" and self.steps:
            how += f" in {format_count(self.steps, 'step')}"
        return f"{how}, {ranked}" if ranked else how

    def _links(self) -> list[str]:
        other = "other " if self.came == "query" else ""
        if self.linked:
            alike = len(self.links) > 1 and self.links[0].weight == self.links[-1].weight
            heaviest = f", {'such as' if alike else 'heaviest to'} {self.links[0]}" if self.links else ""
            return [f"it is linked to {format_count(self.linked, f'{other}object')} of the query{heaviest}"]
        if self.steps is None:
            where = f"the {'rest of the ' * bool(other)}query"
            return [f"no path of {self.within} links or fewer leads to {where}"] if self.within else []
        return [f"{self.steps} links lead to the {'rest of the ' * bool(other)}query: {self.paths[0]}"]

    def _cells(self) -> list[str]:
        if not self.cells:
            return ["no chosen cell contains it"] if self.chosen_cells else []
        if self.came == "cells" and len(self.cells) == 1:
            return []
        first = f", first {self.cells[0]}" if self.came != "cells" else ""
        count = len(self.cells)
        return [f"{format_count(count, 'chosen cell')} contain{'s' * (count == 1)} it{first}"]


@dataclass(frozen=True)
class Lift:
    """How much more often objects of the query have a label, or are in a cell, than all objects of the cube.

    ``query`` of the ``queried`` objects of the query have it, and ``everyone`` of the ``objects`` of the cube. ``lift``
    is the share of the one divided by that of the other. ``low`` and ``high`` are the ends of its interval at 95 %:
    Wilson's for the share of the query, divided by the share of the whole, which is counted and not estimated.
    ``dimension`` and ``label`` are empty for a whole cell.
    """

    dimension: str
    label: str
    query: int
    queried: int
    everyone: int
    objects: int
    lift: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of the query that has it."""
        return self.query / self.queried

    def __str__(self) -> str:
        what = "it" if not self.label else quote_unsafe(self.label)
        return f"{what} is {self.lift:.1f} × as common in the query as in the cube ({self.low:.1f} to {self.high:.1f})"


@dataclass(frozen=True)
class OnlyObject:
    """An object that one chosen cell alone holds."""

    id: Id
    name: str
    in_query: bool


@dataclass(frozen=True, eq=False)
class CellExplanation(Explanation):
    """Why a cell was chosen or not; ``str`` is one sentence.

    What it adds to the value is given in three ways: ``in_turn``, when it was chosen (None if it is not chosen);
    ``alone``, as the only cell besides pinned ones; and ``last``, after all other chosen cells, which is what would be
    lost without it. ``objects`` counts its objects, ``query_objects`` those in the query. ``lift`` is that of the cell,
    ``labels_lift`` that of each label. ``only`` counts the objects in no other chosen cell, ``only_query`` those of
    them in the query, and ``only_first`` lists the first. For a cell that is not chosen, ``before`` is the number of
    such cells that would add more, and ``why_not`` the reason.
    """

    number: int
    labels: tuple[str, ...]
    chosen: bool
    rank: int | None
    chosen_cells: int
    value: float
    in_turn: float | None
    alone: float
    last: float
    objects: int
    query_objects: int
    queried: int
    lift: Lift
    label_lifts: tuple[Lift, ...] = ()
    only: int = 0
    only_query: int = 0
    only_first: tuple[OnlyObject, ...] = ()
    pinned: bool = False
    banned: bool = False
    before: int | None = None
    why_not: str = ""

    KIND = "cell"

    def __repr__(self) -> str:
        where = f"number {self.rank:,} of {self.chosen_cells:,}" if self.chosen else "not chosen"
        return (
            f"CellExplanation({quote_title(self.labels)}: {where}, {format_number(self.last, signed=True)} last, "
            f"holds {self.query_objects:,} of the query)"
        )

    @property
    def sentence(self) -> str:
        """The explanation in one sentence."""
        holds = f"it contains {format_count(self.objects, 'object')}, {self.query_objects:,} of the query"
        strongest = max(self.label_lifts, key=lambda each: each.lift, default=None)
        lifts = "" if strongest is None else f"; of its labels {strongest}"
        if not self.chosen:
            adds = f"as the next cell it would add {format_number(self.last, signed=True)}"
            return f"{quote_title(self.labels)} is not chosen because {self.why_not}; {adds}; {holds}{lifts}"
        how = "pinned" if self.pinned else f"number {self.rank:,} of {self.chosen_cells:,} chosen cells"
        turn = format_number(0.0 if self.in_turn is None else self.in_turn, signed=True)
        alone, last = format_number(self.alone, signed=True), format_number(self.last, signed=True)
        adds = f"{turn} when chosen, {alone} alone, {last} last"
        only = f"{format_count(self.only, 'object')} that no other chosen cell contains"
        return f"{quote_title(self.labels)} is {how}: it adds {adds}; {holds}, and {only}{lifts}"


@dataclass(frozen=True)
class AddedCell:
    """What a chosen cell added when it was chosen: new objects, and their part of gain and cost.

    ``gain`` and ``cost`` are sums over the new objects; where the value counts how often objects are held, ``gain`` is
    how many it serves and the cost 0; where a function tells it, both are None. ``added`` is the change of the value.
    """

    rank: int
    number: int
    labels: tuple[str, ...]
    pinned: bool
    new_objects: int
    gain: float | None
    cost: float | None
    value: float
    added: float


@dataclass(frozen=True, eq=False)
class ValueAccount(Explanation):
    """What each part of a network adds to its value; ``str`` is one sentence.

    ``gain0`` and ``cost0`` are those of no cells. ``pinned_gain`` and ``pinned_cost`` are added by pinned objects and
    cells, ``gain`` and ``cost`` by the ``objects`` that a method chose without cells. Together with those of the other
    ``cells`` in order, they are the sums whose ratio (or, if ``ratio`` is False, whose numerator) is exactly the value;
    see :meth:`total`. For a ``method`` that chooses no cells (``chooses_cells``), ``brought`` is the number of objects
    it added and ``pinned`` that of pinned ones. ``picked`` says that the cells come from a contrast. ``note`` is that
    of the selection.
    """

    objective: str
    value: float
    gain0: float | None
    cost0: float | None
    objects: int
    pinned_gain: float | None
    pinned_cost: float | None
    pinned_cells_gain: float | None
    pinned_cells_cost: float | None
    gain: float | None
    cost: float | None
    cells: tuple[AddedCell, ...] = ()
    ratio: bool = True
    method: str = ""
    chooses_cells: bool = True
    brought: int = 0
    pinned: int = 0
    picked: bool = False
    note: str = ""

    KIND = "account"

    def __repr__(self) -> str:
        if not self.chooses_cells:
            return f"ValueAccount({format_count(self.brought, 'object')} by {quote_unsafe(self.method)}, no cells)"
        return f"ValueAccount({self.objective} {format_number(self.value)} of {format_count(len(self.cells), 'cell')})"

    @property
    def sentence(self) -> str:
        """The account in one sentence."""
        if not self.chooses_cells:
            return self._describe_added()
        value = f"{quote_unsafe(self.objective)} is {format_number(self.value)}"
        count = format_count(len(self.cells), "cell")
        if not self.cells:
            alone = f", and {format_count(self.pinned, 'object')} pinned" if self.pinned else ""
            return f"{value}: {self.note or 'no cell is chosen'}{alone}"
        if self.picked:
            return (
                f"{count} at mixed levels, chosen to separate objects and not by the objective "
                f"{quote_unsafe(self.objective)}, which is {format_number(self.value)}"
            )
        most = max(self.cells, key=lambda each: each.added)
        added = format_number(most.added, signed=True)
        return f"{value}, by {count}, of which {quote_title(most.labels)} added most ({added})"

    def _describe_added(self) -> str:
        """Return what brought the objects of a network whose method chooses no cells."""
        pins = f", and {format_count(self.pinned, 'object')} {'is' if self.pinned == 1 else 'are'} pinned"
        beside = pins if self.pinned else ""
        if not self.brought:
            return f"the method {quote_unsafe(self.method)} added no objects and chooses no cells{beside}"
        were = "was" if self.brought == 1 else "were"
        return (
            f"{format_count(self.brought, 'object')} {were} added by the method {quote_unsafe(self.method)}, which "
            f"chooses no cells{beside}"
        )

    def total(self) -> float:
        """Return the sum of all parts, which is the value."""
        if self.gain0 is None:
            return self.cells[-1].value if self.cells else self.value
        gain, cost = self.gain or 0.0, self.cost or 0.0
        for cell in self.cells:
            if not cell.pinned:
                gain += cell.gain or 0.0
                cost += cell.cost or 0.0
        above = self.gain0 + (self.pinned_gain or 0.0) + (self.pinned_cells_gain or 0.0) + gain
        below = (self.cost0 or 0.0) + (self.pinned_cost or 0.0) + (self.pinned_cells_cost or 0.0) + cost
        if not self.ratio:
            return above
        return above / below if below > 0 else 0.0
