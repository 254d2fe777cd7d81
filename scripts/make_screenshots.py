"""Take the screenshots of the explorer for the docs: three widths, light and dark.

    python scripts/make_screenshots.py acl docs/start

They show the cube of the bundled papers with a query of 116 authors. Needs Chromium and a built page.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import cube2net as c2n

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS)]
from browser.explorers import CHROMIUM, FLAGS, Explorer, Tab  # noqa: E402

SIZES = {400: 860, 1280: 800, 2560: 1440}
SCHEMES = ("light", "dark")
SHOWN, LARGEST = 1280, 280_000
"""No picture has more pixels in a row, and no more bytes."""


def take(cube: Path, folder: Path) -> None:
    """Write explore-WIDTH.png and explore-WIDTH-dark.png for each width."""
    labs = c2n.load_labs()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        query = Path(place) / "labs.csv"
        with query.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("object", "label"), *labs.items()])
        explorer = Explorer(cube, "--query", str(query), "--skip-missing")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            for width, height in SIZES.items():
                for scheme in SCHEMES:
                    context = browser.new_context(
                        viewport={"width": width, "height": height},
                        color_scheme=scheme,  # type: ignore[arg-type]
                        reduced_motion="reduce",
                    )
                    tab = Tab(context.new_page())
                    tab.open(explorer.address)
                    tab.ready()
                    _settle(tab)
                    name = f"explore-{width}{'-dark' if scheme == 'dark' else ''}.png"
                    (folder / name).write_bytes(compress_picture(tab.page.screenshot()))
                    if tab.slips:
                        raise SystemExit(f"{name}: the page did what it should not: {tab.slips}")
                    context.close()
        finally:
            browser.close()
            explorer.close()


def _settle(tab: Tab) -> None:
    """Select the first chosen cell, so that its explanation is shown, and fit the network into the view."""
    tab.page.evaluate("const { store } = window.cube2net; store.select({ cell: store.network.cells[0].labels })")
    tab.page.locator("[data-panel=why] h3").wait_for()
    tab.page.wait_for_load_state("networkidle")
    tab.button("Show all of the network").click()
    tab.page.mouse.move(0, 0)
    tab.page.wait_for_timeout(1_000)


def compress_picture(picture: bytes) -> bytes:
    """Return a picture with a palette of 256 colours, not wider than it is shown."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    if image.width > SHOWN:
        image = image.resize((SHOWN, image.height * SHOWN // image.width), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    if file.tell() > LARGEST:
        raise SystemExit(f"a picture has {file.tell():,} bytes, expected at most {LARGEST:,}")
    return file.getvalue()


if __name__ == "__main__":
    if CHROMIUM is None:
        raise SystemExit("Chromium is not installed")
    take(Path(sys.argv[1]), Path(sys.argv[2]))
