"""Small networks around the objects you care about, chosen from a data cube.

>>> import cube2net as c2n
>>> planted = c2n.make_planted(seed=0)
>>> cube = c2n.build(planted.corpus)
>>> network = c2n.construct(cube, planted.query(0), method="greedy", n_cells=3)

The public names are listed in ``__init__.pyi``. Others are in modules: ``cube2net.methods`` has the methods,
``cube2net.cube`` views of cubes, ``cube2net.model`` the types, ``cube2net.api`` further functions.
"""

from __future__ import annotations

from cube2net._util.display import register_display

TYPE_CHECKING = False  # importing typing would delay the moment from which the command line handles signals
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cube2net._util.display import Display

__version__ = "0.1.0"

NAMESPACES = ("api", "cube", "methods", "model")
"""Modules available as attributes (``cube2net.cube.roll_up``)."""
NOT_IN_STAR = (*NAMESPACES, "open")
"""Names left out of ``from cube2net import *``, which would otherwise hide the builtin ``open``."""

_public: list[tuple[Callable[[str], Any], list[str]]] = []


def _read_stub() -> tuple[Callable[[str], Any], list[str]]:
    """Return the function that loads a public name, and all public names; the stub is read when first needed."""
    if not _public:
        import lazy_loader

        load, _, names = lazy_loader.attach_stub(__name__, __file__)
        _public.append((load, names))
    return _public[0]


def _load(name: str) -> Any:
    return _read_stub()[0](name)


def _notebook() -> Display:
    from cube2net.apps import notebook

    return notebook


register_display(_notebook)


def __dir__() -> list[str]:
    """Return the public names."""
    return _read_stub()[1]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is first asked for, so that importing the package stays quick."""
    names = __dir__()
    if name == "__all__":
        return [name for name in names if name not in NOT_IN_STAR]
    if name in names:
        return _load(name)
    from cube2net import methods
    from cube2net._util.spelling import OTHER_NAMES, translate_name

    method = name if name in OTHER_NAMES["method"] else translate_name("method", name)
    if name in methods.__all__:
        here: str | None = f"'methods.{name}'"
    elif known := translate_name("name", name, names):
        here = repr(known)
    elif method is not None:
        here = f"construct(cube, query, method={method!r})"
    else:
        here = translate_name("cube2net", name)
    hint = "" if here is None else f" (did you mean {here}?)"
    raise AttributeError(f"module 'cube2net' has no attribute {name!r}{hint}")
