"""A network that was chosen elsewhere: the choice travels, and the network is made of it without choosing anew."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError
from cube2net.network_options import NetworkOptions
from cube2net.pipeline.construct import known_choice, network_of
from cube2net.pipeline.planning import plan_network
from cube2net.pipeline.recipes import made_of
from cube2net.pipeline.replay import asked_by
from cube2net.records import Cube, Network, Query, Recipe, Selection
from cube2net.records.plain_values import plain_value

ARRAYS = {"objects": "<i4", "cells": "<i4", "values": "<f8"}
"""The parts of a selection that are many numbers, and how these travel."""
PARTS = ("value", "bound", "train_seconds", "note")


def choice_of(network: Network) -> str:
    """Return what a method chose and how it was asked, as JSON; nothing where the network cannot be made of that."""
    recipe, selection = network.recipe, network.selection
    if recipe is None or recipe.obstacle:
        return ""
    about = {
        "recipe": recipe.to_dict(),
        **{name: _packed(getattr(selection, name), kind) for name, kind in ARRAYS.items()},
        **{name: getattr(selection, name) for name in PARTS},
        "settings": plain_value(network.settings),
        "seconds": dict(network.seconds),
    }
    try:
        return json.dumps(about)
    except TypeError:
        return ""


def recall(cube: Cube, choice: str, *, bound: bool = False) -> Network:
    """Return the network of such a choice, as whoever chose it has it; ``bound`` says that one was asked for.

    A network that does not come out as it was is refused.
    """
    about = json.loads(choice)
    recipe = Recipe.from_dict(about["recipe"])
    parts: dict[str, Any] = {name: about[name] for name in PARTS}
    parts |= {name: np.frombuffer(base64.b64decode(about[name]), kind) for name, kind in ARRAYS.items()}
    selection = Selection(**parts)

    def make(cube: Cube, query: Query, method: Any, **parameters: Any) -> Network:
        asked = plan_network(cube, query, NetworkOptions(method=method, **parameters))
        empty = about["settings"]["empty_value"]
        return network_of(asked, known_choice(asked, selection, recipe.seed, empty, about["seconds"], bound))

    network = asked_by(recipe, cube, make)
    if made_of(network) != recipe.made:
        raise InputError("the network that was chosen cannot be had again: ask for it once more")
    return replace(network, recipe=recipe, selection=selection, settings=about["settings"], seconds=about["seconds"])


def _packed(numbers: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")
