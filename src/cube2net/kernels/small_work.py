"""Whether work is so small that NumPy is done with it before compiled code is at hand.

A process that has compiled code already uses it for everything. To load it takes more than half a second, though, and
to compile it, once on a machine, many: a command that answers one question of a cube of usual size is through before.
So kernels that a plain question needs have twins in NumPy (``numpy_pagerank``, ``numpy_subgraphs``), with the same
answer to the bit. A process pays for compiled code when it has done so much without that it would have paid off.
"""

from __future__ import annotations

import sys

LARGEST = 1 << 21
"""Work of more steps than this, of which a step is to look at one end of a link, is never small."""
IN_ALL = 1 << 26
"""After so many steps without compiled code, the next are done with it: NumPy takes about 10 ns for one."""
HUB = 64
"""A row this many times longer than the list of objects is searched for each of them instead of read through.

Its links come in the order of the list. Both twins of ``induce`` read it here, for their links have the same order.
"""


class Steps:
    """The steps that this process has done without compiled code."""

    def __init__(self) -> None:
        self.done = 0

    def small(self, size: int, times: int = 1) -> bool:
        """Return whether work that looks ``times`` times at ``size`` ends of links is done without; it is counted then.

        >>> Steps().small(10) == (not has_compiled_code()), Steps().small(LARGEST + 1)
        (True, False)
        """
        if has_compiled_code() or size > LARGEST or self.done + times * size > IN_ALL:
            return False
        self.done += times * size
        return True


def has_compiled_code() -> bool:
    """Return whether a kernel was loaded in this process."""
    return "cube2net.kernels.compiled" in sys.modules


STEPS = Steps()
