"""Threads in which calls run. A thread that storage never gives back is left to itself, and another takes its place.

A process that was forked has none of them: it starts threads of its own with its first call.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from . import forks
from .errors import PorticoError


class Work:
    """One piece of work, and what becomes of it."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.run = run
        self.future: Future[Any] = Future()
        self.began = threading.Event()
        #: Whether its thread has been replaced.
        self.abandoned = False


class Workers:
    """Threads of one kind. They are daemons: a process that has nothing else to do ends."""

    def __init__(self, name: str, threads: int, waiting: int, most_abandoned: int) -> None:
        self._name = name
        self._threads = threads
        self._most_waiting = waiting
        self._most_abandoned = most_abandoned
        self._closed = False
        self._forget_threads()
        forks.after_in_child(self._forget_threads)

    def _forget_threads(self) -> None:
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running = 0
        self._idle = 0
        self._abandoned = 0

    def submit(self, run: Callable[[], Any]) -> Work:
        """Runs work in one of the threads. Raises `PorticoError` (`unavailable`) if too much waits."""
        work = Work(run)
        with self._lock:
            if self._closed:
                raise PorticoError("unavailable", "Portico is closed")
            if self._queue.qsize() >= self._most_waiting or self._abandoned >= self._most_abandoned:
                raise PorticoError("unavailable", "Too many calls are waiting: try again")
            if self._idle <= self._queue.qsize() and self._running < self._threads:
                self._start()
        self._queue.put(work)
        return work

    def abandon(self, work: Work) -> None:
        """No caller waits for this work any more. If it runs, another thread takes the place of its own."""
        with self._lock:
            if work.future.cancel() or work.future.done() or work.abandoned:
                return
            work.abandoned = True
            self._abandoned += 1
            self._running -= 1
            if not self._closed:
                self._start()

    def close(self) -> None:
        """The threads end when they have done what they do."""
        with self._lock:
            self._closed = True
            for _ in range(self._running):
                self._queue.put(None)

    def _start(self) -> None:
        self._running += 1
        threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while True:
            self._idle += 1
            work = self._queue.get()
            self._idle -= 1
            if work is None:
                return
            if not work.future.set_running_or_notify_cancel():
                continue
            work.began.set()
            try:
                work.future.set_result(work.run())
            except BaseException as error:
                work.future.set_exception(error)
            with self._lock:
                if work.abandoned:
                    self._abandoned -= 1
                    return
            del work
