"""How much memory there may be, and how much is taken."""

from __future__ import annotations

import re
from pathlib import Path

from cube2net.sizes import parse_size

USUAL = 300_000_000
"""What the process takes by itself, where the system does not tell."""


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
