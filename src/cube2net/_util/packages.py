"""Other packages: optional ones with the extra that installs them, and plugins by entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, TypeVar

from cube2net.errors import InputError, MissingPackageError, first_line, quote_few

CORE = (
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "numba",
    "threadpoolctl",
    "lazy_loader",
    "python_calamine",
    "typer",
    "rich",
)
"""The required packages, by the names they are imported with."""

EXTRAS: dict[str, tuple[str, ...]] = {
    "learn": ("torch", "gymnasium", "safetensors"),
    "report": ("plotly", "matplotlib", "jinja2"),
    "graph": ("networkx", "igraph", "torch_geometric"),
    "explore": ("starlette", "uvicorn"),
    "notebook": ("anywidget",),
    "mcp": ("mcp",),
    "spark": ("pyspark",),
    "sql": ("adbc_driver_postgresql",),
}
"""The packages of each extra, by the names they are imported with; a test compares them with pyproject.toml."""


def require(purpose: str, *packages: str) -> None:
    """Raise unless packages are installed, and say how to install them. Nothing is imported.

    >>> require("an interpreter", "sys")
    >>> require("a graph of other worlds", "torch_geometry")
    Traceback (most recent call last):
    cube2net.errors.MissingPackageError: a graph of other worlds needs the package 'torch-geometry'
    """
    missing = [package for package in packages if not _is_installed(package)]
    if not missing:
        return
    names = [package.replace("_", "-") for package in missing]
    named = quote_few(names, most=len(names))
    extras = [extra for extra, members in EXTRAS.items() if not set(missing).isdisjoint(members)]
    within = f"extra{'s' * (len(extras) > 1)} {quote_few(extras, most=len(extras))}"
    command = f": pip install {' '.join(names)} ({within})" if extras else ""
    raise MissingPackageError(f"{purpose} needs the package{'s' * (len(missing) > 1)} {named}{command}")


def _is_installed(package: str) -> bool:
    """Return whether a package can be imported; a folder of its name without ``__init__.py`` does not count."""
    if package in sys.modules:
        return sys.modules[package] is not None
    spec = find_spec(package)
    return spec is not None and spec.origin is not None


V = TypeVar("V")


class Registry(dict[str, V]):
    """Built-in values by name, and those that installed packages provide as entry points of a group.

    Entry points are loaded when a name is not built in; built-in names are never replaced. ``adapt`` converts the
    object of an entry point into a value of the registry.

    >>> colours = Registry("cube2net.colours", {"red": "#f00"})
    >>> colours["red"], "blue" in colours
    ('#f00', False)
    """

    def __init__(self, group: str, builtin: Mapping[str, V], adapt: Callable[[Any], V] | None = None) -> None:
        super().__init__(builtin)
        self.group, self._adapt, self._is_loaded = group, adapt, False

    def load_plugins(self) -> None:
        """Add the entry points of the group, once."""
        if self._is_loaded:
            return
        from importlib.metadata import entry_points

        self._is_loaded = True
        for point in entry_points(group=self.group):
            try:
                part = point.load()
            except Exception as error:
                raise InputError(
                    f"the plugin {point.name!r} ({point.value}) of the group {self.group!r} cannot be loaded: "
                    f"{first_line(error)}"
                ) from error
            self.setdefault(point.name, part if self._adapt is None else self._adapt(part))

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.load_plugins()
        return super().__contains__(name)

    def __missing__(self, name: str) -> V:
        if name in self:
            return self[name]
        raise KeyError(name)
