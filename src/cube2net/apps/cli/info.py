"""The commands that describe and verify cubes: info and verify."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cube2net as c2n
from cube2net.apps.cli.build import describe_source
from cube2net.apps.cli.options import AsJson, Between, CubePath
from cube2net.apps.cli.output import say, show_json, show_table, shown_progress
from cube2net.errors import ParameterError, join_names

if TYPE_CHECKING:
    from cube2net.model.cube import Cube

MAX_LISTED_NAMES = 10
THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the threads of libraries."""


def info(
    cube: Annotated[
        Path | None, typer.Argument(metavar="CUBE", help="Folder of a cube. Default: describe the installation.")
    ] = None,
    between: Between = None,
    as_json: AsJson = False,
) -> None:
    """Show a cube's dimensions, cells, links and sizes, and what was left out and why.

    Without a cube, show the versions of cube2net, Python and all packages, and the cores, memory and GPU, for bug
    reports. No paths and no names of users or machines are shown.
    """
    if cube is None:
        if between is not None:
            raise ParameterError(f"--between {between!r} needs a cube: cube2net info CUBE --between {between}")
        description = describe_installation()
        show_json({"installation": description}) if as_json else show_installation(description)
        return
    description = describe_cube(cube, between)
    if as_json:
        show_json(description | {"installation": describe_installation()})
    else:
        show_cube(description)


def verify(cube: CubePath) -> None:
    """Check every byte of a cube against its manifest."""
    from cube2net.cube.storage import reader

    with shown_progress():
        files = reader.verify(cube)
    say(f"{cube}: {files} files, all as they were written")


def describe_cube(folder: Path, between: str | None = None) -> dict[str, Any]:
    """Return the counts, dimensions and settings of a cube on disk, or of its part of a time."""
    import numpy as np

    from cube2net.vectors.cell_vectors import embed_cells

    cube = c2n.api.view_cube(c2n.open(folder), between=between)
    manifest = c2n.api.read_manifest(folder)
    settings = cube.settings
    sizes = cube.cells.members.sizes
    largest = np.argsort(-sizes, kind="stable")[:5].tolist()
    return {
        "cube": str(folder),
        "format": manifest["format"],
        "bytes": sum(file["bytes"] for file in manifest["files"].values()),
        "bytes_of_items": _count_item_bytes(manifest["files"]),
        "dimensions": [
            {
                "name": level.name,
                "labels": len(level.labels),
                "level_above": number > 0,
                "above": dimension.levels[dimension.below[number]].name if number else None,
                "examples": level.labels[:3],
            }
            for dimension in cube.dimensions
            for number, level in enumerate(dimension.levels)
        ],
        "source": settings.get("source") or {},
        "items": settings.get("items"),
        **manifest["counts"],
        "cells": len(cube.cells),
        "members": len(cube.cells.members.indices),
        "links": cube.links.count,
        "time": settings.get("time", ""),
        "views": list(settings.get("views", ())),
        "objects_in_cells": int((cube.object_cells.sizes > 0).sum()),
        "objects_that_may_be_brought": None if cube.bringable is None else int(cube.bringable.sum()),
        "ids": "whole numbers" if cube.objects.whole else "texts",
        "attributes": _describe_attributes(cube, manifest),
        "links_say": []
        if cube.details is None
        else ["direction" if n == "forward" else n for n in cube.details().columns],
        "largest_cells": [{"labels": cube.cell(cell), "objects": int(sizes[cell])} for cell in largest],
        "dropped": settings.get("dropped", {}),
        "no_direction": {name: list(labels) for name, labels in embed_cells(cube).blank.items() if labels},
        "topic_words": _list_topic_words(cube),
        "settings": {
            name: settings.get(name) for name in ("dimensions", "min_objects", "max_mentions", "seed", "engine")
        },
        "topics": settings.get("topics"),
        "attribution": settings.get("attribution", ""),
    }


def _describe_attributes(cube: Cube, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the attributes of objects, and their size in bytes."""
    size = manifest["files"].get("objects.attributes.arrow", {"bytes": 0})["bytes"]
    return {"names": cube.objects.attributes.column_names, "bytes": size}


def _count_item_bytes(files: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return the bytes of the index of items and of their attributes."""
    sizes = {"index": 0, "attributes": 0}
    for name, file in files.items():
        if name.startswith("items."):
            is_attribute = name.startswith(("items.attributes.", "items.topics.", "items.texts."))
            sizes["attributes" if is_attribute else "index"] += file["bytes"]
    return sizes


def _list_topic_words(cube: Cube, most: int = 6) -> dict[str, list[str]]:
    words: dict[str, list[str]] = {}
    if cube.topic_words is not None:
        for topic, term in zip(*(cube.topic_words[name].to_pylist() for name in ("topic", "term")), strict=True):
            words.setdefault(topic, []).append(term)
    return {topic: terms[:most] for topic, terms in words.items()}


def show_cube(description: dict[str, Any]) -> None:
    """Show a cube."""
    from cube2net.model.node_names import cell_line

    sizes = [f"{what} {size / 1e6:,.2f} MB" for what, size in description["bytes_of_items"].items() if size]
    items = f" (of items: {', '.join(sizes)})" if sizes else ""
    say(f"{description['cube']}: cube format {description['format']}, {description['bytes'] / 1e6:,.2f} MB{items}")
    depth: dict[str, int] = {}
    for entry in description["dimensions"]:
        depth[entry["name"]] = 0 if entry["above"] is None else depth[entry["above"]] + 1
    for view in description["views"]:
        say(view)
    show_table(
        "dimensions",
        ("dimension", "labels", "for example"),
        [
            ("  ↑ " * depth[entry["name"]] + entry["name"], f"{entry['labels']:,}", ", ".join(entry["examples"]))
            for entry in description["dimensions"]
        ],
        right=("labels",),
    )
    counts = ("items", "objects", "objects_in_cells", "objects_that_may_be_brought", "cells", "members", "links")
    show_table(
        "counts",
        ("what", "how many"),
        [(name.replace("_", " "), f"{description[name]:,}") for name in counts if description[name] is not None],
        right=("how many",),
    )
    show_table(
        "largest cells",
        ("cell", "objects"),
        [(cell_line(cell["labels"]), f"{cell['objects']:,}") for cell in description["largest_cells"]],
        right=("objects",),
    )
    if description["attributes"]["names"]:
        size = description["attributes"]["bytes"] / 1e6
        say(f"objects carry {join_names(description['attributes']['names'], MAX_LISTED_NAMES)} ({size:,.2f} MB)")
    if description["links_say"]:
        directed = "; methods take links as undirected" if "direction" in description["links_say"] else ""
        say(f"links say their {', '.join(description['links_say'])}{directed}")
    dropped = [(reason, f"{count:,}") for reason, count in description["dropped"].items()]
    show_table("left out", ("reason", "how many"), dropped or [("nothing", "0")], right=("how many",))
    for name, labels in description["no_direction"].items():
        say(f"labels of {name} that word vectors do not know: {join_names(labels, MAX_LISTED_NAMES)}", "")
    say(*(f"{name}: {value}" for name, value in description["settings"].items()))
    if description["source"]:
        say(f"source: {describe_source(description['source'])}")
    if description["attribution"]:
        say(f"data: {description['attribution']}")
    if description["topics"]:
        say(f"topics by {', '.join(f'{name} {value}' for name, value in description['topics'].items())}", "")
    if description["topic_words"]:
        rows = [(topic, ", ".join(words)) for topic, words in description["topic_words"].items()]
        show_table("topics", ("topic", "heaviest terms"), rows)


def describe_installation() -> dict[str, Any]:
    """Return the installed versions and the machine, without any path or name of a user or machine."""
    from cube2net._util.packages import CORE, EXTRAS
    from cube2net._util.progress import cores

    return {
        "cube2net": c2n.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {package: _get_version(package) for package in CORE},
        "extras": {extra: {package: _get_version(package) for package in members} for extra, members in EXTRAS.items()},
        "cores": cores(),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "memory_bytes": _get_memory_bytes(),
        "gpu": _get_gpu_name(),
    }


def show_installation(installation: dict[str, Any]) -> None:
    """Show the installed versions and the machine."""
    say(f"cube2net {installation['cube2net']}, {installation['python']}, {installation['system']}")
    memory = (
        "memory of unknown size"
        if installation["memory_bytes"] is None
        else f"{installation['memory_bytes'] / 1e9:,.1f} GB of memory"
    )
    limits = "".join(f", {name}={value}" for name, value in installation["threads"].items())
    say(
        f"{installation['cores']} core{'s' * (installation['cores'] != 1)}{limits}, {memory}, GPU: "
        f"{installation['gpu'] or 'none'}"
    )
    rows = [("", package, version) for package, version in installation["packages"].items()]
    rows += [
        (extra, package, version)
        for extra, members in installation["extras"].items()
        for package, version in members.items()
    ]
    show_table("packages", ("extra", "package", "version"), [(*row[:2], row[2] or "not installed") for row in rows])


def _get_version(package: str) -> str | None:
    """Return the version of a package by its import name; None if it is not installed."""
    try:
        return metadata.version(package.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return None


def _get_memory_bytes() -> int | None:
    """Return the memory of the machine in bytes; None if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _get_gpu_name() -> str | None:
    """Return the GPU that torch would use; None without a GPU or without torch."""
    if _get_version("torch") is None:
        return None
    try:
        torch = importlib.import_module("torch")
        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
    except Exception as error:  # a broken torch is what the report may be about
        return f"torch does not answer ({type(error).__name__})"
