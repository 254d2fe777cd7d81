"""How cube2net is packed: hatchling does it, and the explorer's page is built before, so that users need no node."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import hatchling.build
from hatchling.build import *  # noqa: F403
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "scripts"))
import make_page  # noqa: E402


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what must be installed to pack the sources: node from PyPI where the page needs one and none is here."""
    return [*hatchling.build.get_requires_for_build_sdist(config_settings), *_node()]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what must be installed to pack a wheel; an editable one takes the page as ``make page`` leaves it."""
    return [*hatchling.build.get_requires_for_build_wheel(config_settings), *_node()]


def _node() -> list[str]:
    return [] if make_page.can_be_had(ROOT) else [make_page.NODE_WHEEL]


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page before the files are packed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page where it is missing or older than its sources, but for editable installs."""
        if version != "editable":
            make_page.make(ROOT, say=self.app.display_info)
