"""Reading the recipe of an exported network, from a file of any format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cube2net._util.xml import SafeXml, open_workbook, read_sheet
from cube2net._util.zip_files import BROKEN, Meter, open_member, open_raw, open_zip
from cube2net.errors import Cube2netError, InputError, SourceError, first_line, quote, unknown_name
from cube2net.model.recipe import Recipe
from cube2net.network.export.registry import EXPORTS, RECIPE, find_suffix, list_files
from cube2net.network.export.xlsx import RECIPE as RECIPE_SHEET
from cube2net.network.export.xml import RECIPE_PREFIX

NPY_TEXT = re.compile(
    rb"\x93NUMPY.{4}(?:..)?\{'descr': '([<>])U([0-9]{1,9})', 'fortran_order': False, 'shape': \(\), \} *\n", re.DOTALL
)
"""Header of a ``.npy`` file with one text: its byte order and number of characters."""


def find_network_path(path: Path) -> Path:
    """Return the path that a network was written to, given that path or one of its files.

    >>> str(find_network_path(Path("net.links.csv"))), str(find_network_path(Path("net.neo4j.recipe.json")))
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
    """Return the recipe of the network at a path; raise if there is none or it cannot be read."""
    suffix = find_suffix(path)
    if suffix not in READERS:
        raise unknown_name("suffix of a network file", path.suffix, READERS)
    files = list_files(path)
    file = files.get(RECIPE) or next(iter(files.values()))
    try:
        value = READERS[suffix](file)
        recipe = value if value is None or isinstance(value, Recipe) else Recipe.from_dict(value)
    except FileNotFoundError:
        raise InputError(f"{quote(str(file))} does not exist: name the file of a network") from None
    except SourceError as error:  # names the file and the line
        raise InputError(error) from None
    except Cube2netError as error:
        raise InputError(f"{file.name}: ", error) from None
    except RecursionError:
        raise InputError(f"{quote(str(file))} cannot be read: it is nested too deeply") from None
    except (TypeError, *BROKEN) as error:
        raise InputError(f"{quote(str(file))} cannot be read: {first_line(error)}") from None
    if recipe is None:
        raise InputError(f"{quote(str(file))} holds no recipe: only networks that construct made have one")
    return recipe


def _read_json(key: str, path: Path) -> Any:
    return _get_nested(json.loads(path.read_bytes()), key, "recipe")


def _get_nested(value: Any, *keys: str) -> Any:
    """Return the value under keys of nested objects, None if one of them is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    about = (parquet.read_schema(path).metadata or {}).get(b"cube2net")
    return None if about is None else _get_nested(json.loads(about), "recipe")


def _read_npz(path: Path) -> Recipe | None:
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


def _read_graphml(path: Path) -> Recipe | None:
    keys = set[str]()

    def is_recipe(tag: str, attributes: dict[str, str]) -> bool:
        if tag == "key" and attributes.get("attr.name") == "recipe" and attributes.get("for") == "graph":
            keys.add(attributes.get("id", ""))
        return tag == "data" and attributes.get("key") in keys

    text = _element_text(path, is_recipe, before="node")
    return None if text is None else Recipe.from_json(text)


def _read_gexf(path: Path) -> Recipe | None:
    text = _element_text(path, lambda tag, attributes: tag == "description", before="graph")
    last = (text or "").rpartition("\n")[2]
    return Recipe.from_json(last.removeprefix(RECIPE_PREFIX)) if last.startswith(RECIPE_PREFIX) else None


class _TextFound(Exception):  # noqa: N818 - ends the parsing
    pass


def _element_text(path: Path, is_wanted: Callable[[str, dict[str, str]], bool], *, before: str) -> str | None:
    """Return the text of the first wanted element of an XML file, None if one named ``before`` comes first."""
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


def _read_workbook(path: Path) -> Recipe | None:
    """Return the recipe of a workbook, which another program may have saved since."""
    with open_workbook(path, Meter()) as book:
        rows = read_sheet(book, RECIPE_SHEET) if RECIPE_SHEET in book.sheets else []
    pieces = [row[1] for row in rows if len(row) > 1 and row[0] == RECIPE_SHEET]
    return Recipe.from_json("".join(pieces)) if pieces else None


def _read_recipe_file(path: Path) -> Recipe:
    return Recipe.from_json(path.read_bytes())


READERS: dict[str, Callable[[Path], Any]] = {
    ".graphml": _read_graphml,
    ".gexf": _read_gexf,
    ".xlsx": _read_workbook,
    ".csv": _read_recipe_file,
    ".parquet": _read_parquet,
    ".npz": _read_npz,
    ".json": partial(_read_json, "graph"),
    ".cyjs": partial(_read_json, "data"),
    ".vosviewer.json": partial(_read_json, "cube2net"),
    ".neo4j.csv": _read_recipe_file,
}
