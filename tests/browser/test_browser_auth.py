"""Only who was given the address sees a cube: other sites, other names of the machine and wrong tokens get nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import BrowserContext

from browser.explorers import Explorer, Tab

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("words", ["", "?token=", "?token=wrong"])
def test_without_the_right_token_there_is_one_sentence_and_no_cube(
    tab: Tab, town: Explorer, context: BrowserContext, words: str
) -> None:
    answer = tab.page.goto(town.site + words)
    assert answer is not None and answer.status == 401
    assert "token" in tab.page.inner_text("body")
    assert "Alba" not in tab.page.content()
    assert context.cookies() == []
    assert context.request.get(f"{town.site}api/v1/cube").status == 401


def test_the_token_goes_from_the_address_into_a_cookie_that_scripts_cannot_read(
    tab: Tab, town: Explorer, context: BrowserContext
) -> None:
    tab.open(town.address)
    assert tab.page.url.partition("#")[0] == town.site
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert tab.page.evaluate("document.cookie") == ""
    assert cookie["value"] not in tab.page.content()


ATTACK = """<!doctype html><title>elsewhere</title><body><script type="module">
const seen = {};
const attempt = async (name, options) => {
  try { seen[name] = (await (await fetch(options.url ?? "%(site)sapi/v1/cube", options)).text()).length; }
  catch (error) { seen[name] = "refused"; }
};
await attempt("read", { credentials: "include" });
await attempt("blind", { credentials: "include", mode: "no-cors" });
await attempt("ask", { credentials: "include", mode: "no-cors", method: "POST", body: '{"text": "Ann Archer"}',
  url: "%(site)sapi/v1/names" });
const script = document.createElement("script");
await new Promise((done) => { script.onload = () => { seen.script = "ran"; done(); };
  script.onerror = () => { seen.script = "refused"; done(); };
  script.src = "%(site)spage/explorer.js"; document.body.append(script); });
const frame = document.createElement("iframe");
await new Promise((done) => { frame.onload = done; frame.src = "%(site)s"; document.body.append(frame); });
try { seen.frame = frame.contentDocument ? "read" : "refused"; } catch (error) { seen.frame = "refused"; }
document.title = JSON.stringify(seen);
</script>"""


@pytest.fixture(scope="module")
def elsewhere(town: Explorer) -> Iterator[int]:
    """Return the port of a site that attacks the explorer."""

    class Attacker(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = (ATTACK % {"site": town.site}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Attacker) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_site_or_port_gets_nothing_even_in_a_browser_that_has_the_cookie(
    context: BrowserContext, town: Explorer, elsewhere: int, host: str
) -> None:
    own, page = context.new_page(), context.new_page()
    own.goto(town.address)
    statuses: list[tuple[str, int]] = []
    page.on(
        "response",
        lambda answer: (
            statuses.append((answer.url.removeprefix(town.site), answer.status))
            if answer.url.startswith(town.site)
            else None
        ),
    )
    page.goto(f"http://{host}:{elsewhere}/")
    page.wait_for_function("() => document.title.startsWith('{')")
    seen = page.evaluate("JSON.parse(document.title)")
    assert seen["read"] == seen["script"] == seen["frame"] == "refused"
    assert statuses, "requests were sent"
    assert {status for _, status in statuses} <= {401, 403}


def test_another_name_for_the_machine_is_refused_whatever_the_token(context: BrowserContext, town: Explorer) -> None:
    page = context.new_page()
    answer = page.goto(town.address.replace("127.0.0.1", "rebound.example"))
    assert answer is not None and answer.status == 403
    assert "rebound.example" in page.inner_text("body")
    assert context.cookies() == []
