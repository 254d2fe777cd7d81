"""The only part that wires rooms: from raw data to a network and a verdict, one function a step."""

from cube2net.pipeline.answers import (
    Compared,
    check_outputs,
    compare_methods,
    construct,
    draw_network,
    missing_names,
    read_query,
    summary,
    to_scipy,
    write_network,
)
from cube2net.pipeline.cubes import (
    build_cube,
    embed_cells,
    label_texts,
    near_cells,
    open_cube,
    read_manifest,
    save_cube,
    verify_cube,
    view_cube,
)
from cube2net.pipeline.data import (
    find_topics,
    from_networkx,
    load_bundled,
    load_labs,
    make_planted,
    read_acl,
    read_source,
    read_tables,
    read_task,
)
from cube2net.pipeline.registries import METHODS
from cube2net.pipeline.worth import LINK_TOLERANCE, weigh
from cube2net.select import OBJECTIVES
from cube2net.sources import SOURCES
from cube2net.topics import TOPIC_MODELS

__all__ = [
    "LINK_TOLERANCE",
    "METHODS",
    "OBJECTIVES",
    "SOURCES",
    "TOPIC_MODELS",
    "Compared",
    "build_cube",
    "check_outputs",
    "compare_methods",
    "construct",
    "draw_network",
    "embed_cells",
    "find_topics",
    "from_networkx",
    "label_texts",
    "load_bundled",
    "load_labs",
    "make_planted",
    "missing_names",
    "near_cells",
    "open_cube",
    "read_acl",
    "read_manifest",
    "read_query",
    "read_source",
    "read_tables",
    "read_task",
    "save_cube",
    "summary",
    "to_scipy",
    "verify_cube",
    "view_cube",
    "weigh",
    "write_network",
]
