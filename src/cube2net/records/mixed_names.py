"""Cells at mixed levels, such as ⟨201X · ACL · ∗⟩: one label per dimension, each at the level it stands at or above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from cube2net.errors import ParameterError, listed, quoted, unknown
from cube2net.records.cell_titles import BETWEEN, cell_title
from cube2net.records.dimension import STAR, TOP, Dimension, Level
from cube2net.records.node_names import SEPARATORS, Node, bare, labels_in
from cube2net.spelling import nearest

if TYPE_CHECKING:
    from cube2net.records.cube import Cube

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
        return tuple(STAR if at is None else name_of(dimension, at, label) for dimension, at, label in parts)

    def title(self, cube: Cube) -> str:
        """Return the labels between angles: ⟨201X · ACL · ∗⟩."""
        return cell_title(self.names(cube))


def name_of(dimension: Dimension, at: int, label: int) -> str:
    """Return a label of a level, with the level behind it where another level has a label of that name."""
    level = dimension.levels[at]
    name = level.labels[label]
    return _named(level, name, sum(name in dimension.levels[other].labels for other in dimension.at_or_above()))


def names_at(dimension: Dimension, at: int) -> tuple[str, ...]:
    """Return all labels of a level as :func:`name_of` names them."""
    bearers = Counter(label for other in dimension.at_or_above() for label in set(dimension.levels[other].labels))
    level = dimension.levels[at]
    return tuple(_named(level, name, bearers[name]) for name in level.labels)


def _named(level: Level, name: str, bearers: int) -> str:
    return name if bearers == 1 and name not in TOP else f"{name} ({level.name})"


def levels_of(dimension: Dimension) -> list[int]:
    """Return the levels that a cell may have a label of: the one where the dimension stands, and those above."""
    return [] if dimension.is_top else dimension.at_or_above()


def mixed_cell_of(cube: Cube, given: Any) -> MixedCell:
    """Return the cell at mixed levels that something names.

    That is a tuple of labels, one of any level or ∗ (``"*"``, None) for every dimension; the same in one line
    (``"201X · ACL · ∗"``, also with commas, within ⟨ ⟩ or behind ``cell:``); one label that a single dimension has
    (``"ACL"``) or labels by the names of their levels (``{"venue": "ACL"}``), ∗ in all others; a cell of the cube as a
    :class:`Node`. None is the whole cube.
    """
    if given is None:
        return MixedCell.top(cube)
    if isinstance(given, MixedCell):
        return _checked(cube, given)
    if isinstance(given, Node) and given.is_cell:
        return _of_cell(cube, given.number)
    if isinstance(given, Mapping):
        return _of_mapping(cube, given)
    if isinstance(given, tuple | list) and all(label is None or isinstance(label, str | Integral) for label in given):
        if len(given) != len(cube.dimensions):
            raise ParameterError(f"{_expected(cube)}, got {quoted(tuple(given))}")
        names = [label if label is None else str(label) for label in given]
        return _cell([_place(*pair) for pair in zip(cube.dimensions, names, strict=True)])
    if isinstance(given, str):
        return _of_text(cube, given)
    raise ParameterError(f"{_expected(cube)}, got {quoted(given)}")


def _expected(cube: Cube) -> str:
    return f"a cell has a label or ∗ for each of {listed(dimension.name for dimension in cube.dimensions)}"


def _cell(places: Sequence[tuple[int | None, int]]) -> MixedCell:
    return MixedCell(tuple(at for at, _ in places), tuple(label for _, label in places))


def _of_cell(cube: Cube, number: int) -> MixedCell:
    """Return a cell of the cube."""
    if not 0 <= number < len(cube.cells):
        raise ParameterError(f"the cube has {len(cube.cells):,} cells, and cell {number} is another")
    labels = cube.cells.labels[number].tolist()
    parts = zip(cube.dimensions, labels, strict=True)
    return _cell([(None if label < 0 else dimension.at, label) for dimension, label in parts])


def _of_mapping(cube: Cube, given: Mapping[Any, Any]) -> MixedCell:
    """Return the cell of labels by the names of their levels."""
    places: list[tuple[int | None, int]] = [(None, -1)] * len(cube.dimensions)
    for name, label in given.items():
        number, at = cube.level(name)
        dimension = cube.dimensions[number]
        if label is None or (label in TOP and label not in dimension.levels[at].labels):
            continue
        if at not in levels_of(dimension):
            raise _stands_at_top(dimension, label)
        if places[number] != (None, -1):
            raise ParameterError(f"{quoted(dict(given))} names the dimension {dimension.name!r} twice: give one label")
        places[number] = at, dimension.levels[at].number(str(label))
    return _cell(places)


def _of_text(cube: Cube, text: str) -> MixedCell:
    line = bare(text)
    if line in TOP:
        return MixedCell.top(cube)
    known = list(map(_all_names, cube.dimensions))
    found = labels_in(known, line)
    if found is not None:
        return _cell([_place(*pair) for pair in zip(cube.dimensions, found, strict=True)])
    for separator in SEPARATORS:
        parts = line.split(separator)
        if len(parts) == len(cube.dimensions):
            return _cell([_place(*pair) for pair in zip(cube.dimensions, map(str.strip, parts), strict=True)])
    having = [number for number, names in enumerate(known) if line in names]
    if len(having) == 1:
        alone = having[0]
        return _cell([_place(each, line if i == alone else None) for i, each in enumerate(cube.dimensions)])
    near = None if having else nearest(line, sorted(set().union(*known) - set(TOP)))
    hint = "" if near is None else f" (did you mean {quoted(near)}?)"
    raise ParameterError(f"{_expected(cube)}, with {BETWEEN.strip()} between, got {quoted(text)}{hint}")


def _all_names(dimension: Dimension) -> set[str]:
    """Return all that may stand for a label of a dimension or for ∗."""
    levels = [dimension.levels[at] for at in levels_of(dimension)]
    names = {label for level in levels for label in level.labels}
    return names | {f"{label} ({level.name})" for level in levels for label in level.labels} | set(TOP)


def _place(dimension: Dimension, name: str | None) -> tuple[int | None, int]:
    """Return the level and the number of a label of a dimension; None and -1 for ∗."""
    if name is None:
        return None, -1
    levels = levels_of(dimension)
    found = [at for at in levels if name in dimension.levels[at].labels]
    if len(found) > 1:
        ways = " or ".join(repr(f"{name} ({dimension.levels[at].name})") for at in found)
        raise ParameterError(f"{quoted(name)} is a label of several levels of {dimension.name!r}: write {ways}")
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
    raise unknown(f"label of {names}", name, [label for at in levels for label in dimension.levels[at].labels])


def _stands_at_top(dimension: Dimension, name: object) -> ParameterError:
    return ParameterError(f"dimension {dimension.name!r} stands at ∗, all labels together: {quoted(name)} is not there")


def _checked(cube: Cube, cell: MixedCell) -> MixedCell:
    """Return a cell that the cube can have; one of another cube is refused."""
    fits = len(cell.levels) == len(cell.labels) == len(cube.dimensions) and all(
        (at is None and label == -1) or (at in levels_of(dimension) and 0 <= label < len(dimension.levels[at].labels))
        for dimension, at, label in zip(cube.dimensions, cell.levels, cell.labels, strict=True)
    )
    if not fits:
        raise ParameterError(f"{quoted(cell)} is of another cube: {_expected(cube)}")
    return cell
