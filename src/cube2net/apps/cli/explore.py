"""The commands that serve a cube: explore in a browser, mcp for an assistant."""

from __future__ import annotations

import dataclasses
import html
import ipaddress
import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

import cube2net as c2n
from cube2net._util.files import can_write, temporary_folder
from cube2net._util.packages import require
from cube2net._util.spelling import suggest_name
from cube2net.apps.cli.options import CubePath, Quiet, Seed, Set, SkipMissing, split_settings, typed_values
from cube2net.apps.cli.output import RESUMABLE_PATHS, complain, say, show_table, show_text, shown_progress
from cube2net.apps.cli.query import show_missing
from cube2net.errors import ParameterError, SourceError, join_names, quote_few

if TYPE_CHECKING:
    from cube2net.model.cube import Cube
    from cube2net.model.interfaces import Source


OPENING = 60.0
"""So many seconds a browser has to open the page."""


def explore(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[CUBE|FILE…]",
            help="Folder of a cube; or a spreadsheet (.xlsx, .csv, …), tables of nodes and links, or a graph: of these "
            "their cube is built beside them.",
        ),
    ] = None,
    query: Annotated[
        Path | None,
        typer.Option("--query", metavar="FILE|NAMES", help="Start with the network of these names."),
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
    check_files(paths or [])
    if paths and is_cube(paths):
        for name, value in (("dimension", dimension), ("min-objects", min_objects), ("set", set_)):
            if value:
                raise ParameterError(f"--{name} is for tables, and {str(paths[0])!r} is a cube already")
        _serve(c2n.open(paths[0]), query, port, host, no_browser, skip_missing)
        return
    if not paths:
        if query is not None:
            raise ParameterError("--query is for a cube or a spreadsheet, and none is named")
        _serve(None, None, port, host, no_browser, skip_missing)
        return
    with cube_of_tables(
        paths, settings=set_ or [], dimensions=dimension or [], min_objects=min_objects, seed=seed, quiet=quiet
    ) as cube:
        _serve(cube, query, port, host, no_browser, skip_missing)


def _serve(opened: Cube | None, query: Path | None, port: int, host: str, no_browser: bool, skip_missing: bool) -> None:
    """Serve the explorer of a cube until it is ended."""
    from cube2net.apps.server.application import describe_missing_page
    from cube2net.apps.server.serve import ExplorerServer
    from cube2net.apps.server.sessions import CubeOpener

    asked, unsure = None, []
    if opened is not None and query is not None:
        asked = c2n.read_query(opened, query, skip_missing=True)
        unsure = [] if skip_missing else c2n.api.unresolved_names(opened, query)
    with temporary_folder() as given, ExitStack() as ends:
        opener = CubeOpener(given, Path.cwd()) if opened is None else None
        server = ends.enter_context(
            ExplorerServer(opened, asked, unresolved=unsure, host=host, port=port, opener=opener)
        )
        say(f"{'choose a spreadsheet' if opened is None else opened} on this page (Ctrl-C to stop):")
        show_text(server.address)
        if opened is not None and asked is not None:
            show_missing(dataclasses.replace(asked, missing=()) if unsure else asked, cube=opened)
        if unsure:
            names = quote_few([name for name, _ in unsure])
            say(f"unknown or the name of several objects, to be mended on the page: {len(unsure):,} ({names})")
        if not _is_loopback(host):
            may = "read the cube"
            if opened is None:
                may = "read the cubes of this folder, hand over files, and write cubes of them into it"
            complain(f"whoever reaches this address and has its token can {may}; nothing is encrypted (no TLS)")
        if missing := describe_missing_page():
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


MANIFEST = "manifest.json"


def check_files(paths: Sequence[Path]) -> None:
    """Raise where a spreadsheet is not there, with the nearest name in its folder, or a cube is not."""
    from cube2net.io.graphs import GRAPH_ENDINGS

    endings = (*c2n.api.TABLE_ENDINGS, *GRAPH_ENDINGS)

    def is_sheet(name: str) -> bool:
        return name.casefold().removesuffix(".gz").endswith(endings)

    for path in paths:
        if path.exists():
            continue
        try:
            there = sorted(one.name for one in path.parent.iterdir() if is_sheet(one.name) and one.is_file())
        except OSError:
            there = []
        near = suggest_name(path.name, there)
        if near is not None or is_sheet(path.name) or len(paths) > 1:
            hint = f"did you mean {str(path.parent / near)!r}?" if near is not None else "check the path"
            raise SourceError(f"there is no file {str(path)!r}: {hint}")
        c2n.api.read_manifest(path)  # which says that there is no cube


def is_cube(paths: Sequence[Path]) -> bool:
    """Return whether what is to be explored is a cube."""
    return len(paths) == 1 and (paths[0] / MANIFEST).exists()


@contextmanager
def cube_of_tables(
    paths: Sequence[Path],
    *,
    settings: Sequence[str],
    dimensions: Sequence[str],
    min_objects: int | None,
    seed: int,
    quiet: bool,
) -> Iterator[Cube]:
    """Give the cube of files, which is made where it is not there or they have changed, and say what was read."""
    from cube2net.api.checkpoints import checkpoint_folder

    reader = _reader(paths, settings)
    identity = c2n.api.identify_reading(reader, paths, dimensions, min_objects, seed=seed)
    place, kept = c2n.api.cube_beside(paths, identity, say=say)
    if kept is not None:
        say(
            f"{place.name} is used again, for {join_names([path.name for path in paths])} and the options are as before"
        )
        show_reading(kept)
        yield kept
        return
    with temporary_folder() as folder:
        if not can_write(place.parent):
            say(f"cannot write beside {paths[0].name}: the cube is deleted when this command ends")
            place = folder / place.name
        RESUMABLE_PATHS.append(checkpoint_folder(place))
        with shown_progress(quiet) as progress:
            reading = c2n.api.read_spreadsheet(
                reader, paths, dimensions=dimensions, min_objects=min_objects, seed=seed, progress=progress
            )
            cube = c2n.api.build_from_reading(reading, place, identity=identity, seed=seed, progress=progress)
        say(f"kept in {place.name}, beside {paths[0].name}" if place.parent != folder else f"made {place.name}")
        show_reading(cube)
        yield cube


def _reader(paths: Sequence[Path], settings: Sequence[str]) -> Source:
    """Return what reads the files, with its parameters as they were typed."""
    from cube2net.io.sources import SOURCES

    name = c2n.api.sheet_source(paths)
    options = typed_values(SOURCES[name], split_settings(settings), f"source {name!r}")
    return c2n.api.sheet_reader(paths, options)


def show_reading(cube: Cube) -> None:
    """Show which column was taken for what, which rows were left out, and the dimensions with their reason."""
    read = c2n.api.reading_in(cube.settings)
    if read is None:
        return
    rows = [(each["column"], each["what"], each["why"]) for each in read["columns"]]
    show_table("what was read", ("column", "is", "why"), rows)
    left = ", ".join(f"{each['reason']} {each['count']:,}" for each in read["left_out"])
    say(
        f"left out: {left or 'nothing'}",
        f"dimensions {join_names(read['dimensions'])}, cells of {read['min_objects']:,} or more: {read['reason']}",
        "change this with --set columns=id:COLUMN, --dimension COLUMN and --min-objects NUMBER",
        "",
    )


def mcp(cube: CubePath) -> None:
    """Let a language model ask a cube: a server of the Model Context Protocol on standard input and output.

    It is started by the model's program, which holds both ends; it writes nothing but the protocol to standard
    output, changes nothing, and ends when its input does.
    """
    from cube2net._util.packages import require

    require("the assistant", "mcp")
    opened = c2n.open(cube)
    from cube2net._util.progress import report_compiling_to
    from cube2net.apps.mcp.protocol import serve

    if os.isatty(0):
        complain("cube2net: waiting for a program of the Model Context Protocol to ask; Ctrl-D ends")
    with standard_streams() as (given, wanted), report_compiling_to(None):
        serve(opened, given, wanted)


@contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Give standard input and output as bytes, and let all else that is written meanwhile go to standard error."""
    behind = getattr(sys.stdout, "raw", sys.stdout)
    before = sys.stdout
    before.flush()
    given = os.fdopen(os.dup(0), "rb")
    sys.stdout = sys.stderr
    try:
        if _number(behind) != 1:
            yield given, behind.buffer
            return
        wire = os.dup(1)
        os.dup2(2, 1)
        try:
            yield given, os.fdopen(wire, "wb", closefd=False)
        finally:
            os.dup2(wire, 1)
            os.close(wire)
    finally:
        sys.stdout = before
        given.close()


def _number(stream: object) -> int | None:
    """Return the number of the file behind a stream; None where there is none."""
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
