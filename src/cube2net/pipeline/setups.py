"""Which ways to make a network are compared: the short list, or every combination of what is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.interfaces import Method
from cube2net.pipeline.planning import PAPER_CELLS, counts_repeats
from cube2net.pipeline.registries import METHODS, chooses_cells, made
from cube2net.records import Setup
from cube2net.records.form import FORMS, MEMBERSHIPS
from cube2net.select import OBJECTIVES, Random

AS_LARGE = ("pagerank", "hops")
"""Methods that are also asked for as many nodes as every choice of cells has."""

DEFAULT = Setup(method="greedy", objective="cover", form="woven")
"""The network that ``construct`` makes when nobody says more."""

SHORT_LIST = (
    DEFAULT,
    Setup(method="greedy", objective="cover", form="cells"),
    Setup(method="greedy", objective="cover", form="woven", levels="one"),
    Setup(method="greedy", objective="jaccard", form="objects", m=20),
)
"""What is compared with the query alone when nobody says more: the default, without near objects, of cells with one
label each, and the paper's form."""

OBJECTIVES_COMPARED = ("cover", "jaccard", "coverage", "linked")


def setups_of(
    methods: Mapping[str, str | Method],
    objectives: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    m: Sequence[int] | None = None,
    *,
    levels: Sequence[str] | None = None,
    near: Sequence[int] | None = None,
    memberships: Sequence[str] | None = None,
    as_large: bool | Sequence[str] = True,
) -> list[Setup]:
    """Return the setups to compare, the query alone first; those that are as large as another come behind it.

    Random cells are chosen for no objective, and stand under the first one. Without objectives, cover is among them for
    methods that can count repeats, where cells are nodes; without m the query decides how many cells of it there are.

    >>> [setup.title for setup in setups_of({"greedy": "greedy"}, ["jaccard"], ["cells"], [20])][:3]
    ['none', 'greedy · jaccard · cells', 'pagerank, as large as greedy · jaccard · cells · m 20']
    """
    given = (("objective", objectives, OBJECTIVES), ("form", forms, FORMS), ("membership", memberships, MEMBERSHIPS))
    for what, names, allowed in given:
        for name in names or ():
            if name not in allowed:
                raise unknown(what, name, allowed)
    if any(value is not None and not len(value) for value in (objectives, forms, m, levels, near, memberships)):
        raise ParameterError("a comparison needs at least one number of cells, one objective and one form")
    setups = [Setup(method="none")]
    for name, method in methods.items():
        made(method, METHODS, Method, "method", {})  # says where it cannot run here, before the first trial is made
        if not chooses_cells(method):
            setups += [Setup(method=name)] if name != "none" else []
            continue
        worths = objectives or _objectives_of(method)
        for objective in worths[:1] if method == "random" or isinstance(method, Random) else worths:
            for form in forms or FORMS:
                if (objectives is None or forms is None) and objective == "cover" and form in ("objects", "both"):
                    continue
                base = Setup(method=name, objective=objective, form=form)
                setups += _varied(base, m, levels, near, memberships)
    return with_peers(setups, as_large=as_large)


def _objectives_of(method: str | Method) -> Sequence[str]:
    """Return the objectives that a method is compared for when nobody names any."""
    counts = counts_repeats(made(method, METHODS, Method, "method", {}))
    return OBJECTIVES_COMPARED if counts else OBJECTIVES_COMPARED[1:]


def _varied(
    base: Setup,
    m: Sequence[int] | None,
    levels: Sequence[str] | None,
    near: Sequence[int] | None,
    memberships: Sequence[str] | None,
) -> list[Setup]:
    """Return a setup for every number of cells, levels, number of near objects and membership that it can have."""
    counts = (0,) if m is None and base.objective == "cover" else m or (PAPER_CELLS,)
    fields: dict[str, list[Any]] = {
        "m": [whole_number("m", count, 1) if m is not None else count for count in counts],
        "levels": ["" if each == "full" else each for each in levels or ("full",)],
        "near": [whole_number("near", each, 0) for each in near] if near and base.form == "woven" else [None],
        "membership": list(memberships) if memberships and base.form != "objects" else [""],
    }
    return [replace(base, **dict(zip(fields, each, strict=True))) for each in product(*fields.values())]


def with_peers(setups: Sequence[Setup], *, as_large: bool | Sequence[str]) -> list[Setup]:
    """Return setups once each, and behind every choice of cells the methods that are to be as large as it."""
    peers = (AS_LARGE if as_large else ()) if isinstance(as_large, bool) else as_large
    for peer in peers:
        if peer not in AS_LARGE:
            raise unknown("method that can be as large as another", peer, AS_LARGE)
    found = []
    for setup in setups:
        found += [setup, *(Setup(method=peer, like=setup.name) for peer in peers if setup.objective)]
    return list(dict.fromkeys(found))


def several(given: Any) -> list[Any] | None:
    """Return one number or text, or several, as a list without repeats; None stays."""
    if given is None:
        return None
    return list(dict.fromkeys([given] if isinstance(given, str) or not isinstance(given, Iterable) else given))
