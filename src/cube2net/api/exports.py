"""Files to keep: a network in every format, a picture of it, and what makes it again."""

from __future__ import annotations

import io
import json
import shlex
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net import pipeline
from cube2net.api.ask_parameters import DEFAULTS, FURTHER, split_options
from cube2net.api.network_shapes import ExportQuestion
from cube2net.errors import InputError, unknown
from cube2net.escaping import write_rows
from cube2net.progress import Progress
from cube2net.records import Network
from cube2net.records.cell_titles import cell_line
from cube2net.records.lineage import lineage_of

if TYPE_CHECKING:
    from cube2net.api.desk import Desk

PICTURES = (".png", ".svg", ".pdf")
OWN = ("recipe.json", "query.csv", "command.txt", "python.txt")
"""What makes a network again."""
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
    return [*pipeline.EXPORTS, *PICTURES, *OWN]


def exported(desk: Desk, question: ExportQuestion, progress: Progress) -> ExportedFile:
    """Return the file that is asked for; the same question gives the same bytes."""
    wanted = question["format"]
    if wanted not in endings():
        raise unknown("format", wanted, endings())
    if wanted in ("query.csv", "command.txt", "python.txt"):
        desk.check_cube(question["ask"])
        words = desk.shortest(question["ask"])
        text = {"query.csv": query_csv, "command.txt": command_line, "python.txt": python_lines}[wanted](desk, words)
        return ExportedFile(wanted, MEDIA[Path(wanted).suffix], text.encode("utf-8"))
    if wanted in PICTURES:
        pipeline.check_outputs(None, f"network{wanted}")
    network = desk.network(question["ask"], progress)
    if wanted == "recipe.json":
        if network.recipe is None:
            raise InputError("the network has no recipe")
        return ExportedFile(wanted, MEDIA[".json"], f"{json.dumps(network.recipe.to_dict(), indent=1)}\n".encode())
    if wanted in PICTURES:
        progress("drawing", 0, None)
        return _written(wanted, lambda path: _drawn(network, path))
    return _written(wanted, lambda path: pipeline.write_network(network, path))


def _drawn(network: Network, path: Path) -> list[Path]:
    pipeline.draw_network(network, path)
    return [path]


def _written(ending: str, write: Callable[[Path], list[Path]]) -> ExportedFile:
    """Return what is written into a folder that is gone afterwards: one file, or several in an archive."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder, f"network{ending}"))
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


def query_csv(desk: Desk, words: dict[str, Any]) -> str:
    """Return the query as a table ``object[,label]``, as commands read it."""
    labels = words.get("labels")
    held = io.StringIO(newline="")
    rows = zip(words["query"], labels, strict=True) if labels else ((key,) for key in words["query"])
    write_rows(held, [("object", "label") if labels else ("object",), *rows])
    return held.getvalue()


def command_line(desk: Desk, words: dict[str, Any]) -> str:
    """Return the command that makes the same network from query.csv, quoted for a shell."""
    method, own, worth = split_options(words)
    parts: list[str] = ["cube2net", "query", _folder(desk), "--query", "query.csv"]
    if "method" in words:
        parts += ["--method", method]
    own = {**pipeline.WITH_OPTIONS.get(words.get("method", ""), ("", {}))[1], **own}
    for name, option in (("objective", "--objective"), ("form", "--form"), ("m", "-m"), ("near", "--near")):
        parts += [option, str(words[name])] if name in words else []
    if worth and "objective" not in words:
        parts += ["--objective", "cover"] if "r" in worth else []
    levels = words.get("levels", [])
    for text in [levels] if isinstance(levels, str) else levels:
        parts += ["--levels", text]
    parts += ["--max-nodes", str(words["max_nodes"])] if "max_nodes" in words else []
    parts += ["--between", words["between"]] if "between" in words else []
    for name, level in words.get("roll_up", {}).items():
        parts += ["--roll-up", f"{name}={level}"]
    for name, labels in words.get("where", {}).items():
        for label in labels:
            parts += ["--where", f"{name}={label}"]
    for kind in words.get("kind", []):
        parts += ["--kind", kind]
    for word, option in (("pins", "--pin"), ("bans", "--ban")):
        for node in words.get(word, []):
            parts += [option, cell_line(node["cell"]) if "cell" in node else str(node["object"])]
    for word in ("like", "unlike"):
        for key in words.get(word, []):
            parts += [f"--{word}", str(key)]
    for name in FURTHER:
        if name in own:
            parts += [f"--{name.replace('_', '-')}", str(own.pop(name))]
    for name, value in {**own, **worth}.items():
        parts += ["--set", f"{name}={value}"]
    parts += ["--bound"] if words.get("bound") else []
    parts += ["--seed", str(words["seed"])] if "seed" in words else []
    return f"{shlex.join([*parts, '--out', 'network.graphml'])}\n"


def python_lines(desk: Desk, words: dict[str, Any]) -> str:
    """Return the lines of Python that make the same network."""
    _, own, worth = split_options(words)
    seen = _view_lines(words)
    query = f"dict(zip({words['query']!r}, {words['labels']!r}))" if "labels" in words else repr(words["query"])
    given: dict[str, Any] = {
        name: words[name] for name in ("m", "form", "near", "levels", "max_nodes") if name in words
    }
    for word in ("pins", "bans"):
        if word in words:
            given[word] = [tuple(node["cell"]) if "cell" in node else node["object"] for node in words[word]]
    given |= {name: words[name] for name in ("like", "unlike", "bound", "seed") if name in words}
    texts = [f"{name}={value!r}" for name, value in {**given, **own}.items()]
    if worth:
        kind = pipeline.OBJECTIVES[words.get("objective", "cover")].__name__
        texts.insert(0, f"objective=c2n.{kind}({', '.join(f'{name}={value!r}' for name, value in worth.items())})")
    elif "objective" in words:
        texts.insert(0, f"objective={words['objective']!r}")
    method = [repr(words["method"])] if words.get("method", DEFAULTS["method"]) != DEFAULTS["method"] else []
    return "\n".join(
        [
            "import cube2net as c2n",
            f"cube = c2n.open_cube({_folder(desk)!r})",
            *seen,
            f"network = c2n.construct({', '.join(['cube', query, *method, *texts])})",
            "",
        ]
    )


def _view_lines(words: dict[str, Any]) -> list[str]:
    """Return the lines that make of a cube what a question looks at."""
    view: dict[str, Any] = {name: words[name] for name in ("between", "where", "kind") if name in words}
    if "roll_up" in words:
        view["roll_up"] = list(words["roll_up"].items())
    given = ", ".join(f"{name}={value!r}" for name, value in view.items())
    return [f"cube = c2n.pipeline.view_cube(cube, {given})"] if view else []


def _folder(desk: Desk) -> str:
    origin = lineage_of(desk.cube).origin
    return "CUBE" if origin is None else str(origin.folder)
