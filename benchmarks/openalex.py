"""Speed and memory of reading OpenAlex works from gzipped JSON lines, compared with the floors: a table.

    python benchmarks/openalex.py SAMPLE… [--works 200000] [--parts FOLDER] [--abstracts no]

The samples are JSON lines of real works, compressed or not. They are repeated with new ids, one part per repetition,
until there are enough works; existing parts are reused. Works are read in a separate process, after one reading that is
not counted. The floors are decompressing alone, and parsing alone with Python's json, on one core, for the first part.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time
from typing import Any

from cube2net._util.zip_files import Meter, open_raw, unpack
from cube2net.io.bibliography.openalex import OpenAlex

IDS = re.compile(rb'("(?:https://openalex\.org/)?[WA])(?=\d+")')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("samples", nargs="+", type=Path)
    parser.add_argument("--works", type=int, default=200_000)
    parser.add_argument("--parts", type=Path)
    parser.add_argument("--abstracts", choices=("yes", "no"), default="yes")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(read(options.samples, options.abstracts == "yes")))
        return
    with TemporaryDirectory() as place:
        folder = options.parts or Path(place)
        paths, works, size = made(folder, options.samples, options.works)
        command = [sys.executable, __file__, *map(str, paths), "--read", "--abstracts", options.abstracts]
        seen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        report(seen, works, size, len(paths), *floors(paths[0]))
        print(f"parts packed {packed(paths, size):.1f} : 1")


def report(seen: dict[str, Any], works: int, size: int, parts: int, unpacking: float, parsing: float) -> None:
    """Print the measurements and the floors."""
    each, count = seen["cpu"] / works * 1e6, works // parts
    print(f"{works:,} works in {parts} parts, {size / works / 1e3:.1f} kB each")
    speed = f"{works / seen['seconds']:,.0f} works a second, {size / seen['seconds'] / 1e6:,.0f} MB/s"
    print(f"read in {seen['seconds']:.1f} s: {speed}")
    print(f"CPU time {each:.0f} µs a work: {2e6 / each:,.0f} works a second on two cores that have nothing else to do")
    for name, floor in (("unpacking", unpacking), ("json.loads", parsing)):
        least = floor / count * 1e6
        print(f"{name} alone {least:.0f} µs a work: the reading takes {each / least:.1f} times that")
    mapped = f"pages of mapped files {seen['mapped'] / 1e6:,.0f} MB, both at once {seen['peak'] / 1e6:,.0f} MB"
    print(f"memory of its own at most {seen['anon'] / 1e6:,.0f} MB, {mapped}")
    print(f"{seen['corpus']}; left out: {seen['dropped']}")


def made(folder: Path, samples: list[Path], works: int) -> tuple[list[Path], int, int]:
    """Make parts with at least this many works; return them, their number and their unpacked size."""
    text = b""
    for sample in samples:
        with open_raw(sample, gauge := Meter().gauge(sample)) as raw, unpack(raw, gauge) as file:
            text += file.read()
    pieces = IDS.split(text)
    each = text.count(b"\n")
    place = folder / "works" / "updated_date=2026-01-05"
    place.mkdir(parents=True, exist_ok=True)
    paths = [place / f"part_{number:04d}.gz" for number in range(-(-works // each))]
    with ProcessPoolExecutor(initializer=_keep, initargs=(pieces,)) as pool:
        sizes = list(pool.map(_part, paths, range(100, 100 + len(paths))))
    return paths, each * len(paths), sum(sizes)


PIECES: list[bytes] = []


def _keep(pieces: list[bytes]) -> None:
    """Store, in a process that makes parts, the text split at the letters of ids."""
    PIECES[:] = pieces


def _part(path: Path, number: int) -> int:
    """Make a part unless it exists, with a number before all ids; return its unpacked size."""
    more = b"%d" % number
    letters = len(PIECES) // 2
    if not path.exists():
        again = b"".join(piece + more if at % 2 else piece for at, piece in enumerate(PIECES))
        path.with_suffix(".part").write_bytes(gzip.compress(again, 1))
        path.with_suffix(".part").replace(path)
    return sum(map(len, PIECES)) + letters * len(more)


def packed(paths: list[Path], size: int) -> float:
    """Return how many times larger the works are than their parts."""
    return size / sum(path.stat().st_size for path in paths)


def read(paths: list[Path], abstracts: bool) -> dict[str, object]:
    """Read the parts; return the time, processor time and memory."""
    reader = OpenAlex(abstracts=abstracts, max_unpacked="1000GB")
    reader.read(paths[:1])
    most, done = dict.fromkeys(("RssAnon", "RssFile", "VmRSS"), 0), Event()

    def watch() -> None:
        while not done.wait(0.02):
            for name, seen in most.items():
                most[name] = max(seen, memory(name))

    watcher = Thread(target=watch)
    watcher.start()
    begin, cpu = perf_counter(), process_time()
    corpus = reader.read(paths)
    seconds, cpu = perf_counter() - begin, process_time() - cpu
    done.set()
    watcher.join()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "anon": most["RssAnon"],
        "mapped": most["RssFile"],
        "peak": most["VmRSS"],
        "corpus": repr(corpus),
        "dropped": dict(corpus.dropped),
    }


def memory(name: str) -> int:
    """Return a figure of the memory of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def floors(path: Path) -> tuple[float, float]:
    """Return the processor time to decompress a part, and to parse it with json."""
    packed_bytes = path.read_bytes()
    begin = process_time()
    engine = zlib.decompressobj(wbits=31)
    pieces = [engine.decompress(packed_bytes[at : at + 2**16]) for at in range(0, len(packed_bytes), 2**16)]
    middle = process_time()
    for line in b"".join(pieces).splitlines():
        json.loads(line)
    return middle - begin, process_time() - middle


if __name__ == "__main__":
    main()
