"""Reconstruct networks from their recipes, and compare them with exported files."""

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
    """A reconstructed network, its recipe, and one sentence for each difference from the exported file."""

    network: Network
    recipe: Recipe
    differences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether there are no differences."""
        return not self.differences

    def __repr__(self) -> str:
        summary = "the same" if self.same else f"{len(self.differences)} differences"
        return f"Replayed({summary}: {self.network!r})"


@check_call
@report_compiling
def replay(path: str | Path, cube: Cube | str | Path | None = None, *, progress: ProgressOption = None) -> Replayed:
    """Construct the network of an exported file again from its recipe, and list what differs.

    Parameters
    ----------
    path
        Any file that :meth:`Network.save` wrote, or the path it was called with.
    cube
        The cube or its folder. By default, a cube with the name in the recipe is looked up next to the file and in the
        current folder.
    progress
        A callback that receives the progress; True shows a progress bar.

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
    network_path = find_network_path(check_path(path, "the file of the network"))
    recipe = read_recipe(network_path)
    opened_cube = cube if isinstance(cube, Cube) else _find_cube(recipe, network_path, cube)
    differences = _list_input_differences(recipe, opened_cube)
    network = follow_recipe(recipe, opened_cube, progress=progress)
    new_description = describe_network(network)
    if new_description != recipe.made:
        differences.append(_describe_other_network(recipe, new_description))
    else:
        network = replace(network, recipe=recipe)
        differences += _compare_files(network, network_path)
    return Replayed(network, recipe, tuple(differences))


def follow_recipe(recipe: Recipe, cube: Cube, *, progress: ProgressOption = None) -> Network:
    """Construct the network of a recipe from a cube; views that the cube already has are not applied again."""

    def construct_network(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        return construct_by_name(cube, query, method, seed=recipe.seed, progress=progress, **parameters)

    return construct_with_recipe(recipe, cube, construct_network)


def construct_with_recipe(recipe: Recipe, cube: Cube, construct_network: Callable[..., Network]) -> Network:
    """Apply the views of a recipe to a cube, and call ``construct_network`` with the other parts of the recipe.

    It is called as ``construct_network(cube, query, method, **parameters)``.
    """
    if recipe.obstacle:
        raise InputError(f"the network cannot be made again: {recipe.obstacle}")
    n_shared = _count_shared_views(recipe, cube)
    for number, view in enumerate(recipe.cube["views"][n_shared:], n_shared + 1):
        view_options = {name: value for name, value in view.items() if name != VIEW}
        if not isinstance(view.get(VIEW), str) or view[VIEW] not in VIEWS:
            raise InputError(
                f"the recipe's view {number} is {quote(view.get(VIEW))}: choose one of {join_names(VIEWS)}"
            )
        cube = _call_with_options(VIEWS[view[VIEW]], "view", view_options, cube)
    method = _make_component(recipe.method, METHODS, "method")
    objective = _make_component(recipe.objective, OBJECTIVES, "objective")
    query = _read_query(recipe, cube)

    parameters = {**recipe.parameters, **_read_steering(recipe, cube), "objective": objective}
    network: Network = _call_with_options(construct_network, "network", parameters, cube, query, method)
    return network


def _count_shared_views(recipe: Recipe, cube: Cube) -> int:
    """Return how many of the first views of a recipe are the last views of a cube."""
    recipe_views, cube_views = (
        [json.dumps(dict(view), sort_keys=True, default=str) for view in views]
        for views in (recipe.cube["views"], get_lineage(cube).views)
    )
    for count in range(min(len(recipe_views), len(cube_views)), 0, -1):
        if cube_views[-count:] == recipe_views[:count]:
            return count
    return 0


def _read_steering(recipe: Recipe, cube: Cube) -> dict[str, list[Any]]:
    """Return the pins, bans and preferences of a recipe: cells as tuples of labels, objects as nodes."""
    steering: dict[str, list[Any]] = {}
    for parameter in STEERING:
        nodes = recipe.parameters.get(parameter, [])
        if not isinstance(nodes, list) or not all(_is_node(node) for node in nodes):
            raise InputError(f"the recipe has odd {parameter}: {quote(nodes, 60)}")
        keys = [str(node[OBJECT]) for node in nodes if OBJECT in node]
        lookup = cube.objects.find(keys)
        unresolved = [*lookup.missing, *lookup.ambiguous]
        if unresolved:
            raise QueryError(
                f"the cube does not have {len(unresolved):,} objects of the recipe's {parameter}: "
                f"{quote_few(unresolved)}"
            )
        rows = iter(lookup.rows.tolist())
        steering[parameter] = [tuple(node[CELL]) if CELL in node else Node(OBJECT, next(rows)) for node in nodes]
    return steering


def _is_node(value: object) -> bool:
    """Return whether a value of a recipe is a cell with its labels, or an object with its id."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    labels, key = value.get(CELL), value.get(OBJECT)
    return isinstance(key, str | int) or (isinstance(labels, list) and all(isinstance(label, str) for label in labels))


def _find_cube(recipe: Recipe, path: Path, cube_folder: str | Path | None) -> Cube:
    if cube_folder is not None:
        return cubes.open(cube_folder)
    name = recipe.cube.get("name")
    hint = Setting("cube", Placeholder("FOLDER"))
    if name is None:
        raise InputError("the network was made of a cube in memory: give the cube or its folder", hint=hint)
    for folder in (path.parent / name, Path(name)):
        if name not in ("", "..") and Path(name).name == name and folder.is_dir():
            return cubes.open(folder)
    raise CubeError(f"the cube {quote(name)} is neither beside the file nor here: give its folder", hint=hint)


def _list_input_differences(recipe: Recipe, cube: Cube) -> list[str]:
    """Return the differences of the cube and of the version of cube2net."""
    differences = []
    origin, checksum = get_lineage(cube).origin, recipe.cube.get("checksum")
    if checksum is not None and origin is not None and origin.seal != checksum:
        checksums = f"its checksum is {origin.seal[:12]}, it was {checksum[:12]}"
        differences.append(f"the cube is another one or was changed: {checksums}")
    if checksum is not None and origin is None:
        differences.append(f"the cube is in memory and has no checksum: it was {checksum[:12]}")
    version = recipe.versions.get("cube2net")
    if version != __version__:
        differences.append(f"it was made by cube2net {version}, this is {__version__}")
    return differences


def _read_query(recipe: Recipe, cube: Cube) -> Query:
    ids, labels = recipe.query["ids"], recipe.query.get("labels")
    lookup = cube.objects.find([str(key) for key in ids])
    if lookup.missing or lookup.ambiguous:
        raise QueryError(
            f"the cube does not have {len(lookup.missing) + len(lookup.ambiguous):,} objects of the recipe's query: "
            f"{quote_few([*lookup.missing, *lookup.ambiguous])}"
        )
    order = np.argsort(lookup.rows, kind="stable")
    return Query(
        lookup.rows[order], None if labels is None else tuple(labels[position] for position in order), (), None
    )


def _make_component(description: Mapping[str, Any], registry: Mapping[str, Any], what: str) -> Any:
    name = description["name"]
    if name not in registry:
        raise InputError(f"the recipe has the {what} {quote(name)}, and there are {join_names(registry)}")
    return _call_with_options(registry[name], f"{what} {quote(name)}", description["options"])


def _call_with_options(function: Callable[..., Any], what: str, options: Mapping[str, Any], *args: Any) -> Any:
    """Call a function with options; raise InputError if it does not accept one of them."""
    try:
        return function(*args, **options)
    except (TypeError, ParameterError) as error:
        raise InputError(f"the recipe's {what} cannot be made here: {error}") from None


def _describe_other_network(recipe: Recipe, description: Mapping[str, Any]) -> str:
    size = f"{description['nodes']:,} nodes and {description['links']:,} links"
    counts = [description[name] for name in ("nodes", "links")]
    old_counts = [recipe.made.get(name) for name in ("nodes", "links")]
    old_size = "as many" if old_counts == counts else f"{old_counts[0]} nodes and {old_counts[1]} links"
    seconds = recipe.method["options"].get("seconds")
    reason = "" if seconds is None else f" (the method stops after {seconds} seconds, so that the clock decides)"
    return f"the network is another one: it has {size}, it had {old_size}{reason}"


def _compare_files(network: Network, path: Path) -> list[str]:
    """Return a sentence for each exported file that differs from the one that the network is written to now.

    Files safe for spreadsheets are compared with files written in that way.
    """
    differences: list[str] = []
    for safe in (False, True) if can_be_safe(path) else (False,):
        with temporary_folder() as folder:
            written = export_network(network, folder / path.name, spreadsheet_safe=safe)
            file_differences = [_compare_file(path.with_name(file.name), file) for file in written]
        if not any(file_differences):
            return []
        differences = differences or list(filter(None, file_differences))
    return differences


def _compare_file(old: Path, new: Path) -> str:
    try:
        old_bytes, new_bytes = old.read_bytes(), new.read_bytes()
    except FileNotFoundError:
        return f"{old.name} is missing"
    if old_bytes == new_bytes:
        return ""
    common_length = min(len(old_bytes), len(new_bytes))
    position = next((index for index in range(common_length) if old_bytes[index] != new_bytes[index]), common_length)
    sizes = f"it has {len(old_bytes):,} bytes, and {len(new_bytes):,} are written now"
    return f"{old.name} differs from byte {position:,} on: {sizes}"


SELECTION_ARRAYS = {"objects": "<i4", "cells": "<i4", "values": "<f8"}
"""The arrays of a selection, with the data type in which they are serialized."""
SELECTION_FIELDS = ("value", "bound", "train_seconds", "note")


def serialize_choice(network: Network) -> str:
    """Return the selection of a network and its recipe as JSON, or an empty text if they cannot restore the network."""
    recipe, selection = network.recipe, network.selection
    if recipe is None or recipe.obstacle:
        return ""
    content = {
        "recipe": recipe.to_dict(),
        **{name: _encode_array(getattr(selection, name), kind) for name, kind in SELECTION_ARRAYS.items()},
        **{name: getattr(selection, name) for name in SELECTION_FIELDS},
        "settings": plain_value(network.settings),
        "seconds": dict(network.seconds),
    }
    try:
        return json.dumps(content)
    except TypeError:
        return ""


def restore_network(cube: Cube, choice: str, *, bound: bool = False) -> Network:
    """Restore a network from the JSON of :func:`serialize_choice`, without running its method again.

    ``bound`` states whether a bound was computed. An error is raised if the result differs from the original network.
    """
    content = json.loads(choice)
    recipe = Recipe.from_dict(content["recipe"])
    parts: dict[str, Any] = {name: content[name] for name in SELECTION_FIELDS}
    parts |= {name: np.frombuffer(base64.b64decode(content[name]), kind) for name, kind in SELECTION_ARRAYS.items()}
    selection = Selection(**parts)

    def construct_network(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        plan = plan_network(cube, query, NetworkOptions(method=method, **parameters))
        empty_value = content["settings"]["empty_value"]
        return build_network(plan, known_choice(plan, selection, recipe.seed, empty_value, content["seconds"], bound))

    network = construct_with_recipe(recipe, cube, construct_network)
    if describe_network(network) != recipe.made:
        raise InputError("the network that was chosen cannot be had again: ask for it once more")
    return replace(
        network, recipe=recipe, selection=selection, settings=content["settings"], seconds=content["seconds"]
    )


def _encode_array(array: Array, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def restore_context(network: Network, cube: Cube | None = None) -> Network:
    """Return a network with its context; one from another process is reconstructed from its recipe and the cube."""
    expect(Network, network, "network")
    if network.context is not None:
        return network
    if network.recipe is None:
        raise InputError("the network has no recipe, so that nothing is known of what it answers: make it by construct")
    if cube is None:
        folder = _describe_folder(network.recipe)
        raise InputError(
            f"the network came from another process and left its cube there: give the cube{folder} (cube=…)"
        )
    return _reconstruct_exactly(network.recipe, expect(Cube, cube, "cube"))


def read_asked(path: str | Path, cube: Cube, *, progress: Progress | None = None) -> Network:
    """Reconstruct the network of an exported file, so that it can be explained or changed.

    An error is raised if it differs from the exported network; :func:`replay` lists differences.
    """
    recipe = read_recipe(find_network_path(check_path(path, "the file of the network")))
    return _reconstruct_exactly(recipe, cube, progress)


def _reconstruct_exactly(recipe: Recipe, cube: Cube, progress: Progress | None = None) -> Network:
    network = follow_recipe(recipe, cube, progress=progress)
    if describe_network(network) != recipe.made:
        raise InputError(
            "the cube makes another network by this recipe: give the cube that it was made of"
            f"{_describe_folder(recipe)}"
        )
    return replace(network, recipe=recipe)


def _describe_folder(recipe: Recipe) -> str:
    """Return the folder of the cube as a clause of a sentence; empty for a cube in memory."""
    name = recipe.cube.get("name")
    return "" if name is None else f", whose folder was {quote(name)}"
