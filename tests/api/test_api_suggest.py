"""Dimensions that nobody named: build takes those that are proposed, and a query ranks them."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.api.suggest import held_share
from cube2net.errors import ParameterError, QueryError
from cube2net.model.corpus import LINKS, MENTIONS, OBJECTS, table

from toys import toy_cube

THEMES = {theme: [f"{theme}{number}" for number in range(8)] for theme in ("farm", "ship", "song", "law")}


def write_sheet(folder: Path, rows: range, seed: int = 0) -> Path:
    """Write nodes with a city, its state and a text under a name of its own, and their links."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    lines = ["id,city,state,about the firm"]
    for row in rows:
        city, theme = int(rng.integers(12)), list(THEMES)[int(rng.integers(4))]
        lines.append(f"n{row},city {city},state {city // 4},{' '.join(rng.choice(THEMES[theme], 10))}")
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    links = ["source,target", *(f"n{row},n{row + 1}" for row in list(rows)[:-1])]
    (folder / "links.csv").write_text("\n".join(links) + "\n", encoding="utf-8")
    return folder


def read_sheet(folder: Path, rows: range, seed: int = 0) -> c2n.Corpus:
    """Return a corpus whose texts are an attribute under a name of its own, whatever the reader takes it for."""
    corpus = c2n.read_tables(write_sheet(folder, rows, seed))
    names = ["about the firm" if name == "text" else name for name in corpus.items.column_names]
    return replace(corpus, items=corpus.items.rename_columns(names))


def said(remarks: list[str]):
    return lambda stage, done, total=None: remarks.append(stage)


def test_a_sheet_is_built_in_the_dimensions_that_are_proposed_topics_included(tmp_path):
    remarks: list[str] = []
    corpus = read_sheet(tmp_path / "sheet", range(400))
    found = c2n.suggest(corpus)
    cube = c2n.build(corpus, progress=said(remarks))
    assert [dimension.levels[0].name for dimension in cube.dimensions] == [spec.name for spec in found.dimensions]
    assert "topic" in [dimension.levels[0].name for dimension in cube.dimensions]
    assert cube.settings["topics"]["count"] == found.topics == 5
    assert cube.settings["topics"]["text"] == "about the firm"
    assert any(stage.startswith("dimensions, unless others are named: ") for stage in remarks)
    assert "topics are of 'about the firm', which reads as text" in remarks
    named = c2n.build(corpus, [str(spec) for spec in found.dimensions], topics="lda")
    assert named.settings["topics"]["count"] == 5


def test_texts_without_topics_make_no_dimension_unless_it_is_named(tmp_path):
    remarks: list[str] = []
    corpus = read_sheet(tmp_path / "sheet", range(400))
    same = pa.array(["a b c d e f g h i j k l m n o p q r s t u v"] * 400)
    corpus = replace(corpus, items=corpus.items.drop_columns("about the firm").append_column("text", same))
    cube = c2n.build(corpus, progress=said(remarks), out=tmp_path / "cube")
    assert [dimension.name for dimension in cube.dimensions] == ["city"]
    assert "the texts gave no topics that tell items apart: the dimension topic is left out" in remarks
    assert c2n.build(corpus, ["city", "topic"]).dimensions[1].labels == ("no text",)


def test_build_from_files_proposes_as_build_of_a_corpus_does(tmp_path):
    folder = write_sheet(tmp_path / "sheet", range(300))
    built = c2n.build(folder, source="tables", out=tmp_path / "cube")
    here = c2n.build(c2n.read_tables(folder))
    assert str(built) == str(here)
    assert built.cells.members.indices.tolist() == here.cells.members.indices.tolist()


def test_a_cube_with_topics_of_an_attribute_grows_by_the_same_attribute(tmp_path):
    corpus = read_sheet(tmp_path / "sheet", range(400))
    c2n.build(corpus, ["topic"], out=tmp_path / "cube")
    grown = c2n.update(tmp_path / "cube", read_sheet(tmp_path / "more", range(400, 403), seed=1))
    assert len(grown.objects) == 403
    assert "no text" not in grown.dimensions[0].labels


def test_dimensions_that_a_source_proposes_stay():
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    cube = c2n.build(planted.corpus)
    assert [dimension.levels[0].name for dimension in cube.dimensions] == ["decade", "venue", "topic"]


def test_a_build_that_would_have_no_cells_is_refused_with_the_reasons():
    ids = ["a", "b", "c", "d"]
    every = np.arange(4, dtype=np.int32)
    corpus = c2n.Corpus(
        table(OBJECTS, object=ids, name=ids, kind=ids),
        pa.table({"item": ids, "city": ["Rome", "Oslo", "Rome", "Oslo"]}),
        table(MENTIONS, item=every, object=every),
    )
    with pytest.raises(ParameterError) as refused:
        c2n.build(corpus, min_objects=10)
    assert str(refused.value) == (
        "found no dimensions for a cube: no attribute makes two cells of 10 objects: with 2 in a cell city would "
        "(min_objects=2)"
    )
    assert len(c2n.build(corpus).cells) == len(c2n.build(corpus, ["city"]).cells) == 2
    assert len(c2n.build(corpus, ["city"], min_objects=10).cells) == 0, "named dimensions are used in any case"


def planted_table(seed: int = 0) -> tuple[c2n.Corpus, list[str]]:
    """Return nodes whose query lies in two labels of ``field``, beside two attributes by chance."""
    rng = np.random.default_rng(seed)
    count = 1_200
    field, colour, day = (rng.integers(size, size=count) for size in (24, 24, 7))
    ids = [f"n{row}" for row in range(count)]
    every = np.arange(count, dtype=np.int32)
    corpus = c2n.Corpus(
        table(OBJECTS, object=ids, name=ids, kind=["x"] * count),
        pa.table(
            {
                "item": ids,
                "colour": [f"colour {x}" for x in colour],
                "field": [f"field {x}" for x in field],
                "day": [f"day {x}" for x in day],
            }
        ),
        table(MENTIONS, item=every, object=every),
        links=table(LINKS),
    )
    return corpus, [ids[row] for row in np.flatnonzero((field == 3) | (field == 7))]


@pytest.mark.parametrize("seed", range(3))
def test_a_query_finds_the_dimension_it_was_planted_in(seed):
    corpus, query = planted_table(seed)
    found = c2n.suggest(corpus, query, splits=4)
    assert [str(spec) for spec in found.dimensions] == ["field"]
    held = {str(each.dimensions[0]): each.held for each in found.alone}
    assert held["field"].mean > 0.9 and held["field"].low > 3 * held["colour"].high
    assert next(iter(held)) == "field" and found.query == len(query)
    assert found.reason.startswith("of a hidden half of the query its cells hold 100%")


def test_a_query_that_lies_in_two_attributes_together_gets_both():
    corpus, _ = planted_table()
    rows = corpus.items.to_pylist()
    query = [
        row["item"]
        for row in rows
        if row["day"] in ("day 1", "day 2") and row["field"] in ("field 3", "field 7", "field 9")
    ]
    found = c2n.suggest(corpus, query, min_objects=3, splits=4)
    assert {str(spec) for spec in found.dimensions} == {"field", "day"}


def test_the_same_seed_ranks_the_same_and_a_file_may_name_the_query(tmp_path):
    corpus, query = planted_table()
    (tmp_path / "query.txt").write_text("\n".join(query) + "\n", encoding="utf-8")
    one, two = c2n.suggest(corpus, query, splits=3), c2n.suggest(corpus, tmp_path / "query.txt", splits=3)
    assert one.record() == two.record()


def test_topics_that_are_known_are_ranked_too(tmp_path):
    corpus = read_sheet(tmp_path / "sheet", range(400))
    farms = [row["item"] for row in corpus.items.to_pylist() if "farm" in row["about the firm"]]
    found = c2n.suggest(corpus, farms, splits=3)
    assert str(found.alone[0].dimensions[0]) == "topic" and found.alone[0].held.mean > 0.7
    assert "topic" in [str(spec) for spec in found.dimensions]


def test_bad_queries_are_refused():
    corpus, query = planted_table()
    with pytest.raises(QueryError, match="the query has 3 objects, expected 4 or more to hide half of them"):
        c2n.suggest(corpus, query[:3])
    with pytest.raises(QueryError, match="not in the cube: 'nobody'"):
        c2n.suggest(corpus, [*query, "nobody"])
    with pytest.raises(ParameterError, match="splits is 1, expected a whole number of 2 to 1,000"):
        c2n.suggest(corpus, query, splits=1)


def test_the_share_held_is_that_of_the_same_number_of_objects():
    cube = toy_cube([[0, 1, 2, 3], [3, 4, 5, 6, 7, 8]], objects=20)
    visible, hidden = np.array([0]), np.array([1, 2, 4, 19])
    assert held_share(cube, [0, 1], visible, hidden, 3) == 0.5
    assert held_share(cube, [0, 1], visible, hidden, 1) == pytest.approx(2 / 3 / 4)
    assert held_share(cube, [0, 1], visible, hidden, 4) == pytest.approx((2 + 1 / 5) / 4)
    assert held_share(cube, [0], visible, hidden, 3 + 4) == pytest.approx((2 + 2 * 4 / 16) / 4)
    assert held_share(cube, [], visible, hidden, 19) == 1


def test_dimensions_are_suggested_for_whatever_a_cube_is_built_of():
    people = {"id": [f"n{i}" for i in range(60)], "city": ["Rome", "Oslo", "Bern"] * 20}
    knows = {"source": [f"n{i}" for i in range(59)], "target": [f"n{i}" for i in range(1, 60)]}
    graph = nx.Graph(list(zip(knows["source"], knows["target"], strict=True)))
    nx.set_node_attributes(graph, dict(zip(people["id"], people["city"], strict=True)), "city")
    nodes, links = pd.DataFrame(people), pd.DataFrame(knows)
    wanted = c2n.suggest(c2n.read_tables(nodes=nodes, links=links)).dimensions
    assert [str(spec) for spec in wanted] == ["city"]
    assert c2n.suggest(nodes, links=links).dimensions == wanted
    assert c2n.suggest({"nodes": nodes, "links": links}).dimensions == wanted
    assert c2n.suggest(nodes=nodes, links=links).dimensions == wanted
    assert c2n.suggest(graph).dimensions == wanted
    records = pd.DataFrame({"paper": [*range(40)] * 2, "author": [*"abcdefgh"] * 10, "venue": [*"xyzw"] * 20})
    found = c2n.suggest(records, item="paper", objects="author", min_objects=2)
    assert [str(spec) for spec in found.dimensions] == ["venue"]
    with pytest.raises(ParameterError, match=r"suggest has no parameter 'split' \(did you mean 'splits'\?\)"):
        c2n.suggest(nodes, links=links, split=3)
    with pytest.raises(ParameterError, match="suggest is given nothing to read, expected a corpus, a frame"):
        c2n.suggest()
