"""The inputs of the procedures and how they become calls, as contract/procedures.json of the repository states them: that
file also describes its own format. Names, kinds and access come from the component (`describe`), which checks bounds and
rules.
"""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from .contract import TextChange, TextChangeClear, TextChangeKeep, TextChangeSet
from .errors import Issue, PorticoError

#: The most issues that one error lists.
MOST_ISSUES = 50
#: Fields of records that are times.
TIMES = {"email_verified"}


def is_text(value: Any) -> bool:
    """A text without halves of surrogate pairs, which Python's JSON accepts."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_integer(value: Any) -> bool:
    """A whole number. JSON has one kind of number: 5.0 is 5."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


#: The types of JSON: what they are called, and which values they have.
TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a text", is_text),
    "integer": ("a whole number", is_integer),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "null": ("null", lambda value: value is None),
}


class Absent:
    """The value of a key that an input does not have."""


def fault(schema: dict[str, Any], types: list[str], value: Any) -> str | None:
    """The rule of a schema that a value itself breaks, without its items and members."""
    nouns = " or ".join(TYPES[name][0] for name in types)
    if value is Absent:
        return f"is required: {nouns}"
    if not any(TYPES[name][1](value) for name in types):
        return f"must be {nouns}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(schema['enum'])}"
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        return f"must be a whole number from {schema['minimum']} to {schema['maximum']}"
    return None


def check(issues: list[Issue], schema: dict[str, Any], value: Any, path: tuple[str | int, ...]) -> Any:
    """Adds the rules of a schema that a value breaks. Returns the value, its numbers as integers."""
    if len(issues) == MOST_ISSUES:
        return None
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if broken := fault(schema, types, value):
        issues.append(Issue(path, broken))
        return None
    if types == ["integer"]:
        return int(value)
    if isinstance(value, list):
        items = schema["items"]
        return [check(issues, items, item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        required = schema.get("required", [])
        return {
            key: check(issues, item, value.get(key, Absent), (*path, key))
            for key, item in schema["properties"].items()
            if key in value or key in required
        }
    return value


def change(value: Any) -> TextChange:
    """`types.text-change`."""
    if value is Absent:
        return TextChangeKeep()
    return TextChangeClear() if value is None else TextChangeSet(value)


def value_of(expression: dict[str, Any], input: Any) -> Any:
    """The value of an expression."""
    match expression:
        case {"key": key}:
            return None if input is None else input.get(key)
        case {"change": key}:
            return change(input.get(key, Absent))
        case {"record": fields}:
            values = {name.replace("-", "_"): value_of(field, input) for name, field in fields.items()}
            return SimpleNamespace(**values)
        case {"each": item}:
            return [value_of(item, one) for one in input]
        case {"input": True}:
            return input
    raise ValueError(f"an expression that is not known: {expression}")


@functools.cache
def camel(name: str) -> str:
    """`email_verified` as `emailVerified`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def plain(value: Any) -> Any:
    """An answer in the form that clients read."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int):
        return value
    fields = value.__dict__.items()
    return {camel(name): date(item) if name in TIMES else plain(item) for name, item in fields}


def date(moment: int | None) -> str | None:
    """RFC 3339, with milliseconds."""
    if moment is None:
        return None
    day = datetime.fromtimestamp(moment // 1_000, UTC)
    return f"{day:%Y-%m-%dT%H:%M:%S}.{moment % 1_000:03}Z"


def created(app: Any) -> Any:
    """An app that was created."""
    return {"appId": app.id, **plain(app)}


#: The answers that are more than what the component answers.
ANSWERS: dict[str, Callable[[Any], Any]] = {
    "user.initUser": lambda id: {"id": id},
    "user.register": lambda id: {"id": id},
    "user.create": lambda id: {"id": id},
    "app.create": created,
    "app.createMany": lambda apps: [created(app) for app in apps],
}


@dataclass(frozen=True)
class Inputs:
    """A procedure of the file."""

    name: str
    interface: str
    function: str
    #: Expressions for what follows the caller.
    parameters: list[dict[str, Any]]
    #: The schema of the input; None if it is ignored.
    input: dict[str, Any] | None = None
    #: Whether the input may be absent.
    optional: bool = False

    def values(self, input: Any) -> list[Any]:
        """The arguments after the caller that an input becomes. Raises `PorticoError` if it does not have the right
        types."""
        if self.input is None or (self.optional and input is None):
            input = None
        else:
            issues: list[Issue] = []
            # A router does not tell an absent input from null, and no input may be null.
            input = check(issues, self.input, Absent if input is None else input, ())
            if issues:
                raise PorticoError("bad-request", "The input breaks rules", tuple(issues))
        return [value_of(item, input) for item in self.parameters]

    def answer(self, output: Any) -> bytes:
        """What a client gets: JSON, or nothing."""
        if output is None:
            return b""
        answer = ANSWERS.get(self.name, plain)(output)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def read(text: bytes) -> dict[str, Inputs]:
    """The procedures of contract/procedures.json."""
    return {one["name"]: Inputs(**one) for one in json.loads(text)["procedures"]}
