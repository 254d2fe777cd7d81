import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cube2net._util.progress import Stage, silent
from cube2net.apps.cli.output import Guarded, PlainLines, UndeliveredError, say, shown_progress

BUILT = ("--min-objects", "1", "--dimension", "city")
TOOL = f"'{sys.executable}' -m cube2net"


def test_a_stage_is_said_once_however_often_it_moves(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainLines()
    for step in range(50):
        progress(Stage("topics", f"log-likelihood {step / 7} a word"), step, 50)
    progress("cube", 0, None)
    assert capsys.readouterr().err.splitlines() == ["topics: log-likelihood 0.0 a word", "cube"]


def test_a_note_is_always_said(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainLines()
    progress.note("columns: source='from' (guessed)")
    progress.note("columns: target='to' (guessed)")
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_stage_of_one_step_is_no_note(capsys: pytest.CaptureFixture[str]) -> None:
    progress = PlainLines()
    progress("reading", 1, 1)
    progress("reading", 1, 1)
    assert capsys.readouterr().err == "reading 1 of 1\n"


def test_quiet_means_no_progress() -> None:
    with shown_progress(quiet=True) as progress:
        assert progress is silent


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", f"{TOOL} {command}"], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "status", "out", "err"),
    [
        ("--version", 0, "cube2net ", ""),
        ("--version >&-", 3, "", "cube2net: cannot write to standard output: it is closed\n"),
        ("--help >&-", 3, "", "cube2net: cannot write to standard output: it is closed\n"),
        ("--version > /dev/full", 3, "", "cube2net: cannot write to standard output: no space left on device\n"),
        ("--version 2>&-", 0, "cube2net ", ""),
        ("--version 2> /dev/full", 0, "cube2net ", ""),
        ("--version >&- 2>&-", 3, "", ""),
        ("--version > /dev/full 2>&-", 3, "", ""),
        ("verify nowhere >&-", 2, "", "cube2net: "),
        ("verify nowhere 2>&-", 2, "", ""),
        ("verify nowhere 2> /dev/full", 2, "", ""),
        ("verify nowhere <&- >&- 2>&-", 2, "", ""),
        ("verify", 2, "", "Usage: cube2net verify"),
        ("verify 2>&-", 2, "", ""),
    ],
)
def test_a_command_ends_with_0_only_where_its_output_arrived(command: str, status: int, out: str, err: str) -> None:
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    ended = shell(command)
    assert ended.returncode == status, ended
    assert ended.stdout.startswith(out) and ended.stderr.startswith(err), ended
    assert bool(ended.stdout) == bool(out) and bool(ended.stderr) == bool(err), ended


def test_a_reader_that_has_left_ends_a_command_without_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "cube2net", "--help"]
    ended = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_progress_that_nobody_reads_does_not_stop_the_work(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,city\na,Ghent\nb,Ghent\n")
    (tmp_path / "links.csv").write_text("source,target\na,b\n")
    reader, writer = os.pipe()
    os.close(reader)
    words = [
        sys.executable,
        "-m",
        "cube2net",
        "build",
        "tables",
        str(tmp_path),
        "--min-objects",
        "1",
        "--dimension",
        "city",
    ]
    ended = subprocess.run(
        [*words, "--out", str(tmp_path / "cube")], stdout=subprocess.PIPE, stderr=writer, check=False
    )
    os.close(writer)
    assert ended.returncode == 0 and b"Cube(city" in ended.stdout


def test_no_file_is_opened_in_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,city\na,Ghent\nb,Ghent\n")
    (tmp_path / "links.csv").write_text("source,target\na,b\n")
    out = tmp_path / "cube"
    assert (
        shell(f"build tables '{tmp_path}' --min-objects 1 --dimension city --out '{out}' <&- >&- 2>&-").returncode == 3
    )
    assert shell(f"verify '{out}'").returncode == 0


def test_the_guard_lets_line_ends_through_and_nothing_else_that_steers() -> None:
    raw = io.StringIO()
    guard = Guarded(raw, needed=True)
    assert guard.write("a\x1b[2J\tb\r\n\u202ec") == 11
    assert raw.getvalue() == "a\\x1b[2J\tb\\r\n\\u202ec"
    assert not hasattr(guard, "buffer")


def test_what_is_lost_once_is_said_again() -> None:
    guard = Guarded(None, needed=True)
    guard.flush()
    for _ in range(2):
        with pytest.raises(UndeliveredError, match="cannot write to standard output: it is closed"):
            guard.write("a")
    Guarded(None, needed=False).write("a")


def test_what_is_said_while_bars_are_shown_goes_where_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    file = io.StringIO()
    with io.TextIOWrapper(io.FileIO(theirs, "w"), encoding="utf-8", write_through=True) as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdout", file)
        with shown_progress() as progress:
            progress("stage", 1, 2)
            say("a result")
        assert sys.stdout is file and sys.stderr is terminal
    os.close(ours)
    assert file.getvalue() == "a result\n"
