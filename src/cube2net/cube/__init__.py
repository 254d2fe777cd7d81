"""Corpus and topics become a cube: labels, the plan and its engines, the store, and views of a cube."""

from cube2net.cube.build import build
from cube2net.cube.cuboids import cuboid
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.engines.spark import Spark
from cube2net.cube.rollup import dice, drill_down, roll_up, slice_
from cube2net.cube.store import check_place, read, read_manifest, save, verify
from cube2net.cube.without import hide_pairs, unlinked_pairs, without_items
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
    "read",
    "read_manifest",
    "roll_up",
    "save",
    "slice_",
    "unlinked_pairs",
    "verify",
    "without_items",
]
