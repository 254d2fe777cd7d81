"""Which table is what is told by values, where neither names nor the order of the files do."""

from pathlib import Path

import pytest
from workbook_files import workbook

from cube2net.io.tables.table_source import Tables
from cube2net.model.corpus import Corpus

from table_files import put, read, refusal

PLACES = ["Ulm", "Bonn", "Ulm"]
NODES = "Nr;Ort\n" + "".join(f"K{i};{PLACES[i % 3]}\n" for i in range(9))
LINKS = "von;an;Menge\n" + "".join(f"K{i};K{(i * 2 + 1) % 9};{i},5\n" for i in range(8))
KUNDEN = [["Nr", "Ort"], *([f"K{i}", PLACES[i % 3]] for i in range(9))]
VERKAUF = [["von", "an", "Menge"], *([f"K{i}", f"K{(i * 2 + 1) % 9}", i + 0.5] for i in range(8))]
COVER = [["Bericht Vertrieb"], ["Stand: 1.11.2024"]]
PAIRS = [["Thema", "Wert"], ["Autor", "M. Muster"], ["Stand", "1.11.2024"]]


def is_whole(corpus: Corpus) -> bool:
    return corpus.objects.num_rows == 9 and corpus.links.num_rows == 7 and corpus.attributes == ("Ort",)


def test_files_in_the_wrong_order_are_swapped_and_that_is_said(tmp_path: Path) -> None:
    nodes, links = put(tmp_path, Kunden=NODES, Verkauf=LINKS)
    told = "by their values nodes are in Kunden.csv, links are in Verkauf.csv (guessed)"
    corpus, said = read([links, nodes])
    assert is_whole(corpus) and told in said
    corpus, said = read([nodes, links])
    assert is_whole(corpus) and told not in said
    assert Tables().files_read([links, nodes]) == [links, nodes]


def test_files_that_are_named_stay_what_they_are(tmp_path: Path) -> None:
    nodes, links = put(tmp_path, Kunden=NODES, Verkauf=LINKS)
    assert "Verkauf.csv has no column for the id" in refusal([], nodes=links, links=nodes)
    nodes, links = put(tmp_path, links=NODES, nodes=LINKS)
    assert "nodes.csv has no column for the id" in refusal([links, nodes])


def test_nodes_that_refer_to_each_other_are_not_swapped_with_links(tmp_path: Path) -> None:
    nodes = "Nr;oben;unten\n" + "".join(f"K{i};K{max(i - 1, 0)};K{min(i + 1, 8)}\n" for i in range(9))
    _, said = read(put(tmp_path, Kunden=nodes, Verkauf=LINKS))
    assert not any(line.startswith("by their values") for line in said)


@pytest.mark.parametrize("names", [("Kunden", "Verkauf"), ("b", "a")])
def test_two_tables_of_any_names_in_a_folder_are_told_by_values(tmp_path: Path, names: tuple[str, str]) -> None:
    put(tmp_path, **dict(zip(names, (NODES, LINKS), strict=True)))
    (tmp_path / "README.md").write_text("what this is", encoding="utf-8")
    (tmp_path / "~$Kunden.xlsx").write_bytes(b"\x0cM. Muster" + b" " * 150)
    corpus, said = read([tmp_path])
    assert is_whole(corpus)
    assert said[1] == "not read, having no name of a table: 'README.md'"


@pytest.mark.parametrize(
    "files",
    [
        {"Kunden": NODES, "Orte": "Ort;Land\nUlm;BW\nBonn;NW\n"},
        {"Kunden": NODES, "Verkauf": LINKS, "Auswahl": "Kunde\nK1\n"},
        {"Kunden": NODES, "hidden-links": LINKS},
        {"nodes": NODES, "Verkauf": LINKS},
    ],
)
def test_a_folder_whose_tables_are_not_told_is_refused_with_their_names(tmp_path: Path, files: dict[str, str]) -> None:
    put(tmp_path, **files)
    told = refusal([tmp_path])
    assert "in files of these names, such as items.csv; other names are not known: " in told
    assert all(f"{name}.csv" in told for name in files if name != "nodes")


def test_a_folder_with_one_workbook_is_read_as_that(tmp_path: Path) -> None:
    (tmp_path / "Kunden.xlsx").write_bytes(workbook({"Kunden": KUNDEN, "Verkauf": VERKAUF}))
    (tmp_path / "README.md").write_text("what this is", encoding="utf-8")
    corpus, said = read([tmp_path])
    assert is_whole(corpus)
    assert said[:4] == [
        "file: 'Kunden.xlsx' (found)",
        "not read, being no table: 'README.md'",
        "sheets of Kunden.xlsx: 'Kunden' (9 rows: K0, Ulm, …); 'Verkauf' (8 rows: K0, K1, 0.5, …)",
        "sheets: nodes='Kunden', links='Verkauf' (guessed)",
    ]


def test_a_file_that_says_that_another_is_open_is_no_table(tmp_path: Path) -> None:
    nodes, links = put(tmp_path, Kunden=NODES, Verkauf=LINKS)
    lock = tmp_path / "~$Kunden.xlsx"
    lock.write_bytes(b"\x0cM. Muster" + b" " * 150)
    corpus, said = read([lock, nodes, links])
    assert is_whole(corpus)
    assert said[0] == "not read, lock files of Excel: '~$Kunden.xlsx'"
    assert refusal([lock]) == (
        "'~$Kunden.xlsx' is no table: Excel leaves it while a file is open, give 'Kunden.xlsx' itself"
    )


@pytest.mark.parametrize(
    "sheets",
    [
        {"Deckblatt": COVER, "Kunden": KUNDEN, "Verkauf": VERKAUF},
        {"Deckblatt": PAIRS, "Kunden": KUNDEN, "Verkauf": VERKAUF},
        {"Verkauf": VERKAUF, "Deckblatt": PAIRS, "Leer": [], "Kunden": KUNDEN, "Notizen": [["nichts"]]},
        {"Verkauf": VERKAUF, "Kunden": KUNDEN},
        {"a": PAIRS, "b": PAIRS, "Kunden": KUNDEN, "d": PAIRS, "Verkauf": VERKAUF, "f": COVER},
    ],
)
def test_the_sheets_that_are_tables_are_found_by_their_values(tmp_path: Path, sheets: dict) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook(sheets))
    corpus, _ = read([path])
    assert is_whole(corpus)
    assert Tables().files_read([path]) == [path]


def test_objects_items_and_mentions_of_any_names_stay_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    people = [["Nr", "Ort"], *([i, PLACES[i % 3]] for i in range(1, 6))]
    papers = [["Nr", "Jahr"], *([i, 1990 + i % 4] for i in range(1, 9))]
    path.write_bytes(workbook({"A": people, "B": papers, "C": [["wer", "was"], [1, 7], [2, 7], [3, 8], [5, 6]]}))
    corpus, said = read([path])
    assert said[1] == "sheets: objects='A', items='B', mentions='C' (guessed)"
    assert corpus.mentions.num_rows == 4


def test_the_largest_sheet_with_a_key_is_the_data_and_the_data_dictionary_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    dictionary = [["Spalte", "Bedeutung"], ["Nr", "Kundennummer"], ["Ort", "Sitz"]]
    counts = [["Ort", "Anzahl"], *([place, 3] for place in PLACES * 10)]
    path.write_bytes(workbook({"Legende": dictionary, "Summen": counts, "Kunden": KUNDEN}))
    corpus, said = read([path])
    assert corpus.objects.num_rows == 9
    assert said[:3] == [
        "sheets of x.xlsx: 'Legende' (2 rows: Nr, Kundennummer, …); 'Summen' (30 rows: Ulm, 3, …); "
        "'Kunden' (9 rows: K0, Ulm, …)",
        "sheet='Kunden' (guessed)",
        "not read, being empty, a note or another table: 'Legende', 'Summen'",
    ]
    assert refusal([path], sheet="Kunde") == (
        "x.xlsx has no sheet 'Kunde': it has 'Legende', 'Summen', 'Kunden' (did you mean sheet='Kunden'?)"
    )
    path.write_bytes(workbook({"a": COVER, "b": COVER}))
    assert refusal([path]) == "x.xlsx has no sheet with a table, expected a header and rows in one of 'a', 'b'"


def test_sheets_of_the_same_columns_and_other_rows_are_one_table(tmp_path: Path) -> None:
    path = tmp_path / "papers.xlsx"
    sheets = {
        str(year): [["Title", "Authors"]]
        + [[f"On {row} in {year}", f"Ann Ek; {name} Ott"] for row, name in enumerate("ABC")]
        for year in (2020, 2021)
    }
    path.write_bytes(workbook(sheets))
    corpus, said = read([path])
    assert (corpus.objects.num_rows, corpus.items.num_rows) == (4, 6)
    assert corpus.items["sheet"].to_pylist() == [2020] * 3 + [2021] * 3
    assert "sheets with the same columns are read as one table: '2020', '2021'" in said
    path.write_bytes(workbook({"new": sheets["2021"], "old": sheets["2021"]}))
    assert read([path])[0].items.num_rows == 3


MEMBERS = [["Nachname", "Vorname", "Ort", "kennt"]] + [
    [last, first, place, other]
    for last, first, place, other in (
        ("Fuchs", "Sabine", "Ulm", "Jan Wolf"),
        ("Wolf", "Jan", "Ulm", "Eva Fuchs"),
        ("Fuchs", "Eva", "Bonn", "Sabine Fuchs"),
        ("Dachs", "Jan", "Bonn", "Jan Wolf"),
    )
]
REMARKS = [["Stand", "Wer"], ["März", "Kassenwart"], ["April", "Kassenwart"]]


@pytest.mark.parametrize("beside", [[], [["nur eine Notiz"]], REMARKS], ids=["empty", "note", "table"])
def test_a_sheet_beside_people_is_links_only_where_two_columns_name_them(tmp_path: Path, beside: list) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook({"Mitglieder": MEMBERS, "Notizen": beside}))
    corpus, said = read([path])
    assert sorted(corpus.objects["name"].to_pylist()) == ["Eva Fuchs", "Jan Dachs", "Jan Wolf", "Sabine Fuchs"]
    assert corpus.links.num_rows == 4
    assert said[1:3] == [
        "sheet='Mitglieder' (guessed)",
        "not read, being empty, a note or another table: 'Notizen'",
    ]


def test_a_sheet_of_links_is_found_beside_people_who_come_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook({"Verkauf": VERKAUF, "Notizen": REMARKS, "Kunden": KUNDEN}))
    corpus, said = read([path])
    assert is_whole(corpus)
    assert said[1] == "sheets: nodes='Kunden', links='Verkauf' (guessed)"
