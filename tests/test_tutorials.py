"""Every tutorial runs from its first cell to its last and shows what is stored in it, with what it says to install."""

import ast
import re
import sys

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

import nbformat

from cube2net._util.packages import CORE, EXTRAS
from cube2net._util.progress import COMPILING

from run_tutorials import TUTORIALS, differences, ran
from tested_versions import OTHERWISE, shows_the_same

NAMES = sorted(path.stem for path in TUTORIALS.glob("*.ipynb"))

ASKS_FOR = {
    r"\bc2n\.Cube2net\(": "torch",
    r"\bto_pyg\(|\bto_hetero\(": "torch_geometric",
    r"\bto_pandas\(|\bto_pandas\(": "pandas",
    r"\bto_polars\(": "polars",
    r"\bto_networkx\(": "networkx",
    r"\bto_igraph\(": "igraph",
    r"\bdraw_network\(": "matplotlib",
    r"\bwrite_report\(": "plotly",
    r'"cube2net", "mcp"': "mcp",
}
"""What parts of cube2net import only when they are called."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs_and_shows_what_is_stored(name: str) -> None:
    path = TUTORIALS / f"{name}.ipynb"
    if not shows_the_same():
        ran(path)
        pytest.skip(OTHERWISE)
    assert differences(path) == []


def test_no_tutorial_stores_that_code_was_compiled() -> None:
    for name in NAMES:
        assert COMPILING not in (TUTORIALS / f"{name}.ipynb").read_text(encoding="utf-8")


def told(text: str) -> set[str]:
    """Return the packages, as they are imported, that the `pip install` in a text brings by what it names itself."""
    (line,) = re.findall(r"pip install ([^`\n]+)", text)
    here: set[str] = set()
    for word in line.replace("-c constraints.txt", "").replace("'", "").split():
        own = re.fullmatch(r"\.(?:\[([\w,]+)\])?", word)
        extras = (own[1] or "").split(",") if own else []
        here |= (
            {*CORE, "cube2net", *(each for extra in filter(None, extras) for each in EXTRAS[extra])} if own else {word}
        )
    return here


def used(notebook: nbformat.NotebookNode) -> set[str]:
    """Return the packages that the cells of a notebook import, or have cube2net import."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    found = {package for pattern, package in ASKS_FOR.items() if re.search(pattern, text)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


@pytest.mark.parametrize("name", NAMES)
def test_what_the_first_cell_says_to_install_is_all_that_a_tutorial_imports(name: str) -> None:
    notebook = nbformat.read(TUTORIALS / f"{name}.ipynb", as_version=4)
    assert used(notebook) <= told(notebook.cells[0].source)


def test_a_tutorial_that_needs_more_than_it_says_is_found() -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in ("import matplotlib.pyplot as plt", "network.to_pyg()")]
    assert used(nbformat.v4.new_notebook(cells=cells)) - told("`pip install '.[graph]'`") == {"matplotlib"}
    assert {"torch_geometric"} <= told("`pip install '.[graph]'`") and "torch" not in told("`pip install '.[graph]'`")
    assert told("`pip install -c constraints.txt . pandas`") == {*CORE, "cube2net", "pandas"}


def test_a_tutorial_with_data_of_its_own_says_in_which_folder_it_reads_them() -> None:
    for name in NAMES:
        notebook = nbformat.read(TUTORIALS / f"{name}.ipynb", as_version=4)
        reads = any(cell.cell_type == "code" and '"data/' in cell.source for cell in notebook.cells)
        assert reads == ("in the folder `docs/tutorials`" in notebook.cells[0].source), name
