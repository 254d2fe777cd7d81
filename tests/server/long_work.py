"""Work that never ends, the processes that do it, and waiting for what comes true."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 60.0
ENDLESS = {"method": "anneal", "options": {"steps": 2_000_000_000}}
"""A question that nobody lives to see answered."""


def until(what: Callable[[], bool]) -> None:
    """Return when something is true; fail where it does not become so."""
    last = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < last, "it did not come true"
        time.sleep(0.02)


def is_there(pid: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def first_progress(response: Any) -> dict[str, Any]:
    line = json.loads(response.readline())
    assert set(line) == {"progress"}, line
    return dict(line["progress"])


def working(client: Any) -> list[int]:
    return list(client.server.work.workers.pids)


def begin(client: Any, network_request: dict[str, Any]) -> tuple[Any, int]:
    """Return the stream of endless work that has begun, and the process that does it."""
    before = set(working(client))
    stream = client.open_stream("construct", {"request": {**network_request, **ENDLESS}})
    while first_progress(stream)["stage"] in ("starting a worker", "waiting for other long work"):
        pass
    (pid,) = set(working(client)) - before
    return stream, pid
