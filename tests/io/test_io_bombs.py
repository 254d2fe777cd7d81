"""What unpacks to absurdly much is refused before it is held, in one sentence that names what to raise."""

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bombs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cube2net._util import zip_files as unpacking
from cube2net._util.zip_files import Gauge, Meter, UnpackLimits, open_zip, unpack
from cube2net.apps.cli.options import configure
from cube2net.errors import ParameterError, SourceError
from cube2net.io.bibliography.acl import Acl
from cube2net.io.bibliography.aminer import Aminer
from cube2net.io.bibliography.dblp import Dblp
from cube2net.io.query_files import read_query_file
from cube2net.io.reviews.movies import Movies
from cube2net.io.reviews.yelp import Yelp
from cube2net.io.sources import SOURCES
from cube2net.io.tables import parquet
from cube2net.io.tables.parquet import Page, chunks_of, pages_of
from cube2net.io.tables.read_rows import read_rows
from cube2net.io.tables.table_source import Tables

MUCH = 40 * 2**20


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(SourceError) as error:
        read()
    assert "\n" not in str(error.value)
    return str(error.value)


def table_bomb(folder: Path, name: str) -> Path:
    if name == "value.parquet":
        return bombs.parquet_long_value(folder / name, 1_000, 100_000)
    if name == "prefixes.parquet":
        return bombs.parquet_prefixes(folder / name, 1_000, 100_000)
    if name == "page.parquet":
        return bombs.parquet_page(folder / name, MUCH)
    if name == "rows.parquet":
        return bombs.parquet_rows(folder / name, 10_000_000)
    return bombs.tables_of(folder / name, MUCH)


TABLES = ["x.csv.gz", "x.tsv.gz", "x.jsonl.gz", "rows.parquet", "value.parquet", "prefixes.parquet", "page.parquet"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_swells_too_far_is_refused_and_can_be_trusted(tmp_path: Path, name: str) -> None:
    path = table_bomb(tmp_path, name)
    assert path.stat().st_size < 400_000
    said = refusal(lambda: read_rows(path))
    assert said.startswith(f"{name} unpacks to more than 100 times its size (")
    assert said.endswith("): it is not read any further, raise max_ratio if you trust it (max_ratio=1000)")
    said = refusal(lambda: read_rows(path, meter=Meter(UnpackLimits(10**6, "20MB"))))
    assert said == (
        f"{name} unpacks to more than 20,000,000 bytes: it is not read any further, raise max_unpacked if you trust it "
        "(max_unpacked=200000000)"
    )
    assert read_rows(path, meter=Meter(UnpackLimits(10**6, "300MB"))).table.num_rows > 0


SWELLING: dict[str, tuple[Any, Callable[[Path], Path]]] = {
    "yelp gz": (Yelp, lambda path: bombs.packed_rows(path / "review.json.gz", b"", b" ", MUCH)),
    "yelp zip": (Yelp, lambda path: bombs.zipped_zeros(path / "a.zip", "review{}.json", MUCH)),
    "many members": (Yelp, lambda path: bombs.zipped_zeros(path / "a.zip", "review{}.json", 2**20, members=40)),
    "yelp tar.gz": (Yelp, lambda path: bombs.tarred_zeros(path / "a.tar.gz", "review.json", MUCH)),
    "yelp tar.xz": (Yelp, lambda path: bombs.tarred_zeros(path / "a.tar.xz", "review.json", MUCH)),
    "yelp tar.bz2": (Yelp, lambda path: bombs.tarred_zeros(path / "a.tar.bz2", "review.json", MUCH)),
    "movies gz": (Movies, lambda path: bombs.packed_rows(path / "ratings.dat.gz", b"", b" ", MUCH)),
    "aminer gz": (Aminer, lambda path: bombs.packed_rows(path / "dblp.json.gz", b"", b" ", MUCH)),
    "aminer tar.gz": (Aminer, lambda path: bombs.tarred_zeros(path / "a.tar.gz", "other.bin", 2**20, members=40)),
    "dblp gz": (Dblp, lambda path: bombs.packed_rows(path / "dblp.xml.gz", b"<dblp>", b" ", MUCH)),
    "acl tar.xz": (Acl, lambda path: bombs.tarred_zeros(path / "a.tar.xz", "other.bin", 2**20, members=40)),
}


@pytest.mark.parametrize("case", SWELLING)
def test_every_source_refuses_what_swells_too_far(tmp_path: Path, case: str) -> None:
    source, write = SWELLING[case]
    path = write(tmp_path)
    said = refusal(lambda: source().read([path]))
    assert said.startswith(f"{path.name} unpacks to more than 100 times its size (")
    assert said.endswith("): it is not read any further, raise max_ratio if you trust it (max_ratio=1000)")
    said = refusal(lambda: source(max_ratio=10**6, max_unpacked="20MB").read([path]))
    assert said.startswith(f"{path.name} unpacks to more than 20,000,000 bytes: ") and "raise max_unpacked" in said


def test_a_bomb_is_refused_by_its_first_bytes_however_large_it_is(tmp_path: Path) -> None:
    path = bombs.tables_of(tmp_path / "x.csv.gz", 50 * MUCH)
    gauges: list[Gauge] = []

    class Watching(Meter):
        def gauge(self, path: Path, name: str | None = None) -> Gauge:
            gauges.append(super().gauge(path, name))
            return gauges[-1]

    refusal(lambda: read_rows(path, meter=Watching()))
    assert [gauge.unpacked <= unpacking.FREE + 2**23 for gauge in gauges] == [True]


def test_all_files_of_one_reading_count_together_and_each_once(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv.gz"
    nodes.write_bytes(gzip.compress(b"id\n" + b"".join(b"%d\n" % number for number in range(1_000))))
    links = tmp_path / "links.csv.gz"
    links.write_bytes(gzip.compress(b"source,target\n" + b"".join(b"%d,%d\n" % (n, n + 1) for n in range(999))))
    sizes = [len(gzip.decompress(path.read_bytes())) for path in (nodes, links)]
    corpus = Tables(max_unpacked=sum(sizes)).read([nodes, links])
    assert corpus.objects.num_rows == 1_000
    said = refusal(lambda: Tables(max_unpacked=sum(sizes) - 1).read([nodes, links]))
    assert said.startswith(f"links.csv.gz unpacks with the files before it to more than {sum(sizes) - 1:,} bytes: ")


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "sql"])  # DuckDB reads, within its memory
def test_the_limits_are_parameters_of_every_source_and_checked(name: str) -> None:
    reader: Any = configure(SOURCES[name], {"max_unpacked": "50GB", "max_ratio": "500"}, name)
    assert UnpackLimits(reader.max_ratio, reader.max_unpacked).total == 50 * 10**9
    assert UnpackLimits(1, "5000").total == UnpackLimits(1, 5000).total == 5000
    with pytest.raises(ParameterError, match="max_unpacked is 'much', expected a number and a unit, such as 512MB"):
        configure(SOURCES[name], {"max_unpacked": "much"}, name)
    with pytest.raises(ParameterError, match="max_ratio is 0, expected a whole number of 1 or more"):
        configure(SOURCES[name], {"max_ratio": "0"}, name)


def test_a_long_row_or_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("text_records", "tables.text_tables"):
        monkeypatch.setattr(f"cube2net.io.{module}.MAX_LINE_BYTES", 2**20)
        monkeypatch.setattr(f"cube2net.io.{module}.BLOCK_BYTES", 2**16)
    monkeypatch.setattr("cube2net.io.tables.read_rows.BLOCK_BYTES", 2**16)
    quoted, line = tmp_path / "quoted.csv", tmp_path / "line.jsonl"
    quoted.write_bytes(b'id,name\na,"' + b"x\n" * 2**20)
    assert refusal(lambda: read_rows(quoted)) == (
        "quoted.csv has a row of more than 1,048,576 bytes, expected less (is a quote not closed? fields are quoted by "
        "quote='\"')"
    )
    quoted.write_bytes(b'"id\n' + b"x\n" * 2**20)
    assert refusal(lambda: read_rows(quoted)).startswith("quoted.csv line 1 is not a header")
    line.write_bytes(b'{"id": 1}\r\n{"id": "' + b"x" * 2**21 + b'"}\n')
    assert refusal(lambda: read_rows(line)) == "line.jsonl line 2 is longer than 1,048,576 bytes, expected a row a line"
    line.write_bytes((b'{"id": "' + b"x" * (2**20 - 20) + b'"}\n') * 3)
    assert read_rows(line).table.num_rows == 3
    quoted.write_bytes(b"," * 20_000)
    assert refusal(lambda: read_rows(quoted)) == "quoted.csv has 20,001 columns, expected at most 10,000"


def test_keys_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"{number}": 1}}\n' for number in range(30_000)), encoding="utf-8")
    assert "raise max_ratio" in refusal(lambda: read_rows(path))


def test_many_ragged_lines_are_counted_not_held(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,name\n" + b"a,b\nc\n\nd,e\n" * 50_000)
    rows = read_rows(path)
    assert rows.table.num_rows == 100_000 and rows.places([0, 1, 2]) == ["x.csv line 2", "x.csv line 5", "x.csv line 6"]


def test_what_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    for name, source in (("x.jsonl", None), ("review.json", Yelp), ("dblp.json", Aminer)):
        path = tmp_path / name
        path.write_bytes(deep)
        refusal(lambda path=path, source=source: source().read([path]) if source else read_rows(path))
    (tmp_path / "P18.xml").write_bytes(b"<collection id='P18'/>")
    (tmp_path / "venues.json").write_bytes(b"[" * 200_000)
    assert "venues.json cannot be read as JSON" in refusal(lambda: Acl().read([tmp_path]))


def test_what_is_packed_twice_is_unpacked_once(tmp_path: Path) -> None:
    inner = bombs.tables_of(tmp_path / "inner.csv.gz", MUCH).read_bytes()
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(inner))
    assert "is not UTF-8" in refusal(lambda: read_rows(tmp_path / "x.csv.gz"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("review.json.gz", inner)
    assert "there is no business" in refusal(lambda: Yelp().read([tmp_path / "a.zip"]))


@pytest.mark.parametrize("says", [10, 2**32 - 2])
def test_a_zip_that_lies_about_sizes_is_one_sentence(tmp_path: Path, says: int) -> None:
    path = bombs.zipped_zeros(tmp_path / "a.zip", "review.json", 2**20)
    whole = bytearray(path.read_bytes())
    directory = whole.rfind(b"PK\x01\x02")
    whole[directory + 24 : directory + 28] = struct.pack("<I", says)
    path.write_bytes(whole)
    sentence = "a.zip cannot be read: " if says == 10 else "a.zip unpacks to more than 100 times its size "
    assert refusal(lambda: Yelp().read([path])).startswith(sentence)


def test_a_zip_with_a_directory_too_large_to_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "DIRECTORY", 1_000)
    path = bombs.zipped_zeros(tmp_path / "a.zip", "{}.json", 0, members=100)
    assert refusal(lambda: Yelp().read([path])).startswith("a.zip has a directory of ")
    for cut in range(0, 200, 7):
        path.write_bytes(path.read_bytes()[:-cut] if cut else path.read_bytes())
        with pytest.raises((SourceError, zipfile.BadZipFile)), path.open("rb") as file:
            open_zip(file, Meter().gauge(path))


@given(
    st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.sampled_from(sorted(bombs.PACK)), st.integers(1, 99)
)
def test_packed_parts_are_unpacked_as_one(parts: list[bytes], by: str, step: int) -> None:
    packed = b"".join(map(bombs.PACK[by], parts)) + bytes(8)
    gauge = Gauge(Meter(), "key", "x", len(packed))
    file = unpack(io.BufferedReader(io.BytesIO(packed)), gauge)
    pieces = list(iter(lambda: file.read(step), b""))
    assert b"".join(pieces) == b"".join(parts) and gauge.unpacked == sum(map(len, parts))


@given(st.sampled_from(sorted(bombs.PACK)), st.data())
def test_a_packed_file_that_is_cut_or_damaged_is_one_sentence(by: str, data: st.DataObject) -> None:
    packed = bytearray(bombs.PACK[by](bytes(range(256)) * 20))
    if data.draw(st.booleans()):
        del packed[data.draw(st.integers(6, len(packed) - 1)) :]
    else:
        packed[data.draw(st.integers(6, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        whole = unpack(io.BufferedReader(io.BytesIO(bytes(packed))), Gauge(Meter(), 1, "x", len(packed))).read()
    except SourceError as error:
        assert str(error).startswith("x cannot be read: ") and "\n" not in str(error)
    else:
        assert whole == bytes(range(256)) * 20


TEXTS = st.lists(st.none() | st.sampled_from(["", "a", "data mining", "x" * 900]), min_size=1, max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    TEXTS,
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from(["none", "zstd", "snappy"]),
    st.integers(3, 60),
    st.booleans(),
)
def test_a_parquet_file_is_the_same_read_at_once_or_in_pieces(
    tmp_path: Path, texts: list[str | None], pages: str, codec: str, group: int, nested: bool
) -> None:
    table = pa.table(
        {
            "id": pa.array(range(len(texts)), pa.int32()),
            "text": pa.array(texts, pa.string()),
            "many": pa.array([None if text is None else [text, "b"] for text in texts], pa.list_(pa.string())),
            "inside": pa.array([{"label": text} for text in texts], pa.struct([("label", pa.string())])),
            "beginnings": pa.array(texts, pa.large_string()),
        }
    )
    path = tmp_path / "x.parquet"
    table = table if nested else table.drop_columns(["many", "inside"])
    others = ["id", "text", "many.list.element", "inside.label"]
    pq.write_table(
        table,
        path,
        compression=codec,
        data_page_version=pages,
        row_group_size=group,
        use_dictionary=others,
        column_encoding={"beginnings": "DELTA_BYTE_ARRAY"},
        data_page_size=64,
        dictionary_pagesize_limit=2**20 if nested else 500,
    )
    gauge = Meter().gauge(path)
    with pq.ParquetFile(path) as file:
        weights = parquet._weigh(path, gauge)
        pieces = parquet._read_in_pieces(path, file.schema_arrow, weights, gauge)
    assert pieces.equals(table) and read_rows(path).table.equals(table)
    assert sum(one.most for one in weights) >= sum(parquet._written_out(column) for column in _arrays(table))


def _arrays(table: pa.Table) -> Sequence[pa.Array]:
    return [column.combine_chunks() for column in table.itercolumns()]


def test_what_the_end_of_a_parquet_file_says_of_its_pages_is_not_believed(tmp_path: Path) -> None:
    path = bombs.parquet_page(tmp_path / "x.parquet", MUCH)
    whole = path.read_bytes()
    with pq.ParquetFile(path) as file:
        about = file.metadata.row_group(0).column(0)
    true, lie = _varint(about.total_uncompressed_size), _varint(10)
    assert whole.count(true) == 2
    lie = bytes([lie[0] | 128]) + b"\x80" * (len(true) - 2) + b"\x00"
    path.write_bytes(whole.replace(true, lie))
    with pq.ParquetFile(path) as file:
        assert file.metadata.row_group(0).column(0).total_uncompressed_size == 10
    with path.open("rb") as raw:
        pages = [page for chunk in chunks_of(raw) for page in pages_of(raw, chunk)]
    assert pages == [Page(0, 0, 1, MUCH + 10)]
    assert "raise max_ratio" in refusal(lambda: read_rows(path))


def _varint(number: int) -> bytes:
    number, found = number << 1, []
    while True:
        found.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_the_bytes_of_a_parquet_file_rows_or_one_sentence_come_back(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table({"id": ["a", "b", "a"] * 20, "many": [["x"], [], None] * 20, "year": list(range(60))})
    pq.write_table(table, path, compression="zstd", row_group_size=40)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(4, len(whole) - 9))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        read_rows(path)
    except SourceError as error:
        assert "\n" not in str(error)


def test_a_pipe_or_device_is_read_where_once_is_enough_and_refused_elsewhere(tmp_path: Path) -> None:
    assert refusal(lambda: read_rows(Path("/dev/zero"))) == (
        "'/dev/zero' is a pipe or device, expected a file, for it is read more than once: save it"
    )
    pipe = tmp_path / "nodes.csv"
    os.mkfifo(pipe)
    assert "is a pipe or device" in refusal(lambda: Tables(nodes=pipe, links=pipe).read([]))
    for source in (Acl, Aminer, Dblp, Movies, Yelp):
        assert (
            refusal(lambda source=source: source().read([Path("/dev/zero")]))
            == "'/dev/zero' is a device, expected a file"
        )
    with pytest.raises(SourceError, match="the query '/dev/zero' takes more than 67,108,864 bytes"):
        read_query_file(Path("/dev/zero"))
    (tmp_path / "x.csv").mkdir()
    assert "is a folder, expected a table file" in refusal(lambda: read_rows(tmp_path / "x.csv"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_by_the_sources_that_read_once(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    papers = [{"id": str(number), "title": "T", "year": 2000, "authors": ["A", "B"]} for number in range(3)]
    text = b"".join(json.dumps(paper).encode() + b"\n" for paper in papers)
    pipe = tmp_path / "dblp.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(pack(text)))
    writer.start()
    corpus = Aminer().read([pipe], progress=lambda stage, done, total=None: None)
    writer.join()
    assert corpus.items.num_rows == 3


PROGRAM = """
import resource, sys
from pathlib import Path
from cube2net.errors import SourceError
from cube2net.io.tables.read_rows import read_rows
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_rows(Path(sys.argv[1]))
except SourceError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured in other units elsewhere")
@pytest.mark.parametrize("name", ["x.csv.gz", "x.jsonl.gz", "rows.parquet", "value.parquet", "page.parquet"])
def test_a_refused_file_takes_little_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "rows.parquet":
        bombs.parquet_rows(path, 100_000_000, group=2_000_000)
    elif name == "value.parquet":
        bombs.parquet_long_value(path, 20_000, 1_000_000)
    elif name == "page.parquet":
        bombs.parquet_page(path, 200_000_000)
    else:
        bombs.tables_of(path, 6 * 2**30, piece=16 * 2**20)
    done = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=True)
    said, kilobytes = done.stdout.splitlines()
    assert "unpacks to more than 100 times its size" in said
    assert int(kilobytes) < 150_000


def test_a_zip_that_says_how_far_it_swells_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bombs.zipped_zeros(tmp_path / "a.zip", "review{}.json", MUCH)

    def unpack(*_: object) -> None:
        pytest.fail("it was unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpack)
    assert f"({MUCH:,} bytes out of " in refusal(lambda: Yelp().read([path]))
