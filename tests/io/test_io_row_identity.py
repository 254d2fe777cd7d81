"""Who a row of a lone table is: a number tells rows apart, the text beside it names them, whatever they are called."""

import re
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.model.corpus import Corpus

LEGAL = ("GmbH", "AG", "e.K.")
TRADES = ("Papier", "Glas", "Holz", "Garn")
TOWNS = ("Ulm", "Kiel", "Gera")


def firm(row: int) -> str:
    """Return the name of a made-up firm."""
    return f"{('Adler', 'Bussard', 'Kranich', 'Dohle', 'Eule')[row % 5]} {TRADES[row // 5 % 4]} {LEGAL[row // 20 % 3]}"


def customers(number: str, name: str, count: int = 60) -> list[list[str]]:
    """Return a table of firms, of which most deliver to one or two others."""
    rows = [[number, name, "Ort", "Branche", "Umsatz (€)", "Liefert an"]]
    for row in range(count):
        to = [firm((row * 7 + step) % count) for step in range(1, 1 + row % 3)]
        rows.append(
            [str(10_001 + row), firm(row), TOWNS[row % 3], TRADES[row % 4], f"{row + 1}.{row:03},50", ", ".join(to)]
        )
    return rows


def read(folder: Path, rows: list[list[str]], **options: Any) -> tuple[Corpus, list[str]]:
    """Return what a table alone gives, and what was said."""
    path = folder / "kunden.csv"
    path.write_bytes("\r\n".join(";".join(row) for row in rows).encode("windows-1252"))
    said: list[str] = []
    corpus = c2n.read_tables(path, progress=lambda stage, done, total=None: said.append(stage), **options)
    return corpus, said


def roles(corpus: Corpus) -> dict[str, str]:
    """Return which column is what."""
    return {role: name for role, name in corpus.source["columns"].items() if name}


HEADERS = [
    *(("Kd-Nr", "Firma"), ("Kundennummer", "Firma"), ("Kd-Nr", "Firmenname"), ("Nr", "Kunde"), ("Kd-Nr", "Name")),
    *(("ID", "Unternehmen"), ("Schlüssel", "Betrieb")),
]


@pytest.mark.parametrize(("number", "name"), HEADERS)
def test_a_number_tells_rows_apart_and_the_text_that_others_refer_to_names_them(
    tmp_path: Path, number: str, name: str
) -> None:
    corpus, _ = read(tmp_path, customers(number, name))
    assert roles(corpus) == {
        "nodes.id": number,
        "nodes.name": name,
        "links.source": number,
        "links.target": "Liefert an",
    }
    assert corpus.objects["object"].to_pylist()[:2] == ["10001", "10002"]
    assert corpus.objects["name"].to_pylist() == [firm(row) for row in range(60)]
    assert corpus.links is not None and corpus.links.num_rows > 50


def test_an_object_is_asked_for_by_its_name_or_by_its_number(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, customers("Kd-Nr", "Firma"))
    cube = c2n.build(corpus, ["Ort"], min_objects=1)
    for asked in ([firm(3), firm(8)], ["10004", "10009"]):
        assert c2n.construct(cube, asked, method="none").in_query.sum() == 2


@pytest.mark.parametrize(("number", "name"), HEADERS)
def test_a_text_beside_a_number_is_the_name_where_no_column_refers_to_it(
    tmp_path: Path, number: str, name: str
) -> None:
    rows = [row[:-1] for row in customers(number, name)]
    assert roles(read(tmp_path, rows)[0]) == {"nodes.id": number, "nodes.name": name}
    few = [[row[0], row[1].split()[0], row[2]] for row in rows[:6]]
    assert roles(read(tmp_path, few)[0]) == {"nodes.id": number, "nodes.name": name}


def test_the_name_is_the_column_that_others_refer_to_wherever_it_stands(tmp_path: Path) -> None:
    rows = customers("Ablage", "Firma")
    codes = [f"{chr(97 + row * 7 % 26)}-{row * 37 % 60} Regal" for row in range(60)]
    turned = [
        ["Fach", *rows[0][2:], "Firma"],
        *([code, *row[2:], row[1]] for code, row in zip(codes, rows[1:], strict=True)),
    ]
    corpus, _ = read(tmp_path, turned)
    assert roles(corpus)["nodes.id"] == "Firma"
    assert corpus.links is not None and corpus.links.num_rows > 50


@pytest.mark.parametrize("at", [0, 30, 59])
def test_a_row_without_a_number_does_not_swap_number_and_name(tmp_path: Path, at: int) -> None:
    rows = customers("Kd-Nr", "Firma")
    rows[at + 1][0] = ""
    corpus, said = read(tmp_path, rows)
    assert (roles(corpus)["nodes.id"], roles(corpus)["nodes.name"]) == ("Kd-Nr", "Firma")
    assert corpus.objects["name"].to_pylist() == [firm(row) for row in range(60)]
    assert corpus.objects["object"].to_pylist()[at] == firm(at)
    assert "kunden.csv: rows without 'Kd-Nr' are identified by name: 1 (guessed)" in said


def test_a_number_that_comes_twice_leaves_the_name_a_name(tmp_path: Path) -> None:
    rows = customers("Kd-Nr", "Firma")
    rows[9][0] = rows[10][0]
    corpus, _ = read(tmp_path, rows)
    assert corpus.objects["name"].to_pylist() == [firm(row) for row in range(60)]
    assert "Kd-Nr" in corpus.attributes


@pytest.mark.parametrize("header", ["Alter", "Punkte", "Umsatz"])
def test_an_amount_before_the_name_is_no_number_of_rows(tmp_path: Path, header: str) -> None:
    rows = [[header, "Firma", "Ort"], *([str(900 - row * 13), firm(row), TOWNS[row % 3]] for row in range(60))]
    corpus, _ = read(tmp_path, rows)
    assert roles(corpus) == {"nodes.id": "Firma"}
    assert header in corpus.attributes


def test_a_telephone_number_behind_the_name_is_no_number_of_rows(tmp_path: Path) -> None:
    rows = [["Firma", "Telefonnummer", "Ort"]]
    rows += [[firm(row), str(73_000 + row * 7_919 % 60_000), TOWNS[row % 3]] for row in range(60)]
    assert roles(read(tmp_path, rows)[0]) == {"nodes.id": "Firma"}


def test_a_column_that_repeats_the_name_of_its_own_row_refers_to_nobody(tmp_path: Path) -> None:
    rows = [["Nr", "Firma", "Rechnung an", "Ort"]]
    rows += [[str(row + 1), firm(row), firm(row), TOWNS[row % 3]] for row in range(60)]
    corpus, _ = read(tmp_path, rows)
    assert (corpus.links is None or corpus.links.num_rows == 0) and corpus.objects["name"][4].as_py() == firm(4)


def test_last_names_before_first_names_are_names_and_no_lists(tmp_path: Path) -> None:
    people = [
        f"{last}, {first}"
        for last in ("Nelke", "Rose", "Tulpe", "Aster", "Dahlie")
        for first in ("Ada", "Bo", "Cy", "Di", "Ed")
    ]
    rows = [["Pers.-Nr.", "Mitarbeiter/in", "Ort"]]
    rows += [[f"P{row:03}", name, TOWNS[row % 3]] for row, name in enumerate(people)]
    assert roles(read(tmp_path, rows)[0]) == {"nodes.id": "Pers.-Nr.", "nodes.name": "Mitarbeiter/in"}


def test_what_was_found_is_said_to_be_guessed_and_what_was_given_to_be_given(tmp_path: Path) -> None:
    _, said = read(tmp_path, customers("Kd-Nr", "Firma"))
    assert "columns of nodes: id='Kd-Nr' (guessed), name='Firma' (guessed)" in said
    _, said = read(tmp_path, customers("Kd-Nr", "Firma"), columns={"nodes.id": "Kd-Nr"})
    assert "columns of nodes: id='Kd-Nr' (given), name='Firma' (guessed)" in said


def test_the_column_of_links_may_be_said_and_so_may_that_there_is_none(tmp_path: Path) -> None:
    table = [[*row, "nobody" if at else "Lieferant"] for at, row in enumerate(customers("Kd-Nr", "Firma"))]
    for at in (1, 2, 3):
        table[at][-1] = f"{firm(at + 4)} / {firm(at + 9)}"
    assert roles(read(tmp_path, table)[0])["links.target"] == "Liefert an"
    corpus, said = read(tmp_path, table, columns={"links.target": "Lieferant"})
    assert roles(corpus)["links.target"] == "Lieferant"
    assert corpus.links is not None and corpus.links.num_rows == 6
    assert "kunden.csv: links are in 'Lieferant', which names other rows (given)" in said
    without, _ = read(tmp_path, table, columns={"links.target": ""})
    assert without.links is None or without.links.num_rows == 0


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"nodes.id": "Nummer"}, "has no column 'Nummer' (given as nodes.id): it has 'Kd-Nr'"),
        ({"nodes.name": "Nummer"}, "has no column 'Nummer' (given as nodes.name): it has 'Kd-Nr'"),
        ({"links.target": "Nummer"}, "has no column 'Nummer' (given as target): it has 'Kd-Nr'"),
        ({"links.target": "Ort"}, "'Ort' is given as the names of other rows, and no value is an id or a name"),
    ],
)
def test_a_column_that_cannot_be_what_is_said_is_refused_in_a_sentence(
    tmp_path: Path, columns: dict[str, str], sentence: str
) -> None:
    with pytest.raises(c2n.Cube2netError, match=re.escape(sentence)):
        read(tmp_path, customers("Kd-Nr", "Firma"), columns=columns)


def test_a_part_of_the_name_may_be_the_id(tmp_path: Path) -> None:
    table = [["Vorname", "Nachname", "Ort"], *([f"V{row}", f"N{row % 5}", TOWNS[row % 3]] for row in range(20))]
    corpus, _ = read(tmp_path, table, columns={"nodes.id": "Vorname"})
    assert roles(corpus) == {"nodes.id": "Vorname", "nodes.name": "Name"}
    assert corpus.objects["name"].to_pylist()[:2] == ["V0 N0", "V1 N1"]
