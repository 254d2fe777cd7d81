"""How kernels are compiled: the decorator of all, and who is told when one is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

from cube2net._util import progress

progress.import_modules("numba")

import numba  # noqa: E402
from numba.core import event  # noqa: E402
from numba.extending import register_jitable  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[F], F]:
    """Return numba's decorator of the same name, for code that lets other threads go on while it runs.

    Whoever waits can so be told, and a signal be obeyed. Where there is no folder to keep compiled code in, it is made
    in every process anew.
    """
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}

    def decorate(function: F) -> F:
        try:
            made: F = numba.njit(**options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            progress.MONITOR.kept = False
            made = numba.njit(**{**options, "cache": False})(function)
        _discard_stale_cache(getattr(made, "_cache", None))
        return made

    return decorate


@overload
def inner(function: F) -> F: ...
@overload
def inner(**options: Any) -> Callable[[F], F]: ...
def inner(function: Any = None, **options: Any) -> Any:
    """Return a helper that is compiled into the kernels that call it, without a Python wrapper of its own.

    The wrapper is a large part of the compile time, above all where the arguments are many arrays. Called from Python,
    the helper is interpreted; a test compiles it with numba's ``njit``. With options instead of a function, return the
    decorator that compiles with them.
    """
    decorate = register_jitable(no_cfunc_wrapper=True, **options)
    return decorate if function is None else decorate(function)


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel was compiled in this process, or is kept on disk from an earlier one."""
    if kernel.signatures:
        return True
    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return Path(getattr(kept, "_index_path", "")).is_file()


def _discard_stale_cache(cache: Any) -> None:
    """Let a kernel be compiled anew where what was kept names a record that is gone, as after an update."""
    load = getattr(cache, "load_overload", None)
    if load is None:
        return

    def load_overload(*wanted: Any) -> Any:
        try:
            return load(*wanted)
        except (AttributeError, ImportError):
            cache.flush()
            return None

    cache.load_overload = load_overload


class _Times(event.Listener):
    """Notes when a thread waits for the compiler, compiles, or reads what was compiled."""

    def on_start(self, event: Any) -> None:
        progress.begin_compiling()

    def on_end(self, event: Any) -> None:
        progress.end_compiling()


class _Words(event.Listener):
    """Says which of our kernels is compiled; what others compile in this process is none of our business."""

    def on_start(self, event: Any) -> None:
        if name := _get_kernel_name(event):
            progress.MONITOR.begin(name)

    def on_end(self, event: Any) -> None:
        if name := _get_kernel_name(event):
            progress.MONITOR.end(name)


def _get_kernel_name(event: Any) -> str:
    """Return the name of the kernel that an event is about, or nothing where it is not one of ours."""
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    ours = str(getattr(function, "__module__", "")).startswith("cube2net.")
    return str(getattr(function, "__name__", "")) if ours else ""


event.register("numba:compiler_lock", _Times())  # type: ignore[no-untyped-call]
event.register("numba:compile", _Words())  # type: ignore[no-untyped-call]
