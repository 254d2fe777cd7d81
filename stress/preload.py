"""The imports of a command, done once so that commands start within milliseconds.

Nothing here may start a thread, because commands are forks of the process that imports this.
"""

import contextlib
import importlib
import pkgutil

import matplotlib.figure
import numba

import cube2net.apps.cli.app
import stress.targets

for _module in pkgutil.walk_packages(cube2net.__path__, "cube2net."):
    if "spark" not in _module.name and "triton" not in _module.name:
        importlib.import_module(_module.name)
numba.njit(lambda number: number)(1)  # the compiler itself
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(None):
    cube2net.apps.cli.app.app(["info", "--help"])  # the parser of commands

__all__ = ["cube2net", "matplotlib", "numba", "stress"]
