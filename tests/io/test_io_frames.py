"""Frames of every library are read as tables in files are."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.errors import Cube2netError, ParameterError, SourceError

NODES = {"id": ["ada", "bob", "eve"], "city": ["Rome", "Oslo", "Oslo"], "born": [1970, 1981, 1992]}
LINKS = {"source": ["ada", "bob"], "target": ["bob", "eve"], "weight": [2.0, 1.0]}


def in_duckdb(columns: dict[str, list[Any]]) -> Any:
    table = pa.table(columns)
    return duckdb.connect().from_arrow(table)


def only_a_stream(columns: dict[str, list[Any]]) -> Any:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table(columns).__arrow_c_stream__(requested_schema)

    return Stream()


DOORS: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas by arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "arrow table": pa.table,
    "arrow reader": lambda columns: pa.table(columns).to_reader(),
    "arrow batch": pa.RecordBatch.from_pydict,
    "duckdb": in_duckdb,
    "a stream": only_a_stream,
    "lists": dict,
    "dictionaries": lambda columns: pa.table(columns).to_pylist(),
}


def refusal(*tables: Any, **options: Any) -> str:
    with pytest.raises(Cube2netError) as refused:
        c2n.read_tables(*tables, **options)
    return str(refused.value)


@pytest.fixture
def from_files(tmp_path: Path) -> c2n.Corpus:
    pq.write_table(pa.table(NODES), tmp_path / "nodes.parquet")
    pq.write_table(pa.table(LINKS), tmp_path / "links.parquet")
    return c2n.read_tables(tmp_path)


def assert_same(one: c2n.Corpus, other: c2n.Corpus) -> None:
    assert one.objects.equals(other.objects)
    assert one.items.to_pylist() == other.items.to_pylist()
    assert one.mentions.equals(other.mentions)
    assert one.links is not None and one.links.equals(other.links)
    assert one.dimensions == other.dimensions


@pytest.mark.parametrize("door", DOORS)
def test_every_frame_gives_the_corpus_of_its_files(door: str, from_files: c2n.Corpus) -> None:
    made = DOORS[door]
    assert_same(c2n.read_tables(nodes=made(NODES), links=made(LINKS)), from_files)
    assert_same(c2n.read_tables(made(NODES), made(LINKS)), from_files)
    assert_same(c2n.read_tables({"nodes": made(NODES), "edges": made(LINKS)}), from_files)


@pytest.mark.parametrize("door", DOORS)
def test_a_cube_is_built_of_every_frame(door: str) -> None:
    made = DOORS[door]
    expected = "Cube(city: 2 cells, 3 objects, 2 links)"
    assert repr(c2n.build(made(NODES), links=made(LINKS), dimensions=["city"], min_objects=1)) == expected
    both = {"nodes": made(NODES), "links": made(LINKS)}
    assert repr(c2n.build(both, ["city"], min_objects=1)) == expected


def test_links_may_stand_where_dimensions_do() -> None:
    cube = c2n.build(pd.DataFrame(NODES), pd.DataFrame(LINKS), min_objects=1)
    assert (len(cube.objects), len(cube.links.indices)) == (3, 4)


def test_frames_and_paths_may_be_mixed(tmp_path: Path, from_files: c2n.Corpus) -> None:
    assert_same(c2n.read_tables(pd.DataFrame(NODES), str(tmp_path / "links.parquet")), from_files)
    assert_same(c2n.read_tables(nodes=tmp_path / "nodes.parquet", links=pl.DataFrame(LINKS)), from_files)


def test_links_given_before_nodes_are_known_by_their_columns(from_files: c2n.Corpus) -> None:
    assert_same(c2n.read_tables(pd.DataFrame(LINKS), pd.DataFrame(NODES)), from_files)


def test_objects_items_and_mentions_are_taken_by_name_and_by_order() -> None:
    objects = pd.DataFrame({"id": ["a", "b"]})
    items = pl.DataFrame({"item": ["p", "q"], "year": [1999, 2004]})
    mentions = pa.table({"item": ["p", "p", "q"], "object": ["a", "b", "a"]})
    by_order = c2n.read_tables(objects, items, mentions)
    by_name = c2n.read_tables(objects=objects, items=items, mentions=mentions)
    assert by_order.mentions.equals(by_name.mentions)
    cube = c2n.build(objects=objects, items=items, mentions=mentions, dimensions=["year"], min_objects=1)
    assert repr(cube) == "Cube(year: 2 cells, 2 objects, 1 link)"


def test_a_graph_of_networkx_or_igraph_is_built_directly() -> None:
    nx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    graph = nx.karate_club_graph()
    cube = c2n.build(graph, ["club"])
    other = c2n.build(igraph.Graph.from_networkx(graph), ["club"])
    assert repr(cube) == repr(other) == "Cube(club: 2 cells, 34 objects, 78 links)"
    assert np.array_equal(cube.links.weights, other.links.weights)
    with pytest.raises(ParameterError, match="unknown option of a graph 'wieght'.*did you mean 'weight'"):
        c2n.build(graph, ["club"], wieght="w")


def test_vertices_of_igraph_go_by_their_names_where_these_are_their_own() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)])
    graph.vs["name"], graph.vs["city"] = ["ada", "bob", "eve"], ["Rome", "Oslo", "Oslo"]
    graph.es["weight"] = [2.0, None]
    corpus = c2n.build(graph, ["city"], min_objects=1)
    assert corpus.objects.table["object"].to_pylist() == ["ada", "bob", "eve"]
    graph.vs["name"] = ["ada", "ada", "eve"]
    assert c2n.build(graph, ["city"], min_objects=1).objects.table["object"].to_pylist() == ["0", "1", "2"]
    with pytest.raises(SourceError, match="the graph has no nodes"):
        c2n.build(igraph.Graph())


def items_of(nodes: Any) -> dict[str, list[Any]]:
    ids = nodes.index.tolist() if isinstance(nodes, pd.DataFrame) and "id" not in nodes else None
    keys = ids or (nodes["id"].tolist() if isinstance(nodes, pd.DataFrame) else nodes["id"].to_pylist())
    links = pd.DataFrame({"source": keys[:1], "target": keys[1:2]})
    return c2n.read_tables(nodes=nodes, links=links).items.to_pydict()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Categorical(["x", None, "x"]), ["x", None, "x"]),
        (pd.Categorical([3, 5, 3]), [3, 5, 3]),
        (pd.array([1, None, 3], dtype="Int64"), [1, None, 3]),
        (pd.array([1.5, None, 3], dtype="Float32"), [1.5, None, 3.0]),
        (pd.array([True, None, False], dtype="boolean"), [True, None, False]),
        (pd.array(["x", pd.NA, "y"], dtype="string"), ["x", None, "y"]),
        (["x", None, float("nan")], ["x", None, None]),
        (pd.Series(["x", pd.NA, "y"], dtype=object), ["x", None, "y"]),
        ([1, "x", None], ["1", "x", None]),
        ([["a", "b"], ["c"], None], [["a", "b"], ["c"], []]),
        pytest.param([{"b", "a"}, ("c",), np.array(["d"])], [["a", "b"], ["c"], ["d"]], id="set, tuple, array"),
        ([["a"], "b", None], [["a"], ["b"], []]),
        ([date(2001, 2, 3), None, date(2002, 2, 3)], [date(2001, 2, 3), None, date(2002, 2, 3)]),
        ([Decimal("1.5"), Decimal("2.25"), None], [1.5, 2.25, None]),
        (pd.Series(pd.period_range("2001", periods=3, freq="Y")), ["2001", "2002", "2003"]),
        (pd.arrays.SparseArray([0, 0, 7]), [0, 0, 7]),
    ],
    ids=str,
)
def test_a_pandas_column_of_any_kind_is_an_attribute(column: Any, expected: list[Any]) -> None:
    got = items_of(pd.DataFrame({"id": ["a", "b", "c"], "x": column}))["x"]
    assert [value or [] if isinstance(expected[0], list) else value for value in got] == expected


def test_times_of_pandas_stay_times() -> None:
    stamps = pd.to_datetime(["2001-02-03 04:05", None, "2002-02-03 00:00"])
    got = items_of(pd.DataFrame({"id": ["a", "b", "c"], "x": stamps}))["x"]
    assert [value and value.year for value in got] == [2001, None, 2002]
    aware = stamps.tz_localize("Europe/Rome")
    assert items_of(pd.DataFrame({"id": ["a", "b", "c"], "x": aware}))["x"][0].year == 2001


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.large_string(), ["x", None, "y"], ["x", None, "y"]),
        (pa.string_view(), ["x", None, "y"], ["x", None, "y"]),
        (pa.dictionary(pa.int8(), pa.large_string()), ["x", None, "x"], ["x", None, "x"]),
        (pa.decimal128(38, 0), [1, None, 3], [1, None, 3]),
        (pa.decimal128(38, 0), [10**30, 1, 2], [1e30, 1.0, 2.0]),
        (pa.decimal256(40, 2), [Decimal("1.25"), None, Decimal("3")], [1.25, None, 3.0]),
        (pa.large_list(pa.large_string()), [["x", "y"], None, ["z"]], [["x", "y"], [], ["z"]]),
        (pa.list_(pa.string_view()), [["x", "y"], None, ["z"]], [["x", "y"], [], ["z"]]),
        (pa.float16(), [1.5, None, 2.0], [1.5, None, 2.0]),
        (pa.uint64(), [1, None, 3], [1.0, None, 3.0]),
    ],
    ids=str,
)
def test_an_arrow_column_of_any_layout_is_an_attribute(kind: pa.DataType, values: list[Any], expected: Any) -> None:
    got = items_of(pa.table({"id": ["a", "b", "c"], "x": pa.array(values, kind)}))["x"]
    assert [value or [] if isinstance(expected[0], list) else value for value in got] == expected


def test_columns_packed_by_runs_or_of_other_types_are_unpacked() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"]))
    assert items_of(pa.table({"id": ["a", "b", "c"], "x": runs}))["x"] == ["x", "x", "y"]
    bools = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1], pa.int8()))
    assert items_of(pa.table({"id": ["a", "b", "c"], "x": bools}))["x"] == [1, 0, 1]


def test_columns_with_fields_inside_are_left_out_and_said() -> None:
    said: list[str] = []
    nodes = pd.DataFrame({"id": ["a", "b"], "x": [{"y": 1}, {"y": 2}], "city": ["Rome", "Oslo"]})
    links = pd.DataFrame({"source": ["a"], "target": ["b"]})
    corpus = c2n.read_tables(nodes, links, progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.attributes == ("city",)
    assert "the table of nodes: left out columns with fields inside: 'x'" in said


def test_an_index_with_a_name_is_a_column() -> None:
    named = pd.DataFrame(NODES).set_index("id")
    assert c2n.read_tables(named, pd.DataFrame(LINKS)).objects["object"].to_pylist() == NODES["id"]
    pairs = pd.DataFrame(LINKS).set_index(["source", "target"])
    assert c2n.read_tables(named, pairs).links.num_rows == 2


def test_an_index_without_a_name_holds_the_ids_where_nothing_else_does() -> None:
    nodes = pd.DataFrame({"city": NODES["city"]}, index=NODES["id"])
    assert c2n.read_tables(nodes, pd.DataFrame(LINKS)).objects["object"].to_pylist() == NODES["id"]
    numbered = pd.DataFrame({"city": NODES["city"]}, index=[7, 5, 9])
    links = pd.DataFrame({"source": [7], "target": [9]})
    assert c2n.read_tables(numbered, links).objects["object"].to_pylist() == ["7", "5", "9"]


def test_what_a_filter_leaves_of_a_count_of_rows_is_no_attribute() -> None:
    nodes, links = pd.DataFrame(NODES), pd.DataFrame(LINKS)
    corpus = c2n.read_tables(nodes[nodes.born > 1975], links[links.weight < 2])
    assert corpus.attributes == ("city", "born")
    assert corpus.objects["object"].to_pylist() == ["bob", "eve"]


def test_an_index_that_is_a_column_already_is_not_taken_twice() -> None:
    nodes = pd.DataFrame(NODES).set_index("id", drop=False)
    assert c2n.read_tables(nodes, pd.DataFrame(LINKS)).attributes == ("city", "born")


def test_names_of_columns_need_not_be_texts() -> None:
    nodes = pd.DataFrame({"id": ["a", "b"], 7: ["x", "y"]})
    links = pd.DataFrame({"source": ["a"], "target": ["b"]})
    assert c2n.read_tables(nodes, links).attributes == ("7",)
    nested = pd.DataFrame([["a", "x"], ["b", "y"]], columns=pd.MultiIndex.from_tuples([("id", ""), ("home", "city")]))
    assert c2n.read_tables(nested, links, columns={"nodes.id": "id "}).attributes == ("home city",)


def test_a_texts_half_sign_is_lost_and_not_the_table() -> None:
    nodes = pd.DataFrame({"id": ["a", "b"], "x": pd.Series(["x\ud800", "y"], dtype=object)})
    assert items_of(nodes)["x"] == ["x?", "y"]


def test_links_alone_are_built_and_suggested_for_like_any_single_table() -> None:
    rows = [(f"c{row % 30}", f"c{row * 11 % 29}", 2000 + row % 7, 1 + row % 12) for row in range(600)]
    votes = pd.DataFrame([row for row in rows if row[0] != row[1]], columns=["from", "to", "year", "points"])
    cubes = [c2n.build(votes), c2n.build(links=votes), c2n.build(pl.from_pandas(votes))]
    assert {str(cube) for cube in cubes} == {"Cube(year: 7 cells, 30 objects, 390 links)"}
    assert [str(spec) for spec in c2n.suggest(votes).dimensions] == ["year@years/decades"]
    assert c2n.suggest(links=votes).reason.startswith("no attribute tells objects apart well; 100% of the objects are")


@pytest.mark.parametrize(
    ("told", "call"),
    [
        (
            "found no dimensions for a cube: no attribute tells groups of objects apart",
            lambda: c2n.build(pd.DataFrame({"id": ["a", "b", "c"], "town": ["Rome"] * 3})),
        ),
        (
            "the table of nodes is one column, a polars Series, expected a table with columns",
            lambda: c2n.read_tables(pl.Series(["a"]), pl.DataFrame(LINKS)),
        ),
        (
            "table 1 is 5, expected a path, or a frame: of pandas or Polars, an Arrow table, a DuckDB relation, or "
            "anything that exports Arrow data",
            lambda: c2n.read_tables(5),
        ),
        (
            "'nods' is no table: expected some of nodes, links, objects, items, mentions, labels, terms, records",
            lambda: c2n.read_tables({"nods": pd.DataFrame(NODES), "links": pd.DataFrame(LINKS)}),
        ),
        (
            "got nodes: expected nodes and links, or objects, items and mentions (and links)",
            lambda: c2n.read_tables(nodes=pd.DataFrame(NODES)),
        ),
        (
            "a table is given beside items: name them all, such as nodes=…, links=…",
            lambda: c2n.read_tables(pd.DataFrame(NODES), items=pd.DataFrame(NODES)),
        ),
        ("the table of nodes has a header and no rows, expected nodes", lambda: c2n.read_tables(EMPTY, EMPTY)),
        ("build has no parameter 'min_object' (did you mean 'min_objects'?)", lambda: build(min_object=1)),
        ("unknown option of tables 'linkz'", lambda: build(linkz=1)),
        (
            "the data is 7, expected a corpus, a frame, a path, a list or mapping of frames or paths, or a graph",
            lambda: c2n.build(7),
        ),
        (
            "build is given nothing to read, expected a corpus, a frame, a path, a list or mapping of frames or paths, "
            "or a graph",
            c2n.build,
        ),
        (
            "the table of nodes, a duckdb DuckDBPyRelation, cannot be read: ",
            lambda: c2n.read_tables(
                duckdb.connect().sql("SELECT 1/(x-1) / 0 AS id, error('no') AS y FROM range(2) t(x)"), EMPTY
            ),
        ),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused_in_one_sentence(told: str, call: Any) -> None:
    with pytest.raises(Cube2netError) as refused:
        call()
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)


EMPTY = pd.DataFrame({"id": [], "source": [], "target": []})


def build(**options: Any) -> c2n.Cube:
    return c2n.build(pd.DataFrame(NODES), links=pd.DataFrame(LINKS), **options)


CELLS = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.integers(-5, 5),
    st.floats(),
    st.booleans(),
    st.sets(st.text(max_size=2), max_size=2),
    st.dates(),
)


@given(st.lists(CELLS, min_size=2, max_size=6))
def test_whatever_values_a_pandas_column_mixes_the_frame_is_read(values: list[Any]) -> None:
    nodes = pd.DataFrame({"id": [f"n{place}" for place in range(len(values))], "x": pd.Series(values, dtype=object)})
    corpus = c2n.read_tables(nodes, pd.DataFrame({"source": ["n0"], "target": ["n1"]}))
    assert corpus.items.num_rows == len(values)


def test_amounts_of_money_in_a_frame_are_numbers_and_digits_alone_are_codes() -> None:
    frame = pd.DataFrame({"id": list("abc"), "price": ["£1.50", "£20", "£3"], "zip": ["12345", "54321", "12345"]})
    corpus = c2n.read_tables(frame, pd.DataFrame({"from": ["a"], "to": ["b"]}))
    assert corpus.items["price"].to_pylist() == [1.5, 20.0, 3.0]
    assert corpus.items["zip"].to_pylist() == ["12345", "54321", "12345"]
