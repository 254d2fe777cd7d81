"""What a shell is offered where somebody presses the tab key in the middle of a command.

Nothing that takes long is loaded for it. Names from a cube are offered only where they are plain words: some shells
read what they are offered as commands of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import typer

Complete = Callable[[str], list[str]]
PLAIN = re.compile(r"(\w[\w-]*)(?=[=@/]|$)")


def offer(*names: str) -> Complete:
    """Return what offers the names that begin as typed.

    >>> offer("greedy", "anneal")("gr")
    ['greedy']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def offer_some(*names: str) -> Complete:
    """Return what offers the names that begin as typed after the last comma, but for those before it.

    >>> offer_some("woven", "cells", "both")("cells,")
    ['cells,woven', 'cells,both']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        taken = before.split(",")
        return [before + comma + name for name in names if name.startswith(begun) and name not in taken]

    return complete


def dimensions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the dimensions of the cube that was named before, as far as their names are plain words."""
    try:
        cube = ctx.params.get("cube") or ctx.args[0]  # words are not yet parameters where the last option has no value
        manifest = json.loads((Path(cube) / "manifest.json").read_text(encoding="utf-8"))
        told = manifest["settings"]["dimensions"]
        found = [name[1] for name in map(PLAIN.match, told) if name is not None]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return offer_some(*dict.fromkeys(found))(incomplete)


def levels(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what says which cells: full, one, or the dimensions of the cube that was named before."""
    return [*offer("full", "one", "full+one")(incomplete), *dimensions(ctx, incomplete)]
