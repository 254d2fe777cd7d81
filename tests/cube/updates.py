"""What tests of growing and shrinking cubes share: random corpora, a quick engine, and when two cubes are the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from cube2net._util.arrays import LIGHTEST
from cube2net._util.progress import Progress, silent
from cube2net.cube.building.build import update
from cube2net.cube.storage.writer import change_folder
from cube2net.model.corpus import LABELS, LINKS, MENTIONS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Engine
from cube2net.model.items import ItemIndex

from corpora import corpus_of

SPECS = [
    "decade=year@decades",
    "year@years/decades",
    "stars@width:0.5",
    "stars@width:0.5/width:1.5",
    "size=stars@edges:1,2,4",
    "year@decades/state",
    "venue",
    "venue/kind",
    "city",
    "city/state",
    "city/state/region",
    "city/region/state|venue",
    "city/land=state|area=region",
    "venue/kind/sort",
    "venue/kind/sort/region|kind/state",
    "year@years/width:2|decades/width:20/region",
    "year@years/even@width:2/city|state/decade=year@decades",
    "city/born=stars@width:2/state",
    "date@days/months/quarters/years/decades",
    "day=date@days/weeks|months/state|year@years/width:4",
    "date@weeks",
]
NAMES = ["ACL", "KDD", "TACL", "WMT"]


@dataclass(frozen=True)
class Sqlite:
    """Runs the plan in Python's own database: slow with many rows, and quick to start."""

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        folder: Path | None = None,
        progress: object = None,
    ) -> dict[str, pa.Table]:
        connection = sqlite3.connect(":memory:")
        for name, rows in tables.items():
            connection.execute(f"CREATE TABLE {name} ({', '.join(rows.column_names)})")
            marks = ", ".join("?" * rows.num_columns)
            values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", values)
        for name, statement in statements.items():
            connection.execute(f"CREATE TABLE {name} AS {statement}")
        made = {}
        for name in wanted:
            cursor = connection.execute(f"SELECT * FROM {name}")
            names = [column[0] for column in cursor.description]
            kinds = [pa.float32() if column == "weight" else pa.int64() for column in names]
            columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
            made[name] = pa.table([pa.array(list(c), k) for c, k in zip(columns, kinds, strict=True)], names)
        connection.close()
        return made


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.none(), values)


DAY, LATE = date(2018, 1, 1), "2019-12-30T23:59"
WEIGHT = st.one_of(st.just(0.0), st.floats(float(np.float32(LIGHTEST)), 1000, width=32))
LINK_ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), WEIGHT), max_size=12)
ITEM = st.tuples(
    maybe(st.integers(1985, 2024)),
    st.lists(st.sampled_from(NAMES), max_size=2),
    st.lists(st.integers(0, 6), max_size=4),
    st.lists(st.sampled_from(["Reno", "Springfield", "Ulm"]), max_size=2),
    st.lists(st.sampled_from(["Illinois", "Nevada", "Ohio"]), min_size=1, max_size=2),
    maybe(st.one_of(st.integers(0, 6).map(float), st.floats(-3, 6).map(lambda x: round(x, 3)))),
    st.lists(st.sampled_from(["east", "south", "west"]), min_size=1, max_size=2),
    maybe(st.one_of(st.dates(DAY, DAY.replace(2021)).map(str), st.sampled_from(["2019", "2020-02", LATE]))),
)


@st.composite
def wholes(draw: st.DrawFn, is_linked: bool | None = None) -> Corpus:
    rows = draw(st.lists(ITEM, min_size=2, max_size=14))
    links = draw(maybe(LINK_ROWS)) if is_linked is None else draw(LINK_ROWS) if is_linked else None
    known = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["conference", "journal"]), min_size=1))
    sorts = draw(
        st.dictionaries(st.sampled_from(["conference", "journal", "other"]), st.sampled_from(["x", "y"]), min_size=1)
    )
    plain = corpus_of([row[:3] for row in rows], objects=7, kinds=known, links=links)
    said = {"attribute": ["kind"] * len(sorts), "full_name": ["A kind"] * len(sorts)}
    labels = table(LABELS, **said, label=list(sorts), parent=list(sorts.values()))
    plain = replace(plain, labels=pa.concat_tables([plain.labels, labels]))
    items = plain.items
    for name, place in (("city", 3), ("state", 4), ("region", 6)):
        items = items.append_column(name, pa.array([row[place] for row in rows], pa.list_(pa.string())))
    items = items.append_column("date", pa.array([row[7] for row in rows], pa.string()))
    items = items.append_column("stars", pa.array([row[5] for row in rows], pa.float64()))
    whole = replace(plain, items=items, dropped={"papers without authors": 2}, attribution="by hand")
    return knowing(draw, whole, whole_ids=draw(st.booleans()), directed=draw(st.booleans()))


def knowing(draw: st.DrawFn, corpus: Corpus, *, whole_ids: bool, directed: bool) -> Corpus:
    """Return a corpus that may also know attributes of objects, and kinds, times and directions of links."""
    objects, links = corpus.objects, corpus.links
    for name, values, kind in (
        ("age", st.integers(0, 99), draw(st.sampled_from([pa.int16(), pa.int64()]))),
        ("home", st.sampled_from(["Rome", "Oslo"]), pa.string()),
        ("tags", st.lists(st.sampled_from("ab"), max_size=2), pa.list_(pa.string())),
    ):
        if draw(st.booleans()):
            column = draw(st.lists(maybe(values), min_size=len(objects), max_size=len(objects)))
            objects = objects.append_column(name, pa.array(column, kind))
    if whole_ids:
        ids = [str(3 - int(key.removeprefix("o"))) for key in objects["object"].to_pylist()]
        objects = objects.set_column(0, "object", pa.array(ids, pa.string()))
    if links is not None:
        for name, values, kind in (
            ("kind", st.sampled_from(["cites", "knows", "likes"]), pa.string()),
            ("time", st.integers(1990, 2020), draw(st.sampled_from([pa.int32(), pa.int64()]))),
        ):
            if draw(st.booleans()):
                column = draw(st.lists(maybe(values), min_size=len(links), max_size=len(links)))
                links = links.append_column(name, pa.array(column, kind))
    return replace(corpus, objects=objects, links=links, directed=directed and links is not None, whole_ids=whole_ids)


def specs_of(draw: st.DrawFn, texts: list[str]) -> list[DimensionSpec]:
    """Return some dimensions; those with a name that an earlier one has are left out."""
    specs: dict[str, DimensionSpec] = {}
    for text in draw(st.lists(st.sampled_from(texts), min_size=1, max_size=3, unique=True)):
        spec = DimensionSpec.parse(text)
        names = [spec.name, *(level.name for level in spec.levels)]
        if not specs.keys() & set(names):
            specs |= dict.fromkeys(names, spec)
    return list(dict.fromkeys(specs.values()))


def assert_same(one: Cube, other: Cube) -> None:
    """Everything that makes a cube is the same, array by array, and so is what its ledger keeps."""
    for mine, its in zip(one.dimensions, other.dimensions, strict=True):
        for fine, coarse in zip(mine.levels, its.levels, strict=True):
            assert (fine.name, fine.labels, fine.full_names) == (coarse.name, coarse.labels, coarse.full_names)
            assert {name: parents.tolist() for name, parents in fine.above.items()} == {
                name: parents.tolist() for name, parents in coarse.above.items()
            }
    for name in ("cells.labels", "small.labels", *ragged("cells.members"), *ragged("small.members")):
        assert_equal(one, other, name)
    for name in (*ragged("object_cells"), *ragged("links"), "links.weights"):
        assert_equal(one, other, name)
    assert_same_items(one, other)
    assert_same_details(one, other)
    assert one.objects.table.equals(other.objects.table)
    assert one.objects.whole == other.objects.whole
    assert one.objects.attributes.equals(other.objects.attributes)
    assert json.loads(json.dumps(one.settings)) == json.loads(json.dumps(other.settings))
    assert (one.topic_words is None) == (other.topic_words is None)
    assert one.topic_words is None or one.topic_words.equals(other.topic_words)
    assert one.ledger is not None and other.ledger is not None
    left, right = one.ledger(), other.ledger()
    assert left.items.tolist() == right.items.tolist()
    for name, told in left.tables().items():
        if name == "ledger":
            assert metadata(told) == metadata(right.tables()[name])
        else:
            assert sorted(map(str, told.to_pylist())) == sorted(map(str, right.tables()[name].to_pylist()))


def assert_same_items(one: Cube, other: Cube) -> None:
    """The item indexes of two cubes are the same, array by array."""
    assert (one.items is None) == (other.items is None)
    if one.items is None or other.items is None:
        return
    mine, its = one.items(), other.items()
    assert mine.derived == its.derived
    assert mine.ids.to_pylist() == its.ids.to_pylist()
    for name in (*ragged("objects"), *ragged("cells")):
        assert_equal(mine, its, name)
    assert (mine.load_attributes is None) == (its.load_attributes is None)
    if mine.load_attributes is not None:
        assert mine.kept_attributes.schema == its.kept_attributes.schema
        assert attribute_bytes(mine) == attribute_bytes(its)
    assert (mine.topics is None) == (its.topics is None) and (mine.texts is None) == (its.texts is None)
    for name in ragged("topics") if mine.topics is not None else ():
        assert_equal(mine, its, name)
    if mine.texts is not None:
        assert_equal(mine, its, "texts")


def attribute_bytes(index: ItemIndex, rows: int = 5) -> bytes:
    """Return the attributes of items as their file would hold them, in batches of a few rows."""
    sink = BytesIO()
    attributes = index.kept_attributes
    again = replace(attributes, written=False)
    with pa.ipc.new_file(sink, again.schema) as writer:
        for batch in again.batches(rows):
            writer.write_batch(batch)
    return sink.getvalue()


def assert_same_details(one: Cube, other: Cube) -> None:
    """The links of two cubes are the same one by one, with all that the source says of them."""
    assert (one.details is None) == (other.details is None)
    if one.details is None or other.details is None:
        return
    mine, its = one.details(), other.details()
    assert_equal(mine, its, "indptr")
    assert mine.rows.equals(its.rows)


def ragged(name: str) -> tuple[str, str]:
    return f"{name}.indptr", f"{name}.indices"


def assert_equal(one: Any, other: Any, name: str) -> None:
    for part in name.split("."):
        one, other = getattr(one, part), getattr(other, part)
    assert one.dtype == other.dtype, name
    assert one.shape == other.shape, name
    assert np.array_equal(one, other), name


def metadata(ledger: pa.Table) -> dict[str, Any]:
    """Return the ledger's small parts; of kinds of numbers that go together it keeps the first."""
    about: dict[str, Any] = json.loads(ledger.schema.metadata[b"cube2net.ledger"])
    return {name: value for name, value in about.items() if name != "kinds"}


def with_ids(corpus: Corpus, start: int) -> Corpus:
    """Return a corpus whose items are numbered from ``start`` on."""
    ids = pa.array([f"i{start + i}" for i in range(corpus.items.num_rows)], pa.string())
    return replace(corpus, items=corpus.items.set_column(0, "item", ids))


def part_of(whole: Corpus, items: list[int], objects: list[int], links: list[int]) -> Corpus:
    """Return some of the items, objects and links of a corpus; objects that these need must be among them."""
    number = {old: new for new, old in enumerate(items)}
    place = {old: new for new, old in enumerate(objects)}
    said = [
        (i, o) for i, o in zip(*(whole.mentions[name].to_pylist() for name in MENTIONS), strict=True) if i in number
    ]
    given = None
    if whole.links is not None:
        rows = whole.links.take(pa.array(links, pa.int64()))
        ends = {end: [place[o] for o in rows[end].to_pylist()] for end in ("source", "target")}
        given = table(LINKS, **ends, weight=rows["weight"])
        for name in rows.column_names[len(LINKS) :]:
            given = given.append_column(name, rows[name])
    return replace(
        whole,
        objects=whole.objects.take(pa.array(objects, pa.int64())),
        items=whole.items.take(pa.array(items, pa.int64())),
        mentions=table(MENTIONS, item=[number[i] for i, _ in said], object=[place[o] for _, o in said]),
        links=given,
    )


def update_folder(
    folder: Path, corpus: Corpus, engine: Engine, *, topics: Topics | None = None, progress: Progress = silent
) -> None:
    """Add the items and links of a corpus to the cube of a folder."""
    change_folder(folder, lambda cube: update(cube, corpus, engine, topics=topics), progress=progress)


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of a cube, as nobody but a stranger would: its own checksum is not made anew."""
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def resize(folder: Path, name: str) -> None:
    """Let the manifest have the size that a file has now."""
    change_manifest(folder, lambda manifest: manifest["files"][name].update(bytes=(folder / name).stat().st_size))
