"""Storage of examples/python-own-users that answers `retry`: so many times by `begin`, or by `commit`. The
component tries again, after waits that are not counted as its own time; six refusals are too many.

    cd examples/python-own-users; python ../../tests/embedding/collisions.py
"""

import logging
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, ".")

from dashboard.database import Database, create_tables
from dashboard.storage import Storage
from portico_dashboard import AppInput, Limits, Portico, PorticoError, limits, sandbox, signed_in

ADMIN = signed_in("a", ["admin"])


class Busy(sqlite3.OperationalError):
    """What SQLite says while another one writes."""

    sqlite_errorname = "SQLITE_BUSY"


class Colliding(Database):
    """A database that is busy so often."""

    begins = commits = 0

    def __init__(self, file: str) -> None:
        super().__init__(file)
        run = self.writer.run

        def refuse(sql: str, *values: Any) -> int:
            if sql == "BEGIN IMMEDIATE" and self.begins > 0:
                self.begins -= 1
                raise Busy("busy")
            if sql == "COMMIT" and self.commits > 0:
                self.commits -= 1
                raise Busy("busy")
            return run(sql, *values)

        self.writer.run = refuse  # type: ignore[method-assign]


class Clock:
    """The time of Portico, which goes on at once where it sleeps."""

    ahead = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def sleep(self, seconds: float) -> None:
        self.ahead += seconds


class Log(logging.Handler):
    """What Portico logs."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.levelname}: {record.getMessage()}")


class OneDatabase(Storage):
    """Storage over one database, for all threads of Portico: there is one call at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def database(self) -> Database:
        return self._database


def main(folder: str) -> None:
    """Fails where something is not as it should be."""
    file = str(Path(folder) / "dashboard.db")
    create_tables(file)
    database, log = Colliding(file), Log()
    logging.getLogger("portico").addHandler(log)
    clock = Clock()
    limits.time = sandbox.time = clock  # type: ignore[attr-defined]
    portico = Portico.open(storage=OneDatabase(database), limits=Limits(call=30), keep_compiled=False)

    def create(name: str, share: float) -> float:
        random.uniform = lambda least, most: share * most  # type: ignore[method-assign]
        began = clock.ahead
        portico.apps.create(ADMIN, AppInput(name=name, icon_url="/icon.svg"))
        return clock.ahead - began

    create("warm", 0.0)
    database.begins = 5
    took = create("begins", 0.1)
    assert took >= 0.2, f"0.0025 + 0.0075 + 0.0225 + 0.0675 + 0.1 s, and it took {took}"
    database.commits = 3
    took = create("commits", 0.1)
    assert took >= 0.032, f"0.0025 + 0.0075 + 0.0225 s, and it took {took}"
    # Longer than the component may work.
    database.begins = 5
    took = create("waits", 20.0)
    assert took >= 40.0, took
    assert log.messages == [], log.messages
    database.begins = 6
    try:
        create("never", 0.0)
    except PorticoError as refused:
        assert refused.code == "unavailable", refused
    else:
        raise AssertionError("it is refused after six tries")
    gave_up = "WARNING: 'gave up: a transaction collided with others in each of 6 tries'"
    assert log.messages == [gave_up], log.messages
    names = [row["title"] for row in database.writer.all("SELECT title FROM tiles ORDER BY title")]
    assert names == ["begins", "commits", "waits", "warm"], names


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="collisions-") as folder:
        main(folder)
