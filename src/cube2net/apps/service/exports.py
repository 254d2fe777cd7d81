"""Exported files of a network, its picture and its recipe."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress
from cube2net._util.text import write_rows
from cube2net.api.draw import draw_network, picture_text
from cube2net.api.export import check_outputs, write_network
from cube2net.api.plan import WITH_OPTIONS
from cube2net.apps.service.network_schemas import ExportRequest
from cube2net.apps.service.requests import objective_named, split_options
from cube2net.errors import InputError, MissingPackageError, unknown
from cube2net.model.cube import lineage_of
from cube2net.model.names import cell_line
from cube2net.model.network import Network
from cube2net.network.export.registry import EXPORTS
from cube2net.options import OPTIONS

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService

PICTURES = (".png", ".svg", ".pdf")
OWN = ("recipe.json", "query.csv", "command.txt", "python.txt")
"""What makes a network again."""
IN_LINE = 12
"""A query of so many objects stands in a line of Python; a longer one is read from its file."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that the same files make the same bytes."""
MEDIA = {
    ".graphml": "application/graphml+xml",
    ".gexf": "application/gexf+xml",
    ".json": "application/json",
    ".vosviewer.json": "application/json",
    ".cyjs": "application/json",
    ".zip": "application/zip",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(frozen=True)
class ExportedFile:
    """A file to keep: its name, what it is, and its bytes."""

    name: str
    media_type: str
    content: bytes

    def __repr__(self) -> str:
        return f"ExportedFile({self.name}, {len(self.content):,} bytes)"


def endings() -> list[str]:
    """Return all that a file may be asked for as: the endings of networks and pictures, and what makes one again."""
    return [*EXPORTS, *PICTURES, *OWN]


def missing_for() -> dict[str, str]:
    """Return which pictures cannot be made here, each with the reason; an SVG file can always."""
    try:
        check_outputs(None, "network.png")
    except MissingPackageError as error:
        return {ending: str(error) for ending in PICTURES if ending != ".svg"}
    return {}


def exported(service: CubeService, body: ExportRequest, progress: Progress) -> ExportedFile:
    """Return the file that is asked for; the same request gives the same bytes."""
    wanted = body["format"]
    if wanted not in endings():
        raise unknown("format", wanted, endings())
    if wanted in ("query.csv", "command.txt", "python.txt"):
        words = service.sealed_words(service.parse(body["request"]))
        text = {"query.csv": query_csv, "command.txt": command_line, "python.txt": python_lines}[wanted](service, words)
        return ExportedFile(wanted, MEDIA[Path(wanted).suffix], text.encode("utf-8"))
    light = wanted == ".svg" and bool(missing_for())
    if wanted in PICTURES and not light:
        check_outputs(None, f"network{wanted}")
    network = service.network(body["request"], progress)
    if wanted == "recipe.json":
        if network.recipe is None:
            raise InputError("the network has no recipe")
        return ExportedFile(wanted, MEDIA[".json"], f"{json.dumps(network.recipe.to_dict(), indent=1)}\n".encode())
    if wanted in PICTURES:
        progress("drawing", 0, None)
        if light:
            return ExportedFile("network.svg", MEDIA[".svg"], picture_text(network).encode())
        return _written(wanted, lambda path: _drawn(network, path))
    return _written(wanted, lambda path: write_network(network, path))


def _drawn(network: Network, path: Path) -> list[Path]:
    draw_network(network, path)
    return [path]


def _written(ending: str, write: Callable[[Path], list[Path]]) -> ExportedFile:
    """Return what is written into a folder that is gone afterwards: one file, or several in an archive."""
    with temporary_folder() as folder:
        paths = write(folder / f"network{ending}")
        files = {path.name: path.read_bytes() for path in paths}
    if len(files) == 1:
        (name,) = files
        return ExportedFile(name, MEDIA.get(ending, "application/octet-stream"), files[name])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            about = zipfile.ZipInfo(name, EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, content)
    return ExportedFile(f"network{ending}.zip", MEDIA[".zip"], held.getvalue())


def query_csv(service: CubeService, words: dict[str, Any]) -> str:
    """Return the query as a table ``object[,label]``, as commands read it."""
    labels = words.get("labels")
    held = io.StringIO(newline="")
    rows = zip(words["query"], labels, strict=True) if labels else ((key,) for key in words["query"])
    write_rows(held, [("object", "label") if labels else ("object",), *rows])
    return held.getvalue()


def command_line(service: CubeService, words: dict[str, Any]) -> str:
    """Return the command that makes the same network from query.csv, quoted for a shell."""
    method, own, worth = split_options(words)
    own = {**WITH_OPTIONS.get(words.get("method", ""), ("", {}))[1], **own}
    named = {"method": method} if "method" in words else {}
    named |= {"objective": objective_named(words, method)} if worth else {}
    given: list[tuple[str, Any]] = [("--query", "query.csv")]
    for name, option in OPTIONS.items():
        value = {**words, **own, **named}.get(name, [])
        values = value if isinstance(value, list) else [value]
        flag, _, negative = (option.flag or f"--{name.replace('_', '-')}").partition("/")
        given += [(negative, True) if each is False else (flag, _option_text(each)) for each in values]
    given += [("--between", words["between"])] if "between" in words else []
    given += [("--roll-up", f"{name}={level}") for name, level in words.get("roll_up", {}).items()]
    given += [("--where", f"{name}={label}") for name, labels in words.get("where", {}).items() for label in labels]
    given += [("--kind", kind) for kind in words.get("kind", [])]
    settings = {name: value for name, value in {**own, **worth}.items() if name not in OPTIONS}
    given += [("--set", f"{name}={value}") for name, value in settings.items()]
    folder = _folder(service)
    parts = ["cube2net", "query", "CUBE" if folder is None else str(folder)]
    for flag, value in given:
        # What begins with a hyphen would be taken for an option of its own.
        parts += [flag] if value is True else [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
    first = "# CUBE is a folder: c2n.save_cube(cube, 'CUBE') in Python makes it\n" if folder is None else ""
    return f"{first}{shlex.join([*parts, '--out', 'network.graphml'])}\n"


def _option_text(value: Any) -> Any:
    """Return a value as the command line has it."""
    if not isinstance(value, Mapping):
        return value
    return cell_line(value["cell"]) if "cell" in value else value["object"]


def python_lines(service: CubeService, words: dict[str, Any]) -> str:
    """Return the lines of Python that make the same network; a longer query is read from query.csv.

    A cube that is in memory only is the ``cube`` of whoever made it.
    """
    method, own, worth = split_options(words)
    query, above = "c2n.read_query(cube, 'query.csv')", ["# query.csv, the file of the query, is to be kept beside"]
    if len(words["query"]) <= IN_LINE:
        query, above = repr(words["query"]), []
        if "labels" in words:
            query = repr(dict(zip(words["query"], words["labels"], strict=True)))
    given = {name: words[name] for name in OPTIONS if name in words and name != "method"}
    if worth:
        named = f"c2n.OBJECTIVES[{objective_named(words, method)!r}]"
        given["objective"] = _Text(f"{named}({_arguments(worth)})")
    for name in given:
        if OPTIONS[name].kind == "nodes":
            given[name] = [tuple(node["cell"]) if "cell" in node else node["object"] for node in given[name]]
    folder = _folder(service)
    asked = ["cube", query, *([repr(words["method"])] if "method" in words else [])]
    return "\n".join(
        [
            *above,
            "import cube2net as c2n",
            *([] if folder is None else [f"cube = c2n.open_cube({str(folder)!r})"]),
            *_view_lines(words),
            f"network = c2n.construct({', '.join(filter(None, [*asked, _arguments({**given, **own})]))})",
            "",
        ]
    )


class _Text(str):
    """A piece of Python, which stands as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _arguments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _view_lines(words: dict[str, Any]) -> list[str]:
    """Return the lines that make of a cube what a request looks at."""
    view: dict[str, Any] = {name: words[name] for name in ("between", "where", "kind") if name in words}
    if "roll_up" in words:
        view["roll_up"] = list(words["roll_up"].items())
    return [f"cube = c2n.api.view_cube(cube, {_arguments(view)})"] if view else []


def _folder(service: CubeService) -> Path | None:
    """Return the folder of a cube, None where it is in memory only."""
    origin = lineage_of(service.cube).origin
    return None if origin is None else origin.folder
