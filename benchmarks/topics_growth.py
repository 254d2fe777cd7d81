"""Memory and time of topics for more and more texts, for ``python benchmarks/topics.py --grow``.

Additional texts are combined from the first half of the sentences of one text and the second half of another. They are
written to a memory-mapped file, and each size has its own process, so the peak of anonymous memory is that of finding
topics.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.topics.lda import Lda

BATCH = 10_000
SIZES = (110_000, 330_000, 1_100_000)


def write_texts(texts: Sequence[str | None], count: int, path: Path) -> None:
    """Write items with texts: first the real ones, then combinations of halves."""
    rng = np.random.default_rng(0)
    halves = []
    for text in texts:
        sentences = (text or "").split(". ")
        middle = (len(sentences) + 1) // 2
        halves.append((". ".join(sentences[:middle]), ". ".join(sentences[middle:])))
    schema = pa.schema({"item": pa.string(), "text": pa.string()})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as out:
        for first in range(0, count, BATCH):
            rows = range(first, min(first + BATCH, count))
            one, other = rng.integers(len(texts), size=(2, len(rows))).tolist()
            made = [
                texts[row] if row < len(texts) else f"{halves[a][0]}. {halves[b][1]}"
                for row, a, b in zip(rows, one, other, strict=True)
            ]
            out.write_batch(pa.record_batch([[f"i{row}" for row in rows], made], schema=schema))


def measure(path: Path, workers: int, topics: int) -> None:
    """Print the time and memory of finding topics."""
    Lda(count=3, iterations=1).topics(_corpus(pa.table({"item": list("abcd"), "text": ["parser"] * 4})), seed=0)
    with pa.memory_map(str(path)) as mapped:
        corpus = _corpus(pa.ipc.open_file(mapped).read_all())
        before = anonymous()
        with peak() as seen:
            clock, cpu = time.perf_counter(), time.process_time()
            found = Lda(count=topics, workers=workers).topics(corpus, seed=0)
            took = time.perf_counter() - clock, time.process_time() - cpu
        print(
            json.dumps(
                {"texts": corpus.items.num_rows, "mb": (max(seen) - before) / 1e6, "seconds": took[0], "cpu": took[1]}
                | {"assigned": found.assigned.num_rows, "terms": found.settings["terms"]}
            )
        )


def grow(texts: Sequence[str | None], workers: int, topics: int, sizes: Sequence[int] = SIZES) -> None:
    """Print one line per number of texts."""
    print(f"{'texts':>10} {'peak MB':>9} {'bytes a text':>13} {'seconds':>9} {'CPU s':>8} {'terms':>9}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts.arrow"
            write_texts(texts, size, path)
            command = [sys.executable, __file__, str(path), str(workers), str(topics)]
            said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        each = said["mb"] * 1e6 / size
        print(
            f"{size:10,} {said['mb']:9,.0f} {each:13,.0f} {said['seconds']:9.1f} {said['cpu']:8.1f} {said['terms']:9,}",
            flush=True,
        )


def anonymous() -> int:
    """Return the anonymous memory of this process in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


@contextmanager
def peak(every: float = 0.01) -> Iterator[list[int]]:
    """Collect the anonymous memory of this process in a list, for a context."""
    seen, over = [anonymous()], threading.Event()

    def watch() -> None:
        while not over.wait(every):
            seen.append(anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _corpus(items: pa.Table) -> Corpus:
    return Corpus(objects=table(OBJECTS), items=items, mentions=table(MENTIONS))


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
