from .build import (
    build_task as build_task,
)
from .construct import construct_by_name as construct_by_name
from .compare import (
    JOURNAL as JOURNAL,
    WRITTEN as WRITTEN,
    Auto as Auto,
    compare_by_name as compare_by_name,
    choose_task as choose_task,
)
from .contrast import (
    describe_clusters as describe_clusters,
)
from .update import add_items as add_items, label_texts as label_texts
from .embedding import embed_cells as embed_cells, near_cells as near_cells
from .cubes import (
    READING as READING,
    read_manifest as read_manifest,
    view_cube as view_cube,
)
from .datasets import (
    AREA_SIGS as AREA_SIGS,
    load_areas as load_areas,
    load_bundled as load_bundled,
    load_labs as load_labs,
    make_planted as make_planted,
)
from .query import (
    example_objects as example_objects,
)
from .compare import (
    Judged as Judged,
    judge as judge,
)
from .spreadsheets import (
    NumberedPlaces as NumberedPlaces,
    ReadingIdentity as ReadingIdentity,
    cube_beside as cube_beside,
    identify_reading as identify_reading,
    reading_in as reading_in,
)
from .export import check_outputs as check_outputs
from .export import (
    describe_network as describe_network,
    layout_network as layout_network,
    picture_text as picture_text,
)
from .drill import (
    finer_levels as finer_levels,
    members as members,
    pivot as pivot,
    place_cells as place_cells,
)
from .plan import (
    METHODS as METHODS,
    WITH_OPTIONS as WITH_OPTIONS,
    default_form as default_form,
    default_levels as default_levels,
    default_objective as default_objective,
)
from .query import (
    missing_names as missing_names,
    read_clusters as read_clusters,
    read_links as read_links,
    read_query as read_query,
    read_query_bytes as read_query_bytes,
    read_query_text as read_query_text,
    unresolved_names as unresolved_names,
)
from .replay import (
    read_asked as read_asked,
)
from .read import (
    from_networkx as from_networkx,
    read_acl as read_acl,
    read_graph as read_graph,
    read_more as read_more,
    read_references as read_references,
    read_source as read_source,
    read_sql as read_sql,
    read_tables as read_tables,
    read_task as read_task,
)
from .replay import (
    Replayed as Replayed,
)
from .compare import (
    check_report as check_report,
    read_comparison as read_comparison,
    report_files as report_files,
    results as results,
)
from .spreadsheets import (
    TABLE_ENDINGS as TABLE_ENDINGS,
    SpreadsheetReading as SpreadsheetReading,
    build_from_reading as build_from_reading,
    read_spreadsheet as read_spreadsheet,
    sheet_reader as sheet_reader,
    sheet_source as sheet_source,
)
from .suggest import (
    find_topics as find_topics,
)
from .plan import (
    LINK_TOLERANCE as LINK_TOLERANCE,
    weigh as weigh,
)
from .embedding import cluster_query as cluster_query, embed_nodes as embed_nodes
