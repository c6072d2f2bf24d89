"""The component, compiled for this machine once and shared by threads, and the folder that keeps what was compiled.

Loading a compiled file is running what it contains. So the folder and the file have to belong to this user, and no other
user may be able to write to them: otherwise they are refused.
"""

import contextlib
import hashlib
import logging
import os
import re
import stat
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from wasmtime import Config, Engine, WasmtimeError
from wasmtime import component as wasm

from . import capi, forks
from .errors import CallFailed
from .typecheck import has_type

LOG = logging.getLogger("portico")

#: How often the time limit is looked at, in seconds.
TICK = 0.05

#: A name of an interface: package and interface, and the version.
NAME = re.compile(r"^([a-z:/-]+)@(\d+)\.(\d+)\.(\d+)$")


class UnsafeCache(Exception):
    """Others could have written the compiled file."""


def default_cache() -> Path | None:
    """The folder of the user (`XDG_CACHE_HOME`). None if this user has none."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    try:
        folder = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "portico-dashboard"


def check_owner(path: Path, found: os.stat_result) -> None:
    """Refuses what another user owns or may write to."""
    if found.st_uid != os.getuid():
        raise UnsafeCache(f"{path} belongs to another user: remove it, or name another folder (cache=…)")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeCache(f"others may write to {path}: chmod go-w, or name another folder (cache=…)")


def read_safely(file: Path) -> bytes | None:
    """The content of a file that is this user's own, or None if it is missing. Symbolic links are refused."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        check_owner(file, os.fstat(opened.fileno()))
        return opened.read()


def open_folder(folder: Path) -> None:
    """Makes the folder, for this user only. Raises `UnsafeCache` if it is there and others may change it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeCache(f"{folder} is not a folder")
    check_owner(folder, found)


def compile_component(engine: Engine, bytes: bytes, sha256: str, cache: Path | None) -> wasm.Component:
    """The compiled component, from the folder where it is there. A folder that cannot be written costs time only."""
    if cache is None:
        return wasm.Component(engine, bytes)
    try:
        open_folder(cache)
    except OSError as error:
        LOG.warning("The compiled component is not kept in %s: %s", cache, error)
        return wasm.Component(engine, bytes)
    file = cache / f"{sha256}-wasmtime-{capi.VERSION}.cwasm"
    known = read_safely(file)
    if known is not None:
        # Another machine may have compiled it, in a home folder on the network: then it does not fit.
        with contextlib.suppress(WasmtimeError):
            return wasm.Component.deserialize(engine, known)
    component = wasm.Component(engine, bytes)
    try:
        write_whole(file, component.serialize())
    except OSError as error:
        LOG.warning("The compiled component is not kept in %s: %s", cache, error)
    return component


def write_whole(file: Path, content: bytes | bytearray) -> None:
    """Writes a file that is not seen before it is whole."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


class Compiled:
    """A component. Raises `UnsafeCache`, and `CallFailed` if the file is not a component of this contract."""

    def __init__(self, bytes: bytes, cache: Path | None) -> None:
        self.sha256 = hashlib.sha256(bytes).hexdigest()
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        try:
            self.component = compile_component(self.engine, bytes, self.sha256, cache)
        except WasmtimeError as error:
            raise CallFailed(f"the file is not a component: {error}") from error
        type = self.component.type
        #: The types of what is in each interface that the component imports, by the interface's whole name.
        self.imports = items_of(type.imports(self.engine), self.engine)
        offered = items_of(type.exports(self.engine), self.engine)
        self._exported = exported(list(offered))
        self._offered = offered
        self._exports: dict[tuple[str, str], wasm.ExportIndex] = {}
        self._stopped = threading.Event()
        weakref.finalize(self, self._stopped.set)
        self._forget_ticker()
        forks.after_in_child(self._forget_ticker)

    def _forget_ticker(self) -> None:
        self._ticks = False
        self._lock = threading.Lock()

    def start_ticker(self) -> None:
        """Starts the thread without which no call reaches its deadline, unless it runs."""
        if self._ticks:
            return
        with self._lock:
            if not self._ticks:
                arguments = (self.engine, self._stopped)
                threading.Thread(target=_tick, args=arguments, name="portico-epochs", daemon=True).start()
                self._ticks = True

    def offers(self, interface: str) -> bool:
        """Whether the component exports an interface."""
        return interface in self._exported

    def export(self, interface: str, function: str) -> wasm.ExportIndex:
        """The index of an exported function. Raises `CallFailed` if the component has none."""
        key = (interface, function)
        if key not in self._exports:
            name = self._exported.get(interface)
            instance = self.component.get_export_index(name) if name else None
            index = self.component.get_export_index(function, instance) if instance else None
            if name is None or index is None:
                raise CallFailed(f"the component has no {interface}.{function}")
            if not has_type(interface, function, self._offered[name][function]):
                raise CallFailed(f"the component's {interface}.{function} has another type than this host knows")
            self._exports[key] = index
        return self._exports[key]


def items_of(externs: dict[str, Any], engine: Engine) -> dict[str, dict[str, object]]:
    """The types of what is in each interface."""
    found: dict[str, dict[str, object]] = {}
    for name, extern in externs.items():
        type = extern.ty
        found[name] = {}
        if isinstance(type, wasm.ComponentInstanceType):
            found[name] = {item: member.ty for item, member in type.exports(engine).items()}
    return found


def exported(names: list[str]) -> dict[str, str]:
    """The whole names of the exported interfaces by their short ones: `users`, or `sql/people`. Every 1.y of the contract
    has what 1.0.0 has; what else it exports is left alone."""
    found: dict[str, str] = {}
    for name in names:
        if (parts := NAME.match(name)) is None:
            continue
        package, _, interface = parts[1].partition("/")
        if package == "portico:dashboard" and parts[2] == "1":
            found[interface] = name
        elif package == "portico:sql":
            found[f"sql/{interface}"] = name
    return found


def _tick(engine: Engine, stopped: threading.Event) -> None:
    while not stopped.is_set():
        time.sleep(TICK)
        engine.increment_epoch()
