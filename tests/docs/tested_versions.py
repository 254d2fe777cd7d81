"""Whether outputs must equal those on the pages: on Linux with the tested versions."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from page_blocks import ROOT

COUNTS = ("numpy", "scipy", "numba", "pyarrow", "duckdb", "torch")
"""The packages whose arithmetic and order of rows decide what comes out."""
OTHERWISE = "all of it ran; but with other versions, or on another system, it may show other figures: not compared"


def installed(name: str) -> str:
    """Return the installed version of a package without its local part, or an empty text."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return ""


def pinned() -> dict[str, str]:
    """Return the versions of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def shows_the_same() -> bool:
    """Return whether the system and the packages are those with which the pages were written."""
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    return here and all(installed(name) == pinned()[name] for name in COUNTS)
