"""The little of HTTP that the application needs, over ASGI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
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


def comes_from_elsewhere(request: Request) -> bool:
    """Whether a browser says that a page of another origin sent this request. Other clients say nothing."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return False
    return urlsplit(origin).netloc != request.headers.get("host", "")
