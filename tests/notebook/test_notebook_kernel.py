"""In a real kernel records show themselves, bars stand in one place, and the explorer is a widget with a picture."""

import re
from pathlib import Path
from typing import Any

import pytest

from cube2net._util import progress

from notebook_runs import PAGE_BUILT, Kept, ran, ran_notebook

pytest.importorskip("ipykernel")

pytestmark = pytest.mark.slow  # every test starts a Jupyter kernel
needs_page = pytest.mark.skipif(not PAGE_BUILT, reason="the page is not built: make page")
WIDGET = "application/vnd.jupyter.widget-view+json"
MAKE = """
import cube2net as c2n
planted = c2n.make_planted(objects=200, communities=4, noise=0)
cube = c2n.build(planted.corpus)
query = cube.query({name: f"community {group}" for group in (0, 1) for name in planted.query(group)[:10]})
network = c2n.construct(cube, query)
"""


def shown(output: Any) -> Any:
    assert output["output_type"] == "execute_result", output
    return output["data"]


def test_records_are_shown_as_html_and_as_text(tmp_path: Path) -> None:
    names = ("cube", "query", "network", "network.selection", "network.plot(title='Here')")
    _, *outputs = ran([MAKE, *names], tmp_path)
    for (output,), word in zip(outputs, ("Cube", "Query", "Network", "Selection", "Picture"), strict=True):
        data = shown(output)
        assert set(data) == {"text/html", "text/plain"}
        assert data["text/plain"].startswith(word)
        assert Kept(data["text/html"]).lost == []


def test_a_bar_is_replaced_in_its_place_and_says_in_the_end_how_long_it_took(tmp_path: Path) -> None:
    told = "made = c2n.compare(cube, query, methods=['pagerank'], models=['line'], runs=2, progress=True)"
    _, outputs, failed = ran(
        [MAKE, told, "try:\n    c2n.build([], progress=True)\nexcept c2n.Cube2netError:\n    pass"], tmp_path
    )
    (bar,) = outputs
    assert bar["output_type"] == "display_data"
    assert "done after" in bar["data"]["text/plain"]
    kept = Kept(bar["data"]["text/html"])
    assert kept.lost == []
    assert "done after" in kept.text
    assert "<progress" not in bar["data"]["text/html"]
    assert "stopped after" in failed[0]["data"]["text/plain"]


@needs_page
def test_the_explorer_is_a_widget_and_a_picture_where_there_is_no_page(tmp_path: Path) -> None:
    steps = [MAKE, "widget = c2n.explore(cube, query)\nwidget", "widget.query = planted.query(2)[:7]\nwidget.network"]
    notebook = ran_notebook([*steps, "widget.close()"], tmp_path)
    made, (view,), (after,), closed = (cell.outputs for cell in notebook.cells)
    assert (made, closed) == ([], [])
    data = shown(view)
    assert set(data) == {"text/html", "text/plain", WIDGET}
    kept = Kept(data["text/html"])
    assert kept.lost == []
    assert kept.sources[0].startswith("data:image/svg+xml;base64,")
    assert "7 in the query" in shown(after)["text/plain"]


@needs_page
def test_work_for_a_page_goes_on_beside_the_kernel_and_answers_it(tmp_path: Path) -> None:
    request = """
import threading
widget, heard, sent = c2n.explore(cube, query), threading.Event(), []
widget._send = lambda message, buffers=None: (sent.append((message["content"], buffers)), heard.set())
widget._handle_custom_msg({"id": "a", "name": "layout", "body": {"request": widget.request}}, [])
heard.wait(60), sent[-1][0], len(sent[-1][1][0]) > 100
"""
    _, (output,) = ran([MAKE, request], tmp_path)
    assert shown(output)["text/plain"] == "(True, {'id': 'a', 'answer': True}, True)"


def test_a_page_that_nbconvert_makes_has_the_tables_and_the_picture(tmp_path: Path) -> None:
    exporters = pytest.importorskip("nbconvert.exporters")
    notebook = ran_notebook([MAKE, "cube", "network"], tmp_path)
    for sanitize in (False, True):
        body, _ = exporters.HTMLExporter(sanitize_html=sanitize).from_notebook_node(notebook)
        pictures = re.findall(r"<img[^>]*src=\"data:image/svg\+xml;base64,", body)
        assert len(pictures) == (0 if sanitize else 1)  # what cleans it knows no pictures inside a page
        assert "200 objects" in body
        assert "community 1" in body
    markdown, files = exporters.MarkdownExporter().from_notebook_node(notebook)
    assert "200 objects" in markdown
    assert files["outputs"] == {}


COMPILE = """
import time
from cube2net._util import progress
for name in ("cool", "heat"):
    progress.MONITOR.patience = 0.05
    progress.MONITOR.begin(name)
    time.sleep(1)
    progress.MONITOR.end(name)
"""


def test_a_notebook_is_told_once_that_code_is_compiled(tmp_path: Path) -> None:
    first, again = (cell.outputs for cell in ran_notebook([COMPILE, COMPILE], tmp_path).cells)
    assert [(output["name"], output["text"]) for output in first] == [
        ("stderr", f"cube2net: {progress.CACHED_NOTICE}\n")
    ]
    assert again == []
