"""How many threads: the cores there are to work on, and linear algebra on one thread.

The last bit of a sum may depend on how many threads there are; on one thread it does not.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cube2net.compiling import load

_lock = threading.Lock()
_users = 0
_limits: Any = None


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the threads of BLAS and OpenMP to one for a while; several callers may do so at once.

    The limit is the process's: it is set by the first to come in and lifted by the last to go.
    """
    global _users, _limits
    load("scipy.linalg")  # a library is limited only when it is loaded
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with _lock:
        if _users == 0:
            _limits = threadpool_limits(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limits.restore_original_limits()
