"""The command that serves the explorer's page."""

from __future__ import annotations

import html
import ipaddress
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cube2net.cli.options import CubePath, SkipMissing
from cube2net.cli.terminal import complain, say, show_text
from cube2net.extras import require
from cube2net.interrupts import unfinished

OPENING = 60.0
"""So many seconds a browser has to open the page."""


def explore(
    cube: CubePath,
    query: Annotated[
        Path | None,
        typer.Option("--query", metavar="FILE", help="Begin with these: names, one a line, or a CSV object[,label]."),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen at; 0 takes a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address to listen at; 127.0.0.1 is reached by this machine only."),
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
    skip_missing: SkipMissing = False,
) -> None:
    """Serve a page to ask a cube, see networks and steer them, until Ctrl-C."""
    require("the explorer", "starlette", "uvicorn")
    from cube2net import pipeline
    from cube2net.cli import answering
    from cube2net.explorer.page_files import missing_page
    from cube2net.explorer.serving import ExplorerServer

    opened = pipeline.open_cube(cube)
    asked = None if query is None else pipeline.read_query(opened, query, skip_missing=skip_missing)
    with ExplorerServer(opened, asked, host=host, port=port) as server:
        say(f"{opened}, until Ctrl-C at")
        show_text(server.address)
        if asked is not None:
            answering.show_missing(asked, cube=opened)
        if not _is_loopback(host):
            complain("whoever reaches this address and has its token can read the cube; nothing is encrypted (no TLS)")
        if missing := missing_page():
            complain(missing)
        with tempfile.TemporaryDirectory(prefix="cube2net-") as folder, unfinished(Path(folder)):
            if not no_browser:
                page = private_page(Path(folder), server.address)
                threading.Thread(target=_open, args=(page, server.opened), daemon=True).start()
            server.wait()


def private_page(folder: Path, address: str) -> Path:
    """Return a file that leads to an address: what a browser is started with, all users of the machine can read."""
    page = folder / "explore.html"
    page.touch(mode=0o600)
    page.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>cube2net</title>'
        f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">',
        encoding="utf-8",
    )
    return page


def _open(page: Path, opened: threading.Event) -> None:
    """Open a page that leads to the explorer, and remove it as soon as it was used."""
    webbrowser.open(page.as_uri())
    opened.wait(OPENING)
    page.unlink(missing_ok=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
