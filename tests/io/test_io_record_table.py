"""One table of records is items, objects and who is mentioned where, however it is written."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.errors import Cube2netError

LONG = pd.DataFrame(
    {
        "paper": ["p1", "p1", "p2", "p3", "p3"],
        "author": ["ada", "bob", "ada", "bob", "eve"],
        "year": [1999, 1999, 2004, 2011, 2011],
        "venue": ["KDD", "KDD", "ACL", "ACL", "ACL"],
    }
)
WIDE = pd.DataFrame(
    {
        "paper": ["p1", "p2", "p3"],
        "authors": [["ada", "bob"], ["ada"], ["bob", "eve"]],
        "year": [1999, 2004, 2011],
        "venue": ["KDD", "ACL", "ACL"],
    }
)


def mentioned(corpus: c2n.Corpus) -> set[tuple[str, str]]:
    items, objects = corpus.items["item"].to_pylist(), corpus.objects["object"].to_pylist()
    pairs = zip(corpus.mentions["item"].to_pylist(), corpus.mentions["object"].to_pylist(), strict=True)
    return {(items[item], objects[thing]) for item, thing in pairs}


PAIRS = {("p1", "ada"), ("p1", "bob"), ("p2", "ada"), ("p3", "bob"), ("p3", "eve")}


def refusal(*tables: Any, **options: Any) -> str:
    with pytest.raises(Cube2netError) as refused:
        c2n.read_tables(*tables, **options)
    return str(refused.value)


def joined(mark: str) -> pd.DataFrame:
    return WIDE.assign(authors=WIDE.authors.map(mark.join))


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (LONG, {}),
        (LONG, {"item": "paper", "objects": "author"}),
        (LONG, {"columns": {"item": "paper", "object": "author"}}),
        (pl.DataFrame(LONG.to_dict("list")), {}),
        (WIDE, {}),
        (WIDE.assign(authors=WIDE.authors.map(set)), {}),
        (pl.DataFrame(WIDE.to_dict("list")), {"objects": "authors"}),
        (joined("; "), {}),
        (joined("|"), {}),
        (joined(","), {"separators": {"authors": ","}}),
    ],
)
def test_records_in_rows_lists_or_texts_make_the_same_corpus(frame: Any, options: dict[str, Any]) -> None:
    corpus = c2n.read_tables(frame, **options)
    assert mentioned(corpus) == PAIRS
    assert corpus.items.select(["item", "year", "venue"]).to_pydict() == {
        "item": ["p1", "p2", "p3"],
        "year": [1999, 2004, 2011],
        "venue": ["KDD", "ACL", "ACL"],
    }
    assert set(corpus.objects["kind"].to_pylist()) == {"author"}
    assert corpus.links is None


@pytest.mark.parametrize(("name", "frame"), [("papers.csv", LONG), ("wide.csv", joined(";")), ("wide.jsonl", WIDE)])
def test_a_file_of_records_is_read_as_its_frame(name: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    assert mentioned(c2n.read_tables(path)) == PAIRS
    assert mentioned(c2n.read_source("tables", path)) == PAIRS
    by = {"dimensions": ["decade=year@decades", "venue"], "min_objects": 1}
    cube = c2n.build(path, source="tables", out=tmp_path / "cube", **by)
    assert repr(cube) == repr(c2n.build(frame, **by)) == "Cube(decade × venue: 3 cells, 3 objects, 2 links)"


def test_what_was_guessed_is_said() -> None:
    said: list[str] = []
    c2n.read_tables(joined(";"), progress=lambda stage, done, total=None: said.append(stage))
    assert said[1] == (
        "columns of the table of records: objects='authors' (guessed), separated by ';' (guessed), "
        "item='paper' (guessed)"
    )


def test_a_cast_is_guessed_to_be_the_objects() -> None:
    films = pd.DataFrame({"title": ["Laura", "Gilda"], "genre": ["Noir", "Noir"], "cast": ["Ann; Bob", "Bob; Eve"]})
    assert repr(c2n.read_tables(films)) == "Corpus(3 objects, 2 items, links by co-mention)"


def test_years_are_not_taken_for_numbers_of_rows() -> None:
    years = [1930 + number % 30 for number in range(3000)]
    films = pd.DataFrame({"film": range(3000), "year": years, "genre": ["Noir", "War"] * 1500})
    assert c2n.read_tables(films).attributes == ("year", "genre")


def test_without_a_column_of_records_every_row_with_lists_is_one() -> None:
    corpus = c2n.read_tables(WIDE.drop(columns="paper"))
    assert corpus.items["item"].to_pylist() == ["1", "2", "3"]
    assert len(mentioned(corpus)) == 5


def test_ids_that_count_the_rows_are_not_the_records() -> None:
    corpus = c2n.read_tables(LONG.assign(id=range(5)).loc[:, ["id", "paper", "author", "year"]])
    assert mentioned(corpus) == PAIRS


def test_names_stand_beside_the_ids_of_objects() -> None:
    frame = LONG.assign(author_id=LONG.author.map({"ada": 7, "bob": 8, "eve": 9}))
    corpus = c2n.read_tables(frame, item="paper", objects="author_id")
    assert corpus.objects.select(["object", "name"]).to_pydict() == {
        "object": ["7", "8", "9"],
        "name": ["ada", "bob", "eve"],
    }
    assert corpus.attributes == ("year", "venue")


def test_what_differs_between_rows_of_a_record_is_several_labels() -> None:
    frame = LONG.assign(country=["IT", "NO", "IT", "NO", "IT"], share=[0.5, 0.25, 1, 0.5, 0.5])
    said: list[str] = []
    corpus = c2n.read_tables(frame, progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.items["country"].to_pylist() == [["IT", "NO"], ["IT"], ["NO", "IT"]]
    assert corpus.items["share"].to_pylist() == [0.5, 1, 0.5]
    wrong = "the table of records: values of '{}' that differ between the rows of an item {}"
    assert wrong.format("country", "are several labels of it") in said
    assert wrong.format("share", "do not count but for the first") in said


def test_links_may_come_beside_records() -> None:
    links = pd.DataFrame({"source": ["ada"], "target": ["eve"]})
    corpus = c2n.read_tables(LONG, links=links, objects="author", item="paper")
    assert corpus.links is not None and corpus.links.num_rows == 1


def test_records_that_name_nothing_are_counted() -> None:
    frame = pd.DataFrame({"paper": ["p", None, "q"], "authors": [["ada"], ["bob"], []], "year": [1, 2, 3]})
    said: list[str] = []
    corpus = c2n.read_tables(frame, progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.dropped == {"records without an id": 1}
    assert "the table of records: 1 rows mention no object" in said
    assert refusal(frame, strict=True) == "the table of records row 2: 'paper' is empty, expected an id"


@pytest.mark.parametrize(
    ("told", "frame", "options"),
    [
        (
            "the table of records needs a column of the objects that a record mentions (objects=…)",
            pd.DataFrame({"city": ["Rome"], "year": [1]}),
            {"item": "city"},
        ),
        (
            "the table of records needs a column that says what record a row belongs to (item=…): it has 'who', 'city'",
            pd.DataFrame({"who": ["a"], "city": ["Rome"]}),
            {"objects": "who"},
        ),
        (
            "the table of records has no column 'paepr' (given as item): it has 'paper', 'author', 'year', 'venue'",
            LONG,
            {"item": "paepr"},
        ),
        (
            "no row of the table of records mentions an object: 'author' is empty in all of them",
            LONG.assign(author=""),
            {"objects": "author"},
        ),
        ("the table of records has a header and no rows, expected one row or more", LONG[:0], {"objects": "author"}),
    ],
)
def test_a_table_that_holds_no_records_is_refused(told: str, frame: pd.DataFrame, options: dict[str, Any]) -> None:
    assert refusal(frame, **options) == told


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=20))
def test_every_mention_in_the_rows_is_a_mention_of_the_corpus(pairs: list[tuple[int, int]]) -> None:
    frame = pd.DataFrame(pairs, columns=["paper", "author"])
    corpus = c2n.read_tables(frame, item="paper", objects="author")
    assert mentioned(corpus) == {(str(item), str(thing)) for item, thing in pairs}
    lists = frame.groupby("paper", sort=False).author.apply(list).reset_index()
    assert mentioned(c2n.read_tables(lists, item="paper", objects="author")) == mentioned(corpus)


RATED = pd.DataFrame(
    {
        "user": [1, 1, 2, 2, 3, 3],
        "movie": ["A", "B", "B", "C", "A", "C"],
        "year": [2001, 2002, 2002, 2003, 2001, 2003],
        "price": [1.5, 2.5, 2.5, 3.5, 1.5, 3.5],
        "stars": [1, 2, 3, 4, 5, 5],
    }
)


def test_what_is_the_same_wherever_an_object_stands_is_its_own_also_where_it_is_a_number() -> None:
    corpus = c2n.read_tables(RATED, item="user", objects="movie")
    of_object = {
        name: (year, price)
        for name, year, price in zip(
            *(corpus.objects[each].to_pylist() for each in ("object", "year", "price")), strict=True
        )
    }
    assert of_object == {"A": (2001, 1.5), "B": (2002, 2.5), "C": (2003, 3.5)}
    assert "stars" not in corpus.objects.column_names
    assert corpus.items["year"].to_pylist() == [["2001", "2002"], ["2002", "2003"], ["2001", "2003"]]
    assert "price" not in corpus.items.column_names
    assert corpus.items["stars"].to_pylist() == [1, 3, 5]


def test_a_network_shows_an_objects_own_number_and_not_that_of_another() -> None:
    cube = c2n.build(RATED, ["year"], item="user", objects="movie", min_objects=1)
    nodes, _ = c2n.construct(cube, ["A", "B", "C"]).to_pandas()
    assert nodes.set_index("name").loc[["A", "B", "C"], "year"].tolist() == [2001, 2002, 2003]


def test_labels_are_parted_also_where_the_rows_of_an_item_differ() -> None:
    frame = LONG.assign(tags=["x;y", "x; z", "y", "z", "z"])
    corpus = c2n.read_tables(frame, item="paper", objects="author", separators={"tags": ";"})
    assert corpus.items["tags"].to_pylist() == [["x", "y", "z"], ["y"], ["z"]]


@pytest.mark.parametrize("column", LONG.columns)
def test_a_column_of_categories_is_read_as_its_values_are(column: str) -> None:
    plain, categories = c2n.read_tables(LONG), c2n.read_tables(LONG.astype({column: "category"}))
    assert mentioned(categories) == mentioned(plain) == PAIRS
    assert categories.items.column_names == plain.items.column_names
