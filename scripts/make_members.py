"""Write the invented table of club members used in docs/start/spreadsheet.md.

python scripts/make_members.py docs/start/data

It has the format of a CSV saved by a German Excel: semicolons, Windows-1252, decimal commas, CRLF.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from cube2net._util.random import stream

FIRST = (
    *("Anna", "Bernd", "Clara", "Dieter", "Elif", "Frank", "Greta", "Hakan", "Ines", "Jan", "Käthe", "Lars"),
    *("Milena", "Nils", "Olga", "Pawel", "Rosa", "Sören", "Tina", "Uwe", "Vera", "Wim", "Yasmin", "Zoë"),
)
LAST = (
    *("Ähren", "Birkhof", "Cremers", "Döhring", "Eschbach", "Fölling", "Grünfeld", "Haselhoff", "Ippen", "Jürgens"),
    *(
        "Krähwinkel",
        "Löwenherz",
        "Mühlbach",
        "Nöldner",
        "Osterkamp",
        "Pflüger",
        "Quast",
        "Rübsam",
        "Süßkind",
        "Tönnies",
    ),
)
CITIES = ("Köln", "Düsseldorf", "Münster", "Aachen")
TRADES = {"Druck": "Druckerei", "Bau": "Bau", "IT": "Software", "Steuern": "Steuerberatung", "Bäckerei": "Backhaus"}
MEMBERS = 72
KNOWN = (1, 5)
"""From so many to fewer than so many others a member names."""
NEAR, SAME_CITY = 0.72, 0.16
"""The share of those known who are of the same city and trade, and of the same city."""


def members() -> list[dict[str, str]]:
    """Return the rows of the table."""
    rng = stream(18, "docs", "members")
    order = rng.permutation(len(FIRST) * len(LAST))[:MEMBERS]
    names = [(FIRST[at % len(FIRST)], LAST[at // len(FIRST)]) for at in order.tolist()]
    homes = [(CITIES[int(rng.integers(len(CITIES)))], list(TRADES)[int(rng.integers(len(TRADES)))]) for _ in names]
    rows = []
    for at, ((first, last), (city, trade)) in enumerate(zip(names, homes, strict=True)):
        known: list[int] = []
        while len(known) < int(rng.integers(*KNOWN)):
            draw = rng.random()
            near = [to for to, home in enumerate(homes) if home == (city, trade)]
            town = [to for to, home in enumerate(homes) if home[0] == city]
            group = near if draw < NEAR else town if draw < NEAR + SAME_CITY else list(range(MEMBERS))
            to = group[int(rng.integers(len(group)))]
            if to == at or to in known:
                if len(group) < 3:
                    break
                continue
            known.append(to)
        rows.append(
            {
                "Vorname": first,
                "Nachname": last,
                "Firma": f"{last} {TRADES[trade]} GmbH",
                "Stadt": city,
                "Branche": trade,
                "Eintritt": str(int(rng.integers(2008, 2026))),
                "Beitrag": f"{int(rng.integers(6, 40)) * 10 + 0.5:.2f}".replace(".", ","),
                "Kennt": ", ".join(" ".join(names[to]) for to in known),
            }
        )
    return rows


def written() -> bytes:
    """Return the content of the file."""
    text = io.StringIO()
    rows = members()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=";", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("windows-1252")


if __name__ == "__main__":
    (Path(sys.argv[1]) / "mitglieder.csv").write_bytes(written())
