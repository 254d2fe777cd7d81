"""Mutated spreadsheets (CSV and TSV), read as by ``cube2net explore FILE``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cube2net._util.random import stream
from cube2net.api.spreadsheets import read_spreadsheet, sheet_reader
from stress.damage import Rng, damage, pick

PEOPLE = "id,name,city,boss,born,score\n" + "".join(
    f"p{at},Name {at},{('Oslo', 'Bergen', 'Moss')[at % 3]},p{at // 2},{1960 + at},{at * 1.5}\n" for at in range(24)
)
PROJECTS = "Projekt;Leute;Jahr;Betrag\n" + "".join(
    f"P{at};Eva {at % 5}, Jan {at % 7};{2000 + at % 9};{at},5\n" for at in range(20)
)
BOSSES = "name\tboss\ttown\n" + "".join(
    f"a{at}\ta{at // 2}\t{('Oslo', 'Bergen', 'Moss')[at % 3]}\n" for at in range(30)
)
NAMES = "id name,x,town\n" + "".join(f"Eva Lie,{at},Oslo\nJan Moe,{at},Moss\n" for at in range(6))
BASES = {
    "people.csv": PEOPLE,
    "people.tsv": PEOPLE.replace(",", "\t"),
    "projects.csv": PROJECTS,
    "bosses.tsv": BOSSES,
    "names.csv": NAMES,
}
VALUES = ("", " ", "0", "-1", "NA", "null", "nan", "1e999", "2020-02-30", "31.12.1999", "Lie, Eva", '"', "=1+1", "☃")


def mutate_sheet(name: str, content: str, rng: Rng) -> bytes:
    """Return the content of a table with one to three changes to its rows, columns or bytes."""
    mark = next(mark for mark in ("\t", ";", ",") if mark in content.partition("\n")[0])
    rows = [line.split(mark) for line in content.splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        rows = pick(CHANGES, rng)(rows, rng) or [[""]]
    mark = mark if rng.random() < 0.8 else pick((",", ";", "\t", "|", " "), rng)
    encoded = ("\n".join(mark.join(row) for row in rows) + "\n").encode(
        pick(("utf-8",) * 8 + ("utf-16", "utf-8-sig"), rng)
    )
    return damage(name, encoded, rng) if rng.random() < 0.3 else encoded


Sheet = list[list[str]]


def keep_few_rows(rows: Sheet, rng: Rng) -> Sheet:
    """Keep the header and at most three rows."""
    return rows[: 1 + int(rng.integers(4))]


def drop_header(rows: Sheet, rng: Rng) -> Sheet:
    """Leave out the first row."""
    return rows[1:]


def repeat_row(rows: Sheet, rng: Rng) -> Sheet:
    """Make all rows below the header the same."""
    return [rows[0], *[pick(rows, rng)] * (len(rows) - 1)]


def fill_column(rows: Sheet, rng: Rng) -> Sheet:
    """Set all fields of a column to the same value, possibly empty."""
    at, value = int(rng.integers(max(map(len, rows)))), pick(VALUES, rng)
    return [rows[0], *([*row[:at], value, *row[at + 1 :]] for row in rows[1:])]


def change_fields(rows: Sheet, rng: Rng) -> Sheet:
    """Replace a few fields anywhere."""
    rows = [list(row) for row in rows]
    for _ in range(int(rng.integers(1, 12))):
        row = pick(rows, rng)
        if row:
            row[int(rng.integers(len(row)))] = pick(VALUES, rng)
    return rows


def drop_columns(rows: Sheet, rng: Rng) -> Sheet:
    """Keep some of the columns, in another order."""
    width = max(map(len, rows))
    kept = rng.permutation(width)[: int(rng.integers(1, width + 1))].tolist()
    return [[row[at] for at in kept if at < len(row)] for row in rows]


def rename_columns(rows: Sheet, rng: Rng) -> Sheet:
    """Rename a column to that of another, to an odd name, or to one with a role."""
    names = ("id", "name", "source", "target", "id name", "label", "date", "weight", "item", *VALUES, *rows[0])
    header = list(rows[0]) or [""]
    header[int(rng.integers(len(header)))] = pick(names, rng)
    return [header, *rows[1:]]


CHANGES: tuple[Callable[[Sheet, Rng], Sheet], ...] = (
    *(keep_few_rows, drop_header, repeat_row, fill_column, change_fields, drop_columns, rename_columns),
)


@dataclass(frozen=True)
class MutatedSheet:
    """One table that is mutated by a seed and read."""

    name: str

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Write the table and read it."""
        path = place / self.name
        content = BASES[self.name]
        path.write_bytes(
            mutate_sheet(self.name, content, stream(seed, "stress", "sheet", self.name)) if seed else content.encode()
        )
        read_spreadsheet(sheet_reader([path]), [path])


SHEETS = {f"sheet {name}": MutatedSheet(name) for name in BASES}
