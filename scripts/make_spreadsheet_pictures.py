"""Take the screenshots of docs/start/spreadsheet.md: choosing a file, checking columns, the network.

    python scripts/make_spreadsheet_pictures.py docs/start

They show the invented members in docs/start/data. Needs Chromium and a built page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from make_screenshots import compress_picture

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]
from browser.explorers import CHROMIUM, FLAGS, Explorer, Tab  # noqa: E402

CLUB = ROOT / "docs" / "start" / "data" / "mitglieder.csv"
NAMED = ("Jan Pflüger", "Bernd Löwenherz", "Ines Birkhof", "Rosa Quast", "Wim Pflüger", "Frank Quast", "Pawel Jürgens")
"""Whose network is shown."""
PATIENCE = 300_000
"""So many milliseconds a step may take: the first one on a machine prepares compiled code."""


def take(folder: Path) -> None:
    """Write spreadsheet-STEP.png for each step."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        home = Path(place) / "Verein"
        home.mkdir()
        explorer = Explorer(None, folder=home)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        context = browser.new_context(viewport={"width": 1280, "height": 760}, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        tab = Tab(context.new_page())
        page = tab.page

        def keep(step: str) -> None:
            page.mouse.move(0, 0)
            page.wait_for_timeout(500)
            (folder / f"spreadsheet-{step}.png").write_bytes(compress_picture(page.screenshot()))

        try:
            page.goto(explorer.address)
            tab.button("Choose a data file").wait_for()
            keep("choose")
            page.locator("[data-do=files]").set_input_files(CLUB)
            tab.button("Build the cube").wait_for()
            keep("understood")
            tab.button("Build the cube").click()
            page.get_by_role("heading", name="Whose network?").wait_for()
            page.locator("summary", has_text="Start from cells").click()
            page.wait_for_timeout(2_000)
            keep("ask")
            tab.paste("Names of the query", "\n".join(NAMED))
            page.get_by_text(f"{len(NAMED)} objects", exact=True).wait_for()
            tab.button("Make the network").click()
            tab.ready(seconds=PATIENCE / 1000)
            page.get_by_role("tab", name="Cells").click()
            tab.button("Show all of the network").click()
            keep("network")
            page.get_by_role("tab", name="Save").click()
            page.wait_for_load_state("networkidle")
            keep("keep")
            if tab.slips:
                raise SystemExit(f"the page did what it should not: {tab.slips}")
        finally:
            browser.close()
            explorer.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
