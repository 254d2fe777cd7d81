"""Engines run the statements of a plan: DuckDB in this process, Spark on this machine or a cluster."""
