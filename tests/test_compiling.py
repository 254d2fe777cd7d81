"""Times without compiling, and a word to those who wait for it."""

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cube2net._util import progress
from cube2net._util.progress import (
    CACHED_NOTICE,
    UNCACHED_NOTICE,
    CompileMonitor,
    CpuStopwatch,
    Stopwatch,
    record_seconds,
    report_compiling_to,
    share_compile_time,
)
from cube2net.selection.constraints import Clock


class Hands:
    """A clock that is moved by hand; of the processor's time a tenth passes."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.now / 10


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hands]:
    clock = Hands()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(progress, "_thread", progress._ThreadState())
    yield clock


def compile_for(hands: Hands, seconds: float) -> None:
    progress.begin_compiling()
    progress.begin_compiling()  # one function needs another
    hands.now += seconds
    progress.end_compiling()
    progress.end_compiling()


def test_a_stopwatch_does_not_count_compiling(hands: Hands) -> None:
    watch, spent = Stopwatch(), CpuStopwatch()
    hands.now += 3
    compile_for(hands, 20)
    hands.now += 4
    assert watch.seconds == 7
    assert spent.seconds == pytest.approx(0.7)


def test_a_stopwatch_stands_still_while_code_is_compiled(hands: Hands) -> None:
    watch = Stopwatch()
    hands.now += 1
    progress.begin_compiling()
    hands.now += 30
    assert watch.seconds == 1
    progress.end_compiling()


def test_the_parts_of_a_network_and_limits_of_time_do_not_count_compiling(hands: Hands) -> None:
    seconds: dict[str, float] = {}
    clock = Clock(10.0)
    with record_seconds(seconds, "select"):
        compile_for(hands, 25)
        hands.now += 2
    assert seconds == {"select": 2}
    assert clock.left == 8


def test_what_another_thread_compiles_for_its_own_purpose_is_on_its_own_account(hands: Hands) -> None:
    watch = Stopwatch()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(compile_for, hands, 5).result()
        assert watch.seconds == 5
        pool.submit(share_compile_time(compile_for), hands, 7).result()
    assert watch.seconds == 5


def test_two_threads_that_compile_at_once_are_one_wait(hands: Hands) -> None:
    watch, both, done = Stopwatch(), threading.Barrier(3), threading.Barrier(3)

    def compile_() -> None:
        progress.begin_compiling()
        both.wait(20)
        done.wait(20)
        progress.end_compiling()

    with ThreadPoolExecutor(2) as pool:
        work = [pool.submit(share_compile_time(compile_)) for _ in range(2)]
        both.wait(20)
        hands.now += 6
        done.wait(20)
        for each in work:
            each.result()
    hands.now += 1
    assert watch.seconds == 1


def test_a_kernel_that_is_compiled_is_on_the_account(hands: Hands) -> None:
    from cube2net.kernels.compiled import njit

    def slow(number):
        return number + 1

    def later(event: object) -> None:
        hands.now += 40

    from numba.core import event

    class Late(event.Listener):
        on_start = staticmethod(later)
        on_end = staticmethod(lambda event: None)

    watch, late = Stopwatch(), Late()
    with event.install_listener("numba:compile", late):
        assert njit()(slow)(1) == 2
    assert (hands.now, watch.seconds) == (40, 0)


def test_who_listens_is_told_and_standard_error_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    waiting, told = CompileMonitor(patience=3600), []
    waiting.listeners.append(lambda *words: told.append(words))
    for name in ("cool", "heat"):
        waiting.begin(name)
        waiting.announce()
        waiting.end(name)
    waiting.announce()
    assert told == [(f"{CACHED_NOTICE}: cool", 0, None), (f"{CACHED_NOTICE}: heat", 1, None)]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_without_a_listener_a_terminal_gets_one_line_and_nobody_else_any(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    waiting = CompileMonitor(patience=3600)
    waiting.kept = False
    for name in ("cool", "heat"):
        waiting.begin(name)
        waiting.announce()
        waiting.end(name)
    assert capsys.readouterr().err == (f"cube2net: {UNCACHED_NOTICE}\n" if terminal else "")


def test_nobody_is_told_who_asked_for_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with report_compiling_to(None):
        progress.MONITOR.begin("cool")
        progress.MONITOR.announce()
        progress.MONITOR.end("cool")
    assert capsys.readouterr().err == ""


def test_what_compiles_within_patience_is_not_spoken_of() -> None:
    waiting = CompileMonitor(patience=3600)
    waiting.begin("cool")
    assert waiting._timer is not None
    waiting.end("cool")
    assert waiting._timer is None


def test_kernels_work_where_compiled_code_cannot_be_kept() -> None:
    program = """
from numba.core import caching
def nowhere(*args): raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
caching.CacheImpl.__init__ = nowhere
from cube2net.kernels.compiled import njit, progress
function = njit(cache=True)(lambda number: number + 1)
print(function(1), progress.MONITOR.kept)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]


def test_every_kernel_lets_other_threads_go_on() -> None:
    from importlib import import_module
    from pathlib import Path

    from numba.core.dispatcher import Dispatcher

    import cube2net.kernels

    seen = 0
    for path in sorted(Path(cube2net.kernels.__file__).parent.glob("*.py")):
        if "rollout_t" in path.name or path.stem == "__init__":
            continue
        module = import_module(f"cube2net.kernels.{path.stem}")
        for function in vars(module).values():
            if isinstance(function, Dispatcher):
                seen += 1
                assert function.targetoptions["nogil"], function
    assert seen > 100


def test_what_others_compile_in_this_process_is_compiled_and_not_spoken_of() -> None:
    program = """
import numba, numpy as np
from cube2net._util import progress
import cube2net.kernels.compiled
progress.MONITOR.patience = 0
said = []
progress.MONITOR.listeners.append(lambda *words: said.append(words))

@numba.njit
def with_objects(x):
    with numba.objmode(y="float64"):
        y = float(str(x))
    return y

@numba.jit(forceobj=True, looplift=True)
def lifted(rows):
    found = {}
    total = 0.0
    for row in rows:
        total += row
    return total

print(with_objects(2.5), lifted(np.ones(3)), said)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2.5 3.0 []\n", "")


KERNEL = """
from typing import NamedTuple
import numpy as np
from cube2net.kernels.compiled import njit
class {name}(NamedTuple):
    values: np.ndarray
@njit(cache=True)
def total(record):
    return record.values.sum()
print(total({name}(np.arange(4))), sum(total.stats.cache_hits.values()))
"""


def test_compiled_code_that_names_a_record_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    kernel, said = tmp_path / "kernel.py", []
    for name in ("Before", "After"):
        kernel.write_text(KERNEL.format(name=name), encoding="utf-8")
        os.utime(kernel, (1e9 + len(name), 1e9 + len(name)))
        where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        command = [sys.executable, "-c", "import kernel"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=where, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        said.append(ended.stdout.strip())
    assert said == ["6 0", "6 0"]


def test_kernels_on_the_way_to_a_first_network_do_not_use_sorts_that_take_seconds_to_compile() -> None:
    slow = {"sort", "argsort", "unique", "partition", "searchsorted", "cumsum", "flatnonzero"}
    later = {"text.mark_first", "text._in_order"}  # of OpenAlex, of planted data
    found = set()
    for file in sorted(Path(progress.__file__).parents[1].joinpath("kernels").glob("*.py")):
        for function in ast.parse(file.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef) and function.decorator_list:
                called = {node.func for node in ast.walk(function) if isinstance(node, ast.Call)}
                if slow & {one.attr for one in called if isinstance(one, ast.Attribute)}:
                    found.add(f"{file.stem}.{function.name}")
    assert found == later
