"""The dashboard's database: SQLite with Python's own driver, which is synchronous.

A file has one writer at a time. Each thread has one connection for writing. Each read-only transaction has
its own connection, so it sees one state from its first read to its end.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

#: How long a statement waits while another process or thread writes. It blocks its thread.
BUSY_SECONDS = 5.0

SCHEMA = Path(__file__).with_name("schema.sql")

Value = str | int | bytes | None
Row = sqlite3.Row
T = TypeVar("T")


class Connection:
    """A connection, used by one thread at a time. Transactions begin where a statement says so."""

    def __init__(self, file: str) -> None:
        self._connection = sqlite3.connect(
            file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = Row
        self.run("PRAGMA journal_mode = WAL")
        # A commit survives a power cut once it is answered.
        self.run("PRAGMA synchronous = FULL")
        self.run("PRAGMA foreign_keys = ON")

    def first(self, sql: str, *values: Value) -> Any:
        """The first row, or None."""
        return self._connection.execute(sql, values).fetchone()

    def all(self, sql: str, *values: Value) -> list[Any]:
        """All rows."""
        return self._connection.execute(sql, values).fetchall()

    def iterate(self, sql: str, *values: Value) -> Generator[Any, None, None]:
        """One row after the other. Close it if you stop early: a statement that stays open keeps later transactions
        of this connection at the state that it sees."""
        cursor = self._connection.execute(sql, values)
        try:
            yield from cursor
        finally:
            cursor.close()

    def run(self, sql: str, *values: Value) -> int:
        """How many rows a statement changed."""
        return self._connection.execute(sql, values).rowcount

    def execute(self, script: str) -> None:
        """Runs several statements."""
        self._connection.executescript(script)

    def close(self) -> None:
        """Rolls back what is open."""
        self._connection.close()


def create_tables(file: str) -> None:
    """Creates missing tables of the dashboard."""
    connection = Connection(file)
    connection.execute(SCHEMA.read_text("utf-8"))
    connection.close()


class Database:
    """The connections of one thread to a file that has its tables."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._idle: list[Connection] = []
        #: For writing, and for the dashboard's own statements.
        self.writer = Connection(file)
        #: Whether a write transaction is open.
        self.writing = False

    def take_reader(self) -> Connection:
        """A connection for a read-only transaction. Give it back afterwards."""
        return self._idle.pop() if self._idle else Connection(self._file)

    def give_back(self, reader: Connection) -> None:
        """After the transaction."""
        self._idle.append(reader)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Runs the dashboard's own work in a write transaction."""
        self.writer.run("BEGIN IMMEDIATE")
        try:
            result = work(self.writer)
            self.writer.run("COMMIT")
            return result
        except BaseException:
            self.writer.run("ROLLBACK")
            raise


def hash_of(secret: str) -> bytes:
    """The hash that is stored for a secret."""
    return hashlib.sha256(secret.encode()).digest()
