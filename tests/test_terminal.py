import pytest

from cube2net.terminal import PlainLines, shown_progress


def test_a_stage_is_said_once_however_often_it_moves(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainLines()
    for step in range(50):
        progress(f"topics: log-likelihood {step / 7} a word", step, 50)
    progress("cube", 0, None)
    assert capsys.readouterr().err.splitlines() == ["topics: log-likelihood 0.0 a word", "cube"]


def test_a_remark_is_always_said(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainLines()
    progress("columns: source='from' (guessed)", 1, 1)
    progress("columns: target='to' (guessed)", 1, 1)
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_quiet_means_no_progress() -> None:
    with shown_progress(quiet=True) as progress:
        assert progress is None
