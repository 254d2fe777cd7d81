"""Every question by its name: what it asks, what it answers, and who answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cube2net.api import network_shapes, shapes
from cube2net.api.compare_answers import compare
from cube2net.api.cube_answers import cube, pivot
from cube2net.api.name_answers import complete, members, names
from cube2net.api.network_answers import construct, layout
from cube2net.api.reason_answers import contrast, drill, explain, without
from cube2net.errors import unknown
from cube2net.progress import Progress

if TYPE_CHECKING:
    from cube2net.api.desk import Desk


@dataclass(frozen=True)
class Route:
    """A question: the types of what is asked and answered, and the function that answers it.

    ``networks`` says that it makes the network of an ``ask`` first, which takes long where its method does; ``long``
    that it always takes long. ``click`` says that somebody waits who clicked or types: it waits behind no heavier work.
    """

    name: str
    asks: type
    answers: type
    answer: Callable[[Desk, Any, Progress], Mapping[str, Any]]
    networks: bool = False
    long: bool = False
    click: bool = False


ROUTES: dict[str, Route] = {
    route.name: route
    for route in (
        Route("cube", shapes.CubeQuestion, shapes.CubeAnswer, cube, click=True),
        Route("names", shapes.NamesQuestion, shapes.NamesAnswer, names),
        Route("complete", shapes.CompleteQuestion, shapes.CompleteAnswer, complete, click=True),
        Route("members", shapes.MembersQuestion, shapes.MembersAnswer, members),
        Route("pivot", shapes.PivotQuestion, shapes.PivotAnswer, pivot),
        Route("construct", network_shapes.ConstructQuestion, network_shapes.NetworkAnswer, construct, networks=True),
        Route("layout", network_shapes.LayoutQuestion, network_shapes.LayoutAnswer, layout, networks=True),
        Route(
            "explain", network_shapes.ExplainQuestion, network_shapes.ExplainAnswer, explain, networks=True, click=True
        ),
        Route(
            "without", network_shapes.WithoutQuestion, network_shapes.ChangeAnswer, without, networks=True, click=True
        ),
        Route("contrast", network_shapes.ContrastQuestion, network_shapes.ContrastAnswer, contrast),
        Route("drill", network_shapes.DrillQuestion, network_shapes.DrillAnswer, drill),
        Route("compare", network_shapes.CompareQuestion, network_shapes.CompareAnswer, compare, long=True),
    )
}
"""Every question, in the order in which one would ask them; ``export``, whose answer is a file, is asked by itself."""


def route_of(name: str) -> Route:
    """Return the route of a name."""
    if name not in ROUTES:
        raise unknown("question", name, ROUTES)
    return ROUTES[name]
