"""The site as built by ``make docs``, and a local server for it."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
"""The elements that have a browser load something, and by which attribute."""
SHOWN_BY_LINK = ("stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "prefetch")


def make_site(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site in a folder; any warning is an error."""
    words = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", "-d", str(folder / "trees")]
    command = [sys.executable, "-m", "sphinx", *words, str(DOCS), str(folder / "site")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@dataclass
class Loads(HTMLParser):
    """Collects what a page makes a browser load."""

    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what an element loads."""
        given = dict(attrs)
        shown = tag != "link" or any(word in SHOWN_BY_LINK for word in (given.get("rel") or "").split())
        if tag in LOADS and shown and given.get(LOADS[tag]):
            self.found.append(str(given[LOADS[tag]]))


def loads_of(page: Path) -> list[str]:
    """Return the addresses that a page or a style sheet makes a browser load."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".css":
        return re.findall(r"url\(\s*[\"']?([^)\"']+)", text) + re.findall(r"@import\s+[\"']([^\"']+)", text)
    reader = Loads()
    reader.feed(text)
    return reader.found


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, *words: Any) -> None:
        """Ignore a message."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine for a context; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
