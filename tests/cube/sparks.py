"""The Spark of the tests: whether there is one, the one session that all share, and many small corpora in one run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from cube2net.cube.building.dimensions import label_items
from cube2net.cube.engines.spark import Spark, find_java
from cube2net.cube.plan import WANTED, WANTED_LINKS, make_statements, split_keys
from cube2net.errors import InputError
from cube2net.model.corpus import Corpus
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Engine

from corpora import ROWS, corpus_of

MASTER = "local[2]"
JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=4 -XX:+UseSerialGC -XX:+IgnoreUnrecognizedVMOptions "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
SHORT_RUNS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
}
"""Tiny tables: compiling, checking classes and planning again cost far more than they save."""
DECADE = DimensionSpec("decade", "year", bins="decades")
VENUE = DimensionSpec("venue", "venue")
_RUNNING: list[Any] = []


def no_spark() -> str:
    """Return why Spark cannot run here, or nothing."""
    if importlib.util.find_spec("pyspark") is None:
        return "Spark needs pyspark"
    try:
        find_java()
    except InputError as error:
        return str(error)
    return ""


SPARK_MARKS = (pytest.mark.spark, pytest.mark.skipif(bool(no_spark()), reason=no_spark() or "-"))


def needs_spark(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that starts Spark, and skip it where Spark cannot run."""
    for mark in SPARK_MARKS:
        test = mark(test)
    return test


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """The one Spark session of all tests: every engine in this process finds it and shares it."""
    if _RUNNING:
        yield _RUNNING[0]
        return
    with Spark(master=MASTER, memory="1GB", settings=SHORT_RUNS).session() as running:
        _RUNNING.append(running)
        yield running
        _RUNNING.clear()


def by_columns(table: pa.Table) -> pa.Table:
    """Return a table sorted by all its columns."""
    return table.sort_by([(column, "ascending") for column in table.column_names])


@dataclass(frozen=True, eq=False)
class Planned:
    """The inputs of a plan of decade × venue, and how many items, objects and labels there are."""

    mentions: pa.Table
    labels: pa.Table
    items: int
    objects: int
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, corpus: Corpus) -> Planned:
        """Return what the plan of a corpus reads."""
        labelled = label_items(corpus, [DECADE, VENUE])
        sizes = tuple(len(dimension.labels) for dimension in labelled.dimensions)
        return cls(corpus.mentions, labelled.table, corpus.items.num_rows, corpus.objects.num_rows, sizes)

    def plan(self, *, least: int, most: int) -> dict[str, str]:
        """Return the statements, links among them."""
        return make_statements(self.sizes, min_objects=least, max_mentions=most, links=True)

    def run(self, engine: Engine, *, least: int = 1, most: int = 50, **options: Any) -> dict[str, pa.Table]:
        """Return what an engine makes of the plan, as it comes."""
        inputs = {"mentions": self.mentions, "labels": self.labels}
        return engine.run(inputs, self.plan(least=least, most=most), WANTED + WANTED_LINKS, **options)


def any_corpora(count: int) -> list[list[Any]]:
    """Return the rows of so many random small corpora, all of which have a year and a venue somewhere."""
    drawn: list[list[Any]] = []

    @settings(max_examples=count, database=None, suppress_health_check=list(HealthCheck))
    @given(rows=ROWS)
    def draw(rows: list[Any]) -> None:
        if any(year is not None for year, _, _ in rows) and any(venues for _, venues, _ in rows):
            drawn.append(rows)

    while len(drawn) < count:
        draw()
    return drawn[:count]


def side_by_side(parts: Sequence[Planned]) -> Planned:
    """Return one plan of many, which share neither items nor objects nor labels."""
    items, objects = (_starts([getattr(part, name) for part in parts]) for name in ("items", "objects"))
    labels = [_starts([part.sizes[dimension] for part in parts]) for dimension in range(2)]
    mentions, labelled = [], []
    for number, part in enumerate(parts):
        mentions.append(_shifted(part.mentions, item=items[number], object=objects[number]))
        shift = np.array([starts[number] for starts in labels])[part.labels["dimension"].to_numpy()]
        labelled.append(_shifted(part.labels, item=items[number], label=shift))
    sizes = tuple(int(starts[-1]) for starts in labels)
    return Planned(pa.concat_tables(mentions), pa.concat_tables(labelled), int(items[-1]), int(objects[-1]), sizes)


def taken_apart(made: dict[str, pa.Table], parts: Sequence[Planned]) -> list[dict[str, pa.Table]]:
    """Return the tables of every one of many plans that were run as one, with the numbers that it has alone."""
    items, objects = (_starts([getattr(part, name) for part in parts]) for name in ("items", "objects"))
    labels = [_starts([part.sizes[dimension] for part in parts]) for dimension in range(2)]
    cells = made["cells"].sort_by("cell")
    label = split_keys(cells["cell_key"].to_numpy(), [int(starts[-1]) for starts in labels])
    owner = np.searchsorted(labels[0], label[:, 0], side="right") - 1
    apart = []
    for number, part in enumerate(parts):
        own = np.flatnonzero(owner == number)
        new = np.full(len(owner), -1)
        new[own] = np.arange(len(own))
        decade, venue = (label[own, dimension] - labels[dimension][number] for dimension in range(2))
        tables = {
            "cells": _with(cells.take(own), cell=new[own], cell_key=decade * part.sizes[1] + venue),
            "members": _with(made["members"], cell=new[made["members"]["cell"].to_numpy()]),
            "links": made["links"],
            "crowded": _shifted(_only(made["crowded"], "item", items, number), item=-items[number]),
        }
        members = tables["members"].filter(pa.array(tables["members"]["cell"].to_numpy() >= 0))
        links = _only(made["links"], "source", objects, number)
        tables["members"] = _shifted(members, object=-objects[number])
        tables["links"] = _shifted(links, source=-objects[number], target=-objects[number])
        apart.append(tables)
    return apart


def _starts(sizes: Sequence[int]) -> Any:
    return np.concatenate([[0], np.cumsum(sizes)])


def _only(table: pa.Table, column: str, starts: Any, number: int) -> pa.Table:
    values = table[column].to_numpy()
    return table.filter(pa.array((values >= starts[number]) & (values < starts[number + 1])))


def _shifted(table: pa.Table, **by: Any) -> pa.Table:
    return _with(table, **{name: table[name].to_numpy() + shift for name, shift in by.items()})


def _with(table: pa.Table, **columns: Any) -> pa.Table:
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))
    return table


def corpus_in_order() -> Corpus:
    """Return a corpus of some hundred cells, members and links."""
    rows = [(1950 + i % 70, [f"venue {i % 13}"], [i % 97, (i * 31) % 97, (i * 57) % 97]) for i in range(900)]
    return corpus_of(rows, objects=97)
