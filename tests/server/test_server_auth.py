"""Who may ask the explorer: only who has the token, from this page, by one of the server's names."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cube2net.apps.server import application as page_files
from cube2net.apps.server.auth import HEADERS, LOOPBACK, Authenticator
from cube2net.apps.server.responses import RefusalError, make_attachment

from hostile import NAMES

PATHS = ["/", "/page/explorer.js", "/api/v1/cube", "/api/v1/construct", "/api/v1/report/x", "/nowhere"]


@pytest.fixture(autouse=True)
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of two files, and a file beside it that is none of it."""
    place = tmp_path / "page"
    place.mkdir()
    (place / "index.html").write_text("<!doctype html><title>page</title>")
    (place / "explorer.js").write_text("'x'.repeat(2)" + " " * 30_000)
    (place / ".hidden.js").write_text("hidden")
    (place / "notes.md").write_text("notes")
    (tmp_path / "secret.js").write_text("secret")
    monkeypatch.setattr(page_files, "PAGE", place)
    return place


def test_nothing_is_answered_without_the_token(client: Any) -> None:
    token = client.server.auth.token
    bearers = ["", "Bearer wrong", "Bearer ", f"Basic {token}", f"Bearer {token}x", "Bearer \xff"]
    for path, method, bearer in product(PATHS, ["GET", "HEAD", "POST", "OPTIONS", "PUT"], bearers):
        status, headers, body = client.send(method, path, Authorization=bearer)
        assert status == 401, (path, method, bearer)
        assert HEADERS.items() <= headers.items(), (path, method, bearer)
        assert method == "HEAD" or b"the token is missing or wrong" in body, (path, method, bearer)


@pytest.mark.parametrize("path", PATHS[1:])
def test_the_token_in_an_address_opens_the_page_only(client: Any, path: str) -> None:
    assert client.send("GET", f"{path}?token={client.server.auth.token}", Authorization="")[0] == 401


def test_the_address_with_the_token_becomes_a_cookie_that_opens_everything(client: Any) -> None:
    auth = client.server.auth
    assert client.server.address == f"http://127.0.0.1:{auth.port}/?token={auth.token}"
    status, headers, body = client.send("GET", f"/?token={auth.token}", Authorization="")
    assert (status, headers["location"], body) == (303, "/", b"")
    kept, *rules = headers["set-cookie"].split("; ")
    assert kept == f"cube2net_{auth.port}={auth.token}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(rules)
    status, _, body = client.send("GET", "/", Authorization="", Cookie=f"other=1; {kept}; more=2")
    assert (status, body) == (200, b"<!doctype html><title>page</title>")
    assert client.send("GET", "/api/v1/cube", Authorization="", Cookie=kept)[0] == 200
    for wrong in (kept + "x", kept.replace("=", "x="), "\x00", "=;=;", f"cube2net_1={auth.token}"):
        assert client.send("GET", "/", Authorization="", Cookie=wrong)[0] in (400, 401)


@pytest.mark.parametrize(
    "others",
    ['theme={"dark":true}; {}', "{}; a b=c", "=; {}; =", "x; {}", 'q="a;b"; {}', "a=[1,2]; ;{}", "{port}=stale; {}"],
)
def test_cookies_of_other_servers_of_this_machine_lock_nobody_out(client: Any, others: str) -> None:
    auth = client.server.auth
    sent = others.replace("{}", f"{auth.cookie}={auth.token}").replace("{port}", auth.cookie)
    assert client.send("GET", "/api/v1/cube", Authorization="", Cookie=sent)[0] == 200
    assert client.send("GET", "/api/v1/cube", Authorization="", Cookie=sent.replace(auth.token, "x"))[0] == 401


def test_whoever_is_led_to_the_address_by_a_page_is_led_on_by_a_page_of_ours(client: Any) -> None:
    elsewhere = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    status, headers, body = client.send("GET", f"/?token={client.server.auth.token}", Authorization="", **elsewhere)
    assert (status, headers["refresh"], body) == (200, "0; url=/", b"")
    assert headers["set-cookie"].startswith(client.server.auth.cookie)
    assert client.server.opened.is_set()


@pytest.mark.parametrize("given", ["wrong", "", "%FF", "a&token=b", "&".join("x=1" for _ in range(50))])
def test_a_wrong_token_in_the_address_is_refused(client: Any, given: str) -> None:
    status, headers, body = client.send("GET", f"/?token={given}", Authorization="")
    assert (status, "set-cookie" in headers) == (401, False)
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert b"open the address that cube2net explore printed" in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1", "127.0.0.1:1", "192.168.0.1:{}", "."])
def test_a_request_for_another_host_is_refused(client: Any, host: str) -> None:
    status, headers, body = client.send("GET", "/api/v1/cube", Host=host.format(client.server.auth.port))
    assert status == 403
    assert HEADERS.items() <= headers.items()
    assert b"the request is for" in body


def test_the_names_of_this_machine_itself_are_taken(client: Any) -> None:
    for name in LOOPBACK:
        assert client.send("GET", "/", Host=f"{name.upper()}:{client.server.auth.port}")[0] == 200


def test_a_host_that_was_given_is_taken_and_a_wildcard_takes_numbers_only() -> None:
    Authenticator(8080, "Cube.example").check("GET", "/", {"host": "cube.example:8080"})
    everywhere = Authenticator(8080, "0.0.0.0")
    for host in ("10.0.0.7:8080", "[fe80::1]:8080", "localhost:8080"):
        everywhere.check("GET", "/", {"host": host})
    for host in ("evil.example:8080", "10.0.0.7:81", "10.0.0.7", ""):
        with pytest.raises(RefusalError, match="the request is for"):
            everywhere.check("GET", "/", {"host": host})


def test_the_port_that_browsers_leave_out_may_be_left_out() -> None:
    Authenticator(80).check("POST", "/", {"host": "localhost", "origin": "http://localhost"})
    with pytest.raises(RefusalError, match="the request is for 'localhost'"):
        Authenticator(81).check("GET", "/", {"host": "localhost"})


def test_other_sites_cannot_ask(client: Any) -> None:
    for site, path, method in product(["cross-site", "same-site", "x"], PATHS, ["GET", "POST"]):
        for mode in ("cors", "no-cors", "navigate") if path != "/" else ("cors", "no-cors"):
            status, _, body = client.send(method, path, Sec_Fetch_Site=site, Sec_Fetch_Mode=mode)
            assert status == 403, (site, path, method, mode)
            assert b"the request comes from another site" in body


def test_other_sites_may_link_to_the_page_but_not_frame_it(client: Any) -> None:
    elsewhere = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert client.send("GET", "/", Sec_Fetch_Dest="document", **elsewhere)[0] == 200
    assert client.send("GET", "/", Sec_Fetch_Dest="iframe", **elsewhere)[0] == 403
    assert client.send("POST", "/", Sec_Fetch_Dest="document", **elsewhere)[0] == 403


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1:{}", "http://127.0.0.1:1", "x"])
def test_a_question_from_a_page_of_another_origin_is_refused(
    client: Any, network_request: dict[str, Any], origin: str
) -> None:
    status, answer = client.ask(
        "construct", {"request": network_request}, Origin=origin.format(client.server.auth.port)
    )
    assert status == 403
    assert "comes from a page of" in answer["error"]["sentence"]


def test_a_question_from_the_page_itself_is_answered(client: Any, network_request: dict[str, Any]) -> None:
    origin = f"http://127.0.0.1:{client.server.auth.port}"
    status, _ = client.ask("construct", {"request": network_request}, Origin=origin, Sec_Fetch_Site="same-origin")
    assert status == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/page/../secret.js", "/page/..%2fsecret.js", "/page/%2e%2e/secret.js", "/page/..%5csecret.js"),
        *("/page//etc/passwd", "/page/%2fetc%2fpasswd", "/page/.hidden.js", "/page/notes.md", "/page/", "/page"),
        *("/page/explorer.js%00", "/page/explorer.js/", "//page/explorer.js", "/page/explorer%0a.js"),
    ],
)
def test_only_the_files_of_the_page_are_served(client: Any, path: str) -> None:
    status, headers, body = client.send("GET", path)
    assert status == 404
    assert headers["content-type"] == "application/json"
    assert b"secret" not in body.replace(b"secret.js", b"")


def test_a_file_of_the_page_is_served_as_what_it_is_and_packed_where_that_is_taken(client: Any) -> None:
    status, headers, body = client.send("GET", "/page/explorer.js")
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert headers["cache-control"] == "no-cache"
    assert body.startswith(b"'x'.repeat(2)")
    _, packed, small = client.send("GET", "/page/explorer.js", Accept_Encoding="br, gzip")
    assert packed["content-encoding"] == "gzip"
    assert len(small) < len(body) / 10
    status, headers, body = client.send("HEAD", "/page/explorer.js")
    assert (status, body) == (200, b"")


def test_a_page_that_was_not_built_is_one_sentence(client: Any, page: Path) -> None:
    (page / "index.html").unlink()
    status, headers, body = client.send("GET", "/")
    assert status == 500
    assert b"run make page" in body
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert client.send("GET", "/api/v1/cube")[0] == 200


@pytest.mark.parametrize("path", PATHS)
def test_every_response_has_the_headers_that_protect(client: Any, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE", "PATCH", "TRACE"):
        _, headers, _ = client.send(method, path)
        for name, value in HEADERS.items():
            assert headers[name] == value or (name == "cache-control" and headers[name] == "no-cache")
        assert not [name for name in headers if name.startswith("access-control")]
        assert "server" not in headers


def test_a_method_that_is_not_taken_is_refused_with_those_that_are(client: Any) -> None:
    status, headers, body = client.send("GET", "/api/v1/construct")
    assert (status, headers["allow"]) == (405, "POST")
    assert b"does not take GET, but POST" in body
    assert client.send("DELETE", "/")[0] == 405


def test_what_is_no_http_is_refused_with_the_same_headers(client: Any) -> None:
    with client.raw(b"\x16\x03\x01\x00\xff\r\n\r\n") as sent:
        answer = b"".join(iter(lambda: sent.recv(65536), b"")).decode()
    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
    for name, value in HEADERS.items():
        assert f"\r\n{name}: {value}\r\n" in answer


@pytest.mark.parametrize("name", [*NAMES, "", "..", "../../x", "a" * 300, "\ud800"], ids=ascii)
def test_no_name_of_a_file_breaks_out_of_its_header(name: str) -> None:
    ((_, disposition),) = make_attachment(f"{name}.csv", "text/csv", b"").headers
    assert disposition.isascii()
    assert disposition.isprintable()
    kind, plain, told = disposition.split("; ")
    assert (kind, plain[:10], told[:17]) == ("attachment", 'filename="', "filename*=UTF-8''")
    assert plain.endswith('"')
    assert not set('"/\\') & set(plain[10:-1])
    assert not set("\"/\\'; ") & set(told[17:])
