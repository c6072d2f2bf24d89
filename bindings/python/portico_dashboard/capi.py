"""The part of wasmtime's C API that converts values and calls functions.

The package `wasmtime` carries that library. Its own converters build the type of each value anew with every call, and
leave out the tag of a `result` where the cases look different in Python, so that an error may be taken for a value. Here
the types are known beforehand (`wire.py`). Everything else is done by the package's own classes.

The layouts below are those of `wasmtime/component/val.h`: `SUPPORTED` says for which versions that was tested.
"""

import ctypes
import importlib.metadata
import importlib.util
import sys
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

#: The major versions of the package `wasmtime` whose library has these layouts.
SUPPORTED = (50,)

VERSION = importlib.metadata.version("wasmtime")

#: Kinds of values.
BOOL, U8, U16, U32, S64, U64 = 0, 2, 4, 6, 7, 8
STRING, LIST, RECORD, VARIANT, ENUM, OPTION, RESULT, RESOURCE = 12, 13, 14, 16, 17, 18, 19, 21

#: Bytes of a value: its kind, seven bytes to align, and 24 of content.
VALUE = 32


def library() -> str:
    """The file of the library within the package."""
    if int(VERSION.partition(".")[0]) not in SUPPORTED:
        wanted = ", ".join(map(str, SUPPORTED))
        raise ImportError(f"portico-dashboard works with wasmtime {wanted}, and {VERSION} is installed")
    spec = importlib.util.find_spec("wasmtime")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    found = [*folder.glob("*/_libwasmtime.so"), *folder.glob("*/_libwasmtime.dylib"), *folder.glob("*/_wasmtime.dll")]
    if len(found) != 1 or sys.byteorder != "little":
        raise ImportError("the package wasmtime has no library for this machine")
    return str(found[0])


class Bytes(Structure):
    """`wasm_byte_vec_t`."""

    _fields_ = [("size", c_size_t), ("data", c_void_p)]


class Instance(Structure):
    """`wasmtime_component_instance_t`."""

    _fields_ = [("store", c_uint64), ("private", c_uint32)]


class Func(Structure):
    """`wasmtime_component_func_t`."""

    _fields_ = [("store", c_uint64), ("private1", c_uint32), ("private2", c_uint32), ("private3", c_void_p)]


#: data, context, type, arguments and how many, results and how many; returns an error or 0.
Callback = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
Finalizer = ctypes.CFUNCTYPE(None, c_void_p)

_path = library()
#: Releases Python's lock while a function runs: for those that take long.
_long = ctypes.CDLL(_path)
#: Keeps it: for those that take less than a microsecond.
_short = ctypes.PyDLL(_path)


def _declare(dll: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(dll, name)
    function.restype, function.argtypes = result, arguments
    return function


instantiate = _declare(
    _long, "wasmtime_component_linker_instantiate", c_void_p, c_void_p, c_void_p, c_void_p, POINTER(Instance)
)
call = _declare(
    _long, "wasmtime_component_func_call", c_void_p, POINTER(Func), c_void_p, c_char_p, c_size_t, c_void_p, c_size_t
)
get_func = _declare(
    _short, "wasmtime_component_instance_get_func", c_bool, POINTER(Instance), c_void_p, c_void_p, POINTER(Func)
)
store_context = _declare(_short, "wasmtime_store_context", c_void_p, c_void_p)
set_epoch_deadline = _declare(_short, "wasmtime_context_set_epoch_deadline", None, c_void_p, c_uint64)
add_func = _declare(
    _short,
    "wasmtime_component_linker_instance_add_func",
    *(c_void_p, c_void_p, c_char_p, c_size_t, Callback, c_void_p, Finalizer),
)
clone_value = _declare(_short, "wasmtime_component_val_clone", None, c_char_p, c_void_p)
delete_value = _declare(_short, "wasmtime_component_val_delete", None, c_void_p)
new_error = _declare(_short, "wasmtime_error_new", c_void_p, c_char_p)
_delete_error = _declare(_short, "wasmtime_error_delete", None, c_void_p)
_error_message = _declare(_short, "wasmtime_error_message", None, c_void_p, POINTER(Bytes))
_delete_bytes = _declare(_short, "wasm_byte_vec_delete", None, POINTER(Bytes))
_resource_to_host = _declare(
    _short, "wasmtime_component_resource_any_to_host", c_void_p, c_void_p, c_void_p, POINTER(c_void_p)
)
_host_to_resource = _declare(
    _short, "wasmtime_component_resource_host_to_any", c_void_p, c_void_p, c_void_p, POINTER(c_void_p)
)
_new_host = _declare(_short, "wasmtime_component_resource_host_new", c_void_p, c_bool, c_uint32, c_uint32)
_host_number = _declare(_short, "wasmtime_component_resource_host_rep", c_uint32, c_void_p)
_delete_host = _declare(_short, "wasmtime_component_resource_host_delete", None, c_void_p)
delete_resource = _declare(_short, "wasmtime_component_resource_any_delete", None, c_void_p)

#: The address of the content of `bytes`, which has to be kept as long as the address is used.
address = ctypes.pythonapi.PyBytes_AsString
address.restype, address.argtypes = c_void_p, [ctypes.py_object]


def message_of(error: int) -> str:
    """The message of an error, which is deleted."""
    text = Bytes()
    _error_message(error, byref(text))
    message = ctypes.string_at(text.data, text.size).decode("utf-8", "replace")
    _delete_bytes(byref(text))
    _delete_error(error)
    return message


def number_of_handle(context: int, resource: int) -> int:
    """The host's number of a resource whose handle the component has passed. A borrowed handle is given back."""
    host = c_void_p()
    error = _resource_to_host(context, resource, byref(host))
    if error:
        raise TypeError(message_of(error))
    number: int = _host_number(host)
    _delete_host(host)
    return number


def own_handle(context: int, number: int, type: int) -> int:
    """A handle for the component, by which it owns a resource. Delete it when its value has been cloned."""
    host = _new_host(True, number, type)
    resource = c_void_p()
    error = _host_to_resource(context, host, byref(resource))
    _delete_host(host)
    if error:
        raise TypeError(message_of(error))
    assert resource.value is not None
    return resource.value
