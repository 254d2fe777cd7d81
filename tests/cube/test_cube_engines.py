"""One contract for every engine: the same statements make the same tables, and the same cube on disk."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from cube2net._util.progress import resolve_progress
from cube2net.cube.building.build import build
from cube2net.cube.engines import ENGINES
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.engines.spark import Spark
from cube2net.cube.storage.reader import read_manifest, verify
from cube2net.cube.storage.writer import save
from cube2net.errors import ParameterError
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Engine
from cube2net.topics.models import Given

from corpora import corpus_of
from sparks import (
    DECADE,
    MASTER,
    SPARK_MARKS,
    Planned,
    any_corpora,
    by_columns,
    corpus_in_order,
    needs_spark,
    session,
    side_by_side,
    taken_apart,
)

__all__ = ["session"]

ORDERED = ("cells", "members", "links")
MANY = 40


@pytest.fixture(params=[pytest.param(name, marks=SPARK_MARKS if name == "spark" else ()) for name in ENGINES])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param != "spark":
        return ENGINES[request.param]()
    request.getfixturevalue("session")
    return Spark(master=MASTER, shuffle_partitions=2)


@cache
def many() -> tuple[list[list], list[Planned]]:
    """Return the rows of many random corpora and a larger one, and what their plans read."""
    rows = any_corpora(MANY)
    return rows, [*(Planned.of(corpus_of(each, objects=10)) for each in rows), Planned.of(corpus_in_order())]


@cache
def made_alone() -> list[dict[str, pa.Table]]:
    """Return what DuckDB makes of each of many corpora in a run of its own."""
    return [part.run(DuckDB(), least=2, most=3) for part in many()[1]]


@cache
def made_at_once(name: str) -> dict[str, pa.Table]:
    """Return what an engine makes of many corpora in one run, as it comes."""
    engine = Spark(master=MASTER, shuffle_partitions=2) if name == "Spark" else DuckDB()
    return side_by_side(many()[1]).run(engine, least=2, most=3)


def test_three_items_make_the_tables_one_would_write_by_hand(engine: Engine) -> None:
    rows = [(2003, ["KDD"], [1, 0, 1]), (2015, ["ACL"], [0]), (2015, ["ACL", "KDD"], [0, 1, 2])]
    tables = Planned.of(corpus_of(rows, objects=3)).run(engine, least=3, most=2)
    made = {name: by_columns(table) for name, table in tables.items()}
    assert made["cells"].to_pylist() == [
        {"cell": 0, "cell_key": 2, "objects": 3},
        {"cell": 1, "cell_key": 3, "objects": 3},
        {"cell": 2, "cell_key": 1, "objects": 2},
    ]
    assert made["members"]["cell"].to_pylist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert made["members"]["object"].to_pylist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert made["crowded"].to_pylist() == [{"item": 2}]
    assert made["links"].to_pylist() == [{"source": 0, "target": 1, "weight": 1.0}]
    types = {name: [str(kind) for kind in table.schema.types] for name, table in made.items()}
    assert types == {
        "cells": ["int64", "int64", "int64"],
        "members": ["int64", "int32"],
        "crowded": ["int32"],
        "links": ["int32", "int32", "float"],
    }


def test_many_random_corpora_in_one_run_make_the_tables_that_duckdb_makes_of_each_alone(engine: Engine) -> None:
    rows, parts = many()
    assert len(rows) >= MANY
    together = made_at_once(type(engine).__name__)
    made = taken_apart(together, parts)
    for number, alone in enumerate(made_alone()):
        assert list(together) == list(alone)
        for name, table in alone.items():
            told = (name, rows[number : number + 1])
            assert table.schema.equals(made[number][name].schema, check_metadata=True), told
            assert by_columns(table).equals(by_columns(made[number][name])), told


def test_tables_that_the_plan_orders_come_in_that_order(engine: Engine) -> None:
    for name in ORDERED:
        table = made_at_once(type(engine).__name__)[name]
        assert table.num_rows > 90
        assert table.equals(table.sort_by([(column, "ascending") for column in table.column_names[:2]])), name


@pytest.mark.parametrize("mentioned", [[], [0]], ids=["no mentions", "one each"])
def test_items_that_mention_nothing_or_have_no_label_make_empty_tables(
    engine: Engine, mentioned: list[int], tmp_path: Path
) -> None:
    corpus = corpus_of([(2003, [], mentioned), (None, ["KDD"], mentioned)], objects=1)
    made = Planned.of(corpus).run(engine, folder=tmp_path if mentioned else None)
    assert [made[name].num_rows for name in ("cells", "members", "links", "crowded")] == [0, 0, 0, 0]


def test_a_run_that_failed_goes_on_where_it_was(engine: Engine, tmp_path: Path) -> None:
    inputs = {"t": pa.table({"x": pa.array([3, 1, 2, 2], pa.int32())})}
    plan = {
        "few": "SELECT DISTINCT x FROM t",
        "twice": "SELECT x, x + x AS y FROM few ORDER BY x",
        "lost": "SELECT CAST('a word' AS INT) AS z FROM twice",
        "last": "SELECT a.x, b.y FROM twice a JOIN few f ON f.x = a.x JOIN twice b ON b.x = a.x ORDER BY a.x",
    }
    wanted = ["twice", "lost", "last"]
    folder = tmp_path
    with pytest.raises(Exception, match="a word|CAST_INVALID_INPUT"):
        engine.run(inputs, plan, wanted, folder=folder)
    assert {path.name for path in folder.glob("*.arrow*")} <= {"twice.arrow"}
    (folder / "lost.arrow.part").write_bytes(b"half of it")
    mended = {**plan, "lost": "SELECT y FROM twice WHERE y > 2 ORDER BY y"}
    whole = DuckDB().run(inputs, mended, wanted)
    said: list[str] = []
    resumed = engine.run(
        inputs,
        {**mended, "twice": "SELECT nothing FROM nowhere"},
        wanted,
        folder=folder,
        progress=resolve_progress(lambda stage, done, total=None: said.append(stage)),
    )
    assert "cube: twice" not in said
    assert said[-3:] == ["cube: lost", "cube: last", "cube"]
    assert whole["last"].to_pydict() == {"x": [1, 2, 3], "y": [2, 4, 6]}
    for name in wanted:
        assert resumed[name].schema.equals(whole[name].schema, check_metadata=True), name
        assert resumed[name].equals(whole[name]), name
    assert {path.name for path in folder.glob("*.arrow*")} == {f"{name}.arrow" for name in wanted}


def test_progress_names_every_statement_in_turn(engine: Engine) -> None:
    said: list[tuple[str, int, int | None]] = []
    statement = {"first_one": "SELECT object FROM mentions", "second": "SELECT object FROM first_one"}
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    made = engine.run(
        {"mentions": corpus.mentions},
        statement,
        ["second"],
        progress=lambda stage, done, total=None: said.append((stage, done, total)),
    )
    assert made["second"].to_pylist() == [{"object": 0}]
    assert said[-3:] == [("cube: first one", 0, 2), ("cube: second", 1, 2), ("cube", 2, 2)]


@needs_spark
def test_spark_and_duckdb_build_the_same_cube(session: object, tmp_path: Path) -> None:
    venues = ['L\'Aquila "98"', "Zürich – 会议", "a;b`c --", "\\"]
    rows = [(1995 + i % 30, [venues[i % 4], venues[(i // 4) % 4]], [i % 9, (i * 7) % 9, i % 5]) for i in range(40)]
    rows += [(None, ["\\"], [1, 2]), (2003, [], [3, 4]), (2003, ["\\"], list(range(9)))]
    corpus = corpus_of(rows, objects=9, kinds=dict.fromkeys(venues, "a kind"))
    texts = [("parser, treebank, grammar, tree", "speech, audio, phoneme, voice")[i % 2] for i in range(len(rows))]
    items = corpus.items.append_column("subject", pa.array(texts)).append_column("text", pa.array(texts))
    corpus = replace(corpus, items=items)
    spark = Spark(master=MASTER, shuffle_partitions=2)
    topics = Given(attribute="subject").topics(corpus, seed=0)
    specs = [DECADE, DimensionSpec("venue", "venue", parent="kind"), DimensionSpec("topic", "topic")]
    for name, maker in (("duckdb", DuckDB()), ("spark", spark)):
        save(build(corpus, specs, maker, topics=topics, min_objects=3, max_mentions=8), tmp_path / name)
        assert verify(tmp_path / name)
    one, other = (read_manifest(tmp_path / name) for name in ("duckdb", "spark"))
    assert one["files"] == other["files"]
    assert one["counts"] == other["counts"]
    assert (one["settings"].pop("engine"), other["settings"].pop("engine")) == ("DuckDB", "Spark")
    assert one["settings"] == other["settings"]
    assert one["settings"]["topics"]["model"] == "given"
    assert one["counts"]["cells"] > 10
    for name in one["files"]:
        assert (tmp_path / "duckdb" / name).read_bytes() == (tmp_path / "spark" / name).read_bytes()


def test_every_engine_of_the_registry_fits_the_interface() -> None:
    assert list(ENGINES) == ["duckdb", "spark"]
    assert all(isinstance(maker(), Engine) for maker in ENGINES.values())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"master": "locl[2]"}, "unknown master 'locl[2]': write local[*], local[N], spark://HOST:PORT, k8s://"),
        ({"master": "local[0]"}, "unknown master 'local[0]': write local[*]"),
        ({"master": "sc://there"}, "unknown master 'sc://there': write local[*]"),
        ({"memory": "4 hippos"}, "memory is '4 hippos', expected a number and a unit, such as 512MB or 4GB"),
        ({"shuffle_partitions": 0}, "shuffle_partitions is 0, expected a whole number of 1 to 1,000,000"),
        (
            {"staging": "ftp://x/y"},
            "staging is 'ftp://x/y', expected a folder that all workers see or a place under s3a:",
        ),
        ({"settings": {"cores": "4"}}, "a setting of Spark is 'cores' with '4', expected a name such as"),
        ({"settings": {"spark.cores.max": 4}}, "a setting of Spark is 'spark.cores.max' with 4, expected a name such"),
        ({"master": "yarn"}, "master 'yarn' has workers on other machines, and there is no staging folder: give one"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(options: dict, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Spark(**options)
    assert str(caught.value).startswith(text)
