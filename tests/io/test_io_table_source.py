from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net.errors import ParameterError
from cube2net.io.tables.find_tables import assign_files
from cube2net.io.tables.table_source import Tables
from cube2net.model.corpus import Corpus
from cube2net.model.interfaces import Source

from table_files import put, read, refusal, write

NODES = [
    {"id": "a", "name": "Ada", "year": 1999, "city": "Rome"},
    {"id": "b", "name": "Bob", "year": 2004, "city": "Oslo"},
    {"id": "c", "name": "Cy", "year": 2008, "city": "Rome"},
]
LINKS = [
    {"from": "a", "to": "b", "weight": 1},
    {"from": "b", "to": "a", "weight": 2.5},
    {"from": "c", "to": "b", "weight": 1},
]


def links(corpus: Corpus) -> dict[tuple[str, str], float]:
    ids = corpus.objects["object"].to_pylist()
    return {(ids[row["source"]], ids[row["target"]]): row["weight"] for row in corpus.links.to_pylist()}


def test_tables_is_a_source():
    assert isinstance(Tables(), Source)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.gz", "jsonl.gz"])
def test_every_format_gives_the_same_corpus(tmp_path, ending):
    corpus, _ = read([write(tmp_path / f"nodes.{ending}", NODES), write(tmp_path / f"links.{ending}", LINKS)])
    assert corpus.objects.to_pylist() == [
        {"object": "a", "name": "Ada", "kind": "node", "year": 1999, "city": "Rome"},
        {"object": "b", "name": "Bob", "kind": "node", "year": 2004, "city": "Oslo"},
        {"object": "c", "name": "Cy", "kind": "node", "year": 2008, "city": "Rome"},
    ]
    assert corpus.items.to_pydict() == {
        "item": ["a", "b", "c"],
        "year": [1999, 2004, 2008],
        "city": ["Rome", "Oslo", "Rome"],
    }
    assert corpus.mentions.to_pydict() == {"item": [0, 1, 2], "object": [0, 1, 2]}
    assert links(corpus) == {("a", "b"): 3.5, ("b", "c"): 1.0}
    assert corpus.attributes == ("year", "city")
    assert corpus.dropped == {}


def test_objects_items_and_mentions_make_a_corpus_whose_links_are_by_co_mention(tmp_path):
    paths = put(
        tmp_path,
        objects="author,name\n1,Ada\n2,Bob\n",
        items="paper_id,year,abstract\np,1999,on engines\nq,2004,\n",
        mentions="paper_id,author_id\np,1\np,2\nq,2\nq,2\n",
    )
    corpus, said = read(paths)
    assert corpus.links is None
    assert corpus.mentions.to_pylist() == [
        {"item": 0, "object": 0},
        {"item": 0, "object": 1},
        {"item": 1, "object": 1},
    ]
    assert corpus.items.to_pydict() == {
        "item": ["p", "q"],
        "year": [1999, 2004],
        "text": ["on engines", None],
    }
    assert corpus.objects["kind"].to_pylist() == ["object", "object"]
    assert corpus.dropped == {"mentions given again": 1}
    assert "columns of mentions: item='paper_id' (guessed), object='author_id' (guessed)" in said


def test_a_fourth_file_holds_the_links_of_the_objects(tmp_path):
    paths = put(
        tmp_path,
        people="id,age\n1,30\n2,40\n",
        papers="id,year\np,1999\n",
        who="item,object\np,1\n",
        edges="src,dst,w\n1,2,4\n",
    )
    corpus, said = read(paths)
    assert links(corpus) == {("1", "2"): 4.0}
    assert "files: objects='people.csv', items='papers.csv', mentions='who.csv', links='edges.csv' (guessed)" in said
    assert corpus.objects["age"].to_pylist() == [30, 40]
    assert not corpus.whole_ids


def test_files_are_told_by_field(tmp_path):
    first, second = put(tmp_path, x="from,to\na,b\n", y="id,city\na,Rome\nb,Oslo\n")
    corpus = Tables(nodes=second, links=str(first)).read()
    assert links(corpus) == {("a", "b"): 1.0}


def test_files_are_told_by_name_else_by_order():
    def told(*names: str) -> list[str]:
        return [path.name for path in assign_files([Path(name) for name in names]).values()]

    assert told("links.csv", "nodes.csv") == ["nodes.csv", "links.csv"]
    assert told("my-edges.csv", "people.csv") == ["people.csv", "my-edges.csv"]
    assert told("x.csv", "y.csv") == ["x.csv", "y.csv"]
    assert told("mentions.csv", "nodes.csv", "items.csv") == ["nodes.csv", "items.csv", "mentions.csv"]
    assert list(assign_files([Path("objects.csv"), Path("x.csv")])) == ["nodes", "links"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), "got 0 files"),
        (("items.csv", "mentions.csv"), "cannot place 'items.csv' among 2 files"),
        (("links.csv", "edges.csv"), "cannot place 'edges.csv' among 2 files"),
    ],
)
def test_files_that_make_no_set_are_refused(names, text):
    told = refusal([Path(name) for name in names])
    assert told == f"{text}: expected nodes and links, or objects, items and mentions (and links)"


def test_a_set_of_fields_that_lacks_a_file_is_refused(tmp_path):
    assert refusal([], items="a.csv").startswith("got items: expected nodes and links, or objects")
    told = refusal([Path("x.csv")], nodes="a.csv", links="b.csv")
    assert told == "paths are given beside nodes, links: name the files one way only"


def test_columns_that_are_given_go_before_the_guess(tmp_path):
    paths = put(tmp_path, nodes="id,orcid,city\n1,a,Rome\n2,b,Oslo\n", links="x,source,y\na,9,b\n")
    corpus, said = read(paths, columns={"nodes.id": "orcid", "source": "x", "target": "y"})
    assert links(corpus) == {("a", "b"): 1.0}
    assert corpus.attributes == ("id", "city")
    assert "columns of links: source='x' (given), target='y' (given)" in said


def test_a_column_with_a_separator_has_several_labels(tmp_path):
    paths = put(tmp_path, nodes="id,genres\na,war| drama\nb,\nc,|war|\n", links="from,to\na,b\n")
    corpus, _ = read(paths, separators={"genres": "|"})
    assert corpus.items["genres"].to_pylist() == [["war", "drama"], [], ["war"]]
    assert corpus.dimensions == ()
    assert refusal(paths, separators={"tags": "|"}) == "nodes.csv has no attribute 'tags' to split: it has 'genres'"


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_list_has_several_labels(tmp_path, ending):
    rows = [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": []}, {"id": 3, "tags": ["x", None]}]
    nodes = write(tmp_path / f"nodes.{ending}", rows)
    corpus, _ = read([nodes, write(tmp_path / f"links.{ending}", [{"from": 1, "to": 3}])])
    assert corpus.items["tags"].to_pylist() == [["x", "y"], [], ["x"]]
    assert links(corpus) == {("1", "3"): 1.0}


def test_numbers_dates_labels_and_codes_are_told_apart(tmp_path):
    rows = ["id,score,when,zip,born,grade", "a,1.5,2001-02-03,01234,NA,4", "b,2,1999-12-31,99999,1950,5"]
    corpus, _ = read(put(tmp_path, nodes="\n".join(rows), links="from,to\na,b\n"))
    assert corpus.items.drop_columns("item").to_pydict() == {
        "score": [1.5, 2.0],
        "when": [date(2001, 2, 3), date(1999, 12, 31)],
        "zip": ["01234", "99999"],
        "born": [None, 1950],
        "grade": [4, 5],
    }


def test_a_number_that_is_none_is_missing_and_counted_with_its_line(tmp_path):
    years = "".join(f"n{i},{1990 + i}\n" for i in range(18))
    paths = put(tmp_path, nodes=f"id,year\n{years}x,n.d.\n", links="from,to\nn0,n1\n")
    corpus, said = read(paths)
    assert corpus.items["year"].to_pylist()[-2:] == [2007, None]
    told = "nodes.csv line 20: 'year' is 'n.d.', expected a number"
    assert f"left out values of 'year' that are not numbers: 1 ({told})" in said
    assert corpus.dropped == {"values of 'year' that are not numbers": 1}
    assert refusal(paths, strict=True) == told


def test_dates_in_json_are_dates_and_ids_that_look_like_dates_stay_as_they_are(tmp_path):
    nodes = write(
        tmp_path / "nodes.jsonl", [{"id": "2020-01-01", "on": "2020-01-01"}, {"id": "2021-01-01", "on": "1990-01-01"}]
    )
    corpus, _ = read([nodes, write(tmp_path / "links.jsonl", [{"from": "2020-01-01", "to": "2021-01-01"}])])
    assert corpus.objects["object"].to_pylist() == ["2020-01-01", "2021-01-01"]
    assert corpus.items["on"].to_pylist() == [date(2020, 1, 1), date(1990, 1, 1)]


def test_the_types_of_parquet_are_understood(tmp_path):
    table = pa.table(
        {
            "id": pa.array([1.0, 2.0]),
            "size": pa.array([1, 2], pa.uint8()),
            "city": pa.array(["Rome", "Oslo"]).dictionary_encode(),
            "big": pa.array(["x", "y"], pa.large_string()),
            "ok": pa.array([True, False]),
            "ratio": pa.array([float("nan"), 0.5]),
            "raw": pa.array([{"a": 1}, {"a": 2}]),
            "none": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "nodes.parquet")
    corpus, said = read([tmp_path / "nodes.parquet", write(tmp_path / "links.parquet", [{"from": 1, "to": 2}])])
    assert corpus.items.to_pydict() == {
        "item": ["1", "2"],
        "size": [1, 2],
        "city": ["Rome", "Oslo"],
        "big": ["x", "y"],
        "ok": [True, False],
        "ratio": [None, 0.5],
    }
    assert "nodes.parquet: left out 'raw', 'none' (empty, or neither labels, numbers nor dates)" in said


def test_ids_are_trimmed_and_an_empty_one_is_counted(tmp_path):
    paths = put(tmp_path, nodes="id,city\n a ,Rome\n\n  ,Oslo\nb,Bern\n", links="from,to\na,b \n")
    corpus, said = read(paths)
    assert corpus.objects["object"].to_pylist() == ["a", "b"]
    assert corpus.items["city"].to_pylist() == ["Rome", "Bern"]
    assert corpus.dropped == {"nodes without an id": 1}
    assert "left out nodes without an id: 1 (nodes.csv line 4: 'id' is empty, expected an id)" in said


def test_attributes_called_item_or_text_keep_out_of_the_way(tmp_path):
    paths = put(tmp_path, nodes="id,item,text,about\na,x,y,z\nb,x,y,w\n", links="from,to\na,b\n")
    corpus, _ = read(paths, columns={"text": "about"})
    assert corpus.items.to_pylist()[0] == {"item": "a", "item_": "x", "text_": "y", "text": "z"}


def test_bad_links_are_counted_shown_with_their_lines_and_stop_when_strict(tmp_path):
    lines = [
        "source,target,weight",
        "a,b,1",
        "a,zz,1",
        "c,c,1",
        "a,c,-2",
        "b,c,heavy",
        "a,b,",
        ",b,1",
        "a,b,2",
        "b,c,inf",
    ]
    paths = put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\nc,Bern\n", links="\n".join(lines) + "\n")
    corpus, said = read(paths)
    assert links(corpus) == {("a", "b"): 3.0}
    assert corpus.dropped == {
        "links without a source or target": 1,
        "links to unknown nodes": 1,
        "links of an object to itself": 1,
        "links with a bad weight": 4,
    }
    assert (
        "left out links with a bad weight: 4 (links.csv line 5: 'weight' is '-2', expected 0, or a number "
        "from 1e-30 to 1e30; "
        "links.csv line 6: 'weight' is 'heavy', expected 0, or a number from 1e-30 to 1e30; "
        "links.csv line 7: 'weight' is empty, expected 0, or a number from 1e-30 to 1e30; …)"
    ) in said
    assert "links.csv: 1 repeated links add their weights" in said
    silent = Tables().read(paths)
    assert silent.dropped == corpus.dropped
    for number, text in [
        (3, "links.csv line 2: 'target' is 'zz', expected the id of a node"),
        (4, "links.csv line 2: 'c' is linked to itself"),
        (6, "links.csv line 2: 'weight' is 'heavy', expected 0, or a number from 1e-30 to 1e30"),
        (7, "links.csv line 2: 'weight' is empty, expected 0, or a number from 1e-30 to 1e30"),
        (8, "links.csv line 2: 'source' is empty, expected the id of a node"),
    ]:
        again = put(
            tmp_path, nodes="id,city\na,Rome\nb,Oslo\nc,Bern\n", links=f"{lines[0]}\n{lines[number - 1]}\na,b,1"
        )
        assert refusal(again, strict=True) == text


def test_bad_weights_in_json_and_parquet_are_counted_alike(tmp_path):
    nodes = write(tmp_path / "nodes.jsonl", NODES)
    rows = [{"from": "a", "to": "b", "w": 1}, {"from": "a", "to": "c", "w": -1}, {"from": "b", "to": "c", "w": None}]
    for ending in ("jsonl", "parquet"):
        corpus, said = read([nodes, write(tmp_path / f"links.{ending}", rows)])
        assert corpus.dropped == {"links with a bad weight": 2}
        assert links(corpus) == {("a", "b"): 1.0}
        place = f"links.{ending} {'line' if ending == 'jsonl' else 'row'} 2: 'w' is -1"
        assert any(place in text for text in said)


@pytest.mark.parametrize("strict", [False, True])
def test_an_id_that_comes_twice_is_an_error_with_both_lines(tmp_path, strict):
    told = refusal(put(tmp_path, nodes="id,x\na,1\nb,2\n a,3\n", links="from,to\na,b\n"), strict=strict)
    assert told == (
        "nodes.csv line 4: 'id' is 'a' again (as in nodes.csv line 2), expected every id once (or say which column has "
        "the ids: columns={'nodes.id': …})"
    )
    told = refusal(put(tmp_path, nodes="id,x\na,1\nb,2\na,3\nb,4\n", links="from,to\na,b\n"), strict=strict)
    assert "expected every id once; 2 ids come twice or more (or say" in told
    files = put(tmp_path, objects="id\n1\n", items="id\np\np\n", mentions="item,object\np,1\n")
    assert refusal(files).startswith("items.csv line 3: 'id' is 'p' again (as in items.csv line 2)")


def test_a_missing_column_is_an_error_that_names_the_file_and_its_columns(tmp_path):
    told = refusal(put(tmp_path, nodes="id\na\nb\n", links="from,one,number,other\na,x,1,y\n"))
    assert told == (
        "links.csv has no column for the target: it has 'from', 'one', 'number', 'other' (usual names are target, to, "
        "dst; name the column: columns={'links.target': 'from'})"
    )


def test_ids_that_are_no_text_or_whole_numbers_are_refused(tmp_path):
    nodes = write(tmp_path / "nodes.parquet", [{"id": [1]}, {"id": [2]}])
    told = refusal([nodes, *put(tmp_path, links="from,to\na,b\n")])
    assert told == "nodes.parquet column 'id' holds list<element: int64>, expected text or whole numbers"


def test_links_of_which_none_can_be_used_are_an_error(tmp_path):
    told = refusal(put(tmp_path, nodes="id\na\nb\n", links="from,to\nAda,Bob\n"))
    assert told == (
        "no row of links.csv makes a link: links.csv line 2: 'from' is 'Ada', expected the id of a node (rows: 1; name "
        "the columns of ids: columns={'links.source': …, 'links.target': …, 'nodes.id': …})"
    )


def test_a_file_of_links_without_rows_is_a_network_without_links(tmp_path):
    corpus, _ = read(put(tmp_path, nodes="id\na\nb\n", links="from,to"))
    assert corpus.links.num_rows == 0


def test_mentions_of_unknown_things_are_counted_and_stop_when_strict(tmp_path):
    paths = put(tmp_path, objects="id\n1\n2\n", items="id,x\np,1\n", mentions="item,object\np,1\nq,1\np,9\n,1\np,2\n")
    corpus, said = read(paths)
    assert corpus.mentions.num_rows == 2
    assert corpus.dropped == {
        "mentions without an item or object": 1,
        "mentions of unknown items": 1,
        "mentions of unknown objects": 1,
    }
    assert (
        "left out mentions of unknown objects: 1 (mentions.csv line 4: 'object' is '9', expected the id of an object)"
        in said
    )
    assert refusal(paths, strict=True) == "mentions.csv line 5: 'item' is empty, expected the id of an item"
    none = put(tmp_path, mentions="item,object\nq,1\n")
    told = refusal([*paths[:2], *none])
    expected = "mentions.csv line 2: 'item' is 'q', expected the id of an item"
    assert told == f"no row of mentions.csv is a mention: {expected} (rows: 1)"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"columns": {"sorce": "x"}}, "unknown column role 'sorce'"),
        ({"separators": {"tags": ""}}, "the separator of 'tags' is '', expected a text such as '|'"),
        ({"delimiter": "||"}, "delimiter is '||', expected one character such as ';'"),
    ],
)
def test_a_bad_parameter_is_one_clear_sentence(options, text):
    with pytest.raises(ParameterError, match=r".") as error:
        Tables(**options)
    assert str(error.value).startswith(text)
