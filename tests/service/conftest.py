"""A small cube on disk that is asked: names with accents, and some that several objects bear."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.apps.service.service import CubeService

NAMES = {0: "Zoë Ångström", 1: "Ivan Vulić", 2: "Wei Li", 3: "Wei Li", 4: "=1+1", 5: "Ada Lovelace", 6: "Ada Byron"}


def small_cube() -> c2n.Cube:
    """Return a cube of four planted communities by year, venue and topic, some of its objects with other names."""
    corpus = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1).corpus
    names = [NAMES.get(row, name) for row, name in enumerate(corpus.objects["name"].to_pylist())]
    objects = corpus.objects.set_column(1, "name", pa.array(names))
    return c2n.build(replace(corpus, objects=objects), ["year@years/decades", "venue", "topic"], min_objects=3)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "cube"
    small_cube().save(path)
    return path


@pytest.fixture(scope="session")
def service(folder: Path) -> CubeService:
    return CubeService(c2n.open(folder))


@pytest.fixture(scope="session")
def network_request() -> dict[str, Any]:
    """Return a question: two communities, with labels."""
    planted = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1)
    pairs = [(key, f"group {number}") for number in (0, 1) for key in planted.query(number)[:12]]
    return {"query": [key for key, _ in pairs], "labels": [label for _, label in pairs]}
