"""What a cell is to a network, and what all its chosen cells add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cube2net.errors import plain
from cube2net.escaping import counted
from cube2net.records.cell_titles import said_title
from cube2net.records.explanation import Id, as_plain, number
from cube2net.showing import Shown


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
        what = "it" if not self.label else plain(self.label)
        return f"{what} is {self.lift:.1f} × as common in the query as in the cube ({self.low:.1f} to {self.high:.1f})"


@dataclass(frozen=True)
class OnlyObject:
    """An object that one chosen cell alone holds."""

    id: Id
    name: str
    in_query: bool


@dataclass(frozen=True, eq=False)
class CellExplanation(Shown):
    """Why a cell was chosen or not; ``str`` is one sentence.

    What it adds to the value is told three ways: ``in_turn``, when it was chosen, after those before it (None where it
    is not chosen); ``alone``, as the only cell beside what is pinned; and ``last``, after all others that are chosen:
    what would be lost without it, or won with it. ``objects`` are those it can bring and ``query_objects`` those of the
    query among them. ``lift`` is that of the cell and ``labels_lift`` that of each label. ``only`` counts the objects
    that no other chosen cell holds, ``only_query`` those of the query among them, and ``only_first`` names the first.
    ``before`` says how many cells that are not chosen and hold an object of the query would add more than this one,
    None for chosen cells; ``why_not`` says why it is not chosen.
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

    def __repr__(self) -> str:
        where = f"number {self.rank:,} of {self.chosen_cells:,}" if self.chosen else "not chosen"
        return (
            f"CellExplanation({said_title(self.labels)}: {where}, {number(self.last, signed=True)} last, "
            f"holds {self.query_objects:,} of the query)"
        )

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        holds = f"it holds {counted(self.objects, 'object')}, {self.query_objects:,} of the query"
        strongest = max(self.label_lifts, key=lambda each: each.lift, default=None)
        lifts = "" if strongest is None else f"; of its labels {strongest}"
        if not self.chosen:
            adds = f"as one more it would add {number(self.last, signed=True)}"
            return f"{said_title(self.labels)} is not chosen, {self.why_not}; {adds}, {holds}{lifts}"
        how = "pinned" if self.pinned else f"chosen as number {self.rank:,} of {self.chosen_cells:,}"
        turn = number(0.0 if self.in_turn is None else self.in_turn, signed=True)
        adds = f"{turn} in its turn, {number(self.alone, signed=True)} alone, {number(self.last, signed=True)} last"
        only = f"{counted(self.only, 'object')} no other chosen cell holds"
        return f"{said_title(self.labels)} is {how}, for it adds {adds}; {holds}, and {only}{lifts}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        found: dict[str, Any] = {"kind": "cell", **as_plain(self), "sentence": self.sentence}
        return found


@dataclass(frozen=True)
class AddedCell:
    """What a chosen cell brought in its turn: new objects, and what these add above and below.

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
class ValueAccount(Shown):
    """What every part of a network adds to its value; ``str`` is one sentence.

    ``gain0`` and ``cost0`` are there without any cell. ``pinned_gain`` and ``pinned_cost`` come with the objects
    that are pinned, then those of the pinned cells together, and ``gain`` and ``cost`` with the objects that a method
    chose without cells; these and the pinned objects are so many as ``objects`` says. With those of the other ``cells``
    added in order they are the sums whose ratio, or for ``ratio`` False whose upper sum, is the value, to the bit
    (:meth:`total`). Of a ``method`` that chooses no cells (``chooses_cells``) is told how many objects it ``brought``,
    and how many are ``pinned``: it does not look at the value. ``picked``
    says that the cells were chosen beforehand, because they tell objects apart. ``note`` is what the selection says of
    itself, such as why no cell is chosen; it stands in the sentence.
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

    def __repr__(self) -> str:
        if not self.chooses_cells:
            return f"ValueAccount({counted(self.brought, 'object')} by {plain(self.method)}, no cells)"
        return f"ValueAccount({self.objective} {number(self.value)} of {counted(len(self.cells), 'cell')})"

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        if not self.chooses_cells:
            return self._brought()
        said = f"{plain(self.objective)} is {number(self.value)}"
        if not self.cells:
            alone = f", and {counted(self.pinned, 'object')} pinned" if self.pinned else ""
            return f"{said}: {self.note or 'no cell is chosen'}{alone}"
        if self.picked:
            return (
                f"{counted(len(self.cells), 'cell')} at levels of their own, chosen because they tell objects apart "
                f"and not by the {plain(self.objective)}, which is {number(self.value)}"
            )
        most = max(self.cells, key=lambda each: each.added)
        return (
            f"{said}, by {counted(len(self.cells), 'cell')}, of which {said_title(most.labels)} added most "
            f"({number(most.added, signed=True)})"
        )

    def _brought(self) -> str:
        """Return what brought the objects of a network whose method chooses no cells."""
        pins = f", and {counted(self.pinned, 'object')} {'is' if self.pinned == 1 else 'are'} pinned"
        beside = pins if self.pinned else ""
        if not self.brought:
            return f"the method {plain(self.method)} brought no objects and chooses no cells{beside}"
        were = "was" if self.brought == 1 else "were"
        return (
            f"{counted(self.brought, 'object')} {were} brought by the method {plain(self.method)}, which chooses no "
            f"cells{beside}"
        )

    def total(self) -> float:
        """Return the value that all parts add up to."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {"kind": "account", **as_plain(self), "sentence": self.sentence}
