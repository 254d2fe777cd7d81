"""The only part that wires rooms: from raw data to a network and a verdict, one function a step."""

from cube2net.cube import ENGINES
from cube2net.pipeline.answers import (
    check_outputs,
    draw_network,
    missing_names,
    read_links,
    read_query,
    summary,
    to_scipy,
    write_network,
)
from cube2net.pipeline.auto import Auto
from cube2net.pipeline.building import build_cube, build_from, build_task
from cube2net.pipeline.comparing import compare, task_of
from cube2net.pipeline.constructing import construct
from cube2net.pipeline.cubes import (
    add_items,
    embed_cells,
    label_texts,
    near_cells,
    open_cube,
    read_manifest,
    save_cube,
    update_cube,
    verify_cube,
    view_cube,
)
from cube2net.pipeline.data import (
    AREA_SIGS,
    find_topics,
    from_networkx,
    load_areas,
    load_bundled,
    load_labs,
    make_dblp_like,
    make_planted,
    open_dblp_like,
    read_acl,
    read_source,
    read_tables,
    read_task,
)
from cube2net.pipeline.mining import cluster_query, embed_nodes
from cube2net.pipeline.registries import METHODS, chooses_cells
from cube2net.pipeline.reporting import check_report, read_comparison, results, write_report
from cube2net.pipeline.worth import LINK_TOLERANCE, weigh
from cube2net.referee import judge
from cube2net.select import OBJECTIVES
from cube2net.sources import SOURCES
from cube2net.topics import TOPIC_MODELS

__all__ = [
    "AREA_SIGS",
    "ENGINES",
    "LINK_TOLERANCE",
    "METHODS",
    "OBJECTIVES",
    "SOURCES",
    "TOPIC_MODELS",
    "Auto",
    "add_items",
    "build_cube",
    "build_from",
    "build_task",
    "check_outputs",
    "check_report",
    "chooses_cells",
    "cluster_query",
    "compare",
    "construct",
    "draw_network",
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
    "missing_names",
    "near_cells",
    "open_cube",
    "open_dblp_like",
    "read_acl",
    "read_comparison",
    "read_links",
    "read_manifest",
    "read_query",
    "read_source",
    "read_tables",
    "read_task",
    "results",
    "save_cube",
    "summary",
    "task_of",
    "to_scipy",
    "update_cube",
    "verify_cube",
    "view_cube",
    "weigh",
    "write_network",
    "write_report",
]
