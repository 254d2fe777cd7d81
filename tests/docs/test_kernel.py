"""Pages run in a Jupyter kernel as elsewhere, and nothing is printed or drawn unasked."""

import doctest
from pathlib import Path

import pytest

from notebook_runs import ran
from page_blocks import ROOT, blocks
from stage import Stage

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.slow  # every test starts a Jupyter kernel

THREADS = """
from concurrent.futures import ThreadPoolExecutor
import cube2net as c2n
planted = c2n.make_planted(objects=200, communities=4)
with ThreadPoolExecutor(4) as pool:
    cubes = list(pool.map(lambda seed: c2n.build(planted.corpus, seed=seed), range(4)))
{repr(cube) for cube in cubes}
"""
BAR = "import duckdb; duckdb.connect().execute(\"SELECT current_setting('enable_progress_bar')\").fetchall()"


def cells_of(page: Path) -> list[tuple[str, str]]:
    """Return the Python of a page as cells, each with the output shown."""
    cells: list[tuple[str, str]] = []
    for block in blocks(page):
        if block.runs and block.language == "python":
            examples = doctest.DocTestParser().get_examples(block.text)
            cells += [(one.source, one.want) for one in examples] if examples else [(block.text, "")]
    return cells


@pytest.mark.parametrize("page", ["README.md", "docs/howto/frames.md", "docs/howto/notebook.md"])
def test_the_python_of_a_page_runs_in_a_kernel_and_shows_what_it_says_and_no_more(
    page: str, tmp_path: Path, stage: Stage
) -> None:
    cells = cells_of(ROOT / page)
    stage.set("\n".join(source for source, _ in cells), tmp_path)
    assert len(cells) >= 4
    for (source, want), outputs in zip(cells, ran([source for source, _ in cells], tmp_path), strict=True):
        assert [output.output_type for output in outputs] == ["execute_result"] * bool(want), (source, outputs)
        if want:
            shown = outputs[0]["data"]["text/plain"]
            assert not any("widget" in kind for kind in outputs[0]["data"])
            assert doctest.OutputChecker().check_output(want, shown + "\n", doctest.ELLIPSIS), (source, shown)


def test_threads_of_a_kernel_print_nothing(tmp_path: Path) -> None:
    outputs = ran([THREADS, "c2n.construct(cubes[0], planted.query(0)).plot('network.png')", BAR], tmp_path)
    assert [[output.output_type for output in cell] for cell in outputs] == [["execute_result"], [], ["execute_result"]]
    assert (tmp_path / "network.png").exists()


def test_tensors_are_made_in_a_kernel_without_a_word_about_widgets(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    make = (
        "import cube2net as c2n\nplanted = c2n.make_planted(objects=200, communities=4, noise=0)\n"
        "network = c2n.construct(c2n.build(planted.corpus), planted.query(0))\n"
    )
    outputs = ran([make, "data = network.to_pyg(); hetero = network.to_hetero()", "data.num_nodes"], tmp_path)
    assert outputs[:2] == [[], []]
    assert outputs[2][0]["data"]["text/plain"] == "110"
