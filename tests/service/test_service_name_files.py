"""Names in files that somebody drops: workbooks, old encodings, tables; every odd file gives one sentence."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

import pytest
from workbook_files import workbook, zipped

from cube2net.apps.service.names import MAX_FILE_BYTES
from cube2net.apps.service.service import CubeService
from cube2net.errors import Cube2netError

TAKEN = "expected a list of names (.txt) or a table (.csv, .tsv, .xlsx, .parquet, .jsonl)"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))


def ask(service: CubeService, name: str, content: bytes, **more: str) -> dict[str, Any]:
    return service.answer("names", {"file": base64.b64encode(content).decode(), "name": name, **more})


def found(answer: dict[str, Any]) -> list[tuple[Any, str]]:
    return [(row["id"], row["label"]) for row in answer["rows"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.xlsx", workbook({"People": [["Name", "Group"], ["Zoë Ångström", "red"], ["Ada Byron", "blue"]]})),
        ("list.csv", "Name,Group\nZoë Ångström,red\nAda Byron,blue\n".encode("latin-1")),
        ("list.csv", "Name;Group\r\nZoë Ångström;red\r\nAda Byron;blue\r\n".encode("utf-16")),
        ("list.csv", "\ufeffZoë Ångström,red\nAda Byron,blue\n".encode()),
        ("LIST.TXT", "Group\tName\nred\tZoë Ångström\nblue\tAda Byron\n".encode()),
        ("list", "Name,Group\nZoë Ångström,red\nAda Byron,blue\n".encode()),
        ("list.jsonl", '{"Name": "Zoë Ångström", "Group": "red"}\n{"Name": "Ada Byron", "Group": "blue"}\n'.encode()),
    ],
)
def test_a_list_is_read_whatever_kind_of_file_it_is(service: CubeService, name: str, content: bytes) -> None:
    answer = ask(service, name, content)
    assert found(answer) == [("o0", "red"), ("o6", "blue")]
    assert len(answer["columns"]) == 2
    assert answer["sentence"] == "2 of 2 names found; 2 labels"


def test_a_workbook_is_read_though_its_name_says_otherwise(service: CubeService) -> None:
    assert found(ask(service, "list.csv", workbook({"a": [["Name"], ["Ada Byron"]]}))) == [("o6", "")]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("me.png", PNG, f"me.png is a picture: {TAKEN}"),
        ("me.csv", PNG, f"me.csv is a picture: {TAKEN}"),
        ("a.pdf", b"%PDF-1.4\n1 0 obj", f"a.pdf is a PDF document: {TAKEN}"),
        ("a.docx", zipped({"word/document.xml": "x"}), f"a.docx is a packed folder or a document: {TAKEN}"),
        ("a.bin", b"abc\0\1\2", f"a.bin is no text: {TAKEN}"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(99), "a.xls cannot be read as a workbook"),
        ("a.xlsx", b"PK rubbish", "a.xlsx is no whole Excel workbook"),
        ("no.csv", b"", f"no.csv is empty: {TAKEN}"),
        ("no.txt", b" \n\n", f"no.txt is empty: {TAKEN}"),
        ("no.xlsx", workbook({"a": []}), "no.xlsx is empty"),
        ("h.csv", b"Name,Group\n", "h.csv has a header (Name, Group) and no row below it: expected names"),
        ("h.csv", b"object\n", "h.csv has a header (object) and no row below it: expected names"),
        ("h.xlsx", workbook({"a": [["Name", "Group"]]}), "h.xlsx has a header (Name, Group) and no row below it"),
        ("/etc/../x\x1b[1m.png", PNG, "x_[1m.png is a picture"),
    ],
)
def test_a_file_that_names_nobody_is_one_sentence_about_it(
    service: CubeService, name: str, content: bytes, sentence: str
) -> None:
    with pytest.raises(Cube2netError) as refused:
        ask(service, name, content)
    assert str(refused.value).startswith(sentence.replace("[", "_"))
    assert "\n" not in str(refused.value)


TABLE = "Group,Surname,First\nA,Lovelace,Ada\nB,Byron,Ada\n"


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_a_table_in_which_nobody_is_known_asks_for_its_column(service: CubeService, name: str) -> None:
    answer = ask(service, name, TABLE.encode())
    assert (answer["rows"], answer["column"]) == ([], None)
    assert answer["columns"] == ["Group", "Surname", "First"]
    assert answer["sentence"] == (
        f"no column of {name} contains names of this cube: choose one of Group, Surname, First"
    )
    chosen = ask(service, name, TABLE.encode(), column="Surname")
    assert chosen["column"] == "Surname"
    assert [(row["given"], row["label"]) for row in chosen["rows"]] == [("Lovelace", "A"), ("Byron", "B")]
    assert chosen["rows"][0]["candidates"][0]["id"] == "o5"


def test_a_pasted_table_asks_for_its_column_too_and_its_lines_may_be_names(service: CubeService) -> None:
    assert service.answer("names", {"text": TABLE})["column"] is None
    lines = service.answer("names", {"text": TABLE, "column": ""})
    assert [row["given"] for row in lines["rows"]] == TABLE.split()
    assert (lines["columns"], lines["column"]) == (["Group", "Surname", "First"], "")


def test_another_column_than_the_one_that_is_known_can_be_read(service: CubeService) -> None:
    content = b"red,Ada Byron,o1\nblue,Ada Lovelace,o2\n"
    read = ask(service, "t.csv", content)
    assert [row["id"] for row in read["rows"]] == ["o6", "o5"]
    other = next(name for name in reversed(read["columns"]) if name != read["column"])
    assert [row["id"] for row in ask(service, "t.csv", content, column=other)["rows"]] == ["o1", "o2"]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({}, "the request lacks the field 'text' or 'file': give one"),
        ({"text": "a", "file": "YQ=="}, "the request has both 'text' and 'file': give one"),
        ({"file": "no base64!"}, "file is no base64, expected the bytes of a file in base64"),
        ({"text": TABLE, "column": "Surnam"}, "unknown column of the text 'Surnam'"),
    ],
)
def test_a_question_about_names_that_is_none_is_refused(
    service: CubeService, question: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Cube2netError) as refused:
        service.answer("names", question)
    assert str(refused.value).startswith(sentence)


def test_a_file_that_is_no_list_any_more_is_refused(service: CubeService) -> None:
    with pytest.raises(
        Cube2netError, match=rf"^a.csv has {MAX_FILE_BYTES + 1:,} bytes, expected a list of at most 2,900,"
    ):
        ask(service, "a.csv", b"x" * (MAX_FILE_BYTES + 1))


def test_nothing_of_a_file_stays_on_the_disk(
    service: CubeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ask(service, "list.xlsx", workbook({"a": [["Name"], ["Ada Byron"]]}))
    with pytest.raises(Cube2netError):
        ask(service, "list.xlsx", b"PK rubbish")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace; Ada Byron; Nobody at all",
        "Ada Lovelace\tAda Byron\tNobody at all",
        "Ada Lovelace, Ada Byron, Nobody at all",
        "Ada Lovelace; Ada Byron\nNobody at all",
    ],
)
def test_a_line_of_several_names_is_split(service: CubeService, text: str) -> None:
    given = [row["given"] for row in service.answer("names", {"text": text})["rows"]]
    assert given == ["Ada Lovelace", "Ada Byron", "Nobody at all"]
