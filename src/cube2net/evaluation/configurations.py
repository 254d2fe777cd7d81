"""Which ways to make a network are compared: the short list, or every combination of what is named; and their maker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Generic, Protocol, TypeVar

from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.model.comparison import Configuration
from cube2net.model.interfaces import Method, chooses_cells, counts_repeats, draws, heeds_objective
from cube2net.model.network import Network
from cube2net.model.selection import PAPER_CELLS, Budget
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS

AS_LARGE = ("pagerank", "hops")
"""Methods that are also asked for as many nodes as every choice of cells has."""

DEFAULT = Configuration(method="greedy", objective="cover", form="hybrid")
"""The network that ``construct`` makes when nobody says more."""

SHORT_LIST = (
    DEFAULT,
    Configuration(method="greedy", objective="cover", form="cells"),
    Configuration(method="greedy", objective="cover", form="hybrid", levels="one"),
    Configuration(method="greedy", objective="jaccard", form="objects", n_cells=20),
)
"""What is compared with the query alone when nobody says more: the default, without neighbours, of cells with one
label each, and the paper's form."""

OBJECTIVES_COMPARED = ("cover", "jaccard", "coverage", "linked")


def list_configurations(
    methods: Mapping[str, Method],
    objectives: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    n_cells: Sequence[int] | None = None,
    *,
    levels: Sequence[str] | None = None,
    n_neighbors: Sequence[int] | None = None,
    membership_weights: Sequence[str] | None = None,
    as_large: bool | Sequence[str] = True,
    known: Collection[str] = OBJECTIVES_COMPARED,
) -> list[Configuration]:
    """Return the configurations to compare, the query alone first; those that are as large as another come behind it.

    ``known`` are the objectives that there are. A method that heeds none, such as random cells, stands under the first
    one. Without objectives, cover is among them for methods that can count repeats, where cells are nodes; without m
    the query decides how many cells of it there are.
    """
    given = (
        ("objective", objectives, known),
        ("form", forms, FORMS),
        ("membership_weights", membership_weights, MEMBERSHIP_WEIGHTS),
    )
    for what, names, allowed in given:
        for name in names or ():
            if name not in allowed:
                raise unknown_name(what, name, allowed)
    if any(
        value is not None and not len(value)
        for value in (objectives, forms, n_cells, levels, n_neighbors, membership_weights)
    ):
        raise ParameterError("a comparison needs at least one number of cells, one objective and one form")
    configs = [Configuration(method="none")]
    for name, method in methods.items():
        if not chooses_cells(method):
            configs += [Configuration(method=name)] if name != "none" else []
            continue
        worths = objectives or OBJECTIVES_COMPARED[0 if counts_repeats(method) else 1 :]
        for objective in worths if heeds_objective(method) else worths[:1]:
            for form in forms or FORMS:
                if (
                    (objectives is None or forms is None)
                    and objective == "cover"
                    and form in ("objects", "cells+objects")
                ):
                    continue
                base = Configuration(method=name, objective=objective, form=form)
                configs += _varied(base, n_cells, levels, n_neighbors, membership_weights)
    return with_peers(configs, as_large=as_large)


def _varied(
    base: Configuration,
    n_cells: Sequence[int] | None,
    levels: Sequence[str] | None,
    n_neighbors: Sequence[int] | None,
    membership_weights: Sequence[str] | None,
) -> list[Configuration]:
    """Return the configuration with every combination of the options it can have."""
    counts = (0,) if n_cells is None and base.objective == "cover" else n_cells or (PAPER_CELLS,)
    fields: dict[str, list[Any]] = {
        "n_cells": [check_int("n_cells", count, 1) if n_cells is not None else count for count in counts],
        "levels": list(levels or ("",)),
        "n_neighbors": [check_int("n_neighbors", each, 0) for each in n_neighbors]
        if n_neighbors and base.form == "hybrid"
        else [None],
        "membership_weights": list(membership_weights) if membership_weights and base.form != "objects" else [""],
    }
    return [replace(base, **dict(zip(fields, each, strict=True))) for each in product(*fields.values())]


def with_peers(configs: Sequence[Configuration], *, as_large: bool | Sequence[str]) -> list[Configuration]:
    """Return configurations once each, and behind every choice of cells the methods that are to be as large as it."""
    peers = (AS_LARGE if as_large else ()) if isinstance(as_large, bool) else as_large
    for peer in peers:
        if peer not in AS_LARGE:
            raise unknown_name("method that can be as large as another", peer, AS_LARGE)
    found = []
    for config in configs:
        found += [
            config,
            *(Configuration(method=peer, like=config.name) for peer in peers if config.objective),
        ]
    return list(dict.fromkeys(found))


def several(given: Any) -> list[Any] | None:
    """Return one number or text, or several, as a list without repeats; None stays."""
    if given is None:
        return None
    return list(dict.fromkeys([given] if isinstance(given, str) or not isinstance(given, Iterable) else given))


class Planned(Protocol):
    """What a network is to be: by what method, for what objective, within what limits."""

    @property
    def method(self) -> Method:
        """The method that chooses."""

    @property
    def objective(self) -> object:
        """What the choice is worth."""

    @property
    def budget(self) -> Budget:
        """The limits of the choice."""


P = TypeVar("P", bound=Planned)
C = TypeVar("C")


@dataclass(frozen=True, eq=False)
class Maker(Generic[P, C]):
    """Makes the networks of configurations for one query; what a method chooses is kept, for it serves all forms.

    ``plan(configuration, nodes)`` says what the network is to be, ``choose(plan, seed)`` what its method chooses, and
    ``assemble(plan, chosen)`` makes it.
    """

    plan: Callable[[Configuration, int | None], P]
    choose: Callable[[P, int], C]
    assemble: Callable[[P, C], Network]
    kept: dict[tuple[Any, ...], C] = field(default_factory=dict)

    def __call__(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a configuration, with so many nodes at most where a number is given."""
        wanted = self.plan(config, nodes)
        own = seed if draws(wanted.method) else 0
        key = (
            config.method,
            bool(config.like),
            repr(wanted.objective),
            wanted.budget,
            config.levels,
            own,
        )
        if key not in self.kept:
            self.kept[key] = self.choose(wanted, own)
        return self.assemble(wanted, self.kept[key])
