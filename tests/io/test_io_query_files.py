from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import Cube2netError
from cube2net.io.query_files import read_pairs_file, read_query_file


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("q.txt", "Ada\n\n# a remark\n Grace \n", (["Ada", "Grace"], None)),
        ("q.csv", 'object,label\nAda,x\n"Hopper, Grace",y\n', (["Ada", "Hopper, Grace"], ["x", "y"])),
        ("q.csv", "object\nAda\n", (["Ada"], None)),
        ("q.csv", "\ufefflabel,object\nx,Ada\n", (["Ada"], ["x"])),
        ("q.csv", "label;object\nx;Ada, King\n", (["Ada, King"], ["x"])),
        ("q.csv", "sep=;\nobject;label\nAda;x\n", (["Ada"], ["x"])),
        ("q.csv", "My query\n\nobject;label;note\nAda;x;y\nGrace;x;z\n", (["Ada", "Grace"], ["x", "x"])),
        ("q.csv", "name,label\nAda,x\n", (["Ada"], ["x"])),
        ("q.csv", "city;id;Gruppe\nRome;1;x\n", (["1"], ["x"])),
        ("q.csv", "Kunden-Nr.\n1001\n1002\n", (["1001", "1002"], None)),
        ("names", "object;label\nAda;x\n", (["Ada"], ["x"])),
        ("q.tsv", "object\tlabel\nAda\tx\n", (["Ada"], ["x"])),
        ("q.csv", "object\nuser:1\nfilm:2\n", (["user:1", "film:2"], None)),
        ("names", "object,label\nAda,x\n", (["Ada"], ["x"])),
        ("names", "Hopper, Grace\n", (["Hopper, Grace"], None)),
        ("names", "objects of art\nAda\n", (["objects of art", "Ada"], None)),
        ("names", "Object,Label,Note\nAda,x,first\n", (["Ada"], ["x"])),
        ("names", '"object"\tNote\nAda\tfirst\n', (["Ada"], None)),
        ("q.csv", "Object,Label\r\nAda,x\r\n", (["Ada"], ["x"])),
        ("q.csv", " OBJECT , note\nAda,first\n", (["Ada"], None)),
        ("q.csv", "object,note\nAda\n\n , \nGrace,a,b\n", (["Ada", "Grace"], None)),
        ("q.csv", 'object,label\n"Ada\nKing",x\n"Gr\r\nace",y\n', (["Ada\nKing", "Gr\r\nace"], ["x", "y"])),
        ("q.csv", "object\nAda\u2028King\x0bLovelace\x85x\n", (["Ada\u2028King\x0bLovelace\x85x"], None)),
        ("q.txt", "Ada\u2028King\x0bLovelace\x85x\r\nGrace\r\n", (["Ada\u2028King\x0bLovelace\x85x", "Grace"], None)),
    ],
)
def test_a_query_is_read_from_lines_or_from_a_table(tmp_path: Path, name: str, text: str, expected: tuple) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert read_query_file(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("q.txt", b"", "is empty: name at least one object"),
        ("q.txt", b"# nobody\n", "is empty"),
        ("q.csv", b"", "has no column 'object': it has none"),
        (
            "q.csv",
            b"city,label\nRome,x\n",
            "q.csv has no column 'object': it has 'city', 'label' .rename the column of the objects",
        ),
        ("q.csv", b"object,label\nAda,\n", "q.csv has a column 'label' and no label in it: give some, or drop"),
        (
            "q.csv",
            b'object\nAda\n"Grace\nHedy\n',
            "q.csv line 4: cannot be read as a table .unexpected end of data.: check",
        ),
        pytest.param(
            "q.csv",
            b"object\n" + b"a" * 200_000,
            "q.csv line 2: cannot be read as a table .field larger than",
            id="long cell",
        ),
        ("q.txt", b"Ad\xc3\xa1\nGr\xe9goire\n", "q.txt line 2: not UTF-8 text .byte 0xe9.: save it in UTF-8"),
        ("q.txt", b"\xff\xfeA\x00\x00", "q.txt line 1: not UTF-16-LE text .byte 0x00"),
    ],
)
def test_a_query_file_that_cannot_be_used_says_why(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Cube2netError, match=sentence):
        read_query_file(tmp_path / name)


def test_a_query_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Cube2netError, match="cannot read the query .*: no such file or directory"):
        read_query_file(tmp_path / "none.csv")


@given(st.binary(max_size=60), st.sampled_from(["q.csv", "q.txt", "q.tsv"]))
def test_whatever_the_bytes_a_query_file_gives_names_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.mktemp("query") / name
    path.write_bytes(content)
    try:
        names, labels = read_query_file(path)
    except Cube2netError:
        return
    assert names
    assert labels is None or len(labels) == len(names)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_a_query_may_be_written_in_any_usual_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "q.csv").write_bytes("object;label\nGrégoire;größer\n".encode(encoding))
    assert read_query_file(tmp_path / "q.csv") == (["Grégoire"], ["größer"])
    (tmp_path / "q.txt").write_bytes("Grégoire\nZoë x\n".encode(encoding))
    assert read_query_file(tmp_path / "q.txt") == (["Grégoire", "Zoë x"], None)


@pytest.mark.parametrize(("encoding", "name"), [("windows-1251", "Анна Петрова"), ("gb18030", "数据立方体")])
def test_a_query_may_be_written_in_another_script(tmp_path: Path, encoding: str, name: str) -> None:
    (tmp_path / "q.txt").write_bytes(f"{name}\nAda\n".encode(encoding))
    assert read_query_file(tmp_path / "q.txt") == ([name, "Ada"], None)


def test_the_column_of_objects_is_the_one_whose_values_are_known(tmp_path: Path) -> None:
    def known(names: Sequence[str]) -> list[bool]:
        return [name in ("1001", "1002", "Ada") for name in names]

    path = tmp_path / "q.csv"
    path.write_text("Name;Kunden-Nr.;Gruppe\nMeier;1001;a\nKunz;1002;b\n", encoding="utf-8")
    assert read_query_file(path, known) == (["1001", "1002"], ["a", "b"])
    path.write_text("1001\n1002\n", encoding="utf-8")
    assert read_query_file(path, known) == (["1001", "1002"], None)
    path.write_text("city;country\nRome;Italy\n", encoding="utf-8")
    with pytest.raises(Cube2netError, match="has no column 'object': it has 'city', 'country'"):
        read_query_file(path, known)


def test_a_query_may_be_parquet_or_json_lines(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1001, 1002], "note": [[1], [2]]}), tmp_path / "q.parquet")
    assert read_query_file(tmp_path / "q.parquet") == (["1001", "1002"], None)
    (tmp_path / "q.jsonl").write_text('{"object": "Ada", "label": "x"}\n', encoding="utf-8")
    assert read_query_file(tmp_path / "q.jsonl") == (["Ada"], ["x"])
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "h.parquet")
    assert read_pairs_file(tmp_path / "h.parquet") == [("a", "b")]


def test_an_object_may_be_left_without_a_label(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("object,label\nAda,x\nGrace,\n", encoding="utf-8")
    assert read_query_file(tmp_path / "q.csv") == (["Ada", "Grace"], ["x", ""])


# Links from a table


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("h.csv", "source,target\nAda,Grace\n", [("Ada", "Grace")]),
        ("h.csv", "\ufeffnote,Target, SOURCE \r\nx,Ada,Grace\r\n", [("Grace", "Ada")]),
        ("h.tsv", "source\ttarget\nAda, King\t Grace \n", [("Ada, King", "Grace")]),
        ("h.csv", 'source,target\n"Ada, King","Gr\nace"\n', [("Ada, King", "Gr\nace")]),
        ("h.csv", "source,target\n\nAda,Grace\n , \nGrace,Ada,more\n", [("Ada", "Grace"), ("Grace", "Ada")]),
        ("links", "source,target\nAda,Grace\n", [("Ada", "Grace")]),
        ("h.csv", "source,target\n", []),
    ],
)
def test_links_are_read_from_the_columns_source_and_target(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, str]]
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert read_pairs_file(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "h.csv has no column 'source': it has none"),
        (b"source,to\nAda,Grace\n", "h.csv has no column 'target': it has 'source', 'to'"),
        (b"Ada,Grace\n", "h.csv has no column 'source': it has 'Ada', 'Grace'"),
        (b"source,target\nAda,\n", "h.csv line 2: a link needs a source and a target, got ('Ada', '')"),
        (b"source,target\n\n\nAda\n", "h.csv line 4: a link needs a source and a target, got ('Ada', '')"),
        (
            b'source,target\n"A\nb",c\n,Grace\n',
            "h.csv line 4: a link needs a source and a target, got ('', 'Grace')",
        ),
        (b'source,target\n"Ada,b\n', "h.csv line 2: cannot be read as a table (unexpected end of data): check the"),
        (b"source,target\nAd\xc3\xa1,Gr\xe9goire\n", "h.csv line 2: not UTF-8 text (byte 0xe9)"),
    ],
)
def test_links_that_cannot_be_used_say_why_and_on_which_line(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(Cube2netError) as caught:
        read_pairs_file(tmp_path / "h.csv")
    assert str(caught.value).startswith(sentence)


def test_links_that_are_not_there_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Cube2netError, match="cannot read the links .*none.csv': no such file or directory"):
        read_pairs_file(tmp_path / "none.csv")
    with pytest.raises(Cube2netError, match="cannot read the links .*: is a directory"):
        read_pairs_file(tmp_path)


@given(st.binary(max_size=60), st.sampled_from(["", "source,target\n", "source\ttarget\n"]))
def test_whatever_the_bytes_links_or_one_sentence_come_back(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, start: str
) -> None:
    path = tmp_path_factory.mktemp("links") / ("h.tsv" if "\t" in start else "h.csv")
    path.write_bytes(start.encode() + content)
    try:
        pairs = read_pairs_file(path)
    except Cube2netError:
        return
    assert all(source and target for source, target in pairs)
