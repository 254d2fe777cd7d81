"""Optional packages: import them, or raise an error that names the extra."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from cube2net.errors import MissingPackageError, some

CORE = ("numpy", "scipy", "pyarrow", "duckdb", "numba", "threadpoolctl", "lazy_loader", "typer", "rich")
"""The packages that cube2net itself installs, as they are imported."""

EXTRAS: dict[str, tuple[str, ...]] = {
    "learn": ("torch", "gymnasium", "safetensors"),
    "report": ("plotly", "matplotlib", "jinja2"),
    "graph": ("networkx", "igraph", "torch_geometric"),
    "explore": ("starlette", "uvicorn"),
    "notebook": ("anywidget",),
    "mcp": ("mcp",),
    "spark": ("pyspark",),
}
"""The packages that each extra installs, as they are imported; a test holds them against pyproject.toml."""


def require(purpose: str, *packages: str) -> None:
    """Return where packages are installed, and else raise the sentence that says how to get those that are not.

    Nothing is imported, so that it can be asked before any work is done.

    >>> require("an interpreter", "sys")
    >>> require("a graph of other worlds", "torch_geometry")
    Traceback (most recent call last):
    cube2net.errors.MissingPackageError: a graph of other worlds needs the package 'torch-geometry'
    """
    missing = [package for package in packages if not _is_installed(package)]
    if not missing:
        return
    names = [package.replace("_", "-") for package in missing]
    named = some(names, most=len(names))
    extras = [extra for extra, members in EXTRAS.items() if not set(missing).isdisjoint(members)]
    within = f"extra{'s' * (len(extras) > 1)} {some(extras, most=len(extras))}"
    command = f": pip install {' '.join(names)} ({within})" if extras else ""
    raise MissingPackageError(f"{purpose} needs the package{'s' * (len(missing) > 1)} {named}{command}")


def _is_installed(package: str) -> bool:
    """Return whether a package can be imported; a mere folder of its name in the way is none."""
    if package in sys.modules:
        return sys.modules[package] is not None
    spec = find_spec(package)
    return spec is not None and spec.origin is not None
