"""Hostile names, large networks, ended work and small screens: states that were designed, and are looked at here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from browser.explorers import Explorer, Tab, hostile_cube, planted_cube, townspeople, unnamed_controls

pytestmark = pytest.mark.browser

PANELS = ("ask", "steer", "keep", "network", "cube", "why", "cells", "against")
WIDTHS = (400, 1280, 2560)
BAKERS = [key for key, _, city, trade, _ in townspeople() if (city, trade) == ("Alba", "bread")]
LASTING = {"method": "anneal", "options": {"seconds": 300}}


def show(page: Page, name: str) -> None:
    """Show a panel."""
    page.locator(f'[role=tab][data-tab="{name}"]').click()
    expect(page.locator(f'[role=tab][data-tab="{name}"]')).to_have_attribute("aria-selected", "true")


def move(tab: Tab, change: dict[str, object]) -> None:
    """Change the request, as controls do, and do not wait for the answer."""
    tab.page.evaluate("change => void window.cube2net.store.move(change)", change)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Return the explorer of a cube full of hostile names, with a query that has such labels."""
    folder = tmp_path_factory.mktemp("hostile")
    explorer = Explorer(hostile_cube(folder), "--query", str(folder / "query.csv"))
    yield explorer
    explorer.close()


def test_names_that_would_run_are_only_shown(tab: Tab, hostile: Explorer) -> None:
    page = tab.page
    tab.open(hostile.address)
    tab.ready()
    network = tab.network
    for panel in PANELS:
        show(page, panel)
    # Reasons for an object, a cell, and one who is not in the network; tables, lists, completions and menus.
    for place in (0, 1, len(network["nodes"]["id"]) - 1):
        page.evaluate(
            """place => { const { store } = window.cube2net, { nodes } = store.network;
            store.select(nodes.labels[place] ? { cell: nodes.labels[place] } : { object: nodes.id[place] }) }""",
            place,
        )
        show(page, "why")
        expect(page.locator("[data-panel=why] h3")).to_be_visible()
    show(page, "ask")
    page.get_by_label("Names of the query").fill("<img")
    expect(page.locator("[role=option]").first).to_be_visible()
    page.keyboard.press("Escape")
    show(page, "cells")
    for row in page.locator("[data-cell]").all()[:3]:
        row.hover()
    show(page, "cube")
    page.locator('[role=grid] [data-at="0,0"]').hover()
    show(page, "keep")
    expect(page.locator('[data-words="command.txt"]')).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    assert page.locator("script").count() == 1
    assert page.locator("#page img, #page iframe, #page [onerror], #page [onload], #page [onmouseover]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.slips == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Return the explorer of 19,980 objects in 20 cells, with a query of a hundred."""
    folder = tmp_path_factory.mktemp("large")
    explorer = Explorer(planted_cube(folder, 19_980), "--query", str(folder / "query.csv"))
    yield explorer
    explorer.close()


def test_twenty_thousand_nodes_are_shown_and_the_page_goes_on_to_answer(tab: Tab, large: Explorer) -> None:
    page = tab.page
    tab.open(large.address)
    first = tab.ready()
    move(tab, {"form": "cells+objects", "n_cells": 20})
    page.wait_for_function("first => document.documentElement.dataset.fingerprint !== first", arg=first, timeout=60_000)
    assert page.evaluate("window.cube2net.store.network.nodes.id.length") == 20_000
    # While places are sought for so many, panels open and moves are taken.
    for panel in ("steer", "cells", "keep"):
        show(page, panel)
    tab.ready(but=first)
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -300)
    before = tab.fingerprint
    move(tab, {"form": "hybrid", "n_cells": 4})
    tab.ready(but=before)
    assert len(tab.network["nodes"]["id"]) < 1_000


@pytest.fixture
def asked(tab: Tab, town: Explorer) -> Tab:
    """Return a tab that shows a network of the town."""
    tab.open(town.address)
    move(tab, {"query": BAKERS})
    tab.ready()
    return tab


def test_a_long_method_tells_how_far_it_is_and_is_stopped(asked: Tab) -> None:
    before = asked.fingerprint
    move(asked, LASTING)
    expect(asked.page.locator('[data-do="stop"]')).to_be_visible()
    assert asked.said["state"] == "busy"
    asked.page.locator('[data-do="stop"]').click()
    asked.wait("ready")
    assert asked.fingerprint == before
    move(asked, {"method": None, "options": None, "n_cells": 2})
    asked.ready(but=before)


def test_a_worker_that_is_killed_is_a_sentence_and_the_next_question_is_answered(asked: Tab, town: Explorer) -> None:
    before = asked.fingerprint
    move(asked, LASTING)
    expect(asked.page.locator('[data-do="stop"]')).to_be_visible()
    workers = psutil.Process(town.process.pid).children()
    assert workers
    for worker in workers:
        worker.kill()
    asked.wait("error")
    expect(asked.page.get_by_role("alert")).to_contain_text("ended")
    assert asked.fingerprint == before, "the network before stays"
    asked.page.locator('[data-do="give-up"]').click()
    asked.wait("ready")
    move(asked, {"n_cells": 2})
    asked.ready(but=before)


def test_an_explorer_that_has_ended_is_a_sentence_and_the_network_stays(tab: Tab, town: Explorer) -> None:
    own = Explorer(town.cube)
    try:
        tab.open(own.address)
        move(tab, {"query": BAKERS})
        before = tab.ready()
    finally:
        own.close()
    move(tab, {"n_cells": 2})
    tab.wait("error")
    expect(tab.page.get_by_role("alert")).to_contain_text("does not answer")
    assert tab.fingerprint == before


def test_an_address_of_another_cube_or_of_no_cube_is_a_sentence(tab: Tab, town: Explorer, large: Explorer) -> None:
    tab.open(large.address)
    tab.ready()
    other = tab.page.url.partition("#")[2]
    for mark, word in ((other, "another cube"), ("q=AAAA", "address")):
        tab.page.goto("about:blank")
        tab.open(f"{town.address}#{mark}")
        tab.wait("error")
        expect(tab.page.get_by_role("alert")).to_contain_text(word)


def test_a_click_in_the_heat_map_looks_closer_and_its_objects_become_the_query(tab: Tab, town: Explorer) -> None:
    page = tab.page
    tab.open(town.address)
    show(page, "cube")
    page.get_by_label("Rows", exact=True).select_option("city")
    page.get_by_label("Columns", exact=True).select_option("trade")
    grid = page.get_by_role("grid", name="city by trade")
    expect(grid).to_be_visible()
    page.locator('[role=grid] button[data-at="-1,0"], [role=grid] button[data-at="0,-1"]').first.focus()
    page.locator('[role=grid] td[data-at="0,0"]').click()
    crumbs = page.get_by_role("navigation", name="Counts by two dimensions")
    expect(crumbs.get_by_role("button", name="All of the cube")).to_be_visible()
    # Keys do the same: back, down one row, and in again. The table that comes keeps the focus.
    expect(page.locator(".pivot-holder.waiting")).to_have_count(0)
    expect(page.locator('[role=grid] [tabindex="0"]')).to_be_focused()
    page.keyboard.press("Backspace")
    expect(crumbs.get_by_role("button", name="All of the cube")).to_have_count(0)
    expect(grid).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator('[data-at="1,0"]')).to_be_focused()
    page.keyboard.press("Enter")
    crumbs.get_by_role("button", name=re.compile("^Add its")).click()
    tab.ready()
    places = {key: (city, trade) for key, _, city, trade, _ in townspeople()}
    assert len({places[key] for key in tab.request["query"]}) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_no_width_needs_to_be_scrolled_sideways_and_everything_has_a_name(
    browser: Browser, town: Explorer, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab = Tab(context.new_page())
    tab.open(town.address)
    for query in ([], BAKERS):
        if query:
            move(tab, {"query": query, "pins": [{"object": "p2"}], "prefer": ["p3"]})
            tab.ready()
        for panel in PANELS:
            # Reasons are not offered on a small screen before there is a network.
            if not query and not tab.page.locator(f'[data-tab="{panel}"]').is_visible():
                continue
            show(tab.page, panel)
            tab.page.wait_for_load_state("networkidle")
            wide = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{panel} is {wide} pixels too wide"
            assert unnamed_controls(tab.page) == []
    ids = tab.page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    assert tab.page.locator("h1").count() == tab.page.locator("main").count() == 1
    assert tab.page.get_attribute("html", "lang") == "en"
    assert tab.slips == []
    context.close()


def test_the_words_of_the_page_can_be_read_in_light_and_in_dark(browser: Browser, town: Explorer) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        tab = Tab(context.new_page())
        tab.open(town.address)
        move(tab, {"query": BAKERS})
        tab.ready()
        for panel in PANELS:
            show(tab.page, panel)
            tab.page.wait_for_load_state("networkidle")
            assert tab.page.evaluate(FAINT) == [], f"{panel} in {scheme}"
        context.close()


# The texts whose contrast with what is behind them is below 4.5, or 3 for large ones, by the rules of WCAG 2.
FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const seen = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const parts = colour.map((part) => part / 255);
    const [r, g, b] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.unshift(seen(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, top) => over(top, below), seen("Canvas"));
  };
  const faint = [];
  for (const node of document.querySelectorAll("#page *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || node.closest(":disabled, [aria-disabled=true], [aria-hidden=true]")) continue;
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(node);
    const below = behind(node);
    const [one, two] = [light(over(seen(style.color), below)), light(below)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < needed) faint.push(`${node.outerHTML.slice(0, 120)} ${ratio.toFixed(2)}`);
  }
  return faint;
}"""


def test_pasted_names_that_mean_nobody_are_no_side_to_compare_with(asked: Tab) -> None:
    page, sent = asked.page, []
    show(page, "against")
    expect(page.locator(".against-sentence")).to_be_visible()
    page.on("request", lambda request: sent.append(request.url.rpartition("/")[2]))
    page.get_by_label("The other side", exact=True).select_option("paste")
    page.get_by_label("Names of the other side").fill("Nobody Here\nNor Here\n")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".against-refused")).to_contain_text("None of these names means one object of the cube")
    assert "names" in sent
    assert "contrast" not in sent
