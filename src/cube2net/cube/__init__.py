"""Corpus and topics become a cube: labels, the plan and its engines, the store, and views of a cube."""

from cube2net.cube.build import build
from cube2net.cube.cuboids import cuboid
from cube2net.cube.duckdb_engine import DuckDB
from cube2net.cube.hiding import hide_pairs, unlinked_pairs
from cube2net.cube.manifest import read_manifest
from cube2net.cube.opening import open_folder
from cube2net.cube.rollup import dice, drill_down, roll_up, slice_
from cube2net.cube.spark_engine import Spark
from cube2net.cube.store import check_place, read, save, verify
from cube2net.cube.without import without_items
from cube2net.interfaces import Engine

ENGINES: dict[str, type[Engine]] = {"duckdb": DuckDB, "spark": Spark}

__all__ = [
    "ENGINES",
    "DuckDB",
    "Spark",
    "build",
    "check_place",
    "cuboid",
    "dice",
    "drill_down",
    "hide_pairs",
    "open_folder",
    "read",
    "read_manifest",
    "roll_up",
    "save",
    "slice_",
    "unlinked_pairs",
    "verify",
    "without_items",
]
