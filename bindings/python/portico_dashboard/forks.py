"""What is done in a process that was forked (gunicorn `--preload`, uWSGI, multiprocessing): it has a copy of everything except
for the threads."""

import os
import weakref
from collections.abc import Callable
from typing import Any

_methods: set[weakref.WeakMethod[Callable[[], Any]]] = set()


def after_in_child(method: Callable[[], Any]) -> None:
    """Calls this method in each forked process before anything else of Portico runs there, as long as its object is used."""
    _methods.add(weakref.WeakMethod(method, _methods.discard))


def _forked() -> None:
    for reference in list(_methods):
        if method := reference():
            method()


os.register_at_fork(after_in_child=_forked)
