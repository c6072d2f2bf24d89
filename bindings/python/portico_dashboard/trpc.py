"""Procedure calls as unmodified tRPC clients make them (`httpLink`, `httpBatchLink`; plain JSON)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import procedures
from .contract import Caller, NewAccount, Procedure
from .errors import CallFailed, PorticoError
from .http import BODY, Request, Response

if TYPE_CHECKING:
    from .portico import Portico

LOG = logging.getLogger("portico")

#: The most calls in a request.
BATCH = 256
#: Inputs of more bytes are read in another thread.
LARGE_INPUT = 64 << 10

#: tRPC's codes, with the JSON-RPC number and the HTTP status.
CODES = {
    "BAD_REQUEST": (-32600, 400),
    "UNAUTHORIZED": (-32001, 401),
    "FORBIDDEN": (-32003, 403),
    "NOT_FOUND": (-32004, 404),
    "METHOD_NOT_SUPPORTED": (-32005, 405),
    "CONFLICT": (-32009, 409),
    "PAYLOAD_TOO_LARGE": (-32013, 413),
    "UNSUPPORTED_MEDIA_TYPE": (-32015, 415),
    "INTERNAL_SERVER_ERROR": (-32603, 500),
    "SERVICE_UNAVAILABLE": (-32603, 503),
}
REFUSALS = {
    "bad-request": "BAD_REQUEST",
    "unauthorized": "UNAUTHORIZED",
    "forbidden": "FORBIDDEN",
    "not-found": "NOT_FOUND",
    "conflict": "CONFLICT",
    "unavailable": "SERVICE_UNAVAILABLE",
}


class Refusal(Exception):
    """What a client is told."""

    def __init__(self, code: str, message: str, error: PorticoError | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.issues = error.issues if error else ()

    @property
    def status(self) -> int:
        """Of HTTP."""
        return CODES[self.code][1]

    def envelope(self, path: str | None = None) -> bytes:
        """The error in tRPC's form, with the broken rules by field, as its clients expect."""
        number, status = CODES[self.code]
        fields: dict[str, list[str]] = {}
        for issue in self.issues:
            if issue.path:
                fields.setdefault(str(issue.path[0]), []).append(issue.message)
        form = [issue.message for issue in self.issues if not issue.path]
        broken = {"formErrors": form, "fieldErrors": fields} if self.issues else None
        data = {"code": self.code, "httpStatus": status, "path": path, "zodError": broken}
        if path is None:
            del data["path"]
        return json.dumps({"error": {"message": self.message, "code": number, "data": data}}).encode()


def refusal_of(failure: Exception) -> Refusal:
    """What a client is told about an exception."""
    if isinstance(failure, Refusal):
        return failure
    if isinstance(failure, PorticoError) and failure.code in REFUSALS:
        return Refusal(REFUSALS[failure.code], failure.message, failure)
    LOG.error("A call failed: %s", failure, exc_info=None if type(failure) is PorticoError else failure)
    return Refusal("INTERNAL_SERVER_ERROR", "Internal server error")


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parsed(text: str | bytes | None) -> Any:
    """A JSON value, None without an input, or the `Refusal`."""
    if not text:
        return None
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        return Refusal("BAD_REQUEST", f"The input is not JSON: {error}")


@dataclass
class Inputs:
    """The inputs of a request: one value, or an object by position."""

    value: Any
    is_batch: bool
    is_large: bool

    def of(self, position: int) -> Any:
        """The input of a call."""
        if isinstance(self.value, Refusal):
            raise self.value
        if self.value is None or not self.is_batch:
            return self.value
        if not isinstance(self.value, dict):
            raise Refusal("BAD_REQUEST", '"input" needs to be an object when doing a batch call')
        return self.value.get(str(position))


#: What is done around a call: gets the name of its procedure, the caller, and the call itself.
Around = Callable[[str, Caller, Callable[[Caller], Awaitable[bytes]]], Awaitable[bytes]]


async def just_call(name: str, caller: Caller, call: Callable[[Caller], Awaitable[bytes]]) -> bytes:
    """Nothing."""
    return await call(caller)


class Router:
    """Returns the responses to requests for procedures."""

    def __init__(self, portico: Portico, inputs: bytes) -> None:
        self._run = portico.engine.run_async
        self._init_user = portico.aio.users.init_user
        known = procedures.read(inputs)
        #: Every procedure: what the component says, and its inputs. One that only a later file knows has no inputs here.
        self._procedures: dict[str, tuple[Procedure, procedures.Inputs]] = {
            procedure.name: (procedure, known[procedure.name])
            for procedure in portico.procedures
            if procedure.name in known
        }

    async def respond(self, request: Request, path: str, caller: Caller, around: Around = just_call) -> Response:
        """The response to a request for these procedures, which are separated by commas in a batch."""
        try:
            return await self._respond(request, path, caller, around)
        except Exception as failure:
            refusal = refusal_of(failure)
            return Response(refusal.status, refusal.envelope())

    async def _respond(self, request: Request, path: str, caller: Caller, around: Around) -> Response:
        if request.method == "HEAD":
            return Response(204)
        if request.method != "GET":
            check_content_type(request.headers.get("content-type"))
        is_batch = request.query.get("batch", [])[:1] == ["1"]
        names = path.split(",") if is_batch else [path]
        if len(names) > BATCH:
            raise Refusal("BAD_REQUEST", f"A batch has at most {BATCH} calls")
        if len({self._procedures[name][0].kind for name in names if name in self._procedures}) > 1:
            raise Refusal("BAD_REQUEST", "Cannot mix procedure types in call: query, mutation")

        inputs = await inputs_of(request, is_batch)
        answers: list[bytes] = []
        statuses = set()
        for position, name in enumerate(names):
            try:
                data = await self._one(request.method, name, inputs, position, caller, around)
                # Without an output there is no `data`.
                answers.append(b'{"result":{"data":%s}}' % data if data else b'{"result":{}}')
                statuses.add(200)
            except Exception as failure:
                refusal = refusal_of(failure)
                answers.append(refusal.envelope(name))
                statuses.add(refusal.status)
        status = statuses.pop() if len(statuses) == 1 else 207
        return Response(status, b"[%s]" % b",".join(answers) if is_batch else answers[0])

    async def _one(
        self, method: str, name: str, inputs: Inputs, position: int, caller: Caller, around: Around
    ) -> bytes:
        found = self._procedures.get(name)
        if found is None:
            raise Refusal("NOT_FOUND", f'No procedure found on path "{name}"')
        described, procedure = found
        if method != ("GET" if described.kind == "query" else "POST"):
            message = f'Unsupported {method}-request to {described.kind} procedure at path "{name}"'
            raise Refusal("METHOD_NOT_SUPPORTED", message)
        check_access(described, caller)
        try:
            input = None if procedure.input is None else inputs.of(position)
            if inputs.is_large:
                values = await asyncio.to_thread(procedure.values, input)
            else:
                values = procedure.values(input)
        except (Refusal, PorticoError):
            if described.access.tag == "onboarding":
                await self._check_onboarding()
            raise

        async def call(caller: Caller) -> bytes:
            answer: bytes = await self._run(
                procedure.interface, procedure.function, caller, *values, then=procedure.answer
            )
            return answer

        return await around(name, caller, call)

    async def _check_onboarding(self) -> None:
        """Refuses while there are users, whatever the input is. No user has this name, so none is created."""
        try:
            await self._init_user(Caller(), NewAccount(username="", password=""))
        except PorticoError as error:
            if error.code != "bad-request" or isinstance(error, CallFailed):
                raise


def check_access(procedure: Procedure, caller: Caller) -> None:
    """Checks access; needs no input. The component checks again."""
    access = procedure.access
    if access.tag in ("public", "onboarding"):
        return
    if caller.user is None:
        raise Refusal("UNAUTHORIZED", "Sign in first")
    if access.tag == "one-of" and not set(access.value) & set(caller.user.permissions):
        raise Refusal("FORBIDDEN", "You may not do this")


def check_content_type(header: str | None) -> None:
    """Whether a content type is JSON, with any parameters."""
    if header is None:
        raise Refusal("UNSUPPORTED_MEDIA_TYPE", "Missing content-type header")
    if header.partition(";")[0].strip().lower() != "application/json":
        raise Refusal("UNSUPPORTED_MEDIA_TYPE", f'Unsupported content-type "{header}"')


async def inputs_of(request: Request, is_batch: bool) -> Inputs:
    """The inputs of a request. A `Refusal` applies to each call that reads its input."""
    if request.method == "GET":
        text: str | bytes | None = next(iter(request.query.get("input", [])), None)
    else:
        text = await request.body()
        if text is None:
            refusal = Refusal("PAYLOAD_TOO_LARGE", f"A request's body has at most {BODY} bytes")
            return Inputs(refusal, is_batch, False)
    is_large = text is not None and len(text) > LARGE_INPUT
    value = await asyncio.to_thread(parsed, text) if is_large else parsed(text)
    return Inputs(value, is_batch, is_large)
