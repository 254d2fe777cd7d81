"""The commands explore, which serves a cube to a browser, and mcp, which serves it to an assistant."""

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


OPEN_TIMEOUT_SECONDS = 60.0
"""Time for a browser to open the page before its file is removed."""


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
        int | None, typer.Option(help="Of tables: leave out cells with fewer objects, as in build.", min=1)
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
    """Serve the explorer of a cube until it is stopped."""
    from cube2net.apps.server.application import describe_missing_page
    from cube2net.apps.server.serve import ExplorerServer
    from cube2net.apps.server.sessions import CubeOpener

    query_objects, unresolved = None, []
    if opened is not None and query is not None:
        query_objects = c2n.read_query(opened, query, skip_missing=True)
        unresolved = [] if skip_missing else c2n.api.unresolved_names(opened, query)
    with temporary_folder() as upload_folder, ExitStack() as stack:
        opener = CubeOpener(upload_folder, Path.cwd()) if opened is None else None
        server = stack.enter_context(
            ExplorerServer(opened, query_objects, unresolved=unresolved, host=host, port=port, opener=opener)
        )
        say(f"{'choose a spreadsheet' if opened is None else opened} on this page (Ctrl-C to stop):")
        show_text(server.address)
        if opened is not None and query_objects is not None:
            show_missing(dataclasses.replace(query_objects, missing=()) if unresolved else query_objects, cube=opened)
        if unresolved:
            names = quote_few([name for name, _ in unresolved])
            say(f"unknown or the name of several objects, to be mended on the page: {len(unresolved):,} ({names})")
        if not _is_loopback(host):
            permission = "read the cube"
            if opened is None:
                permission = "read the cubes of this folder, hand over files, and write cubes of them into it"
            complain(f"whoever reaches this address and has its token can {permission}; nothing is encrypted (no TLS)")
        if missing := describe_missing_page():
            complain(missing)
        if not no_browser:
            page = private_page(upload_folder, server.address)
            threading.Thread(target=_open_page, args=(page, server.opened), daemon=True).start()
        sys.stdout.flush()  # otherwise a pipe or a file receives the address only at the end
        server.wait()


def private_page(folder: Path, address: str) -> Path:
    """Write a private page that redirects to an address, because all users can read the arguments of a browser."""
    page = folder / "explore.html"
    page.touch(mode=0o600)
    page.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>cube2net</title>'
        f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">',
        encoding="utf-8",
    )
    return page


def _open_page(page: Path, opened: threading.Event) -> None:
    """Open the page that redirects to the explorer, and remove it after use."""
    webbrowser.open(page.as_uri())
    opened.wait(OPEN_TIMEOUT_SECONDS)
    page.unlink(missing_ok=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


MANIFEST = "manifest.json"


def check_files(paths: Sequence[Path]) -> None:
    """Raise if a file or cube does not exist, and suggest the nearest name in its folder."""
    from cube2net.io.graphs import GRAPH_ENDINGS

    endings = (*c2n.api.TABLE_ENDINGS, *GRAPH_ENDINGS)

    def is_sheet(name: str) -> bool:
        return name.casefold().removesuffix(".gz").endswith(endings)

    for path in paths:
        if path.exists():
            continue
        try:
            available = sorted(file.name for file in path.parent.iterdir() if is_sheet(file.name) and file.is_file())
        except OSError:
            available = []
        nearest = suggest_name(path.name, available)
        if nearest is not None or is_sheet(path.name) or len(paths) > 1:
            hint = f"did you mean {str(path.parent / nearest)!r}?" if nearest is not None else "check the path"
            raise SourceError(f"there is no file {str(path)!r}: {hint}")
        c2n.api.read_manifest(path)  # raises an error


def is_cube(paths: Sequence[Path]) -> bool:
    """Return whether the paths are the folder of a cube."""
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
    """Provide the cube of files, building it if it does not exist or they have changed, and show what was read."""
    from cube2net.api.checkpoints import checkpoint_folder

    reader = _make_reader(paths, settings)
    identity = c2n.api.identify_reading(reader, paths, dimensions, min_objects, seed=seed)
    place, kept_cube = c2n.api.cube_beside(paths, identity, say=say)
    if kept_cube is not None:
        say(
            f"{place.name} is used again, for {join_names([path.name for path in paths])} and the options are as before"
        )
        show_reading(kept_cube)
        yield kept_cube
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


def _make_reader(paths: Sequence[Path], settings: Sequence[str]) -> Source:
    """Return the source that reads the files, with the given settings."""
    from cube2net.io.sources import SOURCES

    name = c2n.api.sheet_source(paths)
    options = typed_values(SOURCES[name], split_settings(settings), f"source {name!r}")
    return c2n.api.sheet_reader(paths, options)


def show_reading(cube: Cube) -> None:
    """Show the role of each column, the rows left out, and the dimensions with the reason for them."""
    reading = c2n.api.reading_in(cube.settings)
    if reading is None:
        return
    rows = [(entry["column"], entry["what"], entry["why"]) for entry in reading["columns"]]
    show_table("what was read", ("column", "is", "why"), rows)
    left_out = ", ".join(f"{entry['reason']} {entry['count']:,}" for entry in reading["left_out"])
    say(
        f"left out: {left_out or 'nothing'}",
        f"dimensions {join_names(reading['dimensions'])}, cells of {reading['min_objects']:,} or more: "
        f"{reading['reason']}",
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
    with standard_streams() as (input_stream, output_stream), report_compiling_to(None):
        serve(opened, input_stream, output_stream)


@contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Provide standard input and output as bytes; other output goes to standard error in the meantime."""
    raw_output = getattr(sys.stdout, "raw", sys.stdout)
    old_stdout = sys.stdout
    old_stdout.flush()
    input_stream = os.fdopen(os.dup(0), "rb")
    sys.stdout = sys.stderr
    try:
        if _get_descriptor(raw_output) != 1:
            yield input_stream, raw_output.buffer
            return
        descriptor = os.dup(1)
        os.dup2(2, 1)
        try:
            yield input_stream, os.fdopen(descriptor, "wb", closefd=False)
        finally:
            os.dup2(descriptor, 1)
            os.close(descriptor)
    finally:
        sys.stdout = old_stdout
        input_stream.close()


def _get_descriptor(stream: object) -> int | None:
    """Return the file descriptor of a stream, or None."""
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
