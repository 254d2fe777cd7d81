"""One table of people alone is read with ``alone``: who a row is, and whom it names."""

from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.errors import SourceError
from cube2net.records import Corpus

CLUB = "Vorname;Nachname;Stadt;Beitrag;Kennt\r\nJürgen;Groß;Köln;10,50;Eva Süß, Ute Ott\r\nEva;Süß;Köln;9,00;\r\n"
CLUB += "Ute;Ott;Bonn;8,50;Jürgen Groß, Nemo Niemand\r\nMax;Ott;Bonn;8,50;Eva Süß, ute  ott\r\n"


def read(folder: Path, text: str, encoding: str = "windows-1252", **options: Any) -> tuple[Corpus, list[str]]:
    """Return what a table alone gives, and what was said."""
    path = folder / "club.csv"
    path.write_bytes(text.encode(encoding))
    said: list[str] = []
    corpus = c2n.read_tables(path, alone=True, progress=lambda stage, done, total=None: said.append(stage), **options)
    return corpus, said


def links(corpus: Corpus) -> set[frozenset[str]]:
    """Return who is linked to whom."""
    assert corpus.links is not None
    names = corpus.objects["name"].to_pylist()
    ends = zip(*(corpus.links[end].to_pylist() for end in ("source", "target")), strict=True)
    return {frozenset((names[one], names[two])) for one, two in ends}


def test_first_and_last_names_make_a_name_and_a_column_of_names_makes_links(tmp_path: Path) -> None:
    corpus, said = read(tmp_path, CLUB)
    assert corpus.objects["name"].to_pylist() == ["Jürgen Groß", "Eva Süß", "Ute Ott", "Max Ott"]
    pairs = [("Jürgen Groß", "Eva Süß"), ("Jürgen Groß", "Ute Ott"), ("Max Ott", "Eva Süß"), ("Max Ott", "Ute Ott")]
    assert links(corpus) == set(map(frozenset, pairs))
    assert corpus.dropped == {"links to unknown nodes": 1}
    assert "club.csv: names are put together of 'Vorname', 'Nachname' (guessed)" in said
    assert "club.csv: links are in 'Kennt', which names other rows (guessed)" in said
    assert any("club.csv line 4" in line and "'Nemo Niemand'" in line for line in said)


def test_without_a_column_of_names_there_are_no_links_and_that_is_said(tmp_path: Path) -> None:
    corpus, said = read(tmp_path, "name,city,age\nada,Rome,41\nbob,Oslo,52\neve,Oslo,41\n")
    assert (corpus.objects.num_rows, links(corpus)) == (3, set())
    assert any("no column names other rows, so there are no links" in line for line in said)


def test_rows_of_one_name_are_numbered(tmp_path: Path) -> None:
    corpus, said = read(
        tmp_path, "Name;Stadt;Branche\nEva Süß;Köln;Bau\nEva Süß;Bonn;IT\nUte Ott;Bonn;IT\nMax Ott;Bonn;IT\n"
    )
    assert corpus.objects["object"].to_pylist() == ["1", "2", "3", "4"]
    assert corpus.objects["name"].to_pylist()[:2] == ["Eva Süß", "Eva Süß"]
    assert "club.csv: no column tells the rows apart, so they are numbered (guessed)" in said


def test_a_manager_is_a_link_by_number_and_an_age_is_none(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "id,name,age,manager_id\n1,ada,3,\n2,bob,1,1\n3,eve,2,1\n4,kim,1,3\n")
    assert links(corpus) == {frozenset(pair) for pair in (("ada", "bob"), ("ada", "eve"), ("eve", "kim"))}


def test_a_table_without_a_header_is_read_by_its_values(tmp_path: Path) -> None:
    rows = [f"{first};{last};{city};10,5{n}" for n, (first, last, city) in enumerate(HEADLESS)]
    corpus, said = read(tmp_path, "\r\n".join(rows))
    assert corpus.objects["name"].to_pylist()[:2] == ["Eva Groß", "Ute Groß"]
    assert corpus.objects.num_rows == len(HEADLESS)
    assert any("its first row is no header" in line for line in said)


HEADLESS = [
    *(("Eva", "Groß", "Köln"), ("Ute", "Groß", "Köln"), ("Eva", "Ott", "Bonn"), ("Max", "Ott", "Bonn")),
    *(("Kim", "Süß", "Köln"), ("Max", "Süß", "Bonn"), ("Ute", "Ott", "Köln"), ("Max", "Groß", "Bonn")),
]


def test_a_repeated_header_is_no_lack_of_one(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, "Name;Stadt\nEva;Köln\nStadt;Bonn\nMax;Bonn\n")
    assert corpus.objects.num_rows == 3


def test_what_is_said_of_columns_goes_before_the_guess(tmp_path: Path) -> None:
    corpus, _ = read(
        tmp_path, "Name;Kürzel;Stadt\nEva;e1;Köln\nMax;m1;Bonn\nUte;u1;Bonn\n", columns={"nodes.id": "Kürzel"}
    )
    assert corpus.objects["object"].to_pylist() == ["e1", "m1", "u1"]
    assert corpus.objects["name"].to_pylist() == ["Eva", "Max", "Ute"]


def test_without_alone_one_table_of_nodes_is_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "club.csv"
    path.write_text("name,city,age\nada,Rome,41\nbob,Oslo,52\n")
    with pytest.raises(SourceError, match="^one table alone needs links beside it"):
        c2n.read_tables(path)
