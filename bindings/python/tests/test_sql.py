"""The ready storage over SQLAlchemy, plain and asynchronous, on SQLite, and on PostgreSQL where PORTICO_TEST_POSTGRESQL names
one (a URL of SQLAlchemy's)."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

from portico_dashboard import (
    ANONYMOUS,
    AppInput,
    Caller,
    CallFailed,
    NewAccount,
    Portico,
    PorticoError,
    contract,
    signed_in,
    sql,
)

APP = AppInput(name="Jellyfin", icon_url="/j.svg")


def administrator(portico: Portico) -> tuple[Caller, str]:
    """The first user, signed in: the caller and the token."""
    portico.users.init_user(ANONYMOUS, NewAccount(username="ada", password="correct horse"))
    user = portico.sign_in.password("ada", "correct horse")
    token = portico.people.begin_session(user.id, user.password_version).token
    return portico.caller_of({"portico_session": token}), token


def test_ten_lines_are_enough(engine: sqlalchemy.Engine) -> None:
    portico = Portico.open(engine)
    caller, _ = administrator(portico)
    app = portico.apps.create(caller, APP)
    assert portico.apps.by_id(ANONYMOUS, app.id) == app
    assert portico.apps.search(caller, "JELLY") == [app]
    assert Portico.open(engine).apps.all(caller) == [app]
    with engine.connect() as connection:
        tables = sqlalchemy.inspect(connection).get_table_names()
    assert tables and all(table.startswith("portico_") for table in tables)


def test_sessions_groups_invites_and_keys(engine: sqlalchemy.Engine) -> None:
    portico = Portico.open(engine)
    caller, token = administrator(portico)
    assert caller.user is not None and caller.user.permissions == ["admin"]
    people = portico.people
    makers = people.create_group(None, "makers", ["app-create"])
    invite = people.create_invite(caller.user.id, 4_000_000_000_000)
    account = NewAccount(username="ben", password="battery staple", email="ben@example.com")
    registration = contract.Registration(account=account, invite_id=invite.id, token=invite.token)
    ben = portico.users.register(ANONYMOUS, registration)
    people.add_member(makers, ben)
    assert people.permissions_of(ben) == ["app-create"]
    key = people.create_key(ben, "script").key
    by_key = portico.caller_of({}, f"Bearer {key}")
    assert portico.apps.create(by_key, APP).name == "Jellyfin"
    with pytest.raises(PorticoError, match="forbidden"):
        portico.users.get_all(by_key)
    people.end_session(token)
    assert portico.caller_of({"portico_session": token}) == ANONYMOUS
    with pytest.raises(PorticoError) as conflict:
        people.create_group(None, "makers", [])
    assert conflict.value.code == "conflict"


def test_a_name_that_is_taken_is_a_conflict(engine: sqlalchemy.Engine) -> None:
    portico = Portico.open(engine)
    caller, _ = administrator(portico)
    with pytest.raises(PorticoError) as conflict:
        portico.users.create(caller, NewAccount(username="ADA", password="battery staple"), [])
    assert conflict.value.code == "conflict"


def test_writers_in_many_threads_all_succeed(engine: sqlalchemy.Engine) -> None:
    portico = Portico.open(engine)
    caller, _ = administrator(portico)
    failed: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for _ in range(10):
                portico.apps.create(caller, AppInput(name=f"app {number}", icon_url="/i.svg"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(portico.apps.all(caller)) == 80


def test_an_asynchronous_engine_runs_on_the_loop(asynchronous_url: str) -> None:
    engine = create_async_engine(asynchronous_url)
    portico = Portico.open(engine)

    async def session() -> None:
        aio = portico.aio
        await aio.users.init_user(ANONYMOUS, NewAccount(username="ada", password="correct horse"))
        user = await aio.sign_in.password("ada", "correct horse")
        begun = await aio.people.begin_session(user.id, user.password_version)
        caller = await aio.caller_of({"portico_session": begun.token})
        apps = await asyncio.gather(*(aio.apps.create(caller, APP) for _ in range(20)))
        assert {app.id for app in await aio.apps.all(caller)} == {app.id for app in apps}
        with pytest.raises(PorticoError, match="conflict"):
            await aio.users.create(caller, NewAccount(username="ADA", password="battery staple"), [])
        with pytest.raises(PorticoError, match="forbidden"):
            await aio.users.init_user(ANONYMOUS, NewAccount(username="eve", password="correct horse"))
        with pytest.raises(CallFailed, match=r"call Portico by portico.aio"):
            portico.apps.create(caller, APP)
        await engine.dispose()

    asyncio.run(session())


def test_the_dashboard_vouches_for_a_user_by_id(engine: sqlalchemy.Engine) -> None:
    portico = Portico.open(engine)
    ada, token = administrator(portico)
    assert ada.user is not None
    key = portico.people.create_key(ada.user.id, "script").key
    me = signed_in(ada.user.id, ["admin"])
    change = contract.PasswordChange(user_id=ada.user.id, previous_password="correct horse", password="battery staple")
    portico.users.change_password(me, change)
    # One's own new password ends the sessions, and not the keys: that is what an operator's does.
    assert portico.caller_of({}, f"Bearer {key}") != ANONYMOUS
    assert portico.caller_of({"portico_session": token}) == ANONYMOUS


#: The second one fails, inside the transaction.
OPENING = ["BEGIN", "SELECT no_such_column"]


def test_a_connection_on_which_a_transaction_did_not_begin_is_closed(engine: sqlalchemy.Engine) -> None:
    closed: list[Any] = []
    sqlalchemy.event.listen(engine.pool, "invalidate", lambda *arguments: closed.append(arguments))
    with pytest.raises(sqlalchemy.exc.SQLAlchemyError):
        sql.Plain(engine).begin(OPENING)
    assert len(closed) == 1


def test_an_asynchronous_one_is_too(asynchronous_url: str) -> None:
    engine = create_async_engine(asynchronous_url)
    closed: list[Any] = []
    sqlalchemy.event.listen(engine.sync_engine.pool, "invalidate", lambda *arguments: closed.append(arguments))

    async def session() -> None:
        with pytest.raises(sqlalchemy.exc.SQLAlchemyError):
            await sql.Asynchronous(engine).begin(OPENING)
        await engine.dispose()

    asyncio.run(session())
    assert len(closed) == 1


def test_an_event_loop_does_not_wait_for_another_one_to_make_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'dash.db'}")
    portico = Portico.open(engine)
    reached = asyncio.Event()

    async def wait(self: sql.Asynchronous, opening: list[str]) -> Any:
        reached.set()
        await asyncio.Event().wait()

    stopped = asyncio.new_event_loop()
    with monkeypatch.context() as patch:
        patch.setattr(sql.Asynchronous, "begin", wait)
        call = stopped.create_task(portico.aio.apps.all(ANONYMOUS))
        stopped.run_until_complete(reached.wait())

    async def session() -> None:
        await portico.aio.users.init_user(ANONYMOUS, NewAccount(username="ada", password="correct horse"))
        await engine.dispose()

    asyncio.run(session())
    tasks = asyncio.all_tasks(stopped)
    assert call in tasks
    for task in tasks:
        task.cancel()
    stopped.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    stopped.close()


def test_the_dashboard_says_which_boards_there_are(engine: sqlalchemy.Engine) -> None:
    class Boards(sql.NoSurroundings):
        def can_view_board(self, user_id: str, board_id: str) -> bool:
            return board_id == "home"

        def visible_apps_of(self, user_id: str | None) -> list[str]:
            return []

    portico = Portico.open(engine, surroundings=Boards())
    caller, _ = administrator(portico)
    assert caller.user is not None
    me = caller.user.id
    portico.users.change_home_boards(caller, me, contract.HomeBoards(home_board_id="home"))
    with pytest.raises(PorticoError, match="not-found"):
        portico.users.change_home_boards(caller, me, contract.HomeBoards(home_board_id="other"))
    app = portico.apps.create(caller, APP)
    assert portico.apps.by_id(caller, app.id) == app
    with pytest.raises(PorticoError, match="not-found"):
        portico.apps.by_id(ANONYMOUS, app.id)


def test_two_prefixes_are_two_porticos(engine: sqlalchemy.Engine) -> None:
    one, other = (Portico.open(engine, prefix=prefix) for prefix in ("one_", "other_"))
    caller, _ = administrator(one)
    one.apps.create(caller, APP)
    with pytest.raises(PorticoError):
        Portico.open(engine, prefix="NOT-ONE")
    administrator(other)
    assert (len(one.apps.all(caller)), len(other.apps.all(caller))) == (1, 0)


def test_databases_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="has to be a file"):
        Portico.open(sqlalchemy.create_engine("sqlite://"))
    with pytest.raises(TypeError, match="either a database or a storage"):
        Portico.open()


def test_a_database_that_is_away_is_unavailable(engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    portico = Portico.open(engine)
    caller, _ = administrator(portico)

    def away(self: Any, *arguments: Any) -> Any:
        raise sqlalchemy.exc.OperationalError("SELECT 'a secret'", {}, Exception("connection refused"))

    monkeypatch.setattr(sql.Plain, "look_up", away)
    with pytest.raises(PorticoError) as refused:
        portico.apps.by_id(caller, "a")
    assert refused.value.code == "unavailable" and "secret" not in str(refused.value)


def test_placeholders_become_parameters_and_colons_stay() -> None:
    statement = sql.clause("SELECT $1::bigint, ':x', $2 || $1", ("number", "text"))
    from sqlalchemy.dialects import postgresql

    text = str(statement.compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
    assert "::bigint" in text and "':x'" in text
    assert set(statement.compile().params) == {"p1", "p2"}
