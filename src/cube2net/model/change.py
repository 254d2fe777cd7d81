"""The results of changing a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cube2net.errors import quote_unsafe
from cube2net.model.network import Network
from cube2net.model.node_names import Node
from cube2net.model.results import Result, make_plain, pick_plain
from cube2net.model.selection import ROUNDING

MAX_TITLES = 2


@dataclass(frozen=True)
class NamedNode:
    """A cell or an object of a cube and its title; ``key`` is its labels, or its id in the cube."""

    node: Node
    title: str
    key: tuple[str, ...] | str | int

    def __repr__(self) -> str:
        return f"NamedNode({self.title})"

    def to_dict(self) -> dict[str, Any]:
        """Return the node as JSON has it."""
        if self.node.is_cell:
            return {"kind": self.node.kind, "labels": list(self.key) if isinstance(self.key, tuple) else [self.key]}
        return {"kind": self.node.kind, "id": self.key, "name": self.title}


Nodes = tuple[NamedNode, ...]


@dataclass(frozen=True, eq=False)
class Change(Result):
    """A network made again without some cells and objects (``without``), with others (``with_``), or both.

    ``before`` and ``value`` are the values of the selection before and now, by the ``objective``; ``merely`` is that of
    the old selection if only these are removed or added. ``entered`` and ``left`` are the cells and objects that came
    and went, those asked for among them. ``bound_before`` and ``bound`` are upper bounds on any selection before and
    now, None if unknown; ``proven_before`` and ``proven`` say that no selection is better. ``known`` are those of the
    nodes asked for that were already out, or in.
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

    JSON_NAMES = "bound_before bound proven_before proven entered left"

    def __repr__(self) -> str:
        return f"Change({self.sentence})"

    @property
    def changed(self) -> bool:
        """Whether a cell or an object came or went, or the value of the selection changed."""
        return bool(self.entered or self.left) or not math.isclose(self.before, self.value, rel_tol=ROUNDING)

    @property
    def sentence(self) -> str:
        """The change in one sentence."""
        if not self.changed:
            return f"{self._describe_known()}: nothing changes"
        before, now, merely = (self._format_value(value) for value in (self.before, self.value, self.merely))
        words = {"without": self.without, "with": self.with_}
        head = " and ".join(f"{word} {_list_titles(nodes)}" for word, nodes in words.items() if nodes)
        parts = [*self._describe_cells(), *self._describe_objects()]
        if self._has_cells:
            verb = "falls" if self.value < self.before else "rises"
            head += f" the {self.objective} " + (f"stays {now}" if before == now else f"{verb} from {before} to {now}")
            if merely != now:
                parts.append(f"{'merely put in' if self.with_ else 'with nothing chosen anew'} it would be {merely}")
        return f"{head}: {', '.join(parts) or 'nothing else changes'}{self._describe_proof()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON has it, with the numbers of nodes and links of the network.

        The objective and its values are None if no cells are selected.
        """
        worth = pick_plain(self, "objective before value merely")
        return {
            "sentence": self.sentence,
            "changed": self.changed,
            "without": make_plain(self.without),
            "with": make_plain(self.with_),
            "known": make_plain(self.known),
            **(worth if self._has_cells else dict.fromkeys(worth)),
            **super().to_dict(),
            "nodes": len(self.network),
            "links": len(self.network.source),
        }

    def _describe_known(self) -> str:
        out, inside = ([each for each in nodes if each in self.known] for nodes in (self.without, self.with_))
        parts = [f"{_list_titles(out)} {'is' if len(out) == 1 else 'are'} not in the network"] if out else []
        if inside:
            parts.append(f"{_list_titles(inside)} {'is' if len(inside) == 1 else 'are'} in the network already")
        return ", ".join(parts)

    @property
    def _has_cells(self) -> bool:
        return len(self.network.labels) > 0 or any(each.node.is_cell for each in self.left)

    def _describe_cells(self) -> list[str]:
        """Return which cells came and went, except those asked for."""
        asked = {*self.without, *self.with_}
        came, went = (
            [each for each in nodes if each.node.is_cell and each not in asked] for nodes in (self.entered, self.left)
        )
        places = [each for each in self.without if each.node.is_cell and each in self.left]
        parts = []
        if places and not self.with_:
            its = "its place" if len(places) == 1 else "their places"
            parts.append(f"{_list_titles(came)} take{'s' * (len(came) == 1)} {its}" if came else f"nothing takes {its}")
        elif came:
            parts.append(f"{_list_titles(came)} come{'s' * (len(came) == 1)} in")
        if went:
            parts.append(f"{_list_titles(went)} leaves" if len(went) == 1 else f"{len(went):,} cells leave")
        return parts

    def _describe_objects(self) -> list[str]:
        """Return how many objects came and went, except those asked for."""
        asked = {*self.without, *self.with_}
        what = "neighbours" if self.network.form == "hybrid" else "objects"
        parts = []
        for nodes, verb, way in ((self.left, "leave", ""), (self.entered, "come", " in")):
            objects = [each for each in nodes if not each.node.is_cell and each not in asked]
            if len(objects) == 1:
                parts.append(f"{_list_titles(objects)} {verb}s{way}")
            elif objects:
                parts.append(f"{len(objects):,} {what} {verb}{way}")
        return parts

    def _describe_proof(self) -> str:
        if self.proven:
            return f"; {'still' if self.proven_before else 'now'} proven best"
        if not self.proven_before:
            return ""
        return "; no longer proven best" + ("" if self.bound is None else f", at most {self._format_value(self.bound)}")

    def _format_value(self, value: float) -> str:
        """Return a value with as many digits as tell the values of the change apart, four at least."""
        if self.objective == "cover":
            return f"{value:,.0f}"
        values = {self.before, self.value, self.merely}
        digits = next((n for n in range(4, 9) if len({f"{each:.{n}f}" for each in values}) == len(values)), 4)
        return f"{value:.{digits}f}"


def _list_titles(nodes: Sequence[NamedNode]) -> str:
    """Return the titles of the first nodes and the number of others."""
    titles = [quote_unsafe(each.title) for each in nodes[:MAX_TITLES]]
    more = len(nodes) - MAX_TITLES
    return f"{', '.join(titles)} and {more:,} more" if more > 0 else " and ".join(titles)
