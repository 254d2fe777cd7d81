"""Whether what pages and notebooks show must come here to the letter: on Linux, with the versions that are tested."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from page_blocks import ROOT

COUNTS = ("numpy", "scipy", "numba", "pyarrow", "duckdb", "torch")
"""The packages whose arithmetic and order of rows decide what comes out."""
OTHERWISE = "all of it ran; but with other versions, or on another system, it may show other figures: not compared"


def installed(name: str) -> str:
    """Return the version of a package that is here, without what its builder added; empty where there is none."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return ""


def pinned() -> dict[str, str]:
    """Return the versions of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def shows_the_same() -> bool:
    """Return whether this system and its packages are those that the pages were written with."""
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    return here and all(installed(name) == pinned()[name] for name in COUNTS)
