"""The widget in a browser: a page with a model such as anywidget's, behind it the real widget of this process."""

from __future__ import annotations

import base64
import json
import queue
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

import cube2net as c2n
from browser.explorers import CHROMIUM, FLAGS, USUAL
from cube2net.apps.notebook.widget import Explorer
from cube2net.model.cube import Cube

from hostile import NAMES
from notebook_runs import PAGE_BUILT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PAGE_BUILT, reason="the page is not built: make page"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
ADDRESS = "http://notebook.example/"
SYNCED = ("_esm", "_css", "request", "node", "still")
DOCUMENT = """<!doctype html><meta charset="utf-8"><title>A notebook</title>
<body><input id="other" aria-label="another cell"><div id="cell"></div><div id="below"></div><script type="module">
const contexts = new Set(), observing = new Set(), heard = [];
const { getContext } = HTMLCanvasElement.prototype;
HTMLCanvasElement.prototype.getContext = function (kind, ...how) {
  const context = getContext.call(this, kind, ...how);
  if (context && kind.startsWith("webgl")) contexts.add(context);
  return context;
};
for (const kind of [ResizeObserver, IntersectionObserver, MutationObserver]) {
  const { observe, disconnect } = kind.prototype;
  kind.prototype.observe = function (...given) { observing.add(this); return observe.call(this, ...given); };
  kind.prototype.disconnect = function () { observing.delete(this); return disconnect.call(this); };
}
const { addEventListener, removeEventListener } = EventTarget.prototype;
const forget = (target, event, listener) => {
  const at = heard.findIndex((each) => each[0] === target && each[1] === event && each[2] === listener);
  if (at >= 0) heard.splice(at, 1);
};
EventTarget.prototype.addEventListener = function (event, listener, how) {
  const target = this ?? window;
  if (target === document || target === window || target instanceof MediaQueryList) {
    heard.push([target, event, listener]);
    if (how?.signal) addEventListener.call(how.signal, "abort", () => forget(target, event, listener));
  }
  return addEventListener.call(target, event, listener, how);
};
EventTarget.prototype.removeEventListener = function (event, listener, how) {
  forget(this ?? window, event, listener);
  return removeEventListener.call(this ?? window, event, listener, how);
};
window.lose = () => contexts.forEach((context) => context.getExtension("WEBGL_lose_context")?.loseContext());
window.living = () => ({
  contexts: [...contexts].filter((context) => !context.isContextLost()).length,
  observers: observing.size,
  listeners: heard.length,
});
const state = JSON.parse(await window.kernel("state", ""));
const listeners = new Map();
const fire = (event, ...told) => [...(listeners.get(event) ?? [])].forEach((listener) => listener(...told));
const put = (name, value) => {
  if (JSON.stringify(state[name]) === JSON.stringify(value)) return false;
  state[name] = value;
  fire(`change:${name}`);
  return true;
};
let changed = {};
const model = {
  get: (name) => state[name],
  set: (name, value) => { if (put(name, value)) changed[name] = value; },
  save_changes: () => { window.kernel("update", JSON.stringify(changed)); changed = {}; },
  send: (message) => {
    if (window.cut) throw new Error("Cannot send");
    window.kernel("custom", JSON.stringify(message));
  },
  on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
  off: (event, listener) => listeners.set(event, (listeners.get(event) ?? []).filter((each) => each !== listener)),
};
const view = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
setInterval(async () => {
  for (const [kind, content, buffers] of JSON.parse(await window.kernel("pull", "")))
    if (kind === "custom") fire("msg:custom", content, buffers.map(view));
    else Object.entries(content).forEach(([name, value]) => put(name, value));
}, 20);
const style = document.createElement("style");
style.textContent = state._css;
document.head.append(style);
const module = await import(URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" })));
window.restart = () => { window.cut = true; fire("comm_live_update"); };
window.keys = [];
document.addEventListener("keydown", (event) => window.keys.push(event.key));
window.listening = () => [...listeners.values()].flat().length;
const ends = (window.ends = {});
window.show = async (id) => void (ends[id] = await module.default.render({ model, el: document.getElementById(id) }));
await window.show("cell");
document.body.dataset.shown = "true";
</script>"""


HOST = """
  .out dl, .out dt, .out dd { display: block; }
  .out dt { float: left; width: 20%; padding: 3px; font-weight: bold; }
  .out dd { margin-left: 24%; }
  .out.out table, .out.out :is(tr, th, td) { display: block; padding: 20px; border: 9px solid red; font-size: 30px; }
  .out .out-in :is(button, input, select, textarea) { margin: 9px; padding: 9px; font: 30px serif; float: right; }
  .out p, .out ul li, .out ol, .out pre, .out code, .out h2, .out h3 { margin: 2em; padding: 1em; line-height: 3; }
  .out ul li::before { content: "–––"; }
  .out { white-space: pre; letter-spacing: 3px; text-transform: uppercase; }
"""
"""Rules such as JupyterLab has for what cells show, and worse ones."""

PLACES = """() => [...document.querySelectorAll("#cell .c2n-widget *")].map((each) => {
  const box = each.getBoundingClientRect(), looks = getComputedStyle(each);
  return [each.tagName, Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height),
    looks.float, looks.fontSize, looks.fontWeight, looks.textTransform].join(" ");
})"""


class Notebook:
    """A page in which a widget is shown; ``slips`` are what it said that it should not."""

    def __init__(self, page: Page, widget: Explorer) -> None:
        self.page, self.widget = page, widget
        self.slips: list[str] = []
        self._told: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.silent = False
        self.unheard: list[Any] = []
        object.__setattr__(widget, "_send", self._tell)
        page.on("pageerror", lambda error: self.slips.append(str(error)))
        page.on("console", self._note)
        page.on("dialog", lambda dialog: (self.slips.append(dialog.message), dialog.dismiss()))
        page.expose_function("kernel", self._heard)
        page.route("**/*", self._serve)
        page.goto(ADDRESS)

    def _note(self, message: Any) -> None:
        if message.type == "error" and not any(word in message.text for word in USUAL):
            self.slips.append(message.text)

    def _serve(self, route: Any) -> None:
        if route.request.url == ADDRESS:
            route.fulfill(body=DOCUMENT, content_type="text/html")
        else:
            self.slips.append(route.request.url)
            route.abort()

    def _tell(self, message: Any, buffers: Any = None) -> None:
        if message["method"] == "custom":
            parts = [base64.b64encode(part).decode() for part in buffers or []]
            self._told.put(("custom", message["content"], parts))
        else:
            self._told.put(("state", message["state"], []))

    def _heard(self, kind: str, value: str) -> str:
        if kind == "state":
            return json.dumps({name: getattr(self.widget, name) for name in SYNCED})
        if kind == "pull":
            told = []
            while not self._told.empty():
                told.append(self._told.get())
            return json.dumps(told)
        if kind == "custom" and self.silent:
            self.unheard.append(json.loads(value))
        elif kind == "custom":
            self.widget._handle_custom_msg(json.loads(value), [])
        if kind == "update":
            self.widget.set_state(json.loads(value))
        return ""

    @property
    def frame(self) -> Any:
        """The page of the widget."""
        return self.page.locator("#cell .c2n-widget")

    def waits(self, until: Callable[[], bool]) -> None:
        """Wait until something is so, for at most half a minute."""
        for _ in range(600):
            if until():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("it did not come to pass")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def shown(browser: Any) -> Iterator[Callable[[Explorer], Notebook]]:
    made: list[Notebook] = []
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    context.set_default_timeout(120_000)

    def show(widget: Explorer) -> Notebook:
        made.append(Notebook(context.new_page(), widget))
        return made[-1]

    yield show
    context.close()
    for notebook in made:
        notebook.widget.close()
    assert [slip for notebook in made for slip in notebook.slips] == []


PLANTED = c2n.make_planted(objects=200, communities=4, noise=0)


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(PLANTED.corpus)


Show = Callable[[Explorer], Notebook]


def ready(notebook: Notebook) -> None:
    notebook.waits(lambda: notebook.frame.get_attribute("data-phase") == "ready")


def test_the_page_stands_in_the_cell_with_the_network_that_python_asked_for(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    expect(notebook.frame.get_by_role("tab", name="Settings")).to_be_visible()
    assert "3 cells" in notebook.frame.locator(".said").inner_text()


def test_python_moves_the_page(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    widget.request = {**widget.request, "n_cells": 1}
    expect(notebook.frame.locator(".said")).to_contain_text("1 cell")
    widget.query = PLANTED.query(1)[:5]
    expect(notebook.frame.locator(".said")).to_contain_text("Your 5 objects,")
    widget.request = {"query": []}
    notebook.waits(lambda: notebook.frame.get_attribute("data-phase") == "empty")


def test_the_mouse_moves_python(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    seen: list[str] = []
    widget.observe(lambda change: seen.append(str(change["new"])), names="network")
    notebook = shown(widget)
    ready(notebook)
    first = list(widget.network.labels[0])
    notebook.frame.get_by_role("tab", name="Cells").click()
    notebook.frame.get_by_role("row", name=" · ".join(first)).hover()
    notebook.frame.get_by_role("button", name="Ban").first.click()
    notebook.waits(lambda: widget.request.get("bans") == [{"cell": first}])
    assert tuple(first) not in widget.network.labels
    assert seen == [str(widget.network)]
    assert len(widget.selection.cells) == len(widget.network.labels)


def test_what_is_clicked_is_the_widgets_node_and_the_other_way_round(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    widget.node = {"object": widget.request["query"][0]}
    expect(notebook.frame.get_by_role("tab", name="Why")).to_have_attribute("aria-selected", "true")
    widget.node = None
    notebook.frame.get_by_role("tab", name="Cells").click()
    cell = list(widget.network.labels[1])
    notebook.frame.get_by_role("button", name=" · ".join(cell), exact=True).first.click()
    notebook.waits(lambda: widget.node == {"cell": cell})


def test_two_views_of_a_widget_move_together_and_an_end_leaves_nothing_behind(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    before = notebook.page.evaluate("window.listening()")
    notebook.page.evaluate("window.show('below')")
    below = notebook.page.locator("#below .c2n-widget")
    notebook.waits(lambda: below.get_attribute("data-phase") == "ready")
    widget.request = {**widget.request, "n_cells": 1}
    for frame in (notebook.frame, below):
        expect(frame.locator(".said")).to_contain_text("1 cell")
    notebook.page.evaluate("window.ends.below()")
    assert notebook.page.locator("#below").inner_html() == ""
    assert notebook.page.evaluate("window.listening()") == before


def test_a_view_that_is_left_gives_back_its_drawing_and_stops_listening(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    page, below = notebook.page, notebook.page.locator("#below .c2n-widget")
    before = page.evaluate("window.living()")
    for _ in range(6):
        page.evaluate("window.show('below')")
        notebook.waits(lambda: below.get_attribute("data-phase") == "ready")
        for tab in ("Save", "Cube", "Why", "Compare"):
            below.get_by_role("tab", name=tab).click()
        assert page.evaluate("window.living()")["contexts"] == 2 * before["contexts"]
        page.evaluate("window.ends.below()")
    assert page.evaluate("window.living()") == before


def test_a_drawing_that_is_lost_out_of_sight_comes_back_with_the_view(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    page = notebook.page
    before = page.evaluate("window.living()")
    page.evaluate("window.away = document.querySelector('#cell .c2n-widget'); window.away.remove(); window.lose()")
    page.wait_for_timeout(600)
    assert page.evaluate("window.living()")["contexts"] == 0, "nothing is drawn for a view that nobody sees"
    page.evaluate("document.getElementById('cell').append(window.away)")
    notebook.waits(lambda: bool(page.evaluate("window.living()") == before))


def test_a_view_that_is_left_before_the_kernel_answers_draws_nothing(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    before = notebook.page.evaluate("[window.living(), window.listening()]")
    notebook.silent = True
    notebook.page.evaluate("window.show('below').then(() => window.ends.below())")
    notebook.silent = False
    for message in notebook.unheard:
        notebook.widget._handle_custom_msg(message, [])
    notebook.page.wait_for_timeout(100)
    assert notebook.page.evaluate("[window.living(), window.listening()]") == before
    assert notebook.page.locator("#below").inner_html() == ""


def test_keys_pressed_in_the_page_do_not_reach_the_notebook(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube))
    box = notebook.frame.locator("textarea").first
    box.click()
    box.press_sequentially("dd")
    notebook.page.locator("#other").press("x")
    assert notebook.page.evaluate("window.keys") == ["x"]


def test_a_file_is_downloaded_whole(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    notebook.frame.get_by_role("tab", name="Save").click()
    expect(notebook.frame.locator(".address")).to_be_hidden()
    with notebook.page.expect_download() as download:
        notebook.frame.locator("[data-export='query.csv']").first.click()
    assert download.value.path().read_bytes().decode().count("\n") == 11


def test_a_refusal_is_a_sentence_on_the_page(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10])
    notebook = shown(widget)
    ready(notebook)
    notebook._told.put(("state", {"request": {**widget.request, "bans": [{"cell": ["no", "such", "cell"]}]}}, []))
    expect(notebook.frame.get_by_role("alert").first).to_be_visible()
    assert "bans" not in widget.request


def test_while_no_kernel_answers_the_picture_stands_and_a_sentence_says_so(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10])
    widget._repr_mimebundle_()
    notebook = shown(widget)
    ready(notebook)
    notebook.silent = True
    notebook.page.evaluate("window.show('below')")
    below = notebook.page.locator("#below")
    assert str(below.locator("img").get_attribute("src")).startswith("data:image/svg+xml;base64,")
    expect(below).to_contain_text("The kernel does not answer yet", timeout=120_000)
    expect(below.locator("img")).to_be_visible()
    notebook.silent = False
    for message in notebook.unheard:
        widget._handle_custom_msg(message, [])
    expect(below.get_by_role("tab", name="Settings")).to_be_visible()


def test_a_notebooks_own_rules_do_not_reach_into_the_page(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    page = notebook.page
    notebook.frame.get_by_role("tab", name="Cells").click()
    notebook.frame.get_by_role("tab", name="Save").click()
    expect(notebook.frame.locator("[data-words='python.txt']")).to_contain_text("construct")
    expect(notebook.frame.locator(".cells-table tbody tr")).to_have_count(3)
    before = page.evaluate(PLACES)
    page.add_style_tag(content=HOST)
    page.evaluate("document.body.className = 'out'; document.getElementById('cell').className = 'out out-in'")
    assert page.evaluate("getComputedStyle(document.getElementById('cell')).letterSpacing") == "3px"
    page.evaluate("document.body.style.cssText = 'letter-spacing: 0'")
    assert page.evaluate(PLACES) == before
    name, number = (notebook.frame.locator(f".cells-proof {tag}").first.bounding_box() for tag in ("dt", "dd"))
    assert name["y"] + name["height"] <= number["y"] + 1


@pytest.mark.parametrize(
    ("dark", "light"),
    [
        ("document.body.dataset.jpThemeLight = 'false'", "document.body.dataset.jpThemeLight = 'true'"),
        ("document.body.className = 'vscode-dark'", "document.body.className = 'vscode-light'"),
        ("document.documentElement.setAttribute('theme', 'dark')", "document.documentElement.removeAttribute('theme')"),
    ],
    ids=["JupyterLab", "VS Code", "Colab"],
)
def test_the_page_is_dark_where_the_notebook_is_and_follows_it(shown: Show, cube: Cube, dark: str, light: str) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    disc = notebook.frame.locator(".graph-mark.disc").first
    looks = ["rgb(247, 247, 245)", "rgb(28, 104, 167)"], ["rgb(18, 19, 22)", "rgb(65, 159, 223)"]
    for move, (ground, colour) in zip((dark, light), reversed(looks), strict=True):
        notebook.page.evaluate(move)
        expect(notebook.frame).to_have_css("background-color", ground)
        expect(disc).to_have_css("background-color", colour)


def test_where_the_notebook_says_nothing_the_page_is_as_the_system_is(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube))
    expect(notebook.frame).to_have_attribute("data-theme", "light")
    notebook.page.emulate_media(color_scheme="dark")
    expect(notebook.frame).to_have_attribute("data-theme", "dark")
    expect(notebook.frame).to_have_css("background-color", "rgb(18, 19, 22)")
    notebook.page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    expect(notebook.frame).to_have_css("background-color", "rgb(247, 247, 245)")


LOST = "The kernel was restarted or is gone: run this cell again."


def test_a_question_to_a_kernel_that_was_restarted_says_to_run_the_cell_again(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    notebook.page.evaluate("window.restart()")
    notebook.frame.get_by_role("button", name="Make the network").click()
    expect(notebook.frame.get_by_role("alert").first).to_contain_text(LOST)


def test_who_waits_for_an_answer_hears_that_the_kernel_was_restarted(shown: Show, cube: Cube) -> None:
    notebook = shown(c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3))
    ready(notebook)
    notebook.silent = True
    notebook.frame.get_by_role("button", name="Make the network").click()
    notebook.waits(lambda: bool(notebook.unheard))
    notebook.page.evaluate("window.restart()")
    expect(notebook.frame.get_by_role("alert").first).to_contain_text(LOST)


def test_a_name_and_enter_explain_it_before_suggestions_come(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    notebook.frame.get_by_role("tab", name="Why").click()
    field = notebook.frame.get_by_label("Object or cell to explain")
    field.fill("Object 1")
    field.press("Enter")
    notebook.waits(lambda: widget.node == {"object": "o1"})
    expect(field).to_have_value("")
    expect(notebook.frame.locator(".why-head h3")).to_have_text("Object 1", timeout=120_000)


def test_a_name_that_nobody_has_is_said_in_place_of_the_answer_before(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    widget.node = {"object": "o1"}
    head = notebook.frame.locator(".why-head h3")
    expect(head).to_have_text("Object 1", timeout=120_000)
    field = notebook.frame.get_by_label("Object or cell to explain")
    field.fill("Objekt 17")
    field.press("Enter")
    body = notebook.frame.locator(".why-body")
    expect(body).to_contain_text("“Objekt 17” is not in the cube. Did you mean Object 17", timeout=120_000)
    expect(head).to_have_count(0)
    notebook.waits(lambda: widget.node is None)
    body.get_by_role("button", name="Object 17", exact=True).click()
    expect(head).to_have_text("Object 17", timeout=120_000)


def test_enter_is_heard_while_suggestions_are_under_way(shown: Show, cube: Cube) -> None:
    widget = c2n.explore(cube, PLANTED.query(0)[:10], n_cells=3)
    notebook = shown(widget)
    ready(notebook)
    notebook.frame.get_by_role("tab", name="Why").click()
    field = notebook.frame.get_by_label("Object or cell to explain")
    notebook.silent = True
    field.fill("Objekt 17")
    notebook.waits(lambda: [each.get("name") for each in notebook.unheard].count("complete") == 1)
    field.press("Enter")
    notebook.waits(lambda: [each.get("name") for each in notebook.unheard].count("complete") == 2)
    notebook.silent = False
    for message in notebook.unheard:
        widget._handle_custom_msg(message, [])
    expect(notebook.frame.locator(".why-body")).to_contain_text("“Objekt 17” is not in the cube", timeout=120_000)


def test_hostile_names_do_nothing_in_a_notebook(shown: Show) -> None:
    names = [name for name in NAMES if "\0" not in name]
    marked = [f"{name}<img src=x onerror=alert(1)>" for name in names]
    nodes = {"id": [f"n{at}" for at in range(40)], "name": (marked * 2)[:40], "town": (names[:4] * 10)[:40]}
    links = {"source": nodes["id"][:-1], "target": nodes["id"][1:]}
    cube = c2n.build(
        nodes=[dict(zip(nodes, row, strict=True)) for row in zip(*nodes.values(), strict=True)],
        links=[dict(zip(links, row, strict=True)) for row in zip(*links.values(), strict=True)],
        dimensions=["town"],
        min_objects=2,
    )
    widget = c2n.explore(cube, {key: names[at % 3] for at, key in enumerate(nodes["id"][:9])})
    widget._repr_mimebundle_()
    notebook = shown(widget)
    ready(notebook)
    for tab in ("Save", "Settings", "Why", "Cells"):
        notebook.frame.get_by_role("tab", name=tab).click()
    assert notebook.frame.locator("img[src=x]").count() == 0
