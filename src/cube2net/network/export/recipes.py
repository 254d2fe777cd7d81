"""The recipe that an exported network carries, read from a file of any format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cube2net._util.xml import SafeXml, opened_workbook, sheet_texts
from cube2net._util.zip_files import BROKEN, Meter, open_member, open_raw, open_zip
from cube2net.errors import Cube2netError, InputError, SourceError, first_line, quoted, unknown
from cube2net.model.recipe import Recipe
from cube2net.network.export.registry import EXPORTS, RECIPE, find_suffix, list_files
from cube2net.network.export.xlsx import RECIPE as SHEET
from cube2net.network.export.xml import RECIPE as LINE

NPY_TEXT = re.compile(
    rb"\x93NUMPY.{4}(?:..)?\{'descr': '([<>])U([0-9]{1,9})', 'fortran_order': False, 'shape': \(\), \} *\n", re.DOTALL
)
"""The header of an array file (``.npy``) that holds one text: the order of its bytes, and its number of characters."""


def network_path(path: Path) -> Path:
    """Return the path that a network was written at, given that or one of its files.

    >>> str(network_path(Path("net.links.csv"))), str(network_path(Path("net.neo4j.recipe.json")))
    ('net.csv', 'net.neo4j.csv')
    """
    if path.name.endswith(RECIPE):
        return path.with_name(path.name[: -len(RECIPE)] + ".csv")
    suffix = find_suffix(path)
    stem, end = path.name[: -len(suffix)], path.name[-len(suffix) :]
    for part in EXPORTS.get(suffix, {}):
        if part and stem.endswith(part) and len(stem) > len(part):
            return path.with_name(stem.removesuffix(part) + end)
    return path


def read_recipe(path: Path) -> Recipe:
    """Return the recipe of the network at a path; raise where there is none, or none that can be read."""
    suffix = find_suffix(path)
    if suffix not in READERS:
        raise unknown("suffix of a network file", path.suffix, READERS)
    file = next(iter(list_files(path).values())) if suffix not in BESIDE else list_files(path)[RECIPE]
    try:
        found = READERS[suffix](file)
        recipe = found if isinstance(found, Recipe) else Recipe.from_dict(found) if found is not None else None
    except FileNotFoundError:
        raise InputError(f"{quoted(str(file))} does not exist: name the file of a network") from None
    except SourceError as error:  # of XML, which names the file and the line
        raise InputError(error) from None
    except Cube2netError as error:
        raise InputError(f"{file.name}: ", error) from None
    except RecursionError:
        raise InputError(f"{quoted(str(file))} cannot be read: it is nested too deeply") from None
    except (TypeError, *BROKEN) as error:
        raise InputError(f"{quoted(str(file))} cannot be read: {first_line(error)}") from None
    if recipe is None:
        raise InputError(f"{quoted(str(file))} holds no recipe: only networks that construct made have one")
    return recipe


def _of_json(path: Path, *keys: str) -> Any:
    with path.open(encoding="utf-8") as file:
        return _value_at(json.load(file), *keys, "recipe")


def _value_at(found: Any, *keys: str) -> Any:
    """Return the value under keys of nested objects, None where one of them is missing."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _of_parquet(path: Path) -> Any:
    from pyarrow import parquet

    about = (parquet.read_schema(path).metadata or {}).get(b"cube2net")
    return None if about is None else _value_at(json.loads(about), "recipe")


def _of_npz(path: Path) -> Recipe | None:
    gauge = Meter().gauge(path)
    with open_raw(path, gauge) as raw, open_zip(raw, gauge) as archive:
        if "recipe.npy" not in archive.namelist():
            return None
        with open_member(archive, archive.getinfo("recipe.npy"), gauge) as file:
            content = file.read()
    header = NPY_TEXT.match(content)
    if header is None or len(content) - header.end() != 4 * int(header[2]):
        raise InputError("its array 'recipe' holds no text")
    text = content[header.end() :].decode("utf-32-le" if header[1] == b"<" else "utf-32-be")
    return Recipe.from_json(text.rstrip("\0"))


def _of_graphml(path: Path) -> Recipe | None:
    keys = set[str]()

    def is_recipe(tag: str, attributes: dict[str, str]) -> bool:
        if tag == "key" and attributes.get("attr.name") == "recipe" and attributes.get("for") == "graph":
            keys.add(attributes.get("id", ""))
        return tag == "data" and attributes.get("key") in keys

    text = _element_text(path, is_recipe, before="node")
    return None if text is None else Recipe.from_json(text)


def _of_gexf(path: Path) -> Recipe | None:
    text = _element_text(path, lambda tag, attributes: tag == "description", before="graph")
    last = (text or "").rpartition("\n")[2]
    return Recipe.from_json(last.removeprefix(LINE)) if last.startswith(LINE) else None


class _TextFound(Exception):  # noqa: N818 - ends the reading, no error
    pass


def _element_text(path: Path, is_wanted: Callable[[str, dict[str, str]], bool], *, before: str) -> str | None:
    """Return the text of the first wanted element of an XML file, None where one named ``before`` comes first."""
    pieces: list[str] | None = None

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal pieces
        local = tag.rpartition(":")[2]
        if pieces is not None or local == before:
            raise _TextFound
        if is_wanted(local, attributes):
            pieces = []

    def end(tag: str) -> None:
        if pieces is not None:
            raise _TextFound

    def characters(text: str) -> None:
        if pieces is not None:
            pieces.append(text)

    xml = SafeXml(path.name, start=start, end=end, characters=characters)
    xml.expat.CharacterDataHandler = characters
    with path.open("rb") as file, suppress(_TextFound):
        xml.read(file)
    return None if pieces is None else "".join(pieces)


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
