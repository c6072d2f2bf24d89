"""`Portico`: the rules over a dashboard's storage."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from concurrent.futures import TimeoutError as WaitTimeout
from importlib import resources
from pathlib import Path
from typing import Any

from . import contract
from .codec import signature
from .compiled import Compiled, default_cache
from .contract import Caller, Procedure, UserCaller
from .errors import CallFailed, PorticoError
from .limits import Limits
from .sandbox import Imports, Running, Sandbox
from .storage import AsyncStorage, Icons, NoIcons, Storage, storage_imports
from .workers import Work, Workers

#: A caller who is not signed in.
ANONYMOUS = Caller()


def signed_in(id: str, permissions: Sequence[str], context: str = "") -> Caller:
    """A signed-in caller, with their permissions at this moment. Storage gets `context`: the id of the session, say."""
    return Caller(user=UserCaller(id=id, permissions=list(permissions)), context=context)


#: Functions that are not procedures and hash, or grow with the number of records.
LONG = {("sign-in", "password"), ("sign-in", "external"), ("names", "keys")}


class Engine:
    """Runs functions of a component in threads."""

    def __init__(self, compiled: Compiled, imports: Imports, limits: Limits, keeps_context: bool = False) -> None:
        self.compiled = compiled
        self.limits = limits
        #: Whether callers come with the context that the component made for them.
        self._keeps_context = keeps_context
        self._sandbox = Sandbox(compiled, imports, limits)
        self._short = Workers("portico", limits.threads, limits.waiting, limits.abandoned)
        self._long = Workers("portico-long", limits.long_threads, limits.waiting, limits.abandoned)
        self._long_functions = set(LONG)
        self.procedures: list[Procedure] = self.run("procedures", "describe")
        for procedure in self.procedures:
            if procedure.cost != "small":
                self._long_functions.add(function_of(procedure.name))

    def run(self, interface: str, function: str, *values: Any) -> Any:
        """Calls a function, and waits for it in this thread."""
        work, running, workers = self._submit(interface, function, values, None)
        try:
            return work.future.result(self._patience(running))
        except WaitTimeout:
            if work.future.done():
                raise
            raise self._give_up(work, running, workers) from None

    async def run_async(self, interface: str, function: str, *values: Any) -> Any:
        """The same, without blocking the event loop."""
        work, running, workers = self._submit(interface, function, values, asyncio.get_running_loop())
        try:
            # A client that goes away does not end a call.
            wrapped = asyncio.shield(asyncio.wrap_future(work.future))
            return await asyncio.wait_for(wrapped, self._patience(running))
        except TimeoutError:
            if work.future.done():
                raise
            raise self._give_up(work, running, workers) from None

    def _submit(
        self, interface: str, function: str, values: tuple[Any, ...], loop: asyncio.AbstractEventLoop | None
    ) -> tuple[Work, Running, Workers]:
        is_long = (interface, function) in self._long_functions
        caller = next((value for value in values if isinstance(value, Caller)), ANONYMOUS)
        seconds = self.limits.long_call if is_long else self.limits.call
        running = Running(caller, self.limits, seconds, loop)
        token = caller.context if self._keeps_context else running.token
        names = signature(interface, function).names
        if names[:1] == ["context"]:
            values = (token, *values)
        elif names[:1] == ["caller"] and not self._keeps_context:
            values = (Caller(user=caller.user, context=token), *values[1:])
        workers = self._long if is_long else self._short
        work = workers.submit(functools.partial(self._sandbox.run, interface, function, values, running))
        return work, running, workers

    def _patience(self, running: Running) -> float:
        """How long to wait for a call: for a thread, for the component, and for one function that does not return."""
        return self.limits.wait + running.seconds + self.limits.storage

    def _give_up(self, work: Work, running: Running, workers: Workers) -> PorticoError:
        running.abandoned = True
        workers.abandon(work)
        if running.inside is None:
            return PorticoError("unavailable", "The call had to wait too long for its turn")
        name, _ = running.inside
        return CallFailed(f"{name} has not returned in {self.limits.storage:g} s")

    def close(self) -> None:
        """Ends the threads when their calls are done."""
        self._short.close()
        self._long.close()


def function_of(procedure: str) -> tuple[str, str]:
    """The function of a procedure: `app.byId` is `by-id` of `apps`."""
    interface, _, name = procedure.partition(".")
    return f"{interface}s", "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


class AsyncPortico:
    """The same functions for an event loop. They do not block it."""

    def __init__(self, engine: Engine) -> None:
        self.users = contract.AsyncUsers(engine.run_async)
        self.apps = contract.AsyncApps(engine.run_async)
        self.sign_in = contract.AsyncSignIn(engine.run_async)
        self.names = contract.AsyncNames(engine.run_async)
        self.state = contract.AsyncState(engine.run_async)


class Portico:
    """Portico's rules over a dashboard's storage. Every function may be called in any thread.

    Raises `PorticoError`: with the code of the contract if a call is refused, and as `CallFailed` if it fails.
    """

    def __init__(self, engine: Engine) -> None:
        """Use `open`."""
        self.engine = engine
        self.users = contract.Users(engine.run)
        self.apps = contract.Apps(engine.run)
        self.sign_in = contract.SignIn(engine.run)
        self.names = contract.Names(engine.run)
        self.state = contract.State(engine.run)
        #: The same for an event loop: `await portico.aio.apps.by_id(caller, id)`.
        self.aio = AsyncPortico(engine)

    @classmethod
    def open(
        cls,
        *,
        storage: Storage | AsyncStorage,
        icons: Icons | None = None,
        limits: Limits | None = None,
        component: Path | None = None,
        cache: Path | None = None,
        keep_compiled: bool = True,
    ) -> Portico:
        """Portico over the storage of a dashboard that has users of its own. `component` is another file than the one in
        the package. What is compiled is kept in `cache`, or in the user's own folder for such files, and loaded from there:
        `keep_compiled=False` compiles at each start."""
        bytes = component.read_bytes() if component else shipped("portico.wasm")
        compiled = Compiled(bytes, (cache or default_cache()) if keep_compiled else None)
        imports = storage_imports(storage, icons or NoIcons())
        return cls(Engine(compiled, imports, limits or Limits()))

    @property
    def procedures(self) -> list[Procedure]:
        """All procedures: name, kind, access and cost."""
        return self.engine.procedures

    @property
    def sha256(self) -> str:
        """Of the component's file."""
        return self.engine.compiled.sha256

    def close(self) -> None:
        """Takes no more calls. Those that run go on."""
        self.engine.close()


def shipped(name: str) -> bytes:
    """A file of the package. In a checkout, where no wheel was built, it is the repository's own."""
    file = resources.files(__package__).joinpath(name)
    if file.is_file():
        return file.read_bytes()
    repository = Path(__file__).parent.parent.parent.parent
    places = {"portico.wasm": repository / "dist", "procedures.json": repository / "contract"}
    return (places[name] / name).read_bytes()
