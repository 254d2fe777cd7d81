"""The recipe of a network, everything needed to make it again, and hashes of cubes and queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.arrays import Array, reduce_by_fields
from cube2net.errors import InputError, quote

if TYPE_CHECKING:
    from cube2net.model.cube import Cube
    from cube2net.model.query import Query


def plain_value(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a value with plain dictionaries and lists in it, and all else as ``leaf`` gives it.

    >>> plain_value({"years": (2001, 2004), "by": {"name": "x"}})
    {'years': [2001, 2004], 'by': {'name': 'x'}}
    """
    if isinstance(value, Mapping):
        return {name: plain_value(part, leaf) for name, part in value.items()}
    if hasattr(value, "to_pylist"):
        return value.to_pylist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_value(part, leaf) for part in value]
    return leaf(value)


FORMAT = 1
"""The version of what a recipe says; one that says more than this knows cannot be followed."""

KINDS: dict[str, tuple[type, ...]] = {
    "cube": (dict,),
    "query": (dict,),
    "method": (dict,),
    "objective": (dict,),
    "parameters": (dict,),
    "seed": (int,),
    "made": (dict,),
    "versions": (dict,),
    "chosen_by": (str,),
    "obstacle": (str,),
}


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a network was made: the cube, the query and all options.

    Attributes
    ----------
    cube
        The ``checksum`` of the manifest (None for a cube in memory), the ``name`` of the folder, and the ``views``.
    query
        The ``ids`` and ``labels`` of the objects.
    method, objective
        The ``name`` and all ``options``.
    parameters
        The other parameters of :func:`cube2net.construct`.
    made
        The numbers of nodes and links, and a checksum of both.
    chosen_by
        ``"auto"`` if that method chose the configuration.
    obstacle
        Why the network cannot be constructed again, if so.
    """

    cube: Mapping[str, Any]
    query: Mapping[str, Any]
    method: Mapping[str, Any]
    objective: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int
    made: Mapping[str, Any]
    versions: Mapping[str, Any] = field(default_factory=dict)
    chosen_by: str = ""
    obstacle: str = ""

    __reduce__ = reduce_by_fields

    def __repr__(self) -> str:
        cube = f"cube {self.cube['checksum'][:12]}" if self.cube.get("checksum") else "a cube in memory"
        views = f" seen through {len(self.cube['views'])} views" if self.cube.get("views") else ""
        method, objective = self.method.get("name"), self.objective.get("name")
        return (
            f"Recipe({method}, {objective}, seed {self.seed}, {len(self.query['ids']):,} in the query, {cube}{views})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as values that can be written as JSON."""
        plain: dict[str, Any] = {part.name: plain_value(getattr(self, part.name)) for part in fields(self)}
        return plain

    def to_json(self) -> str:
        """Return the recipe as one line of ASCII JSON, which can be stored in every format."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Recipe:
        """Parse a recipe from JSON text."""
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"a recipe is JSON, got {quote(text, 60)}") from None
        return cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: Any) -> Recipe:
        """Return a recipe from parsed JSON."""
        if not isinstance(values, dict):
            raise InputError(f"a recipe is a JSON object, got {quote(values, 60)}")
        try:
            json.dumps(values, allow_nan=False)
        except ValueError:
            raise InputError("the recipe has a number that is not finite, which JSON does not know") from None
        versions = values.get("versions")
        number = versions.get("recipe") if isinstance(versions, dict) else None
        if isinstance(number, int) and number > FORMAT:
            raise InputError(
                f"the recipe has format {number}, and this cube2net reads {FORMAT}: install a newer cube2net"
            )
        for name, kinds in KINDS.items():
            if not isinstance(values.get(name), kinds) or isinstance(values[name], bool):
                raise InputError(f"the recipe has an odd {name}: {quote(values.get(name), 60)}")
        cube, query = values["cube"], values["query"]
        wrong = {
            "checksum of the cube": not isinstance(cube.get("checksum"), str | None),
            "name of the cube": not isinstance(cube.get("name"), str | None),
            "list of views": not _are(cube.get("views"), dict),
            "list of ids": not _are(query.get("ids"), str, int) or not query["ids"],
            "list of labels": query.get("labels") is not None
            and not (_are(query["labels"], str) and len(query["labels"]) == len(query["ids"])),
            "method": not _is_named(values["method"]),
            "objective": not _is_named(values["objective"]),
        }
        for what, is_wrong in wrong.items():
            if is_wrong:
                raise InputError(f"the recipe has an odd {what}")
        return cls(**{name: values[name] for name in KINDS})


def _is_named(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("name"), str) and isinstance(value.get("options"), dict)


def _are(values: object, *kinds: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kinds) for value in values)


def cube_fingerprint(cube: Cube) -> str:
    """Return a text that stands for all of a cube that a network can depend on."""
    levels = [level for dimension in cube.dimensions for level in dimension.levels]
    parents = [numbers for level in levels for numbers in level.above.values()]
    cells = [(cells.labels, cells.members.indptr, cells.members.indices) for cells in (cube.cells, cube.small)]
    links = (cube.links.indptr, cube.links.indices, cube.links.weights)
    limits = [] if cube.bringable is None else [cube.bringable]
    return array_fingerprint(*cells[0], *cells[1], *parents, *links, *limits)


def query_fingerprint(query: Query) -> str:
    """Return a text that stands for a query and its labels: another query has another."""
    return array_fingerprint(query.objects, np.array(query.labels or (), dtype=np.str_))


def array_fingerprint(*arrays: Array) -> str:
    """Return a text that stands for the content of some arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
