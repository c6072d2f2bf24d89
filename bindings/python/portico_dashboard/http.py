"""The little of HTTP that the application needs, over ASGI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: The most bytes of a request's body.
BODY = 16 << 20


class Disconnected(Exception):
    """The client has gone before its body was there."""


class Request:
    """A request. `scope` is that of ASGI, with what the dashboard's middleware has put there (`scope["user"]`)."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self.method: str = scope["method"]

    @cached_property
    def headers(self) -> dict[str, str]:
        """By lower-case name. Of several with one name, the last."""
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.scope["headers"]}

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The parameters of the query."""
        text = self.scope.get("query_string", b"").decode("latin-1")
        return parse_qs(text, keep_blank_values=True)

    @cached_property
    def cookies(self) -> dict[str, str]:
        """The cookies by name. Of several with one name, the last."""
        pairs = (part.strip().partition("=") for part in self.headers.get("cookie", "").split(";"))
        return {name: value.strip('"') for name, _, value in pairs if name}

    @property
    def address(self) -> str:
        """The client's address, as the server names it: behind a proxy it has to know that proxy."""
        client = self.scope.get("client")
        return str(client[0]) if client else ""

    @property
    def is_secure(self) -> bool:
        """Whether it came over TLS, as the server knows."""
        return self.scope.get("scheme") == "https"

    @property
    def path(self) -> str:
        """The path below the place where the application is mounted."""
        path: str = self.scope["path"]
        root: str = self.scope.get("root_path", "")
        return (path.removeprefix(root) if root else path).lstrip("/")

    async def body(self, most: int = BODY) -> bytes | None:
        """The body; None if it has more bytes than `most`."""
        body = bytearray()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            body += message.get("body", b"")
            if len(body) > most:
                return None
            if not message.get("more_body"):
                return bytes(body)


class Response:
    """A response of JSON, or an empty one."""

    def __init__(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = headers or {}
        self.cookies: list[str] = []

    @classmethod
    def json(cls, status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
        """A value in JSON."""
        return cls(status, json.dumps(value).encode(), headers)

    async def send(self, send: Send) -> None:
        """Sends it."""
        headers = {"content-length": str(len(self.body)), **self.headers}
        if self.body:
            headers["content-type"] = "application/json"
        listed = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        listed += [(b"set-cookie", cookie.encode("latin-1")) for cookie in self.cookies]
        await send({"type": "http.response.start", "status": self.status, "headers": listed})
        await send({"type": "http.response.body", "body": self.body})


class OwnPages:
    """Tells the pages of the dashboard from those of other sites.

    Without `public_url`, the dashboard's own host is the one that a request names. So a site whose name is made to lead to
    this server passes (DNS rebinding), and behind a proxy that names another host the dashboard's own pages may not."""

    def __init__(self, public_url: str | None, origins: Sequence[str]) -> None:
        self._host = None if public_url is None else host_of(public_url)
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        #: Whether people reach the dashboard over TLS, which a server behind a proxy may not know.
        self.are_secure = (public_url or "").lower().startswith("https:")

    def sent(self, request: Request) -> bool:
        """Whether no browser says that a page of another origin sent this request. Other clients say nothing."""
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() in self._origins:
            return True
        site = request.headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            return False
        if origin is None or (site is not None and self._host is None):
            return True
        own = request.headers.get("host", "") if self._host is None else self._host
        return own != "" and urlsplit(origin).netloc.lower() == own.lower()


def host_of(url: str) -> str:
    """The host and the port of a URL, as browsers write them in an origin. Raises `ValueError`."""
    parts = urlsplit(url)
    port = {"http": ":80", "https": ":443"}.get(parts.scheme)
    if port is None or not parts.hostname:
        raise ValueError(f"public_url has to be the URL where people reach the dashboard, such as https://dash.example: {url}")
    return parts.netloc.rpartition("@")[2].lower().removesuffix(port)
