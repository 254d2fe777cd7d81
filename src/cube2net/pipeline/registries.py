"""Methods by name, and how a name or an object of one's own becomes the thing itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cube2net import network as networks
from cube2net.errors import ParameterError, listed, unknown
from cube2net.interfaces import ChecksItself, Method
from cube2net.records.weights import called
from cube2net.select import Anneal, Cube2net, Exact, Greedy, Random
from cube2net.select.objective import Own

METHODS: dict[str, type[Method]] = {
    "none": networks.Nothing,
    "hops": networks.Hops,
    "pagerank": networks.PageRank,
    "steiner": networks.Steiner,
    "maxdisc": networks.MaxDisc,
    "random": Random,
    "greedy": Greedy,
    "anneal": Anneal,
    "exact": Exact,
    "cube2net": Cube2net,
}

CHOOSES_CELLS = ("random", "greedy", "anneal", "exact", "cube2net")
"""Methods that choose cells, and so have an objective and a form."""


def chooses_cells(method: str | Method) -> bool:
    """Return whether a method chooses cells; one of your own is taken to do so unless it brings objects alone."""
    if isinstance(method, str):
        return method in CHOOSES_CELLS
    return not isinstance(method, tuple(kind for name, kind in METHODS.items() if name not in CHOOSES_CELLS))


def made(
    given: Any,
    registry: Mapping[str, Any],
    protocol: type | tuple[type, ...],
    what: str,
    options: Mapping[str, Any],
) -> Any:
    """Return the object of a name, or the object itself where one with the right method was given.

    One that can say that it cannot run here is asked.
    """
    if isinstance(given, str):
        if given not in registry:
            raise unknown(what, given, registry)
        try:
            given = registry[given](**options)
        except TypeError as error:
            raise ParameterError(f"{what} {given!r} cannot be made so: {error}") from None
    elif isinstance(given, type) or not isinstance(given, protocol):
        article = "an" if what[0] in "aeiou" else "a"
        raise ParameterError(
            f"{article} {what} is a name ({listed(sorted(registry))}) or an object like one, got {given!r}"
        )
    if isinstance(given, ChecksItself):
        given.check()
    return given


def name_of(thing: object, registry: Mapping[str, Any]) -> str:
    """Return the name of a registry's entry, or of the class or function of one's own."""
    if isinstance(thing, Own):
        return called(thing.function)
    return next((name for name, kind in registry.items() if type(thing) is kind), type(thing).__name__)
