"""Tables of text as spreadsheets write them: marks, quotes, encodings, titles above the header."""

from pathlib import Path

import pytest

from cube2net.errors import ParameterError, SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.dialects import Conventions, Dialect, find_dialect
from cube2net.io.tables.read_rows import read_rows


def read(path: Path, content: str | bytes, **given: object) -> tuple[dict, list[str]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    said: list[str] = []
    dropped = Dropped(progress=lambda stage, done, total=None: said.append(stage))
    rows = read_rows(path, dropped=dropped, conventions=Conventions(**given))
    return rows.table.to_pydict(), said


@pytest.mark.parametrize("mark", [";", "\t", "|", "^", "~"])
def test_the_mark_that_parts_all_rows_alike_is_the_delimiter(tmp_path, mark):
    rows = [["Nr", "Name", "Betrag"], ["1", "Meier, Hans", "3,14"], ["2", "Kunz", "2,5"]]
    table, said = read(tmp_path / "x.csv", "\n".join(mark.join(row) for row in rows))
    assert table == {"Nr": ["1", "2"], "Name": ["Meier, Hans", "Kunz"], "Betrag": ["3,14", "2,5"]}
    assert said == [f"x.csv: delimiter={mark!r} (guessed)"]


@pytest.mark.parametrize(
    "text",
    [
        "id,tags\na,x;y\nb,z;w\n",
        "id,genres\na,war|drama\nb,war|love\n",
        "id,name\n",
        "id\na\nb\n",
        "id,note\na,one;two;three\nb,\n",
        "id,when\na,12:30\nb,13:45\n",
        "a b,c d\n1 2,3 4\n",
        "id,quote\na,'t Hooft\nb,'s Gravesande\n",
        "2001,2002,2003\n1,2,3\n4,5,6\n",
        ",id\n1,a\n2,b\n",
    ],
)
def test_a_file_that_commas_part_well_is_parted_by_commas_and_nothing_is_said(tmp_path, text):
    table, said = read(tmp_path / "x.csv", text)
    assert said == []
    assert len(table) == text.splitlines()[0].count(",") + 1


def test_a_comma_inside_the_names_and_values_of_a_table_with_semicolons_parts_nothing(tmp_path):
    table, _ = read(tmp_path / "x.csv", "Name, Vorname;Ort\nMeier, Hans;Ulm\nKunz, Eva;Bonn\n")
    assert table == {"Name, Vorname": ["Meier, Hans", "Kunz, Eva"], "Ort": ["Ulm", "Bonn"]}
    table, _ = read(tmp_path / "x.csv", "id;Preis, brutto;Datum\n1;3,14;25.02.2006\n2;2,50;26.02.2006\n")
    assert list(table) == ["id", "Preis, brutto", "Datum"]


def test_excel_says_its_delimiter_in_the_first_line(tmp_path):
    table, said = read(tmp_path / "x.csv", "sep=;\r\nid;name\r\n1;a,b\r\n")
    assert table == {"id": ["1"], "name": ["a,b"]}
    assert said == ["x.csv: delimiter=';', header on line 2 (guessed)"]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Straße;Größe\nÄ;é\n".encode("cp1252"), "windows-1252"),
        ("prix;n°\n12 €;ça\n".encode("cp1252"), "windows-1252"),
        ("ПОЛ;Город\nж;Нижний Новгород\n".encode("cp1251"), "windows-1251"),
        ("城市;名称\n北京;数据立方体与网络\n".encode("gb18030"), "gb18030"),
        ("도시;이름\n서울;데이터 큐브\n".encode("euc_kr"), "euc_kr"),
        ("都市;名前\n東京;データのキューブ\n".encode("shift_jis"), "shift_jis"),
        ("Straße;Größe\nÄ;é\n".encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + "Straße;Größe\nÄ;日本\n".encode("utf-16-be"), "utf-16"),
    ],
)
def test_other_encodings_are_found_and_said(tmp_path, content, encoding):
    table, said = read(tmp_path / "x.csv", content)
    lines = content.decode(encoding).splitlines()
    assert [list(table), [values[0] for values in table.values()]] == [line.split(";") for line in lines]
    assert said == [f"x.csv: encoding={encoding!r}, delimiter=';' (guessed)"]
    again, said = read(tmp_path / "x.csv", content, encoding=encoding, delimiter=";")
    assert again == table
    assert said == []


def test_a_mark_of_the_byte_order_says_nothing_new(tmp_path):
    assert read(tmp_path / "x.csv", b"\xef\xbb\xbfid,name\n1,\xc3\xa9\n") == ({"id": ["1"], "name": ["é"]}, [])


def test_utf8_with_a_bad_byte_is_no_other_encoding(tmp_path):
    with pytest.raises(SourceError, match=r"line 3: byte 0xe9 is not UTF-8.*encoding='windows-1252'"):
        read(tmp_path / "x.csv", b"id,name\n1,\xc3\xa9\n2,caf\xe9\n")
    table, _ = read(tmp_path / "x.csv", b"id,name\n1,\xc3\xa9\n2,caf\xe9\n", encoding="latin-1")
    assert table["name"] == ["Ã©", "café"]
    with pytest.raises(SourceError, match=r"^x.csv is not text in utf-16 \(byte 0x.* means nothing there\): save it"):
        read(tmp_path / "x.csv", b"\xff\xfea\x00\x00\xd8b\x00")


def test_single_quotes_quote_where_they_do_so_everywhere(tmp_path):
    table, said = read(tmp_path / "x.csv", "'id','name'\n'1','a, b'\n'2','c''d'\n")
    assert table == {"id": ["1", "2"], "name": ["a, b", "c'd"]}
    assert said == ['x.csv: quote="\'" (guessed)']
    table, said = read(tmp_path / "x.csv", "id,name\n1,'a'\n2,'t Hooft\n")
    assert table["name"] == ["'a'", "'t Hooft"]
    assert said == []


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Kundenliste 2024\n\n", 3),
        ("Kundenliste 2024;;\n;;\n", 3),
        ("\n\nKundenliste\nStand: 1.1.2024\n", 5),
    ],
)
def test_titles_above_the_header_are_passed_over(tmp_path, above, line):
    body = "Nr;Name;Ort\n1;a;Ulm\n2;b;Bonn\n3;c;Ulm\n4;d\n"
    path = tmp_path / "x.csv"
    table, said = read(path, above + body)
    assert table == {"Nr": ["1", "2", "3"], "Name": ["a", "b", "c"], "Ort": ["Ulm", "Bonn", "Ulm"]}
    assert said[0] == f"x.csv: delimiter=';', header on line {line} (guessed)"
    assert f"x.csv line {line + 4}: has 2 fields, expected 3" in said[1]
    assert read_rows(path).places([0, 2]) == [f"x.csv line {line + 1}", f"x.csv line {line + 3}"]


def test_empty_columns_at_the_end_are_no_columns(tmp_path):
    for text in ("id,name,,\na,b,,\nc,d,,\n", "id,name\na,b,,\nc,d,,\n", "id,name,,\na,b\nc,d\n"):
        assert read(tmp_path / "x.csv", text) == ({"id": ["a", "c"], "name": ["b", "d"]}, [])
    table, _ = read(tmp_path / "x.csv", "id,,\na,b,\nc,d,\n")
    assert table == {"id": ["a", "c"], "column 2": ["b", "d"]}


def test_rows_of_numbers_alone_have_no_header(tmp_path):
    table, said = read(tmp_path / "x.txt", "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n0\t2\n3\t1\n")
    assert table == {"column 1": ["0", "0", "3"], "column 2": ["1", "2", "1"]}
    assert said == ["x.txt: header=False (guessed)"]
    assert read_rows(tmp_path / "x.txt").places([2]) == ["x.txt line 5"]
    table, said = read(tmp_path / "x.txt", "7 1\n0 2\n3 1\n")
    assert table == {"column 1": ["7", "0", "3"], "column 2": ["1", "2", "1"]}
    table, said = read(tmp_path / "x.csv", "7,1\n0,2\n3,1\n", header=True)
    assert list(table) == ["7", "1"]
    table, said = read(tmp_path / "x.csv", "a,b\nc,d\n", header=False)
    assert table == {"column 1": ["a", "c"], "column 2": ["b", "d"]}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"delimiter": ";;"}, "delimiter is ';;', expected one character such as ';'"),
        ({"quote": "x"}, "quote is 'x', expected \" or '"),
        ({"encoding": "utf-9"}, "encoding is 'utf-9', expected one such as utf-8, utf-16, windows-1252, latin-1"),
        ({"encoding": "hex"}, "encoding is 'hex', expected one such as"),
        ({"decimal": ";"}, "decimal is ';', expected ',' or '.'"),
        ({"dates": "ydm"}, "dates is 'ydm', expected one of dmy, mdy, ymd"),
    ],
)
def test_conventions_that_are_none_are_refused(given, sentence):
    with pytest.raises(ParameterError) as error:
        Conventions(**given)
    assert str(error.value).startswith(sentence)


def test_a_delimiter_that_is_given_is_kept_whatever_the_table_says():
    assert find_dialect("a;b\n1;2\n", "csv", Conventions(delimiter=",")).delimiter == ","


def test_a_first_line_that_is_parted_like_all_others_is_no_title():
    assert find_dialect("id,x\n,;\n,1;\n", "csv") == Dialect()


def test_a_delimiter_that_does_not_part_the_header_is_refused_with_the_header(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Nr;Ort;Menge\n1;Ulm;3,5\n2;Bonn;4,5\n3;Ulm;5,5\n", encoding="utf-8")
    with pytest.raises(SourceError) as error:
        read_rows(path, conventions=Conventions(delimiter=","))
    assert str(error.value) == (
        "x.csv line 1: delimiter=',' does not part the header 'Nr;Ort;Menge' "
        "(is ';' the delimiter? then use delimiter=';')"
    )
    path.write_text("Kunden; 2024\nid,x\na;b,1\nc;d,2\n", encoding="utf-8")
    assert read_rows(path, conventions=Conventions(delimiter=",")).table.column_names == ["id", "x"]
