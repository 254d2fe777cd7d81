"""Versions and settings for a bug report."""

from __future__ import annotations

import importlib
import os
import platform
from importlib import metadata
from typing import Any

import cube2net
from cube2net._util.packages import CORE, EXTRAS
from cube2net._util.progress import cores
from cube2net.apps.cli.output import say, show_table


def installation() -> dict[str, Any]:
    """Return what is installed, and on what kind of machine: no path, no name of a user or of the machine."""
    return {
        "cube2net": cube2net.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {package: _version(package) for package in CORE},
        "extras": {extra: {package: _version(package) for package in members} for extra, members in EXTRAS.items()},
        "cores": cores(),
        "threads": {name: os.environ[name] for name in _LIMITS if name in os.environ},
        "memory_bytes": _memory(),
        "gpu": _gpu(),
    }


_LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""The variables that hold libraries to fewer threads than there are cores."""


def show_installation(about: dict[str, Any]) -> None:
    """Show what is installed, and on what kind of machine."""
    say(f"cube2net {about['cube2net']}, {about['python']}, {about['system']}")
    memory = (
        "memory of unknown size"
        if about["memory_bytes"] is None
        else f"{about['memory_bytes'] / 1e9:,.1f} GB of memory"
    )
    limits = "".join(f", {name}={value}" for name, value in about["threads"].items())
    say(f"{about['cores']} core{'s' * (about['cores'] != 1)}{limits}, {memory}, GPU: {about['gpu'] or 'none'}")
    rows = [("", package, version) for package, version in about["packages"].items()]
    rows += [
        (extra, package, version) for extra, members in about["extras"].items() for package, version in members.items()
    ]
    show_table("packages", ("extra", "package", "version"), [(*row[:2], row[2] or "not installed") for row in rows])


def _version(package: str) -> str | None:
    """Return the version of a package by the name that it is imported by; none where it is not installed."""
    try:
        return metadata.version(package.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return None


def _memory() -> int | None:
    """Return the bytes of memory that the machine has; none where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _gpu() -> str | None:
    """Return what the method that learns would work on, as torch calls it; none without a GPU or without torch."""
    if _version("torch") is None:
        return None
    try:
        torch = importlib.import_module("torch")
        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
    except Exception as error:  # a broken torch is what the report may be about
        return f"torch does not answer ({type(error).__name__})"
