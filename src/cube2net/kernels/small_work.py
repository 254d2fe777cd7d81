"""Decide whether work is so small that NumPy is faster than loading compiled code.

A process that has loaded the compiler uses every kernel compiled before. Loading it takes more than half a second, and
compiling a kernel up to a second, once per machine. A command with one query of a cube of usual size is faster with
NumPy, so the kernels that it needs have twins in NumPy (``numpy_pagerank``, ``network.links``) with bit-identical
results. A process loads compiled code once its work without it would have paid for that.
"""

from __future__ import annotations

import sys
from importlib import import_module

MAX_SMALL_STEPS = 1 << 21
"""Work of more steps than this is never small; a step reads one end of a link."""
MAX_STEPS_WITHOUT_COMPILING = 1 << 26
"""After this many steps in all, compiled code is loaded; NumPy takes about 10 ns per step."""
HUB = 64
"""A row this many times longer than the list of objects is searched for each of them instead of scanned.

Both twins of ``induce`` use it, so that their links have the same order.
"""


class Steps:
    """Counts the steps that this process has done without compiled code."""

    def __init__(self) -> None:
        self.done = 0

    def small(self, kernel: str, size: int, times: int = 1) -> bool:
        """Return whether to do work without compiled code: it reads ``size`` ends ``times`` times, which is counted.

        ``kernel`` is the module and the name of the compiled twin.

        >>> Steps().small("subgraphs.induce", MAX_SMALL_STEPS + 1)
        False
        """
        if (
            size > MAX_SMALL_STEPS
            or self.done + times * size > MAX_STEPS_WITHOUT_COMPILING
            or has_compiled_code(kernel)
        ):
            return False
        self.done += times * size
        return True


def has_compiled_code(kernel: str) -> bool:
    """Return whether a kernel was compiled, in this process or before, and the compiler is loaded."""
    # Another thread may be importing the module, which then lacks its last names.
    is_compiled = getattr(sys.modules.get("cube2net.kernels.compiled"), "is_compiled", None)
    if is_compiled is None:
        return False
    module, _, name = kernel.partition(".")
    return bool(is_compiled(getattr(import_module(f"cube2net.kernels.{module}"), name)))


STEPS = Steps()
