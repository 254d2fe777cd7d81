"""Checks of every request (token, host, origin), and security headers."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers

from cube2net.apps.server.responses import RefusalError
from cube2net.errors import listed, quoted

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::")
USUAL = 80
"""The port that browsers leave out of addresses."""
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Of a report, which has its scripts in it: it may run these, and reach nothing."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""The headers of every response, refusals included."""


@dataclass(frozen=True)
class Authenticator:
    """Lets in who has the token, comes from this page, and asked for this server by one of its names."""

    port: int
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers give cookies to every port of a host, so that it names the port."""
        return f"cube2net_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of this server."""
        given = f"[{self.host}]" if ":" in self.host else self.host
        names = [*LOOPBACK, socket.gethostname() if self.host in WILDCARDS else given]
        ends = (f":{self.port}", "") if self.port == USUAL else (f":{self.port}",)
        return tuple(dict.fromkeys(f"{name.lower()}{end}" for name in names for end in ends))

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Raise where a request is not to be answered, whoever sent it."""
        host = headers.get("host", "").lower()
        if host not in self.hosts and not self._is_number(host):
            raise RefusalError(403, "host", f"the request is for {quoted(host)}, this is {listed(self.hosts)}")
        site = headers.get("sec-fetch-site", "none")
        page = method in ("GET", "HEAD") and path == "/" and headers.get("sec-fetch-mode") == "navigate"
        framed = headers.get("sec-fetch-dest", "document") != "document"
        if site not in ("same-origin", "none") and (not page or framed):
            raise RefusalError(403, "cross-site", f"the request comes from another site ({quoted(site)})")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}" and method not in ("GET", "HEAD"):
            raise RefusalError(403, "cross-site", f"the request comes from a page of {quoted(origin)}")

    def _is_number(self, host: str) -> bool:
        """Return whether a server on all addresses was asked for by a number: no name can be turned to it later."""
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return self.host in WILDCARDS and port == str(self.port)

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request has the token, as a cookie or as a bearer."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(bearer.strip()):
            return True
        return any(self.is_token(kept) for kept in self._cookies(headers.get("cookie", "")))

    def _cookies(self, sent: str) -> list[str]:
        """Return what cookies of ours hold; those of other servers of this host come along, whatever is in them."""
        pairs = (cookie.partition("=") for cookie in sent.split(";"))
        return [value.strip() for name, _, value in pairs if name.strip() == self.cookie]

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token; how long that takes tells nothing."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def given_token(self, query: bytes) -> str | None:
        """Return the token that an address carries, None where it has none."""
        try:
            given = parse_qs(query.decode("latin-1"), max_num_fields=10)
        except ValueError:
            return None
        return next(iter(given.get("token", [])), None)

    def has_token(self, scope: Mapping[str, Any]) -> bool:
        """Return whether a request has the token, in its headers or in the address of the page."""
        given = self.given_token(scope["query_string"]) if scope["path"] == "/" else None
        return (given is not None and self.is_token(given)) or self.is_known(Headers(raw=scope["headers"]))

    def cookie_header(self) -> str:
        """Return the header that makes the token a cookie."""
        return f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"


def with_headers(message: dict[str, Any]) -> dict[str, Any]:
    """Return the start of a response with the headers that every response has."""
    own = list(message.get("headers", []))
    named = {bytes(name).lower() for name, _ in own}
    own += [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in named]
    return {**message, "headers": own}
