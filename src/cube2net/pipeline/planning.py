"""What a network is to be, with nothing left open: the words of a user, and the defaults where they are silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cube2net.cube import cuboid
from cube2net.errors import ParameterError, QueryError, whole_number
from cube2net.interfaces import LinkObjective, Method, Objective
from cube2net.pipeline.registries import METHODS, chooses_cells, made
from cube2net.pipeline.worth import Valued, objective_of
from cube2net.records import Budget, Cube, Form, Query
from cube2net.select import Cover, Cube2net, Exact, Greedy

Asked = Query | Iterable[str] | Iterable[int] | Mapping[str, str]
Levels = str | Sequence[str]

PAPER_CELLS = 20
"""How many cells are chosen where nobody says and the objective does not size itself by the query."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A question with nothing left open.

    ``cube`` has the cells of the ``levels`` asked for. ``budget`` is the method's; ``max_nodes`` is the network's,
    cells included. ``sized`` says that the query decides how many cells there are.
    """

    cube: Cube
    query: Query
    method: Method
    objective: Objective | LinkObjective
    form: Form
    budget: Budget
    levels: Levels = "full"
    max_nodes: int | None = None
    sized: bool = False


def plan(
    cube: Cube,
    query: Asked,
    method: str | Method = "greedy",
    m: int | None = None,
    objective: Valued | None = None,
    form: str | None = None,
    *,
    levels: Levels = "full",
    near: int | None = None,
    near_weight: float | None = None,
    membership: str | None = None,
    trust: float | None = None,
    keep: str | None = None,
    max_nodes: int | None = None,
    max_links: int | None = None,
    prefix: str = "all",
) -> Plan:
    """Return the plan of a network; see :func:`construct` for what the words mean and for the defaults."""
    asked = query if isinstance(query, Query) else cube.query(query)
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    chooser: Method = made(method, METHODS, Method, "method", {})
    kind = form or default_form(chooser)
    named = default_objective(chooser, kind) if objective is None else objective
    view = cube if levels == "full" else cuboid(cube, levels)
    # Of cells at higher levels an object is in few, and large ones would be enough: there every time counts.
    worth = Cover(r=None) if named == "cover" and view.cells.counts is not None else objective_of(named)
    if keep is None and isinstance(worth, LinkObjective):
        keep = "linked"
    shape = form_of(kind, near=near, near_weight=near_weight, membership=membership, trust=trust, keep=keep)
    if shape.has_cells and max_links is not None:
        raise ParameterError(f"max_links limits the form 'objects', got the form {kind!r}: limit max_nodes instead")
    sized = m is None and isinstance(worth, Cover)
    most = (len(asked) if sized else PAPER_CELLS) if m is None else m
    max_nodes = inside = whole_number("max_nodes", max_nodes, 0, or_none=True, what="nodes, or None")
    if max_nodes is not None and not shape.has_brought:
        most, inside = min(most, max(0, max_nodes - len(asked))), None
    budget = Budget(m=most, max_nodes=inside, max_links=max_links, prefix=prefix)
    return Plan(view, asked, chooser, worth, shape, budget, levels, max_nodes, sized)


def default_form(method: Method) -> str:
    """Return the form of a method's network where nobody says: woven, or the paper's where cells are not chosen."""
    paper = isinstance(method, Cube2net) and method.preset != "default"
    return "woven" if chooses_cells(method) and not paper else "objects"


def default_objective(method: Method, form: str) -> str:
    """Return what a choice is worth where nobody says: cover where cells are nodes and the method counts repeats."""
    return "cover" if form in ("cells", "woven") and counts_repeats(method) else "jaccard"


def counts_repeats(method: Method) -> bool:
    """Return whether a method chooses cells for the objective ``cover``; ``random`` only has a value for it."""
    return isinstance(method, Exact) or (isinstance(method, Greedy) and method.by == "value")


def form_of(kind: str, **given: Any) -> Form:
    """Return a form; what was given and means nothing in it is refused."""
    form = Form(kind, **{name: value for name, value in given.items() if value is not None})
    for name in ("membership", "trust"):
        if given.get(name) is not None and not form.has_cells:
            raise ParameterError(f"{name} is about links to cells, and the form 'objects' has no cells as nodes")
    if given.get("trust") is not None and form.kind != "woven" and form.membership != "need":
        raise ParameterError(f"trust weighs memberships by need, got the membership {form.membership!r}")
    for name in ("near", "near_weight"):
        if given.get(name) is not None and kind != "woven":
            raise ParameterError(f"{name} is about the near objects of the form 'woven', got the form {kind!r}")
    return form
