"""Response times of the explorer over HTTP, and the number of clients it can serve.

    python benchmarks/explorer.py [--cube CUBE] [--turns 20] [--clients 50] [--seconds 60]

The query is the 116 authors of ``load_labs``; the cube of the bundled papers is built unless a folder is given. The
server is ``cube2net explore`` in its own process. A move is what the page does when something is slid, pinned, banned
or preferred: it requests a network that was not requested before, then a layout. Then many clients request random
networks and layouts at once, and their answers are compared with those for a single client. *CPU* is the time that the
server computes for a move (Linux only).
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n

GOAL = 100.0
"""A move is to be answered within so many milliseconds."""
SECONDS = re.compile(rb'"seconds":\{[^{}]*\}')
"""What differs between two answers to the same question."""
NetworkRequest = dict[str, Any]


class Visitor:
    """A client that keeps its connection, like a browser."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, name: str, question: dict[str, Any]) -> bytes:
        """Return the bytes of the answer to a request."""
        self.connection.request("POST", f"/api/v1/{name}", json.dumps(question), self.headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"{name}: {response.status} {body.decode()}")
        return body


@contextmanager
def served(cube: Path) -> Iterator[tuple[int, str, int]]:
    """Start a server for a context; yield its port, token and process number."""
    command = [sys.executable, "-m", "cube2net", "explore", str(cube), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            found = None
            while found is None:
                found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)", process.stdout.readline())
            yield int(found[1]), found[2], process.pid
        finally:
            process.terminate()


def moves(asked: NetworkRequest, answer: dict[str, Any], turns: int) -> dict[str, list[NetworkRequest]]:
    """Return requests by kind of move, each one step from the first request."""
    cells = [{"cell": cell["labels"]} for cell in answer["cells"]]
    others = [
        key for key, role in zip(answer["nodes"]["id"], answer["nodes"]["role"], strict=True) if role == "neighbor"
    ]
    return {
        "slide m": [{**asked, "n_cells": 5 + 3 * turn} for turn in range(turns)],
        "slide near": [{**asked, "n_neighbors": 10 + 7 * turn} for turn in range(turns)],
        "pin a cell": [
            {**asked, "n_cells": 12, "pins": [cells[turn % len(cells)]], "n_neighbors": 50 + turn}
            for turn in range(turns)
        ],
        "ban a cell": [{**asked, "bans": [cell]} for cell in cells[:turns]],
        "ban an object": [{**asked, "bans": [{"object": key}]} for key in others[:turns]],
        "pin an object": [{**asked, "n_neighbors": 5, "pins": [{"object": key}]} for key in others[-turns:]],
        "prefer an object": [{**asked, "prefer": [key]} for key in others[:turns]],
    }


def keys(nodes: dict[str, Any]) -> list[str]:
    """Return a unique key per node."""
    return [str(labels or key) for key, labels in zip(nodes["id"], nodes["labels"], strict=True)]


def moved(visitor: Visitor, ask: NetworkRequest, places: dict[str, list[float]]) -> tuple[float, float, int]:
    """Return the times of the network and its layout, and the size of the answers."""
    begun = time.perf_counter()
    body = visitor.ask("construct", {"request": ask})
    made = time.perf_counter()
    start = [places.get(key) for key in keys(json.loads(body)["nodes"])]
    turned = time.perf_counter()
    drawn = visitor.ask("layout", {"request": ask, "start": start})
    ended = time.perf_counter()
    return (made - begun) * 1000, (ended - turned) * 1000, len(body) + len(drawn)


def computed(pid: int) -> float:
    """Return the milliseconds of processor time of a process so far, nan if unknown."""
    told = Path(f"/proc/{pid}/stat")
    if not told.exists():
        return float("nan")
    fields = told.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def show_moves(visitor: Visitor, asked: NetworkRequest, turns: int, pid: int) -> list[NetworkRequest]:
    """Print the times of moves by kind, and return all of them."""
    answer = json.loads(visitor.ask("construct", {"request": asked}))
    places = json.loads(visitor.ask("layout", {"request": asked}))["places"]
    known = dict(zip(keys(answer["nodes"]), places, strict=True))
    print(f"{answer['sentence']}; milliseconds\n")
    print("| move | network | places | both, median | both, 95 % | CPU | most kB | within 100 ms |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    every: list[NetworkRequest] = []
    for kind, asks in moves(asked, answer, turns).items():
        before = computed(pid)
        times = np.array([moved(visitor, ask, known) for ask in asks])
        cpu = (computed(pid) - before) / len(asks)
        both = times[:, 0] + times[:, 1]
        row = [f"{np.median(column):.1f}" for column in (times[:, 0], times[:, 1], both)]
        row += [f"{np.percentile(both, 95):.1f}", f"{cpu:.0f}", f"{times[:, 2].max() / 1000:.0f}"]
        row += [f"{np.mean(both <= GOAL):.0%}"]
        print(f"| {kind} | " + " | ".join(row) + " |", flush=True)
        every += asks
    return every


def same(body: bytes) -> bytes:
    """Return an answer without its times, for comparison."""
    return hashlib.sha256(SECONDS.sub(b"", body)).digest()


def show_crowd(port: int, token: str, asks: list[NetworkRequest], clients: int, seconds: float) -> int:
    """Print how long many clients wait; return how many answers differ."""
    single = Visitor(port, token)
    questions = [(name, {"request": ask}) for ask in asks for name in ("construct", "layout")]
    expected = [same(single.ask(*question)) for question in questions]
    last = time.monotonic() + seconds
    waited: list[list[float]] = [[] for _ in range(clients)]
    wrong = [0] * clients
    failed: list[BaseException] = []

    def visit(number: int) -> None:
        rng = np.random.default_rng(number)
        visitor = Visitor(port, token)
        try:
            while time.monotonic() < last:
                at = int(rng.integers(len(questions)))
                begun = time.perf_counter()
                body = visitor.ask(*questions[at])
                waited[number].append((time.perf_counter() - begun) * 1000)
                wrong[number] += same(body) != expected[at]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    times = np.concatenate(waited)
    half, most = np.percentile(times, [50, 99])
    print(
        f"\n{clients} clients for {seconds:g} seconds: {len(times):,} answers, {sum(wrong):,} unlike those of a single "
        f"client; {len(times) / seconds:.0f} a second, half within {half:.0f} ms, 99 % within {most:.0f} ms"
    )
    return sum(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cube", type=Path)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.cube or Path(folder) / "cube"
        if asked.cube is None:
            c2n.build(c2n.load_bundled(), out=place)
        cube = c2n.open(place)
        query = cube.query(c2n.load_labs())
        ask = {"query": cube.objects.ids(query.objects).to_pylist(), "labels": list(query.labels or ())}
        with served(place) as (port, token, pid):
            every = show_moves(Visitor(port, token), ask, asked.turns, pid)
            if show_crowd(port, token, every[:: max(1, len(every) // 20)], asked.clients, asked.seconds):
                raise SystemExit("answers differ")


if __name__ == "__main__":
    main()
