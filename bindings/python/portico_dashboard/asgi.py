"""Portico as an ASGI application, which Starlette and FastAPI mount, and which stands in front of Django.

Below the place where it is mounted: `trpc/…` for procedures, and with the ready storage `session` for signing in (POST),
out (DELETE), and who is signed in (GET).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from .contract import Caller, CredentialSession
from .http import Disconnected, OwnPages, Receive, Request, Response, Scope, Send
from .procedures import plain
from .throttle import Throttle
from .trpc import Refusal, Router, check_content_type, just_call, parsed, refusal_of

if TYPE_CHECKING:
    from .portico import Portico

#: Who sends a request. None, or a caller without a user: an anonymous one. Called with each request.
Authenticate = Callable[[Request], "Caller | None | Awaitable[Caller | None]"]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The cookie of a session of the ready storage.
COOKIE = "portico_session"


#: The most bytes of a name and a password.
CREDENTIALS = 64 << 10


class PorticoApp:
    """The application. With `authenticate`, the dashboard says who calls; without it, the sessions and keys of the ready
    storage do."""

    def __init__(
        self,
        portico: Portico,
        inputs: bytes,
        authenticate: Authenticate | None = None,
        throttle: Throttle | None = None,
        prefix: str = "",
        otherwise: Application | None = None,
        seconds: int = 0,
        only_procedures: bool = False,
        own_pages: OwnPages | None = None,
    ) -> None:
        self._portico = portico
        self._router = Router(portico, inputs)
        self._authenticate = authenticate
        self._throttle = throttle or Throttle()
        self._prefix = prefix.strip("/")
        self._otherwise = otherwise
        self._seconds = seconds
        self._only_procedures = only_procedures
        self._own_pages = own_pages or OwnPages(None, ())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            path = request.path
            if not self._prefix or path == self._prefix or path.startswith(f"{self._prefix}/"):
                try:
                    response = await self._respond(request, path.removeprefix(self._prefix).lstrip("/"))
                except Disconnected:
                    return
                await response.send(send)
                return
        if self._otherwise is not None:
            await self._otherwise(scope, receive, send)
        elif scope["type"] == "lifespan":
            await lifespan(receive, send)
        elif scope["type"] == "http":
            await not_found().send(send)

    async def _respond(self, request: Request, path: str) -> Response:
        if self._only_procedures:
            return await self._procedures(request, path)
        kind, _, rest = path.partition("/")
        if kind == "trpc" and rest:
            return await self._procedures(request, rest)
        if kind == "session" and not rest and self._authenticate is None:
            try:
                return await self._session(request)
            except Exception as failure:
                return error_response(refusal_of(failure))
        return not_found()

    async def _procedures(self, request: Request, path: str) -> Response:
        try:
            if request.method not in ("GET", "HEAD") and not self._own_pages.sent(request):
                raise Refusal("FORBIDDEN", "This request comes from a page of another site")
            caller, uses_cookie = await self._identify(request)
        except Exception as failure:
            refusal = refusal_of(failure)
            return Response(refusal.status, refusal.envelope())
        tokens: list[str] = []

        async def renewing(name: str, caller: Caller, call: Callable[[Caller], Awaitable[bytes]]) -> bytes:
            """Who changes their own password gets another token: who knew the old one may know the token too."""
            if name != "user.changePassword":
                return await call(caller)
            renewal = await self._portico.aio.people.renew_with_password(caller)
            answer = await call(renewal.caller)
            # The session's token changes only if the caller's own password was set.
            if renewal.token and await self._portico.aio.people.authenticate(renewal.token):
                tokens.append(renewal.token)
            return answer

        around = renewing if uses_cookie else just_call
        response = await self._router.respond(request, path, caller, around)
        if tokens:
            response.cookies.append(self._cookie(request, tokens[-1], self._seconds))
        return response

    async def _identify(self, request: Request) -> tuple[Caller, bool]:
        """The caller, and whether they proved it with the cookie of the ready storage. With one that is not valid, or a key that is
        not, the caller is anonymous, as in Portico's own host."""
        if self._authenticate is not None:
            found = self._authenticate(request)
            caller = await found if inspect.isawaitable(found) else found
            return caller or Caller(), False
        secret, by_cookie = secret_of(request.cookies, request.headers.get("authorization", ""))
        who = await self._portico.aio.people.authenticate(secret) if secret else None
        if who is None:
            return Caller(), False
        return who.caller, by_cookie and isinstance(who.credential, CredentialSession)

    # The session of the ready storage.

    async def _session(self, request: Request) -> Response:
        match request.method:
            case "GET":
                return await self._who(request)
            case "POST" | "DELETE" if not self._own_pages.sent(request):
                raise Refusal("FORBIDDEN", "This request comes from a page of another site")
            case "POST":
                return await self._sign_in(request)
            case "DELETE":
                if token := request.cookies.get(COOKIE):
                    await self._portico.aio.people.end_session(token)
                response = Response(204)
                response.cookies.append(self._cookie(request, "", 0))
                return response
        raise Refusal("METHOD_NOT_SUPPORTED", "GET, POST or DELETE")

    async def _who(self, request: Request) -> Response:
        caller, _ = await self._identify(request)
        person = await self._portico.aio.people.get_person(caller.user.id) if caller.user else None
        return Response.json(200, {"user": person and plain(person)}, {"cache-control": "no-store"})

    async def _sign_in(self, request: Request) -> Response:
        check_content_type(request.headers.get("content-type"))
        body = await request.body(CREDENTIALS)
        if body is None:
            raise Refusal("PAYLOAD_TOO_LARGE", f"A request's body has at most {CREDENTIALS} bytes here")
        input = parsed(body)
        if isinstance(input, Refusal):
            raise input
        name, password = (input.get(key) for key in ("username", "password")) if isinstance(input, dict) else (0, 0)
        if not isinstance(name, str) or not isinstance(password, str):
            raise Refusal("BAD_REQUEST", "username and password have to be texts")
        address = request.address
        if wait := self._throttle.begin(name, address):
            refusal = {"code": "TOO_MANY_REQUESTS", "message": "Too many attempts: try again later"}
            return Response.json(429, refusal, {"retry-after": str(int(wait) + 1)})
        user = await self._portico.aio.sign_in.password(name, password)
        session = await self._portico.aio.people.begin_session(user.id, user.password_version)
        self._throttle.succeed(name, address)
        response = Response.json(200, {"user": {"id": user.id, "name": user.name}}, {"cache-control": "no-store"})
        response.cookies.append(self._cookie(request, session.token, self._seconds))
        return response

    def _cookie(self, request: Request, token: str, seconds: int) -> str:
        secure = "; Secure" if request.is_secure or self._own_pages.are_secure else ""
        return f"{COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def secret_of(cookies: Mapping[str, str], authorization: str) -> tuple[str, bool]:
    """The token or key of a request (`""`: none), and whether it is the cookie's. A header takes precedence."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip(), False
    return cookies.get(COOKIE, ""), True


async def lifespan(receive: Receive, send: Send) -> None:
    """Starting and stopping, which need nothing."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def error_response(refusal: Refusal) -> Response:
    """An error outside tRPC."""
    return Response.json(refusal.status, {"code": refusal.code, "message": refusal.message})


def not_found() -> Response:
    """There is nothing at this path."""
    return error_response(Refusal("NOT_FOUND", "There is nothing here"))
