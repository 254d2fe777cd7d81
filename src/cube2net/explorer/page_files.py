"""The files of the page, which the build puts into the package."""

from __future__ import annotations

import re
from pathlib import Path

from cube2net.errors import Cube2netError

PAGE = Path(__file__).parents[1] / "page"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
"""A file of the page itself: no path, nothing hidden."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""The endings that are served, each with what a browser takes it for."""


MISSING = (
    "the explorer's page was not built with this copy of cube2net: run make page in the checkout (it needs node), or "
    "install cube2net from a wheel"
)


class PageMissingError(Cube2netError):
    """The page was not built."""


def missing_page() -> str:
    """Return what is said where the page was not built, and nothing where it was."""
    return "" if (PAGE / "index.html").is_file() else MISSING


def page_file(name: str) -> bytes:
    """Return a file of the page; raise FileNotFoundError where there is none of that name."""
    if missing := missing_page():
        raise PageMissingError(missing)
    path = PAGE / name
    if not NAME.fullmatch(name) or path.suffix not in MEDIA_TYPES or not path.is_file():
        raise FileNotFoundError(name)
    return path.read_bytes()


def media_type(name: str) -> str:
    """Return what a browser takes a file of the page for.

    >>> media_type("explorer.js")
    'text/javascript; charset=utf-8'
    """
    return MEDIA_TYPES[Path(name).suffix]
