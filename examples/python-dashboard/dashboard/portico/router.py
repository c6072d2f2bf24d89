"""The procedures for unmodified tRPC clients (`httpLink`, `httpBatchLink`; plain JSON), built from what the
component describes.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .component import ANONYMOUS, Call, Component, Failed, Invocation, Refused
from .hashing import Hashing
from .procedures import Procedure
from .values import Record, Variant

LOG = logging.getLogger(__name__)

#: The most bytes of a request's body.
BODY = 16 << 20
#: The most calls in a request.
BATCH = 256

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
#: The codes of the contract. A code of a later version is like `internal`.
REFUSALS = {
    "bad-request": "BAD_REQUEST",
    "unauthorized": "UNAUTHORIZED",
    "forbidden": "FORBIDDEN",
    "not-found": "NOT_FOUND",
    "conflict": "CONFLICT",
    "unavailable": "SERVICE_UNAVAILABLE",
}


@dataclass
class Error(Exception):
    """The error that a client gets."""

    code: str
    message: str
    #: Every broken rule: its path and its message.
    issues: list[tuple[list[str | int], str]] = field(default_factory=list)

    @property
    def status(self) -> int:
        """Of HTTP."""
        return CODES[self.code][1]

    def envelope(self, path: str | None = None) -> dict[str, Any]:
        """The error in tRPC's form, with the broken rules by field, as its clients expect."""
        number, status = CODES[self.code]
        fields: dict[str, list[str]] = {}
        for at, message in self.issues:
            if at:
                fields.setdefault(str(at[0]), []).append(message)
        form = [message for at, message in self.issues if not at]
        broken = {"formErrors": form, "fieldErrors": fields} if self.issues else None
        data = {"code": self.code, "httpStatus": status, "path": path, "zodError": broken}
        if path is None:
            del data["path"]
        return {"error": {"message": self.message, "code": number, "data": data}}


def error_of(failure: Exception) -> Error:
    """The error that a client gets for an exception."""
    if isinstance(failure, Error):
        return failure
    if isinstance(failure, Refused):
        refused = failure.error
        code = REFUSALS.get(refused.code.tag, "INTERNAL_SERVER_ERROR")
        issues = [([step.payload for step in issue.path], issue.message) for issue in refused.issues]
        return Error(code, refused.message, issues)
    LOG.error("A call failed", exc_info=failure)
    return Error("INTERNAL_SERVER_ERROR", "Internal server error")


def check(access: Variant, user: Record | None, has_users: Callable[[], bool]) -> None:
    """Checks access; needs no input. The component checks again."""
    if access.tag == "public":
        return
    if access.tag == "onboarding":
        if has_users():
            raise Error("FORBIDDEN", "There are users already")
        return
    if user is None:
        raise Error("UNAUTHORIZED", "Sign in first")
    if access.tag == "one-of" and not set(access.payload or []) & set(user.permissions):
        raise Error("FORBIDDEN", "You may not do this")


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parsed(text: str | bytes | None) -> Any:
    """A JSON value, None without an input, or the `Error`."""
    if not text:
        return None
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        return Error("BAD_REQUEST", f"The input is not JSON: {error}")


class Router:
    """Answers requests for procedures."""

    def __init__(
        self,
        component: Component,
        hashing: Hashing,
        procedures: dict[str, Procedure],
        call_of: Callable[[Request], Call],
        has_users: Callable[[], bool],
    ) -> None:
        self._component = component
        self._hashing = hashing
        self._procedures = procedures
        self._call_of = call_of
        self._has_users = has_users
        described = component.run(ANONYMOUS, Invocation("procedures", "describe"))
        self._described: dict[str, Record] = {procedure.name: procedure for procedure in described}
        if differing := self._described.keys() ^ procedures.keys():
            names = ", ".join(sorted(differing))
            raise Failed(f"either the component or procedures.json alone has: {names}")

    async def __call__(self, request: Request) -> Response:
        """The answer to any request: a tRPC envelope."""
        if request.method == "HEAD":
            return Response(status_code=204)
        try:
            return await self._answer(request)
        except Exception as failure:
            error = error_of(failure)
            return JSONResponse(error.envelope(), error.status)

    async def _answer(self, request: Request) -> Response:
        path: str = request.path_params["path"]
        if request.method != "GET":
            check_content_type(request.headers.get("content-type"))
        is_batch = request.query_params.getlist("batch")[:1] == ["1"]
        names = path.split(",") if is_batch else [path]
        if len(names) > BATCH:
            raise Error("BAD_REQUEST", f"A batch has at most {BATCH} calls")
        kinds = {self._described[name].kind for name in names if name in self._described}
        if len(kinds) > 1:
            raise Error("BAD_REQUEST", "Cannot mix procedure types in call: query, mutation")

        inputs = await inputs_of(request)
        call = self._call_of(request)
        answers = []
        statuses = set()
        for position, name in enumerate(names):
            which = position if is_batch else None
            # Lets other requests run between two calls of a batch.
            await asyncio.sleep(0)
            try:
                data = await self._one(request.method, name, partial(of, inputs, which), call)
                # Without an output there is no `data`.
                answers.append({"result": {} if data is None else {"data": data}})
                statuses.add(200)
            except Exception as failure:
                error = error_of(failure)
                answers.append(error.envelope(name))
                statuses.add(error.status)
        status = statuses.pop() if len(statuses) == 1 else 207
        return JSONResponse(answers if is_batch else answers[0], status)

    async def _one(self, method: str, name: str, input: Callable[[], Any], call: Call) -> Any:
        described = self._described.get(name)
        if described is None:
            raise Error("NOT_FOUND", f'No procedure found on path "{name}"')
        if method != ("GET" if described.kind == "query" else "POST"):
            message = f'Unsupported {method}-request to {described.kind} procedure at path "{name}"'
            raise Error("METHOD_NOT_SUPPORTED", message)
        check(described.access, call.user, self._has_users)

        procedure = self._procedures[name]
        invocation = procedure.invocation(None if procedure.input is None else input())
        if described.cost == "hash":
            return procedure.answer(await self._hashing.run(call, invocation))
        return procedure.answer(self._component.run(call, invocation))


def check_content_type(header: str | None) -> None:
    """Whether a content type is JSON, with any parameters."""
    if header is None:
        raise Error("UNSUPPORTED_MEDIA_TYPE", "Missing content-type header")
    if header.partition(";")[0].strip().lower() != "application/json":
        raise Error("UNSUPPORTED_MEDIA_TYPE", f'Unsupported content-type "{header}"')


async def inputs_of(request: Request) -> Any:
    """The JSON of a request, or None. An `Error` applies to each call that reads its input."""
    if request.method == "GET":
        return parsed(next(iter(request.query_params.getlist("input")), None))
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY:
            return Error("PAYLOAD_TOO_LARGE", f"A request's body has at most {BODY} bytes")
    return parsed(bytes(body))


def of(inputs: Any, position: int | None) -> Any:
    """The input of a call. The inputs of a batch are an object, by position."""
    if isinstance(inputs, Error):
        raise inputs
    if inputs is None or position is None:
        return inputs
    if not isinstance(inputs, dict):
        raise Error("BAD_REQUEST", '"input" needs to be an object when doing a batch call')
    return inputs.get(str(position))
