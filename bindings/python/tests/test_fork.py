"""A process that was forked after Portico was opened, as `gunicorn --preload` does it."""

import os
import signal
from collections.abc import Callable

import pytest
import sqlalchemy

from portico_dashboard import ANONYMOUS, AppInput, Caller, CallFailed, Portico, signed_in


def succeeds_in_a_fork(work: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        # Ends a child that hangs.
        signal.alarm(30)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_process_calls_portico(portico: Portico, me: Caller, jellyfin: AppInput) -> None:
    created = portico.apps.create(me, jellyfin)

    def work() -> None:
        assert portico.apps.all(me) == [created]
        assert portico.apps.by_id(me, created.id) == created

    assert portico.apps.all(me) == [created]
    assert succeeds_in_a_fork(work)
    assert portico.apps.all(me) == [created]


def test_a_call_without_end_fails_in_a_forked_process_too(hostile: Portico) -> None:
    def work() -> None:
        with pytest.raises(CallFailed, match="the call took longer than 2 s"):
            hostile.apps.by_id(ANONYMOUS, "hostile:loop")

    assert succeeds_in_a_fork(work)


def test_a_forked_process_uses_no_connection_of_the_one_it_comes_from(engine: sqlalchemy.Engine) -> None:
    me = signed_in("ada", ["admin"])
    portico = Portico.open(engine)
    inherited = engine.pool

    def work() -> None:
        assert portico.apps.all(me) == []
        assert engine.pool is not inherited and inherited.checkedin() == 1  # type: ignore[attr-defined]

    assert inherited.checkedin() == 1  # type: ignore[attr-defined]
    assert succeeds_in_a_fork(work)
    assert portico.apps.all(me) == []
