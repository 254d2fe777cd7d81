"""Exported files of a network, its picture and its recipe."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress
from cube2net._util.text import write_rows
from cube2net.api.construct import construct
from cube2net.api.export import check_outputs, picture_text
from cube2net.api.plan import WITH_OPTIONS
from cube2net.apps.service.network_schemas import ExportRequest
from cube2net.apps.service.requests import ParsedRequest
from cube2net.errors import InputError, MissingPackageError, unknown_name
from cube2net.model.cube import get_lineage
from cube2net.model.network import Network
from cube2net.model.node_names import cell_line
from cube2net.network.export.registry import EXPORTS
from cube2net.options import OPTIONS

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService

PICTURE_FORMATS = (".png", ".svg", ".pdf")
RECIPE_FILES = ("recipe.json", "query.csv", "command.txt", "python.txt")
"""Files from which a network is reconstructed."""
MAX_INLINE_QUERY = 12
ARCHIVE_DATE = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that equal files give equal bytes."""
MEDIA_TYPES = {
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
    """An exported file: its name, media type and bytes."""

    name: str
    media_type: str
    content: bytes

    def __repr__(self) -> str:
        return f"ExportedFile({self.name}, {len(self.content):,} bytes)"


def list_formats() -> list[str]:
    """Return all formats: the endings of networks and pictures, and the files from which a network is reconstructed."""
    return [*EXPORTS, *PICTURE_FORMATS, *RECIPE_FILES]


def find_missing_formats() -> dict[str, str]:
    """Return the picture formats that cannot be written here, with the reason; SVG always can."""
    try:
        check_outputs(None, "network.png")
    except MissingPackageError as error:
        return {ending: str(error) for ending in PICTURE_FORMATS if ending != ".svg"}
    return {}


def export_file(service: CubeService, body: ExportRequest, progress: Progress) -> ExportedFile:
    """Return a file of a network; the same request gives the same bytes."""
    file_format = body["format"]
    if file_format not in list_formats():
        raise unknown_name("format", file_format, list_formats())
    request = service.parse(body["request"])
    if file_format in WRITERS:
        return ExportedFile(
            file_format, MEDIA_TYPES[Path(file_format).suffix], WRITERS[file_format](service, request).encode("utf-8")
        )
    is_simple_svg = file_format == ".svg" and bool(find_missing_formats())
    if file_format in PICTURE_FORMATS and not is_simple_svg:
        check_outputs(None, f"network{file_format}")
    network = service.network(request, progress)
    if file_format == "recipe.json":
        if network.recipe is None:
            raise InputError("the network has no recipe")
        return ExportedFile(
            file_format, MEDIA_TYPES[".json"], f"{json.dumps(network.recipe.to_dict(), indent=1)}\n".encode()
        )
    if file_format in PICTURE_FORMATS:
        progress("drawing", 0, None)
        if is_simple_svg:
            return ExportedFile("network.svg", MEDIA_TYPES[".svg"], picture_text(network).encode())
        return _write_temporary(file_format, lambda path: _write_picture(network, path))
    return _write_temporary(file_format, network.save)


def _write_picture(network: Network, path: Path) -> list[Path]:
    network.plot(path)
    return [path]


def _write_temporary(ending: str, write: Callable[[Path], list[Path]]) -> ExportedFile:
    """Return what is written to a temporary folder: one file, or an archive of several."""
    with temporary_folder() as folder:
        paths = write(folder / f"network{ending}")
        files = {path.name: path.read_bytes() for path in paths}
    if len(files) == 1:
        (name,) = files
        return ExportedFile(name, MEDIA_TYPES.get(ending, "application/octet-stream"), files[name])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, ARCHIVE_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return ExportedFile(f"network{ending}.zip", MEDIA_TYPES[".zip"], buffer.getvalue())


def write_query_csv(service: CubeService, request: ParsedRequest) -> str:
    """Return the query as CSV with the columns ``object[,label]``, which the commands read."""
    ids, labels = request.fields["query"], request.fields.get("labels")
    buffer = io.StringIO(newline="")
    rows = zip(ids, labels, strict=True) if labels else ((key,) for key in ids)
    write_rows(buffer, [("object", "label") if labels else ("object",), *rows])
    return buffer.getvalue()


def write_command(service: CubeService, request: ParsedRequest) -> str:
    """Return the shell command that constructs the network from query.csv."""
    fields = request.fields
    options = {**WITH_OPTIONS.get(fields.get("method", ""), ("", {}))[1], **request.options}
    overrides = {"method": request.method} if "method" in fields else {}
    overrides |= {"objective": request.objective} if request.objective_options else {}
    flags: list[tuple[str, Any]] = [("--query", "query.csv")]
    for name, option in OPTIONS.items():
        value = {**fields, **options, **overrides}.get(name, [])
        values = value if isinstance(value, list) else [value]
        flag, _, negative = (option.flag or f"--{name.replace('_', '-')}").partition("/")
        flags += [(negative, True) if item is False else (flag, _format_option_value(item)) for item in values]
    flags += [("--between", fields["between"])] if "between" in fields else []
    flags += [("--roll-up", f"{name}={level}") for name, level in fields.get("roll_up", {}).items()]
    flags += [("--where", f"{name}={label}") for name, labels in fields.get("where", {}).items() for label in labels]
    flags += [("--kind", kind) for kind in fields.get("kind", [])]
    settings = {**options, **request.objective_options}
    flags += [("--set", f"{name}={value}") for name, value in settings.items() if name not in OPTIONS]
    cube_folder = _get_cube_folder(service)
    parts = ["cube2net", "query", "CUBE" if cube_folder is None else str(cube_folder)]
    for flag, value in flags:
        # A value that begins with a hyphen would be read as an option.
        parts += [flag] if value is True else [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
    comment = "# CUBE is a folder: cube.save('CUBE') in Python makes it\n" if cube_folder is None else ""
    return f"{comment}{shlex.join([*parts, '--out', 'network.graphml'])}\n"


def _format_option_value(value: Any) -> Any:
    """Return a value as an argument of the command line."""
    if not isinstance(value, Mapping):
        return value
    return cell_line(value["cell"]) if "cell" in value else value["object"]


def write_python(service: CubeService, request: ParsedRequest) -> str:
    """Return Python that makes the same network; a query of more than MAX_INLINE_QUERY objects is read from query.csv.

    A cube in memory is called ``cube``.
    """
    fields = request.fields
    query = "c2n.read_query(cube, 'query.csv')"
    comment_lines = ["# keep query.csv, the file of the query, beside this script"]
    if len(fields["query"]) <= MAX_INLINE_QUERY:
        query, comment_lines = repr(fields["query"]), []
        if "labels" in fields:
            query = repr(dict(zip(fields["query"], fields["labels"], strict=True)))
    options = {name: fields[name] for name in OPTIONS if name in fields and name != "method"}
    if request.objective_options:
        objective = f"c2n.methods.OBJECTIVES[{request.objective!r}]({_format_arguments(request.objective_options)})"
        options["objective"] = _Code(objective)
    for name in options:
        if OPTIONS[name].kind == "nodes":
            options[name] = [tuple(node["cell"]) if "cell" in node else node["object"] for node in options[name]]
    cube_folder = _get_cube_folder(service)
    options |= request.options
    method_options = {name: options.pop(name) for name in list(options) if name not in OPTIONS}
    keyword_arguments = {name: options.pop(name) for name in list(options) if name in signature(construct).parameters}
    if options:
        keyword_arguments["options"] = _Code(f"c2n.NetworkOptions({_format_arguments(options)})")
    method = [repr(fields["method"])] if "method" in fields else []
    if method_options:
        name, preset = WITH_OPTIONS.get(fields.get("method", "greedy"), (fields.get("method", "greedy"), {}))
        constructor = "c2n.methods.Auto" if name == "auto" else f"c2n.methods.METHODS[{name!r}]"
        method = [f"{constructor}({_format_arguments(preset | method_options)})"]
    arguments = ["cube", query, *method, *filter(None, [_format_arguments(keyword_arguments)])]
    return "\n".join(
        [
            *comment_lines,
            "import cube2net as c2n",
            *([] if cube_folder is None else [f"cube = c2n.open({str(cube_folder)!r})"]),
            *_format_view_lines(fields),
            f"network = c2n.construct({', '.join(arguments)})",
            "",
        ]
    )


class _Code(str):
    """Python code whose ``repr`` is itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _format_arguments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _format_view_lines(fields: dict[str, Any]) -> list[str]:
    """Return the line of Python that applies the view of a request, if it has one."""
    view: dict[str, Any] = {name: fields[name] for name in ("between", "where", "kind") if name in fields}
    if "roll_up" in fields:
        view["roll_up"] = list(fields["roll_up"].items())
    return [f"cube = c2n.api.view_cube(cube, {_format_arguments(view)})"] if view else []


def _get_cube_folder(service: CubeService) -> Path | None:
    """Return the folder of the cube; None for a cube in memory."""
    origin = get_lineage(service.cube).origin
    return None if origin is None else origin.folder


WRITERS: dict[str, Callable[[CubeService, ParsedRequest], str]] = {
    "query.csv": write_query_csv,
    "command.txt": write_command,
    "python.txt": write_python,
}
