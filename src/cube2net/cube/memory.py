"""How much memory there may be, and how much is taken."""

from __future__ import annotations

import ctypes
import gc
import re
from pathlib import Path

import pyarrow as pa

from cube2net.errors import ParameterError, parse_size

USUAL = 300_000_000
"""What the process takes by itself, where the system does not tell."""
LEAST, TEXT, TOPICS = 300_000_000, 4_000, 800_000_000
"""What a build of any data takes, what finding topics takes for every text besides, and at most."""


def parse_memory(text: str) -> int:
    """Return an amount of memory in bytes.

    >>> parse_memory("4GB"), parse_memory("512 MiB"), parse_memory("1.5g")
    (4000000000, 536870912, 1500000000)
    """
    return parse_size(text, "memory")


def anonymous_memory() -> int:
    """Return the bytes that this process has taken, without the files that it has mapped."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return USUAL
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else USUAL


def give_back() -> None:
    """Give memory that is free to the system: Python's, Arrow's and the C library's."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return  # not the C library of GNU: it gives back what it likes


def check_memory(memory: str | None, *, texts: int = 0) -> None:
    """Raise where a limit is below what a build takes by itself, or finding topics in so many texts: say it before.

    >>> check_memory("600MB"), check_memory("600MB", texts=40_000), check_memory(None, texts=10**9)
    (None, None, None)
    >>> check_memory("600MB", texts=110_000)
    Traceback (most recent call last):
    cube2net.errors.ParameterError: memory is '600MB', and finding topics in 110,000 texts takes about 740 MB: give \
740MB or more
    """
    least, what = LEAST, "a build takes at least"
    if texts:
        least = min(LEAST + texts * TEXT, TOPICS)
        what = f"finding topics in {texts:,} texts takes about"
    if memory is not None and parse_memory(memory) < least:
        size = f"{least // 10**6}"
        raise ParameterError(f"memory is {memory!r}, and {what} {size} MB: give {size}MB or more")
