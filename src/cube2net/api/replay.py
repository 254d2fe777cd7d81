"""Make a network again by its recipe, and report differences."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import __version__
from cube2net._util.arrays import Array
from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress, ProgressOption, report_compiling
from cube2net.api import cubes
from cube2net.api.construct import build_network, construct_by_name, known_choice
from cube2net.api.plan import METHODS, describe_network, plan_network
from cube2net.cube.cuboids import cuboid, pick_cells
from cube2net.cube.views import dice, drill_down, of_kind, roll_up, slice_cube
from cube2net.cube.window import between
from cube2net.errors import (
    CubeError,
    InputError,
    ParameterError,
    Placeholder,
    QueryError,
    Setting,
    join_names,
    quote,
    quote_few,
)
from cube2net.model.cube import VIEW, Cube, get_lineage
from cube2net.model.interfaces import check_call, check_path, expect
from cube2net.model.network import Network
from cube2net.model.node_names import CELL, OBJECT, Node
from cube2net.model.query import Query
from cube2net.model.recipe import Recipe, plain_value
from cube2net.model.selection import Selection
from cube2net.network.export.recipes import find_network_path, read_recipe
from cube2net.network.export.registry import can_be_safe, export_network
from cube2net.options import STEERING, NetworkOptions
from cube2net.selection.objectives import OBJECTIVES

VIEWS: dict[str, Callable[..., Cube]] = {
    "between": between,
    "roll_up": roll_up,
    "drill_down": drill_down,
    "dice": dice,
    "slice_cube": slice_cube,
    "cuboid": cuboid,
    "of_kind": of_kind,
    "pick_cells": pick_cells,
}
"""The views that a recipe may contain."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """A network constructed again, its recipe, and one sentence per difference."""

    network: Network
    recipe: Recipe
    differences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether there are no differences."""
        return not self.differences

    def __repr__(self) -> str:
        said = "the same" if self.same else f"{len(self.differences)} differences"
        return f"Replayed({said}: {self.network!r})"


@check_call
@report_compiling
def replay(path: str | Path, cube: Cube | str | Path | None = None, *, progress: ProgressOption = None) -> Replayed:
    """Construct the network of an exported file again from its recipe, and list what differs.

    Parameters
    ----------
    path
        Any file that :meth:`Network.save` wrote, or the path it was called with.
    cube
        The cube or its folder. By default a cube with the name in the recipe is searched beside the file and in the
        current folder.
    progress
        A function that receives the progress; True for a bar.

    Returns
    -------
    Replayed
        The ``network``, and its ``differences`` in cube, version, network and bytes of the file; none if all are equal.

    Raises
    ------
    InputError
        If the file has no recipe, the cube is not found, or the method or objective is not part of cube2net.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube = c2n.build(planted.corpus, out=f"{folder}/cube")
    ...     network = c2n.construct(cube, planted.query(0))
    ...     _ = network.save(f"{folder}/network.graphml")
    ...     c2n.replay(f"{folder}/network.graphml")
    Replayed(the same: Network(100 objects, 10 cells, 779 links, 50 in the query))
    >>> network.recipe
    Recipe(greedy, cover, seed 0, 50 in the query, cube ...)
    """
    place = find_network_path(check_path(path, "the file of the network"))
    recipe = read_recipe(place)
    opened = cube if isinstance(cube, Cube) else _find_cube(recipe, place, cube)
    differences = _list_early_differences(recipe, opened)
    network = follow(recipe, opened, progress=progress)
    made = describe_network(network)
    if made != recipe.made:
        differences.append(_describe_other_network(recipe, made))
    else:
        network = replace(network, recipe=recipe)
        differences += _compare_files(network, place)
    return Replayed(network, recipe, tuple(differences))


def follow(recipe: Recipe, cube: Cube, *, progress: ProgressOption = None) -> Network:
    """Return the network that a recipe makes of a cube; views that made this cube already are not repeated."""

    def make(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        return construct_by_name(cube, query, method, seed=recipe.seed, progress=progress, **parameters)

    return apply_recipe(recipe, cube, make)


def apply_recipe(recipe: Recipe, cube: Cube, make: Callable[..., Network]) -> Network:
    """Return ``make(cube, query, method, **parameters)`` for the cube, query, method and parameters of a recipe."""
    if recipe.obstacle:
        raise InputError(f"the network cannot be made again: {recipe.obstacle}")
    seen = _count_shared_views(recipe, cube)
    for number, view in enumerate(recipe.cube["views"][seen:], seen + 1):
        given = {name: value for name, value in view.items() if name != VIEW}
        if not isinstance(view.get(VIEW), str) or view[VIEW] not in VIEWS:
            raise InputError(
                f"the recipe's view {number} is {quote(view.get(VIEW))}: choose one of {join_names(VIEWS)}"
            )
        cube = _call(VIEWS[view[VIEW]], "view", given, cube)
    method = _make_part(recipe.method, METHODS, "method")
    objective = _make_part(recipe.objective, OBJECTIVES, "objective")
    query = _read_query(recipe, cube)

    parameters = {**recipe.parameters, **_read_steering(recipe, cube), "objective": objective}
    network: Network = _call(make, "network", parameters, cube, query, method)
    return network


def _count_shared_views(recipe: Recipe, cube: Cube) -> int:
    """Return how many of the recipe's first views are the last views of a cube."""
    wanted, given = (
        [json.dumps(dict(view), sort_keys=True, default=str) for view in views]
        for views in (recipe.cube["views"], get_lineage(cube).views)
    )
    return next((many for many in range(min(len(wanted), len(given)), 0, -1) if given[-many:] == wanted[:many]), 0)


def _read_steering(recipe: Recipe, cube: Cube) -> dict[str, list[Any]]:
    """Return the pins, bans and preferences of a recipe as arguments of construct: cells by labels, objects by row."""
    steering: dict[str, list[Any]] = {}
    for word in STEERING:
        given = recipe.parameters.get(word, [])
        if not isinstance(given, list) or not all(_is_node(one) for one in given):
            raise InputError(f"the recipe has odd {word}: {quote(given, 60)}")
        keys = [str(one[OBJECT]) for one in given if OBJECT in one]
        found = cube.objects.find(keys)
        lost = [*found.missing, *found.ambiguous]
        if lost:
            raise QueryError(f"the cube does not have {len(lost):,} objects of the recipe's {word}: {quote_few(lost)}")
        rows = iter(found.rows.tolist())
        steering[word] = [tuple(one[CELL]) if CELL in one else Node(OBJECT, next(rows)) for one in given]
    return steering


def _is_node(given: object) -> bool:
    """Return whether a recipe names a cell by its labels, or an object by its id."""
    if not isinstance(given, dict) or len(given) != 1:
        return False
    labels, key = given.get(CELL), given.get(OBJECT)
    return isinstance(key, str | int) or (isinstance(labels, list) and all(isinstance(label, str) for label in labels))


def _find_cube(recipe: Recipe, path: Path, given: str | Path | None) -> Cube:
    if given is not None:
        return cubes.open(given)
    name = recipe.cube.get("name")
    hint = Setting("cube", Placeholder("FOLDER"))
    if name is None:
        raise InputError("the network was made of a cube in memory: give the cube or its folder", hint=hint)
    for folder in (path.parent / name, Path(name)):
        if name not in ("", "..") and Path(name).name == name and folder.is_dir():
            return cubes.open(folder)
    raise CubeError(f"the cube {quote(name)} is neither beside the file nor here: give its folder", hint=hint)


def _list_early_differences(recipe: Recipe, cube: Cube) -> list[str]:
    """Return the differences that are clear before the network is made: another cube, another version."""
    differences = []
    origin, checksum = get_lineage(cube).origin, recipe.cube.get("checksum")
    if checksum is not None and origin is not None and origin.seal != checksum:
        now = f"its checksum is {origin.seal[:12]}, it was {checksum[:12]}"
        differences.append(f"the cube is another one or was changed: {now}")
    if checksum is not None and origin is None:
        differences.append(f"the cube is in memory and has no checksum: it was {checksum[:12]}")
    version = recipe.versions.get("cube2net")
    if version != __version__:
        differences.append(f"it was made by cube2net {version}, this is {__version__}")
    return differences


def _read_query(recipe: Recipe, cube: Cube) -> Query:
    ids, labels = recipe.query["ids"], recipe.query.get("labels")
    found = cube.objects.find([str(key) for key in ids])
    if found.missing or found.ambiguous:
        raise QueryError(
            f"the cube does not have {len(found.missing) + len(found.ambiguous):,} objects of the recipe's query: "
            f"{quote_few([*found.missing, *found.ambiguous])}"
        )
    order = np.argsort(found.rows, kind="stable")
    return Query(found.rows[order], None if labels is None else tuple(labels[at] for at in order), (), None)


def _make_part(described: Mapping[str, Any], registry: Mapping[str, Any], what: str) -> Any:
    name = described["name"]
    if name not in registry:
        raise InputError(f"the recipe has the {what} {quote(name)}, and there are {join_names(registry)}")
    return _call(registry[name], f"{what} {quote(name)}", described["options"])


def _call(make: Callable[..., Any], what: str, options: Mapping[str, Any], *args: Any) -> Any:
    """Return what a function makes; raise if it does not have one of the options."""
    try:
        return make(*args, **options)
    except (TypeError, ParameterError) as error:
        raise InputError(f"the recipe's {what} cannot be made here: {error}") from None


def _describe_other_network(recipe: Recipe, made: Mapping[str, Any]) -> str:
    size = f"{made['nodes']:,} nodes and {made['links']:,} links"
    before = [recipe.made.get(part) for part in ("nodes", "links")]
    was = "as many" if before == [made["nodes"], made["links"]] else f"{before[0]} nodes and {before[1]} links"
    timed = recipe.method["options"].get("seconds")
    clock = f" (the method stops after {timed} seconds, so that the clock decides)" if timed is not None else ""
    return f"the network is another one: it has {size}, it had {was}{clock}"


def _compare_files(network: Network, path: Path) -> list[str]:
    """Return a sentence for each file that differs from what is written now, plain or safe for spreadsheets."""
    differences: list[str] = []
    for safe in (False, True) if can_be_safe(path) else (False,):
        with temporary_folder() as folder:
            written = export_network(network, folder / path.name, spreadsheet_safe=safe)
            found = [_compare_file(path.with_name(file.name), file) for file in written]
        if not any(found):
            return []
        differences = differences or list(filter(None, found))
    return differences


def _compare_file(old: Path, new: Path) -> str:
    try:
        one, other = old.read_bytes(), new.read_bytes()
    except FileNotFoundError:
        return f"{old.name} is missing"
    if one == other:
        return ""
    least = min(len(one), len(other))
    at = next((place for place in range(least) if one[place] != other[place]), least)
    return f"{old.name} differs from byte {at:,} on: it has {len(one):,} bytes, and {len(other):,} are written now"


ARRAYS = {"objects": "<i4", "cells": "<i4", "values": "<f8"}
"""The parts of a selection that are many numbers, and how these travel."""
PARTS = ("value", "bound", "train_seconds", "note")


def describe_choice(network: Network) -> str:
    """Return the choice of a method and its request as JSON; empty if the network cannot be restored from it."""
    recipe, selection = network.recipe, network.selection
    if recipe is None or recipe.obstacle:
        return ""
    about = {
        "recipe": recipe.to_dict(),
        **{name: _pack(getattr(selection, name), kind) for name, kind in ARRAYS.items()},
        **{name: getattr(selection, name) for name in PARTS},
        "settings": plain_value(network.settings),
        "seconds": dict(network.seconds),
    }
    try:
        return json.dumps(about)
    except TypeError:
        return ""


def recall(cube: Cube, choice: str, *, bound: bool = False) -> Network:
    """Restore the network of a choice that :func:`describe_choice` wrote; ``bound`` says that a bound was computed.

    Raise if the result differs from the network at that time.
    """
    about = json.loads(choice)
    recipe = Recipe.from_dict(about["recipe"])
    parts: dict[str, Any] = {name: about[name] for name in PARTS}
    parts |= {name: np.frombuffer(base64.b64decode(about[name]), kind) for name, kind in ARRAYS.items()}
    selection = Selection(**parts)

    def make(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        plan = plan_network(cube, query, NetworkOptions(method=method, **parameters))
        empty = about["settings"]["empty_value"]
        return build_network(plan, known_choice(plan, selection, recipe.seed, empty, about["seconds"], bound))

    network = apply_recipe(recipe, cube, make)
    if describe_network(network) != recipe.made:
        raise InputError("the network that was chosen cannot be had again: ask for it once more")
    return replace(network, recipe=recipe, selection=selection, settings=about["settings"], seconds=about["seconds"])


def _pack(numbers: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")


def restore_context(network: Network, cube: Cube | None = None) -> Network:
    """Return a network with its context; one from another process is made again from its recipe and the cube."""
    expect(Network, network, "network")
    if network.context is not None:
        return network
    if network.recipe is None:
        raise InputError("the network has no recipe, so that nothing is known of what it answers: make it by construct")
    if cube is None:
        folder = _name_folder(network.recipe)
        raise InputError(
            f"the network came from another process and left its cube there: give the cube{folder} (cube=…)"
        )
    return _follow(network.recipe, expect(Cube, cube, "cube"))


def read_asked(path: str | Path, cube: Cube, *, progress: Progress | None = None) -> Network:
    """Construct the network of an exported file again, for further questions about it.

    It must equal the exported one; :func:`replay` lists differences.
    """
    recipe = read_recipe(find_network_path(check_path(path, "the file of the network")))
    return _follow(recipe, cube, progress)


def _follow(recipe: Recipe, cube: Cube, progress: Progress | None = None) -> Network:
    made = follow(recipe, cube, progress=progress)
    if describe_network(made) != recipe.made:
        raise InputError(
            f"the cube makes another network by this recipe: give the cube that it was made of{_name_folder(recipe)}"
        )
    return replace(made, recipe=recipe)


def _name_folder(recipe: Recipe) -> str:
    """Return the name of the cube's folder as part of a sentence; empty for a cube in memory."""
    name = recipe.cube.get("name")
    return "" if name is None else f", whose folder was {quote(name)}"
