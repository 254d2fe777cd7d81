"""The network of a query, in one call: what the method brings, in the form asked for."""

from __future__ import annotations

from cube2net.errors import ParameterError
from cube2net.interfaces import Method, Progress
from cube2net.pipeline.answers import check_form, network_of
from cube2net.pipeline.auto import Auto
from cube2net.pipeline.choosing import Asked, choose
from cube2net.pipeline.worth import Valued
from cube2net.records import Budget, Cube, Network, Query

DEFAULTS = {"m": 20, "objective": "jaccard", "form": "objects", "prefix": "all", "bound": False}


def construct(
    cube: Cube,
    query: Asked,
    method: str | Method | Auto = "greedy",
    m: int = 20,
    objective: Valued = "jaccard",
    form: str = "objects",
    seed: int = 0,
    *,
    max_nodes: int | None = None,
    max_links: int | None = None,
    prefix: str = "all",
    keep: str | None = None,
    membership: str | None = None,
    near: int | None = None,
    bound: bool = False,
    progress: Progress | None = None,
) -> Network:
    """Return the network of a query: what the method brings, and all links among it.

    ``method`` and ``objective`` are names or objects of your own; an objective may also be a function
    ``f(objects, query)`` of the row numbers brought. ``form`` is ``"objects"`` (the query and the objects brought),
    ``"cells"`` (the query and the chosen cells as nodes), ``"both"``, or ``"woven"``: the query, the chosen cells as
    nodes, and the ``near`` objects nearest by links, as many as cells without a number. ``membership`` says what a
    link between an object and its cell weighs: ``"unit"`` (1), ``"share"`` (a cell's links weigh 1 together) or
    ``"even"`` (an object's weigh together half as much as the links of a typical object of the query), the latter by
    default where the form is ``"woven"``. ``max_nodes`` and ``max_links`` limit the form ``"objects"``; with cells as
    nodes ``m`` is the limit. ``keep="linked"`` leaves out objects brought that have no link to the network, ``"all"``
    keeps them; without a word it is ``"linked"`` where the objective sees links. ``bound=True`` also finds an upper
    bound on the value of any choice of m cells, where one can be found. A method that takes long tells its
    ``progress``.

    ``method="auto"`` chooses method, objective, form and m by the labels that the query has, or part of it: see
    :class:`Auto`, an object of which has its parameters. Then nothing but the seed and the progress is to be given.

    Where no cell can help, the network is the query alone, and ``network.selection.note`` says why. The first
    answer of a process also pays for loading the compiled kernels.
    """
    if method == "auto" or isinstance(method, Auto):
        given = {"m": m, "objective": objective, "form": form, "max_nodes": max_nodes, "max_links": max_links}
        given |= {"prefix": prefix, "keep": keep, "membership": membership, "near": near, "bound": bound}
        for name, value in given.items():
            if value != DEFAULTS.get(name):
                raise ParameterError(f"'auto' chooses what to bring by itself, and {name} is {value!r}: leave it out")
        asked = query if isinstance(query, Query) else cube.query(query)
        return (Auto() if isinstance(method, str) else method).construct(cube, asked, seed=seed, progress=progress)
    check_form(form, keep, membership, near)
    if form != "objects" and (max_nodes is not None or max_links is not None):
        raise ParameterError(
            f"max_nodes and max_links limit the form 'objects', got the form {form!r}: limit m instead"
        )
    budget = Budget(m=m, max_nodes=max_nodes, max_links=max_links, prefix=prefix)
    chosen = choose(cube, query, method, objective, budget, seed=seed, bound=bound, progress=progress)
    return network_of(cube, chosen, form, keep=keep, membership=membership, near=near)
