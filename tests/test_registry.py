"""Other packages add methods, objectives, sources and exports by entry points."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cube2net as c2n
from cube2net.api.plan import METHODS
from cube2net.errors import InputError, ParameterError
from cube2net.io.sources import SOURCES
from cube2net.model.interfaces import Registry
from cube2net.model.network import Network
from cube2net.network.export.registry import EXPORTS
from cube2net.network.hops import Hops
from cube2net.selection.objectives import OBJECTIVES

from toys import two_communities


@dataclass(frozen=True)
class FarHops(Hops):
    """Hops of two steps by default."""

    hops: int = 2


def write_sizes(network: Network, path: Path) -> None:
    path.write_text(f"{len(network.objects)} objects\n", encoding="utf-8")


def fail_to_import() -> Any:
    raise ImportError("No module named 'missing'")


@dataclass(frozen=True)
class Point:
    """An entry point."""

    name: str
    load: Callable[[], Any]
    value: str = "package:part"


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that has packages offer entry points in a group, until the test ends."""

    def offered(registry: Registry[Any], **parts: Callable[[], Any]) -> None:
        points, really = [Point(name, load) for name, load in parts.items()], importlib.metadata.entry_points

        def entry_points(**wanted: str) -> Any:
            return points if wanted.get("group") == registry.group else really(**wanted)

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        monkeypatch.setattr(registry, "_is_loaded", False)

    builtin = {id(registry): dict(registry) for registry in (METHODS, OBJECTIVES, SOURCES, EXPORTS)}
    yield offered
    for registry in (METHODS, OBJECTIVES, SOURCES, EXPORTS):
        for name in registry.keys() - builtin[id(registry)].keys():
            del registry[name]


def test_a_method_of_another_package_is_chosen_by_its_name(offer: Callable[..., None]) -> None:
    offer(METHODS, far=lambda: FarHops)
    cube, query = two_communities(10)
    own = c2n.construct(cube, query, "far")
    assert own.objects.tolist() == c2n.construct(cube, query, "hops 2").objects.tolist()
    assert own.settings["method"] == "far"
    with pytest.raises(ParameterError, match="unknown method 'farr'.*did you mean 'far'"):
        c2n.construct(cube, query, "farr")


def test_a_network_is_written_by_the_export_of_another_package(offer: Callable[..., None], tmp_path: Path) -> None:
    offer(EXPORTS, **{".sizes": lambda: write_sizes})
    cube, query = two_communities(10)
    network = c2n.construct(cube, query)
    (path,) = network.save(tmp_path / "network.sizes")
    assert path.read_text(encoding="utf-8") == f"{len(network.objects)} objects\n"


@pytest.mark.parametrize("registry", [METHODS, OBJECTIVES, SOURCES, EXPORTS], ids=lambda each: each.group)
def test_a_part_that_is_built_in_is_not_replaced(offer: Callable[..., None], registry: Registry[Any]) -> None:
    name = next(iter(registry))
    before = registry[name]
    offer(registry, **{name: lambda: None, "other": lambda: write_sizes})
    assert "other" in registry and registry[name] is before


def test_a_plugin_that_cannot_be_loaded_is_named(offer: Callable[..., None]) -> None:
    offer(METHODS, far=fail_to_import)
    cube, query = two_communities(10)
    with pytest.raises(InputError) as caught:
        c2n.construct(cube, query, "far")
    assert str(caught.value) == (
        "the plugin 'far' (package:part) of the group 'cube2net.methods' cannot be loaded: No module named 'missing'"
    )
    assert len(c2n.construct(cube, query, "hops")) > 0, "built-in names need no plugin"
