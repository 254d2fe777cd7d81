"""OpenAlex's works: every generation and layout, good records and bad, against a plain reading of the same records.

``openalex_works.jsonl`` holds 36 real works of 2021 to 2026 (https://openalex.org, CC0) with the fields that are read.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.checkpoints import about_corpus, digest_corpus, tables_of
from cube2net.cube import DuckDB, update
from cube2net.errors import ParameterError, SourceError
from cube2net.records import Corpus
from cube2net.sources.readers import openalex_lines
from cube2net.sources.readers.openalex import OpenAlex
from cube2net.sources.readers.openalex_lines import Block
from cube2net.sources.readers.openalex_parse import LineReader, SlimBlock

from fuzz import check_corpus_or_sentence, damaged

REAL = [json.loads(line) for line in Path(__file__).with_name("openalex_works.jsonl").read_text("utf-8").splitlines()]
FILES = {"works.jsonl": "".join(json.dumps(work) + "\n" for work in REAL).encode()}
ONE: dict[str, Any] = {
    "id": "https://openalex.org/W1",
    "title": "On cubes",
    "publication_year": 2015,
    "publication_date": "2015-03-01",
    "updated_date": "2024-01-01T00:00:00.000001",
    "type": "article",
    "language": "en",
    "cited_by_count": 3,
    "is_retracted": False,
    "primary_location": {"source": {"id": "S5", "display_name": "Cubes", "host_organization_name": "Oslo Press"}},
    "authorships": [
        {
            "author": {"id": "https://openalex.org/A1", "display_name": "Ada", "orcid": "https://orcid.org/0000-1"},
            "institutions": [{"id": "https://openalex.org/I1", "display_name": "Oslo", "country_code": "NO"}],
        },
        {"author": {"id": "A2", "display_name": "Bob"}, "institutions": [], "countries": ["SE"]},
    ],
    "primary_topic": {
        "display_name": "Data cubes",
        "subfield": {"display_name": "Databases"},
        "field": {"display_name": "Computer Science"},
        "domain": {"display_name": "Physical Sciences"},
    },
    "abstract_inverted_index": {"cubes": [1, 3], "We": [0], "of": [2]},
    "referenced_works": ["https://openalex.org/W2", "https://openalex.org/W1", "W99"],
}


def work(number: int, **changes: Any) -> dict[str, Any]:
    return {**ONE, "id": f"https://openalex.org/W{number}", **changes}


def lines(*works: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in works).encode()


def read(content: bytes, *more: tuple[str, bytes], name: str = "works.jsonl", **options: Any) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        for file, held in ((name, content), *more):
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).write_bytes(held)
        return OpenAlex(**options).read([Path(folder)])


# A plain reading


def plain_item(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the item of a work should be, by the words of the documentation."""
    source = (one.get("primary_location") or {}).get("source") or {}
    venue = one.get("host_venue") or {}
    topic = one.get("primary_topic") or {}
    places = [place for by in one.get("authorships") or [] for place in by.get("institutions") or []]
    countries = [place.get("country_code") for place in places]
    countries += [code for by in one.get("authorships") or [] for code in by.get("countries") or []]
    name = source.get("display_name") or venue.get("display_name")
    publisher = source.get("host_organization_name") or source.get("publisher") or venue.get("publisher")
    found = {
        "item": one["id"].removeprefix("https://openalex.org/"),
        "year": one.get("publication_year"),
        "date": date.fromisoformat(one["publication_date"]) if one.get("publication_date") else None,
        "title": one.get("title") or one.get("display_name"),
        "source": name,
        "publisher": publisher or ("other" if name else None),
        "topic": topic.get("display_name"),
        **{level: (topic.get(level) or {}).get("display_name") for level in ("subfield", "field", "domain")},
        "type": one.get("type"),
        "language": one.get("language") or None,
        "country": {code for code in countries if code},
        "institution": {place["display_name"] for place in places if place.get("id")},
        "cited_by_count": one.get("cited_by_count"),
        "text": plain_text(one),
    }
    for level, attribute in ((2, "concept"), (1, "concept_area"), (0, "concept_field")):
        scored = [c for c in one.get("concepts") or [] if int(c["level"]) == level]
        best = max(scored, key=lambda c: float(c["score"]))["display_name"] if scored else None
        found[attribute] = best or ("other" if found.get("concept") else None)
    return found


def plain_text(one: dict[str, Any]) -> str:
    index = one.get("abstract_inverted_index")
    index = json.loads(index) if isinstance(index, str) else index
    index = index.get("InvertedIndex", index) if index else {}
    placed = sorted((at, number, word) for number, (word, where) in enumerate(index.items()) for at in where)
    abstract = " ".join(word for _, _, word in placed) or one.get("abstract") or ""
    title = one.get("title") or one.get("display_name") or ""
    if not title or not abstract:
        return title or abstract
    return f"{title} {abstract}" if title.endswith((".", "?", "!")) else f"{title}. {abstract}"


def items_of(corpus: Corpus) -> dict[str, dict[str, Any]]:
    rows = corpus.items.to_pylist()
    for row in rows:
        for name in ("country", "institution"):
            row[name] = set(row.get(name) or ())
    return {row["item"]: row for row in rows}


def mentions_of(corpus: Corpus) -> set[tuple[str, str]]:
    items, objects = corpus.items["item"].to_pylist(), corpus.objects["object"].to_pylist()
    pairs = zip(corpus.mentions["item"].to_pylist(), corpus.mentions["object"].to_pylist(), strict=True)
    return {(items[item], objects[thing]) for item, thing in pairs}


def _called_once(works: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return works where sources and institutions are called as where their ids are first met."""
    names: dict[str, str] = {}
    works = json.loads(json.dumps(works))
    for one in works:
        places = [place for by in one.get("authorships") or [] for place in by.get("institutions") or []]
        venues = [(one.get("primary_location") or {}).get("source"), one.get("host_venue")]
        for thing in [*places, *venues]:
            if thing and thing.get("id"):
                thing["display_name"] = names.setdefault(thing["id"], thing["display_name"])
    return works


NUMBERED = re.compile(r" \([SI]\d+\)$")


def check_as_plain(corpus: Corpus, works: list[dict[str, Any]]) -> None:
    found = items_of(corpus)
    wanted = {one["item"]: one for one in map(plain_item, _called_once(works))}
    assert found.keys() == wanted.keys()
    for key, item in found.items():
        known = {name: value for name, value in wanted[key].items() if name in item or value not in (None, set())}
        known["text"] = " ".join(known["text"].split())
        item["text"] = " ".join(item["text"].split())
        item["source"] = NUMBERED.sub("", item.get("source") or "") or None
        known["source"] = (known.get("source") or "").strip() or None
        item["institution"] = {NUMBERED.sub("", name) for name in item["institution"]}
        known["institution"] = {name.strip() for name in known["institution"]}
        assert item == {name: known.get(name) for name in item}, key
    mentions = {
        (one["id"].rsplit("/", 1)[-1], by["author"]["id"].rsplit("/", 1)[-1])
        for one in works
        for by in one.get("authorships") or []
        if (by.get("author") or {}).get("id")
    }
    assert mentions_of(corpus) == mentions
    assert corpus.mentions.num_rows == len(mentions)


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


def as_they_are(self: LineReader, block: Block) -> SlimBlock:
    """Return a block of which no line is slimmed."""
    nothing = pa.nulls(len(block.numbers), pa.string())
    return SlimBlock(block, nothing, nothing, np.zeros(len(block.numbers), bool))


def check_slim(content: bytes, **options: Any) -> None:
    """Check that lines are read alike, slimmed and as they are."""
    slim = outcome(content, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LineReader, "_slimmed", as_they_are)
        assert slim == outcome(content, **options)


def outcome(content: bytes, **options: Any) -> object:
    """Return all that comes of lines: the tables of a corpus and what was dropped, or the sentence of a refusal."""
    try:
        corpus = read(content, **options)
    except SourceError as error:
        return re.sub(r"/\S+/", "", str(error))
    return [*tables_of(corpus, ("objects", "items", "mentions", "links")).values(), about_corpus(corpus)]


DOUBTFUL = [
    b'{"id": "W7", "t\\u0069tle": "An escape in a key", "abstract_inverted_index": {"a\\u0008b": [0]}}\n',
    b'{"id": "W8", "cited_by_count": 1e400}\n',
    b'{"id": "W9", "title": "Twice", "abstract_inverted_index": {"a": [0]}, "abstract_inverted_index": {"b": [0]}}\n',
    b'{"id": "W10", "title": "No end"\n',
]


@pytest.mark.parametrize("objects", ["authors", "institutions", "works"])
def test_lines_are_read_alike_slimmed_and_as_they_are(objects: str) -> None:
    check_slim(FILES["works.jsonl"], objects=objects)
    plain = lines(*(work(number) for number in range(20, 30)))
    check_slim(plain + DOUBTFUL[0] + DOUBTFUL[1] + plain.replace(b"/W2", b"/W3"), objects=objects)
    mixed = b"".join(plain.replace(b"/W2", b"/W%d" % number) + one for number, one in enumerate(DOUBTFUL * 6, 30))
    check_slim(mixed, objects=objects)
    check_slim(mixed, objects=objects, where={"field": "Computer Science"}, abstracts=False)


def test_works_stay_in_their_order_where_a_line_between_them_is_doubtful() -> None:
    corpus = read(lines(work(1), work(2)) + DOUBTFUL[0] + lines(work(3)) + DOUBTFUL[3] + lines(work(4)))
    assert corpus.items["item"].to_pylist() == ["W1", "W2", "W7", "W3", "W4"]
    assert corpus.dropped["lines that are no JSON objects"] == 1


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_damaged_lines_are_read_alike_slimmed_and_as_they_are(data: st.DataObject) -> None:
    content = bytearray(lines(*REAL[:3], *(work(number) for number in range(3))))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b'"', b"\\", b"{", b"]", b",", b"1", b"null", b"\n", b"\xc3", b"\\u0041", b" "])
        )
    check_slim(bytes(content))


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
    cube = c2n.build_cube(read(FILES["works.jsonl"]), ["topic/subfield/field/domain"], min_objects=1)
    levels = [level.name for level in cube.dimensions[0].levels]
    assert levels == ["topic", "subfield", "field", "domain"]
    items = items_of(read(FILES["works.jsonl"])).values()
    for level in cube.dimensions[0].levels:
        assert set(level.labels) == {item[level.name] for item in items if item["topic"]}


# One work at a time


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


# Objects and links


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


# Versions and merged ids


def test_of_a_work_that_comes_again_the_one_changed_last_stays() -> None:
    old, new = work(1, updated_date="2023-05-01", title="Old"), work(1, updated_date="2024-05-01T10:00:00", title="New")
    for order in ([old, work(2), new], [new, old, work(2)]):
        corpus = read(lines(*order))
        assert sorted(corpus.items["title"].to_pylist()) == ["New", "On cubes"]
        assert mentions_of(corpus) == {(key, who) for key in ("W1", "W2") for who in ("A1", "A2")}
        assert corpus.dropped == {"older versions of works": 1}
    assert read(lines(work(1, title="One"), work(1, title="Two"))).items["title"].to_pylist() == ["Two"]


def test_a_partition_says_when_where_the_work_does_not() -> None:
    old, new = (lines(work(1, updated_date=None, title=title)) for title in ("Old", "New"))
    names = [f"works/updated_date={day}/part_000.gz" for day in ("2023-01-01", "2022-01-01")]
    corpus = read(gzip.compress(new), (names[1], gzip.compress(old)), name=names[0])
    assert corpus.items["title"].to_pylist() == ["New"]


def test_merged_ids_are_followed_for_works_and_authors() -> None:
    works = lines(work(1, updated_date="2020-01-01"), work(2, title="Kept", referenced_works=["W7"]), work(7))
    merged = {
        "merged_ids/authors/2022-01-01.csv.gz": b"merge_date,id,merge_into_id\n2022-01-01,A2,A3\n",
        "merged_ids/authors/2023-01-01.csv.gz": b"merge_date,id,merge_into_id\n2023-01-01,A3,A4\n2023-01-01,A4,A1\n",
        "merged_ids/works/2022-06-07.csv.gz": b"merge_date,id,merge_into_id\n2022-06-07,W1,W2\n2022-06-07,W7,W8\n",
    }
    packed = [(name, gzip.compress(content)) for name, content in merged.items()]
    layout = "works/updated_date=2024-01-01/part_000.gz"
    corpus = read(gzip.compress(works), *packed, name=layout)
    assert corpus.objects["object"].to_pylist() == ["A1"]
    assert corpus.objects["name"].to_pylist() == ["Ada"]
    assert corpus.items["item"].to_pylist() == ["W2", "W8"]
    assert mentions_of(corpus) == {("W2", "A1"), ("W8", "A1")} and corpus.mentions.num_rows == 2
    assert corpus.dropped == {"older versions of works": 1, "authors merged into others": 1}
    assert corpus.gone.to_pylist() == ["W1", "W7"]
    cited = read(gzip.compress(works), *packed, name=layout, objects="works").links
    assert cited is not None and [(row["source"], row["target"]) for row in cited.to_pylist()] == [(0, 1), (1, 0)]


def test_a_list_of_merged_ids_that_is_none_is_said_by_name() -> None:
    bad = ("merged_ids/authors/2022-01-01.csv", b"who,what\n1,2\n")
    with pytest.raises(SourceError, match=r"^2022-01-01\.csv is no list of merged ids: .*'id'"):
        read(gzip.compress(lines(ONE)), bad, name="works/part_000.gz")


# Layouts


PRESSES = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
PAGE = {"meta": {"count": 36, "per_page": 200}, "results": REAL, "group_by": []}
FORMS = {
    **{f"works.jsonl{ending}": press(FILES["works.jsonl"]) for ending, press in PRESSES.items()},
    "marked.jsonl": b"\xef\xbb\xbf" + FILES["works.jsonl"].replace(b"\n", b"\r\n\n"),
    "page.json": json.dumps(PAGE).encode(),
    "spread.json": json.dumps(PAGE, indent=2).encode(),
    "list.json": json.dumps(REAL).encode(),
    "spread-list.json": json.dumps(REAL, indent=1, ensure_ascii=False).encode(),
    "pages.jsonl": b"".join(
        json.dumps({"meta": {}, "results": REAL[at : at + 10]}).encode() + b"\n" for at in range(0, len(REAL), 10)
    ),
    "data/jsonl/works/updated_date=2026-01-05/part_0000.gz": gzip.compress(FILES["works.jsonl"]),
    "works/updated_date=2021-11-03/part_000.gz": gzip.compress(FILES["works.jsonl"]),
}


def test_all_forms_of_the_same_works_give_the_same_corpus() -> None:
    plain = read(FILES["works.jsonl"])
    for name, content in FORMS.items():
        corpus = read(content, name=name)
        for table in ("items", "objects", "mentions"):
            assert getattr(corpus, table).equals(getattr(plain, table)), (name, table)
        assert corpus.dropped == plain.dropped


def test_short_blocks_give_the_same_works(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read(FILES["works.jsonl"])
    monkeypatch.setattr(openalex_lines, "SIZE", 10_000)
    again = read(FILES["works.jsonl"])
    assert items_of(again) == items_of(plain) and mentions_of(again) == mentions_of(plain)
    assert again.objects.equals(plain.objects)


def test_parquet_parts_give_the_same_works_as_json_lines(tmp_path: Path) -> None:
    works = [
        {**ONE, "id": f"W{at}", "abstract_inverted_index": json.dumps(ONE["abstract_inverted_index"]), "more": at}
        for at in range(1, 30)
    ]
    part = tmp_path / "data" / "parquet" / "works" / "updated_date=2026-01-05" / "part_0000.parquet"
    part.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(works), part)
    corpus = OpenAlex().read([tmp_path])
    assert digest_corpus(corpus) == digest_corpus(read(lines(*works)))
    pq.write_table(pa.table({"name": ["a"]}), part)
    with pytest.raises(SourceError, match=r"^part_0000\.parquet has no column 'id', expected works as OpenAlex"):
        OpenAlex().read([tmp_path])
    part.write_bytes(b"PAR1 and no more")
    with pytest.raises(SourceError, match=r"^part_0000\.parquet cannot be read as Parquet: .* \(is it cut short\?\)$"):
        OpenAlex().read([tmp_path])


def test_countries_stand_in_the_order_of_the_authors_whatever_was_read_before() -> None:
    def of(number: int, *countries: str) -> dict[str, Any]:
        return work(
            number, authorships=[{"author": {"id": f"A{i}"}, "countries": [at]} for i, at in enumerate(countries)]
        )

    corpora = [read(lines(of(9, first, "NO"), of(1, "MY", "JP", "MY"))) for first in ("JP", "MY")]
    for corpus in corpora:
        assert corpus.items["country"].to_pylist()[1] == ["MY", "JP"]


def test_cubes_in_a_folder_of_works_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "works.jsonl").write_bytes(lines(work(1), work(2)))
    (tmp_path / "cube").mkdir()
    for name in ("manifest.json", "labels.parquet", "topics.parquet"):
        (tmp_path / "cube" / name).write_bytes(b"{}")
    said: list[str] = []
    corpus = OpenAlex().read([tmp_path], progress=lambda stage, done, total: said.append(stage))
    assert corpus.items.num_rows == 2
    assert any("1 cube(s) in it are passed over" in stage for stage in said)


def test_other_entities_and_manifests_of_a_snapshot_are_passed_over(tmp_path: Path) -> None:
    for name, content in {
        "data/jsonl/works/updated_date=2026-01-05/part_0000.gz": gzip.compress(lines(ONE)),
        "data/jsonl/works/manifest.json": b'{"entries": []}',
        "data/jsonl/works/manifest": b'{"entries": []}',
        "data/jsonl/authors/updated_date=2026-01-05/part_0000.gz": gzip.compress(b'{"id": "A1"}\n'),
        "data/parquet/works/updated_date=2026-01-05/part_0000.parquet": b"never looked at",
        "README.txt": b"words",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    said: list[str] = []
    corpus = OpenAlex(strict=True).read([tmp_path], progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.items["item"].to_pylist() == ["W1"] and not corpus.dropped
    assert any("has the works twice: of JSON lines and Parquet, the JSON lines are read" in text for text in said)
    assert [path.name for path in OpenAlex().files_read([tmp_path])] == ["part_0000.gz"]


# Filters


def test_filters_leave_what_a_plain_filter_leaves() -> None:
    items = items_of(read(FILES["works.jsonl"]))
    for name in ("source", "publisher", "topic", "field", "domain", "concept", "type", "language", "country"):
        values = Counter(
            label
            for item in items.values()
            for label in (item[name] if isinstance(item[name], set) else [item[name]])
            if label
        )
        some = [label for label, _ in values.most_common(2)]
        kept = {
            key
            for key, item in items.items()
            if set(some) & (item[name] if isinstance(item[name], set) else {item[name]})
        }
        found = read(FILES["works.jsonl"], where={name: some})
        assert set(items_of(found)) == kept, name
        assert found.dropped["works outside the filters"] == len(items) - len(kept)


def test_all_filters_must_hold_and_years_count() -> None:
    works = lines(work(1), work(2, publication_year=2010), work(3, language="no"), work(4, publication_year=None))
    corpus = read(works, where={"field": "Computer Science", "language": ["en"]}, from_year=2011, to_year=2015)
    assert corpus.items["item"].to_pylist() == ["W1"]
    assert corpus.dropped == {"works of other years": 2, "works outside the filters": 1}


def test_a_label_behind_escapes_is_found_too() -> None:
    escaped = lines(ONE).replace(b'"Computer Science"', b'"Com\\u0070uter Science"')
    assert read(escaped, where={"field": "Computer Science"}).items.num_rows == 1
    named = work(1, primary_topic={**ONE["primary_topic"], "field": {"display_name": "Øl / mål"}})
    for content in (lines(named), json.dumps(named, ensure_ascii=False).encode(), lines(named).replace(b"/ ", b"\\/ ")):
        assert read(content, where={"field": "Øl / mål"}).items.num_rows == 1


def test_retracted_works_are_left_out_where_asked() -> None:
    works = lines(work(1), work(2, is_retracted=True))
    assert read(works).items.num_rows == 2
    corpus = read(works, retracted=False)
    assert corpus.items["item"].to_pylist() == ["W1"] and corpus.dropped == {"retracted works": 1}
    assert corpus.gone.to_pylist() == ["W2"]
    assert len(read(works).gone) == 0


def test_a_filter_that_no_work_passes_says_what_was_likely_meant() -> None:
    with pytest.raises(
        SourceError, match=r"holds no work to read \(1 works outside the filters\) \(did you mean field "
    ):
        read(lines(ONE), where={"field": "Computer Sciense"})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objects": "papers"}, r"^unknown kind of objects 'papers': choose one of authors, institutions, works"),
        ({"where": {"feild": "x"}}, r"^unknown attribute of works 'feild': choose one of .*\(did you mean 'field'\?\)"),
        ({"from_year": "x"}, r"^from_year is 'x', expected a whole number"),
        ({"from_year": 2020, "to_year": 2010}, r"^from_year is 2020, after to_year 2010: no year is in between"),
    ],
)
def test_parameters_that_cannot_be_are_said_at_once(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        OpenAlex(**options)


# Bad input


BAD = {
    "lines that are no JSON objects": (b'{"id": "W5", \n', r"'\{\"id\": \"W5\",' is not a JSON object"),
    "lines that are not UTF-8": (b'{"id": "W5\xff"}\n', "byte 0xff is not UTF-8, expected text in UTF-8"),
    "records that are not works": (b'{"id": "A5"}\n', "'id' is 'A5', expected that of a work such as 'W2741809807'"),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_is_counted_or_stops_with_its_place(reason: str) -> None:
    bad, sentence = BAD[reason]
    content = lines(ONE) + b"\n" + bad + lines(work(2))
    corpus = read(content)
    assert corpus.items["item"].to_pylist() == ["W1", "W2"] and corpus.dropped == {reason: 1}
    with pytest.raises(SourceError, match=rf"^works\.jsonl line 3: {sentence}"):
        read(content, strict=True)


def test_lines_that_are_too_long_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    long = lines(work(5, title="x" * 50_000))
    monkeypatch.setattr(openalex_lines, "LONGEST", 20_000)
    for size in (8_000, 200_000):
        monkeypatch.setattr(openalex_lines, "SIZE", size)
        corpus = read(lines(ONE) + long + lines(work(2)))
        assert corpus.items["item"].to_pylist() == ["W1", "W2"]
        assert corpus.dropped == {"lines longer than 16 MiB": 1}


def test_no_work_at_all_is_one_sentence_with_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"holds no work to read \(1 records that are not works\): works\.jsonl line 1: "
    ):
        read(b'{"id": "A5"}\n')
    with pytest.raises(
        SourceError, match=r"holds no file of works to read: expected OpenAlex's snapshot or some of its"
    ):
        OpenAlex().read([tmp_path])
    with pytest.raises(SourceError, match=r"nowhere is not there: expected OpenAlex's snapshot"):
        OpenAlex().read([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match=r"^no path is given: expected OpenAlex's snapshot"):
        OpenAlex().read([])


@settings(max_examples=60)
@given(damaged(FILES["works.jsonl"]))
def test_damaged_works_give_a_corpus_or_a_sentence(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "works.jsonl"
        path.write_bytes(content)
        check_corpus_or_sentence(lambda: OpenAlex().read([path]))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 3000) | st.text(max_size=5) | st.sampled_from(["A1", "I2", "W3"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ONE, "author", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=80)
@given(st.lists(st.dictionaries(st.sampled_from(sorted(ONE)), ANY, max_size=4), min_size=1, max_size=4))
def test_whatever_a_work_says_it_stays_a_work(changes: list[dict[str, Any]]) -> None:
    works = [{**ONE, **change, "id": f"W{at}"} for at, change in enumerate(changes)]
    for objects in ("authors", "institutions", "works"):
        corpus = read(lines(*works), objects=objects)
        assert corpus.items["item"].to_pylist() == [f"W{at}" for at in range(len(works))]
        for table in (corpus.items, corpus.objects):
            table.validate(full=True)


def test_nothing_stays_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "works.jsonl").write_bytes(FILES["works.jsonl"])
    corpus = OpenAlex().read([tmp_path / "data"])
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert corpus.items["text"].to_pylist()[0]


def test_a_cube_of_works_that_cite_others_does_not_grow_without_these_citations() -> None:
    cube = c2n.build_cube(read(lines(work(1), work(2)), objects="works"), ["year"], min_objects=1)
    later = read(lines(work(3, referenced_works=["W1"])), objects="works")
    with pytest.raises(SourceError, match="1 citations of the new works lead to works that their files do not have"):
        update(cube, later, DuckDB())
