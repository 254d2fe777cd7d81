"""Tables: attributes of objects, kinds, times and directions of links, and ids that are whole numbers."""

from datetime import date
from pathlib import Path

import pytest

from cube2net.api.build import build
from cube2net.api.construct import construct
from cube2net.cube.building.build import update
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.errors import SourceError
from cube2net.io.tables.table_source import Tables

from table_files import put, read, write

PEOPLE = [{"id": 3, "city": "Rome"}, {"id": 7, "city": "Oslo"}, {"id": 40, "city": "Rome"}]
KNOWS = [{"source": 3, "target": 7, "weight": 1}, {"source": 7, "target": 40, "weight": 1}]


@pytest.mark.parametrize(("ending", "whole"), [("jsonl", True), ("parquet", True), ("csv", False), ("tsv.gz", False)])
def test_ids_are_whole_numbers_where_the_format_has_types_and_texts_where_it_has_none(
    tmp_path: Path, ending: str, whole: bool
) -> None:
    corpus, _ = read([write(tmp_path / f"nodes.{ending}", PEOPLE), write(tmp_path / f"links.{ending}", KNOWS)])
    assert corpus.whole_ids == whole
    assert corpus.objects["object"].to_pylist() == ["3", "7", "40"]
    network = construct(build(corpus, ["city"], min_objects=1), ["3", "7"], "none")
    assert list(network) == ([3, 7] if whole else ["3", "7"])


def test_padded_numbers_stay_texts(tmp_path: Path) -> None:
    corpus, _ = read(put(tmp_path, nodes="id,city\n007,Rome\n7,Oslo\n", links="source,target\n007,7\n"))
    assert not corpus.whole_ids
    assert corpus.objects["object"].to_pylist() == ["007", "7"]


def test_kind_and_time_of_links_are_read_row_by_row(tmp_path: Path) -> None:
    paths = put(
        tmp_path,
        nodes="id,city\na,Rome\nb,Oslo\n",
        links="from,to,type,date\na,b,knows,2001-02-03\nb,a,cites,\na,a,self,2001-01-01\nb,a,,2005-01-01\n",
    )
    corpus, said = read(paths)
    assert "columns of links: source='from' (guessed), target='to' (guessed), kind='type' (guessed), " in "".join(said)
    assert corpus.links is not None
    assert corpus.links["source"].to_pylist() == [0, 1, 1]
    assert corpus.links["target"].to_pylist() == [1, 0, 0]
    assert corpus.links["kind"].to_pylist() == ["knows", "cites", None]
    assert [time and str(time)[:10] for time in corpus.links["time"].to_pylist()] == ["2001-02-03", None, "2005-01-01"]
    assert corpus.dropped == {"links of an object to itself": 1}
    row = construct(build(corpus, ["city"], min_objects=1), ["a", "b"], "none").links.to_arrow().to_pylist()[0]
    assert (row["weight"], row["kind"], str(row["first"])[:10]) == (3.0, "cites|knows", "2001-02-03")


def test_years_of_links_are_whole_numbers(tmp_path: Path) -> None:
    nodes = [{"id": "a", "x": "1"}, {"id": "b", "x": "1"}]
    rows = [{"source": "a", "target": "b", "year": 2001.0}, {"source": "b", "target": "a", "year": None}]
    for ending in ("jsonl", "parquet"):
        corpus, _ = read([write(tmp_path / f"nodes.{ending}", nodes), write(tmp_path / f"links.{ending}", rows)])
        assert corpus.links is not None
        assert corpus.links["time"].to_pylist() == [2001, None]


def test_a_column_of_times_that_holds_none_is_left_out_and_said(tmp_path: Path) -> None:
    paths = put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\n", links="source,target,time\na,b,soon\nb,a,later\n")
    corpus, said = read(paths)
    assert corpus.links is not None
    assert corpus.links.column_names == ["source", "target", "weight"]
    assert "links.csv: left out 'time' (no dates and no whole numbers such as years)" in said


def test_directed_links_keep_their_ends(tmp_path: Path) -> None:
    paths = put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\n", links="source,target,w\na,b,1\nb,a,4\n")
    corpus, _ = read(paths, directed=True)
    assert corpus.directed
    row = construct(build(corpus, ["city"], min_objects=1), ["a", "b"], "none").links.to_arrow().to_pylist()[0]
    assert (row["weight"], row["forward"], row["backward"]) == (5.0, 1.0, 4.0)
    merged, _ = read(paths)
    assert not merged.directed
    assert merged.links is not None
    assert merged.links.num_rows == 1


def test_columns_of_a_table_of_objects_are_attributes_of_them(tmp_path: Path) -> None:
    paths = put(
        tmp_path,
        objects="id,name,born,object,empty\n1,Ada,1815-12-10,x,\n2,Bob,1900-01-01,y,\n",
        items="paper,year\np,1999\nq,2000\n",
        mentions="item,author\np,1\np,2\nq,1\n",
    )
    corpus, said = read(paths)
    assert corpus.object_attributes == ("born", "object_attribute")
    assert [str(value)[:10] for value in corpus.objects["born"].to_pylist()] == [str(date(1815, 12, 10)), "1900-01-01"]
    assert any("objects.csv: left out 'empty' (empty, or neither labels" in text for text in said)
    nodes = construct(build(corpus, ["year"], min_objects=1), ["1", "2"], "none").nodes.to_arrow()
    assert nodes.column_names[7:] == ["born", "object_attribute", "items", "year"]
    assert nodes["items"].to_pylist() == [2, 1]


def test_an_update_with_ids_of_another_type_is_refused_in_one_sentence(tmp_path: Path) -> None:
    numbers, _ = read([write(tmp_path / "nodes.jsonl", PEOPLE), write(tmp_path / "links.jsonl", KNOWS)])
    texts, _ = read(put(tmp_path, nodes="id,city\nx,Rome\ny,Oslo\n", links="source,target\nx,y\n"))
    cube = build(numbers, ["city"], min_objects=1)
    message = (
        r"the first ids are whole numbers, and those of the new data are texts \(such as 'x'\): give both the same"
    )
    with pytest.raises(SourceError, match=message):
        update(cube, texts, DuckDB())
    directed = Tables(directed=True).read(
        put(tmp_path, nodes="id,city\nv,Rome\nw,Oslo\n", links="source,target\nv,w\n")
    )
    with pytest.raises(SourceError, match="the first links have no direction, and those of the new data lead from"):
        update(build(texts, ["city"], min_objects=1), directed, DuckDB())
