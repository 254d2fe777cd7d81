"""The item index of a cube: what it holds, how it is kept, and what happens to cubes without one."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net._util.arrays import Ragged
from cube2net.cube.building.build import build, update
from cube2net.cube.building.concatenation import concatenate
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.removal import without_items
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, roll_up
from cube2net.errors import CubeError, ParameterError
from cube2net.model.corpus import ASSIGNED, WORDS, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.items import ItemIndex

from corpora import ROWS, corpus_of
from updates import Sqlite, assert_same_items, update_folder, with_ids

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
    save(build(corpus_of(MANY, objects=5, kinds=KINDS), [DECADE, VENUE], DuckDB(), min_objects=3), tmp_path / "cube")
    return tmp_path / "cube"


def test_three_items_by_hand() -> None:
    rows: list = [(2003, ["KDD", "ACL"], [2, 0, 2]), (2003, [], [1]), (2015, ["KDD"], [])]
    rows += [(2004, ["KDD"], [1, 0, 3])]
    cube = build(corpus_of(rows, objects=4), [DECADE, DimensionSpec.parse("venue")], DuckDB(), min_objects=3)
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
    cube = build(mixed, [DimensionSpec("topic", "topic"), DECADE], DuckDB(), topics=topics, min_objects=2)
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
    assert_same_items(opened, build(corpus_of(MANY, objects=5, kinds=KINDS), [DECADE, VENUE], DuckDB(), min_objects=3))


def test_an_update_writes_the_bytes_that_a_rebuild_writes(folder: Path, tmp_path: Path) -> None:
    rows: list = [(1980, ["AAAI", "KDD"], [4, 0, 4]), (None, ["KDD"], [1, 5]), (2020, ["WMT"], [])]
    more = with_ids(corpus_of(rows, objects=6, kinds=KINDS), len(MANY))
    update_folder(folder, more, DuckDB())
    whole = concatenate(corpus_of(MANY, objects=5, kinds=KINDS), more)
    save(build(whole, [DECADE, VENUE], DuckDB(), min_objects=3), tmp_path / "rebuilt")
    for name in FILES:
        assert (folder / name).read_bytes() == (tmp_path / "rebuilt" / name).read_bytes(), name


def test_an_update_of_links_alone_keeps_the_files_of_items(tmp_path: Path) -> None:
    given_links = [(0, 1, 2.0)]
    save(build(corpus_of(MANY, objects=5, links=given_links), [DECADE], DuckDB()), tmp_path / "cube")
    before = {name: (tmp_path / "cube" / name).stat().st_ino for name in FILES}
    none = corpus_of([], objects=2, links=[(0, 1, 1.0)])
    update_folder(tmp_path / "cube", none, DuckDB())
    assert {name: (tmp_path / "cube" / name).stat().st_ino for name in FILES} == before
    assert verify(tmp_path / "cube")
    assert not index_of(read(tmp_path / "cube")).derived


def test_a_cube_may_be_built_without_and_stays_without_when_it_grows(tmp_path: Path) -> None:
    cube = build(corpus_of(MANY, objects=5), [DECADE], DuckDB(), items=False)
    save(cube, tmp_path / "cube")
    assert not list((tmp_path / "cube").glob("items.*"))
    opened = read(tmp_path / "cube")
    assert opened.items is None
    more = with_ids(corpus_of(MANY, objects=5), len(MANY))
    assert update(opened, more, DuckDB()).items is None


def test_a_cube_that_was_written_before_there_was_an_index_opens_without_it(folder: Path, tmp_path: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in FILES:
        (folder / name).unlink()
        del manifest["files"][name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
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


def test_a_build_in_a_folder_makes_the_same_files(folder: Path, tmp_path: Path) -> None:
    corpus = corpus_of(MANY, objects=5, kinds=KINDS)
    made = build(corpus, [DECADE, VENUE], DuckDB(), min_objects=3, folder=tmp_path / "stage")
    save(made, tmp_path / "cube2", made_in=tmp_path / "stage")
    for name in FILES:
        assert (tmp_path / "cube2" / name).read_bytes() == (folder / name).read_bytes()
