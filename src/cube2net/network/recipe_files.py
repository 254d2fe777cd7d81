"""The recipe that an exported network carries, read from a file of any format."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from cube2net.errors import Cube2netError, InputError, first_line, quoted, unknown
from cube2net.network.export import EXPORTS, RECIPE, files_of, suffix_of
from cube2net.network.workbook_format import RECIPE as SHEET
from cube2net.network.xml_formats import RECIPE as LINE
from cube2net.records import Recipe
from cube2net.unpacking import Meter
from cube2net.workbook_parts import opened_workbook, sheet_texts


def network_path(path: Path) -> Path:
    """Return the path that a network was written at, given that or one of its files.

    >>> str(network_path(Path("net.links.csv"))), str(network_path(Path("net.neo4j.recipe.json")))
    ('net.csv', 'net.neo4j.csv')
    """
    if path.name.endswith(RECIPE):
        return path.with_name(path.name[: -len(RECIPE)] + ".csv")
    suffix = suffix_of(path)
    stem, end = path.name[: -len(suffix)], path.name[-len(suffix) :]
    for part in EXPORTS.get(suffix, {}):
        if part and stem.endswith(part) and len(stem) > len(part):
            return path.with_name(stem.removesuffix(part) + end)
    return path


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of the network at a path; raise where there is none, or none that can be read."""
    suffix = suffix_of(path)
    if suffix not in READERS:
        raise unknown("suffix of a network file", path.suffix, READERS)
    file = next(iter(files_of(path).values())) if suffix not in BESIDE else files_of(path)[RECIPE]
    try:
        found = READERS[suffix](file)
        recipe = found if isinstance(found, Recipe) else Recipe.from_dict(found) if found is not None else None
    except FileNotFoundError:
        raise InputError(f"{quoted(str(file))} does not exist: name the file of a network") from None
    except Cube2netError as error:
        raise InputError(str(error) if str(error).startswith(file.name) else f"{file.name}: {error}") from None
    except RecursionError:
        raise InputError(f"{quoted(str(file))} cannot be read: it is nested too deeply") from None
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"{quoted(str(file))} cannot be read: {first_line(error)}") from None
    if recipe is None:
        raise InputError(f"{quoted(str(file))} holds no recipe: only networks that construct made have one")
    return recipe


def _of_json(path: Path, *keys: str) -> Any:
    with path.open(encoding="utf-8") as file:
        found = json.load(file)
    for key in (*keys, "recipe"):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _of_parquet(path: Path) -> Any:
    from pyarrow import parquet

    about = (parquet.read_schema(path).metadata or {}).get(b"cube2net")
    return None if about is None else json.loads(about).get("recipe")


def _of_npz(path: Path) -> Recipe | None:
    with np.load(path) as arrays:
        return Recipe.from_json(str(arrays["recipe"])) if "recipe" in arrays.files else None


def _of_graphml(path: Path) -> Recipe | None:
    key = None
    for element in _elements(path, before="node"):
        if element.tag.endswith("}key") and element.get("attr.name") == "recipe" and element.get("for") == "graph":
            key = element.get("id")
        elif key is not None and element.tag.endswith("}data") and element.get("key") == key:
            return Recipe.from_json(element.text or "")
    return None


def _of_gexf(path: Path) -> Recipe | None:
    for element in _elements(path, before="graph"):
        if element.tag.endswith("}description"):
            last = (element.text or "").rpartition("\n")[2]
            return Recipe.from_json(last.removeprefix(LINE)) if last.startswith(LINE) else None
    return None


def _elements(path: Path, *, before: str) -> Any:
    """Give the elements of an XML file that end before the first of a name begins."""
    for event, element in ElementTree.iterparse(path, events=("start", "end")):
        if event == "end":
            yield element
        elif element.tag.endswith(f"}}{before}"):
            return


def _of_workbook(path: Path) -> Recipe | None:
    """Return the recipe of a workbook, also of one that another program has saved since."""
    with opened_workbook(path, Meter()) as book:
        found = sheet_texts(book, SHEET) if SHEET in book.sheets else []
    pieces = [row[1] for row in found if len(row) > 1 and row[0] == SHEET]
    return Recipe.from_json("".join(pieces)) if pieces else None


def _beside(path: Path) -> Recipe:
    return Recipe.from_json(path.read_bytes())


READERS: dict[str, Callable[[Path], Any]] = {
    ".graphml": _of_graphml,
    ".gexf": _of_gexf,
    ".xlsx": _of_workbook,
    ".csv": _beside,
    ".parquet": _of_parquet,
    ".npz": _of_npz,
    ".json": lambda path: _of_json(path, "graph"),
    ".cyjs": lambda path: _of_json(path, "data"),
    ".vosviewer.json": lambda path: _of_json(path, "cube2net"),
    ".neo4j.csv": _beside,
}
BESIDE = (".csv", ".neo4j.csv")
