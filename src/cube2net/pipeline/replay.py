"""A network made again by its recipe, and what is not as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import __version__
from cube2net import cube as cubes
from cube2net import network as networks
from cube2net.arguments import check_call, path_of
from cube2net.atomic_files import temporary_folder
from cube2net.compiling import tells_compiling
from cube2net.errors import (
    CubeError,
    InputError,
    ParameterError,
    Placeholder,
    QueryError,
    Setting,
    listed,
    quoted,
    some,
)
from cube2net.network_options import STEERING
from cube2net.pipeline.construct import construct
from cube2net.pipeline.cubes import open_cube
from cube2net.pipeline.planning import METHODS
from cube2net.pipeline.recipes import made_of
from cube2net.progress import Telling
from cube2net.records import Cube, Network, Node, Query, Recipe
from cube2net.records.lineage import VIEW, lineage_of
from cube2net.records.node_names import CELL, OBJECT
from cube2net.select import OBJECTIVES

VIEWS: dict[str, Callable[..., Cube]] = {
    "between": cubes.between,
    "roll_up": cubes.roll_up,
    "drill_down": cubes.drill_down,
    "dice": cubes.dice,
    "slice_cube": cubes.slice_cube,
    "cuboid": cubes.cuboid,
    "of_kind": cubes.of_kind,
    "pick_cells": cubes.pick_cells,
}
"""What a recipe may have seen its cube through."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """A network made again, the recipe that made it, and in one sentence each what is not as it was."""

    network: Network
    recipe: Recipe
    differences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether everything is as it was, to the byte."""
        return not self.differences

    def __repr__(self) -> str:
        said = "the same" if self.same else f"{len(self.differences)} differences"
        return f"Replayed({said}: {self.network!r})"


@check_call
@tells_compiling
def replay(path: str | Path, cube: Cube | str | Path | None = None, *, progress: Telling = None) -> Replayed:
    """Return the network of an exported file made again by the recipe in it, and what is not as it was.

    Parameters
    ----------
    path
        Any file that :func:`write_network` wrote, or the path it was given.
    cube
        The cube, or its folder. A recipe has the name of the folder alone: without a cube, one of that name beside the
        file is taken, or one where you are.
    progress
        Told how far it is; True for a bar, None for nobody.

    Returns
    -------
    Replayed
        Its ``network``; ``differences`` are none where cube, version, network and every byte of the file are the same.

    Raises
    ------
    InputError
        The file has no recipe, the cube is not found, or the recipe cannot be followed: its method or objective is
        somebody's own.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube = c2n.build_cube(planted.corpus, out=f"{folder}/cube")
    ...     network = c2n.construct(cube, planted.query(0))
    ...     _ = c2n.write_network(network, f"{folder}/network.graphml")
    ...     c2n.replay(f"{folder}/network.graphml")
    Replayed(the same: Network(100 objects, 10 cells, 779 links, 50 in the query))
    >>> network.recipe
    Recipe(greedy, cover, seed 0, 50 in the query, cube ...)
    """
    place = networks.network_path(path_of(path, "the file of the network"))
    recipe = networks.read_recipe(place)
    asked = cube if isinstance(cube, Cube) else _found(recipe, place, cube)
    differences = _told_apart(recipe, asked)
    network = follow(recipe, asked, progress=progress)
    made = made_of(network)
    if made != recipe.made:
        differences.append(_other_network(recipe, made))
    else:
        network = replace(network, recipe=recipe)
        differences += _other_bytes(network, place)
    return Replayed(network, recipe, tuple(differences))


def follow(recipe: Recipe, cube: Cube, *, progress: Telling = None) -> Network:
    """Return the network that a recipe makes of a cube; views that made this cube already are not repeated."""

    def make(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        return construct(cube, query, method, seed=recipe.seed, progress=progress, **parameters)

    return asked_by(recipe, cube, make)


def asked_by(recipe: Recipe, cube: Cube, make: Callable[..., Network]) -> Network:
    """Return what a function makes of all that a recipe says: of cube, query and method, and of parameters by name."""
    if recipe.obstacle:
        raise InputError(f"the network cannot be made again: {recipe.obstacle}")
    seen = _seen(recipe, cube)
    for number, view in enumerate(recipe.cube["views"][seen:], seen + 1):
        given = {name: value for name, value in view.items() if name != VIEW}
        if not isinstance(view.get(VIEW), str) or view[VIEW] not in VIEWS:
            raise InputError(f"the recipe's view {number} is {quoted(view.get(VIEW))}: choose one of {listed(VIEWS)}")
        cube = _with_its_options(VIEWS[view[VIEW]], "view", cube, given)
    method = _made(recipe.method, METHODS, "method")
    objective = _made(recipe.objective, OBJECTIVES, "objective")
    query = _query(recipe, cube)

    def asked(cube: Cube, **parameters: Any) -> Network:
        return make(cube, query, method, objective=objective, **parameters)

    network: Network = _with_its_options(asked, "network", cube, {**recipe.parameters, **_steering(recipe, cube)})
    return network


def _seen(recipe: Recipe, cube: Cube) -> int:
    """Return how many of the recipe's first views are the last that a cube is seen through."""
    wanted, given = (
        [json.dumps(dict(view), sort_keys=True, default=str) for view in views]
        for views in (recipe.cube["views"], lineage_of(cube).views)
    )
    return next((many for many in range(min(len(wanted), len(given)), 0, -1) if given[-many:] == wanted[:many]), 0)


def _steering(recipe: Recipe, cube: Cube) -> dict[str, list[Any]]:
    """Return what a recipe pins, bans, likes and does not, as construct takes it: cells by labels, objects by row."""
    steering: dict[str, list[Any]] = {}
    for word in STEERING:
        given = recipe.parameters.get(word, [])
        if not isinstance(given, list) or not all(_is_node(one) for one in given):
            raise InputError(f"the recipe has odd {word}: {quoted(given, 60)}")
        keys = [str(one[OBJECT]) for one in given if OBJECT in one]
        found = cube.objects.find(keys)
        lost = [*found.missing, *found.ambiguous]
        if lost:
            raise QueryError(f"the cube does not have {len(lost):,} objects of the recipe's {word}: {some(lost)}")
        rows = iter(found.rows.tolist())
        steering[word] = [tuple(one[CELL]) if CELL in one else Node(OBJECT, next(rows)) for one in given]
    return steering


def _is_node(given: object) -> bool:
    """Return whether a recipe names a cell by its labels, or an object by its id."""
    if not isinstance(given, dict) or len(given) != 1:
        return False
    labels, key = given.get(CELL), given.get(OBJECT)
    return isinstance(key, str | int) or (isinstance(labels, list) and all(isinstance(label, str) for label in labels))


def _found(recipe: Recipe, path: Path, given: str | Path | None) -> Cube:
    if given is not None:
        return open_cube(given)
    name = recipe.cube.get("name")
    hint = Setting("cube", Placeholder("FOLDER"))
    if name is None:
        raise InputError("the network was made of a cube in memory: give the cube or its folder", hint=hint)
    for folder in (path.parent / name, Path(name)):
        if name not in ("", "..") and Path(name).name == name and folder.is_dir():
            return open_cube(folder)
    raise CubeError(f"the cube {quoted(name)} is neither beside the file nor here: give its folder", hint=hint)


def _told_apart(recipe: Recipe, cube: Cube) -> list[str]:
    """Return what is told before anything is made: another cube, another version."""
    told = []
    origin, checksum = lineage_of(cube).origin, recipe.cube.get("checksum")
    if checksum is not None and origin is not None and origin.seal != checksum:
        now = f"its checksum is {origin.seal[:12]}, it was {checksum[:12]}"
        told.append(f"the cube is another one or was changed: {now}")
    if checksum is not None and origin is None:
        told.append(f"the cube is in memory and has no checksum: it was {checksum[:12]}")
    version = recipe.versions.get("cube2net")
    if version != __version__:
        told.append(f"it was made by cube2net {version}, this is {__version__}")
    return told


def _query(recipe: Recipe, cube: Cube) -> Query:
    ids, labels = recipe.query["ids"], recipe.query.get("labels")
    found = cube.objects.find([str(key) for key in ids])
    if found.missing or found.ambiguous:
        raise QueryError(
            f"the cube does not have {len(found.missing) + len(found.ambiguous):,} objects of the recipe's query: "
            f"{some([*found.missing, *found.ambiguous])}"
        )
    order = np.argsort(found.rows, kind="stable")
    return Query(found.rows[order], None if labels is None else tuple(labels[at] for at in order), (), None)


def _made(described: Mapping[str, Any], registry: Mapping[str, Any], what: str) -> Any:
    name = described["name"]
    if name not in registry:
        raise InputError(f"the recipe has the {what} {quoted(name)}, and there are {listed(registry)}")
    return _with_its_options(registry[name], f"{what} {quoted(name)}", None, described["options"])


def _with_its_options(make: Callable[..., Any], what: str, first: Any, options: Mapping[str, Any]) -> Any:
    """Return what a function makes; options that it does not know are said."""
    try:
        return make(**options) if first is None else make(first, **options)
    except (TypeError, ParameterError) as error:
        raise InputError(f"the recipe's {what} cannot be made here: {error}") from None


def _other_network(recipe: Recipe, made: Mapping[str, Any]) -> str:
    size = f"{made['nodes']:,} nodes and {made['links']:,} links"
    before = [recipe.made.get(part) for part in ("nodes", "links")]
    was = "as many" if before == [made["nodes"], made["links"]] else f"{before[0]} nodes and {before[1]} links"
    timed = recipe.method["options"].get("seconds")
    clock = f" (the method stops after {timed} seconds, so that the clock decides)" if timed is not None else ""
    return f"the network is another one: it has {size}, it had {was}{clock}"


def _other_bytes(network: Network, path: Path) -> list[str]:
    """Return which files are not to the byte what is written now, as they are or safe for spreadsheets."""
    differences: list[str] = []
    for safe in (False, True) if networks.can_be_safe(path) else (False,):
        with temporary_folder() as folder:
            written = networks.write(network, folder / path.name, spreadsheet_safe=safe)
            told = [_other_file(path.with_name(file.name), file) for file in written]
        if not any(told):
            return []
        differences = differences or [sentence for sentence in told if sentence]
    return differences


def _other_file(old: Path, new: Path) -> str:
    try:
        one, other = old.read_bytes(), new.read_bytes()
    except FileNotFoundError:
        return f"{old.name} is missing"
    if one == other:
        return ""
    least = min(len(one), len(other))
    at = next((place for place in range(least) if one[place] != other[place]), least)
    return f"{old.name} differs from byte {at:,} on: it has {len(one):,} bytes, and {len(other):,} are written now"
