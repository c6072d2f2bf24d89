"""Whether the functions of a component have the types that `wire.py` says. The codecs rest on that: they read the memory of a
value as what its type should be. It is checked once for each function, before it is linked or called.
"""

from typing import Any

from wasmtime import component as wasm

from . import wire
from .codec import RESOURCE_TYPES

_PRIMITIVES: dict[str, type] = {
    "bool": wasm.Bool,
    "string": wasm.String,
    "u8": wasm.U8,
    "u16": wasm.U16,
    "u32": wasm.U32,
    "u64": wasm.U64,
    "s64": wasm.S64,
}

_DATETIME = ("record", [("seconds", "u64"), ("nanoseconds", "u32")])

#: The functions of WASI that this host offers.
_WASI: dict[tuple[str, str], tuple[list[tuple[str, Any]], Any]] = {
    ("wasi:clocks/wall-clock", "now"): ([], _DATETIME),
    ("wasi:clocks/wall-clock", "resolution"): ([], _DATETIME),
    ("wasi:random/random", "get-random-bytes"): ([("len", "u64")], ("list", "u8")),
    ("wasi:random/random", "get-random-u64"): ([], "u64"),
}


def has_type(interface: str, function: str, found: object) -> bool:
    """Whether a function of a component has the type that this host knows."""
    if not isinstance(found, wasm.FuncType):
        return False
    known = _WASI.get((interface, function)) or wire.FUNCTIONS[interface][function]
    parameters, result = known
    given = found.params
    return (
        len(given) == len(parameters)
        and all(_is(type, is_given) for (_, type), (_, is_given) in zip(parameters, given, strict=True))
        and _is(result, found.result)
    )


def _is(type: Any, found: object) -> bool:
    """Whether a type of the component is this one."""
    match type:
        case None:
            return found is None
        case str():
            return isinstance(found, _PRIMITIVES[type])
        case ("list", item):
            return isinstance(found, wasm.ListType) and _is(item, found.element)
        case ("option", item):
            return isinstance(found, wasm.OptionType) and _is(item, found.payload)
        case ("borrow", _):
            return isinstance(found, wasm.BorrowType)
        case ("result", *payloads):
            ok, err = [*payloads, None, None][:2]
            return isinstance(found, wasm.ResultType) and _is(ok, found.ok) and _is(err, found.err)
        case ("record", members):
            return isinstance(found, wasm.RecordType) and _are(members, found.fields)
        case ("ref", name) if name in RESOURCE_TYPES:
            return isinstance(found, wasm.OwnType)
        case ("ref", name):
            kind, _, members = wire.TYPES[name]
            if kind == "enum":
                return isinstance(found, wasm.EnumType) and found.names == [member for member, _ in members]
            if kind == "variant":
                return isinstance(found, wasm.VariantType) and _are(members, found.cases)
            return isinstance(found, wasm.RecordType) and _are(members, found.fields)
    return False


def _are(members: list[tuple[str, Any]], found: list[tuple[str, Any]]) -> bool:
    return len(members) == len(found) and all(
        name == given and _is(type, is_given)
        for (name, type), (given, is_given) in zip(members, found, strict=True)
    )
