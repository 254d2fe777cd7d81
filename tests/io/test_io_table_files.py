"""One table file at a time: what is wrong with it, and where."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.read_rows import read_rows
from cube2net.io.tables.table_source import Tables

from fuzz import check_corpus_or_sentence


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path, *, strict: bool = False) -> str:
    with pytest.raises(SourceError) as error:
        read_rows(path, dropped=Dropped(strict))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_that_is_not_there_a_folder_and_an_unknown_ending_are_refused(tmp_path):
    assert refusal(tmp_path / "no.csv") == f"there is no file '{tmp_path / 'no.csv'}': check the path"
    assert refusal(tmp_path).startswith(f"'{tmp_path}' is a folder, expected a table file: ")
    told = refusal(put(tmp_path / "x.docx", "a"))
    assert told.startswith("cannot tell the format of 'x.docx': expected a name that ends in .csv, .tsv, ")


@pytest.mark.parametrize("name", ["x.docx", "x.numbers", "x.PDF"])
def test_what_can_be_saved_as_a_table_is_refused_with_that_advice(tmp_path, name):
    assert refusal(put(tmp_path / name, "a")).endswith(".xlsb or .ods (save it as .xlsx or .csv)")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(80), "a picture"),
        (b"\xff\xd8\xff\xe0" + bytes(80), "a picture"),
        (b"GIF89a" + bytes(80), "a picture"),
        (b"%PDF-1.4\n1 0 obj\n", "a PDF document"),
        (b"PK\x03\x04" + bytes(80), "a packed folder or a document"),
        (b"PK\x03\x04" + bytes(80) + b"xl/workbook.xml", "a workbook, whose name does not end in .xlsx"),
        (b"\xd0\xcf\x11\xe0" + bytes(80), "a document or workbook of the time before 2007"),
    ],
)
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.jsonl"])
def test_what_is_no_text_is_called_what_it_is(tmp_path, name, content, what):
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path).startswith(f"{name} is {what}, not a table: expected a name that ends in .csv")


def test_a_table_that_begins_as_a_picture_does_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("BMW;Köln\nA;1\nB;2\n".encode("windows-1252"))
    assert read_rows(path).table.num_rows == 2


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.parquet"])
@pytest.mark.parametrize("content", ["", "\ufeff", "\n \n"])
def test_an_empty_file_is_refused(tmp_path, name, content):
    told = refusal(put(tmp_path / name, content))
    assert told.startswith("x.parquet") or told == f"{name} is empty, expected a header and rows"


def test_a_header_alone_is_a_table_without_rows(tmp_path):
    assert read_rows(put(tmp_path / "x.csv", "id,name")).table.num_rows == 0
    assert read_rows(put(tmp_path / "x.csv", "id,name\r\n\r\n")).table.column_names == ["id", "name"]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.csv.gz"])
def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path, name):
    content = b'{"id": "a"}\n{"id": "\xc3\xa9"}\n{"id": "caf\xe9"}\n'
    told = refusal(put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content))
    other = "" if "json" in name else ", or say which it has: encoding='windows-1252'"
    expected = f"byte 0xe9 is not UTF-8, expected text in UTF-8 (save the file in that encoding{other})"
    assert told == f"{name} line 3: {expected}"


def test_half_a_character_at_the_end_is_not_utf8(tmp_path):
    assert refusal(put(tmp_path / "x.csv", b"id\na\nb\xc3")).startswith("x.csv line 3: byte 0xc3 is not UTF-8")


def test_a_cut_gzip_file_is_refused(tmp_path):
    told = refusal(put(tmp_path / "x.csv.gz", gzip.compress(b"id,name\n" + bytes(range(65, 90)) * 900)[:-30]))
    assert told.startswith("x.csv.gz cannot be read: ")
    assert told.endswith(" (is it cut short?)")
    assert refusal(put(tmp_path / "y.csv.gz", "id\na\n")).startswith("y.csv.gz cannot be read: Not a .gz file")


@pytest.mark.parametrize(
    ("name", "pack"), [("x.csv.gz", gzip.compress), ("x.tsv.xz", lzma.compress), ("x.csv.bz2", bz2.compress)]
)
def test_packed_tables_are_read(tmp_path, name, pack):
    mark = b"\t" if "tsv" in name else b","
    assert read_rows(put(tmp_path / name, pack(b"id%bcity\n1%bRome\n" % (mark, mark)))).table["city"].to_pylist() == [
        "Rome"
    ]


def test_a_cut_parquet_file_is_refused(tmp_path):
    pq.write_table(pa.table({"id": list(range(1000))}), tmp_path / "x.parquet")
    whole = (tmp_path / "x.parquet").read_bytes()
    for cut in (2, 100, len(whole) - 5):
        told = refusal(put(tmp_path / "x.parquet", whole[:cut]))
        assert told.startswith("x.parquet cannot be read as Parquet: ")
        assert told.endswith(" (is it cut short?)")


def test_ragged_lines_are_left_out_with_their_line_or_stop_when_strict(tmp_path):
    path = put(tmp_path / "x.csv", 'id,name\n\na,"two\nlines"\nb\nc,1,2\nd,4\ne,5\n')
    said: list[str] = []
    dropped = Dropped(progress=lambda stage, done, total=None: said.append(stage))
    rows = read_rows(path, dropped=dropped)
    assert rows.table.to_pydict() == {"id": ["a", "d", "e"], "name": ["two\nlines", "4", "5"]}
    assert said == [
        "left out ragged lines of x.csv: 2 (x.csv line 5: has 1 field, expected 2 as in the header; "
        "x.csv line 6: has 3 fields, expected 2 as in the header)"
    ]
    assert dropped.counts == {"ragged lines of x.csv": 2}
    assert rows.places([2, 0]) == ["x.csv line 8", "x.csv line 3"]
    assert refusal(path, strict=True) == "x.csv line 5: has 1 field, expected 2 as in the header"


def test_a_file_of_which_half_is_ragged_is_refused(tmp_path):
    told = refusal(put(tmp_path / "x.csv", "id,name\na,b\nc\n"))
    assert told == (
        "x.csv line 3: has 1 field, expected 2 as in the header (and so for 1 of 2 lines; "
        "delimiter=',' parts them, give another)"
    )


def test_bad_json_lines_are_left_out_with_their_line_or_stop_when_strict(tmp_path):
    path = put(tmp_path / "x.jsonl", '{"id": 1}\n\n{"id": 2\n[3]\n{"id": 4, "x": {"y": 1}}\n{"id": "5"}\n')
    said: list[str] = []
    rows = read_rows(path, dropped=Dropped(progress=lambda stage, done, total=None: said.append(stage)))
    assert rows.table.to_pydict() == {"id": ["1", "4", "5"]}
    assert said[0].startswith(
        "left out lines of x.jsonl that are no JSON objects: 2 (x.jsonl line 3: '{\"id\": 2' is not JSON ("
    )
    assert 'x.jsonl line 4: \'[3]\' is not a JSON object, expected something like {"id": "a"}' in said[0]
    assert rows.places([1]) == ["x.jsonl line 5"]
    assert refusal(path, strict=True).startswith("x.jsonl line 3: '{\"id\": 2' is not JSON (")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("1", "x.jsonl line 1: '1' is not a JSON object"),
        ('{"a": "\\ud800"}', 'x.jsonl line 1: \'{"a": "\\\\ud800"}\' holds half a character'),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", 'x.jsonl line 1: \'{"a": [[[[['),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, 'x.jsonl line 1: \'{"a": {"a":'),
        ("{}", "x.jsonl has no columns, expected one JSON object a line with keys such as 'id'"),
    ],
)
def test_a_file_without_one_good_json_line_is_refused(tmp_path, line, text):
    assert refusal(put(tmp_path / "x.jsonl", line)).startswith(text)


def test_values_of_several_kinds_in_json_become_text(tmp_path):
    path = put(tmp_path / "x.jsonl", '{"id": 1, "t": "x"}\n{"id": "b", "t": ["y", 2]}\n{"id": 2.5, "n": 1}\n')
    rows = read_rows(path)
    assert rows.table.to_pydict() == {"id": ["1", "b", "2.5"], "t": [["x"], ["y", "2"], None], "n": [None, None, 1]}
    assert rows.untyped == {"id"}


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_data(tmp_path):
    rows = read_rows(put(tmp_path / "x.csv", '\ufeff"id",name\r\na,b\r\n'))
    assert rows.table.to_pydict() == {"id": ["a"], "name": ["b"]}
    assert read_rows(put(tmp_path / "x.jsonl", '\ufeff{"id": 1}\r\n')).table.to_pydict() == {"id": [1]}


def test_columns_of_the_same_name_are_numbered_and_that_is_said(tmp_path):
    said: list[str] = []
    dropped = Dropped(progress=lambda stage, done, total=None: said.append(stage))
    path = put(tmp_path / "x.csv", "id,x,x,x\na,b,c,d\n")
    assert read_rows(path, dropped=dropped).table.column_names == ["id", "x", "x.1", "x.2"]
    assert said == ["x.csv names columns twice: they are called 'x.1', 'x.2' (guessed)"]


def test_a_list_of_json_objects_is_read_as_one_object_a_line_is(tmp_path):
    records = [{"id": "a", "x": 1}, {"id": "b"}]
    path = put(tmp_path / "x.json", json.dumps(records, indent=1))
    assert read_rows(path).table.to_pylist() == [{"id": "a", "x": 1}, {"id": "b", "x": None}]
    assert read_rows(path).places([1]) == ["x.json row 2"]
    for text, sentence in (
        ("[{", "is not JSON"),
        ("[1]", "row 1 of the list is 1, expected a dictionary"),
        ("[]", "no columns"),
    ):
        assert sentence in refusal(put(tmp_path / "x.json", text))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_without_a_mark_is_read(tmp_path, encoding):
    path = tmp_path / "x.csv"
    path.write_bytes("id\tname\na\tMüller\n".encode(encoding))
    assert read_rows(path).table.to_pydict() == {"id": ["a"], "name": ["Müller"]}


def test_a_column_without_a_name_gets_its_number(tmp_path):
    assert read_rows(put(tmp_path / "x.csv", ",id\n1,a\n")).table.column_names == ["column 1", "id"]


def test_another_delimiter_can_be_given(tmp_path):
    rows = read_rows(put(tmp_path / "x.csv", "id;name\na;b,c\n"), conventions=Conventions(delimiter=";"))
    assert rows.table.to_pydict() == {"id": ["a"], "name": ["b,c"]}


def test_a_value_longer_than_a_block_is_read(tmp_path):
    long = "x" * 9_000_000
    rows = read_rows(put(tmp_path / "x.csv", f"id,text\na,{long}\nb,short\n"))
    assert pc.utf8_length(rows.table["text"]).to_pylist() == [9_000_000, 5]
    rows = read_rows(put(tmp_path / "x.jsonl", f'{{"id": "a", "text": "{long}"}}\n'))
    assert pc.utf8_length(rows.table["text"]).to_pylist() == [9_000_000]


FIELD = st.text(st.sampled_from('ab",\n\r;1 é'), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_the_place_of_a_row_is_the_line_on_which_it_starts(tmp_path, fields, ending):
    def quoted(value: str) -> str:
        return '"' + value.replace('"', '""') + '"' if any(mark in value for mark in '",\n\r') else value

    lines, text = [], f"id,x{ending}"
    for one, other in fields:
        lines.append(len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
        text += f"{quoted(one)},{quoted(other)}{ending}"
    rows = read_rows(put(tmp_path / "x.csv", text))
    assert rows.table.to_pylist() == [{"id": one or None, "x": other or None} for one, other in fields]
    assert rows.places(range(len(fields))) == [f"x.csv line {line}" for line in lines]


def check_files(paths: list[Path], *, strict: bool) -> None:
    """A corpus or one sentence, whatever the files hold."""
    reader = Tables(strict=strict)
    check_corpus_or_sentence(lambda: reader.read(paths, progress=lambda stage, done, total=None: None))


CSV_PIECES = ["id", "name", "from", "to", "weight", ",", ",", '"', "\n", "\n", "\r", " ", "\x00", "a", "b", "1", "-1"]
CSV_PIECES += ["1e999", "NaN", "2020-13-45", "99999999999999999999", "é", "id,name\na,1\n", "from,to\na,b\n"]
JSON_IDS = ('"a"', '1, "x": [1]', '{"a": 1}', "true", '"2020-01-01"', "[]", "1.5")
JSON_PIECES = ["{", "}", "[", ":", ",", '"id"', "1", "NaN", "1e999", "99999999999999999999", '"\\ud800"', "\n"]
JSON_PIECES += ['{"to": null}', '{"from": "a", "to": 1}\n', '{"from": "a", "to": 1, "weight": "x"}\n']
JSON_PIECES += [f'{{"id": {value}}}\n' for value in JSON_IDS]


def bytes_of(pieces: list[str]) -> st.SearchStrategy[bytes]:
    return st.binary(max_size=60) | st.lists(st.sampled_from(pieces), max_size=16).map(
        lambda some: "".join(some).encode()
    )


CSV_BYTES, JSON_BYTES = bytes_of(CSV_PIECES), bytes_of(JSON_PIECES)
FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(CSV_BYTES, CSV_BYTES, st.booleans())
@example(b"id,name\na,1\n", b"from,to,weight\na,a,1\n", False)
@example(b'id,"na\nme\na,1\n', b"from,to\na,\x00\n", False)
@example(b"id,x\na,b,c,\xff\n", b"from,to\na,b\n", False)
def test_whatever_the_bytes_of_csv_files_a_corpus_or_a_clear_error_comes_back(tmp_path, nodes, links, strict):
    check_files([put(tmp_path / "nodes.csv", nodes), put(tmp_path / "links.csv", links)], strict=strict)
    check_files(
        [put(tmp_path / "nodes.csv", b"id,name\na,1\nb,2\n"), put(tmp_path / "links.csv", links)], strict=strict
    )


@FUZZ
@given(JSON_BYTES, JSON_BYTES, st.booleans())
@example(b'{"id": "a"}\n{"id": 2}\n', b'{"from": "a", "to": 2, "weight": [1]}\n', False)
def test_whatever_the_bytes_of_json_files_a_corpus_or_a_clear_error_comes_back(tmp_path, nodes, links, strict):
    check_files([put(tmp_path / "nodes.jsonl", nodes), put(tmp_path / "links.jsonl", links)], strict=strict)
    good = put(tmp_path / "nodes.jsonl", b'{"id": "a"}\n{"id": 1}\n')
    check_files([good, put(tmp_path / "links.jsonl", links)], strict=strict)
