from .cuboids import cuboid as cuboid, pick_cells as pick_cells
from .engines.duckdb import DuckDB as DuckDB
from .engines.spark import Spark as Spark
from .removal import hide_pairs as hide_pairs, without_items as without_items
from .storage.reader import read_manifest as read_manifest
from .views import (
    dice as dice,
    drill_down as drill_down,
    of_kind as of_kind,
    roll_up as roll_up,
    slice_cube as slice_cube,
)
from .window import between as between
