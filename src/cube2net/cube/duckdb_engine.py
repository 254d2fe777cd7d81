"""The embedded engine: DuckDB runs the plan in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cube2net.interfaces import Progress


@dataclass(frozen=True, kw_only=True)
class DuckDB:
    """Runs the statements of a plan in DuckDB, in memory."""

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        progress: Progress | None = None,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name."""
        import duckdb

        with duckdb.connect(":memory:") as connection:
            connection.execute("SET preserve_insertion_order = true")
            for name, table in tables.items():
                connection.register(name, table)
            for done, (name, statement) in enumerate(statements.items()):
                if progress is not None:
                    progress(f"cube: {name.replace('_', ' ')}", done, len(statements))
                connection.execute(f"CREATE TEMPORARY TABLE {name} AS {statement}")
            if progress is not None:
                progress("cube", len(statements), len(statements))
            return {name: connection.sql(f"SELECT * FROM {name}").to_arrow_table() for name in wanted}
