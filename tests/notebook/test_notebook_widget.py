"""The explorer as a widget, from Python's side: what is asked, what follows, what is answered and what is refused."""

import json
import queue
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import cube2net as c2n
from cube2net._util.progress import check_stop
from cube2net.apps.notebook.explore import parse_request
from cube2net.apps.notebook.widget import Explorer
from cube2net.errors import MissingPackageError, ParameterError, QueryError
from cube2net.model.cube import Cube

from notebook_runs import PAGE_BUILT, Kept

pytestmark = pytest.mark.skipif(not PAGE_BUILT, reason="the page is not built: make page")
PLANTED = c2n.make_planted(objects=200, communities=4, noise=0)


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(PLANTED.corpus)


@pytest.fixture
def widget(cube: Cube) -> Iterator[Explorer]:
    made = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    yield made
    made.close()


class Page:
    """A page that asks a widget, and keeps what comes back."""

    def __init__(self, widget: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.widget = widget
        self.told: queue.SimpleQueue[tuple[Any, list[bytes]]] = queue.SimpleQueue()
        monkeypatch.setattr(widget, "send", lambda message, buffers=None: self.told.put((message, buffers or [])))

    def asks(self, key: str, name: Any, question: Any) -> None:
        self.widget._handle_custom_msg({"id": key, "name": name, "body": question}, [])

    def hears(self) -> tuple[Any, list[bytes]]:
        while True:
            message, buffers = self.told.get(timeout=60)
            if "progress" not in message:
                return message, buffers


@pytest.fixture
def page(widget: Explorer, monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(widget, monkeypatch)


def test_a_widget_begins_with_the_network_that_construct_makes(cube: Cube, widget: Explorer) -> None:
    network = c2n.construct(cube, PLANTED.query(0)[:10], n_cells=3)
    assert repr(widget) == f"Explorer({network})"
    assert np.array_equal(widget.network.objects, network.objects)
    assert np.array_equal(widget.selection.cells, network.selection.cells)
    assert len(widget.query) == 10
    assert widget.request == {"query": [*cube.objects.ids(network.query.objects).to_pylist()], "n_cells": 3}


def test_a_widget_without_a_query_asks_for_names(cube: Cube) -> None:
    widget = c2n.explore(cube)
    assert (widget.network, widget.selection, widget.query) == (None, None, None)
    assert repr(widget) == f"Explorer({cube})"
    assert widget.request == {"query": []}
    widget.close()


def test_what_construct_takes_becomes_words_of_a_question(cube: Cube) -> None:
    cell = cube.cell(0)
    said = parse_request(
        cube,
        {"o1": "a", "o2": "b"},
        n_cells=2,
        pins=[cell, "o5"],
        bans="o7",
        prefer=["o9"],
        cell_weight=0.5,
        kind="object",
    )
    assert said == {
        "query": ["o1", "o2"],
        "labels": ["a", "b"],
        "n_cells": 2,
        "pins": [{"cell": list(cell)}, {"object": "o5"}],
        "bans": [{"object": "o7"}],
        "prefer": ["o9"],
        "options": {"cell_weight": 0.5},
        "kind": ["object"],
    }


def test_numbers_of_numpy_are_numbers(cube: Cube) -> None:
    given = {
        "n_cells": np.int64(3),
        "n_neighbors": np.int32(4),
        "bound": np.bool_(True),
        "levels": np.array(["venue", "topic"]),
    }
    request = parse_request(
        cube, np.array(["o1", "o2"]), **given, cell_weight=np.float64(0.5), where={"venue": np.array(["venue 0"])}
    )
    assert request == {
        "query": ["o1", "o2"],
        "n_cells": 3,
        "n_neighbors": 4,
        "bound": True,
        "levels": ["venue", "topic"],
        "options": {"cell_weight": 0.5},
        "where": {"venue": ["venue 0"]},
    }
    json.dumps(request)
    with pytest.raises(ParameterError, match="n_cells is nan, expected numbers and texts that a page can send"):
        parse_request(cube, ["o1"], n_cells=np.float64("nan"))
    made = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=np.int64(3))
    assert len(made.network.cells) == 3
    made.close()


def test_a_network_that_a_page_cannot_show_is_refused(
    widget: Explorer, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert widget._service.most_nodes == 20_000
    monkeypatch.setattr(widget._service, "most_nodes", 15)
    page.asks("1", "construct", {"request": {**widget.request, "n_cells": 2}})
    sentence = page.hears()[0]["error"]["sentence"]
    assert sentence.endswith(
        "more than the 15 that are taken at once: ask for fewer with max_nodes, n_cells or n_neighbors"
    )


def test_setting_the_query_or_the_question_moves_the_widget_and_tells_observers(widget: Explorer) -> None:
    seen: list[str] = []
    widget.observe(lambda change: seen.append(change["name"]), names=["network", "selection", "query", "request"])
    widget.query = PLANTED.query(1)[:5]
    assert len(widget.network.query) == 5
    assert widget.request["n_cells"] == 3
    assert sorted(seen) == ["network", "query", "request", "selection"]
    widget.request = {**widget.request, "n_cells": 1}
    assert len(widget.selection.cells) == 1
    widget.request = {"query": []}
    assert (widget.network, widget.query) == (None, None)


def test_what_is_refused_changes_nothing(widget: Explorer) -> None:
    before, network = widget.request, widget.network
    with pytest.raises(QueryError, match="query names 1 object that is not in the cube: 'nobody'"):
        widget.request = {"query": ["nobody"]}
    with pytest.raises(QueryError, match="'nobody'"):
        widget.query = ["nobody"]
    with pytest.raises(ParameterError, match="n_cells is 'many', expected a whole number or null"):
        widget.request = {**before, "n_cells": "many"}
    with pytest.raises(ParameterError, match="unknown field of the request 'mm'"):
        widget.request = {**before, "mm": 3}
    with pytest.raises(TraitError, match="read-only"):
        widget.network = None
    assert (widget.request, widget.network) == (before, network)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"colour": "red"}, "unknown option of the method 'greedy' 'colour'"),
        ({"method": "gredy"}, "unknown method 'gredy'"),
        ({"objective": len}, "objective is .*, expected numbers and texts that a page can send"),
        ({"n_cells": 2.5}, "n_cells is 2.5, expected a whole number or null"),
    ],
)
def test_words_that_no_question_has_are_refused_before_anything_is_shown(
    cube: Cube, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        c2n.explore(cube, **options)


def test_a_cube_is_needed() -> None:
    with pytest.raises(ParameterError, match="the cube is 'folder', expected a Cube"):
        c2n.explore("folder")  # type: ignore[arg-type]


def test_without_anywidget_one_sentence_says_how_to_get_it(cube: Cube, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(
        MissingPackageError, match=r"needs the package 'anywidget': pip install anywidget \(extra 'notebook'\)"
    ):
        c2n.explore(cube)


def test_a_question_of_the_page_is_answered_as_by_the_service(widget: Explorer, page: Page) -> None:
    page.asks("v-1", "construct", {"request": widget.request})
    message, (answer,) = page.hears()
    assert message == {"id": "v-1", "answer": True}
    got = json.loads(answer)
    assert got["nodes"]["id"] == list(widget.network)
    page.asks("v-2", "cube", {})
    assert json.loads(page.hears()[1][0])["objects"] == 200


def test_a_file_comes_as_bytes(widget: Explorer, page: Page) -> None:
    page.asks("v-1", "export", {"request": widget.request, "format": "query.csv"})
    message, (content,) = page.hears()
    assert message["answer"]["name"].endswith("query.csv")
    assert content.decode().splitlines()[0].startswith("object")


@pytest.mark.parametrize(
    ("name", "question", "sentence"),
    [
        ("constrct", {}, "unknown request 'constrct'"),
        ("construct", {"request": {"query": ["nobody"]}}, "query names 1 object that is not in the cube: 'nobody'"),
        ("construct", {"request": 3}, "request is 3, expected an object"),
        ("construct", [], "a request has a name and words"),
        (None, {}, "a request has a name and words"),
        ("export", {"request": {"query": ["o1"]}, "format": "exe"}, "'exe'"),
    ],
)
def test_what_cannot_be_answered_comes_back_as_a_sentence(page: Page, name: Any, question: Any, sentence: str) -> None:
    page.asks("v-1", name, question)
    message, buffers = page.hears()
    assert message["id"] == "v-1"
    assert sentence in message["error"]["sentence"]
    assert buffers == []


def test_messages_that_are_none_of_ours_are_passed_over(widget: Explorer, page: Page) -> None:
    for message in (None, [], "x", {}, {"id": 3}, {"id": "v-9", "stop": True}):
        widget._handle_message(widget, message, [])
    page.asks("v-1", "nothing", {})
    assert page.hears()[0]["id"] == "v-1"


def endless(begun: threading.Event, ended: threading.Event) -> Any:
    def answer(name: str, question: Any, progress: Any) -> dict[str, Any]:
        for number in range(1_000_000):
            progress("counting", number, None)
            begun.set()
            try:
                check_stop()
            except KeyboardInterrupt:
                ended.set()
                raise
            threading.Event().wait(0.001)
        return {}

    return answer


def test_work_that_the_page_stops_ends_and_is_not_answered(
    widget: Explorer, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setattr(widget._service, "answer", endless(begun, ended))
    page.asks("v-1", "construct", {})
    assert begun.wait(30)
    message, _ = page.told.get(timeout=30)
    assert message == {"id": "v-1", "progress": {"stage": "counting", "done": 0, "total": None}}
    widget._handle_custom_msg({"id": "v-1", "stop": True}, [])
    assert ended.wait(30)
    monkeypatch.undo()
    assert widget._stops == {} or ended.is_set()


def test_closing_ends_all_work_and_lets_the_networks_go(cube: Cube, monkeypatch: pytest.MonkeyPatch) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10])
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setattr(widget._service, "answer", endless(begun, ended))
    Page(widget, monkeypatch).asks("v-1", "construct", {})
    assert begun.wait(30)
    service = widget._service
    widget.close()
    assert ended.wait(30)
    assert widget.comm is None
    assert widget._service is not service
    widget.close()


def test_several_widgets_stand_side_by_side(cube: Cube) -> None:
    one, other = (c2n.explore(cube, PLANTED.query(group)[:5]) for group in (0, 1))
    one.request = {**one.request, "n_cells": 1}
    assert len(one.selection.cells) == 1
    assert "n_cells" not in other.request
    one.close()
    other.query = PLANTED.query(2)[:4]
    assert len(other.network.query) == 4
    other.close()


def test_where_no_page_is_shown_the_picture_stands_in_its_place(widget: Explorer, cube: Cube) -> None:
    data, _ = widget._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert data["text/plain"] == repr(widget)
    kept = Kept(data["text/html"])
    assert kept.lost == []
    assert kept.sources == [widget.still]
    empty = c2n.explore(cube)
    assert Kept(empty._repr_mimebundle_()[0]["text/html"]).text.startswith("Cube 200 objects")
    empty.close()
