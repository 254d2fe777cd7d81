"""The command that lets a language model ask a cube."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from cube2net.cli.options import CubePath
from cube2net.cli.terminal import complain


def mcp(cube: CubePath) -> None:
    """Let a language model ask a cube: a server of the Model Context Protocol on standard input and output.

    It is started by the model's program, which holds both ends; it writes nothing but the protocol to standard
    output, changes nothing, and ends when its input does.
    """
    from cube2net import pipeline
    from cube2net.extras import require

    require("the assistant", "mcp")
    opened = pipeline.open_cube(cube)
    from cube2net.assistant import serve
    from cube2net.compiling import announce_to

    if os.isatty(0):
        complain("cube2net: waiting for a program of the Model Context Protocol to ask; Ctrl-D ends")
    with wires() as (given, wanted), announce_to(None):
        serve(opened, given, wanted)


@contextmanager
def wires() -> Iterator[tuple[BinaryIO, BinaryIO]]:
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
