"""Hashing a password takes tens of milliseconds of processor time, which on the thread of the event loop
would hold up everybody. So calls that hash run in a thread beside it, one after the other, over
connections of their own. While the component works, Python's lock is free: other requests go on.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..database import Database
from .component import HASHING_SECONDS, Call, Compiled, Component, Invocation, Refused, Surroundings
from .values import Record

#: So many calls may wait for their turn.
WAITING = 32


class Hashing:
    """The thread beside."""

    def __init__(self, compiled: Compiled, file: str, surroundings: Surroundings) -> None:
        """`file` is the database's."""
        self._component = Component(compiled, Database(file), surroundings)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hashing")
        self._waiting = 0

    async def run(self, call: Call, invocation: Invocation) -> Any:
        """Calls the component, when it is its turn."""
        if self._waiting >= WAITING:
            message = "Too many people sign in just now: try again"
            raise Refused(Record(code="unavailable", message=message, issues=[]))
        self._waiting += 1
        work = asyncio.get_running_loop().run_in_executor(
            self._thread, self._component.run, call, invocation, HASHING_SECONDS
        )
        # Also where the client went away: it is the work that takes a place, not who waits for it.
        work.add_done_callback(self._done)
        return await asyncio.shield(work)

    def _done(self, work: asyncio.Future[Any]) -> None:
        self._waiting -= 1
        if not work.cancelled():
            work.exception()

    def close(self) -> None:
        """Waits for the call under way."""
        self._thread.shutdown(cancel_futures=True)
