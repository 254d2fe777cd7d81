"""Tables of any kind yield a cube with links, the same in Python and on the page, or a sentence with a remedy."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from workbook_files import ods, workbook

import cube2net as c2n
from cube2net.api.spreadsheets import read_spreadsheet, sheet_reader
from cube2net.errors import Cube2netError

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


NAMES = [" ".join(each) for each in PEOPLE]
PAIRS = [(NAMES[row % 40], NAMES[row * 7 % 40]) for row in range(1, 200) if row % 40 != row * 7 % 40]
MATRIX = [[int((row + column) % 7 == 0 and row != column) for column in range(12)] for row in range(12)]
ANALYSTS: dict[str, tuple[list[list[object]], tuple[int, int, bool]]] = {
    "lists as Python writes them": (
        [["title", "authors"]] + [[f"On {row}", str(NAMES[row : row + 3])] for row in range(30)],
        (32, 30, True),
    ),
    "lists as JSON": (
        [["title", "authors"]]
        + [[f"On {row}", json.dumps(NAMES[row : row + 3]).replace('"', '""')] for row in range(30)],
        (32, 30, True),
    ),
    "a column for each author": (
        [["title", "year", "Author 1", "Author 2", "Author 3"]]
        + [
            [f"On {row}", 2000 + row % 5, *NAMES[row : row + 1 + row % 3], *[None] * (2 - row % 3)] for row in range(30)
        ],
        (32, 30, True),
    ),
    "people in columns without a header": (
        [NAMES[row * 3 % 37 : row * 3 % 37 + 3] for row in range(60)],
        (39, 60, True),
    ),
    "people between bullets": (
        [["title", "authors"]] + [[f"On {row}", " · ".join(NAMES[row : row + 3])] for row in range(30)],
        (32, 30, True),
    ),
    "a row for each vote": (
        [["vote_id", "date", "party", "member", "vote"]]
        + [
            [row // 8, f"2020-01-{1 + row // 8:02d}", row % 8 % 3, NAMES[row // 8 + row % 8], ["yes", "no"][row % 2]]
            for row in range(240)
        ],
        (37, 30, True),
    ),
    "a row for each attendant": (
        [["Meeting", "Attendee", "Role"]]
        + [[f"Meeting {row // 4}", NAMES[row // 4 + row % 4], "guest"] for row in range(120)],
        (33, 30, True),
    ),
    "messages with a subject": (
        [["Sender", "Recipient", "Subject", "Size"]]
        + [[*pair, f"Re: {row}", 100 + row] for row, pair in enumerate(PAIRS)],
        (38, len(PAIRS), True),
    ),
    "payments": (
        [["No.", "Zahler", "Empfänger", "Betrag"]] + [[row, *pair, f"{row},5 €"] for row, pair in enumerate(PAIRS)],
        (38, len(PAIRS), True),
    ),
    "flights": (
        [["origin", "destination", "carrier", "delay"]]
        + [[one[:3] + one[-3:], two[:3] + two[-3:], row % 3, row] for row, (one, two) in enumerate(PAIRS)],
        (38, len(PAIRS), True),
    ),
    "a matrix": ([["", *NAMES[:12]]] + [[NAMES[row], *MATRIX[row]] for row in range(12)], (12, 12, True)),
    "decimal commas": (
        [["name", "hours"]] + [[name, f"{1 + row % 9},{row * 3 % 10}"] for row, name in enumerate(NAMES)],
        (40, 40, False),
    ),
    "staff and their managers by number": (
        [["EmpID", "Name", "Department", "ManagerID", "DeptID"]]
        + [
            [1000 + row, name, DEPARTMENTS[row % 3], 1000 + row // 6 if row else None, row % 3]
            for row, name in enumerate(NAMES)
        ],
        (40, 40, True),
    ),
    "dependencies with notes": (
        [["Package", "Depends"]]
        + [[f"p{row}", ", ".join(f"p{row * step % 40} (>= {step}.0)" for step in range(2, 5))] for row in range(40)],
        (40, 40, True),
    ),
    "fractions alone": ([["x", "y"]] + [[row / 7, row / 9] for row in range(40)], (40, 40, False)),
    "links under one name": ([["name", "name", "weight"]] + [[*pair, 1] for pair in PAIRS], (38, 38, True)),
    "lists that go on": (
        [["title", "authors"]]
        + [
            [f"On {row}", mark.join([f"{last}, {first[0]}." for first, last in PEOPLE[row : row + 3]]) + end]
            for row in range(30)
            for mark, end in [(", ", ", et al.") if row % 2 else (", ", ", ...")]
        ],
        (32, 30, True),
    ),
    "lists of numbers of people": (
        [["paper_id", "author_ids", "year"]]
        + [[row, f"{row};{row + 1};{row + 2}", 2000 + row % 9] for row in range(30)],
        (32, 30, True),
    ),
    "a row for each exam": (
        [["student_id", "course_id", "grade"]]
        + [[1000 + row % 30, f"C{row // 15}", 1 + row % 5] for row in range(120)],
        (30, 8, True),
    ),
    "reviews": (
        [["reviewer", "product", "stars", "review"]]
        + [
            [
                NAMES[row // 8 + row % 8],
                f"Item {row // 8}",
                row % 5,
                f"this is what I think of it after {row} long years of use",
            ]
            for row in range(240)
        ],
        (37, 30, True),
    ),
    "lists that name no row": (
        [["Package", "Depends"]]
        + [[f"p{row}", ", ".join(f"q{row * step} (>= {step}.0)" for step in range(2, 5))] for row in range(40)],
        (40, 40, False),
    ),
}


@pytest.mark.parametrize("name", ANALYSTS)
def test_tables_as_analysts_have_them_yield_what_they_hold_from_files_and_frames(tmp_path: Path, name: str) -> None:
    table, expected = ANALYSTS[name]
    path = tmp_path / "table.csv"
    path.write_bytes(write_table(table))
    has_header = "without a header" not in name
    frame = pd.DataFrame(table[1:], columns=table[0]) if has_header else pd.DataFrame(table, columns=list("ABC"))
    for given in (path, frame) if has_header else (path,):
        corpus = c2n.read_tables(given)
        is_linked = bool(
            corpus.mentions.num_rows > corpus.items.num_rows if corpus.links is None else len(corpus.links)
        )
        assert (corpus.objects.num_rows, corpus.items.num_rows, is_linked) == expected
        assert max(map(len, corpus.objects["name"].to_pylist())) < 20


def test_a_web_page_that_is_called_a_table_is_named_as_one(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("<!DOCTYPE html><html><body>Log in</body></html>")
    with pytest.raises(Cube2netError, match="is a web page, not a table"):
        c2n.read_tables(path)
