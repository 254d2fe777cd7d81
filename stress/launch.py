"""Start commands of cube2net quickly, as forks of a process that has imported everything."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stress import ROOT

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["stress.preload"])
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


@dataclass(frozen=True)
class Ended:
    """The end of a command: its status (negative for a signal) and the bytes of both streams."""

    status: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def told(self) -> str:
        """The output as text."""
        return f"status {self.status}\n{self.out.decode(errors='replace')}\n{self.err.decode(errors='replace')}"


class Command:
    """A command that runs in a folder; ``size`` limits the files it may write."""

    def __init__(self, argv: Sequence[str], folder: Path, *, streams: Path, size: int | None = None) -> None:
        streams.mkdir(parents=True, exist_ok=True)
        self.streams = streams
        self.started = time.monotonic()
        self.process: Any = CONTEXT.Process(target=_main, args=(list(argv), folder, streams, size))
        self.process.start()

    def send(self, number: signal.Signals) -> None:
        """Send a signal if the command still runs."""
        if self.process.is_alive():
            os.kill(self.process.pid, number)

    def wait(self, seconds: float = 300.0) -> Ended:
        """Wait for the end of the command; kill it if it takes too long."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        out, err = ((self.streams / name).read_bytes() if (self.streams / name).exists() else b"" for name in STREAMS)
        return Ended(self.process.exitcode, out, err, time.monotonic() - self.started)


def run_command(argv: Sequence[str], folder: Path, *, streams: Path, size: int | None = None) -> Ended:
    """Run a command and return how it ended."""
    return Command(argv, folder, streams=streams, size=size).wait()


STREAMS = ("stdout", "stderr")


def _main(argv: list[str], folder: Path, streams: Path, size: int | None) -> None:
    os.chdir(folder)
    for number, name in enumerate(STREAMS, start=1):
        os.dup2(os.open(streams / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    from cube2net.apps.cli.app import main

    sys.argv = ["cube2net", *argv]
    main()
