"""Work that is cut off in the middle."""

import signal
import subprocess
import sys
import textwrap

from cube2net._util.progress import Progress, resolve_progress


def run_until_killed(program: str) -> None:
    """Run a program that kills itself."""
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert ended.returncode == -signal.SIGKILL


class CutError(Exception):
    """The power is cut."""


def told(stages: list[str], cut_at: str = "") -> Progress:
    """Return a progress that keeps every stage and note, and cuts the work off when one begins."""

    def progress(stage: str, done: int, total: int | None) -> None:
        stages.append(stage)
        if stage == cut_at:
            raise CutError

    return resolve_progress(progress)
