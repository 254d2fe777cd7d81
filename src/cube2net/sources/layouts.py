"""Which file is which table: told by names, by the order of paths, or found in a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cube2net.errors import SourceError, some
from cube2net.sources.files import base_name, is_table

LAYOUTS = {2: ("nodes", "links"), 3: ("objects", "items", "mentions"), 4: ("objects", "items", "mentions", "links")}
EXTRAS = ("labels", "terms")
EXPECTED = "expected nodes and links, or objects, items and mentions (and links)"
CALLED = {
    "nodes": ("nodes", "node", "vertices"),
    "links": ("links", "link", "edges", "edge"),
    "objects": ("objects", "object"),
    "items": ("items", "item"),
    "mentions": ("mentions", "mention"),
    "labels": ("labels", "label"),
    "terms": ("terms", "term"),
}
ROLE_OF = {spelling: role for role, spellings in CALLED.items() for spelling in spellings}


def is_whole(files: Mapping[str, Path]) -> bool:
    """Return whether tables make a corpus; labels and terms may come with any."""
    return any(set(files) - set(EXTRAS) == set(layout) for layout in LAYOUTS.values())


def found_in(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the tables of a folder by what they are, and the names of what else is there.

    A file is a table when its name without endings is that of one, such as ``items.csv`` or ``Edges.tsv.gz``. Names
    that only hold such a word are passed over: ``hidden-links.csv`` is to stay hidden.
    """
    found: dict[str, Path] = {}
    others = []
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        role = ROLE_OF.get(base_name(path).casefold()) if is_table(path) else None
        if role is None:
            others.append(path.name)
        elif role in found:
            raise SourceError(
                f"{str(folder)!r} holds {found[role].name!r} and {path.name!r}: expected one table of {role}, "
                "remove the other or name the files one by one"
            )
        else:
            found[role] = path
    is_network = not {"items", "mentions"} & set(found)
    was, now = ("objects", "nodes") if is_network else ("nodes", "objects")
    found = {now if role == was and now not in found else role: path for role, path in found.items()}
    if not is_whole(found):
        held = ", ".join(found) or "no table"
        rest = f"; other names are not known: {some(others)}" if others else ""
        raise SourceError(f"{str(folder)!r} holds {held}: {EXPECTED}, each called so, such as items.csv{rest}")
    return {role: found[role] for role in CALLED if role in found}, others


def assign(paths: Sequence[Path]) -> dict[str, Path]:
    """Return which file is what: by its name where that says it, else by its place in the order.

    Labels and terms are told by their names alone, where the other files then make a corpus; in a number of files that
    has a usual order, only where all others are told by their names too.

    >>> {role: path.name for role, path in assign([Path("knows_edges.csv"), Path("people.csv")]).items()}
    {'nodes': 'people.csv', 'links': 'knows_edges.csv'}
    """
    extras: dict[str, Path] = {}
    for path in paths:
        role = _called(path, ())
        if role in EXTRAS:
            if role in extras:
                raise SourceError(f"{extras[role].name!r} and {path.name!r} are both called {role}: give one of them")
            extras[role] = path
    rest = [path for path in paths if path not in extras.values()]
    by_name = len(rest) in LAYOUTS and {_called(path, LAYOUTS[len(rest)]) for path in rest} == set(LAYOUTS[len(rest)])
    if len(rest) not in LAYOUTS or (len(paths) in LAYOUTS and not by_name):
        extras, rest = {}, list(paths)
    paths = rest
    if len(paths) not in LAYOUTS:
        raise SourceError(f"got {len(paths)} file{'s' if len(paths) != 1 else ''}: {EXPECTED}")
    layout = LAYOUTS[len(paths)]
    found: dict[str, Path] = {}
    for path in paths:
        role = _called(path, layout)
        if role is None or role in EXTRAS:
            continue
        if role not in layout or role in found:
            raise SourceError(f"cannot place {path.name!r} among {len(paths)} files: {EXPECTED}")
        found[role] = path
    free = iter([path for path in paths if path not in found.values()])
    return {role: found[role] if role in found else next(free) for role in layout} | extras


def _called(path: Path, layout: Sequence[str]) -> str | None:
    words = set(re.split(r"[^a-z]+", path.name.casefold()))
    for role, spellings in CALLED.items():
        if words & set(spellings):
            if role == "nodes" and "objects" in layout:
                return "objects"
            return "nodes" if role == "objects" and "nodes" in layout else role
    return None
