"""The way through the page: ask, see, pin, slide, explain, download, and a reload that gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Route, expect

import cube2net as c2n
from browser.explorers import Explorer, Tab, townspeople

pytestmark = pytest.mark.browser

FIELD = "Names of the query"
PEOPLE = [key for key, _, city, trade, _ in townspeople() if (city, trade) in (("Alba", "bread"), ("Cork", "iron"))]


@pytest.fixture
def asked(tab: Tab, town: Explorer) -> Tab:
    """Return a tab that shows the network of twenty people."""
    tab.open(town.address)
    tab.paste(FIELD, "\n".join(PEOPLE) + "\n")
    expect(tab.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(len(PEOPLE))
    tab.button("Make the network").click()
    tab.ready()
    return tab


def show(tab: Tab, name: str) -> None:
    """Show a panel."""
    tab.page.locator(f'[role=tab][data-tab="{name}"]').click()
    expect(tab.page.locator(f'[data-panel="{name}"]')).to_be_visible()


def saved(tab: Tab, ending: str, folder: Path) -> Path:
    """Return a file that was downloaded."""
    with tab.page.expect_download() as waited:
        tab.page.locator(f'[data-export="{ending}"], [data-export=".{ending}"]').click()
    path = folder / waited.value.suggested_filename
    waited.value.save_as(path)
    return path


def test_from_a_question_to_files_and_back_by_the_address(asked: Tab, tmp_path: Path, context: BrowserContext) -> None:
    first, page = asked.fingerprint, asked.page
    # See: the chosen cells stand in their table, the sentence tells the network, and it is drawn.
    cells = asked.network["cells"]
    show(asked, "cells")
    expect(page.locator("[data-cell]")).to_have_count(len(cells))
    assert f"Your {len(PEOPLE)}" in page.locator("[data-said]").inner_text()
    assert page.locator('[data-panel="network"] canvas').count() > 0
    # Pin the cell chosen last, and slide m down to what is left then: it stays.
    last = cells[-1]
    page.locator("[data-cell]").last.get_by_role("button", name="Pin").click()
    page.wait_for_function("() => window.cube2net.store.network.cells.some((cell) => cell.pinned)")
    asked.ready()
    assert asked.request["pins"] == [{"cell": last["labels"]}]
    show(asked, "steer")
    slider = page.locator('[data-slide="n_cells"]')
    slider.focus()
    slider.press("Home")
    slid = asked.ready(but=first)
    assert asked.request["n_cells"] == 1
    assert [cell["labels"] for cell in asked.network["cells"]] == [last["labels"]]
    # Explain: a click on the cell says why it is there.
    show(asked, "cells")
    page.locator("[data-cell]").first.locator("button").first.click()
    show(asked, "why")
    expect(page.locator(".why-sentence")).to_contain_text("pinned")
    # Download: what comes is the network that is shown, and its recipe makes it again.
    show(asked, "keep")
    network = json.loads(saved(asked, "json", tmp_path).read_text(encoding="utf-8"))
    assert len(network["nodes"]) == len(asked.network["nodes"]["id"])
    recipe = json.loads(saved(asked, "recipe.json", tmp_path).read_text(encoding="utf-8"))
    assert recipe["made"]["checksum"] == slid
    expect(page.locator('[data-words="command.txt"]')).to_contain_text("cube2net query")
    expect(page.locator('[data-words="python.txt"]')).to_contain_text("construct(")
    # The address is the recipe: a reload, and another tab, show the same.
    before, request = page.url, asked.request
    page.reload()
    assert asked.ready() == slid
    assert (page.url, asked.request) == (before, request)
    other = Tab(context.new_page())
    other.open(before)
    assert other.ready() == slid
    assert other.slips == []


def test_undo_and_redo_go_along_the_moves(asked: Tab) -> None:
    first = asked.fingerprint
    show(asked, "steer")
    number = asked.page.locator('[data-number="n_cells"]')
    number.fill("1")
    number.press("Enter")
    second = asked.ready(but=first)
    asked.button("Undo").click()
    assert asked.ready(but=second) == first
    asked.button("Redo").click()
    assert asked.ready(but=first) == second
    asked.page.go_back()
    assert asked.ready(but=second) == first


def test_two_tabs_ask_different_things_and_neither_disturbs_the_other(
    town: Explorer, new_tab: Callable[[], Tab]
) -> None:
    tabs = [new_tab(), new_tab()]
    queries = [PEOPLE[::2], PEOPLE[1::2]]
    for tab, names in zip(tabs, queries, strict=True):
        tab.open(town.address)
        tab.paste(FIELD, "\n".join(names) + "\n")
    for tab, names in zip(tabs, queries, strict=True):
        expect(tab.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(len(names))
        tab.button("Make the network").click()
    shown = [tab.ready() for tab in tabs]
    assert [tab.request["query"] for tab in tabs] == queries
    for tab in tabs:
        tab.page.reload()
    assert [tab.ready() for tab in tabs] == shown
    assert shown[0] != shown[1]


def test_a_network_is_made_steered_and_explained_by_keys_alone(tab: Tab, town: Explorer) -> None:
    tab.open(town.address)
    page, keys = tab.page, tab.page.keyboard

    def until(found: str, key: str = "Tab") -> None:
        for _ in range(60):
            if page.evaluate("selector => document.activeElement.matches(selector)", found):
                return
            keys.press(key)
        raise AssertionError(f"{key} does not reach {found}")

    until("textarea")
    for name in ("Ann Archer", "Ann Cooper", "Dora Baker"):
        keys.type(name)
        keys.press("Escape")
        keys.press("Enter")
    expect(page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(3)
    keys.press("Control+Enter")
    first = tab.ready()
    until('[role=tab][data-tab="ask"]', "Shift+Tab")
    keys.press("ArrowRight")
    expect(page.locator('[data-panel="steer"]')).to_be_visible()
    until('[data-slide="n_neighbors"]')
    for _ in range(3):
        keys.press("ArrowRight")
    tab.ready(but=first)
    until('[role=tab][data-tab="cells"]')
    keys.press("ArrowLeft")
    expect(page.locator('[data-panel="why"]')).to_be_visible()
    expect(page.locator(".why-sentence")).not_to_be_empty()


@pytest.mark.parametrize("ending", ["graphml", "xlsx"])
def test_what_is_exported_is_what_the_library_makes(asked: Tab, town: Explorer, tmp_path: Path, ending: str) -> None:
    show(asked, "keep")
    graph = saved(asked, ending, tmp_path)
    cube = c2n.open(town.cube)
    own = tmp_path / f"own-{graph.name}"
    c2n.construct(cube, cube.query(PEOPLE)).save(own)
    assert graph.read_bytes() == own.read_bytes()


def test_a_workbook_is_offered_first_and_once(asked: Tab) -> None:
    show(asked, "keep")
    expect(asked.page.locator("[data-export]").first).to_have_text("xlsx (Excel, LibreOffice)")
    expect(asked.page.locator('[data-export$="xlsx"]')).to_have_count(1)


def test_a_verdict_is_of_the_network_that_was_judged_and_has_the_runs_that_the_field_says(asked: Tab) -> None:
    page, first = asked.page, asked.fingerprint
    show(asked, "keep")
    runs = page.get_by_label("Runs", exact=True)
    limits = page.evaluate("window.cube2net.store.cube.limits")
    assert runs.get_attribute("placeholder") == str(limits["runs"])
    assert (runs.get_attribute("min"), runs.get_attribute("max")) == ("1", "50")
    sent, stale = [], "For the network before the last change:"

    def wait(route: Route) -> None:
        sent.append(route)

    page.route("**/api/v1/compare", wait)
    page.locator('[data-do="compare"]').click()
    page.wait_for_function("() => document.querySelector('[data-do=stop-compare]').checkVisibility()")
    page.evaluate("void window.cube2net.store.move({ n_cells: 1 })")
    asked.ready(but=first)
    said = {"sentence": "it helps", "finding": "helps", "helps": True}
    answer = {**said, "task": "hidden", "table": [], "report": "", "note": ""}
    sent[0].fulfill(json=answer)
    expect(page.locator("[data-verdict]")).to_contain_text("It helps.")
    expect(page.get_by_text(stale)).to_be_visible()
    page.evaluate("void window.cube2net.store.move({ n_cells: null })")
    assert asked.ready(but=asked.fingerprint) == first
    expect(page.get_by_text(stale)).to_be_hidden()
