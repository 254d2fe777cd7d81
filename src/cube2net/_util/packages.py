"""Optional packages, and the extras that install them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from cube2net.errors import MissingPackageError, quote_few

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
