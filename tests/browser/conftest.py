"""Chromium, driven by Playwright, and explorers of cubes for it to open; all of it is left out where it is missing.

The page says on the document what is going on: ``data-state`` is empty, ready, busy or error, ``data-fingerprint`` that
of the network shown, and ``data-placed`` whether its nodes have their places. Tests wait for these, never for a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from browser.explorers import CHROMIUM, FLAGS, MAX_WAIT_SECONDS, Explorer, Tab, town_cube

PAGE = Path(__file__).parents[2] / "src" / "cube2net" / "page" / "explorer.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Chromium; it ends with the module, for its event loop would be in the way of other tests."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    if not PAGE.is_file():
        pytest.skip("the page is not built: make page")
    expect.set_options(timeout=MAX_WAIT_SECONDS * 1000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a browser without cookies."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made.set_default_timeout(MAX_WAIT_SECONDS * 1000)
    yield made
    made.close()


@pytest.fixture
def new_tab(context: BrowserContext) -> Iterator[Callable[[], Tab]]:
    """Return a function that opens tabs; in the end none of them may have done what it should not."""
    tabs: list[Tab] = []

    def open_one() -> Tab:
        tabs.append(Tab(context.new_page()))
        return tabs[-1]

    yield open_one
    assert [slip for tab in tabs for slip in tab.slips] == []


@pytest.fixture
def tab(new_tab: Callable[[], Tab]) -> Tab:
    """Return a tab."""
    return new_tab()


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Return the explorer of a town of 193 people."""
    explorer = Explorer(town_cube(tmp_path_factory.mktemp("town")))
    yield explorer
    explorer.close()
