"""Read queries from files and values, and resolve them in a cube."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import strip_guard
from cube2net.errors import QueryError, quote, quote_few, quote_unsafe
from cube2net.io import query_files
from cube2net.io.query_files import read_pairs_file, read_query_file, read_text
from cube2net.io.text_records import detect_format
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call, check_path, expect
from cube2net.model.query import CLUSTER, LABEL, Query, ReadNames, split_names

Asked = Any
"""A query, or whatever lists objects: names, ids, rows, a mapping to labels, a frame, a series, a file, a network."""


def check_cube(cube: Any) -> Cube:
    """Return a cube; what is none is refused."""
    return expect(Cube, cube, "cube")


def resolve_query(cube: Cube, query: Asked) -> Query:
    """Return the query of some objects of a cube; a file is read, and a query of another cube is refused.

    A string is a file if there is one, and the cube has no object of this name.
    """
    is_file = isinstance(query, str) and _is_there(query) and not Path(query).is_dir()
    if isinstance(query, Path) or (is_file and not _are_known(check_cube(cube), [query])[0]):
        return read_query(cube, query)
    asked = query if isinstance(query, Query) else check_cube(cube).query(query)
    if int(asked.objects[-1]) >= len(check_cube(cube).objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    if asked.ids is not None and not asked.ids.equals(cube.objects.ids(asked.objects)):
        there, here = (side.to_pylist() for side in (asked.ids, cube.objects.ids(asked.objects)))
        at = next(place for place, own in enumerate(there) if own != here[place])
        which = f"row {int(asked.objects[at]):,} is {quote(there[at])} there and {quote(here[at])} here"
        raise QueryError(f"the query was made for another cube: {which}")
    return asked


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the unknown and ambiguous names of a query file."""
    found = cube.objects.find(_find_known(cube, _read(cube, path)[0]))
    return [*found.missing, *found.ambiguous]


def unresolved_names(cube: Cube, path: str | Path) -> list[tuple[str, str]]:
    """Return the unknown and ambiguous names of a query file, each once, with their labels or an empty text."""
    names, labels = _read(cube, path)
    names = _find_known(cube, names)
    found = cube.objects.find(names)
    lost = {*found.missing, *found.ambiguous}
    given = zip(reversed(names), reversed(labels or [""] * len(names)), strict=True)
    first = {name: label for name, label in given if name in lost}
    return [(name, first[name]) for name in dict.fromkeys(names) if name in first]


@check_call
def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Read a query from a file or a string: one name per line, or a table ``object[,label]``.

    Parameters
    ----------
    cube
        The cube with the objects.
    path
        A table (CSV and other delimited text, Excel, Parquet, JSON lines) with a column ``object`` and optionally
        ``label``; without such a column, the one with the most matches is used. Or a text file with one id or name per
        line; empty lines and lines that begin with ``#`` are skipped. If there is no such file, the string itself is
        read as names, such as ``"Ann Ek; Bo Ott"``.
    skip_missing
        Whether to leave out unknown and ambiguous names and list them in ``Query.missing``. By default they raise an
        error.

    Returns
    -------
    Query
        For :func:`construct` and :func:`compare`.

    Raises
    ------
    QueryError
        If the file contains no names, or names that are not in the cube.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.make_planted(objects=200, communities=4).corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "query.csv")
    ...     _ = path.write_text("object,label\\no0,red\\no5,blue\\nnobody,blue\\n")
    ...     query = c2n.read_query(cube, path, skip_missing=True)
    >>> query, query.missing
    (Query(2 objects, 2 labels, 1 missing), ('nobody',))
    """
    names, labels = _read(check_cube(cube), path)
    return cube.query(_find_known(cube, names), labels, skip_missing=skip_missing)


def read_query_text(cube: Cube, text: str, column: str | None = None) -> ReadNames:
    """Read the names and labels of a query from pasted text.

    The text has one name per line, or is a table with a column of objects and optionally one of labels.
    """
    read = read_text(text, partial(_are_known, cube), column)
    return read._replace(names=_find_known(cube, read.names))


def read_query_bytes(cube: Cube, content: bytes, name: str, column: str | None = None) -> ReadNames:
    """Read the names and labels of a query from the bytes of a file.

    The file is read as by :func:`read_query`; ``column`` is the column of the names.
    """
    read = query_files.read_query_bytes(content, name, partial(_are_known, cube), column)
    return read._replace(names=_find_known(cube, read.names))


def read_clusters(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Read clusters from a table ``object,cluster``."""
    names, labels = _read(cube, path, CLUSTER)
    if labels is None:
        name = check_path(path, "the file of the clusters").name
        raise QueryError(f"{quote_unsafe(name)} has no column {CLUSTER!r}: it needs the columns object,{CLUSTER}")
    return cube.query(_find_known(cube, names), labels, skip_missing=skip_missing)


def _read(cube: Cube, path: str | Path, first: str = LABEL) -> tuple[list[str], list[str] | None]:
    """Return the names and labels of a query file, whose column of objects is the one that the cube knows best.

    Where there is no such file, and it is not called as one, these are the names in the text.
    """
    path, are_known = check_path(path, "the file of the query"), partial(_are_known, cube)
    if first == LABEL and detect_format(path) is None and not _is_there(path):
        return split_names([str(path)], are_known), None
    return read_query_file(path, are_known, first)


def _is_there(path: str | Path) -> bool:
    """Return whether there is such a file; many names in one text are too long for a path."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def _are_known(cube: Cube, names: Sequence[str]) -> list[bool]:
    """Return of every name whether the cube has an object that bears it, or several."""
    some = _find_known(cube, list(names))
    missing = set(cube.objects.find(some).missing) if some else set()
    return [name not in missing for name in some]


def _find_known(cube: Cube, names: list[str]) -> list[str]:
    """Return names of a file as the cube has them: where a spreadsheet's guard is in front of one, maybe without."""
    bare = {name: strip_guard(name) for name in names if strip_guard(name) != name}
    unknown = set(cube.objects.find(list(bare)).missing) if bare else set()
    return [bare[name] if name in unknown else name for name in names]


def read_links(cube: Cube, path: str | Path) -> tuple[Array, Array]:
    """Read links from a table with the columns ``source`` and ``target``, as rows of the objects."""
    pairs = read_pairs_file(check_path(path, "the file of the links"))
    found = cube.objects.find(_find_known(cube, [name for pair in pairs for name in pair]))
    lost = [*found.missing, *found.ambiguous]
    if lost:
        raise QueryError(f"{Path(path).name} names {len(lost):,} objects that are not in the cube: {quote_few(lost)}")
    rows = found.rows.reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


LOOKED_AT = 300
"""So many of the objects with most links are looked at."""


def example_objects(cube: Cube, most: int = 3) -> list[int]:
    """Return the rows of a few objects of one cell, if possible linked to the first of them.

    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.make_planted(objects=60, communities=3, links=4.0, seed=0).corpus)
    >>> first, *others = example_objects(cube)
    >>> all(other in cube.links.neighbours(first) for other in others)
    True
    """
    known = cube.links.degrees if cube.links.count else cube.object_cells.sizes
    best: list[int] = []
    in_cells = np.flatnonzero(cube.object_cells.sizes > 0)
    for row in in_cells[np.argsort(-known[in_cells], kind="stable")][:LOOKED_AT].tolist():
        linked = cube.links.neighbours(row)
        for cell in cube.object_cells[row].tolist():
            members = cube.cells.members[cell]
            beside = np.intersect1d(members, linked) if cube.links.count else members
            beside = beside[beside != row]
            if len(beside) + 1 > len(best):
                best = [row, *beside[np.argsort(-known[beside], kind="stable")].tolist()][:most]
        if len(best) >= most:
            break
    return best
