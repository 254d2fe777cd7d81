"""Sheets of a workbook become tables, with the types that their cells have."""

from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbook_files import HEAD, OLD_CUSTOMERS, ods, unzipped, workbook, xlsb, zipped

from cube2net._util import xml as safe_xml
from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.query_files import read_query_file
from cube2net.io.tables import workbooks
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.read_rows import read_rows
from cube2net.io.tables.table_source import Tables

from fuzz import check_corpus_or_sentence, damaged
from table_files import put, read, refusal

CUSTOMERS = [
    ["Kunden-Nr.", "Name", "Ort", "Umsatz", "seit", "aktiv"],
    [1001, "Meier", "Ulm", 3.14, date(2006, 2, 25), True],
    [1002, "Kunz", "Bonn", 2, date(1999, 12, 31), False],
    [1003, "Meier", "Ulm", None, date(2020, 1, 1), True],
]
SALES = [["von", "an", "Stück"], [1001, 1002, 2], [1002, 1003, 5], [1001, 1003, 1]]


def rows_of(path: Path, content: bytes, **given: object) -> tuple[dict, list[str]]:
    path.write_bytes(content)
    said: list[str] = []
    dropped = Dropped(progress=lambda stage, done, total=None: said.append(stage))
    return read_rows(path, dropped=dropped, conventions=Conventions(**given)).table.to_pydict(), said


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("from_1904", [False, True])
def test_cells_keep_their_types(tmp_path, inline, from_1904):
    content = workbook({"Kunden": CUSTOMERS}, inline=inline, from_1904=from_1904)
    table, said = rows_of(tmp_path / "x.xlsx", content)
    assert table == {
        "Kunden-Nr.": [1001, 1002, 1003],
        "Name": ["Meier", "Kunz", "Meier"],
        "Ort": ["Ulm", "Bonn", "Ulm"],
        "Umsatz": [3.14, 2.0, None],
        "seit": [date(2006, 2, 25), date(1999, 12, 31), date(2020, 1, 1)],
        "aktiv": [True, False, True],
    }
    assert said == []
    assert read_rows(tmp_path / "x.xlsx").places([0, 2]) == ["x.xlsx row 2", "x.xlsx row 4"]


def test_titles_and_empty_rows_and_columns_are_passed_over(tmp_path):
    rows = [["Unsere Kunden"], [], ["id", "city", "", "year"], ["a", "Rome", None, 1999], [], ["b", "Oslo", None, 2004]]
    table, said = rows_of(tmp_path / "x.xlsx", workbook({"x": [[c or None for c in row] for row in rows]}))
    assert table == {"id": ["a", "b"], "city": ["Rome", "Oslo"], "year": [1999, 2004]}
    assert said == ["x.xlsx: header on row 3 (guessed)"]
    table, said = rows_of(tmp_path / "x.xlsx", workbook({"x": [[1, 2], [2, 3], [3, 5]]}))
    assert table == {"column 1": [1, 2, 3], "column 2": [2, 3, 5]}
    assert said == ["x.xlsx: header=False (guessed)"]


def test_times_errors_and_mixed_cells_are_read(tmp_path):
    rows = [
        ["id", "when", "what"],
        ["a", datetime(2006, 2, 25, 12, 30), 1],
        ["b", date(2007, 1, 1), "x"],
        ["c", "#N/A", 2.5],
    ]
    table, _ = rows_of(tmp_path / "x.xlsx", workbook({"x": rows}))
    assert table["when"] == [datetime(2006, 2, 25, 12, 30), datetime(2007, 1, 1), None]
    assert table["what"] == ["1", "x", "2.5"]


def test_a_workbook_with_customers_and_sales_is_a_network(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(workbook({"Kunden": CUSTOMERS, "Verkäufe": SALES}))
    corpus, said = read([tmp_path / "x.xlsx"])
    assert corpus.objects["object"].to_pylist() == ["1001", "1002", "1003"]
    assert corpus.objects["name"].to_pylist() == ["Meier", "Kunz", "Meier"]
    assert corpus.items["seit"].to_pylist()[0] == date(2006, 2, 25)
    assert corpus.links["weight"].to_pylist() == [2.0, 1.0, 5.0]
    assert said[1] == "sheets: nodes='Kunden', links='Verkäufe' (guessed)"
    assert "columns of nodes: id='Kunden-Nr.' (guessed), name='Name' (guessed)" in said
    assert "columns of links: source='von' (guessed), target='an' (guessed), weight='Stück' (guessed)" in said


def test_sheets_are_told_by_their_names_or_by_the_caller(tmp_path):
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook({"Info": [["by me"]], "Links": SALES, "Nodes": CUSTOMERS}))
    corpus, said = read([path])
    assert corpus.objects.num_rows == 3
    assert said[:2] == ["sheets: links='Links', nodes='Nodes' (guessed)", "not read, having no name of a table: 'Info'"]
    path.write_bytes(workbook({"a": [["by me"]], "b": SALES, "c": CUSTOMERS, "d": [["x"]], "e": [["y"]]}))
    assert Tables(sheet={"nodes": "c", "links": "b"}).read([path]).links.num_rows == 3
    assert Tables(sheet="b").read([path]).links.num_rows == 3
    told = refusal([path], sheet={"nodes": "cc", "links": "b"})
    assert told == "x.xlsx has no sheet 'cc': it has 'a', 'b', 'c', 'd', 'e' (did you mean sheet='c'?)"


def test_files_of_several_forms_make_one_network(tmp_path):
    (tmp_path / "nodes.xlsx").write_bytes(workbook({"Kunden": CUSTOMERS, "Info": [["x"]]}))
    paths = [tmp_path / "nodes.xlsx", *put(tmp_path, links="von;an;Stück\n1001;1002;2,5\n")]
    corpus, said = read(paths)
    assert corpus.links["weight"].to_pylist() == [2.5]
    assert "nodes.xlsx: sheet='Kunden' of 2 (guessed)" in said


def test_a_query_may_be_a_sheet(tmp_path):
    (tmp_path / "q.xlsx").write_bytes(workbook({"Auswahl": [["Kunden-Nr.", "label"], [1001, "a"], [1003, "b"]]}))
    found = read_query_file(tmp_path / "q.xlsx", lambda names: [name.startswith("100") for name in names])
    assert found == (["1001", "1003"], ["a", "b"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"xl/worksheets/sheet1.xml": None}, "x.xlsx is not a whole workbook: 'xl/worksheets/sheet1.xml' is missing"),
        ({"xl/workbook.xml": f"{HEAD}<workbook/>"}, "x.xlsx has no sheet to read, expected one with a header and rows"),
        (
            {"xl/worksheets/sheet1.xml": f"{HEAD}<!DOCTYPE x [<!ENTITY a 'b'>]><worksheet/>"},
            "x.xlsx: 'xl/worksheets/sheet1.xml' line 2: a document type declaration is refused, as its entities could "
            "read other files or grow without end",
        ),
        (
            {"xl/worksheets/sheet1.xml": "<worksheet><row>"},
            "x.xlsx: 'xl/worksheets/sheet1.xml' line 1: not whole XML (no element found)",
        ),
        (
            {"xl/worksheets/sheet1.xml": '<?xml version="1.0" encoding="rot13"?><worksheet/>'},
            "x.xlsx: 'xl/worksheets/sheet1.xml' line 1: its encoding cannot be read ('rot13' is not a text encoding)",
        ),
        (
            {"xl/worksheets/sheet1.xml": "<w>" * 101},
            "x.xlsx: 'xl/worksheets/sheet1.xml' line 1: elements are nested more than 100 deep",
        ),
        ({"xl/worksheets/sheet1.xml": "<worksheet/>"}, "x.xlsx is empty, expected a header and rows"),
        (
            {"xl/worksheets/sheet1.xml": "<w><row r='2'/><row r='1'/></w>"},
            "x.xlsx: a row is numbered '1', expected them in order",
        ),
        (
            {"xl/worksheets/sheet1.xml": "<w><row><c r='ZZZ1'><v>1</v></c></row></w>"},
            "x.xlsx: a cell stands at 'ZZZ1', expected a place such as 'B7'",
        ),
        (
            {"xl/worksheets/sheet1.xml": "<w><row><c t='s'><v>99</v></c></row></w>"},
            "x.xlsx row 1: a cell points to text '99', not there",
        ),
        ({"xl/worksheets/sheet1.xml": "<w><c><v>1</v></c></w>"}, "x.xlsx: a cell stands outside of all rows"),
    ],
)
def test_a_workbook_that_is_damaged_is_refused(tmp_path, change, sentence):
    parts = {**unzipped(workbook({"x": CUSTOMERS})), **change}
    (tmp_path / "x.xlsx").write_bytes(zipped({name: content for name, content in parts.items() if content is not None}))
    with pytest.raises(SourceError) as error:
        read_rows(tmp_path / "x.xlsx")
    assert str(error.value) == sentence


@pytest.mark.parametrize("start", ["<w a='", "<w", "<w><!--", "<w><?a "])
@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"])
def test_a_token_without_end_in_any_part_is_refused_before_the_part_is_read_whole(tmp_path, monkeypatch, part, start):
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 1000)
    parts = {**unzipped(workbook({"x": CUSTOMERS})), part: start + "x" * 5000}
    (tmp_path / "x.xlsx").write_bytes(zipped(parts))
    with pytest.raises(SourceError) as error:
        read_rows(tmp_path / "x.xlsx")
    assert str(error.value) == f"x.xlsx: {part!r} line 1: a value takes more than 16 MiB"


def test_cells_of_one_column_share_what_is_kept_of_its_number(tmp_path):
    workbooks.column_of_letters.cache_clear()
    rows = [["id", "name"], *([number, f"n{number}"] for number in range(500))]
    (tmp_path / "x.xlsx").write_bytes(workbook({"x": rows}))
    read_rows(tmp_path / "x.xlsx")
    assert workbooks.column_of_letters.cache_info().currsize == 2


@pytest.mark.parametrize("name", ["x.xls", "x.xlsb", "x.ods"])
def test_workbooks_of_other_programs_are_read_with_their_types(tmp_path, name):
    rows = [[day if type(day) is not date or name != "x.xlsb" else str(day) for day in row] for row in CUSTOMERS[:3]]
    write = {"x.xls": lambda _: OLD_CUSTOMERS, "x.xlsb": xlsb, "x.ods": ods}[name]
    found, said = rows_of(tmp_path / name, write({"Kunden": rows, "Notiz": [["leer"]]}), sheet="Kunden")
    assert found == {title: [row[at] for row in rows[1:]] for at, title in enumerate(rows[0])}
    assert said == []
    with pytest.raises(SourceError, match=f"{name} has no sheet 'Kunde': it has 'Kunden', 'Notiz'"):
        read_rows(tmp_path / name, conventions=Conventions(sheet="Kunde"))
    assert Tables().read([tmp_path / name]).objects.num_rows == 2, "the sheet with the data is found"


def test_a_workbook_that_spreads_out_without_end_is_refused(tmp_path):
    row = '<table:table-row table:number-rows-repeated="1000000">' + _ods_row("x" * 50) + "</table:table-row>"
    content = unzipped(ods({"a": [["id"]]}))
    content["content.xml"] = content["content.xml"].replace(b"</table:table>", f"{row}</table:table>".encode())
    (tmp_path / "x.ods").write_bytes(zipped(content))
    with pytest.raises(SourceError, match=r"x.ods unpacks to more than 100 times its size"):
        read_rows(tmp_path / "x.ods")


def _ods_row(text):
    return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'


def test_old_and_locked_workbooks_and_what_is_none_are_refused(tmp_path):
    for name, content, sentence in (
        ("x.xlsx", b"\xd0\xcf\x11\xe0" + bytes(600), "x.xlsx is locked by a password or of the time before 2007: save"),
        ("x.xls", b"", "x.xls cannot be read as a workbook: save it as .xlsx or .csv"),
        ("x.ods", b"id,name\n", "x.ods cannot be read as a workbook: save it as .xlsx or .csv"),
        ("x.xlsx", b"id,name\n", "x.xlsx is no whole Excel workbook: save it as .xlsx or .csv"),
        ("x.xlsx", b"", "x.xlsx is no whole Excel workbook: save it as .xlsx or .csv"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError) as error:
            read_rows(tmp_path / name)
        assert str(error.value).startswith(sentence)


def test_a_sheet_with_one_far_cell_in_every_row_is_refused_before_it_is_spread_out(tmp_path):
    lines = "".join(
        f"<row r='{row}'><c r='{'A' if row % 2 else 'NTP'}{row}'><v>1</v></c></row>" for row in range(1, 9_000)
    )
    parts = {**unzipped(workbook({"x": CUSTOMERS})), "xl/worksheets/sheet1.xml": f"<w>{lines}</w>"}
    (tmp_path / "x.xlsx").write_bytes(zipped(parts))
    with pytest.raises(SourceError, match=r"x.xlsx unpacks to more than 100 times its size .* \(max_ratio=1000\)$"):
        read_rows(tmp_path / "x.xlsx")


def test_a_workbook_that_swells_too_far_is_refused(tmp_path):
    parts = {**unzipped(workbook({"x": CUSTOMERS})), "xl/sharedStrings.xml": b"<sst><si><t>" + b" " * 40_000_000}
    (tmp_path / "x.xlsx").write_bytes(zipped(parts))
    with pytest.raises(SourceError, match=r"x.xlsx unpacks to more than 100 times its size"):
        read_rows(tmp_path / "x.xlsx")


WHOLE = workbook({"nodes": CUSTOMERS, "links": SALES})
PARTS = unzipped(WHOLE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.booleans())
def test_whatever_happens_to_a_workbook_a_corpus_or_a_clear_error_comes_back(tmp_path, data, strict):
    if data.draw(st.booleans()):
        content = data.draw(damaged(WHOLE))
    else:
        name = data.draw(st.sampled_from(sorted(PARTS)))
        content = zipped({**PARTS, name: data.draw(damaged(PARTS[name]))})
    (tmp_path / "x.xlsx").write_bytes(content)
    check_corpus_or_sentence(lambda: Tables(strict=strict).read([tmp_path / "x.xlsx"]))
