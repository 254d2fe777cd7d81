"""A folder of tables, and the tables of labels and terms that may lie in it."""

from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows
from cube2net.io.tables.find_tables import assign_files
from cube2net.io.tables.table_corpus import add_labels_and_terms
from cube2net.io.tables.table_source import Tables
from cube2net.model.corpus import Corpus

from table_files import put, read, refusal, write

ITEMS = {
    "objects": "id,name\n1,Ada\n2,Bob\n",
    "items": "id,venue,year\np,KDD,1999\nq,ICDM,2004\n",
    "mentions": "item,object\np,1\np,2\nq,2\n",
}
EXPECTED = (
    "expected nodes and links, or objects, items and mentions (and links), in files of these names, such as items.csv"
)


def test_a_folder_of_tables_is_read_like_its_files(tmp_path: Path) -> None:
    paths = put(tmp_path, **ITEMS, links="from,to\n1,2\n")
    (tmp_path / "cube").mkdir()
    for name in ("README.md", "query.csv", "hidden-links.csv", "items.2023.csv", "items.xlsx"):
        (tmp_path / name).write_text("what is this\n", encoding="utf-8")
    (tmp_path / ".items.csv").write_text("hidden\n", encoding="utf-8")
    whole, said = read([tmp_path])
    alone, _ = read(paths)
    for name in ("objects", "items", "mentions", "links"):
        assert getattr(whole, name).equals(getattr(alone, name))
    assert (
        said[0] == "files: links='links.csv', objects='objects.csv', items='items.csv', mentions='mentions.csv' (found)"
    )
    others = "'README.md', 'cube', 'hidden-links.csv', 'items.2023.csv', 'items.xlsx', 'query.csv'"
    assert said[1] == f"not read, having no name of a table: {others}"
    assert c2n.read_tables(tmp_path).items.equals(alone.items)


@pytest.mark.parametrize("ending", ["csv", "TSV", "jsonl", "parquet", "tsv.gz", "jsonl.gz"])
def test_tables_in_a_folder_have_any_format_and_usual_names(tmp_path: Path, ending: str) -> None:
    people = [{"id": "a", "city": "Rome"}, {"id": "b", "city": "Oslo"}]
    write(tmp_path / f"Objects.{ending}".replace("TSV", "tsv"), people)
    write(tmp_path / f"edges.{ending}".replace("TSV", "tsv"), [{"from": "a", "to": "b"}])
    if ending == "TSV":
        (tmp_path / "Objects.tsv").rename(tmp_path / "OBJECTS.TSV")
    corpus, _ = read([tmp_path])
    assert corpus.items["city"].to_pylist() == ["Rome", "Oslo"] and corpus.links.num_rows == 1


def test_nodes_of_items_are_objects(tmp_path: Path) -> None:
    put(tmp_path, nodes=ITEMS["objects"], items=ITEMS["items"], mentions=ITEMS["mentions"])
    assert read([tmp_path])[0].objects["name"].to_pylist() == ["Ada", "Bob"]


def test_a_folder_that_makes_no_corpus_is_refused_in_one_sentence(tmp_path: Path) -> None:
    assert refusal([tmp_path]) == f"{str(tmp_path)!r} holds no table: {EXPECTED}"
    put(tmp_path, items=ITEMS["items"], objects=ITEMS["objects"], metions=ITEMS["mentions"])
    told = f"{str(tmp_path)!r} holds items, objects: {EXPECTED}; other names are not known: 'metions.csv'"
    assert refusal([tmp_path]) == told
    put(tmp_path, mentions=ITEMS["mentions"], nodes=ITEMS["objects"])
    assert refusal([tmp_path]).startswith(f"{str(tmp_path)!r} holds items, mentions, nodes, objects: expected")


def test_two_tables_of_one_kind_are_refused(tmp_path: Path) -> None:
    put(tmp_path, **ITEMS)
    write(tmp_path / "item.jsonl", [{"id": "p"}])
    assert refusal([tmp_path]) == (
        f"{str(tmp_path)!r} holds 'item.jsonl' and 'items.csv': expected one table of items, remove the other or name "
        "the files one by one"
    )


def test_a_folder_is_given_alone(tmp_path: Path) -> None:
    paths = put(tmp_path, **ITEMS)
    told = f"{str(tmp_path)!r} is a folder among other paths: give it alone, or the files in it"
    assert refusal([tmp_path, paths[0]]) == refusal([paths[0], tmp_path]) == told
    assert refusal([tmp_path], items="x.csv") == "paths are given beside items: name the files one way only"


def test_a_cube_in_the_folder_of_its_tables_is_built_and_an_interrupted_build_goes_on(tmp_path: Path) -> None:
    put(tmp_path, **ITEMS)
    stages: list[str] = []

    def told(stage: str, done: int, total: int | None = None) -> None:
        stages.append(stage)
        if stage == "cube: links" and stages.count("cube: links") == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        c2n.build(tmp_path, source="tables", out=tmp_path / "cube", min_objects=1, progress=told)
    (tmp_path / "notes.txt").write_text("what does not matter", encoding="utf-8")
    cube = c2n.build(tmp_path, source="tables", out=tmp_path / "cube", min_objects=1, progress=told)
    assert "corpus: taken from the run before, which did not finish" in stages
    assert len(cube.objects) == 2
    assert c2n.build(tmp_path, source="tables", out=tmp_path / "cube", min_objects=1).settings["items"] == 2


def test_labels_bring_full_names_and_parents(tmp_path: Path) -> None:
    labels = "attribute,label,full name,parent\nvenue,KDD,knowledge discovery and data mining,conference\n"
    put(tmp_path, **ITEMS, labels=f"{labels}venue,TKDE,,journal\nyear,1999,the end of an age,\ntopic,x,y,\n")
    corpus, said = read([tmp_path])
    assert corpus.labels.to_pylist()[:2] == [
        {
            "attribute": "venue",
            "label": "KDD",
            "full_name": "knowledge discovery and data mining",
            "parent": "conference",
        },
        {"attribute": "venue", "label": "TKDE", "full_name": None, "parent": "journal"},
    ]
    assert corpus.labels.num_rows == 4 and corpus.dropped == {}
    assert "columns of labels: attribute='attribute' (guessed), label='label' (guessed), " in "".join(said)
    cube = c2n.build(corpus, ["venue/kind"], min_objects=1)
    assert cube.dimensions[0].levels[0].full_names == ("ICDM", "knowledge discovery and data mining")
    assert cube.dimensions[0].levels[1].labels == ("conference", "other")


def test_bad_labels_are_counted_shown_and_stop_when_strict(tmp_path: Path) -> None:
    rows = "attribute,label,parent\nvenue,KDD,a\n,ICDM,a\nvenue,,a\nvenu,ICDM,a\n"
    put(tmp_path, **ITEMS, labels=rows)
    corpus, said = read([tmp_path])
    assert corpus.labels["label"].to_pylist() == ["KDD"]
    assert corpus.dropped == {"labels without an attribute or label": 2, "labels of unknown attributes": 1}
    stranger = "labels.csv line 5: 'attribute' is 'venu', expected an attribute of the items (venue, year)"
    assert f"left out labels of unknown attributes: 1 ({stranger})" in said
    assert refusal([tmp_path], strict=True) == (
        "labels.csv line 3: 'attribute' is empty, expected an attribute and a label"
    )
    put(tmp_path, labels="attribute,label,parent\nvenu,ICDM,a\n")
    assert refusal([tmp_path]) == (
        "no row of labels.csv says something of a label: labels.csv line 2: 'attribute' is 'venu', expected an "
        "attribute of the items (venue, year) (rows: 1)"
    )
    put(tmp_path, labels="attribute,label,parent\nvenue,KDD,a\nyear,KDD,a\nvenue, KDD,b\n")
    assert refusal([tmp_path]) == (
        "labels.csv line 4: label 'KDD' of 'venue' comes again (as in labels.csv line 2), expected it once"
    )
    put(tmp_path, labels="attribute,label\nvenue,KDD\n")
    assert refusal([tmp_path]) == ("labels.csv has no column for a full name or a parent: it has 'attribute', 'label'")
    put(tmp_path, labels="attribute,label,parent\n")
    assert read([tmp_path])[0].labels.num_rows == 0


def test_terms_stand_in_for_texts(tmp_path: Path) -> None:
    put(tmp_path, **ITEMS, terms="paper,term,count\nq,graph,2\np,graph,1\np,tree,3\nq,graph,1\n")
    corpus, said = read([tmp_path])
    assert corpus.terms.to_pylist() == [
        {"item": 0, "term": "graph", "count": 1},
        {"item": 0, "term": "tree", "count": 3},
        {"item": 1, "term": "graph", "count": 3},
    ]
    assert "terms.csv: 1 repeated terms add their counts" in said
    assert len(c2n.api.find_topics(corpus, "lda", count=2).names) >= 1
    put(tmp_path, terms="item,word\np,tree\n")
    assert read([tmp_path])[0].terms.to_pylist() == [{"item": 0, "term": "tree", "count": 1}]


def test_bad_terms_are_counted_shown_and_stop_when_strict(tmp_path: Path) -> None:
    put(tmp_path, **ITEMS, terms="item,term,count\np,a,1\n,a,1\np,,1\nx,a,1\np,b,0\np,b,1.5\np,b,\np,b,many\n")
    corpus, said = read([tmp_path])
    assert corpus.terms.num_rows == 1
    assert corpus.dropped == {
        "terms without an item or term": 2,
        "terms of unknown items": 1,
        "terms with a bad count": 4,
    }
    first = "terms.csv line 6: 'count' is '0', expected a whole number of 1 or more"
    assert any(text.startswith(f"left out terms with a bad count: 4 ({first}; ") for text in said)
    for row, why in (
        (",a,1", "'item' is empty, expected an item and a term"),
        ("p,,1", "'term' is empty, expected an item and a term"),
        ("x,a,1", "'item' is 'x', expected the id of an item"),
        ("p,b,1.5", "'count' is '1.5', expected a whole number of 1 or more"),
    ):
        put(tmp_path, terms=f"item,term,count\n{row}\n")
        told = f"terms.csv line 2: {why}"
        assert refusal([tmp_path], strict=True) == told
        assert refusal([tmp_path]) == f"no row of terms.csv is a term of an item: {told} (rows: 1)"


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.integers(-1, 4)), min_size=1, max_size=20)


@given(PAIRS)
def test_terms_are_counted_as_plain_python_counts_them(rows: list[tuple[int, str, int]]) -> None:
    plain: dict[tuple[int, str], int] = {}
    for item, term, count in rows:
        if item < 3 and count > 0:
            plain[item, term] = plain.get((item, term), 0) + count
    columns = dict(zip(("item", "term", "count"), map(list, zip(*rows, strict=True)), strict=True))
    part = Rows("terms", pa.table(columns), lambda numbers: [f"row {number}" for number in numbers])
    ids = [str(number) for number in range(3)]
    made = pa.table({"item": pa.array(range(3), pa.int32()), "object": pa.array([0, 0, 0], pa.int32())})
    corpus = Corpus(pa.table({"object": ["o"], "name": ["o"], "kind": ["o"]}), pa.table({"item": ids}), made)
    dropped = Dropped()
    if not plain:
        with pytest.raises(SourceError, match="no row of terms is a term of an item"):
            add_labels_and_terms(corpus, {"terms": (part, {name: name for name in columns})}, dropped)
        return
    found = add_labels_and_terms(corpus, {"terms": (part, {name: name for name in columns})}, dropped)
    assert {(row["item"], row["term"]): row["count"] for row in found.terms.to_pylist()} == plain
    assert found.terms["item"].to_pylist() == sorted(found.terms["item"].to_pylist())
    assert sum(found.dropped.values()) == sum(item > 2 or count < 1 for item, _, count in rows)


def test_labels_and_terms_may_stand_anywhere_among_paths(tmp_path: Path) -> None:
    every = {**ITEMS, "labels": "attribute,label,parent\nvenue,KDD,a\n", "terms": "item,term\np,tree\n"}
    paths = put(tmp_path, **every)
    for order in list(permutations(paths))[::17]:
        corpus, _ = read(list(order))
        assert corpus.labels.num_rows == corpus.terms.num_rows == 1
    named = Tables(**{name: tmp_path / f"{name}.csv" for name in every}).read()
    assert named.labels.num_rows == named.terms.num_rows == 1


def test_a_file_called_labels_is_still_taken_for_what_is_missing_otherwise() -> None:
    assert {role: path.name for role, path in assign_files([Path("labels.csv"), Path("edges.csv")]).items()} == {
        "nodes": "labels.csv",
        "links": "edges.csv",
    }
    with pytest.raises(SourceError, match=r"^'labels.csv' and 'my-labels.csv' are both called labels: give one of th"):
        assign_files([Path(name) for name in ("nodes.csv", "links.csv", "labels.csv", "my-labels.csv")])


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        ("genes terms annotations", "objects items mentions"),
        ("users labels ratings", "objects items mentions"),
        ("objects terms mentions", "objects items mentions"),
        ("nodes edges labels", "nodes links labels"),
        ("objects items mentions terms", "objects items mentions terms"),
        ("objects items mentions links labels", "objects items mentions links labels"),
        ("a b labels terms", "objects items mentions links"),
    ],
)
def test_labels_and_terms_by_name_do_not_take_the_place_of_files_in_order(names: str, roles: str) -> None:
    paths = [Path(f"{name}.csv") for name in names.split()]
    assert assign_files(paths) == dict(zip(roles.split(), paths, strict=True))


def test_terms_of_nodes_are_told_by_their_nodes(tmp_path: Path) -> None:
    put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\n", links="source,target\na,b\n", terms="node,term\na,opera\n")
    corpus, _ = read([tmp_path])
    assert corpus.terms.to_pylist() == [{"item": 0, "term": "opera", "count": 1}]


def test_labels_of_a_query_are_told_from_labels_of_attributes(tmp_path: Path) -> None:
    put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\n", links="source,target\na,b\n", labels="object,label\na,x\n")
    with pytest.raises(
        SourceError, match=r"labels.csv has no column for the attribute: .* rename a table that does not"
    ):
        read([tmp_path])
