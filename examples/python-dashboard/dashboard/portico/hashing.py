"""Runs calls that hash passwords in a thread of their own, one after the other, over their own connections.
A hash takes tens of milliseconds of processor time, which would block the event loop. While the component
works, Python's lock is free, so other requests continue.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..database import Database
from .component import HASHING_SECONDS, Call, Compiled, Component, Invocation, Refused, Surroundings
from .values import Record, Variant

#: How many calls may wait.
WAITING = 32


class Hashing:
    """The hashing thread."""

    def __init__(self, compiled: Compiled, file: str, surroundings: Surroundings) -> None:
        """`file` is the database file."""
        self._component = Component(compiled, Database(file), surroundings)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hashing")
        self._waiting = 0

    async def run(self, call: Call, invocation: Invocation) -> Any:
        """Calls the component when the calls before it are done."""
        if self._waiting >= WAITING:
            message = "Too many passwords are being hashed: try again"
            raise Refused(Record(code=Variant("unavailable"), message=message, issues=[]))
        self._waiting += 1
        work = asyncio.get_running_loop().run_in_executor(
            self._thread, self._component.run, call, invocation, HASHING_SECONDS
        )
        # Also after the client has gone away: the work still occupies the queue.
        work.add_done_callback(self._done)
        return await asyncio.shield(work)

    def _done(self, work: asyncio.Future[Any]) -> None:
        self._waiting -= 1
        if not work.cancelled():
            work.exception()

    def close(self) -> None:
        """Waits for the running call."""
        self._thread.shutdown(cancel_futures=True)
