"""What a user pins and bans becomes what is settled before a method chooses; what cannot be is said."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, quoted
from cube2net.records import Budget, Cube, Form, Node, Query, Scope, Steering
from cube2net.records.node_names import title_of
from cube2net.records.scope import OPEN
from cube2net.select.contract import brought


def scope_of(cube: Cube, query: Query, steering: Steering, bringable: Array | None = None) -> Scope:
    """Return what a steering settles: what is in before a method chooses, and what may not come in.

    ``bringable`` marks the objects that may be brought at all; None is all of them. Raises, in one sentence that names
    it, where the steering is against itself or against the query. An object of the query is in as it is: pinning it
    changes nothing.
    """
    if not steering and bringable is None:
        return OPEN
    _check_apart(cube, query, steering)
    objects = np.array(steering.objects("pins"), dtype=np.int32)
    objects = np.setdiff1d(objects, query.objects) if len(objects) else objects
    banned = steering.objects("bans")
    barred = None
    if bringable is not None or banned:
        barred = np.zeros(len(cube.objects), dtype=bool) if bringable is None else ~bringable
        liked = np.setdiff1d(np.array(steering.like, dtype=np.int32), query.objects)
        for rows, how, what in ((objects, "pinned", "the pin"), (liked, "liked", "the like")):
            for row in rows[barred[rows]][:1]:
                raise ParameterError(
                    f"{_named(cube, Node('object', int(row)))} is {how}, and the view of the cube leaves it out: "
                    f"leave out {what}, or view the cube so that it holds it"
                )
        barred[banned] = True
        barred[query.objects] = False
    cells = steering.cells("pins")
    closed = np.array(sorted([*cells, *steering.cells("bans")]), dtype=np.int32)
    return Scope(cells=np.array(cells, dtype=np.int32), objects=objects, closed=closed, barred=barred)


def check_scope(
    cube: Cube, query: Query, scope: Scope, budget: Budget, form: Form, max_nodes: int | None, most: str = "m"
) -> None:
    """Raise, in one sentence that names it, where what is pinned does not fit what the network may hold.

    ``max_nodes`` is the network's, and ``most`` the name of what limits the number of cells.
    """
    if len(scope.cells) > budget.m:
        cells = "1 cell is" if len(scope.cells) == 1 else f"{len(scope.cells):,} cells are"
        leaves = f"{most} is {budget.m:,}" if most == "m" else f"{most} leaves room for {budget.m:,}"
        raise ParameterError(f"{cells} pinned, and {leaves}: pin fewer, or raise {most}")
    unlimited = max_nodes is None and budget.max_links is None
    if unlimited or not (len(scope.cells) or len(scope.objects)):
        return
    objects = np.union1d(scope.objects, brought(cube, scope)) if form.has_brought else scope.objects
    objects = np.setdiff1d(objects, query.objects)
    nodes = len(query) + len(objects) + (len(scope.cells) if form.has_cells else 0)
    if max_nodes is not None and nodes > max_nodes:
        raise ParameterError(
            f"the query and what is pinned are {nodes:,} nodes, and max_nodes is {max_nodes:,}: "
            "pin less, or raise max_nodes"
        )
    if budget.max_links is not None:
        from cube2net.kernels.budget_limits import NO_LIMIT, bring

        present = np.zeros(len(cube.objects), dtype=np.int8)
        together = np.concatenate([query.objects, objects])
        _, links = bring(together, present, cube.links.indptr, cube.links.indices, NO_LIMIT, NO_LIMIT - 1)
        if links > budget.max_links:
            raise ParameterError(
                f"the query and what is pinned have {links:,} links, and max_links is {budget.max_links:,}: "
                "pin less, or raise max_links"
            )


def check_no_cells(cube: Cube, steering: Steering, method: str) -> None:
    """Raise where a steering is about cells, and the method chooses none."""
    about = [("pinned", cell) for cell in steering.cells("pins")] + [
        ("banned", cell) for cell in steering.cells("bans")
    ]
    for what, cell in about:
        raise ParameterError(
            f"{title_of(cube, Node('cell', cell))} is {what}, and the method {method!r} chooses no cells: "
            "pin and ban objects, or use a method that does, such as 'greedy'"
        )
    for word in ("like", "unlike"):
        if getattr(steering, word):
            raise ParameterError(
                f"{word} says what cells are worth, and the method {method!r} chooses no cells: "
                "use a method that does, such as 'greedy'"
            )


def _check_apart(cube: Cube, query: Query, steering: Steering) -> None:
    """Raise where one thing is wanted in two ways that exclude each other."""
    pinned, banned = set(steering.objects("pins")), set(steering.objects("bans"))
    like, unlike = set(steering.like), set(steering.unlike)
    told = np.array(sorted(banned | unlike), dtype=np.int64)
    inside = set(told[np.isin(told, query.objects)].tolist()) if len(told) else set()
    _refuse(cube, set(steering.pins) & set(steering.bans), "is pinned and banned: it cannot be both")
    for rows, why in (
        (
            banned & inside,
            "is banned, and it is in the query, which always stays: leave it out of the query, or ask without it",
        ),
        (pinned & unlike, "is pinned and unliked: it cannot be both"),
        (like & unlike, "is liked and unliked: it cannot be both"),
        (like & banned, "is liked and banned: leave it out of one of them"),
        (unlike & inside, "is unliked, and it is in the query: leave it out of one of them"),
    ):
        _refuse(cube, {Node("object", int(row)) for row in rows}, why)


def _refuse(cube: Cube, nodes: set[Node], why: str) -> None:
    for node in sorted(nodes)[:1]:
        raise ParameterError(f"{_named(cube, node)} {why}")


def _named(cube: Cube, node: Node) -> str:
    title = title_of(cube, node)
    return title if node.is_cell else quoted(title)
