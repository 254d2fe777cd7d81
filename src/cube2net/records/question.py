"""What a network answers: all that was settled before a method chose, and the way to ask again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cube2net.array_types import Array
from cube2net.records.budget import Budget
from cube2net.records.cube import Cube
from cube2net.records.form import Form
from cube2net.records.ragged import LazyRagged
from cube2net.records.steering import Steering
from cube2net.records.weights import Worth

if TYPE_CHECKING:
    from cube2net.records.network import Network


@dataclass(frozen=True, eq=False)
class Question:
    """What a network was asked for; it knows the cube, so it stays in the process that asked.

    ``cube`` has the cells that could be chosen, those of other levels where such were asked for, and ``whole`` is the
    cube that was asked. ``worth`` says what every choice is worth. ``steering`` is what the user pinned, banned, liked
    and did not like. ``again(steering)`` gives the network that the same method makes under another steering, with
    everything else as it was, and ``again(steering, query)`` the one of another query.
    """

    cube: Cube
    whole: Cube
    worth: Worth
    budget: Budget
    form: Form
    method: str
    objective: str
    steering: Steering
    again: Callable[..., Network]

    def count_objects(self, cells: Array) -> list[int]:
        """Return how many objects of each of some cells may come into a network."""
        members, barred = self.cube.cells.members, self.budget.scope.barred
        lazy = isinstance(members, LazyRagged)
        rows = members.take_counted(cells)[0] if isinstance(members, LazyRagged) else members
        held = [rows[row] for row in (range(len(cells)) if lazy else cells.tolist())]
        return [len(row) if barred is None else int((~barred[row]).sum()) for row in held]

    def __repr__(self) -> str:
        return f"Question({self.method}, {self.objective}, of {self.cube!r})"
