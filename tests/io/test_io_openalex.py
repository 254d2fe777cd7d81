"""What becomes of OpenAlex's works, their authors and what they cite, against a plain reading of the same records."""

from __future__ import annotations

import json
import lzma
import os
import tempfile
import tracemalloc
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.cube.building.build import update
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.errors import SourceError
from cube2net.io.bibliography import openalex
from cube2net.io.bibliography.openalex import CorpusBuilder, OpenAlex
from cube2net.io.bibliography.openalex_works import Batch
from cube2net.model.corpus import Corpus

from openalex_records import FILES, ONE, REAL, check_as_plain, items_of, lines, mentions_of, read, work


def test_real_works_of_every_generation_are_read_as_a_plain_reading_would() -> None:
    corpus = read(FILES["works.jsonl"])
    check_as_plain(corpus, REAL)
    assert corpus.time == "date" and not corpus.directed and corpus.links is None
    assert set(corpus.objects["kind"].to_pylist()) == {"author"}


DATA = Path(os.environ.get("CUBE2NET_DATA", "")) / "openalex"
COUNTS = {
    "works-2023-concepts.jsonl.xz": (6_058, 25_432, "concept"),
    "works-2024-topics.jsonl.xz": (644, 1_984, "topic"),
    "works-2026-marine-rebuilt.jsonl.xz": (1_561, 4_761, "topic"),
    "works-2026-newer.jsonl.xz": (201, None, "topic"),
}


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("CUBE2NET_DATA") or not DATA.is_dir(),
    reason="the environment variable CUBE2NET_DATA names no folder with OpenAlex's works in openalex/",
)
@pytest.mark.parametrize("name", COUNTS)
def test_whole_samples_are_read_as_a_plain_reading_would(name: str) -> None:
    corpus = OpenAlex().read([DATA / name])
    works, authors, subject = COUNTS[name]
    assert corpus.items.num_rows == works
    assert authors is None or corpus.objects.num_rows == authors
    assert subject in [spec.name for spec in corpus.dimensions]
    with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
        check_as_plain(corpus, [json.loads(line) for line in file])


def test_a_cube_is_proposed_of_year_source_topic_and_country_with_their_levels() -> None:
    wanted = ["year@years/decades", "source/publisher", "topic/subfield/field/domain", "country"]
    assert [str(spec) for spec in read(lines(ONE)).dimensions] == wanted
    concepts = [{"display_name": "Cube", "level": 2, "score": "0.9"}]
    older = read(lines(work(1, primary_topic=None, concepts=concepts)))
    wanted[2] = "concept/concept_area/concept_field"
    assert [str(spec) for spec in older.dimensions] == wanted
    assert older.items.select(["concept", "concept_area", "concept_field"]).to_pylist()[0] == {
        "concept": "Cube",
        "concept_area": "other",
        "concept_field": "other",
    }


def test_a_cube_of_real_works_rolls_up_through_all_its_levels() -> None:
    cube = c2n.build(read(FILES["works.jsonl"]), ["topic/subfield/field/domain"], min_objects=1)
    levels = [level.name for level in cube.dimensions[0].levels]
    assert levels == ["topic", "subfield", "field", "domain"]
    items = items_of(read(FILES["works.jsonl"])).values()
    for level in cube.dimensions[0].levels:
        assert set(level.labels) == {item[level.name] for item in items if item["topic"]}


def test_a_work_becomes_an_item_with_all_that_is_said_of_it() -> None:
    corpus = read(lines(ONE))
    item = corpus.items.to_pylist()[0]
    assert item == {
        "item": "W1",
        "year": 2015,
        "date": date(2015, 3, 1),
        "title": "On cubes",
        "source": "Cubes",
        "publisher": "Oslo Press",
        "topic": "Data cubes",
        "subfield": "Databases",
        "field": "Computer Science",
        "domain": "Physical Sciences",
        "type": "article",
        "language": "en",
        "country": ["NO", "SE"],
        "institution": ["Oslo"],
        "cited_by_count": 3,
        "text": "On cubes. We cubes of cubes",
    }
    assert corpus.objects.to_pylist() == [
        {"object": "A1", "name": "Ada", "kind": "author", "orcid": "0000-1", "institution": "Oslo", "country": "NO"},
        {"object": "A2", "name": "Bob", "kind": "author", "orcid": None, "institution": None, "country": None},
    ]


INDEX = {"words": [1], "Some": [0], "here": [2]}


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (INDEX, "Some words here"),
        ({"IndexLength": 3, "InvertedIndex": INDEX}, "Some words here"),
        (json.dumps({"IndexLength": 3, "InvertedIndex": INDEX}), "Some words here"),
        (json.dumps(INDEX), "Some words here"),
        (json.dumps(INDEX)[:-4], "Some words"),
        (json.dumps({"IndexLength": 3, "InvertedIndex": INDEX})[:-14], "Some words"),
        ({"caf\u00e9 \U0001f600": [0], 'a"b\\': [2], "tab\tbed": [1]}, 'caf\u00e9 \U0001f600 tab bed a"b\\'),
        ({"same": [0], "place": [0]}, "same place"),
        ({"far": [900_000], "near": [3]}, "near far"),
        ({}, ""),
        (None, ""),
    ],
)
def test_an_abstract_is_put_together_whichever_way_it_is_written(index: Any, text: str) -> None:
    corpus = read(lines(work(1, abstract_inverted_index=index, title=None)))
    assert corpus.items["text"].to_pylist() == [text]


def test_an_abstract_that_is_no_index_is_counted_and_the_title_stays() -> None:
    corpus = read(lines(*(work(at, abstract_inverted_index=odd) for at, odd in enumerate([7, {"a": "b"}, [1], "no"]))))
    assert set(corpus.items["text"].to_pylist()) == {"On cubes"}
    assert corpus.dropped == {"abstracts that are no index of words": 4}


def test_a_plain_abstract_is_taken_where_there_is_no_index() -> None:
    corpus = read(lines(work(1, abstract_inverted_index=None, abstract="Plain.", title="Why?")))
    assert corpus.items["text"].to_pylist() == ["Why? Plain."]
    assert read(lines(ONE), abstracts=False).attributes == read(lines(ONE)).attributes
    assert "text" not in read(lines(ONE), abstracts=False).items.column_names


def test_the_best_concept_of_each_level_counts_whether_scores_are_texts_or_numbers() -> None:
    concepts = [
        {"display_name": "Low", "level": 0, "score": "0.3"},
        {"display_name": "Computer science", "level": 0, "score": "0.71"},
        {"display_name": "Medicine", "level": 0, "score": 0.7},
        {"display_name": "Data mining", "level": "1", "score": 0},
    ]
    item = read(lines(work(1, primary_topic=None, concepts=concepts))).items.to_pylist()[0]
    assert (item["concept_field"], item["concept_area"]) == ("Computer science", "Data mining")
    assert "concept" not in item and "topic" not in item


def test_null_ids_and_repeated_authors_are_counted_and_left_out() -> None:
    author, other = ONE["authorships"]
    nobody = {"author": {"id": None, "display_name": "N. N."}, "institutions": [{"id": None, "display_name": "Home"}]}
    corpus = read(lines(work(1, authorships=[author, nobody, author, other, {"author": None}, None])))
    assert mentions_of(corpus) == {("W1", "A1"), ("W1", "A2")}
    assert corpus.mentions.num_rows == 2
    assert corpus.dropped == {
        "institutions without an id": 1,
        "authors without an id": 3,
        "authors named twice on a work": 1,
    }


def test_an_author_is_where_the_latest_work_says() -> None:
    def at(number: int, day: str, place: str | None) -> dict[str, Any]:
        places = [] if place is None else [{"id": f"I{ord(place)}", "display_name": place, "country_code": place * 2}]
        by = [{"author": {"id": "A1", "display_name": "Ada"}, "institutions": places}]
        return work(number, publication_date=day, authorships=by)

    corpus = read(lines(at(1, "2010-01-01", "X"), at(2, "2020-01-01", "Y"), at(3, "2021-01-01", None)))
    assert corpus.objects.to_pylist()[0] | {"object": "", "name": ""} == {
        "object": "",
        "name": "",
        "kind": "author",
        "institution": "Y",
        "country": "YY",
    }


def test_sources_of_one_name_are_told_apart_by_their_ids() -> None:
    def source(number: int, key: str | None) -> dict[str, Any]:
        return work(number, primary_location={"source": {"id": key, "display_name": "BMJ"}})

    corpus = read(lines(source(1, "https://openalex.org/S9"), source(2, "S7"), source(3, None)))
    assert corpus.items["source"].to_pylist() == ["BMJ (S9)", "BMJ", "BMJ"]
    assert corpus.items["publisher"].to_pylist() == ["other"] * 3


def test_lists_of_authors_that_are_cut_are_counted_and_said() -> None:
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.jsonl"
        path.write_bytes(lines(work(1, is_authors_truncated=True), work(2, is_authors_truncated=False), work(3)))
        corpus = OpenAlex().read([path], progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.dropped == {"works of which only the first 100 authors are named": 1}
    assert "1 works name their first 100 authors only (is_authors_truncated)" in said


def test_institutions_are_objects_where_asked() -> None:
    corpus = read(lines(ONE), objects="institutions")
    assert corpus.objects.to_pylist() == [{"object": "I1", "name": "Oslo", "kind": "institution", "country": "NO"}]
    assert mentions_of(corpus) == {("W1", "I1")}


def test_works_are_objects_linked_by_citations_among_those_that_are_there() -> None:
    corpus = read(lines(ONE, work(2, referenced_works=["W1", "W1"])), objects="works")
    assert corpus.links is not None and corpus.directed
    assert corpus.links.to_pylist() == [
        {"source": 0, "target": 1, "weight": 1.0, "kind": "cites", "item": 0},
        {"source": 1, "target": 0, "weight": 1.0, "kind": "cites", "item": 1},
    ]
    assert corpus.dropped == {
        "citations of works that are not there": 1,
        "works citing themselves": 1,
        "citations named twice": 1,
    }
    assert corpus.objects["name"].to_pylist() == ["On cubes"] * 2


def test_countries_stand_in_the_order_of_the_authors_whatever_was_read_before() -> None:
    def of(number: int, *countries: str) -> dict[str, Any]:
        return work(
            number, authorships=[{"author": {"id": f"A{i}"}, "countries": [at]} for i, at in enumerate(countries)]
        )

    corpora = [read(lines(of(9, first, "NO"), of(1, "MY", "JP", "MY"))) for first in ("JP", "MY")]
    for corpus in corpora:
        assert corpus.items["country"].to_pylist()[1] == ["MY", "JP"]


def test_a_cube_of_works_that_cite_others_does_not_grow_without_these_citations() -> None:
    cube = c2n.build(read(lines(work(1), work(2)), objects="works"), ["year"], min_objects=1)
    later = read(lines(work(3, referenced_works=["W1"])), objects="works")
    with pytest.raises(SourceError, match="1 citations of the new works lead to works that their files do not have"):
        update(cube, later, DuckDB())


def test_authors_are_put_together_in_few_numbers_for_each_mention(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[Batch] = []
    asked: list[Any] = []
    add, corpus_of = CorpusBuilder.add, CorpusBuilder.corpus

    def corpus(self: CorpusBuilder, *given: Any) -> Corpus:
        asked.append(given)
        return corpus_of(self, *given)

    def keep(self: CorpusBuilder, batch: Batch) -> None:
        caught.append(batch)
        add(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(CorpusBuilder, "add", keep)
        patch.setattr(CorpusBuilder, "corpus", corpus)
        read(FILES["works.jsonl"])
    monkeypatch.setattr(openalex, "ROWS_PER_STEP", 2**10)
    gathering = CorpusBuilder("authors")
    for more in range(10**11, 400 * 10**11, 10**11):
        for batch in caught:
            people = batch.people.set_column(0, "author", pa.array(batch.people["author"].to_numpy() + more))
            gathering.add(replace(batch, ids=batch.ids + more, mentions=batch.mentions + more, people=people))
    tracemalloc.start()
    made = gathering.corpus(*asked[0])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 75 * made.mentions.num_rows
