"""The command that serves the explorer's page."""

from __future__ import annotations

import dataclasses
import html
import ipaddress
import sys
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cube2net.atomic_files import temporary_folder
from cube2net.cli.options import Quiet, Seed, Set, SkipMissing
from cube2net.cli.terminal import complain, say, show_text
from cube2net.errors import ParameterError, some
from cube2net.extras import require

if TYPE_CHECKING:
    from cube2net.records import Cube

OPENING = 60.0
"""So many seconds a browser has to open the page."""


def explore(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[CUBE|FILE…]",
            help="Folder of a cube; or a spreadsheet (.xlsx, .csv, …), tables of nodes and links, or a graph: of these "
            "a cube is made beside them.",
        ),
    ] = None,
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
    dimension: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=ATTRIBUTE][@BINS][/LEVEL…]", help="Of tables: a dimension, as in build."),
    ] = None,
    min_objects: Annotated[
        int | None, typer.Option(help="Of tables: leave out cells with fewer objects; 2 to 10 by their size.", min=1)
    ] = None,
    set_: Set = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Serve a page to ask a cube, see networks and steer them, until Ctrl-C.

    Of a spreadsheet the cube is made first, by what its columns hold, and kept in a folder beside it. Without a name
    the page lets you choose a spreadsheet.
    """
    require("the explorer", "starlette", "uvicorn")
    from cube2net import pipeline
    from cube2net.cli import opening

    opening.check_files(paths or [])
    if paths and opening.is_cube(paths):
        for name, value in (("dimension", dimension), ("min-objects", min_objects), ("set", set_)):
            if value:
                raise ParameterError(f"--{name} is for tables, and {str(paths[0])!r} is a cube already")
        _serve(pipeline.open_cube(paths[0]), query, port, host, no_browser, skip_missing)
        return
    if not paths:
        if query is not None:
            raise ParameterError("--query is for a cube or a spreadsheet, and none is named")
        _serve(None, None, port, host, no_browser, skip_missing)
        return
    with opening.cube_of_tables(
        paths, settings=set_ or [], dimensions=dimension or [], min_objects=min_objects, seed=seed, quiet=quiet
    ) as cube:
        _serve(cube, query, port, host, no_browser, skip_missing)


def _serve(opened: Cube | None, query: Path | None, port: int, host: str, no_browser: bool, skip_missing: bool) -> None:
    """Serve the explorer of a cube until it is ended."""
    from cube2net import pipeline
    from cube2net.cli import answering
    from cube2net.explorer.openings import Openings
    from cube2net.explorer.page_files import missing_page
    from cube2net.explorer.serving import ExplorerServer

    asked, unsure = None, []
    if opened is not None and query is not None:
        asked = pipeline.read_query(opened, query, skip_missing=True)
        unsure = [] if skip_missing else pipeline.unresolved_names(opened, query)
    with temporary_folder() as given, ExitStack() as ends:
        openings = Openings(given, Path.cwd()) if opened is None else None
        server = ends.enter_context(
            ExplorerServer(opened, asked, unresolved=unsure, host=host, port=port, openings=openings)
        )
        say("choose a spreadsheet on the page, until Ctrl-C at" if opened is None else f"{opened}, until Ctrl-C at")
        show_text(server.address)
        if opened is not None and asked is not None:
            answering.show_missing(dataclasses.replace(asked, missing=()) if unsure else asked, cube=opened)
        if unsure:
            names = some([name for name, _ in unsure])
            say(f"unknown or the name of several objects, to be mended on the page: {len(unsure):,} ({names})")
        if not _is_loopback(host):
            may = "read the cube"
            if opened is None:
                may = "read the cubes of this folder, hand over files, and write cubes of them into it"
            complain(f"whoever reaches this address and has its token can {may}; nothing is encrypted (no TLS)")
        if missing := missing_page():
            complain(missing)
        if not no_browser:
            page = private_page(given, server.address)
            threading.Thread(target=_open, args=(page, server.opened), daemon=True).start()
        sys.stdout.flush()  # a pipe or a file would keep the address to itself until the end
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
