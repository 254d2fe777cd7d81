"""The page's sources: types, and the modules that have tests of their own, where node and its packages are at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[1] / "web"

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (WEB / "node_modules").is_dir(), reason="needs node, and npm ci run in web/"
)


def run(*command: str) -> str:
    done = subprocess.run(command, check=False, cwd=WEB, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_node
def test_the_page_has_no_error_of_types() -> None:
    run("node", "node_modules/typescript/bin/tsc", "--noEmit")


@needs_node
def test_the_addresses_and_the_state_of_the_page_keep_their_promises() -> None:
    assert "fail 0" in run("node", "test.mjs")


def test_no_source_of_the_page_makes_markup_out_of_text() -> None:
    for path in (WEB / "src").glob("*.ts"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, f"{path.name} has {word}"
