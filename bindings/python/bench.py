"""What `app.byId` costs in process, over the bare statement: with the ready storage over SQLAlchemy on SQLite, and with a
storage of one's own over `sqlite3`. Processor time of one call, the median of the rounds. Then what memory does over 10,000
calls, each of which has an instance of its own.

    python bench.py [CALLS] [ROUNDS]
"""

import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy

from portico_dashboard import ANONYMOUS, Access, App, AppInput, Caller, NewAccount, Portico, signed_in

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
APP = AppInput(name="Jellyfin", icon_url="/j.svg", description="Films", href="https://jellyfin.example/")


class OneApp:
    """A storage that finds apps by id, with one statement."""

    SQL = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?"

    def __init__(self, file: str) -> None:
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        columns = "id TEXT PRIMARY KEY, name TEXT, description TEXT, icon_url TEXT, href TEXT, ping_url TEXT"
        self._db.execute(f"CREATE TABLE app ({columns})")

    def begin(self, access: Access, caller: Caller) -> Any:
        return self

    def get_app(self, id: str, viewer: Any) -> App | None:
        row = self._db.execute(self.SQL, (id,)).fetchone()
        return row and App(id=row[0], name=row[1], description=row[2], icon_url=row[3], href=row[4], ping_url=row[5])

    def insert_apps(self, apps: list[Any]) -> None:
        for stored in apps:
            app = stored.app
            values = (app.id, app.name, app.description, app.icon_url, app.href, app.ping_url)
            self._db.execute("INSERT INTO app VALUES (?, ?, ?, ?, ?, ?)", values)

    def commit(self) -> None:
        pass

    def drop(self) -> None:
        pass


def measure(work: Callable[[], Any]) -> float:
    """Microseconds of processor time of one call."""
    work()
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            work()
        rounds.append((time.process_time() - began) / CALLS * 1e6)
    return statistics.median(rounds)


def report(name: str, bare: float, whole: float) -> None:
    print(f"app.byId in process  {name:24} {whole:6.0f} us cpu, the statement {bare:4.0f}, over it {whole - bare:5.0f}")


def main(folder: str) -> None:
    storage = OneApp(f"{folder}/own.db")
    own = Portico.open(storage=storage)
    id = own.apps.create(signed_in("ada", ["admin"]), APP).id
    bare = measure(lambda: storage.get_app(id, None))
    report("storage of one's own", bare, measure(lambda: own.apps.by_id(ANONYMOUS, id)))

    def most_resident(calls: int) -> int:
        for _ in range(calls):
            own.apps.by_id(ANONYMOUS, id)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

    before, after = most_resident(1_000), most_resident(10_000)
    print(f"memory after 1,000 fresh instances {before} MiB, after 10,000 more {after} MiB, at most")

    engine = sqlalchemy.create_engine(f"sqlite:///{folder}/ready.db")
    ready = Portico.open(engine)
    ada = ready.users.init_user(ANONYMOUS, NewAccount(username="ada", password="correct horse"))
    id = ready.apps.create(signed_in(ada, ["admin"]), APP).id
    statement = sqlalchemy.text("SELECT * FROM portico_app WHERE id = :id")

    def select() -> Any:
        with engine.connect() as connection:
            return connection.execute(statement, {"id": id}).all()

    bare = measure(select)
    report("SQLAlchemy on SQLite", bare, measure(lambda: ready.apps.by_id(ANONYMOUS, id)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="portico-bench-") as folder:
        main(folder)
