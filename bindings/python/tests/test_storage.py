"""Calls over a dashboard's own storage, and what a storage that misbehaves costs."""

import asyncio
import threading
import time
from typing import Any

import pytest
from memory import Apps

from portico_dashboard import (
    ANONYMOUS,
    App,
    AppChange,
    AppInput,
    Caller,
    CallFailed,
    ConstraintViolated,
    Limits,
    Portico,
    PorticoError,
    Retry,
    Unavailable,
    capi,
)


def test_an_app_that_is_created_is_found(portico: Portico, me: Caller, jellyfin: AppInput) -> None:
    created = portico.apps.create(me, jellyfin)
    assert isinstance(created, App)
    assert portico.apps.by_id(ANONYMOUS, created.id) == created
    assert (created.name, created.icon_url, created.description) == ("Jellyfin", "/j.svg", None)


def test_storage_gets_the_whole_caller(portico: Portico, storage: Apps, me: Caller) -> None:
    portico.apps.all(me)
    assert storage.callers[-1] == me


def test_a_refusal_has_code_issues_and_status(portico: Portico, me: Caller) -> None:
    with pytest.raises(PorticoError) as refused:
        portico.apps.create(me, AppInput(name="", icon_url="/j.svg"))
    assert (refused.value.code, refused.value.http_status) == ("bad-request", 400)
    assert [issue.path for issue in refused.value.issues] == [("name",)]
    assert not isinstance(refused.value, CallFailed)
    with pytest.raises(PorticoError, match="not-found"):
        portico.apps.update(me, AppChange(id="none", name="Other"))
    with pytest.raises(PorticoError, match="unauthorized"):
        portico.apps.all(ANONYMOUS)


def test_texts_of_all_kinds_come_back_as_they_were(portico: Portico, me: Caller) -> None:
    for name in ("é", "漢字", "🎬 films", "a" * 64):
        app = portico.apps.create(me, AppInput(name=name, icon_url="/i.svg", description="two\nlines"))
        assert portico.apps.by_id(me, app.id) == app


def test_an_argument_of_a_wrong_type_is_named(portico: Portico, me: Caller) -> None:
    with pytest.raises(CallFailed, match="apps.by-id: id: a str was expected, and it is of the type int"):
        portico.apps.by_id(me, 5)  # type: ignore[arg-type]
    with pytest.raises(CallFailed, match="input.name: a str without halves of surrogate pairs"):
        portico.apps.create(me, AppInput(name="\ud800", icon_url="/i.svg"))
    with pytest.raises(CallFailed, match="page: an int from 0 to 4294967295"):
        portico.apps.get_paginated(me, 1 << 32, 10)


def raising(*arguments: Any) -> Any:
    raise KeyError("a bug")


@pytest.mark.parametrize(
    ("function", "instead", "message"),
    [
        ("begin", raising, "storage.begin raised KeyError: 'a bug'"),
        ("get_app", raising, "storage.get_app raised KeyError: 'a bug'"),
        ("get_app", lambda id, viewer: "text", "storage.get_app returned a wrong shape: a App was expected"),
        (
            "get_app",
            lambda id, viewer: App(id=id, name=5, icon_url="/"),  # type: ignore[arg-type]
            "storage.get_app returned a wrong shape: name: a str was expected, and it is of the type int",
        ),
        ("drop", raising, "transaction.drop raised KeyError: 'a bug'"),
    ],
)
def test_a_storage_that_raises_or_returns_a_wrong_shape_costs_that_call_a_clear_error(
    portico: Portico, storage: Apps, me: Caller, jellyfin: AppInput, function: str, instead: Any, message: str
) -> None:
    created = portico.apps.create(me, jellyfin)
    storage.instead[function] = instead
    with pytest.raises(CallFailed) as failed:
        portico.apps.by_id(me, created.id)
    assert message in str(failed.value)
    storage.instead.clear()
    assert portico.apps.by_id(me, created.id) == created


def test_a_function_that_never_returns_costs_its_call_and_no_thread(
    hurried: Portico, storage: Apps, me: Caller, jellyfin: AppInput
) -> None:
    portico = hurried
    created = portico.apps.create(me, jellyfin)
    never = threading.Event()
    storage.instead["get_app"] = lambda id, viewer: never.wait(60)
    for _ in range(2):
        with pytest.raises(CallFailed, match=r"storage.get_app has not returned in \d"):
            portico.apps.by_id(me, created.id)
    storage.instead.clear()
    assert portico.apps.by_id(me, created.id) == created
    never.set()


def test_after_too_many_such_functions_calls_are_refused_until_one_returns(
    portico: Portico, storage: Apps, me: Caller, jellyfin: AppInput
) -> None:
    created = portico.apps.create(me, jellyfin)
    portico = Portico.open(storage=storage, limits=Limits(call=10, storage=2, wait=1, threads=1, abandoned=1))
    never = threading.Event()
    storage.instead["get_app"] = lambda id, viewer: never.wait(60) and None
    with pytest.raises(CallFailed, match="has not returned"):
        portico.apps.by_id(me, created.id)
    storage.instead.clear()
    with pytest.raises(PorticoError, match="unavailable: Too many calls"):
        portico.apps.by_id(me, created.id)
    never.set()
    ends = time.monotonic() + 60
    while True:
        try:
            assert portico.apps.by_id(me, created.id) == created
            return
        except PorticoError:
            assert time.monotonic() < ends


def test_storage_refuses_by_raising(portico: Portico, storage: Apps, me: Caller, jellyfin: AppInput) -> None:
    def refuse(error: Exception) -> Any:
        def function(*arguments: Any) -> Any:
            raise error

        return function

    storage.instead["insert_apps"] = refuse(ConstraintViolated("id"))
    with pytest.raises(PorticoError) as failed:
        portico.apps.create(me, jellyfin)
    assert failed.value.code == "internal"
    storage.instead["insert_apps"] = refuse(Unavailable("the disk is full"))
    with pytest.raises(PorticoError) as failed:
        portico.apps.create(me, jellyfin)
    assert failed.value.code == "unavailable"
    assert storage.apps == {} and storage.open == 0


def test_a_transaction_that_collided_is_tried_again(
    portico: Portico, storage: Apps, me: Caller, jellyfin: AppInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: list[float] = []

    def no_wait(least: float, most: float) -> float:
        bounds.append(most)
        return 0.0

    monkeypatch.setattr("portico_dashboard.limits.random.uniform", no_wait)
    left = [3]

    def collide(apps: Any) -> None:
        if left[0]:
            left[0] -= 1
            raise Retry
        storage.instead.clear()

    storage.instead["insert_apps"] = collide
    portico.apps.create(me, jellyfin)
    assert bounds == pytest.approx([0.025, 0.075, 0.225])


class Asynchronously:
    """The storage, with functions that are asynchronous."""

    def __init__(self, storage: Apps, pause: float = 0.0) -> None:
        self._storage = storage
        self.pause = pause

    def __getattr__(self, name: str) -> Any:
        async def function(*arguments: Any) -> Any:
            await asyncio.sleep(self.pause)
            answer = getattr(self._storage, name)(*arguments)
            return Asynchronously(answer, self.pause) if name == "begin" else answer

        return function


def test_asynchronous_storage_runs_on_the_loop(storage: Apps, me: Caller, jellyfin: AppInput) -> None:
    portico = Portico.open(storage=Asynchronously(storage))

    async def session() -> None:
        created = await portico.aio.apps.create(me, jellyfin)
        assert await portico.aio.apps.by_id(me, created.id) == created
        assert len(await asyncio.gather(*(portico.aio.apps.all(me) for _ in range(20)))) == 20

    asyncio.run(session())
    with pytest.raises(CallFailed, match="storage.begin is asynchronous: call Portico by portico.aio"):
        portico.apps.all(me)


def test_an_asynchronous_function_that_never_returns_is_cancelled(storage: Apps, me: Caller) -> None:
    slow = Asynchronously(storage, pause=60.0)
    portico = Portico.open(storage=slow, limits=Limits(call=60.0, storage=1.0))

    async def session() -> None:
        with pytest.raises(CallFailed, match="storage.begin has not returned in 1 s"):
            await portico.aio.apps.all(me)
        slow.pause = 0.0
        assert await portico.aio.apps.all(me) == []

    asyncio.run(session())


def test_five_thousand_apps_are_converted_outside_the_thread_of_the_loop(
    portico: Portico, storage: Apps, me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()

    class Watched(App):
        """Notes in which thread it is read, for the component."""

        def __getattribute__(self, name: str) -> Any:
            threads.add(threading.get_ident())
            return super().__getattribute__(name)

    def delete_value(result: Any) -> None:
        """Runs when the result has been read, in the same thread."""
        threads.add(threading.get_ident())
        forget(result)

    forget = capi.delete_value
    monkeypatch.setattr(capi, "delete_value", delete_value)
    storage.apps = {
        f"a{number}": Watched(id=f"a{number}", name="Jellyfin", icon_url="/j.svg") for number in range(5_000)
    }
    threads.clear()

    async def session() -> int:
        return len(await portico.aio.apps.all(me))

    assert asyncio.run(session()) == 5_000
    assert len(threads) == 1
    assert threading.get_ident() not in threads
