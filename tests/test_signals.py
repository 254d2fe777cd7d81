"""Ctrl-C and its like: obeyed at once, also in the middle of compiled code, and nothing is left."""

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numba
import pytest

from cube2net._util import progress as work
from cube2net._util.files import new_folder, write_files
from cube2net._util.progress import Stop, check_stop, remove_unfinished, track_unfinished
from cube2net.apps.cli import EXIT_STATUS, INTERRUPTED


def as_from_a_shell() -> None:
    """Let no signal be ignored, whatever the tests were started by."""
    for number in EXIT_STATUS:
        signal.signal(number, signal.SIG_DFL)


HEAD = """
import sys, time, threading
from pathlib import Path
from cube2net.apps.cli.app import Signals
from cube2net._util.files import new_folder, write_files
signals = Signals(lambda: "left", patience=float(sys.argv[2]))
signals.start()
place = Path(sys.argv[1])
def ready():
    sys.stdout.write("ready\\n"); sys.stdout.flush()
def run(work):
    try:
        work()
    except BaseException:
        if signals.status is None: raise
        signals.exit()
"""
POLITE = """
def work():
    with new_folder(place / "cube") as aside:
        (aside / "part").write_text("half")
        ready()
        time.sleep(60)
run(work)
"""
DEAF = """
def deaf():
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
def work():
    with new_folder(place / "cube") as aside:
        (aside / "part").write_text("half")
        def write(path):
            path.write_text("half")
            ready()
            deaf()
        write_files({place / "network.csv": write})
run(work)
"""
KERNEL = """
from cube2net._util.progress import MONITOR
MONITOR.listeners.append(None)
from cube2net.kernels.compiled import njit
@njit()
def endless(steps):
    found = 0
    for step in range(steps):
        found ^= found * 3 + step
    return found
endless(3)
def work():
    with new_folder(place / "cube") as aside:
        ready()
        endless(10**18)
run(work)
"""
MISTAKEN = """
def work():
    ready()
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("no compiled object yet") from None
run(work)
"""
POOL = """
from concurrent.futures import ThreadPoolExecutor
def work():
    with ThreadPoolExecutor(2) as pool:
        pool.submit(time.sleep, 60)
        ready()
        pool.submit(time.sleep, 60).result()
run(work)
"""


def ended(program: str, place: Path, numbers: list[int], patience: float = 0.2) -> tuple[int, str]:
    """Return the status and the words of a program that gets signals once it is ready."""
    words = [sys.executable, "-c", HEAD + program, str(place), str(patience)]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_from_a_shell,  # noqa: PLW1509
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for number in numbers:
        process.send_signal(number)
    _, err = process.communicate(timeout=50)
    return process.returncode, err


def test_code_of_a_library_that_was_interrupted_does_not_change_the_status(tmp_path: Path) -> None:
    program = """
import ctypes
def work():
    exec_ = ctypes.PyDLL(None).PyRun_String
    exec_.restype = ctypes.py_object
    exec_.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.py_object, ctypes.py_object]
    ready()
    exec_(b"import time; time.sleep(60)", 257, globals(), globals())
run(work)
"""
    assert ended(program, tmp_path, [signal.SIGINT], patience=40) == (130, "left\n")


def test_a_module_that_is_being_loaded_is_not_interrupted_and_the_process_ends_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "loading.py").write_text("""
from __main__ import ready
import time
ready()
try:
    time.sleep(60)
except KeyboardInterrupt:
    import os
    os.abort()  # as a compiled module does
""")
    program = """
sys.path.append(str(place))
sys.dont_write_bytecode = True
run(lambda: __import__("loading"))
"""
    assert ended(program, tmp_path, [signal.SIGINT]) == (130, "left\n")


def test_an_interrupt_while_a_module_was_loaded_is_obeyed_when_that_is_done(tmp_path: Path) -> None:
    (tmp_path / "loading.py").write_text("from __main__ import ready\nimport time\nready()\ntime.sleep(0.5)\n")
    program = """
sys.path.append(str(place))
sys.dont_write_bytecode = True
def work():
    __import__("loading")
    (place / "done").touch()
    time.sleep(60)
    (place / "more").touch()
run(work)
"""
    assert ended(program, tmp_path, [signal.SIGINT], patience=40) == (130, "left\n")
    assert not (tmp_path / "more").exists()


def test_an_interrupt_while_llvm_loads_compiled_code_waits_until_that_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernel_to_load.py").write_text("def double(number):\n    return 2 * number\n")
    monkeypatch.syspath_prepend(tmp_path)
    numba.njit(cache=True)(import_module("kernel_to_load").double)(1)
    program = """
import os, signal
sys.path.append(str(place))
import numba
from numba.core.codegen import CPUCodeLibrary
from kernel_to_load import double
find_object = CPUCodeLibrary._object_getbuffer_hook
def find_object_interrupted(module):
    if module.name == "double":
        os.kill(os.getpid(), signal.SIGINT)
    return find_object(module)
CPUCodeLibrary._object_getbuffer_hook = find_object_interrupted
def work():
    compiled = numba.njit(cache=True)(double)
    ready()
    (place / "result").write_text(str(compiled(21)))
    time.sleep(20)
run(work)
"""
    assert ended(program, tmp_path, [], patience=40) == (130, "left\n")
    assert not (tmp_path / "result").exists() or (tmp_path / "result").read_text() == "42"


def test_an_interrupt_that_nobody_can_take_is_passed_over_in_silence(tmp_path: Path) -> None:
    program = """
class Slow:
    def __del__(self):
        ready()
        time.sleep(60)
def work():
    slow = Slow()
    del slow
    time.sleep(60)
run(work)
"""
    assert ended(program, tmp_path, [signal.SIGINT]) == (130, "left\n")


@pytest.mark.parametrize("number", sorted(EXIT_STATUS))
def test_a_signal_ends_the_work_and_removes_what_is_not_finished(number: int, tmp_path: Path) -> None:
    assert ended(POLITE, tmp_path, [number], patience=40) == (128 + number, "left\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program", [DEAF, KERNEL, POOL], ids=["deaf", "kernel", "pool"])
def test_who_does_not_hear_is_ended_and_leaves_nothing_either(program: str, tmp_path: Path) -> None:
    assert ended(program, tmp_path, [signal.SIGTERM]) == (143, "left\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_that_is_taken_for_an_error_is_an_interrupt(tmp_path: Path) -> None:
    assert ended(MISTAKEN, tmp_path, [signal.SIGINT], patience=40) == (130, "left\n")


def test_the_first_of_many_signals_counts_and_the_words_are_said_once(tmp_path: Path) -> None:
    status, err = ended(DEAF, tmp_path, [signal.SIGINT] + 20 * [signal.SIGINT, signal.SIGTERM])
    assert (status in EXIT_STATUS.values(), err) == (True, "left\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_took_its_place_is_not_removed(tmp_path: Path) -> None:
    with new_folder(tmp_path / "cube") as aside:
        (aside / "part").write_text("whole")
        [known] = work._unfinished
    assert work._unfinished == []
    with track_unfinished(known):
        remove_unfinished()
    assert (tmp_path / "cube" / "part").read_text() == "whole"


def test_all_that_is_not_finished_is_removed(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        path.write_text("half")
        remove_unfinished()
        assert list(tmp_path.iterdir()) == []
        path.write_text("whole")

    with new_folder(tmp_path / "cube") as aside:
        (aside / "part").write_text("half")
        write_files({tmp_path / "network.csv": write})
        aside.mkdir()
    assert (tmp_path / "network.csv").read_text() == "whole"


def test_work_in_another_thread_stops_at_its_next_step() -> None:
    begun = threading.Event()

    def work() -> None:
        while True:
            begun.set()
            check_stop()

    with ThreadPoolExecutor(1) as pool, Stop() as stop:
        done = pool.submit(stop.wrap(work))
        assert begun.wait(20)
        check_stop()  # here nobody asked
        stop.ask()
        assert isinstance(done.exception(20), KeyboardInterrupt)
    check_stop()


def test_a_signal_when_all_is_done_does_not_change_the_status(tmp_path: Path) -> None:
    program = """
class Last:
    def __del__(self):
        import os
        signals.over()
        os.kill(os.getpid(), 2)
        os.kill(os.getpid(), 15)
last = Last()
ready()
"""
    words = [sys.executable, "-c", HEAD + program, str(tmp_path), "40"]
    done = subprocess.run(words, capture_output=True, check=False, preexec_fn=as_from_a_shell)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    program = "signals.number\nready()\nimport signal, os\nos.kill(os.getpid(), signal.SIGHUP)\nsys.exit(7)"
    words = [sys.executable, "-c", HEAD + program, str(tmp_path), "40"]
    done = subprocess.run(
        words,
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (7, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["cube2net._util.progress", "cube2net.apps.cli.app", "typer"])
def test_a_signal_while_the_command_line_is_imported_ends_it_with_the_usual_status(module: str, number: int) -> None:
    program = f"""
import os, runpy, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["info", "/"]
runpy.run_module("cube2net", run_name="__main__")
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=as_from_a_shell)
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_STATUS[number], "", INTERRUPTED + "\n")


def test_signals_are_handled_before_modules_that_take_long_are_imported() -> None:
    program = "import sys; before = {*sys.modules}; import cube2net.__main__; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert not imported & {"ast", "lazy_loader", "numpy", "pathlib", "re", "shutil", "threading", "typer", "typing"}
    assert {name for name in imported if name.startswith("cube2net")} == {
        *(
            "cube2net",
            "cube2net.__main__",
            "cube2net._util",
            "cube2net.apps",
            "cube2net.apps.cli",
            "cube2net._util.display",
        )
    }
