"""Multi-valued columns: whatever separates their values, people of a row are objects, and labels several labels."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.io.tables.multi_values import find_label_separator, find_separators
from cube2net.model.corpus import Corpus

AREAS = ("Energie", "Logistik", "Wasser")
PEOPLE = [f"{first} {last}" for first in ("Ada", "Bo", "Cleo", "Dirk") for last in ("Nelke", "Rose", "Tulpe")]


def together(row: int) -> list[str]:
    """Return who works on a project: one to four."""
    return [PEOPLE[(row * 5 + step * 7) % len(PEOPLE)] for step in range(1 + row % 4)]


def projects(mark: str, header: str = "Beteiligte", count: int = 40) -> list[list[str]]:
    """Return made-up projects, of which each has a name, an area, a year and people."""
    rows = [["Projekt", "Bereich", "Jahr", header]]
    rows += [[f"Vorhaben {row}", AREAS[row % 3], str(2018 + row % 5), mark.join(together(row))] for row in range(count)]
    return rows


def read(folder: Path, rows: list[list[str]], **options: Any) -> tuple[Corpus, list[str]]:
    """Return what a table gives, and what was said."""
    path = folder / "projekte.csv"
    lines = ("\t".join(f'"{value}"' for value in row) for row in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    said: list[str] = []
    corpus = c2n.read_tables(path, progress=lambda stage, done, total=None: said.append(stage), **options)
    return corpus, said


MARKS = [" / ", "/", "; ", ";", ", ", ",", "\n", " | "]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("header", ["Beteiligte", "Wer dabei war"])
def test_people_of_a_row_are_objects_and_the_row_is_their_record(tmp_path: Path, mark: str, header: str) -> None:
    corpus, said = read(tmp_path, projects(mark, header))
    assert sorted(corpus.objects["name"].to_pylist()) == sorted(PEOPLE)
    assert corpus.items["item"].to_pylist() == [f"Vorhaben {row}" for row in range(40)]
    assert corpus.mentions.num_rows == sum(len(together(row)) for row in range(40))
    assert corpus.attributes == ("Bereich", "Jahr")
    assert "projekte.csv: 40 records, 12 objects in them, linked where a record has both" in said
    shown = "line breaks" if mark == "\n" else repr(" / " if mark == " / " else mark.strip())
    assert any(
        f"objects={header!r} (guessed), separated by {shown} (guessed), item='Projekt' (guessed)" in each
        for each in said
    )


@pytest.mark.parametrize("mark", [*MARKS, " & ", " and ", " und "])
def test_columns_that_are_given_are_split_at_whatever_separates_them(tmp_path: Path, mark: str) -> None:
    corpus, _ = read(tmp_path, projects(mark), item="Projekt", objects="Beteiligte")
    assert corpus.objects.num_rows == len(PEOPLE)


def test_records_of_one_object_each_are_reported_with_the_separator_to_name(tmp_path: Path) -> None:
    corpus, said = read(tmp_path, projects(" ~ "), item="Projekt", objects="Beteiligte")
    assert corpus.links is None
    assert said[-1] == (
        "no links: every record has a single value in 'Beteiligte'. If it holds several, name what separates them: "
        "separators={'Beteiligte': ';'}"
    )
    corpus, said = read(tmp_path, projects(" ~ "), item="Projekt", objects="Beteiligte", separators={"Beteiligte": "~"})
    assert corpus.objects.num_rows == len(PEOPLE)
    assert not any(each.startswith("no links") for each in said)


@pytest.mark.parametrize(
    ("texts", "separators"),
    [
        (["Ott, A., Ek, B.", "Lo, C.", "Ott, A., Lo, C., Ek, B."], (",,",)),
        (["Ott, Ada, Ek, Bo", "Lo, Cleo", "Ott, Ada, Lo, Cleo, Ek, Bo"], (",,",)),
        (["Ott A., Ek B.", "Lo C.", "Ott A., Lo C."], (",",)),
        (["Ott A, Ek B, Lo C", "Lo C"], (",",)),
        (["Ada Ott, Bo Ek & Cleo Lo", "Cleo Lo"], (",", " & ")),
        (["Ada Ott, Bo Ek, and Cleo Lo", "Cleo Lo", "Bo Ek and Ada Ott"], (",", " and ")),
        (["Ott, Ada and Ek, Bo", "Lo, Cleo"], (" and ",)),
        (["Ott, Ada; Ek, Bo", "Lo, Cleo"], (";",)),
        (["Ada Ott; Bo Ek and Cleo Lo", "Cleo Lo"], (";", " and ")),
        (["Ada Ott"] * 60 + ["Bo Ek and Cleo Lo"], (" and ",)),
        (["Ott, A.; Ek, B. & Lo, C.", "Lo, C. & Ott, A.", "Ott, A."], (";", " & ")),
        (["Ada Ott; Bo Ek", "Cleo Lo, Ada Ott", "Bo Ek|Cleo Lo"], (";", "|", ",")),
        (["Ada Ott, Oslo University; Bo Ek, Rome University", "Cleo Lo, Bonn University"], (";",)),
        (["Ada Ott|Bo Ek", "Cleo Lo|Ada Ott"] * 150 + ["Luc e Ferro|Bo Ek"], ("|",)),
        (["Ott, Ada", "Ek, Bo", "Lo, Cleo"], ()),
        (["Johnson & Johnson", "Ada Ott", "Bo Ek"], ()),
    ],
)
def test_separators_of_people_are_found_in_the_values(texts: list[str], separators: tuple[str, ...]) -> None:
    assert set(find_separators(texts, are_people=True)) == set(separators)


def members(count: int = 40) -> list[list[str]]:
    """Return made-up members with hobbies, who know each other."""
    hobbies = ("Rudern", "Schach", "Singen", "Wandern")
    rows = [["Kürzel", "Mitglied", "Ort", "Hobbys", "Kennt"]]
    for row in range(count):
        likes = ", ".join(dict.fromkeys(hobbies[(row + step * step) % 4] for step in range(1 + row % 3)))
        rows.append(
            [f"k{row}", f"{PEOPLE[row % 12]} {row}", AREAS[row % 3], likes, f"{PEOPLE[(row + 1) % 12]} {row + 1}"]
        )
    rows[-1][-1] = ""
    return rows


def test_hobbies_of_people_are_no_objects(tmp_path: Path) -> None:
    corpus, _ = read(tmp_path, members())
    assert (corpus.objects.num_rows, corpus.links and corpus.links.num_rows) == (40, 39)
    without = [row[:-1] for row in members()]
    assert read(tmp_path, without)[0].objects.num_rows == 40


def test_a_list_of_names_beside_a_column_that_names_other_rows_is_no_list_of_objects(tmp_path: Path) -> None:
    rows = projects(" / ")
    rows = [
        [*rows[0], "Folgt auf"],
        *([*row, f"Vorhaben {number - 1}" if number else ""] for number, row in enumerate(rows[1:])),
    ]
    corpus, _ = read(tmp_path, rows)
    assert (corpus.objects.num_rows, corpus.links and corpus.links.num_rows) == (40, 39)


def test_a_row_for_everybody_stays_one_unless_the_list_is_called_one_of_people(tmp_path: Path) -> None:
    assert read(tmp_path, [["Name", "Ort", "Jahr", "Kurse"], *projects("; ")[1:]])[0].objects.num_rows == 40
    assert read(tmp_path, [["Name", "Ort", "Jahr", "Team"], *projects("; ")[1:]])[0].objects.num_rows == 12
    said_so = read(tmp_path, projects("; "), columns={"nodes.id": "Projekt"})[0]
    assert said_so.objects.num_rows == 40


@pytest.mark.parametrize(
    "texts",
    [
        [f"The house, {word}, is old and rather far from all that we know" for word in ("red", "blue", "green")] * 4,
        [f"Nelke, {first}" for first in ("Ada", "Bo", "Cleo")] * 4,
        [f"{day}/{month}/2024" for day in (1, 2, 3) for month in (4, 5, 6)],
        ["Ada Nelke", "Bo Rose", "Cleo Tulpe"],
        ["10, 20", "20, 30", "10, 30"],
        [],
    ],
)
def test_texts_that_are_no_lists_of_names_are_not_split(texts: list[str]) -> None:
    assert find_separators(texts) == ()
    assert find_separators(texts, are_people=True) == ()


def test_labels_that_come_again_are_split_and_names_titles_and_texts_are_not() -> None:
    kinds = ["Drama", "Film noir", "War", "Comedy", "Western"]
    pairs = [f"{one}|{two}" for one in kinds for two in kinds if one != two]
    assert find_label_separator(pairs * 3) == find_label_separator([*pairs * 3, *kinds * 4]) == "|"
    assert find_label_separator([pair.replace("|", "; ") for pair in pairs * 3]) == ";"
    assert find_label_separator([*pairs, *kinds * 90]) == "|", "few values are lists"
    assert find_label_separator(["Drama|War"] * 40) is None, "the whole value comes as often as its parts"
    assert find_label_separator(pairs[:10]) is None, "too few to say"
    assert find_label_separator([f"Story {number} | The Daily News" for number in range(40)]) is None
    assert find_label_separator([f"Smith{number}; John" for number in range(40)]) is None
    assert find_label_separator([f"{pair} and so on and so on and so on" for pair in pairs * 3]) is None


def test_columns_of_several_labels_are_split_in_every_kind_of_table() -> None:
    kinds = ["Drama", "Crime", "War", "Comedy", "Western"]
    genre = [f"{one}|{two}" for one in kinds for two in kinds if one != two] * 3
    ids = [f"n{row}" for row in range(len(genre))]
    nodes = pa.table({"id": ids, "genre": genre})
    links = pa.table({"source": ids[:-1], "target": ids[1:]})
    network = c2n.read_tables(nodes=nodes, links=links)
    assert network.items["genre"][0].as_py() == ["Drama", "Crime"]
    assert network.source["separators"] == {"genre": "|"}
    assert c2n.read_tables(nodes=nodes, links=links, separators={"genre": ";"}).items["genre"][0].as_py() == [genre[0]]
    cast = [f"Ada Lov{row % 7}; Bo Ek{row % 5}" for row in range(len(genre))]
    flat = c2n.read_tables(pa.table({"film": ids, "cast": cast, "genre": genre}), item="film", objects="cast")
    assert flat.items["genre"][0].as_py() == ["Drama", "Crime"]
    assert flat.source["separators"] == {"cast": ";", "genre": "|"}
