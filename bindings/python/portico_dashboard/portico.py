"""`Portico`: the rules over a dashboard's storage."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as WaitTimeout
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import contract
from .asgi import Application, Authenticate, PorticoApp, secret_of
from .codec import signature
from .compiled import Compiled, default_cache
from .contract import Caller, Procedure, UserCaller
from .errors import CallFailed, PorticoError
from .http import OwnPages
from .limits import Limits
from .sandbox import Imports, Running, Sandbox
from .storage import AsyncStorage, Icons, NoIcons, Storage, storage_imports
from .throttle import Throttle
from .workers import Work, Workers

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy.ext.asyncio import AsyncEngine

    from .sql import Surroundings

#: How long a session of the ready storage lasts without being used, and at most, in seconds.
SESSION_IDLE = 7 * 86_400
SESSION_MOST = 30 * 86_400

#: A caller who is not signed in.
ANONYMOUS = Caller()


def signed_in(id: str, permissions: Sequence[str], context: str = "") -> Caller:
    """A signed-in caller, with their permissions at this moment. A storage of the dashboard's own gets `context`: the id of the
    session, say. With the ready storage leave it out: `caller_of` fills it in where there is a session of Portico's."""
    return Caller(user=UserCaller(id=id, permissions=list(permissions)), context=context)


#: Functions that are not procedures and hash, or grow with the number of records.
LONG = {
    ("sign-in", "password"),
    ("sign-in", "external"),
    ("names", "keys"),
    ("sql/people", "migrate"),
    ("sql/people", "list-groups"),
    ("sql/people", "list-invites"),
}


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
        #: What has to be done before the first call, in the event loop that runs it.
        self._before: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self.needs_migration = False
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

    async def run_async(
        self, interface: str, function: str, *values: Any, then: Callable[[Any], Any] | None = None
    ) -> Any:
        """The same, without blocking the event loop. `then` is done with the result in the call's thread."""
        if self.needs_migration and function != "migrate":
            await self.migrate()
        work, running, workers = self._submit(interface, function, values, asyncio.get_running_loop(), then)
        try:
            # A client that goes away does not end a call.
            wrapped = asyncio.shield(asyncio.wrap_future(work.future))
            return await asyncio.wait_for(wrapped, self._patience(running))
        except TimeoutError:
            if work.future.done():
                raise
            raise self._give_up(work, running, workers) from None

    async def migrate(self) -> None:
        """Makes or upgrades the tables, once."""
        loop = asyncio.get_running_loop()
        started, migrated = self._before or (None, None)
        # A loop that has ended leaves it undone for ever. Two that do it at a time wait for each other in the database.
        if migrated is None or started is not loop or (migrated.done() and self.needs_migration):
            migrated = asyncio.ensure_future(self.run_async("sql/people", "migrate"))
            self._before = (loop, migrated)
        await asyncio.shield(migrated)
        self.needs_migration = False

    def _submit(
        self,
        interface: str,
        function: str,
        values: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop | None,
        then: Callable[[Any], Any] | None = None,
    ) -> tuple[Work, Running, Workers]:
        is_long = (interface, function) in self._long_functions
        caller = next((value for value in values if isinstance(value, Caller)), ANONYMOUS)
        seconds = self.limits.long_call if is_long else self.limits.call
        running = Running(caller, self.limits, seconds, loop)
        token = context_of(caller) if self._keeps_context else running.token
        names = signature(interface, function).names
        if names[:1] == ["context"]:
            values = (token, *values)
        elif names[:1] == ["caller"]:
            values = (Caller(user=caller.user, context=token), *values[1:])
        workers = self._long if is_long else self._short
        run = functools.partial(self._sandbox.run, interface, function, values, running)
        work = workers.submit(run if then is None else lambda: then(run()))
        return work, running, workers

    def _patience(self, running: Running) -> float:
        """How long to wait for a call: for a thread, for the component, and for one function that does not return."""
        return self.limits.wait + running.seconds + self.limits.storage

    def _give_up(self, work: Work, running: Running, workers: Workers) -> PorticoError:
        running.abandoned = True
        workers.abandon(work)
        if running.inside is None:
            return PorticoError("unavailable", "The call had to wait too long for its turn")
        name, since = running.inside
        return CallFailed(f"{name} has not returned in {time.monotonic() - since:.1f} s")

    def close(self) -> None:
        """Ends the threads when their calls are done."""
        self._short.close()
        self._long.close()


def context_of(caller: Caller) -> str:
    """What the ready storage has to know of a call. Without any context it would be its operator's: the dashboard vouches for
    a user by their id alone (`context` in `portico:sql/people`)."""
    return caller.context or (f"\n\n{caller.user.id}" if caller.user else "")


def function_of(procedure: str) -> tuple[str, str]:
    """The function of a procedure: `app.byId` is `by-id` of `apps`."""
    interface, _, name = procedure.partition(".")
    return f"{interface}s", "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


class AsyncPortico:
    """The same functions for an event loop. They do not block it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.users = contract.AsyncUsers(engine.run_async)
        self.apps = contract.AsyncApps(engine.run_async)
        self.sign_in = contract.AsyncSignIn(engine.run_async)
        self.names = contract.AsyncNames(engine.run_async)
        self.state = contract.AsyncState(engine.run_async)
        #: What the ready storage has besides: sessions, groups, invites and keys. See `Portico.people`.
        self.people = contract.AsyncPeople(engine.run_async)


    async def migrate(self) -> None:
        """Makes or upgrades the tables of the ready storage, where the engine is asynchronous. The first call does too."""
        await self._engine.migrate()

    async def caller_of(self, cookies: Mapping[str, str], authorization: str = "") -> Caller:
        """See `Portico.caller_of`."""
        secret = secret_of(cookies, authorization)[0]
        who = await self.people.authenticate(secret) if secret else None
        return who.caller if who else ANONYMOUS


class Portico:
    """Portico's rules over a dashboard's storage. Every function may be called in any thread.

    Raises `PorticoError`: with the code of the contract if a call is refused, and as `CallFailed` if it fails.
    """

    def __init__(self, engine: Engine, session_most: int = 0) -> None:
        """Use `open`."""
        self.engine = engine
        self._session_most = session_most
        self._has_people = engine.compiled.offers("sql/people")
        self.users = contract.Users(engine.run)
        self.apps = contract.Apps(engine.run)
        self.sign_in = contract.SignIn(engine.run)
        self.names = contract.Names(engine.run)
        self.state = contract.State(engine.run)
        #: What the ready storage has besides: sessions, groups, invites and keys. It checks no permission. With a storage
        #: of the dashboard's own, each of its functions fails.
        self.people = contract.People(engine.run)
        #: The same for an event loop: `await portico.aio.apps.by_id(caller, id)`.
        self.aio = AsyncPortico(engine)

    @classmethod
    def open(
        cls,
        database: sqlalchemy.Engine | AsyncEngine | None = None,
        *,
        storage: Storage | AsyncStorage | None = None,
        prefix: str = "portico_",
        session_idle: int = SESSION_IDLE,
        session_most: int = SESSION_MOST,
        surroundings: Surroundings | None = None,
        icons: Icons | None = None,
        limits: Limits | None = None,
        component: Path | None = None,
        cache: Path | None = None,
        keep_compiled: bool = True,
    ) -> Portico:
        """Portico over a database, or over a storage of the dashboard's own.

        `database` is an engine of SQLAlchemy, plain or asynchronous, for SQLite or PostgreSQL. Portico makes its tables
        there, whose names begin with `prefix`, and upgrades them: now, or with the first call where the engine is
        asynchronous. Sessions end when they were not used for `session_idle` seconds, and after `session_most`.

        `storage` is for a dashboard that has users of its own.

        `component` is another file than the one in the package. What is compiled is kept in `cache`, or in the user's own
        folder for such files, and loaded from there; `keep_compiled=False` compiles at each start.
        """
        if (database is None) == (storage is None):
            raise TypeError("give either a database or a storage")
        kept = (cache or default_cache()) if keep_compiled else None
        limits, icons = limits or Limits(), icons or NoIcons()
        if storage is not None:
            bytes = component.read_bytes() if component else shipped("portico.wasm")
            return cls(Engine(Compiled(bytes, kept), storage_imports(storage, icons), limits))

        from .sql import NoSurroundings, configuration_of, sql_imports

        assert database is not None
        configuration = configuration_of(database, prefix, session_idle, session_most)
        imports = sql_imports(database, configuration, surroundings or NoSurroundings(), icons)
        bytes = component.read_bytes() if component else shipped("portico-with-sql.wasm")
        engine = Engine(Compiled(bytes, kept), imports, limits, keeps_context=True)
        found = cls(engine, session_most)
        if hasattr(database, "sync_engine"):
            engine.needs_migration = True
        else:
            found.people.migrate()
        return found

    @property
    def procedures(self) -> list[Procedure]:
        """All procedures: name, kind, access and cost."""
        return self.engine.procedures

    @property
    def sha256(self) -> str:
        """Of the component's file."""
        return self.engine.compiled.sha256

    def caller_of(self, cookies: Mapping[str, str], authorization: str = "") -> Caller:
        """With the ready storage, for the dashboard's own routes: who sent a request with these cookies, and this header."""
        secret = secret_of(cookies, authorization)[0]
        who = self.people.authenticate(secret) if secret else None
        return who.caller if who else ANONYMOUS

    def asgi(
        self,
        authenticate: Authenticate | None = None,
        *,
        throttle: Throttle | None = None,
        prefix: str = "",
        otherwise: Application | None = None,
        public_url: str | None = None,
        origins: Sequence[str] = (),
    ) -> PorticoApp:
        """An ASGI application with the procedures at `trpc/…`. With the ready storage and without `authenticate` it also
        has `session`, with cookie, origin rule and throttle. `otherwise` gets the requests that are not for `prefix`: Django,
        say. `public_url` is where people reach the dashboard, and `origins` are those of further pages that may change
        something. Without `public_url`, the host of each request counts: give it if a proxy names another one, and if
        the first user is made in a browser."""
        if authenticate is None and not self._has_people:
            raise TypeError("give authenticate: a storage of your own has no sessions that Portico knows")
        inputs = shipped("procedures.json")
        own = OwnPages(public_url, origins)
        return PorticoApp(
            self, inputs, authenticate, throttle, prefix, otherwise, self._session_most, own_pages=own
        )

    def trpc(
        self, authenticate: Authenticate, *, public_url: str | None = None, origins: Sequence[str] = ()
    ) -> PorticoApp:
        """An ASGI application with nothing but the procedures, to be mounted where tRPC clients expect them: `/trpc`. See
        `asgi` for the rest."""
        own = OwnPages(public_url, origins)
        return PorticoApp(self, shipped("procedures.json"), authenticate, only_procedures=True, own_pages=own)

    def close(self) -> None:
        """Takes no more calls. Those that run go on."""
        self.engine.close()


def shipped(name: str) -> bytes:
    """A file of the package. In a checkout, where no wheel was built, it is the repository's own."""
    file = resources.files(__package__).joinpath(name)
    if file.is_file():
        return file.read_bytes()
    repository = Path(__file__).parent.parent.parent.parent
    folder = "dist" if name.endswith(".wasm") else "contract"
    return (repository / folder / name).read_bytes()
