"""The storage that a dashboard with users of its own implements, and how the component reaches it.

`wit/storage.wit` of the repository, whose comments `contract.Transaction` has, says what each function must do.
"""

from typing import Any, Protocol

from . import wire
from .codec import Err
from .contract import Access, AsyncTransaction, Caller, StorageRefusalUnavailable, Transaction
from .errors import Unavailable
from .sandbox import Imports, Running, refusing

__all__ = ["AsyncStorage", "AsyncTransaction", "Icons", "Storage", "Transaction", "storage_imports"]


class Storage(Protocol):
    """A dashboard's own storage. Its functions are called in threads of Portico's, those of one transaction in one
    thread. They return values, and refuse by raising a `StorageError`."""

    def begin(self, access: Access, caller: Caller) -> Transaction:
        """Begins a transaction for a call of this caller. `caller.context` is what the dashboard gave with the call."""
        ...


class AsyncStorage(Protocol):
    """The same, asynchronously: the functions run on the event loop of the call."""

    async def begin(self, access: Access, caller: Caller) -> AsyncTransaction:
        """Begins a transaction for a call of this caller."""
        ...


class Icons(Protocol):
    """Icons by name, for apps that are created without one."""

    def find(self, names: list[str]) -> list[str | None]:
        """For each name, the URL of an icon that fits it, or None."""
        ...

    def default_icon(self) -> str:
        """The icon for names that fit none."""
        ...


class NoIcons:
    """One icon for all, which a page can draw without asking for it."""

    ICON = (
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E"
        "%3Crect x='4' y='4' width='16' height='16' rx='3' fill='gray'/%3E%3C/svg%3E"
    )

    def find(self, names: list[str]) -> list[str | None]:
        return [None for _ in names]

    def default_icon(self) -> str:
        return self.ICON


class Open:
    """An open transaction: after a function has failed it takes nothing more, and is rolled back instead of committed."""

    def __init__(self, transaction: Any) -> None:
        self.transaction = transaction
        self._failed = False
        self._over = False

    def call(self, running: Running, name: str, values: tuple[Any, ...]) -> Any:
        """Calls a function of the dashboard's."""
        if self._failed or self._over:
            return Err(StorageRefusalUnavailable("a function of this transaction failed before, or it is over"))
        self._failed = True
        method = getattr(self.transaction, name)
        answer = refusing(lambda: running.settle(method(*values), f"storage.{name}"), running)
        self._failed = isinstance(answer, Err)
        return answer

    def commit(self, running: Running) -> Any:
        """Commits, unless a function has failed."""
        answer = self.call(running, "commit", ())
        self._over = not isinstance(answer, Err)
        return answer

    def drop(self) -> Any:
        """Rolls back, unless it is over."""
        if not self._over:
            self._over = True
            return self.transaction.drop()
        return None


def storage_imports(storage: Storage | AsyncStorage, icons: Icons) -> Imports:
    """The imports `storage` and `icons`."""

    def begin(running: Running, access: Access, context: str) -> Any:
        def open() -> int:
            if context != running.token:
                raise Unavailable("no call is running with this context")
            # Portico's component opens one at a time; another component could open thousands.
            if running.transactions:
                raise Unavailable("the call has a transaction open already")
            running.wait_after_collision()
            transaction = running.settle(storage.begin(access, running.caller), "storage.begin")
            running.transactions[1] = Open(transaction)
            return 1

        return refusing(open, running)

    def commit(running: Running, number: int) -> Any:
        transaction: Open = running.transactions[number]
        answer = transaction.commit(running)
        running.settle(transaction.drop(), "transaction.drop")
        del running.transactions[number]
        return answer

    def method(name: str) -> Any:
        def call(running: Running, number: int, *values: Any) -> Any:
            return running.transactions[number].call(running, name, values)

        return call

    functions: dict[str, Any] = {"begin": begin, "[static]transaction.commit": commit}
    for item in wire.FUNCTIONS["storage"]:
        if item.startswith("[method]"):
            name = item.partition(".")[2].replace("-", "_")
            functions[item] = method({"except": "except_"}.get(name, name))
    return {"storage": functions, "icons": icon_imports(icons)}


def icon_imports(icons: Icons) -> dict[str, Any]:
    """The import `icons`."""
    return {
        "find": lambda running, names: running.settle(icons.find(names), "icons.find"),
        "default-icon": lambda running: running.settle(icons.default_icon(), "icons.default_icon"),
    }
