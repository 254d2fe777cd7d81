"""The network, its cells, the cube and its reasons under a real mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from browser.explorers import Explorer, Tab, townspeople

pytestmark = pytest.mark.browser

PEOPLE = [row for row in townspeople() if row[2:4] in (("Alba", "bread"), ("Cork", "iron"))]


@pytest.fixture
def drawn(tab: Tab, town: Explorer) -> Tab:
    """Return a tab that has drawn the network of twenty people, labelled by their city."""
    tab.open(town.address)
    request = {"query": [row[0] for row in PEOPLE], "labels": [row[2] for row in PEOPLE]}
    tab.page.evaluate("ask => window.cube2net.store.move(ask)", request)
    tab.ready()
    settled(tab)
    return tab


def graph(tab: Tab) -> Locator:
    """Return the part of the page that draws the network."""
    return tab.page.locator(".graph")


def place_of(tab: Tab, key: str | int) -> tuple[float, float]:
    """Return where a node is in the window."""
    place = tab.page.evaluate("key => window.cube2net.store.debug.placeOf(key)", key)
    return place["x"], place["y"]


def settled(tab: Tab) -> None:
    """Wait until the network is drawn and its nodes no longer move."""
    expect(graph(tab)).to_have_attribute("data-placed", "true")
    tab.page.evaluate(
        """async () => {
          const { store } = window.cube2net, next = () => new Promise((done) => setTimeout(done, 120));
          const seen = () => JSON.stringify(store.network.nodes.id.map((id) => store.debug.placeOf(id)));
          for (let before = "", now = seen(); before !== now; [before, now] = [now, seen()]) await next();
        }"""
    )


def show(tab: Tab, name: str) -> None:
    """Show a panel."""
    tab.page.locator(f'[role=tab][data-tab="{name}"]').click()


def stranger(tab: Tab) -> str:
    """Return the id of an object of the network that is not in the query."""
    nodes = tab.network["nodes"]
    return str(nodes["id"][nodes["role"].index("neighbor")])


def test_a_tap_on_a_narrow_page_brings_the_reasons_into_view_and_one_bar_scrolls_all(town: Explorer, tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 400, "height": 800})
    tab.open(town.address)
    tab.page.get_by_label("Names of the query").fill("Bob Baker")
    tab.page.get_by_role("button", name="Make the network").click()
    tab.ready()
    tab.page.evaluate("window.cube2net.store.select({object: window.cube2net.store.request.query[0]})")
    expect(tab.page.locator("[data-panel=why] h3")).to_be_in_viewport()
    scrolled = tab.page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll('*')].filter((node) =>
          node.clientHeight > 0 && node.scrollHeight > node.clientHeight + 1 && node.clientHeight > 200
          && (node === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(node).overflowY)))
          .map((node) => node.id || node.tagName)"""
    )
    assert scrolled == ["page"]


def test_every_node_is_drawn_and_the_legend_names_the_labels(drawn: Tab) -> None:
    count = str(len(drawn.network["nodes"]["id"]))
    expect(graph(drawn)).to_have_attribute("data-nodes", count)
    expect(graph(drawn)).to_have_attribute("data-drawn", count)
    expect(drawn.page.locator(".graph-legend")).to_contain_text("Alba")
    expect(drawn.page.locator(".graph-legend")).to_contain_text("chosen cell")


def test_a_pointed_node_stands_out_with_its_neighbours_and_a_click_tells_why(drawn: Tab) -> None:
    network, page = drawn.network, drawn.page
    links = network["links"]
    ends = {two for one, two in zip(links["source"], links["target"], strict=True) if one == 0}
    ends |= {one for one, two in zip(links["source"], links["target"], strict=True) if two == 0}
    page.mouse.move(*place_of(drawn, PEOPLE[0][0]))
    expect(graph(drawn)).to_have_attribute("data-lit", str(len(ends) + 1))
    expect(page.locator(".graph-tip")).to_contain_text(PEOPLE[0][1])
    page.mouse.click(*place_of(drawn, PEOPLE[0][0]))
    expect(page.locator(".why-head")).to_contain_text(PEOPLE[0][1])
    expect(page.locator(".why-sentence")).to_contain_text("is in the query")
    page.mouse.move(2, 2)
    expect(graph(drawn)).to_have_attribute("data-lit", "0")


def test_a_dragged_node_stays_where_it_was_dropped(drawn: Tab) -> None:
    x, y = place_of(drawn, PEOPLE[1][0])
    drawn.page.mouse.move(x, y)
    drawn.page.mouse.down()
    drawn.page.mouse.move(x + 30, y + 20, steps=4)
    drawn.page.mouse.move(x + 60, y + 40, steps=4)
    drawn.page.mouse.up()
    assert place_of(drawn, PEOPLE[1][0]) == pytest.approx((x + 60, y + 40), abs=4)
    assert drawn.page.evaluate("window.cube2net.store.selected") is None


def test_the_menu_of_a_node_pins_it(drawn: Tab) -> None:
    before, key = drawn.fingerprint, stranger(drawn)
    drawn.page.mouse.click(*place_of(drawn, key), button="right")
    drawn.page.locator(".graph-menu [data-action=pin]").click()
    drawn.page.wait_for_function("() => window.cube2net.store.request.pins !== undefined")
    drawn.wait("ready")
    assert drawn.request["pins"] == [{"object": key}]
    assert drawn.fingerprint == before or key in drawn.network["nodes"]["id"]


def test_the_menu_opens_by_keyboard_and_gives_the_focus_back(drawn: Tab) -> None:
    drawn.page.evaluate("key => window.cube2net.store.select({object: key})", stranger(drawn))
    stage = drawn.page.locator(".graph-stage")
    stage.focus()
    stage.press("Enter")
    expect(drawn.page.locator(".graph-menu button").first).to_be_focused()
    drawn.page.keyboard.press("Escape")
    expect(drawn.page.locator(".graph-menu")).to_be_hidden()
    expect(stage).to_be_focused()


def test_a_lasso_lists_what_it_holds_and_makes_a_new_query_of_it(drawn: Tab) -> None:
    box = drawn.page.locator(".graph-stage").bounding_box()
    assert box is not None
    left, top, right, bottom = box["x"] + 3, box["y"] + 3, box["x"] + box["width"] - 3, box["y"] + box["height"] - 3
    drawn.page.locator(".graph-lasso").click()
    drawn.page.mouse.move(left, top)
    drawn.page.mouse.down()
    for corner in ((right, top + 60), (right, bottom), (left, bottom), (left, top)):
        drawn.page.mouse.move(*corner, steps=3)
    drawn.page.mouse.up()
    nodes = drawn.network["nodes"]
    expect(drawn.page.locator(".graph-chosen strong")).to_have_text(f"{len(nodes['id'])} nodes chosen")
    drawn.page.locator(".graph-chosen [data-action=query]").click()
    drawn.page.wait_for_function("count => window.cube2net.store.request.query.length > count", arg=len(PEOPLE))
    drawn.ready()
    assert len(drawn.request["query"]) == sum(labels is None for labels in nodes["labels"])


def test_a_page_that_turns_dark_draws_the_same_nodes_and_listens_once(drawn: Tab) -> None:
    drawn.page.emulate_media(color_scheme="dark")
    settled(drawn)
    x, y = place_of(drawn, PEOPLE[0][0])
    drawn.page.keyboard.down("Shift")
    drawn.page.mouse.move(x - 12, y - 12)
    drawn.page.mouse.down()
    for corner in ((x + 12, y - 12), (x + 12, y + 12), (x - 12, y + 12)):
        drawn.page.mouse.move(*corner, steps=2)
    drawn.page.mouse.up()
    drawn.page.keyboard.up("Shift")
    expect(drawn.page.locator(".graph-chosen li", has_text=PEOPLE[0][1])).to_have_count(1)
    expect(drawn.page.locator(".graph-stage > .graph-overlay")).to_have_count(1)


def test_a_network_glides_to_that_of_another_move(drawn: Tab) -> None:
    before = drawn.fingerprint
    drawn.page.evaluate("window.cube2net.store.move({n_cells: 1})")
    drawn.ready(but=before)
    settled(drawn)
    expect(graph(drawn)).to_have_attribute("data-drawn", str(len(drawn.network["nodes"]["id"])))


def test_pointing_at_a_cell_tells_the_network_without_it(drawn: Tab) -> None:
    show(drawn, "cells")
    drawn.page.locator("[data-cell]").first.hover()
    expect(drawn.page.locator(".cells-told")).to_contain_text(re.compile("^Without .+:"))
    drawn.page.mouse.move(2, 2)
    expect(drawn.page.locator(".cells-told")).to_contain_text("Point at a cell")
    expect(graph(drawn)).to_have_attribute("data-lit", "0")


def test_cells_are_sorted_by_any_column(drawn: Tab) -> None:
    show(drawn, "cells")
    drawn.page.locator(".cells-table thead").get_by_role("button", name="Size").click()
    sizes = [int(text) for text in drawn.page.locator(".cells-table tbody td:nth-child(4)").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)


def test_the_cube_is_looked_into_down_to_a_cell_that_is_pinned(drawn: Tab) -> None:
    show(drawn, "cube")
    page = drawn.page
    filled = page.locator(".pivot-scroll tbody td:not(.none)")
    for _ in range(3):
        before = page.locator(".pivot-path").inner_text()
        filled.first.click()
        expect(page.locator(".pivot-path")).not_to_have_text(before)
        expect(page.locator(".pivot-holder")).not_to_have_class(re.compile("waiting"))
        if page.locator(".pivot [data-action=pin]").count():
            break
    page.locator(".pivot [data-action=pin]").click()
    page.wait_for_function("() => window.cube2net.store.request.pins !== undefined")
    drawn.wait("ready")
    assert len(drawn.request["pins"][0]["cell"]) == 3
    page.locator(".pivot-path button").first.click()
    expect(page.locator(".pivot-path")).to_have_text("All of the cube")


def test_the_objects_of_a_part_of_the_cube_join_the_query(drawn: Tab) -> None:
    show(drawn, "cube")
    drawn.page.locator(".pivot-scroll tbody th button").first.click()
    drawn.page.locator(".pivot [data-action=take]").click()
    drawn.page.wait_for_function("count => window.cube2net.store.request.query.length > count", arg=len(PEOPLE))
    drawn.ready()
    assert len(drawn.request["labels"]) == len(drawn.request["query"])


def test_the_heat_map_is_walked_by_arrows(drawn: Tab) -> None:
    show(drawn, "cube")
    first = drawn.page.locator('[data-at="0,0"]')
    first.focus()
    first.press("ArrowDown")
    expect(drawn.page.locator('[data-at="1,0"]')).to_be_focused()
    drawn.page.keyboard.press("ArrowLeft")
    expect(drawn.page.locator('[data-at="1,-1"]')).to_be_focused()
    drawn.page.keyboard.press("Enter")
    expect(drawn.page.locator(".pivot-path")).to_contain_text("›")
    expect(drawn.page.locator(".pivot-told")).not_to_be_empty()


def test_two_labels_of_the_query_stand_side_by_side(drawn: Tab) -> None:
    show(drawn, "against")
    expect(drawn.page.locator(".against-sentence")).to_contain_text("differs from")
    expect(drawn.page.locator(".against-key").first).to_contain_text("Alba")
    expect(drawn.page.locator(".against-cells li").first).to_contain_text("significant")


def test_somebody_who_is_missing_is_asked_for_by_name(drawn: Tab) -> None:
    inside = {str(key) for key in drawn.network["nodes"]["id"]}
    key, name = next((row[0], row[1]) for row in townspeople() if row[0] not in inside and row[1] != "Ann Smith")
    show(drawn, "why")
    field = drawn.page.get_by_label("Object or cell to explain")
    field.press_sequentially(name)
    expect(drawn.page.locator(".why [role=option]").first).to_contain_text(name)
    field.press("ArrowDown")
    field.press("Enter")
    expect(drawn.page.locator(".why-sentence")).to_contain_text("is not in the network")
    assert drawn.page.evaluate("window.cube2net.store.selected") == {"object": key}


def test_without_webgl_the_network_is_a_table(new_tab: Callable[[], Tab], town: Explorer) -> None:
    tab = new_tab()
    tab.page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest) }"
    )
    tab.open(town.address)
    tab.page.evaluate("ask => window.cube2net.store.move(ask)", {"query": [row[0] for row in PEOPLE]})
    tab.ready()
    expect(tab.page.locator(".graph-note")).to_contain_text("WebGL")
    rows = min(50, len(tab.network["nodes"]["id"]))
    expect(tab.page.locator(".graph-scroll tbody tr")).to_have_count(rows)
    tab.page.locator(".graph-scroll thead").get_by_role("button", name="Name").click()
    expect(tab.page.locator(".graph-scroll th[aria-sort=ascending]")).to_have_text("Name")
    tab.page.locator(".graph-scroll tbody button").first.click()
    expect(tab.page.locator(".why-sentence")).not_to_be_empty()


def test_a_network_without_the_selected_node_is_drawn_and_all_of_it_is_in_view(tab: Tab, town: Explorer) -> None:
    page = tab.page
    people = [key for key, _, city, _, _ in townspeople() if city == "Alba"]
    tab.open(town.address)
    page.evaluate("query => void window.cube2net.store.move({ query })", people)
    first = tab.ready()
    page.locator("[data-cell] button.cells-name").last.click()
    page.evaluate("query => void window.cube2net.store.move({ query, n_cells: 1, n_neighbors: 0 })", people[:2])
    second = tab.ready(but=first)
    page.wait_for_function(SEEN, arg=0.9)
    page.get_by_role("button", name="Undo", exact=True).click()
    assert tab.ready(but=second) == first
    page.wait_for_function(SEEN, arg=0.9)


def test_the_view_comes_back_when_nothing_is_selected_any_longer(tab: Tab, town: Explorer) -> None:
    page = tab.page
    tab.open(town.address)
    page.evaluate("query => void window.cube2net.store.move({ query })", [key for key, *_ in townspeople()][:60])
    tab.ready()
    page.locator("[data-cell] button.cells-name").first.click()
    page.wait_for_function("most => !(" + SEEN + ")(most)", arg=0.7)
    page.evaluate("window.cube2net.store.select(null)")
    page.wait_for_function(SEEN, arg=0.99)


# Whether so large a share of the nodes is in view.
SEEN = """least => {
  const { store } = window.cube2net;
  const box = document.querySelector(".graph-stage").getBoundingClientRect();
  const inside = store.network.nodes.id.filter((id, at) => {
    const labels = store.network.nodes.labels[at];
    const place = store.debug.placeOf(labels ? `c${JSON.stringify(labels)}` : id);
    return place && place.x >= box.left && place.x <= box.right && place.y >= box.top && place.y <= box.bottom;
  });
  return inside.length >= least * store.network.nodes.id.length;
}"""
