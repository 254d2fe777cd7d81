"""The only part that wires rooms: from raw data to a network and a verdict, one function a step."""

from cube2net.cube import ENGINES, NameIndex, kinds_of, time_dimensions, window_labels
from cube2net.mine import cluster_query, embed_nodes
from cube2net.network import (
    EXPORTS,
    Section,
    about_objects,
    certificate,
    certificate_of,
    estimated_tokens,
    longest_text,
    said_of_network,
)
from cube2net.pipeline.build import build_cube, build_from, build_task
from cube2net.pipeline.compare import JOURNAL, WRITTEN, Auto, compare, task_of
from cube2net.pipeline.construct import construct
from cube2net.pipeline.contrasting import contrast, contrast_with_others, describe
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
from cube2net.pipeline.judging import Judged, judge
from cube2net.pipeline.pivots import finer_levels, members, pivot, place_cells
from cube2net.pipeline.planning import METHODS, WITH_OPTIONS, default_form, default_objective
from cube2net.pipeline.prices import prices
from cube2net.pipeline.queries import missing_names, read_clusters, read_links, read_query, read_query_text
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
from cube2net.pipeline.report import check_report, read_comparison, report_files, results, verdict, write_report
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
    "EXPORTS",
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
    "Judged",
    "NameIndex",
    "Replayed",
    "Section",
    "about_objects",
    "add_items",
    "build_cube",
    "build_from",
    "build_task",
    "certificate",
    "certificate_of",
    "change",
    "check_outputs",
    "check_report",
    "cluster_query",
    "compare",
    "construct",
    "contrast",
    "contrast_with_others",
    "default_form",
    "default_objective",
    "describe",
    "described",
    "draw_network",
    "drill",
    "embed_cells",
    "embed_nodes",
    "estimated_tokens",
    "explain",
    "find_topics",
    "finer_levels",
    "from_networkx",
    "judge",
    "kinds_of",
    "label_texts",
    "layout_network",
    "load_areas",
    "load_bundled",
    "load_labs",
    "longest_text",
    "make_dblp_like",
    "make_planted",
    "members",
    "missing_names",
    "near_cells",
    "open_cube",
    "open_dblp_like",
    "picture_text",
    "pivot",
    "place_cells",
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
    "read_query_text",
    "read_source",
    "read_sql",
    "read_tables",
    "read_task",
    "replay",
    "report_files",
    "results",
    "said_of_network",
    "save_cube",
    "suggest",
    "summary",
    "task_of",
    "time_dimensions",
    "to_text",
    "update_cube",
    "verdict",
    "verify_cube",
    "view_cube",
    "weigh",
    "window_labels",
    "with_",
    "without",
    "write_network",
    "write_report",
]
