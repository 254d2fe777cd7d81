"""What a worker process does: it opens the cube, and answers questions that come as lines of JSON.

It ends when its input does, so that none outlives the server, however that ends.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from cube2net._util.progress import Progress, ThrottledProgress
from cube2net.api.cubes import open_cube
from cube2net.apps.server.responses import WORKING, failure, json_bytes
from cube2net.apps.service.service import FILE, ROUTES, Desk, KeptChoice
from cube2net.errors import CubeError

Answering = Callable[[Mapping[str, Any], Mapping[str, Any], Progress], Iterable[dict[str, Any]]]
"""Yields what is said to a question, by what the process was told it is about."""


def main() -> None:
    """Answer questions about a cube until there are no more."""
    desks: list[Desk] = []

    def answering(about: Mapping[str, Any], asked: Mapping[str, Any], progress: Progress) -> Iterator[dict[str, Any]]:
        if not desks:
            desks.append(_desk(about))
        progress(WORKING, 0)
        if asked["choice"] is not None:
            desks[0].keep_choice(KeptChoice(*asked["choice"]))
        yield from said(desks[0], asked["name"], asked["question"], progress)

    answer_lines(answering)


def answer_lines(answering: Answering) -> None:
    """Answer the questions that come as lines until there are no more; what goes wrong is an answer, too."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    about = json.loads(lines.get())
    while True:
        asked = json.loads(lines.get())
        try:
            for each in answering(about, asked, ThrottledProgress(_WrittenProgress(out))):
                _write(out, each)
        except BaseException as error:
            status, body = failure(error)
            _write(out, {**body, "status": status})


def _listen(source: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)


def _desk(about: Mapping[str, Any]) -> Desk:
    desk = Desk(open_cube(Path(about["folder"])), most_nodes=about["nodes"])
    if desk.checksum != about["checksum"]:
        raise CubeError(
            f"{about['folder']!r} holds another cube than when the explorer was started: start it again to ask that"
        )
    return desk


def said(desk: Desk, name: str, question: Mapping[str, Any], progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield what a worker says to a question: what was chosen, the report where there is one, the answer or a file."""
    if name == FILE:
        file = desk.file(question, progress)
        yield from _chosen(desk, question)
        content = base64.b64encode(file.content).decode("ascii")
        yield {"file": {"name": file.name, "media_type": file.media_type, "content": content}}
        return
    answer = desk.answer(name, question, progress)
    if ROUTES[name].networks:
        yield from _chosen(desk, question)
    if name == "compare" and answer.get("report"):
        yield {"report": {"key": answer["report"], "page": desk.report(answer["report"])}}
    yield {"answer": answer}


def _chosen(desk: Desk, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choice = desk.choice(question)
    if choice is not None:
        yield {"choice": list(choice)}


class _WrittenProgress:
    """Progress as lines of JSON."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        _write(self._out, {"progress": {"stage": stage, "done": done, "total": total}})

    def note(self, text: str) -> None:
        _write(self._out, {"note": text})


_writing = threading.Lock()


def _write(out: IO[bytes], value: object) -> None:
    line = json_bytes(value) + b"\n"
    with _writing:
        out.write(line)
        out.flush()
