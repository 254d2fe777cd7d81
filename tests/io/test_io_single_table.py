"""One table of people alone is read with ``alone``: who a row is, and whom it names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.model.corpus import Corpus

CLUB = "Vorname;Nachname;Stadt;Beitrag;Kennt\r\nJürgen;Groß;Köln;10,50;Eva Süß, Ute Ott\r\nEva;Süß;Köln;9,00;\r\n"
CLUB += "Ute;Ott;Bonn;8,50;Jürgen Groß, Nemo Niemand\r\nMax;Ott;Bonn;8,50;Eva Süß, ute  ott\r\n"


def read(folder: Path, text: str, encoding: str = "windows-1252", **options: Any) -> tuple[Corpus, list[str]]:
    """Return what a table alone gives, and what was said."""
    path = folder / "club.csv"
    path.write_bytes(text.encode(encoding))
    said: list[str] = []
    corpus = c2n.read_tables(path, progress=lambda stage, done, total=None: said.append(stage), **options)
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
    assert "club.csv: names are joined from 'Vorname', 'Nachname' (guessed)" in said
    assert "club.csv: links are in 'Kennt', which names other rows (guessed)" in said
    assert any("club.csv line 4" in line and "'Nemo Niemand'" in line for line in said)


def test_without_a_column_of_names_there_are_no_links_and_that_is_said(tmp_path: Path) -> None:
    corpus, said = read(tmp_path, "name,city,age\nada,Rome,41\nbob,Oslo,52\neve,Oslo,41\n")
    assert (corpus.objects.num_rows, links(corpus)) == (3, set())
    assert said[-1].startswith("no links: no column names other rows")


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


def test_managers_are_links_though_some_are_not_in_the_table(tmp_path: Path) -> None:
    staff = "Name;Chef\r\nOtt, Ada;Bo Ek\r\nEk, Bo;Max Elsewhere\r\nLo, Cy;Ada Ott\r\nRae, Di;Eve Outside\r\n"
    corpus, said = read(tmp_path, staff)
    assert links(corpus) == {frozenset(("Ott, Ada", "Ek, Bo")), frozenset(("Lo, Cy", "Ott, Ada"))}
    assert corpus.dropped == {"links to unknown nodes": 2}
    assert "club.csv: links are in 'Chef', which names other rows (guessed)" in said


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


@pytest.mark.parametrize(
    ("key", "column"), [("id", "paid"), ("id", "grid"), ("Nr", "Hausnr"), ("id", "idle"), ("ID", "Paid"), ("id", "Bid")]
)
def test_a_word_that_merely_ends_like_the_key_is_no_link(tmp_path: Path, key: str, column: str) -> None:
    rows = [f"{n},person {n},{n * 7 % 40 + 1},{CITIES[n % 3]},{TRADES[n % 4]}" for n in range(1, 61)]
    corpus, _ = read(tmp_path, "\n".join([f"{key},name,{column},city,trade", *rows]))
    assert (links(corpus), corpus.objects.num_rows) == (set(), 60)
    assert column in corpus.attributes


@pytest.mark.parametrize(
    ("key", "column"),
    [("id", "boss_id"), ("Nr.", "Chef-Nr"), ("id", "bossId"), ("ID", "Boss ID"), ("ID", "BossID"), ("id", "id_boss")],
)
def test_a_column_of_keys_by_its_words_links_rows(tmp_path: Path, key: str, column: str) -> None:
    rows = [f"{n},person {n},{n // 2 or ''},{CITIES[n % 3]},{TRADES[n % 4]}" for n in range(1, 61)]
    corpus, _ = read(tmp_path, "\n".join([f"{key},name,{column},city,trade", *rows]))
    assert len(links(corpus)) == 59


@pytest.mark.parametrize(
    "value",
    [
        lambda n: n % 5,
        lambda n: n,
        lambda n: n * 7 % 75 + 1,
        lambda n: -(n % 9),
        lambda n: n % 9 + 1 if n % 20 else "?",
    ],
    ids=["counts from nought", "its own row", "often no key", "below nought", "with a question mark"],
)
def test_numbers_that_are_no_keys_of_other_rows_link_nothing(tmp_path: Path, value: Callable[[int], object]) -> None:
    name = "visits" if value(20) == "?" or value(20) == -2 else "id visits"
    rows = [f"{n},person {n},{value(n)},{CITIES[n % 3]},{TRADES[n % 4]}" for n in range(1, 61)]
    corpus, _ = read(tmp_path, "\n".join([f"id,name,{name},city,trade", *rows]))
    assert links(corpus) == set()


def test_keys_of_several_rows_in_a_field_link_them(tmp_path: Path) -> None:
    rows = [f"{n},person {n},{n % 60 + 1}{f';{(n + 5) % 60 + 1}' if n % 3 == 0 else ''},Rome" for n in range(1, 61)]
    corpus, _ = read(tmp_path, "\n".join(["id,name,knows,city", *rows]))
    assert len(links(corpus)) == 80


CITIES, TRADES = ("Rome", "Oslo", "Bonn"), ("bau", "it", "handel", "kunst")


def test_an_id_beside_a_name_makes_nodes_whatever_two_other_columns_are_called(tmp_path: Path) -> None:
    rows = [f"{n},person {n},{CITIES[n % 3]},{TRADES[n % 4]},{n % 5},{n % 7}" for n in range(1, 61)]
    for ends in ("a,b", "from,to", "start,end", "source,target"):
        corpus, _ = read(tmp_path, "\n".join([f"id,name,city,trade,{ends}", *rows]))
        assert (corpus.objects.num_rows, links(corpus)) == (60, set())
        assert {"city", "trade"} <= set(corpus.attributes)


def test_links_with_an_id_and_a_name_of_their_own_stay_links(tmp_path: Path) -> None:
    rows = [f"{n},road {n},p{n % 12},p{n * 5 % 13}" for n in range(1, 61)]
    corpus, said = read(tmp_path, "\n".join(["id,name,source,target", *rows]))
    assert corpus.objects.num_rows == 13
    assert "club.csv is taken for links alone (guessed)" in said
    corpus, said = read(tmp_path, "\n".join(["a,b", *(f"p{n},p{n * 5 % 13}" for n in range(12))]))
    assert "club.csv is taken for links alone (guessed)" in said


def test_names_that_are_turned_round_by_a_comma_are_known(tmp_path: Path) -> None:
    corpus, _ = read(
        tmp_path,
        'Nachname;Vorname;Ort;kennt\nGroß;Eva Maria;Köln;"Ott, Ute; Süß,Kim"\nOtt;Ute;Köln;"Groß, Eva Maria"\n'
        'Süß;Kim;Bonn;"Ott, Max"\nOtt;Max;Bonn;\n',
    )
    pairs = [("Eva Maria Groß", "Ute Ott"), ("Eva Maria Groß", "Kim Süß"), ("Kim Süß", "Max Ott")]
    assert links(corpus) == set(map(frozenset, pairs))
    corpus, _ = read(tmp_path, 'Name;Ort;kennt\n"Groß, Eva";Köln;Ute Ott\n"Ott, Ute";Köln;\n"Süß, Kim";Bonn;Eva Groß\n')
    assert links(corpus) == {frozenset(("Groß, Eva", "Ott, Ute")), frozenset(("Süß, Kim", "Groß, Eva"))}


def test_a_name_that_may_be_of_two_rows_when_turned_round_is_that_of_the_row_that_bears_it(tmp_path: Path) -> None:
    rows = '"Max, Paul";Köln;\nPaul Max;Bonn;"Max, Paul"\nEva Ott;Bonn;Paul Max\nKim Ott;Köln;Eva Ott\n'
    corpus, _ = read(tmp_path, f"Name;Ort;kennt\n{rows}")
    assert frozenset(("Paul Max", "Max, Paul")) in links(corpus)
    assert frozenset(("Eva Ott", "Paul Max")) in links(corpus)


def test_rows_without_any_value_are_nobody(tmp_path: Path) -> None:
    corpus, said = read(
        tmp_path, "Name;Stadt;Kennt\nEva;Köln;Max\n;;\nMax;Bonn;Ute\nUte;Bonn;Nemo\n;;\n;;\nKim;Ulm;Eva\n"
    )
    assert corpus.objects["name"].to_pylist() == ["Eva", "Max", "Ute", "Kim"]
    assert "club.csv: rows without any value are left out: 3" in said


@pytest.mark.parametrize("above", ["", "Mitgliederliste 2024;;;;;;;\r\n;;;;;;;\r\n", "Mitgliederliste 2024\r\n\r\n"])
@pytest.mark.parametrize("left", ["", ";"])
def test_a_title_above_and_an_empty_column_on_the_left_are_passed_over(tmp_path: Path, above: str, left: str) -> None:
    people = [f"{last};{first}" for last in ("Groß", "Süß", "Ott", "Köhler") for first in ("Eva", "Max", "Ute", "Kim")]
    body = [
        f'{left}{who};{CITIES[n % 3]};{TRADES[n % 4]};{n + 1:02}.03.19{70 + n};1.{n:03},50;"{who_else(people, n)}"'
        for n, who in enumerate(people)
    ]
    head = "".join(f"{left}{line}" if line else line for line in above.splitlines(keepends=True) if line)
    names = f"{left}Nachname;Vorname;Ort;Branche;Eintritt;Beitrag;kennt"
    corpus, _ = read(tmp_path, head + "\r\n".join([names, *body]))
    assert (corpus.objects.num_rows, len(links(corpus))) == (16, 32)
    assert corpus.attributes == ("Ort", "Branche", "Eintritt", "Beitrag")
    assert [str(corpus.items.schema.field(name).type) for name in ("Eintritt", "Beitrag")] == ["date32[day]", "double"]
    assert corpus.items["Beitrag"].to_pylist()[:2] == [1000.5, 1001.5]


def who_else(people: list[str], row: int) -> str:
    """Return the names of the next two."""
    return "; ".join(" ".join(reversed(people[(row + step) % len(people)].split(";"))) for step in (1, 2))
