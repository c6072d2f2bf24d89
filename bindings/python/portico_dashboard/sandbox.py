"""Calls of the component. Each has a fresh instance with limits of time and memory, so nothing of a call is visible in
another one, and the instance reaches nothing but the imports that are given here.
"""

import asyncio
import inspect
import logging
import secrets
import threading
import time
from collections.abc import Callable
from ctypes import byref, create_string_buffer, string_at
from typing import Any

from wasmtime import Store, WasmtimeError
from wasmtime import component as wasm

from . import capi
from .codec import RESOURCE_TYPES, Datetime, Err, Frame, Signature, signature
from .compiled import NAME, TICK, Compiled
from .contract import Caller
from .errors import CallFailed, StorageError, WrongShape, refused
from .limits import RANDOM_BYTES, Collisions, Limits
from .typecheck import has_type

LOG = logging.getLogger("portico")

#: A function that the component imports: its interface and name here, and what it does with the running call.
Handler = Callable[..., Any]
Imports = dict[str, dict[str, Handler]]


class Running:
    """A call while it runs, in one thread."""

    def __init__(self, caller: Caller, limits: Limits, seconds: float, loop: asyncio.AbstractEventLoop | None) -> None:
        self.caller = caller
        self.limits = limits
        self.loop = loop
        #: What the component returns with each `storage.begin` of this call.
        self.token = secrets.token_urlsafe(16)
        #: Its transactions by the numbers of their handles.
        self.transactions: dict[int, Any] = {}
        self.collisions = Collisions()
        #: Whether storage has returned `retry` since the last wait.
        self.collided = False
        self.messages = 0
        #: The function of the dashboard that runs now, and since when.
        self.inside: tuple[str, float] | None = None
        #: What failed in a function of the dashboard.
        self.failure: BaseException | None = None
        #: Whether its caller has given up.
        self.abandoned = False
        self.seconds = seconds
        #: When its time is over, without further waiting.
        self.ends = 0.0
        self.context = 0

    def start(self, context: int) -> None:
        """Its time begins."""
        self.context = context
        self.ends = time.monotonic() + self.seconds
        self.set_deadline()

    def set_deadline(self) -> None:
        """Sets the time at which the component is interrupted."""
        left = max(0.0, self.ends - time.monotonic())
        # One more, because the present tick is partly over.
        capi.set_epoch_deadline(self.context, round(left / TICK) + 1)

    def wait_after_collision(self) -> None:
        """If something has returned `retry`: waits, and does not count that."""
        if self.collided:
            self.collided = False
            self.ends += self.collisions.wait()
            self.set_deadline()

    def settle(self, value: Any, name: str) -> Any:
        """What an asynchronous function returns on the loop of the call; other values as they are."""
        if not inspect.isawaitable(value):
            return value
        if self.loop is None:
            if inspect.iscoroutine(value):
                value.close()
            raise CallFailed(f"{name} is asynchronous: call Portico by portico.aio, in an event loop")
        future = asyncio.run_coroutine_threadsafe(_await(value), self.loop)
        try:
            return future.result(self.limits.storage)
        except TimeoutError:
            if future.cancel():
                raise CallFailed(f"{name} has not returned in {self.limits.storage:g} s") from None
            raise

    def drop_transactions(self) -> None:
        """Ends what a call that trapped has left open. After a commit or a drop this does nothing."""
        for transaction in self.transactions.values():
            try:
                self.settle(transaction.drop(), "transaction.drop")
            except Exception:
                LOG.exception("A transaction could not be rolled back")


async def _await(value: Any) -> Any:
    return await value


class Sandbox:
    """A component with its imports. Its calls may run in any thread, many at once."""

    def __init__(self, compiled: Compiled, imports: Imports, limits: Limits) -> None:
        self.compiled = compiled
        self._limits = limits
        self._local = threading.local()
        #: The functions that wasmtime calls: kept as long as the linker.
        self._callbacks: list[Any] = []
        self._finalizer = capi.Finalizer(lambda data: None)
        self._linker = self._link({**imports, **self._surroundings()})

    def run(self, interface: str, function: str, values: tuple[Any, ...], running: Running) -> Any:
        """Returns what the function returns. Raises `PorticoError` if it refuses, and `CallFailed` if it fails."""
        self._local.running = running
        try:
            answer = self._run(interface, function, values, running)
        except WrongShape as wrong:
            raise CallFailed(f"{interface}.{function}: {wrong}") from wrong
        except WasmtimeError as error:
            raise CallFailed(f"{interface}.{function}: {error}") from running.failure or error
        finally:
            self._local.running = None
            if running.transactions:
                running.drop_transactions()
        if isinstance(answer, Err):
            raise refused(answer.value)
        return answer

    def _run(self, interface: str, function: str, values: tuple[Any, ...], running: Running) -> Any:
        shape = signature(interface, function)
        export = self.compiled.export(interface, function)
        self.compiled.start_ticker()
        with Store(self.compiled.engine) as store:
            store.set_limits(self._limits.memory, table_elements=20_000, instances=40, tables=40, memories=4)
            context = capi.store_context(store.ptr())
            running.start(context)
            frame = Frame(context)
            arguments = shape.lower_arguments(values, frame)
            instance = capi.Instance()
            error = capi.instantiate(
                self._linker.ptr(), context, self.compiled.component.ptr(), byref(instance)
            )
            if error:
                raise self._failed(running, capi.message_of(error))
            func = capi.Func()
            if not capi.get_func(byref(instance), context, export.ptr(), byref(func)):
                raise CallFailed(f"the component has no {interface}.{function}")
            result = create_string_buffer(capi.VALUE)
            count = 0 if shape.result is None else 1
            error = capi.call(byref(func), context, arguments, len(values), result, count)
            if error:
                raise self._failed(running, capi.message_of(error))
            if shape.result is None:
                return None
            try:
                return shape.result.lift(result.raw[8:], frame)
            finally:
                capi.delete_value(result)

    def _failed(self, running: Running, message: str) -> CallFailed:
        """What ended a call: an exception of the dashboard's own, or a trap."""
        failure = running.failure
        if failure is None:
            if "wasm trap: interrupt" in message:
                message = f"the call took longer than {running.seconds:g} s"
            return CallFailed(message.strip())
        if isinstance(failure, CallFailed):
            return failure
        found = CallFailed(str(failure))
        found.__cause__ = failure.__cause__ or failure
        return found

    # The imports of the component.

    def _link(self, offered: Imports) -> wasm.Linker:
        """Provides the imports, and nothing else of the machine."""
        linker = wasm.Linker(self.compiled.engine)
        with linker.root() as root:
            for name, wanted in self.compiled.imports.items():
                short = short_name(name)
                known = offered.get(short, {})
                functions = {item: type for item, type in wanted.items() if isinstance(type, wasm.FuncType)}
                missing = [item for item in functions if item not in known]
                if short not in offered or missing:
                    what = f"{name}: {', '.join(missing)}" if short in offered else name
                    raise CallFailed(f"the component imports {what}, which this host does not offer: update it")
                with root.add_instance(name) as instance:
                    for item in wanted:
                        resource = f"{short}.{item}"
                        if resource in RESOURCE_TYPES:
                            type = wasm.ResourceType.host(RESOURCE_TYPES[resource])
                            instance.add_resource(item, type, self._drop)
                        elif item in functions:
                            if not has_type(short, item, functions[item]):
                                raise CallFailed(f"the component imports {name} with another type of {item}")
                            self._add(instance, short, item, known[item])
        return linker

    def _add(self, instance: wasm.LinkerInstance, interface: str, item: str, handler: Handler) -> None:
        shown = f"{interface}.{item.rpartition('.')[2].replace('-', '_')}"
        callback = capi.Callback(self._callback(shown, signature(interface, item), handler))
        self._callbacks.append(callback)
        name = item.encode()
        error = capi.add_func(instance.ptr(), name, len(name), callback, None, self._finalizer)
        if error:
            raise CallFailed(capi.message_of(error))

    def _callback(self, name: str, shape: Signature, handler: Handler) -> Callable[..., int]:
        lifts = [codec.lift for codec in shape.parameters]
        size = capi.VALUE

        def callback(
            data: int, context: int, type: int, arguments: int, count: int, results: int, result_count: int
        ) -> int:
            running: Running = self._local.running
            try:
                if running.abandoned:
                    raise CallFailed("its caller has given up")
                frame = Frame(context)
                memory = string_at(arguments, count * size) if count else b""
                values = [
                    lift(memory[at : at + 24], frame) for lift, at in zip(lifts, range(8, 8 + count * size, size))
                ]
                running.inside = (name, time.monotonic())
                value = handler(running, *values)
                running.inside = None
                if shape.result is not None:
                    capi.clone_value(shape.result.lower(value, frame), results)
                    frame.release()
                return 0
            except BaseException as error:
                running.failure = explained(name, error)
                failed: int = capi.new_error(b"the dashboard failed")
                return failed

        return callback

    def _drop(self, store: Any, number: int) -> None:
        """The component has dropped a transaction."""
        running: Running = self._local.running
        if transaction := running.transactions.pop(number, None):
            try:
                running.settle(transaction.drop(), "transaction.drop")
            except Exception as error:
                running.failure = explained("transaction.drop", error)
                raise WasmtimeError("the dashboard failed") from error

    def _surroundings(self) -> Imports:
        """What any component gets."""

        def write_log(running: Running, level: str, message: str) -> None:
            running.messages += 1
            if running.messages <= running.limits.messages:
                LOG.log(LEVELS.get(level, logging.ERROR), "%r", message[: running.limits.message_length])

        return {
            "types": {},
            "sql/types": {},
            "log": {"write": write_log},
            "wasi:clocks/wall-clock": {"now": now, "resolution": lambda running: Datetime(0, 1_000)},
            "wasi:random/random": {
                "get-random-bytes": random_bytes,
                "get-random-u64": lambda running: secrets.randbits(64),
            },
        }


LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


def explained(name: str, error: BaseException) -> BaseException:
    """An exception of a function of the dashboard, with the function's name."""
    if isinstance(error, CallFailed):
        return error
    text = f"returned a wrong shape: {error}" if isinstance(error, WrongShape) else f"raised {type(error).__name__}: {error}"
    found = CallFailed(f"{name} {text}")
    found.__cause__ = error
    return found


def short_name(name: str) -> str:
    """`storage` for any 1.y of the contract, `sql/database`, and `wasi:clocks/wall-clock` for any 0.2.y."""
    parts = NAME.match(name)
    if parts is None:
        return name
    if parts[1].startswith("portico:dashboard/") and parts[2] == "1":
        return parts[1].removeprefix("portico:dashboard/")
    if parts[1].startswith("portico:sql/"):
        return parts[1].removeprefix("portico:")
    if parts[1].startswith("wasi:") and (parts[2], parts[3]) == ("0", "2"):
        return parts[1]
    return name


def refusing(work: Callable[[], Any], running: Running) -> Any:
    """`result<t, storage.error>`."""
    try:
        return work()
    except StorageError as error:
        refusal = error.refusal()
        running.collided = running.collided or refusal.tag == "retry"
        return Err(refusal)


def now(running: Running) -> Datetime:
    """`wasi:clocks/wall-clock.now`."""
    return Datetime(*divmod(time.time_ns(), 1_000_000_000))


def random_bytes(running: Running, length: int) -> bytes:
    """`wasi:random/random.get-random-bytes`."""
    if length > RANDOM_BYTES:
        raise ValueError(f"{length} random bytes are more than {RANDOM_BYTES}")
    return secrets.token_bytes(length)
