"""The component. It is compiled once. Instances are cheap, so each serves one call and nothing of a call is
visible in another one.
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime import component as wasm
from wasmtime.component import ResourceHost, ResourceType

from ..database import Database
from .collisions import Collisions
from .storage import Refusal, Transaction, is_retry, unavailable
from .values import Record, Variant, from_component

#: Linear memory of an instance. A password's hash needs 20 MiB.
MEMORY = 128 << 20
#: How long a call may take. Time in storage counts, but storage is not interrupted. Waiting after collisions
#: does not count.
SECONDS = 2.0
#: The same for a call that hashes.
HASHING_SECONDS = 10.0
#: The resolution of the time limit.
TICK = 0.1
#: How many messages of a call are logged, and their greatest length.
MESSAGES = 20
MESSAGE_LENGTH = 2_000
#: The most random bytes at a time.
RANDOM_BYTES = 4_096

#: What this dashboard offers and calls: the first version of the contract. A component of any later 1.x runs, too: it
#: imports nothing more.
CONTRACT = "portico:dashboard@1.0.0"
#: A number for the resource type, which wasmtime requires; any number works.
TRANSACTION = 1


@dataclass(frozen=True)
class Call:
    """Who calls (None: an anonymous caller), and the session that the call uses."""

    user: Record | None = None
    session: str | None = None


ANONYMOUS = Call()


class Running:
    """A call while it runs."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.transactions: dict[int, Transaction] = {}
        self.collisions = Collisions()
        #: Whether the last `begin` was refused with `retry`.
        self.collided = False


@dataclass(frozen=True)
class Invocation:
    """A function of the component, by its WIT names, and the arguments that follow the caller (in `sign-in`, the
    context)."""

    interface: str
    function: str
    values: tuple[Any, ...] = ()


class Refused(Exception):
    """A refusal by the component: `types.error`."""

    def __init__(self, error: Record) -> None:
        super().__init__(error.message)
        self.error = error


def bad_input(issues: list[tuple[list[str | int], str]]) -> Refused:
    """A refusal in the component's place: an input has other types than its procedure. Each issue is a path and a
    message."""
    broken = [
        Record(
            path=[Variant("field" if isinstance(step, str) else "index", step) for step in path],
            message=message,
        )
        for path, message in issues
    ]
    return Refused(Record(code=Variant("bad-request"), message="The input breaks rules", issues=broken))


class Failed(Exception):
    """The component trapped, took too long or wanted too much memory; or the host failed."""


class Surroundings(Protocol):
    """The other imports that the dashboard provides."""

    def find_icons(self, names: list[str]) -> list[str | None]: ...
    def default_icon(self) -> str: ...
    def log(self, level: str, message: str) -> None: ...


class Compiled:
    """A component, compiled for this machine and shared by threads."""

    def __init__(self, file: Path) -> None:
        bytes = file.read_bytes()
        self.sha256 = hashlib.sha256(bytes).hexdigest()
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        self.component = wasm.Component(self.engine, bytes)
        #: The names of the exported interfaces, by their lines. What this dashboard does not know is not called.
        self._interfaces = {line(name): name for name in self.component.type.exports(self.engine)}
        self._exports: dict[tuple[str, str], wasm.ExportIndex] = {}
        threading.Thread(target=self._tick, name="epochs", daemon=True).start()

    def _tick(self) -> None:
        while True:
            time.sleep(TICK)
            self.engine.increment_epoch()

    def imports(self) -> dict[str, list[str]]:
        """The imports of the component: the names of each interface."""
        externs = self.component.type.imports(self.engine).items()
        return {
            name: list(extern.ty.exports(self.engine))
            for name, extern in externs
            if isinstance(extern.ty, wasm.ComponentInstanceType)
        }

    def export(self, interface: str, function: str) -> wasm.ExportIndex:
        """The index of an export. Raises `Failed` if it is missing."""
        key = (interface, function)
        if key not in self._exports:
            name = self._interfaces.get(line(contract(interface)))
            instance = self.component.get_export_index(name) if name else None
            index = instance and self.component.get_export_index(function, instance)
            if index is None:
                raise Failed(f"the component has no {interface}.{function} of {CONTRACT}")
            self._exports[key] = index
        return self._exports[key]


class Component:
    """The component with the storage of one thread. Call it only in that thread."""

    def __init__(self, compiled: Compiled, database: Database, surroundings: Surroundings) -> None:
        self._compiled = compiled
        self._database = database
        self._surroundings = surroundings
        # The state of the running call.
        self._messages = 0
        #: The running call by its context: a token that the host makes for each call. The component returns it
        #: with each `storage.begin`.
        self._running: dict[str, Running] = {}
        #: The transactions of the running call, by the numbers of their handles.
        self._transactions: dict[int, Transaction] = {}
        #: When its time is over, without further waiting.
        self._ends = 0.0
        self._store: Store | None = None
        self._failure: Exception | None = None
        self._linker = self._link()

    def run(self, call: Call, invocation: Invocation, seconds: float = SECONDS) -> Any:
        """Returns the function's answer. Raises `Refused` if it refuses, and `Failed` if it fails."""
        self._messages, self._failure = 0, None
        context, running = secrets.token_urlsafe(), Running(call)
        self._running[context], self._transactions = running, running.transactions
        try:
            answer = from_component(self._run_fresh(invocation, call.user, context, seconds))
        except (WasmtimeError, ValueError, TypeError) as error:
            raise Failed(f"{invocation.interface}.{invocation.function}: {error}") from self._failure or error
        finally:
            # A call that trapped has not dropped its transaction. After a commit or a drop this does nothing.
            for transaction in running.transactions.values():
                transaction.drop()
            del self._running[context]
        match answer:
            case Variant("err", Record() as refusal):
                raise Refused(refusal)
            case Variant("ok", value):
                return value
        return answer

    def _run_fresh(self, invocation: Invocation, user: Record | None, context: str, seconds: float) -> Any:
        """Calls the function in a fresh instance."""
        export = self._compiled.export(invocation.interface, invocation.function)
        with Store(self._compiled.engine) as store:
            store.set_limits(memory_size=MEMORY, table_elements=20_000, instances=20, tables=20, memories=2)
            self._store, self._ends = store, time.monotonic() + seconds
            self._set_deadline()
            instance = self._linker.instantiate(store, self._compiled.component)
            function = instance.get_func(store, export)
            assert function is not None
            return function(store, *first(invocation.interface, user, context), *invocation.values)

    def _set_deadline(self) -> None:
        """Sets the time at which the call is ended."""
        assert self._store is not None
        left = max(0.0, self._ends - time.monotonic())
        # One more, because the present tick is partly over.
        self._store.set_epoch_deadline(round(left / TICK) + 1)

    # The imports of the component.

    def _link(self) -> wasm.Linker:
        """Provides the imports, and nothing else of the machine."""
        offered: dict[str, dict[str, Callable[..., Any]]] = {
            contract("types"): {},
            contract("storage"): {
                "begin": self._begin,
                "[static]transaction.commit": self._commit,
            },
            contract("icons"): {
                "find": lambda store, names: self._surroundings.find_icons(names),
                "default-icon": lambda store: self._surroundings.default_icon(),
            },
            contract("log"): {"write": self._write_log},
            "wasi:clocks/wall-clock@0.2.6": {"now": now, "resolution": resolution},
            "wasi:random/random@0.2.6": {"get-random-bytes": random_bytes, "get-random-u64": random_u64},
        }
        by_line = {line(name): functions for name, functions in offered.items()}
        linker = wasm.Linker(self._compiled.engine)
        with linker.root() as root:
            for name, wanted in self._compiled.imports().items():
                if line(name) not in by_line:
                    raise Failed(f"the component wants {name}; this dashboard offers {', '.join(offered)}")
                with root.add_instance(name) as instance:
                    for item in wanted:
                        if item == "transaction":
                            instance.add_resource(item, ResourceType.host(TRANSACTION), self._drop)
                        elif function := by_line[line(name)].get(item) or self._method(item):
                            instance.add_func(item, self._guarded(function))
        return linker

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Keeps an exception of a host function and traps. wasmtime would keep it in a place that all threads
        share."""

        def guarded(*values: Any) -> Any:
            try:
                return function(*values)
            except Exception as error:
                self._failure = error
                raise WasmtimeError("the host failed") from error

        return guarded

    def _method(self, item: str) -> Callable[..., Any] | None:
        """A function of the resource, or None for a type."""
        if not item.startswith("[method]transaction."):
            return None
        method = getattr(Transaction, item.partition(".")[2].replace("-", "_"))

        def call(store: Any, handle: Any, *values: Any) -> Variant:
            # `to_host` also gives a borrowed handle back, which must happen before the function returns.
            transaction = self._transactions[handle.to_host(store).rep]
            return result(lambda: method(transaction, *map(from_component, values)))

        return call

    def _begin(self, store: Any, access: str, context: str) -> Variant:
        def begin() -> ResourceHost:
            running = self._running.get(context)
            if running is None:
                raise unavailable("no call is running with this context")
            transactions = running.transactions
            # Portico's component opens one at a time; another component could open thousands.
            if any(transaction.is_open for transaction in transactions.values()):
                raise unavailable("a call has a transaction open already")
            last = transactions.get(len(transactions))
            if running.collided or (last and last.collided):
                self._ends += running.collisions.wait()
                self._set_deadline()
            name = len(transactions) + 1
            running.collided = False
            try:
                transactions[name] = Transaction(self._database, access, running.call.session)
            except Refusal as refusal:
                running.collided = is_retry(refusal)
                raise
            return ResourceHost.own(name, TRANSACTION)

        return result(begin)

    def _commit(self, store: Any, handle: Any) -> Variant:
        return result(self._transactions[handle.to_host(store).rep].commit)

    def _drop(self, store: Any, name: int) -> None:
        if transaction := self._transactions.get(name):
            self._guarded(transaction.drop)()

    def _write_log(self, store: Any, level: str, message: str) -> None:
        self._messages += 1
        if self._messages <= MESSAGES:
            self._surroundings.log(level, message[:MESSAGE_LENGTH])


def contract(interface: str) -> str:
    """The name of an interface of the contract, with its version."""
    package, version = CONTRACT.split("@")
    return f"{package}/{interface}@{version}"


def line(name: str) -> str:
    """The name of an interface, with as much of its version as compatible versions have in common:
    `portico:dashboard/apps@1`, `wasi:random/random@0.2`."""
    name, _, version = name.partition("@")
    if "-" in version:
        return f"{name}@{version}"
    major, minor, *_ = (*version.split("."), "")
    return f"{name}@{major}.{minor}" if major == "0" else f"{name}@{major}"


def first(interface: str, user: Record | None, context: str) -> list[Any]:
    """The parameters of a function before its values."""
    match interface:
        case "procedures" | "names":
            return []
        case "sign-in":
            return [context]
    return [Record(user=user, context=context)]


def result(work: Callable[[], Any]) -> Variant:
    """`result<t, storage.error>`."""
    try:
        return Variant("ok", work())
    except Refusal as refusal:
        return Variant("err", refusal.error)


def now(store: Any) -> Record:
    """`wasi:clocks/wall-clock.now`."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return Record(seconds=seconds, nanoseconds=nanoseconds)


def resolution(store: Any) -> Record:
    """`wasi:clocks/wall-clock.resolution`."""
    return Record(seconds=0, nanoseconds=1)


def random_u64(store: Any) -> int:
    """`wasi:random/random.get-random-u64`."""
    return secrets.randbits(64)


def random_bytes(store: Any, length: int) -> bytes:
    """`wasi:random/random.get-random-bytes`."""
    if length > RANDOM_BYTES:
        raise Failed(f"{length} random bytes are more than {RANDOM_BYTES}")
    return secrets.token_bytes(length)
