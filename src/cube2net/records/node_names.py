"""Cells and objects of a cube by whatever names them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cube2net.errors import Message, ParameterError, QueryError, RollUp, Setting, listed, quoted, some, unknown
from cube2net.records.cell_titles import BETWEEN, cell_line, cell_title
from cube2net.records.dimension import STAR, TOP, Dimension
from cube2net.records.key_rows import rows_of_keys
from cube2net.records.keys import is_row, key_of
from cube2net.spelling import other_forms

if TYPE_CHECKING:
    from cube2net.records.cube import Cube

CELL, OBJECT = "cell", "object"
SEPARATORS = (BETWEEN, BETWEEN.strip(), ", ", ",", "/", "|", ";", "\t")
"""What may stand there where somebody types one."""


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
        return cell_title(cube.cell(node.number))
    return str(cube.objects.table["name"][node.number].as_py())


def node_of(cube: Cube, given: Any) -> Node:
    """Return the cell or the object that something names.

    A cell is named by its labels, as a tuple or as a text (``"2010s · ACL · parsing"``, also within ⟨ ⟩ or behind
    ``cell:``, as exports have it; with commas, / or | between, or in another order that leaves no doubt), an object by
    its id or name, or by its row where ids are texts. What names both a cell and an object is refused, as is what
    names neither.
    """
    if isinstance(given, Node):
        return _checked(cube, given)
    if isinstance(given, tuple | list) and all(isinstance(label, str) for label in given):
        return Node(CELL, _found_cell(cube, given))
    if not isinstance(given, str):
        return object_node(cube, given)
    text = given.strip()
    known = [dimension.labels for dimension in cube.dimensions]
    lines = (labels_in(known, bare(form)) for form in [text, *other_forms(text)])
    labels = next((names for names in lines if names is not None), None)
    found = cube.objects.find([text])
    if labels is None or all(label in TOP for label in labels):
        if found.missing:
            raise _unknown(cube, text)
        return object_node(cube, text)
    if found.missing:
        return Node(CELL, _found_cell(cube, labels))
    if cube.has_cell(labels):
        raise ParameterError(
            f"{quoted(given)} is both an object and a cell: give the object by its id, or the cell by a tuple of labels"
        )
    return object_node(cube, text)


def object_node(cube: Cube, given: Any) -> Node:
    """Return the object that an id, a name or a row names, also as NumPy and Arrow have them."""
    given = key_of(given)
    if not (isinstance(given, str) or is_row(given)):
        raise QueryError(
            f"{quoted(given)} names neither a cell nor an object: give an id or a name, or the labels of a cell"
        )
    objects = cube.objects
    if isinstance(given, str) or objects.whole:
        key = given.strip() if isinstance(given, str) else str(given)
        found = objects.find([key])
        if found.ambiguous:
            ids = some(objects.bearers(key))
            raise QueryError(f"several objects are called {quoted(key)}: give the id of one, such as {ids}")
        if found.missing:
            raise QueryError(f"no object is called {quoted(given)}{_meant(cube, key)}")
        return Node(OBJECT, int(found.rows[0]))
    if not 0 <= given < len(objects):
        raise QueryError(f"no object has the row {given}: the cube has {len(objects):,} objects")
    rows, _ = rows_of_keys(objects, [given], skip_missing=False)
    return Node(OBJECT, int(rows[0]))


def bare(text: str) -> str:
    """Return the labels of a cell in one line without what marks them as such.

    >>> bare(" ⟨2019 · ACL⟩"), bare("cell:2019 · ACL")
    ('2019 · ACL', '2019 · ACL')
    """
    return text.strip().removeprefix(f"{CELL}:").removeprefix("⟨").removesuffix("⟩").strip()


def labels_in(labels: Sequence[Collection[str]], line: str) -> list[str] | None:
    """Return the labels that a line has, one or ∗ for each collection of labels, and None where it has not.

    They stand in the order of the collections, or in another one where each is in one collection only.

    >>> years, venues = ("2018", "2019"), ("ACL", "2018")
    >>> [labels_in([years, venues], line) for line in ("2019, ACL", "ACL/2019", "2018|2018")]
    [['2019', 'ACL'], ['2019', 'ACL'], ['2018', '2018']]
    >>> [labels_in([years, venues], line) for line in ("ACL · 2018", "2019")]
    [None, None]
    """
    splits = {mark: line.split(mark) for mark in SEPARATORS if mark in line} or {BETWEEN: [line]}
    if max(map(len, splits.values())) < len(labels):
        return None
    known = [{*each, *TOP} for each in labels]
    for separator, parts in splits.items():
        for names in readings(known, parts, separator):
            return names
    ordered = (_in_order(labels, [part.strip() for part in parts]) for parts in splits.values())
    return next((names for names in ordered if names is not None), None)


def _in_order(labels: Sequence[Collection[str]], parts: Sequence[str]) -> list[str] | None:
    """Return the parts of a line in the order of collections of labels, None where more or less than one has a part."""
    if len(parts) != len(labels):
        return None
    names = [STAR] * len(labels)
    for part in parts:
        if part not in TOP:
            homes = [number for number, each in enumerate(labels) if part in each]
            if len(homes) != 1 or names[homes[0]] != STAR:
                return None
            names[homes[0]] = part
    return names


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


def _found_cell(cube: Cube, labels: Sequence[str]) -> int:
    """Return the number of the cell with these labels; those of another level are said to be such."""
    elsewhere = _at_another_level(cube, labels) if len(labels) == len(cube.dimensions) else None
    if elsewhere is not None:
        raise elsewhere
    return cube.find_cell(labels)


def _unknown(cube: Cube, text: str) -> Exception:
    """Return the error for what is neither a cell nor an object: the nearest to it, or what a cell is named by."""
    line = bare(text)
    every = [_all_labels(dimension) for dimension in cube.dimensions]
    names = labels_in(every, line)
    if names is not None and (elsewhere := _at_another_level(cube, names)) is not None:
        return elsewhere
    order = listed(dimension.name for dimension in cube.dimensions)
    if line != text:
        return ParameterError(
            f"no cell is {quoted(text)}: write one label for each of {order}, with {BETWEEN.strip()} between"
        )
    for mark in SEPARATORS:
        parts = [part.strip() for part in line.split(mark)]
        if len(parts) == len(cube.dimensions) > 1:
            homes = [any(part in labels for labels in every) for part in parts]
            for dimension, label, known in zip(cube.dimensions, parts, homes, strict=True):
                if not known and label not in TOP and (any(homes) or mark in BETWEEN):
                    return unknown(f"label of {dimension.name!r}", label, dimension.labels)
            if any(homes):
                return _neither(text, order)
    if BETWEEN.strip() in text:
        return _neither(text, order)
    return QueryError(f"no object or cell is called {quoted(text)}{_meant(cube, text)}")


def _neither(text: str, order: str) -> ParameterError:
    return ParameterError(
        f"{quoted(text)} is neither an object nor a cell: a cell has a label for each of {order}, in this order"
    )


def _meant(cube: Cube, key: str) -> str:
    """Return the objects that may be meant by a name, as the end of a sentence."""
    near = cube.objects.near(key)
    return f": did you mean {quoted(near[0])}?" if near else ""


def _all_labels(dimension: Dimension) -> set[str]:
    """Return the labels of all levels of a dimension."""
    return {label for level in dimension.levels for label in level.labels}


def _at_another_level(cube: Cube, names: Sequence[str]) -> ParameterError | None:
    """Return the error for labels of which some are of other levels than the cells', None where none is."""
    levels, strange = [], []
    for dimension, name in zip(cube.dimensions, names, strict=True):
        here = not dimension.is_top and name in dimension.labels
        others = [] if here or name in TOP else [level for level in dimension.levels if name in level.labels]
        levels += [dimension.name] if here else [level.name for level in others[:1]]
        strange += [(dimension, name, others[0])] if others else []
    if not strange:
        return None
    said = ", ".join(
        f"{quoted(name)} is of {level.name!r} and cells are of {STAR if dimension.is_top else repr(dimension.name)}"
        for dimension, name, level in strange
    )
    text = f"the cell {quoted(cell_line(names))} is at another level: {said}"
    above = {dimension.levels[at].name for dimension, _, _ in strange for at in dimension.at_or_above()}
    if cube.cells.counts is not None or any(d.is_top or level.name not in above for d, _, level in strange):
        return ParameterError(f"{text}; the cube before it was rolled up may have it")
    ways: list[object] = [Setting("levels", ",".join(levels))]
    if len(strange) == 1:
        ways += [" or ", *(RollUp(dimension.name, level.name) for dimension, _, level in strange)]
    return ParameterError(text, hint=Message("such cells are there with ", *ways))


def _checked(cube: Cube, node: Node) -> Node:
    count = len(cube.cells) if node.is_cell else len(cube.objects)
    if not 0 <= node.number < count:
        raise ParameterError(f"the cube has {count:,} {node.kind}s, and {node} names another")
    return node
