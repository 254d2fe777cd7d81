"""Names of nodes (cells and objects): parse, resolve and format them, also for cells at mixed levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from operator import contains
from typing import TYPE_CHECKING, Any

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


BETWEEN = " · "
"""The separator of the labels of a cell in one line."""


def cell_line(labels: Iterable[str]) -> str:
    """Return the labels of a cell in one line.

    >>> cell_line(("2010s", "ACL"))
    '2010s · ACL'
    """
    return BETWEEN.join(labels)


def cell_title(labels: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return the labels of a cell between angles, each as a function shows it.

    >>> cell_title(("2010s", "ACL")), cell_title(("a\\nb", "ACL"), quote_unsafe)
    ('⟨2010s · ACL⟩', "⟨'a\\\\nb' · ACL⟩")
    """
    return f"⟨{cell_line(map(shown, labels))}⟩"


def quote_title(labels: Iterable[str]) -> str:
    """Return the title of a cell on one line, with unsafe labels quoted."""
    return cell_title(labels, quote_unsafe)


CELL, OBJECT = "cell", "object"
SEPARATORS = (BETWEEN, BETWEEN.strip(), ", ", ",", "/", "|", ";", "\t")
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


def resolve_node(cube: Cube, given: Any) -> Node:
    """Return the cell or the object that a value names.

    A cell is named by its labels: a tuple, or a text with a separator between them (``"2010s · ACL · parsing"``, also
    within ⟨ ⟩ or after ``cell:``), in any order that leaves no doubt. An object is named by its id or name, or by its
    row where ids are texts. Raises an error if nothing, or both a cell and an object, has that name.
    """
    if isinstance(given, Node):
        return _check_node(cube, given)
    if isinstance(given, tuple | list) and all(isinstance(label, str) for label in given):
        return _find_cell(cube, given)
    if not isinstance(given, str):
        return resolve_object(cube, given)
    text = given.strip()
    known = [dimension.labels for dimension in cube.dimensions]
    lines = (parse_labels(known, form) for form in [text, *list_normal_forms(text)])
    labels = next((names for names in lines if names is not None), None)
    is_object = not cube.objects.find([text]).missing
    if labels is None or all(label in TOP for label in labels):
        return resolve_object(cube, text) if is_object else _find_cell_of_text(cube, text)
    if not is_object:
        return _find_cell(cube, labels)
    if cube.has_cell(labels):
        raise ParameterError(
            f"{quote(given)} is both an object and a cell: give the object by its id, or the cell by a tuple of labels"
        )
    return resolve_object(cube, text)


def resolve_object(cube: Cube, given: Any) -> Node:
    """Return the object that an id, a name or a row names, also as NumPy and Arrow have them."""
    given = normalize_key(given)
    if not (isinstance(given, str) or is_row(given)):
        raise QueryError(
            f"{quote(given)} names neither a cell nor an object: give an id or a name, or the labels of a cell"
        )
    objects = cube.objects
    if isinstance(given, str) or objects.whole:
        key = given.strip() if isinstance(given, str) else str(given)
        found = objects.find([key])
        if found.ambiguous:
            ids = quote_few(objects.bearers(key))
            raise QueryError(f"several objects are called {quote(key)}: give the id of one, such as {ids}")
        if found.missing:
            raise QueryError(f"no object is called {quote(given)}{_suggest_object(cube, key)}")
        return Node(OBJECT, int(found.rows[0]))
    if not 0 <= given < len(objects):
        raise QueryError(f"no object has the row {given}: the cube has {len(objects):,} objects")
    rows, _ = find_rows(objects, [given], skip_missing=False)
    return Node(OBJECT, int(rows[0]))


def _strip_marks(text: str) -> str:
    return text.strip().removeprefix(f"{CELL}:").removeprefix("⟨").removesuffix("⟩").strip()


def parse_labels(labels: Sequence[Collection[str]], text: str) -> list[str] | None:
    """Return the labels in a text, one or ∗ for each collection of labels; None if it does not have them.

    They stand in the order of the collections, or in another one if each is in one collection only.

    >>> years, venues = ("2018", "2019"), ("ACL", "2018")
    >>> [parse_labels([years, venues], text) for text in ("2019, ACL", "ACL/2019", "2018|2018")]
    [['2019', 'ACL'], ['2019', 'ACL'], ['2018', '2018']]
    >>> [parse_labels([years, venues], text) for text in ("ACL · 2018", "2019")]
    [None, None]
    """
    line = _strip_marks(text)
    known = [{*each, *TOP} for each in labels]
    for separator in SEPARATORS:
        names = _split_labels(known, line, separator)
        if names is not None:
            return names
    for separator in SEPARATORS:
        parts = [part.strip() for part in line.split(separator, len(labels))]
        places = [[part in each for each in labels] for part in parts if part not in TOP]
        if len(parts) == len(labels) and all(sum(place) == 1 for place in places):
            numbers = [place.index(True) for place in places]
            by_number = dict(zip(numbers, (part for part in parts if part not in TOP), strict=True))
            if len(by_number) == len(places):
                return [by_number.get(number, STAR) for number in range(len(labels))]
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
        rest = _split_labels(others, line[end + len(separator) :], separator) if name in first else None
        if rest is not None:
            return [name, *rest]
        end = line.find(separator, end + 1)
    return None


def _find_cell(cube: Cube, labels: Sequence[str]) -> Node:
    if len(labels) == len(cube.dimensions):
        _check_levels(cube, labels)
    return Node(CELL, cube.find_cell(labels))


def _find_cell_of_text(cube: Cube, text: str) -> Node:
    """Return the cell that a text with unknown labels names, or raise the most helpful error."""
    line = _strip_marks(text)
    known = [{label for level in dimension.levels for label in level.labels} for dimension in cube.dimensions]
    labels = parse_labels(known, line)
    if labels is not None:
        _check_levels(cube, labels)
    if line == text and BETWEEN.strip() not in text:
        raise QueryError(f"no object or cell is called {quote(text)}{_suggest_object(cube, text)}")
    parts = [part.strip() for part in line.split(BETWEEN.strip(), len(cube.dimensions))]
    if len(parts) == len(cube.dimensions):
        return Node(CELL, cube.find_cell(parts))
    order = join_names(dimension.name for dimension in cube.dimensions)
    raise ParameterError(
        f"no cell is {quote(text)}: write one label for each of {order}, with {BETWEEN.strip()} between"
    )


def _suggest_object(cube: Cube, key: str) -> str:
    near = cube.objects.near(key)
    return f": did you mean {quote(near[0])}?" if near else ""


def _check_levels(cube: Cube, labels: Sequence[str]) -> None:
    """Raise an error if a label is of another level than the cells of the cube."""
    levels, faults = [], []
    for dimension, label in zip(cube.dimensions, labels, strict=True):
        here = label in TOP or (not dimension.is_top and label in dimension.labels)
        others = [] if here else [level.name for level in dimension.levels if label in level.labels]
        levels += others[:1] or ([] if label in TOP else [dimension.name])
        if others:
            own = STAR if dimension.is_top else repr(dimension.name)
            faults.append(f"{quote(label)} is of {others[0]!r} and cells are of {own}")
    if faults:
        hint = Message("such cells are there with ", Setting("levels", ",".join(levels)))
        above = {dimension.levels[at].name for dimension in cube.dimensions for at in list_levels(dimension)}
        title = quote(cell_line(labels))
        raise ParameterError(
            f"the cell {title} is at another level: {', '.join(faults)}",
            hint=hint if above.issuperset(levels) else None,
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
    """Return a label of a level, with the level behind it where another level has a label of that name."""
    level = dimension.levels[at]
    name = level.labels[label]
    return _format_label(level, name, sum(name in dimension.levels[other].labels for other in dimension.at_or_above()))


def format_labels(dimension: Dimension, at: int) -> tuple[str, ...]:
    """Return all labels of a level as :func:`format_label` names them."""
    bearers = Counter(label for other in dimension.at_or_above() for label in set(dimension.levels[other].labels))
    level = dimension.levels[at]
    return tuple(_format_label(level, name, bearers[name]) for name in level.labels)


def _format_label(level: Level, name: str, bearers: int) -> str:
    return name if bearers == 1 and name not in TOP else f"{name} ({level.name})"


def list_levels(dimension: Dimension) -> list[int]:
    """Return the levels that a cell may have a label of: the one where the dimension stands, and those above."""
    return [] if dimension.is_top else dimension.at_or_above()


def resolve_cell(cube: Cube, given: Any) -> MixedCell:
    """Return the cell at mixed levels that a value names.

    That is a tuple of labels, one of any level or ∗ (``"*"``, None) for every dimension; the same in one line
    (``"201X · ACL · ∗"``, also with commas, within ⟨ ⟩ or behind ``cell:``); one label that a single dimension has
    (``"ACL"``) or labels by the names of their levels (``{"venue": "ACL"}``), ∗ in all others; a cell of the cube as a
    :class:`Node`. None is the whole cube.
    """
    if given is None:
        return MixedCell.top(cube)
    if isinstance(given, MixedCell):
        return _check_mixed(cube, given)
    if isinstance(given, Node) and given.is_cell:
        labels = cube.cells.labels[_check_node(cube, given).number].tolist()
        parts = zip(cube.dimensions, labels, strict=True)
        return _make_cell([(None if label < 0 else dimension.at, label) for dimension, label in parts])
    if isinstance(given, Mapping):
        return _resolve_mapping(cube, given)
    if isinstance(given, tuple | list) and all(label is None or isinstance(label, str | Integral) for label in given):
        if len(given) != len(cube.dimensions):
            raise ParameterError(f"{_describe_expected(cube)}, got {quote(tuple(given))}")
        return _find_mixed(cube, [label if label is None else str(label) for label in given])
    if isinstance(given, str):
        return _resolve_text(cube, given)
    raise ParameterError(f"{_describe_expected(cube)}, got {quote(given)}")


def _describe_expected(cube: Cube) -> str:
    return f"a cell has a label or ∗ for each of {join_names(dimension.name for dimension in cube.dimensions)}"


def _make_cell(places: Sequence[tuple[int | None, int]]) -> MixedCell:
    return MixedCell(tuple(at for at, _ in places), tuple(label for _, label in places))


def _find_mixed(cube: Cube, labels: Sequence[str | None]) -> MixedCell:
    return _make_cell([_find_label(*pair) for pair in zip(cube.dimensions, labels, strict=True)])


def _resolve_mapping(cube: Cube, given: Mapping[Any, Any]) -> MixedCell:
    """Return the cell of labels by the names of their levels."""
    places: list[tuple[int | None, int]] = [(None, -1)] * len(cube.dimensions)
    for name, label in given.items():
        number, at = cube.level(name)
        dimension = cube.dimensions[number]
        if label is None or (label in TOP and label not in dimension.levels[at].labels):
            continue
        if at not in list_levels(dimension):
            raise _stands_at_top(dimension, label)
        if places[number] != (None, -1):
            raise ParameterError(f"{quote(dict(given))} names the dimension {dimension.name!r} twice: give one label")
        places[number] = at, dimension.levels[at].number(str(label))
    return _make_cell(places)


def _resolve_text(cube: Cube, text: str) -> MixedCell:
    line = _strip_marks(text)
    if line in TOP:
        return MixedCell.top(cube)
    known = list(map(_all_names, cube.dimensions))
    labels: Sequence[str | None] | None = parse_labels(known, line)
    having = [line in names for names in known]
    if labels is None and sum(having) == 1:
        labels = [line if has else None for has in having]
    if labels is None:
        splits = ([part.strip() for part in line.split(separator, len(known))] for separator in SEPARATORS[1:])
        fitting = [parts for parts in splits if len(parts) == len(known)]
        labels = max(fitting, key=lambda parts: sum(map(contains, known, parts)), default=None)
    if labels is not None:
        return _find_mixed(cube, labels)
    near = None if any(having) else suggest_name(line, sorted(set().union(*known) - set(TOP)))
    hint = "" if near is None else f" (did you mean {quote(near)}?)"
    raise ParameterError(f"{_describe_expected(cube)}, with {BETWEEN.strip()} between, got {quote(text)}{hint}")


def _all_names(dimension: Dimension) -> set[str]:
    """Return all that may stand for a label of a dimension or for ∗."""
    labels = [
        (label, dimension.levels[at].name) for at in list_levels(dimension) for label in dimension.levels[at].labels
    ]
    return {*TOP, *(label for label, _ in labels), *(f"{label} ({level})" for label, level in labels)}


def _find_label(dimension: Dimension, name: str | None) -> tuple[int | None, int]:
    """Return the level and the number of a label of a dimension; None and -1 for ∗."""
    if name is None:
        return None, -1
    levels = list_levels(dimension)
    found = [at for at in levels if name in dimension.levels[at].labels]
    if len(found) > 1:
        ways = " or ".join(repr(f"{name} ({dimension.levels[at].name})") for at in found)
        raise ParameterError(f"{quote(name)} is a label of several levels of {dimension.name!r}: write {ways}")
    if found:
        return found[0], dimension.levels[found[0]].labels.index(name)
    if name in TOP:
        return None, -1
    for at in levels:
        level = dimension.levels[at]
        label = name.removesuffix(f" ({level.name})")
        if label != name and label in level.labels:
            return at, level.labels.index(label)
    if not levels:
        raise _stands_at_top(dimension, name)
    names = " or ".join(repr(dimension.levels[at].name) for at in levels)
    raise unknown_name(f"label of {names}", name, [label for at in levels for label in dimension.levels[at].labels])


def _stands_at_top(dimension: Dimension, name: object) -> ParameterError:
    return ParameterError(
        f"dimension {dimension.name!r} stands at ∗, all labels together: {quote(name)} does not exist"
    )


def _check_mixed(cube: Cube, cell: MixedCell) -> MixedCell:
    """Return a cell that the cube can have; one of another cube is refused."""
    fits = len(cell.levels) == len(cell.labels) == len(cube.dimensions) and all(
        (at is None and label == -1) or (at in list_levels(dimension) and 0 <= label < len(dimension.levels[at].labels))
        for dimension, at, label in zip(cube.dimensions, cell.levels, cell.labels, strict=True)
    )
    if not fits:
        raise ParameterError(f"{quote(cell)} is of another cube: {_describe_expected(cube)}")
    return cell
