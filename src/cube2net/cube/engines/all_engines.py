"""The engines by name: what a cube's statements run in."""

from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.engines.spark import Spark
from cube2net.interfaces import Engine

ENGINES: dict[str, type[Engine]] = {"duckdb": DuckDB, "spark": Spark}
