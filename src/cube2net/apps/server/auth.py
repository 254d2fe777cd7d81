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
from cube2net.errors import join_names, quote

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::")
DEFAULT_PORT = 80
"""The port that browsers leave out of addresses."""
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The policy of a report: it may run its inline scripts, and access nothing else."""
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
"""Headers of every response, including errors."""


@dataclass(frozen=True)
class Authenticator:
    """Accepts requests that have the token, come from this page and name this server."""

    port: int
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie, with the port, because browsers send cookies to all ports of a host."""
        return f"cube2net_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host names under which this server may be addressed."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        names = [*LOOPBACK, socket.gethostname() if self.host in WILDCARDS else host]
        ends = (f":{self.port}", "") if self.port == DEFAULT_PORT else (f":{self.port}",)
        return tuple(dict.fromkeys(f"{name.lower()}{end}" for name in names for end in ends))

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        """Raise for a request to another host, or from another site."""
        host = headers.get("host", "").lower()
        if host not in self.hosts and not self._is_number(host):
            raise RefusalError(403, "host", f"the request is for {quote(host)}, this is {join_names(self.hosts)}")
        site = headers.get("sec-fetch-site", "none")
        page = method in ("GET", "HEAD") and path == "/" and headers.get("sec-fetch-mode") == "navigate"
        framed = headers.get("sec-fetch-dest", "document") != "document"
        if site not in ("same-origin", "none") and (not page or framed):
            raise RefusalError(403, "cross-site", f"the request comes from another site ({quote(site)})")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}" and method not in ("GET", "HEAD"):
            raise RefusalError(403, "cross-site", f"the request comes from a page of {quote(origin)}")

    def _is_number(self, host: str) -> bool:
        """Return whether a server on all interfaces is addressed by an IP address, which cannot be rebound by DNS."""
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return self.host in WILDCARDS and port == str(self.port)

    def is_authenticated(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request has the token, as a cookie or as a bearer token."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(bearer.strip()):
            return True
        return any(self.is_token(value) for value in self._cookies(headers.get("cookie", "")))

    def _cookies(self, header: str) -> list[str]:
        """Return the values of this server's cookie; cookies of other servers of the host are ignored."""
        pairs = (cookie.partition("=") for cookie in header.split(";"))
        return [value.strip() for name, _, value in pairs if name.strip() == self.cookie]

    def is_token(self, text: str) -> bool:
        """Return whether a text is the token, compared in constant time."""
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    def find_token(self, query: bytes) -> str | None:
        """Return the token in the query of an address; None if there is none."""
        try:
            parameters = parse_qs(query.decode("latin-1"), max_num_fields=10)
        except ValueError:
            return None
        return next(iter(parameters.get("token", [])), None)

    def has_token(self, scope: Mapping[str, Any]) -> bool:
        """Return whether a request has the token, in its headers or in the address of the page."""
        token = self.find_token(scope["query_string"]) if scope["path"] == "/" else None
        return (token is not None and self.is_token(token)) or self.is_authenticated(Headers(raw=scope["headers"]))

    def cookie_header(self) -> str:
        """Return the header that sets the cookie."""
        return f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"


def add_headers(message: dict[str, Any]) -> dict[str, Any]:
    """Return the start of a response with the headers of every response."""
    headers = list(message.get("headers", []))
    given_names = {bytes(name).lower() for name, _ in headers}
    headers += [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given_names]
    return {**message, "headers": headers}
