"""The distributed engine: Spark runs the plan, on this machine or on a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cube2net.cube.spark_master import check_master, is_local
from cube2net.cube.spark_session import one_sentence, open_session
from cube2net.cube.spark_staging import Staging, check_place, staging_folder
from cube2net.errors import ParameterError, whole_number
from cube2net.interfaces import Progress


@dataclass(frozen=True, kw_only=True)
class Spark:
    """Runs the statements of a plan in Spark, with the same tables as a result.

    ``master`` is where: ``local[*]`` (all cores of this machine), ``local[N]``, ``spark://HOST:PORT``,
    ``k8s://https://HOST:PORT`` or ``yarn``; None is what spark-submit was told, and ``local[*]`` without it.
    ``memory`` such as ``"4GB"`` is what Spark may take on this machine, or every worker's process on a cluster.
    ``shuffle_partitions`` is how many parts a table is dealt out to between steps (None: four for every local
    core; Spark's own default on a cluster). Tables go in and out as Parquet files in ``staging``, which all
    workers must see: a shared folder or a place in an object store such as ``s3a://bucket/folder``; on one
    machine, None is a temporary folder. ``settings`` are any others of Spark's, by name.

    A Spark session that runs in this process is used and left running; otherwise one is started and stopped.
    """

    master: str | None = None
    memory: str | None = None
    shuffle_partitions: int | None = None
    staging: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.master is not None:
            check_master(self.master)
        _memory(self.memory)
        whole_number("shuffle_partitions", self.shuffle_partitions, 1, 1_000_000, or_none=True)
        if self.staging is not None:
            check_place(self.staging)
        for name, value in self.settings.items():
            if not (isinstance(name, str) and name.startswith("spark.") and isinstance(value, str)):
                raise ParameterError(
                    f"a setting of Spark is {name!r} with {value!r}, expected a name such as "
                    "'spark.executor.cores' and a text such as '4'"
                )
        _check_staging(self.master, self.staging)

    def session(self) -> AbstractContextManager[Any]:
        """Return a context that gives a Spark session with these settings."""
        return open_session(self.master, _memory(self.memory), self.shuffle_partitions, self.settings)

    @contextmanager
    def staged(self, session: Any, table: pa.Table) -> Iterator[str]:
        """Give the place of a table where all workers read it, as Parquet files."""
        with self._staging(session) as staging:
            yield staging.write("table", table)

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        progress: Progress | None = None,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name.

        Spark does nothing until a table is wanted. What is wanted is written to the staging folder and read
        from there by what follows; what is used more than once is kept, in memory and on disk.
        """
        if progress is not None:
            progress("cube: Spark starts", 0, len(statements))
        with self.session() as spark, self._staging(spark) as staging, ExitStack() as kept:
            for name, table in tables.items():
                with one_sentence(f"read the table {name!r} in {staging.url!r}"):
                    spark.read.parquet(staging.write(name, table)).createOrReplaceTempView(name)
            for done, (name, statement) in enumerate(statements.items()):
                if progress is not None:
                    progress(f"cube: {name.replace('_', ' ')}", done, len(statements))
                with one_sentence(f"run the statement {name!r}"):
                    frame = spark.sql(statement)
                    if name in wanted:
                        frame.write.parquet(staging.of(name))
                        frame = spark.read.parquet(staging.of(name))
                    elif _uses(name, statements) > 1:
                        kept.callback(frame.persist().unpersist)
                    frame.createOrReplaceTempView(name)
            made = {name: staging.read(name) for name in wanted}
        if progress is not None:
            progress("cube", len(statements), len(statements))
        return made

    def _staging(self, session: Any) -> AbstractContextManager[Staging]:
        _check_staging(session.sparkContext.master, self.staging)
        return staging_folder(self.staging)


def _uses(name: str, statements: Mapping[str, str]) -> int:
    """Return how often a table is read by statements.

    >>> _uses("a", {"b": "SELECT x FROM a JOIN a AS other USING (x)", "ab": "SELECT x FROM b"})
    2
    """
    return sum(len(re.findall(rf"\b(?:FROM|JOIN)\s+{re.escape(name)}\b", text)) for text in statements.values())


def _memory(given: str | None) -> str | None:
    """Return an amount of memory as Java writes it.

    >>> _memory("4GB"), _memory("512m")
    ('4g', '512m')
    """
    if given is None:
        return None
    found = re.fullmatch(r"\s*([1-9]\d*)\s*([kmgt])(?:i?b)?\s*", given, re.IGNORECASE)
    if found is None:
        raise ParameterError(f"memory is {given!r}, expected a whole number and a unit, such as 512MB or 4GB")
    return f"{found[1]}{found[2].lower()}"


def _check_staging(master: str | None, staging: str | None) -> None:
    if staging is None and master is not None and not is_local(master):
        raise ParameterError(
            f"master {master!r} has workers on other machines, and there is no staging folder: "
            "give one that all of them see, such as s3a://bucket/folder or a shared folder"
        )
