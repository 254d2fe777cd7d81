from .engines.duckdb import DuckDB as DuckDB
from .engines.spark import Spark as Spark
from .storage.store import read_manifest as read_manifest
