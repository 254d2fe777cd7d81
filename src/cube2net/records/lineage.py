"""What a view of a cube was made of: the cube that was opened, and the steps since."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cube2net.records.origin import Origin
from cube2net.records.plain_values import plain_value

if TYPE_CHECKING:
    from cube2net.records.cube import Cube

P = ParamSpec("P")
C = TypeVar("C", bound="Cube")
VIEW = "view"
LIMITS = {"where": ("dice", "slice_cube"), "between": ("between",), "kind": ("of_kind",)}
"""The views that limit which objects may be brought, by the words that ask for them."""
PICKING = "pick_cells"
"""The view of cells that were chosen beforehand."""


@dataclass(frozen=True)
class Lineage:
    """Where a cube was opened, None of one in memory, and the views since, each with its name and what it was given."""

    origin: Origin | None = None
    views: tuple[Mapping[str, Any], ...] = ()


def lineage_of(cube: Cube) -> Lineage:
    """Return where a cube comes from; one that no view made is as it was opened, or was made in memory."""
    return cube.lineage or Lineage(cube.origin)


def is_picked(cube: Cube) -> bool:
    """Return whether a cube has some cells only that were picked one by one."""
    views = lineage_of(cube).views
    return bool(views) and views[-1][VIEW] == PICKING


def limits_of(cube: Cube) -> list[str]:
    """Return which of where, between and kind limit what may be brought, by the views that a cube is seen through."""
    views = {step[VIEW] for step in lineage_of(cube).views}
    return [word for word, names in LIMITS.items() if views.intersection(names)]


def remembered(view: Callable[P, C]) -> Callable[P, C]:
    """Let what a function makes of a cube remember that function, what it was given, and where the cube comes from.

    The cube is the function's first argument; all others are names, numbers, lists and mappings of these, or something
    that the function reads from its text as well. What is no new view, and one that other views made, stays as it is.
    """
    takes = inspect.signature(view)

    @functools.wraps(view)
    def made(*args: P.args, **kwargs: P.kwargs) -> C:
        seen = view(*args, **kwargs)
        cube, *given = takes.bind(*args, **kwargs).arguments.items()
        is_old = seen is cube[1] or (seen is cube[1].finest and not seen.settings.get("views"))
        if seen.origin is None and seen.lineage is None and not is_old:
            before = lineage_of(cube[1])
            step = {VIEW: view.__name__, **{name: plain_value(value, _written) for name, value in given}}
            object.__setattr__(seen, "lineage", Lineage(before.origin, (*before.views, step)))
        return seen

    return made


def _written(value: Any) -> Any:
    """Return a value that JSON has, or the text of one that it has not."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
