"""Every question by its name: what it asks, what it answers, and who answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cube2net.api import network_shapes as shapes
from cube2net.api.network_answers import construct, layout
from cube2net.errors import unknown
from cube2net.progress import Progress

if TYPE_CHECKING:
    from cube2net.api.desk import Desk


@dataclass(frozen=True)
class Route:
    """A question: the types of what is asked and answered, and the function that answers it.

    ``networks`` says that it makes the network of an ``ask`` first, which takes long where its method does; ``long``
    that it always takes long.
    """

    name: str
    asks: type
    answers: type
    answer: Callable[[Desk, Any, Progress], Mapping[str, Any]]
    networks: bool = False
    long: bool = False


ROUTES: dict[str, Route] = {
    route.name: route
    for route in (
        Route("construct", shapes.ConstructQuestion, shapes.NetworkAnswer, construct, networks=True),
        Route("layout", shapes.LayoutQuestion, shapes.LayoutAnswer, layout, networks=True),
    )
}


def route_of(name: str) -> Route:
    """Return the route of a name."""
    if name not in ROUTES:
        raise unknown("question", name, ROUTES)
    return ROUTES[name]
