"""The only part that wires rooms: from raw data to a network and a verdict, one function a step."""

from cube2net.cube import ENGINES
from cube2net.mine import cluster_query, embed_nodes
from cube2net.network import certificate
from cube2net.pipeline.build import build_cube, build_from, build_task
from cube2net.pipeline.compare import JOURNAL, WRITTEN, Auto, compare, task_of
from cube2net.pipeline.construct import construct
from cube2net.pipeline.contrasting import contrast, describe
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
    check_outputs,
    described,
    draw_network,
    find_topics,
    layout_network,
    load_areas,
    load_bundled,
    load_labs,
    make_dblp_like,
    make_planted,
    open_dblp_like,
    picture_text,
    summary,
    write_network,
)
from cube2net.pipeline.drills import drill
from cube2net.pipeline.explaining import explain
from cube2net.pipeline.planning import METHODS, WITH_OPTIONS
from cube2net.pipeline.prices import prices
from cube2net.pipeline.queries import missing_names, read_clusters, read_links, read_query
from cube2net.pipeline.questions import read_asked
from cube2net.pipeline.reading import (
    from_networkx,
    read_acl,
    read_graph,
    read_more,
    read_source,
    read_sql,
    read_tables,
    read_task,
)
from cube2net.pipeline.replay import Replayed, replay
from cube2net.pipeline.report import check_report, read_comparison, results, verdict, write_report
from cube2net.pipeline.suggestions import suggest
from cube2net.pipeline.texts import to_text
from cube2net.pipeline.what_if import change, with_, without
from cube2net.pipeline.worths import LINK_TOLERANCE, weigh
from cube2net.records.form import FORMS
from cube2net.referee import DEFAULT
from cube2net.select import OBJECTIVES
from cube2net.sources import SOURCES
from cube2net.topics import TOPIC_MODELS

__all__ = [
    "AREA_SIGS",
    "DEFAULT",
    "ENGINES",
    "FORMS",
    "JOURNAL",
    "LINK_TOLERANCE",
    "METHODS",
    "OBJECTIVES",
    "SOURCES",
    "TOPIC_MODELS",
    "WITH_OPTIONS",
    "WRITTEN",
    "Auto",
    "Replayed",
    "add_items",
    "build_cube",
    "build_from",
    "build_task",
    "certificate",
    "change",
    "check_outputs",
    "check_report",
    "cluster_query",
    "compare",
    "construct",
    "contrast",
    "describe",
    "described",
    "draw_network",
    "drill",
    "embed_cells",
    "embed_nodes",
    "explain",
    "find_topics",
    "from_networkx",
    "label_texts",
    "layout_network",
    "load_areas",
    "load_bundled",
    "load_labs",
    "make_dblp_like",
    "make_planted",
    "missing_names",
    "near_cells",
    "open_cube",
    "open_dblp_like",
    "picture_text",
    "prices",
    "read_acl",
    "read_asked",
    "read_clusters",
    "read_comparison",
    "read_graph",
    "read_links",
    "read_manifest",
    "read_more",
    "read_query",
    "read_source",
    "read_sql",
    "read_tables",
    "read_task",
    "replay",
    "results",
    "save_cube",
    "suggest",
    "summary",
    "task_of",
    "to_text",
    "update_cube",
    "verdict",
    "verify_cube",
    "view_cube",
    "weigh",
    "with_",
    "without",
    "write_network",
    "write_report",
]
