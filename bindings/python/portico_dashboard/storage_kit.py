"""A bridge between the storage kit and a dashboard's storage: JSON lines on standard input and output, as
storage-kit/README.md of the repository describes them. The dashboard adds the kit's calls for what lies outside the
contract: groups, invites, sessions and so on.

    run(MyStorage(), {"hello": …, "put-group": …})
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import contract, wire
from .contract import Caller, UserCaller
from .errors import StorageError
from .storage import Storage

_FUNCTIONS = wire.FUNCTIONS["storage"]


class Unsupported(Exception):
    """The dashboard has no such thing."""


def from_kit(type: Any, value: Any) -> Any:
    """A value in the kit's form as storage gets it."""
    match type:
        case ("list", item):
            return [from_kit(item, one) for one in value]
        case ("option", item):
            return None if value is None else from_kit(item, value)
        case ("ref", name):
            kind, title, members = wire.TYPES[name]
            if kind == "record":
                fields = {_snake(member): from_kit(of, value[member]) for member, of in members}
                return getattr(contract, title)(**fields)
            if kind == "variant":
                [(case, payload)] = value.items() if isinstance(value, dict) else [(value, None)]
                of = dict(members)[case]
                class_ = getattr(contract, title + "".join(part.capitalize() for part in case.split("-")))
                return class_() if of is None else class_(from_kit(of, payload))
    return value


def to_kit(value: Any) -> Any:
    """What storage returns, in the kit's form."""
    if isinstance(value, list):
        return [to_kit(one) for one in value]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {name: to_kit(one) for name, one in value.items()}
    if hasattr(value, "tag"):
        return {value.tag: to_kit(getattr(value, "value", None))}
    return {name.replace("_", "-"): to_kit(one) for name, one in vars(value).items()}


def _snake(name: str) -> str:
    return name.replace("-", "_")


def _parameters(call: str) -> list[tuple[str, Any]]:
    for item in (f"[method]transaction.{call}", f"[static]transaction.{call}"):
        if item in _FUNCTIONS:
            return [one for one in _FUNCTIONS[item][0] if one[0] not in ("self", "this")]
    raise Unsupported(call)


class Bridge:
    """The kit's calls, over a storage and the dashboard's own functions by the kit's names for them. These get the
    arguments by name, with underscores."""

    def __init__(self, storage: Storage, own: Mapping[str, Callable[..., Any]]) -> None:
        self._storage = storage
        self._own = own
        self._transactions: dict[str, Any] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        call, arguments = request["call"], request["arguments"]
        try:
            if "transaction" in request:
                return {"ok": to_kit(self._in_transaction(request["transaction"], call, arguments))}
            if call not in self._own:
                raise Unsupported(f"{call}: this dashboard has no such thing")
            return {"ok": to_kit(self._own[call](**{_snake(key): value for key, value in arguments.items()}))}
        except Unsupported as unsupported:
            return {"error": {"unsupported": str(unsupported)}}
        except StorageError as error:
            return {"error": to_kit(error.refusal())}

    def _in_transaction(self, name: str, call: str, arguments: dict[str, Any]) -> Any:
        if call == "begin":
            user = arguments["user"] and UserCaller(id=arguments["user"], permissions=[])
            caller = Caller(user=user, context=arguments["session"] or "")
            self._transactions[name] = self._storage.begin(arguments["access"], caller)
            return None
        if call == "drop":
            return self._transactions.pop(name).drop()
        if call == "commit":
            transaction = self._transactions.pop(name)
            try:
                return transaction.commit()
            finally:
                transaction.drop()
        values = [from_kit(type, arguments[parameter]) for parameter, type in _parameters(call)]
        return getattr(self._transactions[name], _snake(call))(*values)


def run(storage: Storage, own: Mapping[str, Callable[..., Any]]) -> None:
    """Answers until standard input ends."""
    bridge = Bridge(storage, own)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **bridge.answer(request)}), flush=True)
