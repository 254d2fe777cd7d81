"""Tables of any usual format: nodes and links, or objects, items and mentions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cube2net.errors import ParameterError, SourceError
from cube2net.interfaces import Progress
from cube2net.records import Corpus
from cube2net.sources.assemble import Part, item_corpus, network_corpus
from cube2net.sources.attributes import is_text
from cube2net.sources.columns import check_roles, guess_columns
from cube2net.sources.faults import Faults
from cube2net.sources.files import read_rows

LAYOUTS = {2: ("nodes", "links"), 3: ("objects", "items", "mentions"), 4: ("objects", "items", "mentions", "links")}
EXPECTED = "expected nodes and links, or objects, items and mentions (and links)"
CALLED = {
    "nodes": ("nodes", "node", "vertices"),
    "links": ("links", "link", "edges", "edge"),
    "objects": ("objects", "object"),
    "items": ("items", "item"),
    "mentions": ("mentions", "mention"),
}


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Reads a network from tables in CSV, TSV, JSON lines or Parquet.

    Either ``nodes`` and ``links``, and then every node is its own item; or ``objects``, ``items`` and
    ``mentions``, with ``links`` if there are any. ``columns`` says which column is what (``{"source":
    "from", "items.item": "paper"}``); what it does not say is guessed among usual spellings, and the
    guess is told to ``progress``. ``separators`` part a text column into several labels (``{"genres":
    "|"}``). A row that cannot be used is counted in ``dropped`` and the first few are told, or stop the
    reading when ``strict``; so does every id that comes twice.
    """

    nodes: str | Path | None = None
    links: str | Path | None = None
    objects: str | Path | None = None
    items: str | Path | None = None
    mentions: str | Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    separators: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        check_roles(self.columns)
        for name, separator in self.separators.items():
            if not separator:
                raise ParameterError(f"the separator of {name!r} is {separator!r}, expected a text such as '|'")
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n'):
            raise ParameterError(f"delimiter is {mark!r}, expected one character such as ';'")

    def read(self, paths: Sequence[Path] = (), *, progress: Progress | None = None) -> Corpus:
        """Return the corpus of the files; paths are told apart by their names, else by their order.

        Two paths are nodes and links; three are objects, items and mentions; a fourth is links.
        """
        faults = Faults(self.strict, progress)
        files = self._files([Path(path) for path in paths], faults)
        parts: dict[str, Part] = {}
        for number, (role, path) in enumerate(files.items()):
            if progress is not None:
                progress(f"reading {path.name}", number, len(files))
            parts[role] = self._part(role, path, faults)
        if "nodes" in parts:
            return network_corpus(parts["nodes"], parts["links"], self.separators, faults)
        links = parts.get("links")
        return item_corpus(parts["objects"], parts["items"], parts["mentions"], links, self.separators, faults)

    def _part(self, role: str, path: Path, faults: Faults) -> Part:
        rows = read_rows(path, delimiter=self.delimiter, faults=faults)
        guess = guess_columns(role, rows.table.column_names, self.columns, called=rows.name)
        columns = dict(guess.columns)
        text = columns.get("text")
        if text is not None and "text" not in guess.given and not is_text(rows.table[text].type):
            del columns["text"]
        faults.say(str(guess))
        if role != "links" and rows.table.num_rows == 0:
            raise SourceError(f"{rows.name} has a header and no rows, expected {role}")
        return rows, columns

    def _files(self, paths: list[Path], faults: Faults) -> dict[str, Path]:
        named = {role: Path(path) for role in CALLED if (path := getattr(self, role)) is not None}
        if named and paths:
            raise SourceError(f"paths are given beside {', '.join(named)}: name the files one way only")
        files = named or assign(paths)
        if set(files) not in [set(layout) for layout in LAYOUTS.values()]:
            raise SourceError(f"got {', '.join(files) or 'no files'}: {EXPECTED}")
        if not named:
            said = ", ".join(f"{role}={path.name!r}" for role, path in files.items())
            faults.say(f"files: {said} (guessed)")
        return files


def assign(paths: Sequence[Path]) -> dict[str, Path]:
    """Return which file is what: by its name where that says it, else by its place in the order.

    >>> {role: path.name for role, path in assign([Path("knows_edges.csv"), Path("people.csv")]).items()}
    {'nodes': 'people.csv', 'links': 'knows_edges.csv'}
    """
    if len(paths) not in LAYOUTS:
        raise SourceError(f"got {len(paths)} file{'s' if len(paths) != 1 else ''}: {EXPECTED}")
    layout = LAYOUTS[len(paths)]
    found: dict[str, Path] = {}
    for path in paths:
        role = _called(path, layout)
        if role is None:
            continue
        if role not in layout or role in found:
            raise SourceError(f"cannot place {path.name!r} among {len(paths)} files: {EXPECTED}")
        found[role] = path
    free = iter([path for path in paths if path not in found.values()])
    return {role: found[role] if role in found else next(free) for role in layout}


def _called(path: Path, layout: Sequence[str]) -> str | None:
    words = set(re.split(r"[^a-z]+", path.name.casefold()))
    for role, spellings in CALLED.items():
        if words & set(spellings):
            if role == "nodes" and "objects" in layout:
                return "objects"
            return "nodes" if role == "objects" and "nodes" in layout else role
    return None
