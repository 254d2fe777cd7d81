"""progress=True shows how far long work is, where the person is who waits; without it nothing is said."""

import inspect
import io
import threading
from typing import Any

import pytest

import cube2net as c2n
from cube2net._util.progress import Progress, ProgressOption, report_compiling, resolve_progress, silent
from cube2net.apps.notebook.progress_bars import (
    MAX_REMARKS,
    Bars,
    LinesScreen,
    ProgressState,
    TerminalScreen,
    progress_bars,
    screen_here,
)
from cube2net.errors import ParameterError

from hostile import NAMES, harmful
from notebook_runs import Kept

PUBLIC = (
    *("read_source", "read_tables", "read_sql", "read_graph", "read_references", "suggest", "build", "update"),
    *("construct", "replay", "compare"),
)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Drawn:
    """A screen that keeps what was drawn."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.html: list[str] = []

    def draw(self, doing: ProgressState) -> None:
        self.texts.append(doing.text)
        self.html.append(doing.html)


def test_a_bar_is_drawn_when_a_stage_begins_and_once_in_a_while() -> None:
    clock, screen = Clock(), Drawn()
    bars = Bars(screen, clock)
    for step in range(8):
        bars("walks", step, 8)
        clock.now += 0.0625
    assert screen.texts == [f"walks {step} of 8" for step in (0, 2, 4, 6)]


def test_a_bar_ticks_where_nothing_is_said() -> None:
    clock, screen = Clock(), Drawn()
    bars = Bars(screen, clock)
    bars("topics", 3, None)
    bars.tick()
    clock.now = 1.5
    bars.tick()
    assert screen.texts == ["topics 3", "topics 3, 2 s"]


def test_a_remark_stays_and_a_stage_does_not() -> None:
    screen = Drawn()
    bars = Bars(screen, Clock())
    bars("reading", 0, None)
    bars.note("4 lines were left out")
    bars("one step", 1, 1)
    bars("cube: cells", 1, 2)
    bars.finish("done")
    assert "4 lines were left out" in Kept(screen.html[-1]).text
    assert "cells" not in screen.html[-1] and "one step" not in screen.html[-1]
    assert screen.texts[-1] == "done after 0.0 s"
    bars("late", 0, None)
    assert screen.texts[-1] == "done after 0.0 s"


def test_no_more_remarks_are_kept_than_can_be_read() -> None:
    bars = Bars(Drawn(), Clock())
    for number in range(100):
        bars.note(f"remark {number}")
    assert len(bars.doing.remarks) == MAX_REMARKS
    assert bars.doing.remarks[-1] == "remark 99"


def test_a_bar_in_a_notebook_is_kept_where_that_is_not_trusted() -> None:
    doing = ProgressState("walks", 3, 8, ["a remark"])
    assert Kept(doing.html).lost == []
    assert '<progress value="3" max="8">' in doing.html
    assert "<progress>" in ProgressState("reading", 3).html


def test_hostile_names_in_stages_do_no_harm() -> None:
    stream = io.StringIO()
    for name in NAMES:
        doing = ProgressState(name, 1, 3, [name])
        assert Kept(doing.html).lost == []
        LinesScreen(stream).draw(doing)
        assert harmful(doing.text.encode()) == []
    assert harmful(stream.getvalue().encode()) == []


def test_a_terminal_has_one_line_that_is_cleared_at_the_end() -> None:
    stream = io.StringIO()
    bars = Bars(TerminalScreen(stream), Clock())
    bars("walks", 6, 24)
    bars.note("a remark")
    bars.finish("done")
    written = stream.getvalue().split("\r\x1b[K")
    assert written[1] == "██████░░░░░░░░░░░░░░░░░░ walks 6 of 24"
    assert written[2].startswith("a remark\n")
    assert written[-1] == ""


def test_elsewhere_a_line_is_written_when_a_stage_begins() -> None:
    stream, clock = io.StringIO(), Clock()
    bars = Bars(LinesScreen(stream), clock)
    for step in range(30):
        bars("cube: cells", step, 30)
        clock.now += 1
    bars("links", 0, None)
    bars.finish("done")
    assert stream.getvalue() == "cube: cells 0 of 30\nlinks 30 s\ndone after 30.0 s\n"


def test_work_that_fails_ends_its_bar_and_says_so() -> None:
    screen = Drawn()
    with pytest.raises(ZeroDivisionError), progress_bars(screen) as bars:
        bars("dividing", 0, 1)
        raise ZeroDivisionError
    assert screen.texts[-1].startswith("stopped after")


def test_bars_leave_no_thread_behind() -> None:
    before = set(threading.enumerate())
    with progress_bars(Drawn()):
        (thread,) = (each for each in threading.enumerate() if each.name == "bars" and each not in before)
    thread.join(5)
    assert not thread.is_alive()


def test_true_is_a_bar_on_standard_error_and_the_answer_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    quiet = c2n.build(planted.corpus)
    assert capsys.readouterr() == ("", "")
    told = c2n.build(planted.corpus, progress=True)
    out, err = capsys.readouterr()
    assert repr(quiet) == repr(told)
    assert out == ""
    assert err.startswith("cube: ")
    assert "done after" in err
    assert isinstance(screen_here(), LinesScreen)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_with_progress_takes_a_function_true_or_none(name: str) -> None:
    function = getattr(c2n, name)
    said = " ".join((inspect.getdoc(function) or "").split())
    assert "True shows a progress bar" in said
    with pytest.raises(ParameterError, match="progress is 3, expected a function, True for a bar, or None"):
        function(progress=3)


def test_no_public_function_with_progress_was_forgotten() -> None:
    functions = {name: getattr(c2n, name) for name in c2n.__all__}
    having = {
        name
        for name, function in functions.items()
        if inspect.isfunction(function) and "progress" in inspect.signature(function).parameters
    }
    assert having == set(PUBLIC)


def test_true_becomes_a_function_before_the_work_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[Any] = []

    @report_compiling
    def work(*, progress: ProgressOption = None) -> Progress:
        got.append(progress)
        return resolve_progress(progress)

    assert work() is silent
    assert work(progress=False) is silent
    assert callable(work(progress=True))
    assert isinstance(got[2], Bars)
    assert got[2].doing.end == "done"
