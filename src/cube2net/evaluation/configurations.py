"""The configurations of a comparison: a short list or all combinations of options, and their networks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.model.comparison import Configuration
from cube2net.model.interfaces import Method, chooses_cells, counts_repeats, draws, heeds_objective
from cube2net.model.network import Network
from cube2net.model.selection import PAPER_CELLS
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS

BASELINES = ("pagerank", "hops")
"""Methods that are also compared at the size of every network with chosen cells."""

DEFAULT = Configuration(method="greedy", objective="cover", form="hybrid")
"""The default network of ``construct``."""

SHORT_LIST = (
    DEFAULT,
    Configuration(method="greedy", objective="cover", form="cells"),
    Configuration(method="greedy", objective="cover", form="hybrid", levels="one"),
    Configuration(method="greedy", objective="jaccard", form="objects", n_cells=20),
)
"""Configurations compared by default: the default network, one without neighbours, one with cells of one label each,
and the paper's form."""

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
    allowed_objectives: Collection[str] = OBJECTIVES_COMPARED,
) -> list[Configuration]:
    """Return the configurations to compare: the query alone, then others, each followed by its baselines.

    Objectives are among ``allowed_objectives``. A method that ignores the objective, such as random cells, is listed
    with the first one. Without ``objectives``, cover is used if cells are nodes and the method can count repeats;
    without ``n_cells`` the query decides its number of cells.
    """
    options = (
        ("objective", objectives, allowed_objectives),
        ("form", forms, FORMS),
        ("membership_weights", membership_weights, MEMBERSHIP_WEIGHTS),
    )
    for option, names, allowed in options:
        for name in names or ():
            if name not in allowed:
                raise unknown_name(option, name, allowed)
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
        usable = objectives or OBJECTIVES_COMPARED[0 if counts_repeats(method) else 1 :]
        for objective in usable if heeds_objective(method) else usable[:1]:
            for form in forms or FORMS:
                if (
                    (objectives is None or forms is None)
                    and objective == "cover"
                    and form in ("objects", "cells+objects")
                ):
                    continue
                base = Configuration(method=name, objective=objective, form=form)
                configs += _combine_options(base, n_cells, levels, n_neighbors, membership_weights)
    return add_baselines(configs, as_large=as_large)


def _combine_options(
    base: Configuration,
    n_cells: Sequence[int] | None,
    levels: Sequence[str] | None,
    n_neighbors: Sequence[int] | None,
    membership_weights: Sequence[str] | None,
) -> list[Configuration]:
    """Return a configuration with every combination of the options that apply to it."""
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


def add_baselines(configs: Sequence[Configuration], *, as_large: bool | Sequence[str]) -> list[Configuration]:
    """Return the configurations without repeats, those with cells followed by baselines of the same size."""
    baselines = (BASELINES if as_large else ()) if isinstance(as_large, bool) else as_large
    for method in baselines:
        if method not in BASELINES:
            raise unknown_name("method that can be as large as another", method, BASELINES)
    result: dict[Configuration, None] = {}
    for config in configs:
        result[config] = None
        if config.objective:
            result |= dict.fromkeys(Configuration(method=method, like=config.name) for method in baselines)
    return list(result)


def list_values(value: Any) -> list[Any] | None:
    """Return a value or several as a list without repeats; None for None."""
    if value is None:
        return None
    return list(dict.fromkeys([value] if isinstance(value, str) or not isinstance(value, Iterable) else value))


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes the networks of configurations for one query; choices of cells are cached, since all forms use them.

    ``plan(configuration, nodes)`` makes a plan, ``choose(plan, seed)`` runs its method, and ``assemble(plan, chosen)``
    makes the network.
    """

    plan: Callable[[Configuration, int | None], Any]
    choose: Callable[[Any, int], Any]
    assemble: Callable[[Any, Any], Network]
    cache: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __call__(self, config: Configuration, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a configuration, with at most ``nodes`` nodes."""
        plan = self.plan(config, nodes)
        seed = seed if draws(plan.method) else 0
        key = (config.method, bool(config.like), repr(plan.objective), plan.budget, config.levels, seed)
        if key not in self.cache:
            self.cache[key] = self.choose(plan, seed)
        return self.assemble(plan, self.cache[key])
