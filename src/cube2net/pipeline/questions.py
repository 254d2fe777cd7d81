"""A network that can be asked again, wherever it was made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cube2net import network as networks
from cube2net.arguments import expect, path_of
from cube2net.errors import InputError, quoted
from cube2net.pipeline.recipes import made_of
from cube2net.pipeline.replay import follow
from cube2net.progress import Progress
from cube2net.records import Cube, Network, Recipe


def asked_of(network: Network, cube: Cube | None = None) -> Network:
    """Return the network with the question that it answers.

    A network of this process has it, and is returned as it is. One that came from another process is made again of the
    cube by its recipe, and has to be the same.
    """
    check_network(network)
    if network.question is not None:
        return network
    if network.recipe is None:
        raise InputError("the network has no recipe, so that nothing is known of what it answers: make it by construct")
    if cube is None:
        raise InputError(
            f"the network came from another process and left its cube there: give the cube{_of_folder(network.recipe)} "
            "(cube=…)"
        )
    return _followed(network.recipe, expect(Cube, cube, "cube"))


def check_network(network: object) -> None:
    """Raise where something is no network."""
    expect(Network, network, "network")


def read_asked(path: str | Path, cube: Cube, *, progress: Progress | None = None) -> Network:
    """Return the network of an exported file with its question, made again of the cube by its recipe.

    It has to be the same as when it was written; see :func:`replay` for what differs.
    """
    recipe = networks.read_recipe(networks.network_path(path_of(path, "the file of the network")))
    return _followed(recipe, cube, progress)


def _followed(recipe: Recipe, cube: Cube, progress: Progress | None = None) -> Network:
    made = follow(recipe, cube, progress=progress)
    if made_of(made) != recipe.made:
        raise InputError(
            f"the cube makes another network by this recipe: give the cube that it was made of{_of_folder(recipe)}"
        )
    return replace(made, recipe=recipe)


def _of_folder(recipe: Recipe) -> str:
    """Return what the cube's folder was called, as a part of a sentence; nothing of a cube in memory."""
    name = recipe.cube.get("name")
    return "" if name is None else f", whose folder was {quoted(name)}"
