"""The inputs of the procedures and how they become calls of the component, as contract/procedures.json of the
repository states them. That file also describes its own format. The component describes names, kinds and access
(`describe`), and checks bounds and rules.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .component import Invocation, bad_input
from .values import Record, Variant

#: The most issues that one error lists.
MOST_ISSUES = 50

#: Fields of records that are times.
TIMES = {"email_verified"}

Issues = list[tuple[list[str | int], str]]


def is_text(value: Any) -> bool:
    """A text without unpaired surrogates, which Python's JSON accepts."""
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


def check(issues: Issues, schema: dict[str, Any], value: Any, path: list[str | int]) -> Any:
    """Adds the rules of a schema that a value breaks. Returns the value, its numbers as integers."""
    if len(issues) == MOST_ISSUES:
        return None
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if broken := fault(schema, types, value):
        issues.append((path, broken))
        return None
    if types == ["integer"]:
        return int(value)
    if isinstance(value, list):
        items = schema["items"]
        return [check(issues, items, item, [*path, index]) for index, item in enumerate(value)]
    if isinstance(value, dict):
        required = schema.get("required", [])
        return {
            key: check(issues, item, value.get(key, Absent), [*path, key])
            for key, item in schema["properties"].items()
            if key in value or key in required
        }
    return value


def change(value: Any) -> Variant:
    """`types.text-change`."""
    if value is Absent:
        return Variant("keep")
    return Variant("clear") if value is None else Variant("set", value)


def snake(name: str) -> str:
    """`email-verified` as `email_verified`."""
    return name.replace("-", "_")


def camel(name: str) -> str:
    """`email_verified` as `emailVerified`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def value_of(expression: dict[str, Any], input: Any) -> Any:
    """The value of an expression."""
    match expression:
        case {"key": key}:
            return None if input is None else input.get(key)
        case {"change": key}:
            return change(input.get(key, Absent))
        case {"record": fields}:
            return Record(**{snake(name): value_of(field, input) for name, field in fields.items()})
        case {"each": item}:
            return [value_of(item, one) for one in input]
        case {"input": True}:
            return input
    raise ValueError(f"an expression that is not known: {expression}")


def plain(value: Any) -> Any:
    """Converts an answer to the form that clients read."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, Record):
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
class Procedure:
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

    def invocation(self, input: Any) -> Invocation:
        """The call that an input becomes. Raises `Refused` if it does not have the right types."""
        if self.input is None or (self.optional and input is None):
            input = None
        else:
            issues: Issues = []
            # The router does not tell an absent input from null, and no input may be null.
            input = check(issues, self.input, Absent if input is None else input, [])
            if issues:
                raise bad_input(issues)
        return Invocation(
            self.interface, self.function, tuple(value_of(item, input) for item in self.parameters)
        )

    def answer(self, output: Any) -> Any:
        """What a client gets."""
        return None if output is None else ANSWERS.get(self.name, plain)(output)


def read(file: Path) -> dict[str, Procedure]:
    """The procedures of contract/procedures.json."""
    procedures = json.loads(file.read_text("utf-8"))["procedures"]
    return {procedure["name"]: Procedure(**procedure) for procedure in procedures}
