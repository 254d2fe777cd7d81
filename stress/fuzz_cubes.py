"""Damaged cubes: any file damaged, with and without a manifest that matches it, and then queried."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.random import stream
from cube2net.api.plan import METHODS
from cube2net.apps.cli import info
from cube2net.errors import Cube2netError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query
from stress.damage import Rng, damage, pick

MANIFEST = "manifest.json"
OPTIONS: dict[str, dict[str, Any]] = {
    "exact": {"seconds": 1.0},
    "anneal": {"seconds": 0.2},
    "cube2net": {"updates": 1, "trajectories": 2},
    "two hops": {"hops": 2},
}
"""What keeps a method within a moment, or makes it another."""


@dataclass(frozen=True)
class Question:
    """A query of a cube: a function of the cube, its folder, a query, and a folder for output."""

    cube: Cube
    folder: Path
    query: Query
    place: Path
    base: Path


def by(method: str, **options: Any) -> Callable[[Question], object]:
    """Return a function that constructs a network by a method and checks it."""

    def ask(asked: Question) -> Network:
        made = METHODS[method.removeprefix("two ")](**OPTIONS.get(method, {}))
        return check_network(c2n.api.construct_by_name(asked.cube, asked.query, made, **options))

    return ask


def check_network(network: Network) -> Network:
    """Check that weights are finite, that nodes have names, and that the summary is valid JSON."""
    if not np.isfinite(network.weight).all():
        raise AssertionError("a link of the network weighs no number")
    network.nodes.to_arrow().validate(full=True)
    network.links.to_arrow().validate(full=True)
    return network


def exported(asked: Question) -> None:
    """Export the network as JSON and read it again."""
    network = check_network(c2n.construct(asked.cube, asked.query))
    for suffix in ("json", "graphml", "xlsx", "csv", "npz"):
        network.save(asked.place / f"network.{suffix}")
    json.loads((asked.place / "network.json").read_text(encoding="utf-8"), parse_constant=_no_json)


def _no_json(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


def told(asked: Question) -> None:
    """Show everything about the cube."""
    description = info.describe_cube(asked.folder)
    json.dumps(description)
    info.show_cube(description)


def rolled_up(asked: Question) -> None:
    """Roll up all dimensions completely, and query that cube."""
    cube = asked.cube
    for dimension in asked.cube.dimensions:
        if len(dimension.levels) > 1:
            cube = c2n.cube.roll_up(cube, dimension.name, dimension.levels[-1].name)
    check_network(c2n.construct(cube, asked.query))


def compared(asked: Question) -> None:
    """Hide items of the cube and predict their links."""
    c2n.compare(
        asked.cube,
        asked.query,
        "hidden",
        methods=["hops"],
        models={"own": Own()},
        runs=1,
        options=c2n.ComparisonOptions(workers=1),
    )


def grown(asked: Question) -> None:
    """Add items to the cube, which is then updated or unchanged."""
    c2n.update(asked.folder, c2n.read_tables(asked.base / "more"))
    check_network(c2n.construct(c2n.open(asked.folder), asked.query))


@dataclass(frozen=True)
class Own:
    """An embedding without cost."""

    def embed(self, network: Network, *, seed: int = 0) -> np.ndarray:
        """Return a random vector per node."""
        return stream(seed, "stress", "own").normal(size=(len(network), 4)).astype(np.float32)


QUESTIONS: dict[str, Callable[[Question], object]] = {
    "info": told,
    "verify": lambda asked: c2n.open(asked.folder).verify(),
    **{method: by(method) for method in METHODS},
    "objects": by("greedy", form="objects"),
    "cells+objects": by("greedy", form="cells+objects"),
    "cells": by("greedy", form="cells", membership_weights="even"),
    "linked": by("greedy", objective="linked", form="objects"),
    "one label": by("greedy", levels="one"),
    "two hops": by("two hops"),
    "export": exported,
    "roll up": rolled_up,
    "slice": lambda asked: c2n.cube.slice_cube(
        asked.cube, asked.cube.dimensions[0].name, asked.cube.dimensions[0].labels[0]
    ),
    "near cells": lambda asked: c2n.api.near_cells(asked.cube, 0),
    "members": lambda asked: c2n.api.embed_cells(asked.cube, "members"),
    "hidden": compared,
    "update": grown,
    "texts": lambda asked: c2n.api.label_texts(asked.cube, ["speech grammar parser", None]),
    "names": lambda asked: asked.cube.objects.near("Name 1"),
    "save": lambda asked: asked.cube.save(asked.place / "saved"),
}
HEAVY = ("cube2net", "exact", "hidden", "anneal")


@dataclass(frozen=True)
class DamagedCube:
    """A cube with some damaged files, or only a damaged manifest."""

    name: str
    manifest: bool = False

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Open the cube of a seed and ask it some questions, all of them where it is undamaged."""
        rng = stream(seed or 0, "stress", "cube", self.name)
        folder = place / "cube"
        link_folder(base / self.name, folder)
        if seed:
            damage_folder(folder, rng, manifest=self.manifest)
        questions = _drawn(rng) if seed else list(QUESTIONS)
        refused: list[Cube2netError] = []
        for question in questions:
            try:
                ask(base, folder, place, question)
            except Cube2netError as error:
                refused.append(error)
                if not str(error) or "\n" in str(error):
                    raise
        if refused and seed:
            raise refused[0]


def ask(base: Path, folder: Path, place: Path, question: str) -> None:
    """Open a cube and query it, after writing the query down in case the process dies."""
    (place / "question").write_text(question, encoding="utf-8")
    cube = c2n.open(folder)
    count = len(cube.objects)
    query = cube.query(list(range(min(count, 25)))) if count else cube.query(["n1"])
    QUESTIONS[question](Question(cube, folder, query, place, base))


def _drawn(rng: Rng) -> list[str]:
    light = [name for name in QUESTIONS if name not in HEAVY]
    drawn = [light[number] for number in rng.permutation(len(light))[:5]]
    return drawn + ([pick(HEAVY, rng)] if rng.random() < 0.15 else [])


def link_folder(source: Path, folder: Path) -> None:
    """Make a folder of hard links to the same files."""
    folder.mkdir()
    for path in source.iterdir():
        os.link(path, folder / path.name)


def rewrite(path: Path, content: bytes) -> None:
    """Replace the content of a file without changing its hard links."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def damage_folder(folder: Path, rng: Rng, *, manifest: bool) -> None:
    """Damage one or two files of a cube; usually the manifest is updated to match."""
    names = sorted(path.name for path in folder.iterdir())
    if manifest:
        rewrite(folder / MANIFEST, damage(MANIFEST, (folder / MANIFEST).read_bytes(), rng))
        return
    for name in [names[number] for number in rng.permutation(len(names))[: 1 if rng.random() < 0.8 else 2]]:
        path = folder / name
        if rng.random() < 0.05:
            rewrite(path, (folder / pick(names, rng)).read_bytes())
        elif rng.random() < 0.02:
            path.unlink(missing_ok=True)
        elif path.exists():
            rewrite(path, damage(name, path.read_bytes(), rng))
    if rng.random() < 0.8:
        reseal(folder)


def reseal(folder: Path) -> None:
    """Update the manifest to match its files, as an attacker would."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        for name in manifest["files"]:
            content = (folder / name).read_bytes()
            manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        manifest.pop("sha256", None)
        seal = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
        rewrite(folder / MANIFEST, json.dumps(manifest | {"sha256": seal}).encode())
    except (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError):
        return  # the manifest itself is what was damaged


CUBES = {
    "cube": DamagedCube("plain"),
    "cube with topics": DamagedCube("topical"),
    "cube of items": DamagedCube("planted"),
    "manifest": DamagedCube("plain", manifest=True),
}
