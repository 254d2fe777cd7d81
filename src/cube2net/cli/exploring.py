"""The command that serves the explorer's page."""

from __future__ import annotations

from typing import Annotated

import typer

from cube2net.cli.options import CubePath
from cube2net.cli.terminal import complain, show_text
from cube2net.extras import require


def explore(
    cube: CubePath,
    port: Annotated[int, typer.Option(help="The port to listen at. With 0, a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen at. Others than this machine need another.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser, only print the address.")] = False,
) -> None:
    """Serve a page on which to ask a cube, see networks and steer them, until Ctrl-C."""
    require("the explorer", "starlette", "uvicorn")
    from cube2net import pipeline
    from cube2net.explorer.serving import ExplorerServer

    with ExplorerServer(pipeline.open_cube(cube), host=host, port=port) as server:
        show_text(server.address)
        complain("Ctrl-C ends it")
        if not no_browser:
            import webbrowser

            webbrowser.open(server.address)
        server.wait()
