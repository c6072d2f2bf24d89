"""The ready storage over SQLAlchemy: what `portico:sql/database` asks of the dashboard's own database.

A call runs in a thread. With a plain engine it runs its statements there; with an asynchronous one it posts each to the
event loop of the call and waits, so that no coroutine is switched while the component is on the stack.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, cast

from . import contract, forks
from .codec import Err
from .sandbox import Imports, Running
from .storage import Icons, icon_imports

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

#: The most bytes of text in the rows of a statement.
LARGEST_ANSWER = 100_000_000
#: How many statements are kept as SQLAlchemy has parsed them. There are about 120.
STATEMENTS = 512

PLACEHOLDER = re.compile(r"[$?](\d+)|:")

#: SQLSTATEs after which a transaction may be tried again.
COLLISIONS = {"40001", "40P01", "55P03"}
UNIQUE, FOREIGN_KEY = "23505", "23503"


class Surroundings(Protocol):
    """Boards and search engines, which are the dashboard's own. Without them there are none, and everyone sees all
    apps."""

    def can_view_board(self, user_id: str, board_id: str) -> bool:
        """Whether a user may view a board."""
        ...

    def has_search_engine(self, id: str) -> bool:
        """Whether there is such a search engine."""
        ...

    def visible_apps_of(self, user_id: str | None) -> Sequence[str] | None:
        """The ids of the apps that a user sees (at most 10,000), or an anonymous caller. None: all."""
        ...


class NoSurroundings:
    """No boards and no search engines."""

    def can_view_board(self, user_id: str, board_id: str) -> bool:
        return False

    def has_search_engine(self, id: str) -> bool:
        return False

    def visible_apps_of(self, user_id: str | None) -> Sequence[str] | None:
        return None


@functools.lru_cache(maxsize=STATEMENTS)
def clause(sql: str, kinds: tuple[str, ...]) -> Any:
    """A statement with its parameters, `p1` and so on. A NULL has a type too, as PostgreSQL needs it."""
    import sqlalchemy

    types = {
        "text": sqlalchemy.Text,
        "number": sqlalchemy.BigInteger,
        "truth": sqlalchemy.Boolean,
        "bytes": sqlalchemy.LargeBinary,
    }
    text = PLACEHOLDER.sub(lambda found: f":p{found[1]}" if found[1] else r"\:", sql)
    named = {int(found[1]) for found in PLACEHOLDER.finditer(sql) if found[1]}
    bound = [
        sqlalchemy.bindparam(f"p{number}", type_=types[kind]())
        for number, kind in enumerate(kinds, 1)
        if number in named
    ]
    return sqlalchemy.text(text).bindparams(*bound)


class Answer:
    """The rows of a statement, and how many it changed."""

    def __init__(self, result: Any, wants_rows: bool) -> None:
        self.rows: list[Any] = list(result) if wants_rows and result.returns_rows else []
        self.changed = max(0, result.rowcount)
        if not wants_rows:
            result.close()


#: The pools of the process from which this one was forked: as long as they are kept, their connections are not closed.
INHERITED: list[Any] = []


def leave_connections(engine: Engine) -> None:
    """After a fork: lets the pool begin anew. The connections in it are those of the other process."""
    INHERITED.append(engine.pool)
    engine.dispose(close=False)


class Plain:
    """Statements over a plain engine."""

    def __init__(self, engine: Engine) -> None:
        self._whole = engine
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        # A statement that reads begins nothing in SQLite, and the option costs another statement there.
        self._reading = engine if engine.dialect.name == "sqlite" else self._engine

    def leave_connections(self) -> None:
        leave_connections(self._whole)

    def look_up(self, statement: Any, values: dict[str, Any]) -> Answer:
        with self._reading.connect() as connection:
            return Answer(connection.execute(statement, values), wants_rows=True)

    def begin(self, opening: list[str]) -> Connection:
        connection = self._engine.connect()
        try:
            for sql in opening:
                connection.exec_driver_sql(sql)
        except BaseException:
            # It may be inside a transaction that only this class knows of.
            connection.invalidate()
            connection.close()
            raise
        return connection

    def run(self, connection: Connection, statement: Any, values: dict[str, Any], wants_rows: bool) -> Answer:
        return Answer(connection.execute(statement, values), wants_rows)

    def end(self, connection: Connection, how: str) -> None:
        try:
            connection.exec_driver_sql(how)
        except BaseException:
            # It is in a state that is not known.
            connection.invalidate()
            raise
        finally:
            connection.close()


class Asynchronous:
    """The same over an asynchronous engine."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._whole = engine.sync_engine
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        # A statement that reads begins nothing in SQLite, and the option costs another statement there.
        self._reading = engine if engine.dialect.name == "sqlite" else self._engine

    def leave_connections(self) -> None:
        leave_connections(self._whole)

    async def look_up(self, statement: Any, values: dict[str, Any]) -> Answer:
        async with self._reading.connect() as connection:
            return Answer(await connection.execute(statement, values), wants_rows=True)

    async def begin(self, opening: list[str]) -> AsyncConnection:
        connection = await self._engine.connect()
        try:
            for sql in opening:
                await connection.exec_driver_sql(sql)
        except BaseException:
            await connection.invalidate()
            await connection.close()
            raise
        return connection

    async def run(
        self, connection: AsyncConnection, statement: Any, values: dict[str, Any], wants_rows: bool
    ) -> Answer:
        return Answer(await connection.execute(statement, values), wants_rows)

    async def end(self, connection: AsyncConnection, how: str) -> None:
        try:
            await connection.exec_driver_sql(how)
        except BaseException:
            await connection.invalidate()
            raise
        finally:
            await connection.close()


class SqlTransaction:
    """An open transaction: one connection."""

    def __init__(self, database: Plain | Asynchronous, connection: Any) -> None:
        self._database = database
        self.connection = connection

    def end(self, how: str) -> Any:
        """Ends it, and gives the connection back."""
        connection, self.connection = self.connection, None
        return self._database.end(connection, how) if connection is not None else None

    def drop(self) -> Any:
        """Rolls back, unless it is over."""
        return self.end("ROLLBACK")


def refusal(error: BaseException) -> contract.SqlRefusal:
    """An error of the database or of its driver. Without the statement and its values, which may be secrets."""
    chain: list[Any] = []
    pending: list[Any] = [error]
    while pending and len(chain) < 8:
        one = pending.pop(0)
        if one is not None and one not in chain:
            chain.append(one)
            pending += [getattr(one, "orig", None), getattr(one, "driver_exception", None), one.__cause__]
    for one in chain:
        name = getattr(one, "sqlite_errorname", None)
        if isinstance(name, str):
            return sqlite_refusal(name, str(one))
        state = getattr(one, "sqlstate", None)
        if isinstance(state, str):
            constraint = getattr(getattr(one, "diag", one), "constraint_name", None)
            return postgresql_refusal(state, str(constraint or ""))
    return contract.SqlRefusalUnavailable(type(error).__name__)


def sqlite_refusal(name: str, text: str) -> contract.SqlRefusal:
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return contract.SqlRefusalRetry()
    if name == "SQLITE_CONSTRAINT_FOREIGNKEY":
        return contract.SqlRefusalReference()
    if name in ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"):
        return contract.SqlRefusalUnique(text.partition("UNIQUE constraint failed: ")[2])
    return contract.SqlRefusalUnavailable(f"{name} {text}")


def postgresql_refusal(state: str, constraint: str) -> contract.SqlRefusal:
    if state in COLLISIONS:
        return contract.SqlRefusalRetry()
    if state == FOREIGN_KEY:
        return contract.SqlRefusalReference()
    if state == UNIQUE:
        return contract.SqlRefusalUnique(constraint)
    return contract.SqlRefusalUnavailable(f"SQLSTATE {state}")


class TooMuch(Exception):
    """The rows are too large."""


def cell(value: Any) -> contract.SqlCell:
    """A value of a row."""
    match value:
        case None:
            return contract.SqlCellNull()
        case str():
            return contract.SqlCellText(value)
        case bool():
            return contract.SqlCellTruth(value)
        case int():
            return contract.SqlCellNumber(value)
        case bytes():
            return contract.SqlCellBytes(value)
        case bytearray() | memoryview():
            return contract.SqlCellBytes(bytes(value))
        case Decimal() if value == int(value):
            return contract.SqlCellNumber(int(value))
    raise TypeError(f"a column has the type {type(value).__name__}")


def cells(rows: list[Any]) -> list[list[contract.SqlCell]]:
    """Rows as the component reads them. Raises `TooMuch`."""
    size, found = 0, []
    for row in rows:
        for value in row:
            if isinstance(value, str):
                size += len(value) if value.isascii() else len(value.encode())
            elif isinstance(value, bytes):
                size += len(value)
        if size > LARGEST_ANSWER:
            raise TooMuch
        found.append([cell(value) for value in row])
    return found


def parameters(values: list[Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The kinds of the parameters, and their values by name."""
    return tuple(value.tag for value in values), {f"p{number}": one.value for number, one in enumerate(values, 1)}


def sql_imports(
    engine: Engine | AsyncEngine,
    configuration: contract.Configuration,
    surroundings: Surroundings,
    icons: Icons,
) -> Imports:
    """The imports of the component that has the ready storage."""
    database: Plain | Asynchronous
    if hasattr(engine, "sync_engine"):
        database = Asynchronous(cast("AsyncEngine", engine))
    else:
        database = Plain(engine)
    forks.after_in_child(database.leave_connections)

    def attempt(running: Running, work: Callable[[], Any]) -> Any:
        """`result<t, database.error>`."""
        import sqlalchemy.exc

        try:
            return work()
        except TooMuch:
            return Err(contract.SqlRefusalTooLarge())
        except (sqlalchemy.exc.SQLAlchemyError, OverflowError, OSError) as error:
            found = refusal(error)
            running.collided = running.collided or found.tag == "retry"
            return Err(found)

    def look_up(running: Running, sql: str, values: list[Any]) -> Any:
        kinds, named = parameters(values)
        statement = clause(sql, kinds)
        found = "database.look_up"
        return attempt(running, lambda: cells(running.settle(database.look_up(statement, named), found).rows))

    def begin(running: Running, access: str, opening: list[str]) -> Any:
        if running.transactions:
            return Err(contract.SqlRefusalUnavailable("the call has a transaction open already"))
        running.wait_after_collision()

        def open() -> int:
            connection = running.settle(database.begin(opening), "database.begin")
            running.transactions[1] = SqlTransaction(database, connection)
            return 1

        return attempt(running, open)

    def run(running: Running, number: int, sql: str, values: list[Any], wants_rows: bool) -> Answer:
        kinds, named = parameters(values)
        transaction: SqlTransaction = running.transactions[number]
        work = database.run(transaction.connection, clause(sql, kinds), named, wants_rows)
        answer: Answer = running.settle(work, "database.run")
        return answer

    def query(running: Running, number: int, sql: str, values: list[Any]) -> Any:
        return attempt(running, lambda: cells(run(running, number, sql, values, wants_rows=True).rows))

    def execute(running: Running, number: int, sql: str, values: list[Any]) -> Any:
        return attempt(running, lambda: run(running, number, sql, values, wants_rows=False).changed)

    def commit(running: Running, number: int) -> Any:
        transaction: SqlTransaction = running.transactions.pop(number)
        return attempt(running, lambda: running.settle(transaction.end("COMMIT"), "database.commit"))

    def visible_apps_of(running: Running, user_id: str | None) -> contract.VisibleApps:
        ids = running.settle(surroundings.visible_apps_of(user_id), "surroundings.visible_apps_of")
        return contract.VisibleAppsAll() if ids is None else contract.VisibleAppsOnly(list(ids))

    def ask(name: str) -> Callable[..., Any]:
        function = getattr(surroundings, name)
        return lambda running, *values: running.settle(function(*values), f"surroundings.{name}")

    return {
        "sql/database": {
            "get-configuration": lambda running: configuration,
            "look-up": look_up,
            "begin": begin,
            "[method]transaction.query": query,
            "[method]transaction.execute": execute,
            "[static]transaction.commit": commit,
        },
        "sql/surroundings": {
            "can-view-board": ask("can_view_board"),
            "has-search-engine": ask("has_search_engine"),
            "visible-apps-of": visible_apps_of,
        },
        "icons": icon_imports(icons),
    }


def configuration_of(
    engine: Engine | AsyncEngine, prefix: str, session_idle: int, session_most: int
) -> contract.Configuration:
    """What the component has to know of the database. Raises `ValueError` for one that it cannot use."""
    name = engine.dialect.name
    if name not in ("sqlite", "postgresql"):
        raise ValueError(f"the ready storage speaks SQLite and PostgreSQL, and not {name}")
    if name == "sqlite" and engine.url.database in (None, "", ":memory:"):
        raise ValueError("a database of SQLite has to be a file: each connection to :memory: has another one")
    return contract.Configuration(
        dialect="sqlite" if name == "sqlite" else "postgresql",
        prefix=prefix,
        session_idle=session_idle * 1_000,
        session_most=session_most * 1_000,
    )
