"""Explorers that run as users run them, tabs that note everything that they should not do, and the cubes to explore."""

from __future__ import annotations

import base64
import csv
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, TimeoutError

import cube2net as c2n

import hostile

MAX_WAIT_SECONDS = 120
"""How long a test waits for the page, also on a busy machine that compiles; only a failing test waits so long."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
    "--host-resolver-rules=MAP rebound.example 127.0.0.1",
)
FIRST = (
    *("Ann", "Bob", "Cid", "Dora", "Emil", "Fay", "Gus", "Hana"),
    *("Ida", "Jan", "Kim", "Leo", "Mia", "Nils", "Olga", "Paul"),
)
LAST = (
    "Archer",
    "Baker",
    "Cooper",
    "Dyer",
    "Fisher",
    "Mason",
    "Potter",
    "Smith",
    "Tanner",
    "Weaver",
    "Wright",
    "Young",
)
USUAL = ("Failed to load resource", "GPU stall", "GL Driver")
"""What Chromium itself says in the console of refusals, and of drawing without a graphics card."""

CITIES, TRADES = ("Alba", "Brno", "Cork"), ("bread", "cloth", "iron", "wood")


def townspeople() -> list[tuple[str, str, str, str, str]]:
    """Return the 193 people of a town, two of whom are called Ann Smith: id, name, city, trade and year."""
    people = [f"{first} {last}" for first in FIRST for last in LAST] + ["Ann Smith"]
    return [
        (f"p{at}", name, CITIES[at // 3 % 3], TRADES[at // 7 % 4], str(1990 + at % 3))
        for at, name in enumerate(people, 1)
    ]


def town_cube(folder: Path) -> Path:
    """Return a saved cube of the townspeople; neighbours in the list, and some of a city and trade, know each other."""
    rows = townspeople()
    place = [(city, trade) for _, _, city, trade, _ in rows]
    links = [
        (rows[one][0], rows[other][0])
        for one in range(len(rows))
        for other in range(one + 1, len(rows))
        if other - one == 1 or (place[one] == place[other] and (one + other) % 2)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "nodes.csv", ("id", "name", "city", "trade", "year"), rows)
    _write(folder / "links.csv", ("source", "target"), links)
    words = ["build", "tables", str(folder), "--out", str(folder / "cube"), "--min-objects", "2", "--quiet"]
    for dimension in ("city", "trade", "year"):
        words += ["--dimension", dimension]
    subprocess.run([sys.executable, "-m", "cube2net", *words], check=True, capture_output=True)
    return folder / "cube"


def planted_cube(folder: Path, objects: int) -> Path:
    """Return a saved cube of five planted communities, and beside it query.csv with twenty members of each."""
    planted = c2n.make_planted(objects=objects, communities=5, cells=4, items=2, links=3.0, noise=0.0, seed=0)
    c2n.build(planted.corpus, out=folder / "cube")
    _write(folder / "query.csv", ("object",), [(name,) for group in range(5) for name in planted.query(group)[:20]])
    return folder / "cube"


SCRIPTS = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
    "' onmouseover='alert(1)",
    "</title></style></textarea><iframe src=https://elsewhere.example/>",
    "url(https://elsewhere.example/x.png)",
    "${alert(1)}{{constructor.constructor('alert(1)')()}}",
    "__proto__",
    "constructor",
)


def hostile_cube(folder: Path) -> Path:
    """Return a saved cube whose ids, names, labels and dimensions would run, steer or break what shows them.

    Beside it query.csv has labels of the same kind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    signs = [*SCRIPTS, *(name for name in hostile.NAMES if "\0" not in name)]
    columns = ("id", "name", "ci<img src=x onerror=alert(2)>ty", "tra\u202ede")
    ids = [f"{sign}{number}" for number in range(3) for sign in signs]
    rows = [(key, f"{key} called", signs[at % 12], signs[at % 5]) for at, key in enumerate(ids)]
    rows += [(f"long{at}", hostile.LONG, hostile.LONG, signs[0]) for at in range(3)]
    links = [(rows[at][0], rows[(at * step + 1) % len(rows)][0]) for at in range(len(rows)) for step in (1, 3)]
    hostile.write_csv(folder / "nodes.csv", list(columns), rows)
    hostile.write_csv(
        folder / "links.csv", ["source", "target"], [(one, other) for one, other in links if one != other]
    )
    query = [(key, signs[at % 3]) for at, key in enumerate(ids[::2])] + [("long0", hostile.LONG[:1000])]
    hostile.write_csv(folder / "query.csv", ["object", "label"], query)
    words = ["build", "tables", str(folder), "--out", str(folder / "cube"), "--min-objects", "1", "--quiet"]
    subprocess.run([sys.executable, "-m", "cube2net", *words], check=True, capture_output=True)
    return folder / "cube"


def _write(path: Path, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


class Explorer:
    """The command ``cube2net explore`` on a cube or a spreadsheet, or on nothing in a ``folder``, from start to end."""

    def __init__(self, cube: Path | None, *words: str, folder: Path | None = None) -> None:
        named = [] if cube is None else [str(cube)]
        command = [sys.executable, "-m", "cube2net", "explore", *named, "--no-browser", *words]
        self.cube = cube
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, text=True, cwd=folder)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self.address = line[line.index("http://") :].split()[0]
                break
        else:
            raise RuntimeError(f"no address: {self.process.communicate()}")

    @property
    def site(self) -> str:
        """Where it is, without the token."""
        return self.address.partition("?")[0]

    def close(self) -> None:
        """End it as Ctrl-C does."""
        self.process.terminate()
        self.process.communicate(timeout=60)


@dataclass
class Tab:
    """A page of the browser, and what it did that it should not: dialogs, errors of the console, requests elsewhere."""

    page: Page
    slips: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("dialog", lambda dialog: (self.slips.append(f"dialog {dialog.message!r}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.slips.append(f"error {error}"))
        self.page.on("console", self._heed)
        self.page.on("request", self._watch)

    def _heed(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(word in message.text for word in USUAL):
            self.slips.append(f"console {message.type} {message.text!r}")

    def _watch(self, request: Any) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.hostname not in ("127.0.0.1", "localhost"):
            self.slips.append(f"request {request.url}")

    def open(self, address: str) -> None:
        """Open the explorer, and wait until the page says that it is there."""
        self.page.goto(address)
        self.wait("empty", "ready", "error")

    @property
    def said(self) -> dict[str, str]:
        """What the page says on its document."""
        return self.page.evaluate("({...document.documentElement.dataset})")

    @property
    def fingerprint(self) -> str:
        """That of the network shown."""
        return self.said["fingerprint"]

    @property
    def request(self) -> dict[str, Any]:
        """The question as it stands."""
        return self.page.evaluate("window.cube2net.store.request")

    @property
    def network(self) -> dict[str, Any]:
        """The answer that is shown."""
        return self.page.evaluate("window.cube2net.store.network")

    def wait(self, *states: str, seconds: float = MAX_WAIT_SECONDS) -> str:
        """Return the state when it is one of some."""
        self._until("states => states.includes(document.documentElement.dataset.state)", list(states), seconds)
        return self.said["state"]

    def ready(self, *, but: str = "", seconds: float = MAX_WAIT_SECONDS) -> str:
        """Return the fingerprint of a network that is shown, placed, and another than one before."""
        self._until(
            "but => { const d = document.documentElement.dataset; "
            "return d.state === 'error' || d.state === 'ready' && d.placed === 'true' && d.fingerprint !== but }",
            but,
            seconds,
        )
        assert self.said["state"] == "ready", self.page.evaluate("window.cube2net?.store.error?.refusal.sentence")
        return self.fingerprint

    def _until(self, condition: str, given: Any, seconds: float) -> None:
        try:
            self.page.wait_for_function(condition, arg=given, timeout=seconds * 1000)
        except TimeoutError:
            error = self.page.evaluate("window.cube2net?.store.error?.refusal.sentence")
            raise AssertionError(
                f"waited in vain: {self.said}, the page says {error!r}, and did {self.slips}"
            ) from None

    def paste(self, label: str, text: str) -> None:
        """Paste a text into a field."""
        self.page.get_by_label(label).evaluate(
            """(field, text) => {
              const clipboardData = new DataTransfer();
              clipboardData.setData("text/plain", text);
              const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
              if (field.dispatchEvent(event)) field.setRangeText(text);
            }""",
            text,
        )

    def drop(self, label: str, name: str, content: str | bytes) -> None:
        """Drop a file onto a field."""
        self.drop_on(self.page.get_by_label(label), name, content)

    def drop_on(self, where: Locator, name: str, content: str | bytes) -> None:
        """Drop a file onto an element."""
        where.evaluate(
            """(field, [name, bytes]) => {
              const dataTransfer = new DataTransfer();
              dataTransfer.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], name));
              for (const kind of ["dragover", "drop"])
                field.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
            }""",
            [name, base64.b64encode(content.encode() if isinstance(content, str) else content).decode()],
        )

    def button(self, name: Any, **how: Any) -> Locator:
        """Return the button of a name."""
        return self.page.get_by_role("button", name=name, **how)


def unnamed_controls(page: Page) -> list[str]:
    """Return the markup of every control shown that a screen reader could not name."""
    found: list[str] = page.evaluate(
        """() => {
        const roles = ['button', 'slider', 'tab', 'combobox', 'listbox', 'option', 'grid', 'img', 'dialog', 'group'];
        const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"], '
          + roles.map((role) => `[role=${role}]`).join();
        const text = (id) => document.getElementById(id)?.textContent ?? '';
        const named = (node) => [
          node.getAttribute('aria-label'), node.title, node.textContent, node.alt,
          ...(node.getAttribute('aria-labelledby') ?? '').split(/\\s+/).map(text),
          ...[...(node.labels ?? [])].map((label) => label.textContent),
        ].some((name) => name && name.trim());
        const shown = (node) => node.getClientRects().length > 0 && node.type !== 'hidden';
        return [...document.querySelectorAll(controls)].filter((node) => shown(node) && !named(node))
          .map((node) => node.outerHTML.slice(0, 200));
      }"""
    )
    return found
