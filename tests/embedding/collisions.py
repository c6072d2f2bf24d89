"""Storage of examples/python-dashboard that answers `retry`: so many times by `begin`, or by `commit`. The
component tries again, after waits that are not counted as its own time; six refusals are too many.

    cd examples/python-dashboard; python ../../tests/embedding/collisions.py
"""

import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, ".")

from dashboard.database import Database, create_tables
from dashboard.portico import component as bridge
from dashboard.portico.component import Call, Compiled, Component, Invocation, Refused
from dashboard.portico.values import Record

ADMIN = Record(id="a", permissions=["admin"])


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


class Surroundings:
    """An icon for everything, and a log to look at."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def find_icons(self, names: list[str]) -> list[str | None]:
        return [None for _ in names]

    def default_icon(self) -> str:
        return "/icon.svg"

    def log(self, level: str, message: str) -> None:
        self.messages.append(f"{level}: {message}")


def main(folder: str) -> None:
    """Fails where something is not as it should be."""
    file = str(Path(folder) / "dashboard.db")
    create_tables(file)
    database, surroundings = Colliding(file), Surroundings()
    component = Component(Compiled(Path("../../dist/portico.wasm")), database, surroundings)

    def create(name: str, share: float, seconds: float = 2.0) -> float:
        random.uniform = lambda least, most: share * most  # type: ignore[method-assign]
        app = Record(name=name, icon_url="/icon.svg", description=None, href=None, ping_url=None)
        began = time.monotonic()
        component.run(Call(ADMIN), Invocation("apps", "create", (app,)), seconds)
        return time.monotonic() - began

    create("warm", 0.0)
    database.begins = 5
    took = create("begins", 0.1)
    assert took >= 0.2, f"0.0025 + 0.0075 + 0.0225 + 0.0675 + 0.1 s, and it took {took}"
    database.commits = 3
    took = create("commits", 0.1)
    assert took >= 0.032, f"0.0025 + 0.0075 + 0.0225 s, and it took {took}"
    # Longer than the component may work.
    database.begins = 5
    took = create("waits", 0.5, seconds=2 * bridge.TICK)
    assert took >= 1.0, took
    assert surroundings.messages == []
    database.begins = 6
    try:
        create("never", 0.0)
    except Refused as refused:
        assert refused.error.code.tag == "unavailable", refused.error
    else:
        raise AssertionError("it is refused after six tries")
    assert surroundings.messages == ["warn: gave up: a transaction collided with others in each of 6 tries"]
    names = [row["title"] for row in database.writer.all("SELECT title FROM tiles ORDER BY title")]
    assert names == ["begins", "commits", "waits", "warm"], names


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="collisions-") as folder:
        main(folder)
