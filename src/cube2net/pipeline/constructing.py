"""The network of a query, in one call: what the method brings, in the form asked for."""

from __future__ import annotations

from typing import Any

from cube2net.compiling import tells_compiling
from cube2net.errors import ParameterError
from cube2net.interfaces import Method
from cube2net.pipeline.answers import brings_objects, network_of
from cube2net.pipeline.auto import Auto
from cube2net.pipeline.choosing import choose
from cube2net.pipeline.planning import Asked, Levels, plan
from cube2net.pipeline.worth import Valued
from cube2net.progress import Progress, silent
from cube2net.records import Cube, Network, Query


@tells_compiling
def construct(
    cube: Cube,
    query: Asked,
    method: str | Method | Auto = "greedy",
    m: int | None = None,
    objective: Valued | None = None,
    form: str | None = None,
    seed: int = 0,
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
    bound: bool = False,
    progress: Progress = silent,
) -> Network:
    """Return a small network around a query; without more words, the one that helps the next step.

    That is, for a query Q: cells as nodes, chosen so that three of them hold every object of Q, as far as cells go that
    serve two objects or more; the \\|Q\\| objects nearest to Q by links; and weights by which cells speak where links
    are silent. It is sized by the query, at most 3·\\|Q\\| nodes. The paper's answer is ``form="objects"``: the objects
    of 20 cells.

    Parameters
    ----------
    cube, query
        Objects by id, by name or by row, a mapping that gives them labels, or a :class:`Query`.
    method
        A name or an object of your own with ``select``; ``"auto"`` (or :class:`Auto`) tries several networks.
    m
        At most so many cells. Without a number as many as serve the query for the objective ``cover``, and else 20.
    objective
        A name, an object of your own, or a function ``f(objects, query)`` of the row numbers brought. Without one,
        ``"cover"`` in the forms woven and cells for greedy and exact, and else the paper's ``"jaccard"``.
    form
        ``"woven"`` (the query, cells and near objects), ``"cells"`` (the query and cells), ``"objects"`` (the query and
        all objects of the cells) or ``"both"``; see :class:`cube2net.records.Form`. Without one, ``"woven"`` for
        methods that choose cells, and ``"objects"`` for others.
    levels
        Which cells there are: ``"full"`` (the cube's own), ``"one"`` (one label each, ⟨∗, ACL, ∗⟩), or the names of
        the levels that stay, such as ``"venue,topic"``; see :func:`cube2net.cuboid`.
    near, near_weight
        Of the form ``"woven"``: how many objects nearest by links, as many as Q has without a number, and what the
        weight of a link is multiplied by for each end outside Q; without a number, the less the better linked.
    membership, trust
        What links between an object and its cells weigh: ``"need"``, ``"even"``, ``"share"`` or ``"unit"``; and how
        much cells are trusted against links, above 0 and up to 1: without a number, as far as the two agree.
    keep
        ``"linked"`` leaves out objects brought that have no link to the network, ``"all"`` keeps them; without a word
        it is ``"linked"`` where the objective sees links.
    max_nodes, max_links
        Limits on the network's size; links can be limited in the form ``"objects"`` only.
    prefix
        ``"best"`` cuts the cells where the value was highest.
    bound
        Also find an upper bound on the value of any choice of m cells, where one can be found.
    progress
        Told how far long work is, and how large a large network will be before it is made.

    Returns
    -------
    Network
        Its ``selection`` has the cells in the order chosen, and a ``note`` where there is something to say. The first
        answer of a process also pays for loading the compiled kernels.
    """
    options: dict[str, Any] = {"m": m, "objective": objective, "form": form, "near": near, "near_weight": near_weight}
    options |= {"membership": membership, "trust": trust, "keep": keep, "max_nodes": max_nodes, "max_links": max_links}
    if method == "auto" or isinstance(method, Auto):
        defaults = {"levels": "full", "prefix": "all", "bound": False}
        for name, value in {**options, "levels": levels, "prefix": prefix, "bound": bound}.items():
            if value != defaults.get(name):
                raise ParameterError(f"'auto' chooses what to bring by itself, and {name} is {value!r}: leave it out")
        asked = query if isinstance(query, Query) else cube.query(query)
        return (Auto() if isinstance(method, str) else method).construct(cube, asked, seed=seed, progress=progress)
    wanted = plan(cube, query, method, levels=levels, prefix=prefix, **options)
    chosen = choose(wanted, seed=seed, bound=bound, progress=progress)
    if form is None and max_nodes is not None and wanted.form.has_cells and brings_objects(chosen.selection):
        # A method of one's own that chooses no cells has to know the limit on its objects.
        wanted = plan(cube, query, method, levels=levels, prefix=prefix, **{**options, "form": "objects"})
        chosen = choose(wanted, seed=seed, bound=bound, progress=progress)
    return network_of(wanted, chosen, default=form is None, progress=progress)
