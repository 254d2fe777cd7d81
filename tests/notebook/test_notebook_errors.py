"""In a kernel an error is the user's own line and a sentence, and all of it can still be had."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ipykernel")

SLIP = """
import cube2net as c2n
def ask():
    return c2n.make_planted(communities=-1)
ask()
"""
CHAINED = "try:\n    {}['a']\nexcept KeyError as error:\n    raise c2n.Cube2netError('the sentence') from error"


def shown(cells: list[str], folder: Path) -> list[list[str]]:
    """Return the lines of what each cell of a kernel shows, errors and all."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=600, allow_errors=True, resources=resources).execute()
    texts = ["\n".join(output.get("traceback", [])) for cell in notebook.cells for output in cell.outputs]
    return [re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines() for text in texts]


def test_a_kernel_shows_the_users_lines_and_the_sentence_and_the_whole_when_asked_again(tmp_path: Path) -> None:
    brief, whole, chained, cause, verbose = shown(
        [SLIP, "%tb", CHAINED, "%tb", "get_ipython().InteractiveTB.set_mode('Verbose')\nask()"],
        tmp_path,
    )
    assert [line for line in brief if line.startswith("---->")] == [
        "----> 4 ask()",
        "----> 3     return c2n.make_planted(communities=-1)",
    ]
    assert brief[-1] == "ParameterError: communities is -1, expected 1 or more"
    assert len(brief) < 12 and not any("File" in line for line in brief)
    assert any("datasets.py" in line for line in whole) and whole[-1] == brief[-1]
    assert chained[-1] == "Cube2netError: the sentence" and not any("KeyError: " in line for line in chained)
    assert any("KeyError: " in line for line in cause)
    assert any("datasets.py" in line for line in verbose)


def test_a_plain_traceback_is_pythons_own() -> None:
    done = subprocess.run([sys.executable, "-c", SLIP], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):") and "datasets.py" in done.stderr
    assert done.stderr.splitlines()[-1] == "cube2net.errors.ParameterError: communities is -1, expected 1 or more"
