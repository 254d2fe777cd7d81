"""Corpus and topics become a cube: it grows by the plan in an engine, is kept on disk, and is seen from many sides."""

from cube2net.cube.crossed_levels import cross_levels, place_cells
from cube2net.cube.cuboids import cuboid, pick_cells
from cube2net.cube.engines.duckdb import DuckDB, check_memory
from cube2net.cube.engines.spark import Spark
from cube2net.cube.format.parts import check_whole, lookup_of
from cube2net.cube.format.store import change_folder, check_place, read, read_manifest, save, verify
from cube2net.cube.grow.attribute_labels import TOPIC, parse_bins
from cube2net.cube.grow.concatenation import concatenate, concatenate_topics, knows_objects
from cube2net.cube.grow.given_links import count_heavier
from cube2net.cube.grow.growing import build, leave_out_known, update
from cube2net.cube.grow.replacing import Changes, change_items, find_changes
from cube2net.cube.name_index import NameIndex
from cube2net.cube.object_counts import kinds_of, time_dimensions, window_labels
from cube2net.cube.object_limits import of_kind
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.cube.window import between, times_of
from cube2net.cube.without import hide_pairs, unlinked_pairs, without_items
from cube2net.interfaces import Engine

ENGINES: dict[str, type[Engine]] = {"duckdb": DuckDB, "spark": Spark}

__all__ = [
    "ENGINES",
    "TOPIC",
    "Changes",
    "DuckDB",
    "NameIndex",
    "Spark",
    "between",
    "build",
    "change_folder",
    "change_items",
    "check_memory",
    "check_place",
    "check_whole",
    "concatenate",
    "concatenate_topics",
    "count_heavier",
    "cross_levels",
    "cuboid",
    "dice",
    "drill_down",
    "find_changes",
    "hide_pairs",
    "kinds_of",
    "knows_objects",
    "leave_out_known",
    "lookup_of",
    "of_kind",
    "parse_bins",
    "pick_cells",
    "place_cells",
    "read",
    "read_manifest",
    "roll_up",
    "save",
    "slice_cube",
    "time_dimensions",
    "times_of",
    "unlinked_pairs",
    "update",
    "verify",
    "window_labels",
    "without_items",
]
