"""The same answers by everybody, who take turns, each in a process of its own."""

from __future__ import annotations

import hashlib
import importlib
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.network.pagerank import select_highest
from measures.answers import SIZES
from measures.contestants import CONTESTANTS, DAMPING, matrix_of
from measures.literature import person_query
from measures.processes import Results, alone, bare, clocked, memory, result_of, timed, worker

# NetworkX needs so much memory that it runs against us alone, when the others are gone.
HEATS = {"race": [name for name in CONTESTANTS if name != "NetworkX"], "race-networkx": ["cube2net", "NetworkX"]}
STEPS = {"one hop": 1, "two hops": 2}
ROUNDS, PATIENCE = 9, 6.0
MISSING = "not installed"
# In a contestant's process: it, and the queries by their size.
ENTERED: dict[str, Any] = {}


def measure(results: Results, cube: Path, work: Path, queries: dict[int, Array] | None = None, mark: str = "") -> None:
    """Race for the queries of a cube: one hop and two with all links, and PageRank."""
    if queries is None:
        opened = c2n.open(cube)
        queries = {size: person_query(opened, size) for size in SIZES}
        del opened
    for heat, names in HEATS.items():
        results.measure(heat + mark, race, cube, work, queries, names)
    results.measure("exact" + mark, lambda: {"tops": bare(alone(exact, cube, queries))["tops"]})


def race(cube: Path, work: Path, queries: dict[int, Array], names: list[str]) -> dict[str, Any]:
    """Return everybody's times, answers and what it took to get ready."""
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        pools = {}
        for name in names:
            pool = stack.enter_context(worker())
            ready = result_of(pool.submit(enter, name, cube, work, queries))
            found[name] = {"note": CONTESTANTS[name].note, "ready": ready, "tasks": {}}
            if ready != MISSING:
                pools[name] = pool
                print(f"          {name} is ready: {ready['seconds']:.1f} s, {ready['anon'] / 1e9:.2f} GB", flush=True)
        for size in queries:
            for task in (*STEPS, "PageRank"):
                print(f"          {task} from {size:,}", flush=True)
                _rounds(pools, found, task, size)
        for name, pool in pools.items():
            found[name]["after"] = result_of(pool.submit(memory))
    return {"contestants": found}


def _rounds(pools: dict[str, Any], found: dict[str, Any], task: str, size: int) -> None:
    """Let everybody take turns at one task; who has used up the patience takes no more."""
    verb = "pagerank" if task == "PageRank" else "hops"
    names = [name for name in pools if hasattr(CONTESTANTS[name], verb)]
    if task != "PageRank":
        names = [name for name in names if name != "cube2net, tight"]
    if names == ["cube2net"]:
        return
    for number in range(ROUNDS + 1):
        for name in names:
            tasks = found[name]["tasks"]
            ours = found["cube2net"]["tasks"].get(f"{task} {size}", {})
            if ours.get("links", 0) > getattr(CONTESTANTS[name], "most_links", np.inf):
                continue
            own = tasks.get(f"{task} {size}", {"turns": [], "cpus": []})
            if sum(own["turns"]) > PATIENCE:
                continue
            turn = result_of(pools[name].submit(take_turn, task, size, number == 0))
            tasks[f"{task} {size}"] = own
            if number or turn["seconds"] > PATIENCE / 2:
                own["turns"].append(turn["seconds"])
                own["cpus"].append(turn["cpu"])
            own |= {key: value for key, value in turn.items() if key not in ("seconds", "cpu")}


def enter(name: str, cube: Path, work: Path, queries: dict[int, Array]) -> Any:
    """Get a contestant ready in this process; importing its package is not timed."""
    c2n.open(cube)
    try:
        for package in CONTESTANTS[name].needs:
            importlib.import_module(package)
    except ImportError:
        return MISSING
    before = memory()
    seconds, ENTERED["self"] = timed(lambda: CONTESTANTS[name](cube, work))
    ENTERED["queries"] = queries
    after = memory()
    return {
        "seconds": seconds,
        "pid": os.getpid(),
        **{key: after[key] - before[key] for key in ("anon", "file", "peak")},
    }


def take_turn(task: str, size: int, show: bool) -> dict[str, Any]:
    """Answer once; the first time also show the answer: nodes and links with a checksum, or the best objects."""
    contestant, rows = ENTERED["self"], ENTERED["queries"][size]
    if task == "PageRank":
        seconds, cpu, scores = clocked(lambda: contestant.pagerank(rows, top_of(rows)))
        return {"seconds": seconds, "cpu": cpu, **({"top": _top(np.asarray(scores), rows)} if show else {})}
    seconds, cpu, answer = clocked(lambda: contestant.hops(rows, STEPS[task]))
    if not show:
        return {"seconds": seconds, "cpu": cpu}
    return {"seconds": seconds, "cpu": cpu, **_shown(*contestant.plain(answer))}


def _shown(nodes: Array, source: Array, target: Array) -> dict[str, Any]:
    """Return the counts of nodes and links, and a checksum that does not depend on their order."""
    pairs = np.sort(np.minimum(source, target).astype(np.int64) << 32 | np.maximum(source, target).astype(np.int64))
    summed = hashlib.sha256(np.sort(nodes).astype(np.int64).tobytes() + pairs.tobytes()).hexdigest()
    return {"nodes": len(nodes), "links": len(pairs), "sum": summed[:16]}


def top_of(rows: Array) -> int:
    """Return how many objects PageRank brings: as many as cube2net does when nobody says."""
    return min(max(4 * len(rows), 100), 5_000)


def _top(scores: Array, rows: Array) -> list[int]:
    if scores.dtype.kind == "f":
        scores = scores.copy()
        scores[rows] = 0.0
        scores = select_highest(scores, top_of(rows))
    return [int(row) for row in scores]


def exact(cube: Path, queries: dict[int, Array]) -> dict[str, Any]:
    """Return the objects of highest exact score, by plain iteration in double precision."""
    matrix = matrix_of(c2n.open(cube))
    strength = np.asarray(matrix.sum(axis=1)).ravel()
    step = matrix @ sp.diags(np.divide(DAMPING, strength, out=np.zeros_like(strength), where=strength > 0))
    tops = {}
    for size, rows in queries.items():
        start = np.zeros(len(strength))
        start[rows] = 1.0 / len(rows)
        scores = start
        for _ in range(300):
            new = step @ scores
            new += (1.0 - new.sum()) * start
            moved = np.abs(new - scores).sum()
            scores = new
            if moved < 1e-9:
                break
        tops[str(size)] = _top(scores, rows)
    return {"tops": tops}
