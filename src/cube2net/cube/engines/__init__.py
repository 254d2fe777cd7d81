"""The engines by name: what runs the statements of a cube's plan."""

from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.engines.spark import Spark
from cube2net.model.interfaces import Engine

ENGINES: dict[str, type[Engine]] = {"duckdb": DuckDB, "spark": Spark}
