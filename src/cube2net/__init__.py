"""Small networks around the objects you care about, chosen from a data cube.

>>> import cube2net as c2n
>>> planted = c2n.make_planted(seed=0)
>>> cube = c2n.build_cube(planted.corpus)
>>> network = c2n.construct(cube, planted.query(0), method="greedy", m=3)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cube2net.cube import cuboid, dice, drill_down, roll_up
    from cube2net.cube import slice_ as slice
    from cube2net.errors import Cube2netError
    from cube2net.network import to_igraph, to_networkx, to_pyg, to_scipy
    from cube2net.pipeline import (
        AREA_SIGS,
        METHODS,
        Auto,
        build_cube,
        build_from,
        build_task,
        cluster_query,
        draw_network,
        embed_cells,
        embed_nodes,
        find_topics,
        from_networkx,
        judge,
        label_texts,
        load_areas,
        load_bundled,
        load_labs,
        make_dblp_like,
        make_planted,
        near_cells,
        open_cube,
        open_dblp_like,
        read_acl,
        read_comparison,
        read_links,
        read_query,
        read_source,
        read_tables,
        read_task,
        save_cube,
        summary,
        update_cube,
        verify_cube,
        weigh,
        write_network,
        write_report,
    )
    from cube2net.pipeline.compare import compare
    from cube2net.pipeline.construct import construct
    from cube2net.records import (
        Budget,
        Comparison,
        Corpus,
        Cube,
        DimensionSpec,
        Network,
        Query,
        Selection,
        Topics,
        Vectors,
        Weights,
    )

__version__ = "0.1.0"

_HOMES = {
    "cube2net.pipeline": (
        "update_cube",
        "open_dblp_like",
        "make_dblp_like",
        "Auto",
        "build_task",
        "write_report",
        "read_links",
        "read_comparison",
        "judge",
        "embed_nodes",
        "compare",
        "cluster_query",
        "AREA_SIGS",
        "METHODS",
        "build_cube",
        "build_from",
        "construct",
        "draw_network",
        "embed_cells",
        "find_topics",
        "from_networkx",
        "label_texts",
        "load_areas",
        "load_bundled",
        "load_labs",
        "make_planted",
        "near_cells",
        "open_cube",
        "read_acl",
        "read_query",
        "read_source",
        "read_tables",
        "read_task",
        "save_cube",
        "summary",
        "verify_cube",
        "weigh",
        "write_network",
    ),
    "cube2net.cube": ("cuboid", "dice", "drill_down", "roll_up", "slice"),
    "cube2net.network": ("to_igraph", "to_networkx", "to_pyg", "to_scipy"),
    "cube2net.records": (
        "Comparison",
        "Budget",
        "Corpus",
        "Cube",
        "DimensionSpec",
        "Network",
        "Query",
        "Selection",
        "Topics",
        "Vectors",
        "Weights",
    ),
    "cube2net.errors": ("Cube2netError",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AREA_SIGS",
    "METHODS",
    "Auto",
    "Budget",
    "Comparison",
    "Corpus",
    "Cube",
    "Cube2netError",
    "DimensionSpec",
    "Network",
    "Query",
    "Selection",
    "Topics",
    "Vectors",
    "Weights",
    "build_cube",
    "build_from",
    "build_task",
    "cluster_query",
    "compare",
    "construct",
    "cuboid",
    "dice",
    "draw_network",
    "drill_down",
    "embed_cells",
    "embed_nodes",
    "find_topics",
    "from_networkx",
    "judge",
    "label_texts",
    "load_areas",
    "load_bundled",
    "load_labs",
    "make_dblp_like",
    "make_planted",
    "near_cells",
    "open_cube",
    "open_dblp_like",
    "read_acl",
    "read_comparison",
    "read_links",
    "read_query",
    "read_source",
    "read_tables",
    "read_task",
    "roll_up",
    "save_cube",
    "slice",
    "summary",
    "to_igraph",
    "to_networkx",
    "to_pyg",
    "to_scipy",
    "update_cube",
    "verify_cube",
    "weigh",
    "write_network",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is first asked for, so that importing the package stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'cube2net' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), "slice_" if name == "slice" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
