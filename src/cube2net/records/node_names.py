"""Cells and objects of a cube by whatever names them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.errors import ParameterError, QueryError, quoted, unknown
from cube2net.records.dimension import TOP
from cube2net.records.key_rows import rows_of_keys
from cube2net.records.keys import is_row, key_of

if TYPE_CHECKING:
    from cube2net.records.cube import Cube

CELL, OBJECT = "cell", "object"
BETWEEN = " · "
"""What stands between the labels of a cell wherever it is written in one line."""


@dataclass(frozen=True, order=True)
class Node:
    """A cell or an object of a cube, by its number there."""

    kind: str
    number: int

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell."""
        return self.kind == CELL


def title_of(cube: Cube, node: Node) -> str:
    """Return a cell as its labels between angles, and an object as its name.

    The labels stand as everywhere: ⟨2010s · ACL · parsing⟩.
    """
    if node.is_cell:
        return f"⟨{BETWEEN.join(cube.cell(node.number))}⟩"
    return str(cube.objects.table["name"][node.number].as_py())


def node_of(cube: Cube, given: Any) -> Node:
    """Return the cell or the object that something names.

    A cell is named by its labels, as a tuple or as a text (``"2010s · ACL · parsing"``, also within ⟨ ⟩ or behind
    ``cell:``, as exports have it), an object by its id or name, or by its row where ids are texts. What names both a
    cell and an object is refused, as is what names neither.
    """
    if isinstance(given, Node):
        return _checked(cube, given)
    if isinstance(given, tuple | list) and all(isinstance(label, str) for label in given):
        return Node(CELL, cube.find_cell(given))
    if not isinstance(given, str):
        return object_node(cube, given)
    cell = _cell_of(cube, given)
    try:
        found: Node | None = object_node(cube, given)
    except QueryError as error:
        if cell is None:
            raise _unknown(cube, given, error) from None
        found = None
    if cell is not None and found is not None:
        raise ParameterError(
            f"{quoted(given)} is both an object and a cell: give the object by its id, or the cell by a tuple of labels"
        )
    return cell or found  # type: ignore[return-value]


def object_node(cube: Cube, given: Any) -> Node:
    """Return the object that an id, a name or a row names, also as NumPy and Arrow have them."""
    given = key_of(given)
    if not (isinstance(given, str) or is_row(given)):
        raise QueryError(
            f"{quoted(given)} names neither a cell nor an object: give an id or a name, or the labels of a cell"
        )
    rows, _ = rows_of_keys(cube.objects, [given], skip_missing=False)
    return Node(OBJECT, int(rows[0]))


def _cell_of(cube: Cube, text: str) -> Node | None:
    """Return the cell that a text names, None where it names none; one that is not there is an error."""
    text = text.strip()
    marked = text.startswith(f"{CELL}:") or (text.startswith("⟨") and text.endswith("⟩"))
    bare = text.removeprefix(f"{CELL}:").removeprefix("⟨").removesuffix("⟩").strip()
    known = [{*dimension.labels, *TOP} for dimension in cube.dimensions]
    for separator in (BETWEEN, ", ", ","):
        for names in readings(known, bare.split(separator), separator):
            if not all(name in TOP for name in names):
                return Node(CELL, cube.find_cell(names))
    if marked:
        raise ParameterError(
            f"no cell is {quoted(text)}: write one label for each of "
            f"{', '.join(dimension.name for dimension in cube.dimensions)}, with {BETWEEN.strip()} between"
        )
    return None


def readings(known: Sequence[Collection[str]], parts: Sequence[str], separator: str) -> Iterator[list[str]]:
    """Yield the labels that the parts of a line are when put together again, one of each collection of known ones.

    A label may hold what stands between labels.

    >>> list(readings([{"A", "A,B"}, {"C", "B,C"}], "A,B,C".split(","), ","))
    [['A', 'B,C'], ['A,B', 'C']]
    """
    if not known:
        if not parts:
            yield []
        return
    longest = max(map(len, known[0]), default=0)
    size, name = 0, ""
    while size < len(parts) - len(known) + 1 and len(name.strip()) <= longest:
        name = parts[size] if not size else name + separator + parts[size]
        size += 1
        if name.strip() in known[0]:
            for rest in readings(known[1:], parts[size:], separator):
                yield [name.strip(), *rest]


def _unknown(cube: Cube, text: str, error: QueryError) -> Exception:
    """Return the error for what is neither: of the first label that there is not, where as many labels stand there."""
    parts = [part.strip() for part in text.split(BETWEEN)]
    if len(parts) == len(cube.dimensions) > 1:
        for dimension, label in zip(cube.dimensions, parts, strict=True):
            if label not in TOP and label not in dimension.labels:
                return unknown(f"label of {dimension.name!r}", label, dimension.labels)
    if BETWEEN.strip() in text:
        names = ", ".join(dimension.name for dimension in cube.dimensions)
        return ParameterError(f"{quoted(text)} is neither an object nor a cell: a cell has a label for each of {names}")
    return error


def _checked(cube: Cube, node: Node) -> Node:
    count = len(cube.cells) if node.is_cell else len(cube.objects)
    if not 0 <= node.number < count:
        raise ParameterError(f"the cube has {count:,} {node.kind}s, and {node} names another")
    return node


def rows_of(nodes: Sequence[Node]) -> np.ndarray:
    """Return the numbers of nodes, ascending and without repeats."""
    return np.unique(np.array([node.number for node in nodes], dtype=np.int32))
