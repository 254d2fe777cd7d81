"""Registries of named parts that other packages extend by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cube2net.errors import InputError, first_line

V = TypeVar("V")


class Registry(dict[str, V]):
    """Built-in parts by name, and those that installed packages offer as entry points of a group.

    Entry points are loaded when a name is not built in, so that built-in names cost nothing. A built-in name is never
    replaced. ``adapt`` turns what an entry point names into a value of the registry.

    >>> colours = Registry("cube2net.colours", {"red": "#f00"})
    >>> colours["red"], "blue" in colours
    ('#f00', False)
    """

    def __init__(self, group: str, builtin: Mapping[str, V], adapt: Callable[[Any], V] | None = None) -> None:
        super().__init__(builtin)
        self.group, self._adapt, self._is_loaded = group, adapt, False

    def load_plugins(self) -> None:
        """Add the entry points of the group, once."""
        if self._is_loaded:
            return
        from importlib.metadata import entry_points

        self._is_loaded = True
        for point in entry_points(group=self.group):
            try:
                part = point.load()
            except Exception as error:
                raise InputError(
                    f"the plugin {point.name!r} ({point.value}) of the group {self.group!r} cannot be loaded: "
                    f"{first_line(error)}"
                ) from error
            self.setdefault(point.name, part if self._adapt is None else self._adapt(part))

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.load_plugins()
        return super().__contains__(name)

    def __missing__(self, name: str) -> V:
        if name in self:
            return self[name]
        raise KeyError(name)
