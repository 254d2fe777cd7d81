"""A row at the end that sums up the others is no row of a lone table; all others stay."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbook_files import workbook

import cube2net as c2n
from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.frames import frame_rows
from cube2net.io.tables.single_table import drop_totals
from cube2net.model.corpus import Corpus

TOWNS, TRADES = ("Ulm", "Kiel", "Gera"), ("Papier", "Glas", "Holz", "Garn")
HEADER = ["Kd-Nr", "Firma", "Ort", "Branche", "Umsatz", "Seit"]


def firms(count: int = 40) -> list[list[str]]:
    """Return rows of made-up firms, whose turnovers have German decimals."""
    return [
        [str(10_001 + row), f"Haus {'ABCDEFGH'[row % 8]}{row} AG", TOWNS[row % 3], TRADES[row % 4], euros(row), "2011"]
        for row in range(count)
    ]


def euros(row: int) -> str:
    """Return the turnover of a firm."""
    return f"{row + 1}.{row * 37 % 1000:03},{row % 100:02}"


def total(count: int = 40) -> str:
    """Return the sum of all turnovers, as Excel writes it."""
    cents = sum((row + 1) * 100_000 + row * 37 % 1000 * 100 + row % 100 for row in range(count))
    return f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02}"


def read(folder: Path, rows: Sequence[Sequence[str]], **options: Any) -> tuple[Corpus, list[str]]:
    """Return what a table alone gives, and what was said."""
    path = folder / "kunden.csv"
    path.write_text("\n".join(";".join(row) for row in [HEADER, *rows]), encoding="utf-8")
    said: list[str] = []
    corpus = c2n.read_tables(path, progress=lambda stage, done, total=None: said.append(stage), **options)
    return corpus, said


@pytest.mark.parametrize(
    "last",
    [
        ["Gesamt", "40 Firmen", "", "", total(), ""],
        ["", "Summe", "", "", total(), ""],
        ["Summe:", "", "", "", "", ""],
        ["Total 2024", "", "", "", "1,00", ""],
        ["", "40 Firmen", "", "", total(), ""],
        ["", "", "", "", total(), ""],
        ["Ergebnis", "", "Ulm", "Glas", total(), ""],
    ],
)
def test_a_total_at_the_end_is_left_out_and_said(tmp_path: Path, last: list[str]) -> None:
    for end in ([], [[""] * 6], [[""] * 6] * 2):
        corpus, said = read(tmp_path, [*firms(), *end, last, *end])
        assert corpus.objects["object"].to_pylist() == [row[0] for row in firms()]
        assert corpus.dropped == {"total rows": 1}
        assert any(line.startswith("left out total rows: 1 (kunden.csv line ") for line in said)
        assert corpus.source["columns"]["nodes.id"] == "Kd-Nr"
        assert corpus.source["columns"]["nodes.name"] == "Firma"


def test_several_totals_at_the_end_are_left_out(tmp_path: Path) -> None:
    rows = [*firms(), ["", "Zwischensumme", "", "", total(), ""], ["", "Gesamtsumme", "", "", total(), ""]]
    corpus, _ = read(tmp_path, rows)
    assert (corpus.objects.num_rows, corpus.dropped) == (40, {"total rows": 2})


def test_a_total_of_what_was_rounded_is_one(tmp_path: Path) -> None:
    rows = [[*row[:4], str(row_number * 17 % 90 + 500), "2011"] for row_number, row in enumerate(firms())]
    off = sum(int(row[4]) for row in rows) + 7
    assert read(tmp_path, [*rows, ["", "40 Firmen", "", "", str(off), ""]])[0].objects.num_rows == 40
    assert read(tmp_path, [*rows, ["", "40 Firmen", "", "", str(off + 900), ""]])[0].objects.num_rows == 41


def test_a_total_in_a_workbook_is_left_out(tmp_path: Path) -> None:
    rows: list[list[object]] = [[row + 1, f"Haus {row} AG", TOWNS[row % 3], 10.25 * (row + 1)] for row in range(30)]
    path = tmp_path / "kunden.xlsx"
    last = ["Summe", None, None, 10.25 * 465]
    path.write_bytes(workbook({"Kunden": [["Nr", "Firma", "Ort", "Umsatz"], *rows, last]}))
    corpus = c2n.read_tables(path)
    assert (corpus.objects.num_rows, corpus.dropped) == (30, {"total rows": 1})


@pytest.mark.parametrize(
    "last",
    [
        ["10099", "Total Räder GmbH", "Ulm", "Glas", "77,00", "2012"],
        ["10099", "Total Räder GmbH", "", "", "", ""],
        ["10099", "Haus Gesamt", "", "", "77,00", ""],
        ["10099", "Haus Z AG", "", "", "77,00", ""],
        ["10099", "Haus Z AG", "Ulm", "Glas", total(), "2012"],
    ],
)
def test_a_firm_at_the_end_stays_whatever_it_is_called_and_lacks(tmp_path: Path, last: list[str]) -> None:
    corpus, _ = read(tmp_path, [*firms(), last])
    assert (corpus.objects.num_rows, corpus.dropped) == (41, {})


def test_a_row_among_others_is_never_a_total_nor_is_a_label_that_comes_again(tmp_path: Path) -> None:
    among = [*firms()[:20], ["", "Summe", "", "", "1,00", ""], *firms()[20:]]
    assert read(tmp_path, among)[0].objects.num_rows == 41
    again = [["Summe", "Haus Y", "", "", "", ""], ["Summe", "Haus Z", "", "", "", ""]]
    assert "total rows" not in read(tmp_path, [*firms()[:20], *again])[0].dropped


def test_strict_reading_stops_at_a_total(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^kunden.csv line 42: 'Summe; .*' sums up the rows above$"):
        read(tmp_path, [*firms(), ["", "Summe", "", "", total(), ""]], strict=True)


NAMES = st.sampled_from(["Eva", "Max Ott", "Haus 7", "Zoll", "", "12"])
VALUES = st.one_of(st.integers(50, 99), st.none())


@given(
    st.lists(
        st.fixed_dictionaries({"Nr": VALUES, "Name": NAMES, "a": VALUES, "b": VALUES, "c": VALUES, "Ort": NAMES}),
        min_size=1,
        max_size=12,
    )
)
def test_a_table_without_a_total_never_loses_a_row(rows: list[dict[str, Any]]) -> None:
    found = frame_rows({name: [row[name] for row in rows] for name in rows[0]}, "nodes", Dropped())
    assert drop_totals(found, Dropped()) is found
