"""Tables of any kind yield a cube with links, the same in Python and on the page, or a sentence with a remedy."""

import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from workbook_files import ods, workbook

import cube2net as c2n
from cube2net.api.spreadsheets import read_spreadsheet, sheet_reader
from cube2net.errors import Cube2netError, Setting

FIRST = ("Ada", "Bo", "Cleo", "Dirk", "Eva", "Finn", "Gus", "Hal", "Ida", "Jan")
LAST = ("Nelke", "Rose", "Tulpe", "Aster")
PEOPLE = [(first, last) for first in FIRST for last in LAST]
DEPARTMENTS = ("Sales", "IT", "Law")


def list_people(row: int, mark: str, write: Callable[[str, str], str] = "{} {}".format) -> str:
    return mark.join(write(*PEOPLE[(row * 3 + step * 7) % len(PEOPLE)]) for step in range(1 + row % 4))


def write_table(rows: list[list[object]], mark: str = ",") -> bytes:
    lines = (mark.join("" if value is None else f'"{value}"' for value in row) for row in rows)
    return "\n".join(lines).encode()


FILMS = [["title", "genres", "release_date", "cast", "budget"]]
FILMS += [
    [f"Film {row} (2012)", kinds, f"{1 + row % 28}-Oct-{10 + row % 8}", list_people(row, "|"), budget]
    for row in range(80)
    for kinds in ["Drama| War" if row % 2 else "War"]
    for budget in [f"${row},000" if row % 3 else "NA"]
]
GRANTS = [["year", "title", "proposed_by"]]
GRANTS += [[f"{2010 + row % 5}/{11 + row % 5}", f"Plan {row}", list_people(row, " and ")] for row in range(80)]
PAPERS = [["Authors", "Title", "Week"]]
PAPERS += [
    [list_people(row, ", ", lambda first, last: f"{last}, {first[0]}."), f"On {row}", f"2020-W{1 + row % 9:02d}"]
    for row in range(80)
]
VOTES = [["from", "to", "year", "points"]]
VOTES += [[PEOPLE[row % 40][0], PEOPLE[row * 7 % 40][0], 2000 + row % 9, 1 + row % 12] for row in range(400)]
STAFF = [["Employee", "Department", "Salary", "Manager"]]
STAFF += [
    [f"{last}, {first}", DEPARTMENTS[row % 3], 1000 + row, " ".join(PEOPLE[row % 5]) if row % 4 else "Max Elsewhere"]
    for row, (first, last) in enumerate(PEOPLE)
]
DICTIONARY = [["Feature", "Description"], ["Employee", "the name"], ["Manager", "who leads"]]
FILES: dict[str, bytes] = {
    "films.csv": write_table(FILMS),
    "films.csv.xz": lzma.compress(write_table(FILMS)),
    "grants.tsv": write_table(GRANTS, "\t"),
    "papers.csv": write_table(PAPERS),
    "votes.csv": write_table(VOTES),
    "staff.xlsx": workbook({"Data Structure": DICTIONARY, "Data": STAFF}),
    "staff.ods": ods({"Data Structure": DICTIONARY, "Data": STAFF}),
}


@pytest.mark.parametrize("name", FILES)
def test_tables_of_every_kind_yield_people_and_links_in_python_and_on_the_page(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    cube = c2n.build(path, min_objects=2)
    assert len(cube.objects) == (len(FIRST) if name == "votes.csv" else len(PEOPLE))
    assert len(cube.links.indices) > 0
    page = read_spreadsheet(sheet_reader([path]), [path], min_objects=2)
    assert (page.corpus.objects.num_rows, page.problem) == (len(cube.objects), None)
    assert [spec.name for spec in page.dimensions] == [dimension.name for dimension in cube.dimensions]


DATA = Path(os.environ.get("CUBE2NET_DATA", ""))


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CUBE2NET_DATA"), reason="CUBE2NET_DATA names no folder of files to read")
def test_every_file_at_hand_yields_a_cube_with_links_or_a_sentence_with_a_remedy() -> None:
    files = [path for part in ("exports", "messy") for path in sorted((DATA / part).rglob("*")) if path.is_file()]
    failures = []
    for path in files:
        said: list[str] = []
        try:
            cube = c2n.build(path, progress=lambda stage, done, total=None, said=said: said.append(stage))
        except Cube2netError as error:
            if not any(isinstance(part, Setting) for part in error.message.parts) or "\n" in str(error):
                failures.append(f"{path.name}: {error}")
        else:
            if not len(cube.links.indices) and not any(each.startswith("no links") for each in said):
                failures.append(f"{path.name}: {cube}")
    assert files and failures == []
