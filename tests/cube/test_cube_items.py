"""The item index of a cube: what it holds, how it is kept, and what happens to cubes without one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net._util.arrays import Ragged
from cube2net.cube.building.build import build, update
from cube2net.cube.building.concatenation import concatenate, concatenate_topics
from cube2net.cube.removal import without_items
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, roll_up
from cube2net.errors import CubeError, ParameterError, SourceError
from cube2net.model import items as attributes_module
from cube2net.model.corpus import ASSIGNED, TERMS, WORDS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.items import ItemAttributes, ItemIndex

from corpora import ROWS, corpus_of
from updates import Sqlite, assert_same_items, attribute_bytes, change_manifest, resize, update_folder, with_ids

DECADE, VENUE = DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue/kind")
KINDS = {"ACL": "conference", "KDD": "conference"}
MANY: list = [(1995 + i, [("ACL", "KDD", "TACL")[i % 3]], [i % 5, (i * 3) % 5]) for i in range(20)]
FILES = {
    "items.arrow",
    "items.attributes.arrow",
    "items.cells.indices.npy",
    "items.cells.indptr.npy",
    "items.objects.indices.npy",
    "items.objects.indptr.npy",
}


def index_of(cube: Cube) -> ItemIndex:
    assert cube.items is not None
    return cube.items()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(build(corpus_of(MANY, objects=5, kinds=KINDS), [DECADE, VENUE], Sqlite(), min_objects=3), tmp_path / "cube")
    return tmp_path / "cube"


def test_three_items_by_hand() -> None:
    rows: list = [(2003, ["KDD", "ACL"], [2, 0, 2]), (2003, [], [1]), (2015, ["KDD"], [])]
    rows += [(2004, ["KDD"], [1, 0, 3])]
    cube = build(corpus_of(rows, objects=4), [DECADE, DimensionSpec.parse("venue")], Sqlite(), min_objects=3)
    index = index_of(cube)
    assert [cube.cell(0)] == [("200X", "KDD")] and len(cube.cells) == len(cube.small) == 1
    assert [index.objects[item].tolist() for item in range(4)] == [[0, 2], [1], [], [0, 1, 3]]
    assert [index.cells[item].tolist() for item in range(4)] == [[0, 1], [], [], [0]]
    assert index.ids.to_pylist() == ["i0", "i1", "i2", "i3"]
    assert index.derived
    assert repr(index) == "ItemIndex(4 items, 6 mentions)"
    assert index.mentioning([0, 3], least=2).tolist() == [3]
    assert index.mentioning([]).tolist() == []
    assert index.find(["i3", "i0", "i3"]).tolist() == [3, 0, 3]
    with pytest.raises(ParameterError, match="2 items are not in the cube: 'x', 'y'"):
        index.find(["x", "i0", "y", "x"])


@given(ROWS, st.integers(1, 4))
def test_the_index_follows_its_definition(rows: list, least: int) -> None:
    assume(any(year is not None for year, _, _ in rows) and any(venues for _, venues, _ in rows))
    cube = build(corpus_of(rows, objects=10), [DECADE, DimensionSpec.parse("venue")], Sqlite(), min_objects=least)
    index = index_of(cube)
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    for item, (year, venues, mentioned) in enumerate(rows):
        assert index.objects[item].tolist() == sorted(set(mentioned))
        expected = set(product([] if year is None else [f"{year // 10}X"], venues)) if mentioned else set()
        names = [
            tuple(d.labels[code] for d, code in zip(cube.dimensions, labels[cell], strict=True))
            for cell in index.cells[item]
        ]
        assert set(names) == expected and len(names) == len(expected)
        assert index.cells[item].tolist() == sorted(index.cells[item].tolist())


def test_the_labels_and_mentions_of_items_may_come_in_any_order_and_twice() -> None:
    corpus = corpus_of([(2003, ["ACL"], [0, 1]), (2003, ["KDD"], [1])], objects=2)
    mixed = replace(corpus, mentions=corpus.mentions.take(pa.array([2, 1, 0, 1])))
    found = table(ASSIGNED, item=[1, 0, 1, 1], topic=[1, 0, 0, 1], weight=[1.0] * 4)
    topics = Topics(("syntax", "speech"), found, table(WORDS))
    cube = build(mixed, [DimensionSpec("topic", "topic"), DECADE], Sqlite(), topics=topics, min_objects=2)
    index = index_of(cube)
    assert [index.objects[item].tolist() for item in range(2)] == [[0, 1], [1]]
    assert [index.cells[item].tolist() for item in range(2)] == [[0], [0, 1]]


def test_the_files_are_listed_sealed_and_read_only_when_they_are_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {name for name in manifest["files"] if name.startswith("items.")} == FILES
    assert verify(folder)
    monkeypatch.setattr(ItemIndex, "__post_init__", lambda self: pytest.fail("it was read"))
    opened = read(folder)
    monkeypatch.undo()
    assert index_of(opened) is index_of(opened)
    assert_same_items(opened, build(corpus_of(MANY, objects=5, kinds=KINDS), [DECADE, VENUE], Sqlite(), min_objects=3))


def test_an_update_of_links_alone_keeps_the_files_of_items(tmp_path: Path) -> None:
    given_links = [(0, 1, 2.0)]
    save(build(corpus_of(MANY, objects=5, links=given_links), [DECADE], Sqlite()), tmp_path / "cube")
    before = {name: (tmp_path / "cube" / name).stat().st_ino for name in FILES}
    none = corpus_of([], objects=2, links=[(0, 1, 1.0)])
    update_folder(tmp_path / "cube", none, Sqlite())
    assert {name: (tmp_path / "cube" / name).stat().st_ino for name in FILES} == before
    assert verify(tmp_path / "cube")
    assert not index_of(read(tmp_path / "cube")).derived


def test_a_cube_may_be_built_without_and_stays_without_when_it_grows(tmp_path: Path) -> None:
    cube = build(corpus_of(MANY, objects=5), [DECADE], Sqlite(), items=False)
    save(cube, tmp_path / "cube")
    assert not list((tmp_path / "cube").glob("items.*"))
    opened = read(tmp_path / "cube")
    assert opened.items is None
    more = with_ids(corpus_of(MANY, objects=5), len(MANY))
    assert update(opened, more, Sqlite()).items is None


def test_a_cube_that_was_written_before_there_was_an_index_opens_without_it(folder: Path, tmp_path: Path) -> None:
    for name in FILES:
        (folder / name).unlink()
    change_manifest(folder, lambda manifest: [manifest["files"].pop(name) for name in FILES])
    old = read(folder)
    assert old.items is None
    assert roll_up(dice(old, {"venue": ["ACL", "KDD"]}), "venue").items is None
    save(old, tmp_path / "again")
    assert verify(tmp_path / "again")


def test_views_and_cubes_without_some_items_are_saved_with_their_index(folder: Path, tmp_path: Path) -> None:
    cube = read(folder)
    views = [roll_up(cube, "venue"), dice(cube, {"venue": "ACL"}), without_items(cube, [0, 3])]
    for view in views:
        save(view, tmp_path / "view")
        assert_same_items(read(tmp_path / "view"), view)
        assert verify(tmp_path / "view")


def test_damaged_items_are_one_sentence_when_they_are_asked_for(folder: Path) -> None:
    good = {name: (folder / name).read_bytes() for name in FILES}
    indices = np.load(folder / "items.cells.indices.npy")
    indices[3] = 2**30
    np.save(folder / "items.cells.indices.npy", indices)
    with pytest.raises(CubeError, match=r"is damaged: its items cannot be read \(it points to what is not there\)"):
        index_of(read(folder))
    (folder / "items.cells.indices.npy").write_bytes(good["items.cells.indices.npy"])
    indptr = np.load(folder / "items.objects.indptr.npy")
    indptr[2] = 99
    np.save(folder / "items.objects.indptr.npy", indptr)
    with pytest.raises(CubeError, match="is damaged: its items cannot be read .*offsets that fall"):
        index_of(read(folder))
    (folder / "items.objects.indptr.npy").write_bytes(good["items.objects.indptr.npy"])
    (folder / "items.arrow").write_bytes(bytes(len(good["items.arrow"])))
    with pytest.raises(CubeError, match="is damaged: its items cannot be read"):
        index_of(read(folder))


def test_rows_and_ids_of_different_lengths_are_refused() -> None:
    one, two = Ragged(np.array([0, 0]), np.empty(0, np.int32)), Ragged(np.array([0, 0, 0]), np.empty(0, np.int32))
    with pytest.raises(CubeError, match="1 items mention objects and 2 are in cells"):
        ItemIndex(one, two, True, lambda: pa.chunked_array([["a"]]))
    with pytest.raises(CubeError, match="1 items have 2 ids"):
        _ = ItemIndex(one, one, True, lambda: pa.chunked_array([["a", "b"]])).ids


DECADE_ATTRIBUTES = DimensionSpec.parse("decade=year@decades")
ROWS: list = [(1995 + i, [("ACL", "KDD")[i % 2]], [i % 5, (i * 3) % 5]) for i in range(12)]
LONG = "Proceedings of the Annual Meeting"


def corpus(count: int = 12, first: int = 0, **columns: pa.Array) -> Corpus:
    found = with_ids(corpus_of(ROWS[:count], objects=5), first)
    items = found.items
    for name, values in columns.items():
        items = items.append_column(name, values)
    return replace(found, items=items)


def test_a_cube_keeps_all_that_its_items_carry_but_their_texts(tmp_path: Path) -> None:
    title = pa.array([f"On {i}" for i in range(12)])
    when = pa.array([date(2000, 1, 1 + i) for i in range(12)])
    data = replace(corpus(title=title, when=when, text=title), time="when")
    save(build(data, [DECADE_ATTRIBUTES], Sqlite(), min_objects=1), tmp_path / "cube")
    cube = read(tmp_path / "cube")
    kept = index_of(cube).attributes
    assert kept.column_names == ["year", "venue", "title", "when"]
    assert kept.to_pylist() == data.items.select(kept.column_names).to_pylist()
    assert index_of(cube).kept_attributes.rows(np.array([3, 1]))["title"].to_pylist() == ["On 3", "On 1"]
    assert index_of(cube).kept_attributes.column("when").to_pylist() == when.to_pylist()
    assert cube.settings["time"] == "when"
    assert index_of(without_items(cube, [0])).attributes.num_rows == 12


def test_texts_that_repeat_are_kept_by_their_numbers_and_others_as_they_stand() -> None:
    venue = pa.array([LONG] * 5 + [None, "KDD"])
    lists = pa.array([[LONG, LONG], None, [], [LONG, None], [LONG], ["KDD"], [LONG]])
    title = pa.array([f"On {i}" for i in range(7)])
    kept = ItemAttributes.of(pa.table({"item": title, "venue": venue, "lists": lists, "title": title}))
    assert [str(kind) for kind in kept.schema.types] == [
        "dictionary<values=string, indices=int32, ordered=0>",
        "list<item: dictionary<values=string, indices=int32, ordered=0>>",
        "string",
    ]
    assert kept.table["venue"].chunk(0).dictionary.to_pylist() == [LONG, "KDD"]
    assert kept.table["venue"].to_pylist() == venue.to_pylist()
    assert kept.table["lists"].to_pylist() == kept.column("lists").to_pylist() == lists.to_pylist()


TEXT = st.one_of(st.none(), st.sampled_from([LONG, LONG + " again", "a", "b", ""]))
VALUES = {
    "text": (TEXT, [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]),
    "lists": (
        st.one_of(st.none(), st.lists(TEXT, max_size=3)),
        [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.field("element", pa.string()))],
    ),
    "number": (st.one_of(st.none(), st.integers(0, 9)), [pa.int16(), pa.int64(), pa.float64()]),
    "nothing": (st.none(), [pa.null(), pa.date32()]),
}


@given(st.data(), st.integers(1, 4), st.integers(0, 9))
def test_the_bytes_are_those_of_all_rows_whatever_parts_and_types_they_came_in(
    data: st.DataObject, size: int, looked_at: int
) -> None:
    def part(rows: int, first: int) -> pa.Table:
        columns = {
            name: pa.array(data.draw(st.lists(values, min_size=rows, max_size=rows)))
            for name, (values, _) in VALUES.items()
        }
        cast = {name: _cast(columns[name], data.draw(st.sampled_from(VALUES[name][1]))) for name in VALUES}
        ids = pa.array([f"i{first + row}" for row in range(rows)], pa.string())
        return pa.table({"item": ids, **cast})

    first, second = part(data.draw(st.integers(1, 9)), 0), part(data.draw(st.integers(0, 9)), 9)
    seen = attributes_module.SAMPLED_ROWS
    attributes_module.SAMPLED_ROWS = looked_at
    try:
        before = ItemAttributes.of(first)
        after = before.plus(second)
        stored = ItemAttributes((pa.Table.from_batches(before.batches(size), before.schema),), written=True)
        empty = corpus_of([], objects=1)
        whole = ItemAttributes.of(concatenate(replace(empty, items=first), replace(empty, items=second)).items)
        expected = _file(whole, size)
        assert _file(after, size) == expected == _file(stored.plus(second), size)
        assert after.table.to_pylist() == whole.table.to_pylist() == whole.parts[0].to_pylist()
    finally:
        attributes_module.SAMPLED_ROWS = seen


def _cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values.dictionary_encode() if pa.types.is_dictionary(kind) and len(values) else values.cast(kind)


def _file(attributes: ItemAttributes, rows: int) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, attributes.schema) as writer:
        for batch in attributes.batches(rows):
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def test_what_is_under_an_empty_place_is_not_in_the_bytes() -> None:
    def numbers(hidden: int) -> pa.Table:
        values = pa.py_buffer(np.array([1, hidden, 3]).tobytes())
        column = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(bytes([5])), values])
        return pa.table({"item": ["a", "b", "c"], "number": column})

    assert _file(ItemAttributes.of(numbers(7)), 9) == _file(ItemAttributes.of(numbers(8)), 9)


def test_an_update_writes_the_attributes_that_a_rebuild_writes(tmp_path: Path) -> None:
    venue = pa.array([LONG] * 12)
    first = corpus(series=venue, pages=pa.array(range(12), pa.int32()))
    more = corpus(3, 12, pages=pa.array([1.5, None, 2.0]), award=pa.array(["x"] * 3))
    save(build(first, [DECADE_ATTRIBUTES], Sqlite(), min_objects=1), tmp_path / "cube")
    update_folder(tmp_path / "cube", more, Sqlite())
    save(build(concatenate(first, more), [DECADE_ATTRIBUTES], Sqlite(), min_objects=1), tmp_path / "whole")
    name = "items.attributes.arrow"
    assert (tmp_path / "cube" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    last = index_of(read(tmp_path / "cube")).attributes.slice(12).to_pylist()[0]
    assert last == {"year": 1995, "venue": ["ACL"], "series": None, "pages": 1.5}
    assert verify(tmp_path / "cube") == verify(tmp_path / "whole")


def test_new_values_of_another_type_are_brought_to_the_old_one_or_refused_by_name() -> None:
    cube = build(corpus(2, volume=pa.array(["P14-1", "7"])), [DECADE_ATTRIBUTES], Sqlite(), min_objects=1)
    grown = update(cube, corpus(1, 2, volume=pa.array([8])), Sqlite())
    assert index_of(grown).attributes["volume"].to_pylist() == ["P14-1", "7", "8"]
    cube = build(corpus(2, volume=pa.array([1, 2])), [DECADE_ATTRIBUTES], Sqlite(), min_objects=1)
    with pytest.raises(SourceError, match="attribute 'volume' of the new items holds string, and int64 in the"):
        update(cube, corpus(1, 2, volume=pa.array(["P14-1"])), Sqlite())


def test_topics_and_what_they_were_found_in_are_kept_and_grow(tmp_path: Path) -> None:
    def found(names: tuple[str, ...], topics: list[list[int]]) -> Topics:
        pairs = [(item, topic) for item, some in enumerate(topics) for topic in some]
        rows = table(
            ASSIGNED, item=[item for item, _ in pairs], topic=[topic for _, topic in pairs], weight=[1.0] * len(pairs)
        )
        return Topics(names, rows, table(WORDS))

    specs = [DimensionSpec("topic", "topic")]
    first, more = corpus(3, text=pa.array(["a tree", None, "b"])), corpus(2, 3, text=pa.array(["a tree", ""]))
    of_first, of_more = found(("syntax", "speech"), [[1, 0], [1], [0]]), found(("new", "speech"), [[1, 0], [0]])
    cube = build(first, specs, Sqlite(), topics=of_first, min_objects=1)
    save(update(cube, more, Sqlite(), topics=of_more), tmp_path / "cube")
    whole = build(
        concatenate(first, more), specs, Sqlite(), topics=concatenate_topics(of_first, of_more, 3), min_objects=1
    )
    index = index_of(read(tmp_path / "cube"))
    assert_same_items(read(tmp_path / "cube"), whole)
    assert index.topics is not None and index.texts is not None
    assert [index.topics[item].tolist() for item in range(5)] == [[0, 1], [1], [0], [1, 2], [2]]
    assert index.texts[0] == index.texts[3] != index.texts[2] and index.texts[1] == index.texts[4] == 0
    terms = replace(first, terms=table(TERMS, item=[0, 0, 1, 1], term=["a", "b", "b", "a"], count=[2, 1, 1, 2]))
    texts = index_of(build(terms, specs, Sqlite(), topics=of_first, min_objects=1)).texts
    assert texts is not None and texts[0] == texts[1] != texts[2] == 0


def test_a_cube_may_keep_the_index_alone_and_says_so_where_attributes_are_needed(tmp_path: Path) -> None:
    save(build(corpus(), [DECADE_ATTRIBUTES], Sqlite(), items="index"), tmp_path / "cube")
    assert not (tmp_path / "cube" / "items.attributes.arrow").exists()
    index = index_of(update(read(tmp_path / "cube"), corpus(2, 12), Sqlite()))
    assert len(index) == 14 and index.load_attributes is None
    with pytest.raises(CubeError, match=r"the cube does not keep the attributes .* have them \(items='all'\)"):
        _ = index.attributes
    with pytest.raises(ParameterError, match="unknown kind of items 'some': choose one of all, index, none"):
        build(corpus(), [DECADE_ATTRIBUTES], Sqlite(), items="some")
    assert build(corpus(), [DECADE_ATTRIBUTES], Sqlite(), items=False).items is None
    assert index_of(build(corpus(), [DECADE_ATTRIBUTES], Sqlite(), items=True)).attributes.num_rows == 12


def test_items_that_carry_nothing_but_texts_are_kept_without_columns(tmp_path: Path) -> None:
    plain = corpus()
    bare = replace(plain, items=plain.items.select(["item"]))
    rows = table(ASSIGNED, item=list(range(12)), topic=[0] * 12, weight=[1.0] * 12)
    topics = Topics(("syntax",), rows, table(WORDS))
    save(build(bare, [DimensionSpec("topic", "topic")], Sqlite(), topics=topics), tmp_path / "cube")
    index = index_of(read(tmp_path / "cube"))
    assert index.attributes.num_columns == 0 and len(index.kept_attributes) == 12
    assert attribute_bytes(index)


def test_damaged_attributes_are_one_sentence_when_they_are_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "cube"
    save(build(corpus(), [DECADE_ATTRIBUTES], Sqlite()), folder)
    file = folder / "items.attributes.arrow"
    good = file.read_bytes()
    file.write_bytes(bytes(len(good)))
    index = index_of(read(folder))
    with pytest.raises(CubeError, match="is damaged: its attributes of items cannot be read"):
        _ = index.attributes
    short = build(corpus(3), [DECADE_ATTRIBUTES], Sqlite())
    save(short, tmp_path / "short")
    file.write_bytes((tmp_path / "short" / file.name).read_bytes())
    resize(folder, file.name)
    with pytest.raises(CubeError, match="12 items have attributes of 3"):
        _ = index_of(read(folder)).attributes
