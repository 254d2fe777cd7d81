"""The decorators that compile kernels, and the reports of compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from cube2net._util import progress

progress.import_modules("numba")

import numba  # noqa: E402
from numba.core import event  # noqa: E402
from numba.extending import register_jitable  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[F], F]:
    """Return numba's decorator of the same name, for code that runs without the global interpreter lock.

    Other threads can then report progress and handle signals. Without a folder for compiled code, kernels are compiled
    in every process.
    """
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}

    def decorate(function: F) -> F:
        try:
            kernel: F = numba.njit(**options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            progress.MONITOR.kept = False
            kernel = numba.njit(**{**options, "cache": False})(function)
        _discard_stale_cache(getattr(kernel, "_cache", None))
        return kernel

    return decorate


@overload
def inner(function: F) -> F: ...
@overload
def inner(**options: Any) -> Callable[[F], F]: ...
def inner(function: Any = None, **options: Any) -> Any:
    """Decorate a helper that is compiled into the kernels that call it, without a Python wrapper.

    The wrapper takes a large part of the compile time, especially with many array arguments. Called from Python, the
    helper is interpreted. With options instead of a function, return a decorator with these options.
    """
    decorate = register_jitable(no_cfunc_wrapper=True, **options)
    return decorate if function is None else decorate(function)


def _discard_stale_cache(cache: Any) -> None:
    """Compile a kernel again if its cached code refers to a class that no longer exists, as after an update."""
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


class _TimeListener(event.Listener):
    """Counts the time in which a thread waits for the compiler, compiles, or reads compiled code."""

    def on_start(self, event: Any) -> None:
        progress.begin_compiling()

    def on_end(self, event: Any) -> None:
        progress.end_compiling()


class _NameListener(event.Listener):
    """Reports which kernel of cube2net is compiled; those of other packages are ignored."""

    def on_start(self, event: Any) -> None:
        if name := _get_kernel_name(event):
            progress.MONITOR.begin(name)

    def on_end(self, event: Any) -> None:
        if name := _get_kernel_name(event):
            progress.MONITOR.end(name)


def _get_kernel_name(event: Any) -> str:
    """Return the name of the kernel of an event, or an empty text if it is not one of cube2net."""
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    ours = str(getattr(function, "__module__", "")).startswith("cube2net.")
    return str(getattr(function, "__name__", "")) if ours else ""


event.register("numba:compiler_lock", _TimeListener())  # type: ignore[no-untyped-call]
event.register("numba:compile", _NameListener())  # type: ignore[no-untyped-call]
