"""Whether work is so small that NumPy is done with it before compiled code is at hand.

A process that has loaded the compiler uses every kernel that was compiled before. Loading the compiler takes more
than half a second, and compiling a kernel up to a second, once per machine. A command that asks one question of a
cube of usual size is finished sooner with NumPy. So kernels that a plain question needs have twins in NumPy
(``numpy_pagerank``, ``network.links``), with the same answer to the bit. A process pays for compiled code when it
has done so much without that it would have paid off.
"""

from __future__ import annotations

import sys
from importlib import import_module

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

    def small(self, kernel: str, size: int, times: int = 1) -> bool:
        """Return whether work that looks ``times`` times at ``size`` ends of links is done without; it is counted then.

        ``kernel`` is the module and the name of what does it where it is not small.

        >>> Steps().small("subgraphs.induce", LARGEST + 1)
        False
        """
        if size > LARGEST or self.done + times * size > IN_ALL or has_compiled_code(kernel):
            return False
        self.done += times * size
        return True


def has_compiled_code(kernel: str) -> bool:
    """Return whether a kernel was compiled, in this process or before, and the compiler is loaded."""
    # Another thread may be loading the compiler right now: until it is done, the module lacks its last names.
    is_compiled = getattr(sys.modules.get("cube2net.kernels.compiled"), "is_compiled", None)
    if is_compiled is None:
        return False
    module, _, name = kernel.partition(".")
    return bool(is_compiled(getattr(import_module(f"cube2net.kernels.{module}"), name)))


STEPS = Steps()
