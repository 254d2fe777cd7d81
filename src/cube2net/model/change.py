"""The results of changing a network, and the costs of pins and bans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cube2net._util.display import Shown
from cube2net.errors import quote_few, quote_unsafe
from cube2net.model.names import Node
from cube2net.model.network import Network

PIN, BAN = "pin", "ban"
# Values that differ by no more than this share are the same but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Price:
    """What a pin or a ban costs: the value without it less the value with it, all other steering kept.

    ``kind`` is ``"pin"`` or ``"ban"`` and ``title`` the cell or object. ``price`` is below 0 where it pays, which a
    method without a proof may let happen; it is None where a method brings objects that nothing values. ``missed``
    are the cells (of such a method: objects) that would be there without it, and ``instead`` those that are there
    because of it. ``needed`` says that without it the pins would not fit: then there is no network without it, and no
    price.

    >>> print(Price("pin", "⟨2019 · ACL · parsing⟩", value=0.1, without=0.104))
    keeping ⟨2019 · ACL · parsing⟩ costs 0.004
    >>> print(Price("ban", "Ada", missed=("Ada",), instead=("Ben",)))
    leaving out Ada brings 'Ben' in its place
    >>> print(Price("ban", "Ada", value=0.1, needed=True))
    leaving out Ada is necessary for the pins to fit
    """

    kind: str
    title: str
    value: float | None = None
    without: float | None = None
    missed: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    needed: bool = False

    def __repr__(self) -> str:
        return f"Price({self.sentence})"

    def __str__(self) -> str:
        return self.sentence

    @property
    def price(self) -> float | None:
        """The value without it less the value with it."""
        if self.value is None or self.without is None:
            return None
        price = self.without - self.value
        return 0.0 if abs(price) <= ROUNDING * max(abs(self.value), abs(self.without)) else price

    @property
    def sentence(self) -> str:
        """The price in one sentence."""
        what = f"{'keeping' if self.kind == PIN else 'leaving out'} {self.title}"
        if self.needed:
            return f"{what} is necessary for the pins to fit"
        price = self.price
        if price is not None:
            return f"{what} {'pays' if price < 0 else 'costs'} {_format_amount(abs(price)) if price else 'nothing'}"
        if not (self.missed or self.instead):
            return f"{what} changes nothing"
        if self.kind == PIN:
            return f"{what} displaces {quote_few(self.missed) if self.missed else 'no object'}"
        return f"{what} brings {quote_few(self.instead) if self.instead else 'no object'} in its place"

    def to_dict(self) -> dict[str, Any]:
        """Return the price as JSON has it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "price": self.price,
            "value": self.value,
            "without": self.without,
            "missed": list(self.missed),
            "instead": list(self.instead),
            "needed": self.needed,
            "sentence": self.sentence,
        }


def _format_amount(number: float) -> str:
    """Return a number with three digits that say something; whole ones in full.

    >>> _format_amount(0.0041249), _format_amount(1234.0)
    ('0.00412', '1,234')
    """
    return f"{number:,.0f}" if number == int(number) else f"{number:.3g}"


NAMED = 2


@dataclass(frozen=True)
class NamedNode:
    """A cell or an object of a cube with what it is called: ``key`` is its labels, or its id as the cube has it."""

    node: Node
    title: str
    key: tuple[str, ...] | str | int

    def __repr__(self) -> str:
        return f"NamedNode({self.title})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        if self.node.is_cell:
            return {"kind": self.node.kind, "labels": list(self.key) if isinstance(self.key, tuple) else [self.key]}
        return {"kind": self.node.kind, "id": self.key, "name": self.title}


Nodes = tuple[NamedNode, ...]


@dataclass(frozen=True, eq=False)
class Change(Shown):
    """A network made anew without some cells and objects (``without``), with others (``with_``), or both.

    ``before`` and ``value`` are what the choice was worth and is worth now, by the ``objective``; ``merely`` is what
    the old choice is worth where this is left out, or put in, and nothing else is chosen. ``entered`` and ``left`` are
    the cells and objects that came in and went, those asked for among them. ``bound_before`` and ``bound`` are upper
    bounds on any choice before and now, None where none is known; ``proven_before`` and ``proven`` say that no choice
    is worth more. ``known`` are those of the cells and objects named that were out, or in, already.
    """

    network: Network
    objective: str
    before: float
    value: float
    merely: float
    without: Nodes = ()
    with_: Nodes = ()
    known: Nodes = ()
    entered: Nodes = ()
    left: Nodes = ()
    bound_before: float | None = None
    bound: float | None = None
    proven_before: bool = False
    proven: bool = False

    def __repr__(self) -> str:
        return f"Change({self.sentence})"

    def __str__(self) -> str:
        return self.sentence

    @property
    def changed(self) -> bool:
        """Whether a cell or an object came or went, or the choice is worth more or less."""
        return bool(self.entered or self.left) or not math.isclose(self.before, self.value, rel_tol=ROUNDING)

    @property
    def sentence(self) -> str:
        """What has changed, in one sentence."""
        if not self.changed:
            return f"{self._said_of_known()}: nothing changes"
        worth = [self._said_of_value()] if self._has_cells else []
        parts = [*self._said_of_places(), *self._said_of_objects()]
        if self._has_cells and self._text(self.merely) != self._text(self.value):
            merely = "merely put in" if self.with_ else "with nothing chosen anew"
            parts.append(f"{merely} it would be {self._text(self.merely)}")
        told = ", ".join(parts) or "nothing else changes"
        return f"{' '.join([self._describe_request(), *worth])}: {told}{self._said_of_proof()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON has it; of the network, how many nodes and links it has.

        Where no cells are chosen there is no value, nor what it would be told by: None stands for both.
        """
        return {
            "sentence": self.sentence,
            "changed": self.changed,
            **{
                word: [each.to_dict() for each in nodes]
                for word, nodes in {"without": self.without, "with": self.with_, "known": self.known}.items()
            },
            **{
                word: getattr(self, word) if self._has_cells else None
                for word in ("objective", "before", "value", "merely")
            },
            "bound_before": self.bound_before,
            "bound": self.bound,
            "proven_before": self.proven_before,
            "proven": self.proven,
            "entered": [each.to_dict() for each in self.entered],
            "left": [each.to_dict() for each in self.left],
            "nodes": len(self.network),
            "links": len(self.network.source),
        }

    def _describe_request(self) -> str:
        words = {"without": self.without, "with": self.with_}
        return " and ".join(f"{word} {_list_titles(nodes)}" for word, nodes in words.items() if nodes)

    def _said_of_known(self) -> str:
        out, inside = ([each for each in nodes if each in self.known] for nodes in (self.without, self.with_))
        said = [f"{_list_titles(out)} {_are(out)} not in the network"] if out else []
        said += [f"{_list_titles(inside)} {_are(inside)} in the network already"] if inside else []
        return ", ".join(said)

    def _said_of_value(self) -> str:
        before, now = self._text(self.before), self._text(self.value)
        if before == now:
            return f"the {self.objective} stays {now}"
        return f"the {self.objective} {'falls' if self.value < self.before else 'rises'} from {before} to {now}"

    @property
    def _has_cells(self) -> bool:
        return len(self.network.labels) > 0 or any(each.node.is_cell for each in self.left)

    def _said_of_places(self) -> list[str]:
        """Return which cells came and went, but for those asked for."""
        asked = {*self.without, *self.with_}
        came, went = (
            [each for each in nodes if each.node.is_cell and each not in asked] for nodes in (self.entered, self.left)
        )
        places = [each for each in self.without if each.node.is_cell and each in self.left]
        said = []
        if places and not self.with_:
            its = "its place" if len(places) == 1 else "their places"
            said.append(f"{_list_titles(came)} {_verb(came, 'take')} {its}" if came else f"nothing takes {its}")
        elif came:
            said.append(f"{_list_titles(came)} {_verb(came, 'come')} in")
        if went:
            said.append(
                f"{_list_titles(went)} {_verb(went, 'leave')}" if len(went) == 1 else f"{len(went):,} cells leave"
            )
        return said

    def _said_of_objects(self) -> list[str]:
        """Return how many objects came and went, but for those asked for."""
        asked = {*self.without, *self.with_}
        what = "neighbours" if self.network.form == "hybrid" else "objects"
        said = []
        for nodes, verb, way in ((self.left, "leave", ""), (self.entered, "come", " in")):
            objects = [each for each in nodes if not each.node.is_cell and each not in asked]
            if len(objects) == 1:
                said.append(f"{_list_titles(objects)} {verb}s{way}")
            elif objects:
                said.append(f"{len(objects):,} {what} {verb}{way}")
        return said

    def _said_of_proof(self) -> str:
        if self.proven:
            return f"; {'still' if self.proven_before else 'now'} proven best"
        if not self.proven_before:
            return ""
        return "; no longer proven best" + ("" if self.bound is None else f", at most {self._text(self.bound)}")

    def _text(self, value: float) -> str:
        return f"{value:,.0f}" if self.objective == "cover" else f"{value:.{self._digits}f}"

    @property
    def _digits(self) -> int:
        """How many digits tell the values apart, four at least."""
        values = {self.before, self.value, self.merely}
        return next((n for n in range(4, 9) if len({f"{one:.{n}f}" for one in values}) == len(values)), 4)


def _list_titles(nodes: Sequence[NamedNode]) -> str:
    """Return what some nodes are called, the first of many."""
    titles = [quote_unsafe(each.title) for each in nodes[:NAMED]]
    more = len(nodes) - NAMED
    if more > 0:
        return f"{', '.join(titles)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(titles[:-1]), *titles[-1:]]))


def _verb(nodes: Sequence[NamedNode], verb: str) -> str:
    return verb if len(nodes) > 1 else f"{verb}s"


def _are(nodes: Sequence[NamedNode]) -> str:
    return "are" if len(nodes) > 1 else "is"
