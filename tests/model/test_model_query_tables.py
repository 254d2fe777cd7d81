"""A query is taken from whatever lists objects in memory, the same whatever it is."""

import uuid
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.errors import QueryError

NAMES, LABELS = ["o3", "o0", "o7"], ["red", "blue", "red"]


@pytest.fixture(scope="module")
def cube() -> c2n.Cube:
    return c2n.build(c2n.make_planted(objects=200, communities=4).corpus)


@pytest.fixture(scope="module")
def numbered() -> c2n.Cube:
    nodes = pd.DataFrame({"id": [70, 10, 30], "city": ["Rome", "Oslo", "Oslo"]})
    return c2n.build(nodes, links=pd.DataFrame({"source": [70], "target": [30]}), dimensions=["city"], min_objects=1)


LISTED: dict[str, Any] = {
    "list": NAMES,
    "tuple": tuple(NAMES),
    "keys": dict.fromkeys(NAMES).keys(),
    "series": pd.Series(NAMES, index=[5, 6, 7]),
    "categories": pd.Series(NAMES, dtype="category"),
    "index": pd.Index(NAMES),
    "pandas array": pd.array(NAMES, dtype="string"),
    "numpy": np.array(NAMES),
    "numpy objects": np.array(NAMES, dtype=object),
    "polars": pl.Series(NAMES),
    "arrow": pa.array(NAMES),
    "arrow chunks": pa.chunked_array([NAMES[:1], NAMES[1:]]),
    "arrow dictionary": pa.array(NAMES).dictionary_encode(),
    "one column": pd.DataFrame({"whoever": NAMES}),
}


@pytest.mark.parametrize("kind", LISTED)
def test_objects_are_taken_from_whatever_lists_them(kind: str, cube: c2n.Cube) -> None:
    query = cube.query(LISTED[kind])
    assert query.objects.tolist() == [0, 3, 7]
    assert query.labels is None


TABLES: dict[str, Any] = {
    "mapping": dict(zip(NAMES, LABELS, strict=True)),
    "pandas": pd.DataFrame({"Object": NAMES, "LABEL": LABELS, "more": [1, 2, 3]}),
    "pandas by id": pd.DataFrame({"id": NAMES, "label": LABELS}),
    "pandas index": pd.DataFrame({"label": LABELS}, index=pd.Index(NAMES, name="object")),
    "pandas index kept": pd.DataFrame({"object": NAMES, "label": LABELS}).set_index("object", drop=False),
    "polars": pl.DataFrame({"object": NAMES, "label": LABELS}),
    "lazy": pl.LazyFrame({"object": NAMES, "label": LABELS}),
    "arrow": pa.table({"object": NAMES, "label": LABELS}),
    "batch": pa.RecordBatch.from_pydict({"object": NAMES, "label": LABELS}),
    "reader": None,
    "duckdb": None,
    "lists": {"object": NAMES, "label": LABELS},
    "arrays": {"Object": np.array(NAMES), "label": pd.Series(LABELS), "more": (1, 2, 3)},
    "another name": pd.DataFrame({"age": [0, 3, 7], "city": ["Rome"] * 3, "who": NAMES, "label": LABELS}),
    "ids of others": pd.DataFrame({"id": ["x1", "x2", "x3"], "who": NAMES, "label": LABELS}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_labels_are_taken_from_a_table(kind: str, cube: c2n.Cube) -> None:
    table = pa.table({"object": NAMES, "label": LABELS})
    fresh = {"reader": table.to_reader(), "duckdb": duckdb.connect().from_arrow(table)}
    query = cube.query(fresh.get(kind, TABLES[kind]))
    assert query.objects.tolist() == [0, 3, 7]
    assert query.labels == ("blue", "red", "red")


def test_labels_that_pandas_lacks_are_none(cube: c2n.Cube) -> None:
    for missing in (None, np.nan, pd.NA, pd.NaT):
        frame = pd.DataFrame({"object": NAMES, "label": pd.Series(["red", missing, "red"], dtype=object)})
        assert cube.query(frame).labels == ("", "red", "red")


def test_a_network_and_its_nodes_are_a_query(cube: c2n.Cube) -> None:
    labelled = dict(zip(NAMES, LABELS, strict=True))
    network = c2n.construct(cube, labelled)
    again = cube.query(network)
    assert again.objects.tolist() == sorted(network.objects.tolist())
    assert cube.query(network.nodes).objects.tolist() == again.objects.tolist()
    assert again.labels is not None
    assert dict(zip(again.objects.tolist(), again.labels, strict=True))[3] == "red"
    assert cube.query(c2n.construct(cube, NAMES)).labels is None


def test_a_query_of_another_cube_is_asked_by_its_ids(cube: c2n.Cube) -> None:
    assert cube.query(cube.query(TABLES["mapping"])).labels == ("blue", "red", "red")


def test_whole_numbers_are_ids_where_ids_are_whole_numbers(numbered: c2n.Cube) -> None:
    for ids in ([30, 70], pd.Series([30, 70]), np.array([30, 70]), pl.Series([30, 70]), pa.array([30, 70])):
        assert numbered.query(ids).objects.tolist() == [0, 2]
    halves = pd.DataFrame({"id": [30, 70, None]}).dropna()
    assert halves["id"].dtype == float
    assert numbered.query(halves).objects.tolist() == [0, 2]


def test_every_door_takes_a_frame(cube: c2n.Cube) -> None:
    frame = pd.DataFrame({"object": [f"o{row}" for row in range(40)], "label": ["a", "b"] * 20})
    network = c2n.construct(cube, frame)
    assert len(network.query) == 40
    assert c2n.construct(cube, pl.from_pandas(frame[["object"]]).to_series()).query.labels is None
    comparison = c2n.compare(cube, frame, methods=["none"], runs=1)
    assert comparison is not None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            pd.DataFrame({"who": ["x", "y", "z"], "what": LABELS, "age": [0, 1, 2]}),
            "the table of the query has no column 'object' or 'id': it has 'who', 'what', 'age', and the cube knows no "
            "value of any of these",
        ),
        (pd.DataFrame({"object": []}), "the query is empty: name at least one object"),
        (pd.Series(["o1", None]), "query lists 2 objects, and 1 of them is missing (cube.query(…, skip_missing=True) "),
        (
            pd.Series(["o1", pd.NA, None]),
            "query lists 3 objects, and 2 of them are missing (cube.query(…",
        ),
        ({"object": ["o1", "o2"], "label": ["a"]}, "the columns of the query's table are not of one length: "),
        (np.array([0.5]), "query has 1 object that is neither a text nor a whole number: 0.5"),
        (np.array("o1"), "a query is a list of objects, got "),
        (5, "a query is a list of objects, got 5"),
    ],
)
def test_what_lists_no_objects_is_refused(asked: Any, message: str, cube: c2n.Cube) -> None:
    with pytest.raises(QueryError) as refused:
        cube.query(asked)
    assert str(refused.value).startswith(message)


def test_values_that_are_missing_are_left_out_and_listed(cube: c2n.Cube, numbered: c2n.Cube) -> None:
    query = cube.query(pd.Series(["o1", None, "o2"], dtype=object), skip_missing=True)
    assert (query.objects.tolist(), query.missing) == ([1, 2], ("None",))
    query = numbered.query(pd.Series([30, None, 70]), skip_missing=True)
    assert (query.objects.tolist(), query.missing) == ([0, 2], ("nan",))
    with pytest.raises(QueryError, match="query lists 3 objects, and 1 of them is missing"):
        numbered.query(pd.Series([30, None, 70]))


def test_a_column_of_numbers_is_taken_for_ids_only_where_ids_are_numbers(cube: c2n.Cube, numbered: c2n.Cube) -> None:
    frame = pd.DataFrame({"row": [0, 1], "who": ["o5", "nobody"]})
    assert cube.query(frame, skip_missing=True).objects.tolist() == [5]
    assert numbered.query(pd.DataFrame({"age": [5, 6], "customer": [10, 30]})).objects.tolist() == [1, 2]
    assert numbered.query(pd.DataFrame({"age": [10, 30], "id": [70, 99]}), skip_missing=True).objects.tolist() == [0]


def test_urls_are_the_ids_that_they_end_with_unless_they_are_ids_themselves() -> None:
    ids = ["A5", "10.1/x", "x", "https://a.org/A7", "A7"]
    nodes = pd.DataFrame({"id": ids, "city": ["Rome"] * 5})
    links = pd.DataFrame({"source": ["A5"], "target": ["x"]})
    cube = c2n.build(nodes, links=links, dimensions=["city"], min_objects=1)
    assert cube.query(["https://openalex.org/A5"]).objects.tolist() == [0]
    assert cube.query(["HTTP://openalex.org/authors/A5/?page=2#top"]).objects.tolist() == [0]
    assert cube.query(["https://doi.org/10.1/x"]).objects.tolist() == [1]
    assert cube.query(["https://a.org/y/x"]).objects.tolist() == [2]
    assert cube.query(["https://a.org/A7"]).objects.tolist() == [3]
    assert cube.query(["https://b.org/A7"]).objects.tolist() == [4]
    assert cube.query({"https://b.org/A7": "red", "A5": "blue"}).labels == ("blue", "red")
    assert cube.query(pd.DataFrame({"n": [1], "who": ["https://b.org/A5"]})).objects.tolist() == [0]
    query = cube.query(["A5", "https://b.org/A9", "https://b.org", "openalex.org/A7"], skip_missing=True)
    assert query.missing == ("https://b.org/A9", "https://b.org", "openalex.org/A7")


def test_urls_of_whole_numbers_are_ids(numbered: c2n.Cube) -> None:
    assert numbered.query(["https://a.org/people/30"]).objects.tolist() == [2]


def test_whole_numbers_of_a_table_are_ids_where_ids_are_texts() -> None:
    nodes = pd.DataFrame({"id": ["5", "0", "x"], "city": ["Rome", "Oslo", "Oslo"]})
    links = pd.DataFrame({"source": ["5"], "target": ["x"]})
    cube = c2n.build(nodes, links=links, dimensions=["city"], min_objects=1)
    assert cube.query(pd.DataFrame({"id": [5, 0]})).objects.tolist() == [0, 1]
    assert cube.query({"object": [0], "label": ["a"]}).objects.tolist() == [1]
    with pytest.raises(QueryError, match="1 object that is not in the cube: '2'"):
        cube.query(pd.DataFrame({"id": [0, 2]}))


COUNTS = pd.Series(["o3"] * 3 + ["o0"] * 2 + ["o7"], name="author").value_counts()
BY_INDEX = r"a series of numbers \(.*\) whose index names objects: give series.index, series.to_dict\(\) where"
NO_IDS = r"of whole numbers \(.*\), and the ids of this cube are texts: give ids or names, or row numbers as a list$"
NUMBERS: dict[str, tuple[Any, str]] = {
    "counts": (COUNTS, BY_INDEX),
    "sizes": (pd.DataFrame({"author": ["o3", "o0", "o3"], "paper": [1, 1, 2]}).groupby("author").size(), BY_INDEX),
    "means": (pd.DataFrame({"author": ["o3", "o0"], "age": [1.5, 2]}).groupby("author")["age"].mean(), BY_INDEX),
    "whole means": (pd.Series([1.0, 2.0], index=["o3", "o0"]), BY_INDEX),
    "numbers alone": (pd.Series([15, 14, 3]), "the query is a series " + NO_IDS),
    "a filtered column": (pd.Series([15.0, 3.0], index=[4, 9]), "the query is a series " + NO_IDS),
    "a range": (pd.RangeIndex(3), "the query is an index " + NO_IDS),
    "an index": (pd.Index([4, 5]), "the query is an index " + NO_IDS),
    "polars": (pl.Series([1, 2]), "the query is a series " + NO_IDS),
    "a frame of fractions": (pd.DataFrame({"id": [1.0, 2.0]}), "query names 2 objects that are not in the cube"),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_a_series_are_never_taken_for_rows(kind: str, cube: c2n.Cube) -> None:
    asked, message = NUMBERS[kind]
    for skip in (False, True) if kind != "a frame of fractions" else (False,):
        with pytest.raises(QueryError, match=message):
            cube.query(asked, skip_missing=skip)
    with pytest.raises(QueryError):
        c2n.construct(cube, cube.query(["o1"]), pins=asked)


def test_row_numbers_are_a_list_or_an_array(cube: c2n.Cube) -> None:
    for rows in ([0, 3], (0, 3), np.array([0, 3]), range(0, 4, 3), pa.array([0, 3])):
        assert cube.query(rows).objects.tolist() == [0, 3]


def test_what_a_sentence_on_a_series_advises_works(cube: c2n.Cube) -> None:
    assert cube.query(COUNTS.index).objects.tolist() == [0, 3, 7]
    assert cube.query(COUNTS.to_dict()).labels == ("2", "3", "1")
    assert cube.query(pd.Series([15, 3]).to_list()).objects.tolist() == [3, 15]


def test_a_series_of_labels_gives_them_to_its_index(cube: c2n.Cube) -> None:
    by_name = pd.Series(LABELS, index=NAMES)
    assert cube.query(by_name).labels == ("blue", "red", "red")
    assert cube.query(by_name.rename_axis("who")).objects.tolist() == [0, 3, 7]
    with pytest.raises(QueryError, match="query names 2 objects that are not in the cube: 'red', 'blue'"):
        cube.query(pd.Series(LABELS))
    advisers = pd.Series(["o5", "o6"], index=["o1", "o2"])
    assert cube.query(advisers).objects.tolist() == [5, 6]


def test_counts_of_objects_are_refused_where_ids_are_numbers_too(numbered: c2n.Cube) -> None:
    counts = pd.Series([10, 30], index=pd.Index([30, 70], name="customer"), name="count")
    with pytest.raises(QueryError, match=BY_INDEX):
        numbered.query(counts)
    assert numbered.query(counts.index).objects.tolist() == [0, 2]
    assert numbered.query(counts.rename("id")).objects.tolist() == [1, 2]
    assert numbered.query(pd.Series([10, 30], index=[30, 70])).objects.tolist() == [1, 2]
    assert numbered.query(pd.Series([10, 30], index=pd.Index([10, 30], name="id"))).objects.tolist() == [1, 2]
    assert numbered.query(pd.Series([30.0, 70.0])).objects.tolist() == [0, 2]


@pytest.mark.parametrize("mask", [pd.Series([True, False]), np.array([True, False]), pl.Series([True]), [True, False]])
def test_a_mask_is_told_what_to_give(mask: Any, cube: c2n.Cube, numbered: c2n.Cube) -> None:
    for asked in (cube, numbered):
        with pytest.raises(QueryError, match=r"\(a mask\? give what it keeps, such as frame\[mask\]\)$"):
            asked.query(mask)


@pytest.mark.parametrize("kind", ["nodes", "records"])
def test_whole_ids_that_pandas_made_fractions_of_are_whole_numbers(kind: str) -> None:
    if kind == "nodes":
        people = pd.DataFrame({"id": [101, 102, 103, None], "city": ["Rome", "Oslo", "Oslo", "Rome"]})
        knows = pd.DataFrame({"source": [101, 102, None], "target": [102, 103, 101]})
        cube = c2n.build(people, links=knows, dimensions=["city"], min_objects=1)
        column = people["id"].dropna()
    else:
        papers = pd.DataFrame({"paper": ["a", "a", "b", "b", "c"], "author": [101, 102, 101, 103, None], "year": 1999})
        cube = c2n.build(papers, ["year"], objects="author", item="paper", min_objects=1)
        column = papers["author"].dropna()
    assert column.dtype == float and cube.objects.whole
    assert cube.query(column).objects.tolist() == [0, 1, 2]
    for asked in ([101], [101.0], ["101"], pd.DataFrame({"id": [101.0]}), {101.0: "a"}):
        assert cube.query(asked).objects.tolist() == [0]


def test_ids_that_are_uuids_are_asked_for_as_such() -> None:
    ids = [uuid.UUID(int=number) for number in (5, 6, 7)]
    people = pd.DataFrame({"id": ids, "city": ["Rome", "Oslo", "Oslo"]})
    knows = pd.DataFrame({"source": ids[:2], "target": ids[1:]})
    cube = c2n.build(people, links=knows, dimensions=["city"], min_objects=1)
    asked: tuple[Any, ...] = (ids[:2], pd.Series(ids[:2]), people[:2], {ids[0]: "a", ids[1]: "b"}, np.array(ids[:2]))
    for query in (*asked, list(map(str, ids[:2]))):
        assert cube.query(query).objects.tolist() == [0, 1]
    network = c2n.construct(cube, ids[:1], pins=ids[1])
    assert c2n.explain(network, ids[1]).to_dict()["id"] == str(ids[1])
