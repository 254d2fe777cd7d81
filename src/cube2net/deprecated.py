"""Names and parameters of the release before: they work for one release more, and say what they are called now."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

MOVED = {
    "AREA_SIGS": "pipeline.AREA_SIGS",
    "Budget": "records.Budget",
    "Selection": "records.Selection",
    "Topics": "records.Topics",
    "Vectors": "records.Vectors",
    "Weights": "records.Weights",
    "build_task": "pipeline.build_task",
    "cluster_query": "pipeline.cluster_query",
    "cuboid": "cube.cuboid",
    "dice": "cube.dice",
    "drill_down": "cube.drill_down",
    "embed_cells": "pipeline.embed_cells",
    "embed_nodes": "pipeline.embed_nodes",
    "find_topics": "pipeline.find_topics",
    "judge": "verdict",
    "label_texts": "pipeline.label_texts",
    "make_dblp_like": "pipeline.make_dblp_like",
    "near_cells": "pipeline.near_cells",
    "open_dblp_like": "pipeline.open_dblp_like",
    "read_acl": "pipeline.read_acl",
    "read_links": "pipeline.read_links",
    "read_task": "pipeline.read_task",
    "roll_up": "cube.roll_up",
    "slice": "cube.slice_cube",
    "summary": "pipeline.summary",
    "weigh": "pipeline.weigh",
}
"""What was in the package itself, and where it is now."""


def old_name(name: str) -> Any:
    """Return what a name of the release before stands for; who asks for it is told the new one."""
    if name not in MOVED:
        raise AttributeError(f"module 'cube2net' has no attribute {name!r}")
    new = f"cube2net.{MOVED[name]}"
    warn_renamed(f"cube2net.{name}", new, depth=4)
    module, _, attribute = new.rpartition(".")
    return getattr(import_module(module), attribute)


def warn_renamed(old: str, new: str, *, depth: int) -> None:
    """Say that something is called otherwise now, to who is ``depth`` calls above."""
    said = f"{old} is now {new}: the old name goes with the next release"
    warnings.warn(said, DeprecationWarning, stacklevel=depth)
