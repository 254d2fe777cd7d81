"""A cube kept beside its spreadsheet is used again for the same file, and is never lost to another one."""

from pathlib import Path
from typing import Any

import pytest

from cube2net.api import cubes
from cube2net.api import spreadsheets as kept_cubes
from cube2net.api.build import build
from cube2net.api.datasets import make_planted
from cube2net.api.spreadsheets import build_from_reading, cube_beside, identify_reading, read_spreadsheet, sheet_reader
from cube2net.errors import ParameterError, SourceError
from cube2net.model.cube import Cube

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"


@pytest.fixture
def club(tmp_path: Path) -> Path:
    """A club's members, in a folder of their own."""
    path = tmp_path / "mitglieder.csv"
    path.write_bytes(CLUB.read_bytes())
    return path


def fewer(path: Path, rows: int = 39) -> Path:
    """Return a file with only the first rows of the club."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(CLUB.read_bytes().splitlines(keepends=True)[: rows + 1]))
    return path


def explored(path: Path, home: Path | None = None, **options: Any) -> tuple[str, int, bool]:
    """Return where the cube of a file is kept, how many objects it has, and whether it was there already.

    With a ``home`` the file was handed over on the page.
    """
    cube, place, known = opened(path, home, **options)
    return place.name, len(cube.objects), known


def opened(
    path: Path, home: Path | None = None, seed: int = 0, dimensions: tuple[str, ...] = (), said: list[str] | None = None
) -> tuple[Cube, Path, bool]:
    """Return the cube of a file, its folder, and whether it was there already."""
    reader = sheet_reader([path])
    identity = identify_reading(reader, [path], dimensions, seed=seed, uploaded=home is not None)
    place, kept = cube_beside([path], identity, home, say=(said if said is not None else []).append)
    if kept is not None:
        return kept, place, True
    reading = read_spreadsheet(reader, [path], dimensions=dimensions, seed=seed)
    return build_from_reading(reading, place, identity=identity, seed=seed), place, False


def test_a_file_that_was_handed_over_never_replaces_the_cube_of_another_of_its_name(club: Path, tmp_path: Path) -> None:
    assert explored(club) == ("mitglieder-cube", 72, False)
    other = fewer(tmp_path / "uploads" / "mitglieder.csv")
    assert explored(other, home=tmp_path) == ("mitglieder-cube-2", 39, False)
    assert explored(other, home=tmp_path) == ("mitglieder-cube-2", 39, True)
    fewer(other, 45)
    assert explored(other, home=tmp_path) == ("mitglieder-cube-3", 45, False)
    assert explored(club) == ("mitglieder-cube", 72, True)


def test_a_file_of_another_ending_never_replaces_the_cube_of_its_neighbour(club: Path, tmp_path: Path) -> None:
    assert explored(club) == ("mitglieder-cube", 72, False)
    other = fewer(tmp_path / "mitglieder.txt")
    assert explored(other) == ("mitglieder-cube-2", 39, False)
    assert explored(club) == ("mitglieder-cube", 72, True)
    fewer(club, 50)
    assert explored(club) == ("mitglieder-cube", 50, False)
    assert explored(other) == ("mitglieder-cube-2", 39, True)


def test_a_file_is_the_same_however_it_is_named(club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explored(club) == ("mitglieder-cube", 72, False)
    monkeypatch.chdir(tmp_path)
    assert explored(Path("mitglieder.csv")) == ("mitglieder-cube", 72, True)
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    handed = uploads / club.name
    handed.write_bytes(club.read_bytes())
    assert explored(handed, home=tmp_path) == ("mitglieder-cube", 72, True)
    club.touch()
    assert explored(club) == ("mitglieder-cube", 72, True)


def test_what_was_handed_over_first_is_used_again_for_the_file_itself(club: Path, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    handed = uploads / club.name
    handed.write_bytes(club.read_bytes())
    assert explored(handed, home=tmp_path) == ("mitglieder-cube", 72, False)
    assert explored(club) == ("mitglieder-cube", 72, True)
    fewer(club, 50)
    assert explored(club) == ("mitglieder-cube-2", 50, False)
    assert explored(handed, home=tmp_path) == ("mitglieder-cube", 72, True)


def test_another_seed_or_other_dimensions_make_the_cube_of_a_file_anew_in_its_place(club: Path) -> None:
    assert explored(club) == ("mitglieder-cube", 72, False)
    assert explored(club, seed=1) == ("mitglieder-cube", 72, False)
    assert explored(club, seed=1, dimensions=("Stadt",)) == ("mitglieder-cube", 72, False)
    assert explored(club, seed=1, dimensions=("Stadt",)) == ("mitglieder-cube", 72, True)


def test_a_seed_is_no_dimension(club: Path) -> None:
    reader = sheet_reader([club])
    by_seed = identify_reading(reader, [club], ["Stadt"], seed=1)
    assert by_seed.checksum != identify_reading(reader, [club], ["Stadt", "1"]).checksum


def test_a_damaged_cube_of_a_file_is_made_anew_and_that_is_said(club: Path) -> None:
    _, place, _ = opened(club)
    largest = max(
        (path for path in place.rglob("*") if path.name != "manifest.json"), key=lambda path: path.stat().st_size
    )
    largest.unlink()
    said: list[str] = []
    cube, again, known = opened(club, said=said)
    assert (again, len(cube.objects), known) == (place, 72, False)
    (sentence,) = said
    assert sentence.startswith("mitglieder-cube is damaged and made anew (")
    assert explored(club) == ("mitglieder-cube", 72, True)


def test_a_cube_that_somebody_else_made_is_left_as_it_is(club: Path) -> None:
    place = club.parent / "mitglieder-cube"
    build(make_planted(objects=200, communities=4, noise=0).corpus, out=place)
    assert explored(club) == ("mitglieder-cube-2", 72, False)
    assert len(cubes.open(place).objects) == 200


def test_where_all_names_are_taken_only_the_cube_of_the_same_file_gives_its_place(
    club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_cubes, "MAX_NUMBERED_PLACES", 3)
    (club.parent / "mitglieder-cube").mkdir()
    (club.parent / "mitglieder-cube-2").write_text("no folder")
    assert explored(club) == ("mitglieder-cube-3", 72, False)
    assert explored(club, seed=1) == ("mitglieder-cube-3", 72, False)
    other = fewer(club.parent / "mitglieder.txt")
    with pytest.raises(ParameterError) as refused:
        explored(other)
    assert str(refused.value) == f"mitglieder-cube and 2 others in {str(club.parent)!r} are there: remove some"


def test_a_reading_counts_the_rows_and_the_objects_in_them(tmp_path: Path) -> None:
    people = [f"{first} {last}" for first in ("Ada", "Bo", "Cleo") for last in ("Nelke", "Rose")]
    rows = [f"Vorhaben {n};{'Holz' if n % 2 else 'Glas'};{people[n % 6]} / {people[(n + 2) % 6]}" for n in range(24)]
    path = tmp_path / "projekte.csv"
    path.write_text("\n".join(["Projekt;Bereich;Beteiligte", *rows]), encoding="utf-8")
    reading = read_spreadsheet(sheet_reader([path]), [path])
    assert (reading.items, reading.record()["objects"], reading.record()["links"]) == (24, 6, None)
    assert "projekte.csv: 24 records, 6 objects in them, linked where a record has both" in reading.record()["said"]


@pytest.mark.parametrize("header", ["id name,x", "id,na", "name,born,city", "a"])
def test_a_table_with_a_header_alone_is_refused_in_one_sentence(header: str, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(f"{header}\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"^t\.tsv has a header and no rows, expected one row or more$"):
        read_spreadsheet(sheet_reader([path]), [path])
