"""Values of the contract in Python.

| WIT                          | Python                                                               |
|------------------------------|----------------------------------------------------------------------|
| `option<t>`                  | None, or the value                                                   |
| `record`                     | `Record`, its fields with underscores: `app.icon_url`                |
| `variant`, `result`          | `Variant("ok", value)`: always with its tag                          |
| `enum`                       | its case as a text                                                   |
| `tuple`, `list`, `list<u8>`  | `tuple`, `list`, `bytes`                                             |
"""

from typing import Any

from wasmtime import component as wasm
from wasmtime.component import Variant

__all__ = ["Record", "Variant", "from_component"]

# By default wasmtime leaves the tag out if the cases have different Python types, and then guesses the case.
# For `result<option<app>, error>` the guess is wrong: an error is taken for an app without fields. With the
# tag always present, nothing is guessed.
for _type in (wasm.ResultType, wasm.VariantType):
    _type._tagged = lambda self: True  # type: ignore[method-assign]


class Record(wasm.Record):
    """A record of the contract. wasmtime reads its fields by their WIT names (`icon-url`)."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__[name.replace("-", "_")]
        except KeyError:
            raise AttributeError(f"there is no field {name}") from None

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def from_component(value: Any) -> Any:
    """Converts a value from wasmtime, with `Record` in place of its own records."""
    match value:
        case wasm.Record():
            fields = value.__dict__.items()
            return Record(**{name.replace("-", "_"): from_component(item) for name, item in fields})
        case Variant(tag, payload):
            return Variant(tag, from_component(payload))
        case list():
            return [from_component(item) for item in value]
        case tuple():
            return tuple(from_component(item) for item in value)
    return value
