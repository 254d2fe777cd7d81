"""Names of nodes (cells and objects): parse, resolve and format them, also for cells at mixed levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from operator import contains
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net._util.spelling import list_normal_forms, suggest_name
from cube2net.errors import (
    Message,
    ParameterError,
    QueryError,
    Setting,
    join_names,
    quote,
    quote_few,
    quote_unsafe,
    unknown_name,
)
from cube2net.model.dimension import STAR, TOP, Dimension, Level
from cube2net.model.query import find_rows, is_row, normalize_key

if TYPE_CHECKING:
    from cube2net.model.cube import Cube


LABEL_SEPARATOR = " · "
"""The separator of the labels of a cell in one line."""


def cell_line(labels: Iterable[str]) -> str:
    """Return the labels of a cell in one line.

    >>> cell_line(("2010s", "ACL"))
    '2010s · ACL'
    """
    return LABEL_SEPARATOR.join(labels)


def cell_title(labels: Iterable[str], format_text: Callable[[str], str] = str) -> str:
    """Return the labels of a cell between angles, each formatted by a function.

    >>> cell_title(("2010s", "ACL")), cell_title(("a\\nb", "ACL"), quote_unsafe)
    ('⟨2010s · ACL⟩', "⟨'a\\\\nb' · ACL⟩")
    """
    return f"⟨{cell_line(map(format_text, labels))}⟩"


def quote_title(labels: Iterable[str]) -> str:
    """Return the title of a cell on one line, with unsafe labels quoted."""
    return cell_title(labels, quote_unsafe)


CELL, OBJECT = "cell", "object"
ACCEPTED_SEPARATORS = (LABEL_SEPARATOR, LABEL_SEPARATOR.strip(), ", ", ",", "/", "|", ";", "\t")
"""Separators that are accepted in typed names."""


@dataclass(frozen=True, order=True)
class Node:
    """A cell or an object of a cube, by its number."""

    kind: str
    number: int

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell."""
        return self.kind == CELL


def format_title(cube: Cube, node: Node) -> str:
    """Return a cell as its labels between angles, and an object as its name.

    The labels stand as everywhere: ⟨2010s · ACL · parsing⟩.
    """
    if node.is_cell:
        return cell_title(cube.cell(node.number))
    return str(cube.objects.table["name"][node.number].as_py())


def name_objects(cube: Cube, rows: Sequence[int] | Array) -> list[tuple[str | int, str]]:
    """Return the ids and the names of some objects."""
    places = np.asarray(rows, dtype=np.int64)
    names = cube.objects.table["name"].take(pa.array(places)).to_pylist()
    return list(zip(cube.objects.ids(places).to_pylist(), names, strict=True))


def resolve_node(cube: Cube, node: Any) -> Node:
    """Return the cell or the object that a value names.

    A cell is named by its labels: a tuple, or a text with a separator between them (``"2010s · ACL · parsing"``, also
    within ⟨ ⟩ or after ``cell:``), in any unambiguous order. An object is named by its id or name, or by its
    row where ids are texts. Raises an error if nothing, or both a cell and an object, has that name.
    """
    if isinstance(node, Node):
        return _check_node(cube, node)
    if isinstance(node, tuple | list) and all(isinstance(label, str) for label in node):
        return _find_cell(cube, node)
    if not isinstance(node, str):
        return resolve_object(cube, node)
    text = node.strip()
    labels_by_dimension = [dimension.labels for dimension in cube.dimensions]
    readings = (parse_labels(labels_by_dimension, spelling) for spelling in [text, *list_normal_forms(text)])
    labels = next((names for names in readings if names is not None), None)
    is_object = not cube.objects.find([text]).missing
    if labels is None or all(label in TOP for label in labels):
        return resolve_object(cube, text) if is_object else _find_cell_of_text(cube, text)
    if not is_object:
        return _find_cell(cube, labels)
    if cube.has_cell(labels):
        raise ParameterError(
            f"{quote(node)} is both an object and a cell: give the object by its id, or the cell by a tuple of labels"
        )
    return resolve_object(cube, text)


def resolve_object(cube: Cube, key: Any) -> Node:
    """Return the object of an id, a name or a row, which may be a NumPy or Arrow scalar."""
    key = normalize_key(key)
    if not (isinstance(key, str) or is_row(key)):
        raise QueryError(
            f"{quote(key)} names neither a cell nor an object: give an id or a name, or the labels of a cell"
        )
    objects = cube.objects
    if isinstance(key, str) or objects.whole:
        text = key.strip() if isinstance(key, str) else str(key)
        lookup = objects.find([text])
        if lookup.ambiguous:
            ids = quote_few(objects.bearers(text))
            raise QueryError(f"several objects are called {quote(text)}: give the id of one, such as {ids}")
        if lookup.missing:
            raise QueryError(f"no object is called {quote(key)}{_suggest_object(cube, text)}")
        return Node(OBJECT, int(lookup.rows[0]))
    if not 0 <= key < len(objects):
        raise QueryError(f"no object has the row {key}: the cube has {len(objects):,} objects")
    rows, _ = find_rows(objects, [key], skip_missing=False)
    return Node(OBJECT, int(rows[0]))


def _strip_marks(text: str) -> str:
    return text.strip().removeprefix(f"{CELL}:").removeprefix("⟨").removesuffix("⟩").strip()


def parse_labels(labels: Sequence[Collection[str]], text: str) -> list[str] | None:
    """Return the labels in a text, one or ∗ for each collection of labels, or None if it holds no such labels.

    They are in the order of the collections, or in any order if each is in one collection only.

    >>> years, venues = ("2018", "2019"), ("ACL", "2018")
    >>> [parse_labels([years, venues], text) for text in ("2019, ACL", "ACL/2019", "2018|2018")]
    [['2019', 'ACL'], ['2019', 'ACL'], ['2018', '2018']]
    >>> [parse_labels([years, venues], text) for text in ("ACL · 2018", "2019")]
    [None, None]
    """
    line = _strip_marks(text)
    accepted = [{*collection, *TOP} for collection in labels]
    for separator in ACCEPTED_SEPARATORS:
        names = _split_labels(accepted, line, separator)
        if names is not None:
            return names
    for separator in ACCEPTED_SEPARATORS:
        parts = [part.strip() for part in line.split(separator, len(labels))]
        containing_by_part = [[part in collection for collection in labels] for part in parts if part not in TOP]
        if len(parts) == len(labels) and all(sum(containing) == 1 for containing in containing_by_part):
            positions = [containing.index(True) for containing in containing_by_part]
            part_by_position = dict(zip(positions, (part for part in parts if part not in TOP), strict=True))
            if len(part_by_position) == len(containing_by_part):
                return [part_by_position.get(position, STAR) for position in range(len(labels))]
    return None


def _split_labels(labels: Sequence[Collection[str]], line: str, separator: str) -> list[str] | None:
    """Return the labels of a line in the order of the collections; a label may contain the separator.

    >>> _split_labels([{"A"}, {"B · C", "D"}], "A · B · C", " · ")
    ['A', 'B · C']
    """
    line = line.strip()
    first, others = labels[0], labels[1:]
    if not others:
        return [line] if line in first else None
    longest = max(map(len, first), default=0)
    end = line.find(separator)
    while end >= 0 and len(name := line[:end].rstrip()) <= longest:
        other_names = _split_labels(others, line[end + len(separator) :], separator) if name in first else None
        if other_names is not None:
            return [name, *other_names]
        end = line.find(separator, end + 1)
    return None


def _find_cell(cube: Cube, labels: Sequence[str]) -> Node:
    if len(labels) == len(cube.dimensions):
        _check_levels(cube, labels)
    return Node(CELL, cube.find_cell(labels))


def _find_cell_of_text(cube: Cube, text: str) -> Node:
    """Return the cell that a text with unknown labels names, or raise an error that says what is wrong."""
    line = _strip_marks(text)
    all_labels = [{label for level in dimension.levels for label in level.labels} for dimension in cube.dimensions]
    labels = parse_labels(all_labels, line)
    if labels is not None:
        _check_levels(cube, labels)
    if line == text and LABEL_SEPARATOR.strip() not in text:
        raise QueryError(f"no object or cell is called {quote(text)}{_suggest_object(cube, text)}")
    parts = [part.strip() for part in line.split(LABEL_SEPARATOR.strip(), len(cube.dimensions))]
    if len(parts) == len(cube.dimensions):
        return Node(CELL, cube.find_cell(parts))
    dimension_names = join_names(dimension.name for dimension in cube.dimensions)
    raise ParameterError(
        f"no cell is {quote(text)}: write one label for each of {dimension_names}, "
        f"with {LABEL_SEPARATOR.strip()} between"
    )


def _suggest_object(cube: Cube, key: str) -> str:
    similar_names = cube.objects.near(key)
    return f": did you mean {quote(similar_names[0])}?" if similar_names else ""


def _check_levels(cube: Cube, labels: Sequence[str]) -> None:
    """Raise an error if a label is of another level than the cells of the cube."""
    levels, mismatches = [], []
    for dimension, label in zip(cube.dimensions, labels, strict=True):
        is_present = label in TOP or (not dimension.is_top and label in dimension.labels)
        other_levels = [] if is_present else [level.name for level in dimension.levels if label in level.labels]
        levels += other_levels[:1] or ([] if label in TOP else [dimension.name])
        if other_levels:
            own_level = STAR if dimension.is_top else repr(dimension.name)
            mismatches.append(f"{quote(label)} is of {other_levels[0]!r} and cells are of {own_level}")
    if mismatches:
        hint = Message("such cells are there with ", Setting("levels", ",".join(levels)))
        available_levels = {dimension.levels[at].name for dimension in cube.dimensions for at in list_levels(dimension)}
        title = quote(cell_line(labels))
        raise ParameterError(
            f"the cell {title} is at another level: {', '.join(mismatches)}",
            hint=hint if available_levels.issuperset(levels) else None,
        )


def _check_node(cube: Cube, node: Node) -> Node:
    count = len(cube.cells) if node.is_cell else len(cube.objects)
    if not 0 <= node.number < count:
        raise ParameterError(f"the cube has {count:,} {node.kind}s, and {node.kind} {node.number} is another")
    return node


Levels = tuple[int | None, ...]
"""The number of the level of every dimension, None for ∗."""


@dataclass(frozen=True, order=True)
class MixedCell:
    """A cell whose labels are each at some level: the number of that level, and of the label there.

    It holds the objects of all cells of the cube that its labels put together, those with too few objects included. ∗
    is the level None with the label -1.
    """

    levels: Levels
    labels: tuple[int, ...]

    @classmethod
    def top(cls, cube: Cube) -> MixedCell:
        """Return the cell that is ∗ in every dimension."""
        return cls((None,) * len(cube.dimensions), (-1,) * len(cube.dimensions))

    def names(self, cube: Cube) -> tuple[str, ...]:
        """Return the labels as :func:`cube2net.cube.pick_cells` takes them; one of two levels has its level."""
        parts = zip(cube.dimensions, self.levels, self.labels, strict=True)
        return tuple(STAR if at is None else format_label(dimension, at, label) for dimension, at, label in parts)

    def title(self, cube: Cube) -> str:
        """Return the labels between angles: ⟨201X · ACL · ∗⟩."""
        return cell_title(self.names(cube))


def format_label(dimension: Dimension, at: int, label: int) -> str:
    """Return a label of a level, followed by the level if another level has a label of that name."""
    level = dimension.levels[at]
    name = level.labels[label]
    return _format_label(
        level, name, sum(name in dimension.levels[other_level].labels for other_level in dimension.at_or_above())
    )


def format_labels(dimension: Dimension, at: int) -> tuple[str, ...]:
    """Return all labels of a level as :func:`format_label` names them."""
    level_counts = Counter(
        label for other_level in dimension.at_or_above() for label in set(dimension.levels[other_level].labels)
    )
    level = dimension.levels[at]
    return tuple(_format_label(level, name, level_counts[name]) for name in level.labels)


def _format_label(level: Level, name: str, level_count: int) -> str:
    return name if level_count == 1 and name not in TOP else f"{name} ({level.name})"


def list_levels(dimension: Dimension) -> list[int]:
    """Return the levels that a cell may have a label of: the one where the dimension stands, and those above."""
    return [] if dimension.is_top else dimension.at_or_above()


def resolve_cell(cube: Cube, cell: Any) -> MixedCell:
    """Return the cell at mixed levels that a value names.

    That is a tuple of labels, one of any level or ∗ (``"*"``, None) for every dimension; the same in one line
    (``"201X · ACL · ∗"``, also with commas, within ⟨ ⟩ or behind ``cell:``); one label that a single dimension has
    (``"ACL"``) or labels by the names of their levels (``{"venue": "ACL"}``), ∗ in all others; a cell of the cube as a
    :class:`Node`. None is the whole cube.
    """
    if cell is None:
        return MixedCell.top(cube)
    if isinstance(cell, MixedCell):
        return _check_mixed(cube, cell)
    if isinstance(cell, Node) and cell.is_cell:
        labels = cube.cells.labels[_check_node(cube, cell).number].tolist()
        parts = zip(cube.dimensions, labels, strict=True)
        return _make_cell([(None if label < 0 else dimension.at, label) for dimension, label in parts])
    if isinstance(cell, Mapping):
        return _resolve_mapping(cube, cell)
    if isinstance(cell, tuple | list) and all(label is None or isinstance(label, str | Integral) for label in cell):
        if len(cell) != len(cube.dimensions):
            raise ParameterError(f"{_describe_expected(cube)}, got {quote(tuple(cell))}")
        return _find_mixed(cube, [label if label is None else str(label) for label in cell])
    if isinstance(cell, str):
        return _resolve_text(cube, cell)
    raise ParameterError(f"{_describe_expected(cube)}, got {quote(cell)}")


def _describe_expected(cube: Cube) -> str:
    return f"a cell has a label or ∗ for each of {join_names(dimension.name for dimension in cube.dimensions)}"


def _make_cell(places: Sequence[tuple[int | None, int]]) -> MixedCell:
    return MixedCell(tuple(at for at, _ in places), tuple(label for _, label in places))


def _find_mixed(cube: Cube, labels: Sequence[str | None]) -> MixedCell:
    return _make_cell([_find_label(*pair) for pair in zip(cube.dimensions, labels, strict=True)])


def _resolve_mapping(cube: Cube, labels: Mapping[Any, Any]) -> MixedCell:
    """Return the cell of labels by the names of their levels."""
    found_labels: list[tuple[int | None, int]] = [(None, -1)] * len(cube.dimensions)
    for name, label in labels.items():
        number, at = cube.level(name)
        dimension = cube.dimensions[number]
        if label is None or (label in TOP and label not in dimension.levels[at].labels):
            continue
        if at not in list_levels(dimension):
            raise _make_top_error(dimension, label)
        if found_labels[number] != (None, -1):
            raise ParameterError(f"{quote(dict(labels))} names the dimension {dimension.name!r} twice: give one label")
        found_labels[number] = at, dimension.levels[at].number(str(label))
    return _make_cell(found_labels)


def _resolve_text(cube: Cube, text: str) -> MixedCell:
    line = _strip_marks(text)
    if line in TOP:
        return MixedCell.top(cube)
    names_by_dimension = list(map(_list_label_names, cube.dimensions))
    labels: Sequence[str | None] | None = parse_labels(names_by_dimension, line)
    has_name = [line in names for names in names_by_dimension]
    if labels is None and sum(has_name) == 1:
        labels = [line if has else None for has in has_name]
    if labels is None:
        splits = (
            [part.strip() for part in line.split(separator, len(names_by_dimension))]
            for separator in ACCEPTED_SEPARATORS[1:]
        )
        complete_splits = [parts for parts in splits if len(parts) == len(names_by_dimension)]
        labels = max(complete_splits, key=lambda parts: sum(map(contains, names_by_dimension, parts)), default=None)
    if labels is not None:
        return _find_mixed(cube, labels)
    similar_name = None if any(has_name) else suggest_name(line, sorted(set().union(*names_by_dimension) - set(TOP)))
    hint = "" if similar_name is None else f" (did you mean {quote(similar_name)}?)"
    raise ParameterError(f"{_describe_expected(cube)}, with {LABEL_SEPARATOR.strip()} between, got {quote(text)}{hint}")


def _list_label_names(dimension: Dimension) -> set[str]:
    """Return all names of the labels of a dimension, and those of ∗."""
    labels = [
        (label, dimension.levels[at].name) for at in list_levels(dimension) for label in dimension.levels[at].labels
    ]
    return {*TOP, *(label for label, _ in labels), *(f"{label} ({level})" for label, level in labels)}


def _find_label(dimension: Dimension, name: str | None) -> tuple[int | None, int]:
    """Return the level and the number of a label of a dimension; None and -1 for ∗."""
    if name is None:
        return None, -1
    levels = list_levels(dimension)
    matching_levels = [at for at in levels if name in dimension.levels[at].labels]
    if len(matching_levels) > 1:
        alternatives = " or ".join(repr(f"{name} ({dimension.levels[at].name})") for at in matching_levels)
        raise ParameterError(f"{quote(name)} is a label of several levels of {dimension.name!r}: write {alternatives}")
    if matching_levels:
        return matching_levels[0], dimension.levels[matching_levels[0]].labels.index(name)
    if name in TOP:
        return None, -1
    for at in levels:
        level = dimension.levels[at]
        label = name.removesuffix(f" ({level.name})")
        if label != name and label in level.labels:
            return at, level.labels.index(label)
    if not levels:
        raise _make_top_error(dimension, name)
    names = " or ".join(repr(dimension.levels[at].name) for at in levels)
    raise unknown_name(f"label of {names}", name, [label for at in levels for label in dimension.levels[at].labels])


def _make_top_error(dimension: Dimension, name: object) -> ParameterError:
    return ParameterError(
        f"dimension {dimension.name!r} stands at ∗, all labels together: {quote(name)} does not exist"
    )


def _check_mixed(cube: Cube, cell: MixedCell) -> MixedCell:
    """Return the cell; raise an error if the cube cannot have it."""
    is_valid = len(cell.levels) == len(cell.labels) == len(cube.dimensions) and all(
        (at is None and label == -1) or (at in list_levels(dimension) and 0 <= label < len(dimension.levels[at].labels))
        for dimension, at, label in zip(cube.dimensions, cell.levels, cell.labels, strict=True)
    )
    if not is_valid:
        raise ParameterError(f"{quote(cell)} is of another cube: {_describe_expected(cube)}")
    return cell
