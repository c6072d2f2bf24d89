"""Values of the contract between Python and the component.

Each type of `wire.py` has one codec, made once. `lower` writes a value into memory of Python's: a `Frame` keeps that
alive. wasmtime reads it, or clones it. `lift` reads memory of wasmtime's, and takes nothing of it over.
"""

import struct
from collections.abc import Callable
from ctypes import string_at
from dataclasses import dataclass, field
from typing import Any

from . import capi, contract, wire
from .errors import WrongShape

_PAIR = struct.Struct("<QQ8x")
_CASE = struct.Struct("<QQQ")
_RESULT = struct.Struct("<?7xQ8x")
_POINTER = struct.Struct("<Q16x")
_BYTE = [struct.pack("<B7xB23x", capi.U8, byte) for byte in range(256)]

#: The numbers of the types of resources, for wasmtime.
RESOURCE_TYPES = {"storage.transaction": 1, "sql/database.transaction": 2}


@dataclass
class Frame:
    """What values that were lowered point to, for one call of a function."""

    context: int
    memory: list[bytes] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)

    def hold(self, memory: bytes) -> int:
        """The address of bytes that stay as long as this frame."""
        self.memory.append(memory)
        found: int = capi.address(memory)
        return found

    def release(self) -> None:
        """Deletes the handles that were made for values. Those that were cloned live on."""
        for handle in self.handles:
            capi.delete_resource(handle)
        self.handles.clear()


Lower = Callable[[Any, Frame], bytes]
Lift = Callable[[bytes, Frame], Any]


@dataclass(frozen=True)
class Codec:
    """Converts the values of one type."""

    #: The 32 bytes of a value.
    lower: Lower
    #: The value of the 24 bytes of content.
    lift: Lift


def _scalar(kind: int, format: str, wanted: str, fits: Callable[[Any], bool]) -> Codec:
    write = struct.Struct(f"<B7x{format}{24 - struct.calcsize(format)}x").pack
    read = struct.Struct(f"<{format}").unpack_from

    def lower(value: Any, frame: Frame) -> bytes:
        if not fits(value):
            raise WrongShape(wanted, value)
        return write(kind, value)

    return Codec(lower, lambda content, frame: read(content)[0])


def _integer(kind: int, format: str, least: int, most: int) -> Codec:
    def fits(value: Any) -> bool:
        return type(value) is int and least <= value <= most

    return _scalar(kind, format, f"an int from {least} to {most}", fits)


def _text(kind: int) -> Codec:
    write = struct.Struct("<B7xQQ8x").pack
    read = _PAIR.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        if not isinstance(value, str):
            raise WrongShape("a str", value)
        try:
            encoded = value.encode()
        except UnicodeEncodeError:
            raise WrongShape("a str without halves of surrogate pairs", value) from None
        return write(kind, len(encoded), frame.hold(encoded))

    def lift(content: bytes, frame: Frame) -> str:
        size, data = read(content)
        return string_at(data, size).decode() if size else ""

    return Codec(lower, lift)


def _bytes() -> Codec:
    write = struct.Struct("<B7xQQ8x").pack
    read = _PAIR.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        if not isinstance(value, bytes | bytearray | memoryview):
            raise WrongShape("bytes", value)
        memory = b"".join([_BYTE[byte] for byte in bytes(value)])
        return write(capi.LIST, len(value), frame.hold(memory))

    def lift(content: bytes, frame: Frame) -> bytes:
        size, data = read(content)
        return string_at(data, size * capi.VALUE)[8 :: capi.VALUE] if size else b""

    return Codec(lower, lift)


def _list(item: Codec) -> Codec:
    write = struct.Struct("<B7xQQ8x").pack
    read = _PAIR.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        if not isinstance(value, list | tuple):
            raise WrongShape("a list", value)
        parts = []
        for index, one in enumerate(value):
            try:
                parts.append(item.lower(one, frame))
            except WrongShape as wrong:
                raise wrong.within(index) from None
        return write(capi.LIST, len(parts), frame.hold(b"".join(parts)))

    def lift(content: bytes, frame: Frame) -> list[Any]:
        size, data = read(content)
        if not size:
            return []
        memory, one = string_at(data, size * capi.VALUE), item.lift
        return [one(memory[at : at + 24], frame) for at in range(8, size * capi.VALUE, capi.VALUE)]

    return Codec(lower, lift)


def _option(item: Codec) -> Codec:
    none = struct.pack("<B31x", capi.OPTION)
    write = struct.Struct("<B7xQ16x").pack
    read = _POINTER.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        return none if value is None else write(capi.OPTION, frame.hold(item.lower(value, frame)))

    def lift(content: bytes, frame: Frame) -> Any:
        (data,) = read(content)
        return item.lift(string_at(data + 8, 24), frame) if data else None

    return Codec(lower, lift)


@dataclass(frozen=True)
class Err:
    """The error of a `result`."""

    value: Any


def _result(ok: Codec | None, err: Codec | None) -> Codec:
    write = struct.Struct("<B7x?7xQ8x").pack
    read = _RESULT.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        if isinstance(value, Err):
            assert err is not None
            return write(capi.RESULT, False, frame.hold(err.lower(value.value, frame)))
        if ok is None:
            if value is not None:
                raise WrongShape("None", value)
            return write(capi.RESULT, True, 0)
        return write(capi.RESULT, True, frame.hold(ok.lower(value, frame)))

    def lift(content: bytes, frame: Frame) -> Any:
        is_ok, data = read(content)
        payload = ok if is_ok else err
        value = payload.lift(string_at(data + 8, 24), frame) if payload and data else None
        return value if is_ok else Err(value)

    return Codec(lower, lift)


def _record(class_: type, members: list[tuple[str, Codec]]) -> Codec:
    names = [_python_name(name) for name, _ in members]
    codecs = [codec for _, codec in members]
    keys = [name.encode() for name, _ in members]
    constants = [(len(key), capi.address(key)) for key in keys]
    entries = struct.Struct("<" + "QQ32s" * len(members))
    write = struct.Struct("<B7xQQ8x").pack
    read = _PAIR.unpack
    contents = struct.Struct("<" + "24x24s" * len(members)).unpack
    size_of_all = entries.size
    pairs = list(zip(names, codecs, constants, strict=True))
    lifts = [codec.lift for codec in codecs]
    new: Callable[[type], Any] = object.__new__

    def lower(value: Any, frame: Frame, keys: list[bytes] = keys) -> bytes:
        parts: list[Any] = []
        for name, codec, (size, data) in pairs:
            try:
                parts += (size, data, codec.lower(getattr(value, name), frame))
            except AttributeError:
                raise WrongShape(f"a {class_.__name__}", value) from None
            except WrongShape as wrong:
                raise wrong.within(name) from None
        return write(capi.RECORD, len(pairs), frame.hold(entries.pack(*parts)))

    def lift(content: bytes, frame: Frame) -> Any:
        _, data = read(content)
        found = new(class_)
        values = found.__dict__
        for name, one, memory in zip(names, lifts, contents(string_at(data, size_of_all)), strict=True):
            values[name] = one(memory, frame)
        return found

    return Codec(lower, lift)


def _enum(cases: list[str]) -> Codec:
    text = _text(capi.ENUM)

    def lower(value: Any, frame: Frame) -> bytes:
        if value not in cases:
            raise WrongShape(f"one of {', '.join(cases)}", value)
        return text.lower(value, frame)

    return Codec(lower, text.lift)


def _variant(name: str, cases: list[tuple[str, Codec | None]]) -> Codec:
    write = struct.Struct("<B7xQQQ").pack
    read = _CASE.unpack
    known: dict[str, tuple[Any, Codec | None, bytes]] = {}
    by_class: dict[type, tuple[bytes, Codec | None]] = {}
    for case, codec in cases:
        class_ = getattr(contract, name + "".join(part.capitalize() for part in case.split("-")))
        known[case] = (class_, codec, case.encode())
        by_class[class_] = (case.encode(), codec)

    def lower(value: Any, frame: Frame) -> bytes:
        found = by_class.get(type(value))
        if found is None:
            raise WrongShape(f"a {name}: {', '.join(class_.__name__ for class_ in by_class)}", value)
        key, codec = found
        payload = 0 if codec is None else frame.hold(codec.lower(value.value, frame))
        return write(capi.VARIANT, len(key), capi.address(key), payload)

    def lift(content: bytes, frame: Frame) -> Any:
        size, key, data = read(content)
        class_, codec, _ = known[string_at(key, size).decode()]
        return class_() if codec is None else class_(codec.lift(string_at(data + 8, 24), frame))

    return Codec(lower, lift)


def _resource(name: str) -> Codec:
    """A handle, as the host's number of the resource."""
    write = struct.Struct("<B7xQ16x").pack
    read = _POINTER.unpack

    def lower(value: Any, frame: Frame) -> bytes:
        handle = capi.own_handle(frame.context, value, RESOURCE_TYPES[name])
        frame.handles.append(handle)
        return write(capi.RESOURCE, handle)

    def lift(content: bytes, frame: Frame) -> int:
        return capi.number_of_handle(frame.context, read(content)[0])

    return Codec(lower, lift)


def _python_name(name: str) -> str:
    return name.replace("-", "_")


_PRIMITIVES = {
    "bool": _scalar(capi.BOOL, "?", "a bool", lambda value: isinstance(value, bool)),
    "u8": _integer(capi.U8, "B", 0, (1 << 8) - 1),
    "u16": _integer(capi.U16, "H", 0, (1 << 16) - 1),
    "u32": _integer(capi.U32, "I", 0, (1 << 32) - 1),
    "u64": _integer(capi.U64, "Q", 0, (1 << 64) - 1),
    "s64": _integer(capi.S64, "q", -(1 << 63), (1 << 63) - 1),
    "string": _text(capi.STRING),
}

_made: dict[str, Codec] = {}


def codec_of(type: Any) -> Codec:
    """The codec of a type, as `wire.py` writes it."""
    match type:
        case str():
            return _PRIMITIVES[type]
        case ("list", "u8"):
            return _bytes()
        case ("list", item):
            return _list(codec_of(item))
        case ("option", item):
            return _option(codec_of(item))
        case ("borrow", item):
            return codec_of(item)
        case ("result", *payloads):
            ok, err = [*payloads, None, None][:2]
            return _result(ok and codec_of(ok), err and codec_of(err))
        case ("ref", name):
            if name not in _made:
                _made[name] = _named(name)
            return _made[name]
    raise ValueError(f"{type}")


def _named(name: str) -> Codec:
    if name in RESOURCE_TYPES:
        return _resource(name)
    kind, title, members = wire.TYPES[name]
    if kind == "enum":
        return _enum([member for member, _ in members])
    if kind == "variant":
        return _variant(title, [(member, type and codec_of(type)) for member, type in members])
    return _record(getattr(contract, title), [(member, codec_of(type)) for member, type in members])


@dataclass(frozen=True)
class Signature:
    """The parameters and the result of a function."""

    names: list[str]
    parameters: list[Codec]
    result: Codec | None

    def lower_arguments(self, values: tuple[Any, ...], frame: Frame) -> bytes:
        """The arguments as wasmtime reads them. Raises `WrongShape`."""
        if len(values) != len(self.parameters):
            raise WrongShape(f"{len(self.parameters)} arguments", values)
        parts = []
        for name, codec, value in zip(self.names, self.parameters, values, strict=True):
            try:
                parts.append(codec.lower(value, frame))
            except WrongShape as wrong:
                raise wrong.within(_python_name(name)) from None
        return b"".join(parts)


_signatures: dict[tuple[str, str], Signature] = {}


def signature(interface: str, function: str) -> Signature:
    """Of a function of the contract. Raises `KeyError` if it is not known."""
    key = (interface, function)
    if key not in _signatures:
        parameters, result = wire.FUNCTIONS[interface][function]
        codecs = [codec_of(type) for _, type in parameters]
        names = [name for name, _ in parameters]
        _signatures[key] = Signature(names, codecs, codec_of(result) if result is not None else None)
    return _signatures[key]


@dataclass
class Datetime:
    """`wasi:clocks/wall-clock.datetime`."""

    seconds: int
    nanoseconds: int


_DATETIME = _record(Datetime, [("seconds", codec_of("u64")), ("nanoseconds", codec_of("u32"))])

_signatures |= {
    ("wasi:clocks/wall-clock", "now"): Signature([], [], _DATETIME),
    ("wasi:clocks/wall-clock", "resolution"): Signature([], [], _DATETIME),
    ("wasi:random/random", "get-random-bytes"): Signature(["len"], [codec_of("u64")], _bytes()),
    ("wasi:random/random", "get-random-u64"): Signature([], [], codec_of("u64")),
}
