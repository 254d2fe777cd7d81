"""Corpus and topics become a cube: labels, the plan and its engines, the store, and views of a cube."""

from cube2net.cube.bins import parse_bins
from cube2net.cube.build import build
from cube2net.cube.columns import TOPIC
from cube2net.cube.cuboids import cuboid
from cube2net.cube.engines.duckdb import DuckDB, check_memory
from cube2net.cube.engines.spark import Spark
from cube2net.cube.rollup import dice, drill_down, roll_up, slice_
from cube2net.cube.store import check_place, read, read_manifest, save, verify
from cube2net.cube.update import change_folder, leave_out_known, update
from cube2net.cube.without import hide_pairs, unlinked_pairs, without_items
from cube2net.interfaces import Engine

ENGINES: dict[str, type[Engine]] = {"duckdb": DuckDB, "spark": Spark}

__all__ = [
    "ENGINES",
    "TOPIC",
    "DuckDB",
    "Spark",
    "build",
    "change_folder",
    "check_memory",
    "check_place",
    "cuboid",
    "dice",
    "drill_down",
    "hide_pairs",
    "leave_out_known",
    "parse_bins",
    "read",
    "read_manifest",
    "roll_up",
    "save",
    "slice_",
    "unlinked_pairs",
    "update",
    "verify",
    "without_items",
]
