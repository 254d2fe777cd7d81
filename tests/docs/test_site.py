"""The site is built without warnings, loads nothing from elsewhere, has all public names, and its search works."""

import importlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

import cube2net as c2n

pytest.importorskip("sphinx")
pytest.importorskip("pydata_sphinx_theme")
pytest.importorskip("myst_nb")
pytest.importorskip("sphinx_design")
pytest.importorskip("sphinx_copybutton")

from built_site import DOCS, loads_of, make_site, served
from sphinx.util.inventory import InventoryFile

from make_pages import MODULES, public_names

pytestmark = pytest.mark.site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
MAX_WAIT_MILLISECONDS = 120_000
"""How long a test waits for the page, also on a busy machine."""
HEADER = ["Start", "Tutorials", "How-to", "Explanation", "Reference", "Findings"]
LOOKED_AT = (
    "index.html",
    "howto/exports.html",
    "explanation/known-as.html",
    "reference/api.html",
    "reference/names/construct.html",
    "reference/names/Network.html",
    "reference/methods.html",
    "findings/performance.html",
)
"""Pages of every kind: the first, tasks, tables that are wide, names, code, pictures."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    ended = make_site(folder)
    assert (ended.returncode, ended.stderr.strip()) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["site", "trees"]
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


class Reader:
    """A tab that records errors and requests to other sites."""

    def __init__(self, browser: Any, home: str, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        self.home, self.slips = home, list[str]()
        self.context.set_default_timeout(MAX_WAIT_MILLISECONDS)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.check(request.url))
        self.page.on("requestfailed", self.note_failure)
        self.page.on("pageerror", lambda error: self.slips.append(str(error)))
        self.page.on("console", lambda said: self.slips.append(said.text) if said.type == "error" else None)

    def note_failure(self, request: Any) -> None:
        # The browser aborts what still loads when its page is left; a file that is missing fails otherwise.
        if request.failure != "net::ERR_ABORTED":
            self.slips.append(f"not there: {request.url}")

    def check(self, address: str) -> None:
        if not address.startswith((self.home, "data:", "blob:")):
            self.slips.append(f"asks elsewhere: {address}")

    def open(self, name: str) -> Any:
        self.page.goto(self.home + name)
        return self.page


@pytest.fixture(scope="module", params=["files", "a server"])
def home(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    if request.param == "files":
        yield f"{site.as_uri()}/"
    else:
        with served(site) as address:
            yield address


def pages(site: Path) -> list[Path]:
    return sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)


def test_every_page_of_the_docs_is_on_the_site(site: Path) -> None:
    sources = [page for kind in ("*.md", "*.ipynb") for page in DOCS.rglob(kind) if "data" not in page.parts]
    assert len(sources) > 30
    for source in sources:
        assert (site / source.relative_to(DOCS)).with_suffix(".html").is_file(), source


def test_nothing_is_loaded_from_elsewhere_and_all_that_is_loaded_is_there(site: Path) -> None:
    for page in [*pages(site), *site.rglob("*.css")]:
        for address in loads_of(page):
            if address.startswith("data:"):
                continue
            assert not re.match(r"(\w+:)?//", address), (page, address)
            assert (page.parent / re.split(r"[?#]", address)[0]).exists(), (page, address)


@pytest.mark.parametrize("folder", ["start", "tutorials", "howto", "explanation", "reference", "findings"])
def test_the_page_of_a_folder_says_of_every_page_what_it_is_for(folder: str) -> None:
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    names = {page.stem for kind in ("*.md", "*.ipynb") for page in (DOCS / folder).glob(kind)} - {"index"}
    said = re.findall(r"^[-|] \[[^\]]+\]\([^)]*?([\w-]+)\.(?:md|ipynb)\)(?::| \|) \S", text, flags=re.MULTILINE)
    assert {name.lower() for name in said} == names


def test_every_public_name_has_a_page_of_its_own_that_the_list_leads_to(site: Path) -> None:
    listed = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in [name for _, names in public_names() for name in names]:
        page = (site / "reference" / "names" / f"{name}.html").read_text(encoding="utf-8")
        assert f'id="cube2net.{name}"' in page
        assert f'href="names/{name}.html"' in listed


def test_everything_that_modules_offer_is_described_and_so_is_what_public_functions_give(site: Path) -> None:
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    known = {name for kind, entries in inventory.items() if kind.startswith("py:") for name in entries}
    last = {name.rpartition(".")[2] for name in known}
    for part in ("cube", "model", "api"):
        module = importlib.import_module(f"cube2net.{part}")
        for name in module.__all__:
            assert name in last, f"cube2net.{part}.{name}"
    assert set(MODULES) >= {"cube", "model", "api", "model.interfaces", "errors"}
    for name in ("cube2net.Network.nodes", "cube2net.Cube.query", "cube2net.evaluation.verdict.Verdict.helps"):
        assert name in known


@pytest.mark.parametrize("name", ["construct", "build", "compare"])
def test_the_page_of_a_function_has_every_parameter_with_its_type_and_an_example(site: Path, name: str) -> None:
    import inspect

    page = (site / "reference" / "names" / f"{name}.html").read_text(encoding="utf-8")
    for parameter in inspect.signature(getattr(c2n, name)).parameters:
        assert re.search(rf"<li><p><strong>\**{parameter}</strong> \(", page), parameter
    assert "Examples" in page
    assert "highlight-default" in page or "doctest" in page


def test_the_page_of_a_record_has_its_fields_with_types_its_properties_and_methods(site: Path) -> None:
    page = (site / "reference" / "names" / "Network.html").read_text(encoding="utf-8")
    assert "Fields" in page
    assert re.search(r"<strong>query</strong> \(.*?Query", page)
    for part in ("nodes", "links", "to_pandas", "plot"):
        assert f'id="cube2net.Network.{part}"' in page


def test_no_mark_of_a_docstring_is_left_on_a_page(site: Path) -> None:
    for page in (*(site / "reference" / "names").glob("*.html"), *(site / "reference" / "modules").glob("*.html")):
        body = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
        prose = re.sub(r"<pre.*?</pre>", "", body, flags=re.DOTALL)
        text = re.sub(r"<[^>]+>", "", prose)
        assert not re.search(r":(func|class|meth|data):|``|\\\||problematic", text), page
        assert "problematic" not in body, page


def test_links_to_the_files_at_the_top_lead_to_their_pages(site: Path) -> None:
    reliability = (site / "findings" / "reliability.html").read_text(encoding="utf-8")
    assert 'href="../reference/security.html"' in reliability
    security = (site / "reference" / "security.html").read_text(encoding="utf-8")
    assert 'href="../findings/reliability.html"' in security
    assert 'href="../start/explore.html#who-can-reach-it"' in security
    assert "Changes of each version" in (site / "reference" / "changelog.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_are_usable_at_any_width_by_day_and_by_night_and_ask_nobody(
    browser: Any, home: str, width: int, scheme: str
) -> None:
    tab = Reader(browser, home, width, scheme)
    for name in LOOKED_AT:
        page = tab.open(name)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        box = page.locator("h1").first.bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= width, name
        assert page.evaluate(CONTRAST) >= 4.5, name
    page = tab.open("index.html")
    if width < 960:
        page.get_by_role("button", name="Site navigation").first.click()
    shown = [text.strip() for text in page.locator("nav a:visible").all_inner_texts()]
    assert [text for text in shown if text in HEADER] == HEADER
    tab.context.close()
    assert tab.slips == []


CONTRAST = """() => {
  const numbers = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = colour => numbers(colour)
    .map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const text = light(getComputedStyle(document.querySelector("article p")).color);
  const ground = light(getComputedStyle(document.body).backgroundColor);
  return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
}"""
"""How many times as light the one of text and ground is as the other, as WCAG counts."""


KNOWN_AS = "explanation/known-as.html"
SEARCHED = {
    "ego network": f"{KNOWN_AS}#ego-network",
    "subgraph sampling": f"{KNOWN_AS}#subgraph-sampling",
    "personalized PageRank": f"{KNOWN_AS}#personalised-pagerank",
    "personalized": f"{KNOWN_AS}#personalised-pagerank",
    "personalised": f"{KNOWN_AS}#personalised-pagerank",
    "co-author network": f"{KNOWN_AS}#co-author-network",
    "community search": f"{KNOWN_AS}#community-search",
    "k-hop neighborhood": f"{KNOWN_AS}#k-hop-neighbourhood",
    "random walk with restart": f"{KNOWN_AS}#random-walk-with-restart",
    "graph sampling": f"{KNOWN_AS}#subgraph-sampling",
    "neighbor sampling": f"{KNOWN_AS}#graphsage-sampling",
    "steiner tree": f"{KNOWN_AS}#steiner-tree",
    "OLAP cube": f"{KNOWN_AS}#olap-cube",
    "knowledge graph": f"{KNOWN_AS}#knowledge-graph-subgraph",
    "RAG": f"{KNOWN_AS}#graphrag",
    "node2vec": f"{KNOWN_AS}#node2vec",
    "bibliometric network": f"{KNOWN_AS}#bibliometric-network",
    "VOSviewer": f"{KNOWN_AS}#vosviewer",
    "Gephi": f"{KNOWN_AS}#gephi",
    "link prediction": f"{KNOWN_AS}#link-prediction",
    "graph summarization": f"{KNOWN_AS}#graph-summarization",
    "local clustering": f"{KNOWN_AS}#local-clustering",
    "construct": "reference/names/construct.html",
    "build": "reference/names/build.html",
    "glossary": "reference/glossary.html",
}
"""What people type, and where they should be led first."""


def test_a_page_is_found_by_british_and_by_american_spelling(site: Path) -> None:
    def keywords(page: str) -> set[str]:
        found = re.search(r'<meta content="([^"]*)" name="keywords"', (site / page).read_text(encoding="utf-8"))
        return set(found[1].split(", ")) if found else set()

    assert "personalized" in keywords("reference/methods.html")
    assert {"ppr", "walk"} <= keywords("reference/methods.html")
    assert {"neighbors", "maximisation"} <= keywords(KNOWN_AS)


def test_names_that_people_search_for_lead_to_the_right_page_first(browser: Any, home: str) -> None:
    terms = list(SEARCHED) if home.startswith("file:") else list(SEARCHED)[:5]
    tab, first = Reader(browser, home), dict[str, str]()
    for term in terms:
        page = tab.open("index.html")
        page.get_by_role("button", name="Search").first.click()
        page.locator("dialog[open] input[name=q]").fill(term)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda address, term=term: address.endswith(f"search.html?q={quote_plus(term)}"))
        link = page.locator("#search-results ul.search li a").first
        link.wait_for()
        page.locator("#search-results .search-summary", has_text="found").wait_for()
        led = link.get_attribute("href")
        first[term] = led if "#" in SEARCHED[term] else led.partition("#")[0]
    tab.context.close()
    assert first == {term: SEARCHED[term] for term in terms}
    assert tab.slips == []
