"""A sign of life at least every two seconds."""

import pytest

from cube2net._util import progress as progress_module
from cube2net._util.progress import CACHED_NOTICE, COMPILING, CompileMonitor, report_compiling, resolve_progress
from cube2net.apps.cli import output
from cube2net.apps.cli.output import MAX_SILENCE_SECONDS, Heartbeat


class Hands:
    """A clock that is moved by hand."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic

    def process_time(self) -> float:
        return 0.5


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    clock, waiting = Hands(), CompileMonitor(patience=0)
    waiting.announce = lambda: None  # type: ignore[method-assign]
    for module in (output, progress_module):
        monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(module, "MONITOR", waiting)
    return clock


def make_heartbeat(terminal: bool = False) -> tuple[Heartbeat, list[tuple[str, int, int | None]]]:
    said: list[tuple[str, int, int | None]] = []
    return Heartbeat(resolve_progress(lambda *words: said.append(words)), terminal=terminal), said


def test_a_silence_is_ended_by_what_was_said_last(hands: Hands) -> None:
    progress, said = make_heartbeat()
    progress("cube: links", 3, 7)
    hands.now += MAX_SILENCE_SECONDS / 2
    progress.check()
    hands.now += MAX_SILENCE_SECONDS / 2
    progress.check()
    progress.check()
    assert said == [("cube: links", 3, 7), ("cube: links, 2 s", 3, 7)]


def test_a_note_is_passed_on_and_the_stage_goes_on(hands: Hands) -> None:
    progress, said = make_heartbeat()
    progress("reading", 1, 1)
    hands.now += MAX_SILENCE_SECONDS / 2
    progress.note("2 lines were left out")
    hands.now += MAX_SILENCE_SECONDS / 2
    progress.check()
    assert said == [("reading", 1, 1), ("2 lines were left out", 0, None)]
    hands.now += MAX_SILENCE_SECONDS / 2
    progress.check()
    assert said[2:] == [("reading: 2 s", 1, 1)]


def test_work_that_says_nothing_is_still_known_to_be_at_work(hands: Hands) -> None:
    progress, said = make_heartbeat()
    for _ in range(3):
        hands.now += MAX_SILENCE_SECONDS
        progress.check()
    assert [words[0] for words in said] == ["working: 2 s", "working: 3 s", "working: 5 s"]


def test_the_first_word_comes_a_second_after_the_process_began(hands: Hands) -> None:
    progress, said = make_heartbeat()
    hands.now += 0.4
    progress.check()
    assert said == []
    hands.now += 0.2
    progress.check()
    assert said == [("working: 1 s", 0, None)]


def test_compiling_is_said_while_it_lasts_and_then_what_goes_on(hands: Hands) -> None:
    for terminal in (False, True):
        progress, said = make_heartbeat(terminal)
        output.MONITOR.begin("cool")
        hands.now += MAX_SILENCE_SECONDS
        progress.check()
        progress.check()
        hands.now += MAX_SILENCE_SECONDS
        progress.check()
        output.MONITOR.end("cool")
        hands.now += MAX_SILENCE_SECONDS
        progress.check()
        assert [words[0] for words in said] == (
            [f"{CACHED_NOTICE}: cool", "working"]
            if terminal
            else [f"{CACHED_NOTICE}: cool, 2 s", f"{COMPILING}: cool, 3 s", "working: 5 s"]
        )


def test_a_callback_given_in_python_is_told_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    waiting = CompileMonitor(patience=3600)
    monkeypatch.setattr(progress_module, "MONITOR", waiting)

    @report_compiling
    def work(number: int, *, progress: object = None) -> int:
        waiting.begin("cool")
        waiting.announce()
        waiting.end("cool")
        return number

    assert work(3, progress=lambda stage, done, total: said.append(stage)) == 3
    assert said == [f"{CACHED_NOTICE}: cool"]
    assert waiting.listeners == []


def test_a_heartbeat_stops_when_its_work_is_done() -> None:
    import threading

    progress, _ = make_heartbeat()
    with progress:
        assert any(each.name == "heartbeat" for each in threading.enumerate())
        assert progress_module.MONITOR.listeners == [None]
    progress._thread.join(30)
    assert not progress._thread.is_alive()
    assert progress_module.MONITOR.listeners == []
