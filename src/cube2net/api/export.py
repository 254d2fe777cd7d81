"""Summarize networks and check where they are to be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cube2net.model.interfaces import check_path
from cube2net.model.network import Network
from cube2net.network.assembly import summarize
from cube2net.network.export.registry import check_network_path


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        check_network_path(check_path(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        from cube2net.network.drawing.matplotlib import check_picture_path

        check_picture_path(check_path(picture, "the file of the picture"))


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return summarize(network)
