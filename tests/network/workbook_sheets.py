"""The sheets of a workbook as Python has them, read by nothing of the package."""

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
DAY, TIME = "1", "2"


def value_of(cell: ElementTree.Element) -> Any:
    held = cell.find(f"{MAIN}v")
    if cell.get("t") == "inlineStr":
        return cell.findtext(f"{MAIN}is/{MAIN}t")
    if held is None or held.text is None:
        return None
    if cell.get("t") == "b":
        return held.text == "1"
    if cell.get("s") in (DAY, TIME):
        time = dt.datetime(1899, 12, 30) + dt.timedelta(milliseconds=round(float(held.text) * 86_400_000))
        return time if cell.get("s") == TIME else time.date()
    return float(held.text) if set(held.text) & set(".eE") else int(held.text)


def sheets(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every sheet by its name, a value for every name of the header."""
    with zipfile.ZipFile(path) as archive:
        names = [sheet.get("name") for sheet in ElementTree.fromstring(archive.read("xl/workbook.xml"))[0]]
        found = {}
        for number, name in enumerate(names, start=1):
            root = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))
            header, *lines = [list(map(value_of, row)) for row in root.iter(f"{MAIN}row")]
            found[str(name)] = [dict(zip(header, line, strict=True)) for line in lines]
    return found


def titles(path: Path) -> list[str]:
    """Return the titles of the chosen cells, by rank."""
    return [row["text"] for row in sheets(path)["recipe"] if row["entry"] == "cell"]


def ranks(text: str | None, chosen: list[str]) -> list[int]:
    """Return the ranks of the cells that a node's text names."""
    return [chosen.index(title) + 1 for title in (text or "").replace("⟩; ⟨", "⟩\0⟨").split("\0") if title]


def parts(path: Path) -> bytes:
    """Return all that a workbook holds, unpacked."""
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())
