"""Work in processes of its own, what it costs there, and who else was at work meanwhile. Linux only (/proc)."""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "numba", "duckdb", "networkx", "igraph", "torch", "torch-geometric", "scikit-network")
SAMPLE = 0.02


def worker() -> ProcessPoolExecutor:
    """Return a fresh process that does one thing after another, to be used in a ``with``."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def alone(job: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """Return what a job gives in a fresh process, with that process's memory, watched from outside.

    ``memory.peak`` counts all pages (VmHWM), those of mapped files too, which processes share and the system may drop;
    ``memory.anon`` is the most that was the process's own, sampled 50 times a second, and ``memory.samples`` are those
    samples, by the clock.
    """
    with worker() as pool:
        pid = pool.submit(os.getpid).result()
        samples, peak = [], 0
        future = pool.submit(job, *given)
        while not wait([future], timeout=SAMPLE).done:
            seen = memory(pid)
            samples.append((time.time(), seen["anon"]))
            peak = max(peak, seen["peak"])
        found = result_of(future)
        peak = max(peak, memory(pid)["peak"])
    most = max((anon for _, anon in samples), default=0)
    return {**found, "memory": {"peak": peak, "anon": most, "samples": samples}}


def bare(found: dict[str, Any]) -> dict[str, Any]:
    """Return what :func:`alone` gave, without the samples."""
    found["memory"].pop("samples")
    return found


def result_of(future: Future[Any]) -> Any:
    """Return what a process gave; where it was ended from outside, say so."""
    try:
        return future.result()
    except BaseException as error:
        if type(error).__name__ == "BrokenProcessPool":
            raise SystemExit(f"a process was ended from outside, perhaps for want of memory: {error}") from error
        raise


def memory(pid: int | str = "self") -> dict[str, int]:
    """Return the bytes in memory of a process: its own (anon), of mapped files (file), the most of both."""
    names = {"RssAnon": "anon", "RssFile": "file", "RssShmem": "shared", "VmHWM": "peak"}
    found = dict.fromkeys(names.values(), 0)
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in names:
            found[names[name]] = 1024 * int(rest.split()[0])
    return found


def shared(pid: int | str = "self") -> dict[str, int]:
    """Return the proportional bytes of a process (a page that eight share counts an eighth), and its own."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss", "Pss_File", "Anonymous"):
            found[name.lower()] = 1024 * int(rest.split()[0])
    return found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a piece of work took, and what it gave."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def clocked(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return how long a piece of work took, by the clock and of the processor (all threads), and what it gave."""
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - cpu, result


def turns(work: Callable[[], Any], *, most: int = 15, seconds: float = 3.0) -> list[float]:
    """Return the times of a piece of work, done once before: 3 or more, until there are ``most`` or time is up."""
    work()
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < most and sum(taken) < seconds):
        taken.append(timed(work)[0])
    return taken


def median(taken: list[float]) -> float:
    """Return the middle of some times."""
    return float(statistics.median(taken))


class Results:
    """A folder of what was measured, one JSON file a measurement; what is there is not measured again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def measure(self, name: str, job: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
        """Return a measurement: read, or made now and written."""
        path = self.folder / f"{name}.json"
        if path.is_file():
            return self.read(name) or {}
        print(f"{time.strftime('%H:%M:%S')}  {name}", flush=True)
        before, start = _busy(), time.perf_counter()
        load = os.getloadavg()[0]
        found = job(*given)
        wall = time.perf_counter() - start
        after = _busy()
        everybody, own = (after[name] - before[name] for name in ("all", "own"))
        others = max(0.0, everybody - own) / max(wall, 1e-9)
        when = time.strftime("%Y-%m-%d %H:%M")
        found["conditions"] = {"load": load, "others": others, "own": own, "wall": wall, "when": when}
        aside = path.with_suffix(".part")
        aside.write_text(json.dumps(found, indent=1), encoding="utf-8")
        aside.replace(path)
        print(f"          {wall:.1f} s, others {others:.2f} cores", flush=True)
        return found

    def read(self, name: str) -> dict[str, Any] | None:
        """Return a measurement that is there, or None."""
        path = self.folder / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def named(self, start: str) -> list[dict[str, Any]]:
        """Return all measurements whose names begin so, in the order of their names."""
        found = [self.read(path.stem) for path in sorted(self.folder.glob(f"{start}*.json"))]
        return [each for each in found if each is not None]


def machine() -> dict[str, Any]:
    """Return what the machine and the programs are."""
    cpu = Path("/proc/cpuinfo").read_text()
    model = next((line.partition(":")[2].strip() for line in cpu.splitlines() if line.startswith("model name")), "?")
    total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    versions = {}
    for package in ("cube2net", *PACKAGES):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "virtual": " hypervisor" in cpu,
        "memory": 1024 * int(total.split()[1]),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": versions,
    }


def _busy() -> dict[str, float]:
    """Return the seconds of the processor so far: of everybody, the host's other guests included, and of our own."""
    ticks = [int(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    user, nice, system, _, _, irq, soft, steal = ticks
    own = sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )
    return {"all": (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK"), "own": own}
