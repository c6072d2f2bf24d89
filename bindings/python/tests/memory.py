"""A storage in memory that knows apps and whether there are users, for the tests of the package."""

from collections.abc import Callable
from typing import Any

from portico_dashboard import Access, App, Caller


class Apps:
    """Storage. `instead` replaces a function: what it returns is returned."""

    def __init__(self) -> None:
        self.apps: dict[str, App] = {}
        self.instead: dict[str, Callable[..., Any]] = {}
        self.callers: list[Caller] = []
        self.open = 0

    def begin(self, access: Access, caller: Caller) -> Any:
        self.callers.append(caller)
        if "begin" in self.instead:
            return self.instead["begin"](access, caller)
        return Transaction(self)


class Transaction:
    """One transaction: what it writes counts when it commits."""

    def __init__(self, on: Apps) -> None:
        self._on = on
        self._apps = dict(on.apps)
        on.open += 1

    def __getattribute__(self, name: str) -> Any:
        on: Apps = object.__getattribute__(self, "_on")
        return on.instead.get(name) or object.__getattribute__(self, name)

    def commit(self) -> None:
        self._on.apps = self._apps
        self._on.open -= 1

    def drop(self) -> None:
        self._on.open -= 1

    def has_users(self) -> bool:
        return True

    def get_app(self, id: str, viewer: Any) -> App | None:
        return self._apps.get(id)

    def get_apps(self, ids: list[str], viewer: Any) -> list[App]:
        return [self._apps[id] for id in ids if id in self._apps]

    def list_apps(self, filter: Any, slice: Any) -> list[App]:
        return list(self._apps.values())

    def count_apps(self, filter: Any) -> int:
        return len(self._apps)

    def insert_apps(self, apps: list[Any]) -> None:
        self._apps |= {stored.app.id: stored.app for stored in apps}
