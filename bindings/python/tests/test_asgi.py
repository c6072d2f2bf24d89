"""The ASGI application, mounted by FastAPI and Starlette and in front of Django: with the ready storage, and with a dashboard
that says who calls."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy
from fastapi import FastAPI
from memory import Apps
from starlette.applications import Starlette
from starlette.routing import Mount

from portico_dashboard import Caller, Portico, signed_in
from portico_dashboard.asgi import Application, PorticoApp
from portico_dashboard.http import Request
from portico_dashboard.throttle import Throttle, name_key

ACCOUNT = {"username": "ada", "password": "correct horse"}


def in_fastapi(app: PorticoApp) -> Any:
    server = FastAPI()
    server.mount("/portico", app)
    return server


def in_starlette(app: PorticoApp) -> Any:
    return Starlette(routes=[Mount("/portico", app)])


def talk(app: Any, work: Callable[[httpx.AsyncClient], Any]) -> None:
    async def session() -> None:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://dash.test") as client:
            await work(client)

    asyncio.run(session())


@pytest.fixture
def ready(tmp_path: Path) -> Portico:
    return Portico.open(sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'dash.db'}"))


@pytest.mark.parametrize("mount", [in_fastapi, in_starlette])
def test_sign_in_use_and_sign_out(ready: Portico, mount: Callable[[PorticoApp], Any]) -> None:
    async def work(client: httpx.AsyncClient) -> None:
        created = await client.post("/portico/trpc/user.initUser", json=ACCOUNT)
        assert created.status_code == 200 and created.json()["result"]["data"]["id"]
        assert (await client.get("/portico/session")).json() == {"user": None}
        assert (await client.get("/portico/trpc/app.all")).status_code == 401

        begun = await client.post("/portico/session", json=ACCOUNT)
        assert begun.status_code == 200
        cookie = begun.headers["set-cookie"]
        assert cookie.startswith("portico_session=") and "HttpOnly; SameSite=Lax" in cookie
        who = (await client.get("/portico/session")).json()["user"]
        assert (who["name"], who["permissions"], who["colorScheme"]) == ("ada", ["admin"], "dark")

        app = {"name": "Jellyfin", "iconUrl": "/j.svg"}
        made = (await client.post("/portico/trpc/app.create", json=app)).json()["result"]["data"]
        assert made["appId"] == made["id"]
        query = {"batch": "1", "input": json.dumps({"0": {"id": made["id"]}, "1": {"id": "none"}})}
        batch = await client.get("/portico/trpc/app.byId,app.byId", params=query)
        assert batch.status_code == 207
        one, other = batch.json()
        assert one["result"]["data"]["name"] == "Jellyfin"
        assert other["error"]["data"] == {"code": "NOT_FOUND", "httpStatus": 404, "path": "app.byId", "zodError": None}

        ended = await client.delete("/portico/session")
        assert ended.status_code == 204
        assert (await client.get("/portico/trpc/app.all")).status_code == 401

    talk(mount(ready.asgi()), work)


def test_who_sends_a_key_that_is_not_valid_is_anonymous(ready: Portico) -> None:
    async def work(client: httpx.AsyncClient) -> None:
        await client.post("/trpc/user.initUser", json=ACCOUNT)
        headers = {"authorization": "Bearer not-a-key"}
        assert (await client.get("/session", headers=headers)).json() == {"user": None}
        found = await client.get("/trpc/app.byIds", params={"input": "[]"}, headers=headers)
        assert found.json()["result"]["data"] == []
        assert (await client.get("/trpc/app.all", headers=headers)).status_code == 401

    talk(ready.asgi(), work)


def test_a_new_password_gives_the_session_a_new_token_and_ends_the_others(ready: Portico) -> None:
    async def work(client: httpx.AsyncClient) -> None:
        created = await client.post("/trpc/user.initUser", json=ACCOUNT)
        await client.post("/session", json=ACCOUNT)
        other = client.cookies["portico_session"]
        client.cookies.clear()
        await client.post("/session", json=ACCOUNT)
        before = client.cookies["portico_session"]
        change = {"userId": created.json()["result"]["data"]["id"], "password": "battery staple"}
        wrong = await client.post("/trpc/user.changePassword", json={**change, "previousPassword": "wrong"})
        assert wrong.status_code == 403 and client.cookies["portico_session"] == before
        await client.post("/trpc/user.changePassword", json={**change, "previousPassword": "correct horse"})
        after = client.cookies["portico_session"]
        assert after != before
        assert (await client.get("/trpc/app.all")).status_code == 200
        client.cookies.clear()
        for token in (before, other):
            answer = await client.get("/trpc/app.all", headers={"cookie": f"portico_session={token}"})
            assert answer.status_code == 401

    talk(ready.asgi(), work)


def test_a_page_of_another_site_changes_nothing(ready: Portico) -> None:
    async def work(client: httpx.AsyncClient) -> None:
        for headers in (
            {"origin": "https://evil.test"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site", "origin": "http://dash.test"},
        ):
            for path in ("/trpc/user.initUser", "/session"):
                refused = await client.post(path, json=ACCOUNT, headers=headers)
                assert refused.status_code == 403, headers
        for headers in ({"origin": "http://dash.test"}, {"sec-fetch-site": "same-origin"}):
            answer = await client.post("/trpc/user.initUser", json={"username": 5}, headers=headers)
            assert answer.status_code == 400

    talk(ready.asgi(), work)


def test_guesses_are_throttled_by_name_and_by_address(ready: Portico) -> None:
    now = [0.0]
    throttle = Throttle(by_name=3, by_address=5, seconds=60, clock=lambda: now[0])

    async def work(client: httpx.AsyncClient) -> None:
        await client.post("/trpc/user.initUser", json=ACCOUNT)
        for _ in range(3):
            wrong = await client.post("/session", json={**ACCOUNT, "password": "wrong"})
            assert wrong.status_code == 401
        refused = await client.post("/session", json={"username": " ADA", "password": "correct horse"})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "61")
        for name in ("ben", "eve"):
            assert (await client.post("/session", json={**ACCOUNT, "username": name})).status_code == 401
        assert (await client.post("/session", json={**ACCOUNT, "username": "kim"})).status_code == 429
        large = await client.post("/session", json={**ACCOUNT, "password": "x" * 70_000})
        assert large.status_code == 413
        now[0] = 61.0
        assert (await client.post("/session", json=ACCOUNT)).status_code == 200

    talk(ready.asgi(throttle=throttle), work)


def test_the_throttle_is_bounded() -> None:
    throttle = Throttle()
    throttle.MOST = 100
    for number in range(1_000):
        name, address = f"user {number}", f"10.0.{number // 256}.{number % 256}"
        throttle.begin(name, address)
        throttle.succeed(name, address)
        throttle.begin(f"a stranger to {name}", address)
    assert [len(known) for known in (throttle._by_name, throttle._by_address, throttle._by_both)] == [100] * 3


def test_all_writings_of_a_name_are_throttled_as_one(portico: Portico) -> None:
    names = ["Ada", "J\u00fcrgen", "Ju\u0308rgen", "\u1e9e", "\u039f\u03a3", "\u0130", "\u212b", "\U00010400", "\u1100\u1161"]
    assert [name_key(name) for name in names] == portico.names.keys(names)
    for name in ("J\u00dcRGEN", "JU\u0308RGEN", "\u0085j\u00fcrgen\u2003"):
        assert name_key(name) == "j\u00fcrgen"
    # Longer than any name: it is not normalized, which would take long.
    assert name_key("a\u0301\u0327" * 10_000) == ("a\u0301\u0327" * 100)[:256]


def test_strangers_lock_no_owner_out() -> None:
    now = [0.0]
    throttle = Throttle(by_name=3, by_address=5, seconds=60, clock=lambda: now[0])
    assert throttle.begin("ada", "10.0.0.1") == 0.0
    throttle.succeed("ada", "10.0.0.1")
    for address in ("10.0.0.1", "10.0.0.2"):
        for number in range(5):
            throttle.begin(f"{address} {number}", address)
        assert throttle.begin("ada", address) == (0.0 if address == "10.0.0.1" else 60.0)
    # What is refused by address does not count for the name.
    for number in range(3):
        assert throttle.begin("ben", "10.0.0.2") == 60.0
    assert throttle.begin("ben", "10.0.0.3") == 0.0
    # The owner's own attempts are counted where they signed in.
    assert [throttle.begin("ada", "10.0.0.1") for _ in range(3)] == [0.0, 0.0, 60.0]
    now[0] = 61.0
    assert throttle.begin("ada", "10.0.0.1") == 0.0


def test_clients_without_an_address_do_not_lock_each_other_out() -> None:
    throttle = Throttle(by_name=3, by_address=5)
    assert [throttle.begin(f"user {number}", "") for number in range(50)] == [0.0] * 50


def test_the_url_where_people_reach_it_says_which_pages_are_its_own(ready: Portico) -> None:
    app = ready.asgi(public_url="https://Dash.example:443/portico", origins=["https://other.example"])

    async def work(client: httpx.AsyncClient) -> None:
        await client.post("/trpc/user.initUser", json=ACCOUNT)
        for headers, status in (
            # A proxy names another host, and the connection to it is not secure.
            ({"origin": "https://dash.example"}, 200),
            ({"origin": "https://dash.example", "sec-fetch-site": "same-origin"}, 200),
            ({"origin": "https://other.example", "sec-fetch-site": "cross-site"}, 200),
            ({}, 200),
            # A page whose site is made to lead here: it names itself everywhere.
            ({"origin": "http://dash.test"}, 403),
            ({"origin": "http://dash.test", "sec-fetch-site": "same-origin"}, 403),
            ({"origin": "https://dash.example:8443"}, 403),
        ):
            answer = await client.post("/session", json=ACCOUNT, headers=headers)
            assert answer.status_code == status, headers
            assert status != 200 or answer.headers["set-cookie"].endswith("; Secure")

    talk(app, work)
    with pytest.raises(ValueError, match="public_url has to be the URL"):
        ready.asgi(public_url="dash.example")


def test_the_dashboard_says_who_calls(storage: Apps) -> None:
    portico = Portico.open(storage=storage)
    with pytest.raises(TypeError, match="give authenticate"):
        portico.asgi()

    async def authenticate(request: Request) -> Caller | None:
        name = request.headers.get("x-user")
        return signed_in(name, ["admin"], request.cookies.get("sid", "")) if name else None

    async def work(client: httpx.AsyncClient) -> None:
        app = {"name": "Jellyfin", "iconUrl": "/j.svg"}
        assert (await client.post("/trpc/app.create", json=app)).status_code == 401
        headers = {"x-user": "ada", "cookie": "sid=s1; other=2"}
        assert (await client.post("/trpc/app.create", json=app, headers=headers)).status_code == 200
        assert storage.callers[-1] == signed_in("ada", ["admin"], "s1")
        broken = await client.post("/trpc/app.create", json={"name": 5}, headers=headers)
        assert broken.json()["error"]["data"]["zodError"]["fieldErrors"].keys() == {"name", "iconUrl"}
        assert (await client.get("/session")).status_code == 404

        def fail(*arguments: Any) -> Any:
            raise KeyError("a secret of the dashboard")

        storage.instead["get_app"] = fail
        failed = await client.get("/trpc/app.byId", params={"input": '{"id":"a"}'})
        assert failed.status_code == 500 and "secret" not in failed.text

    talk(portico.asgi(authenticate), work)


def test_requests_that_are_not_well_formed_are_refused(storage: Apps) -> None:
    portico = Portico.open(storage=storage)

    async def work(client: httpx.AsyncClient) -> None:
        headers = {"content-type": "application/json"}
        for body in (b"{", b"NaN", b"[" * 100_000, b"\xff"):
            answer = await client.post("/user.initUser", content=body, headers=headers)
            assert answer.status_code in (400, 403), body[:9]
        assert (await client.post("/app.create", content=b"{}")).status_code == 415
        large = await client.post("/app.create", content=b" " * (17 << 20), headers=headers)
        assert large.status_code in (401, 413)
        assert (await client.get("/app.create")).status_code == 405
        assert (await client.get("/no.such")).status_code == 404
        many = ",".join(["app.byId"] * 257)
        assert (await client.get(f"/{many}", params={"batch": "1"})).status_code == 400

    talk(portico.trpc(lambda request: None), work)


def test_it_stands_in_front_of_django(ready: Portico) -> None:
    import django
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpResponse
    from django.urls import path

    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x", MIDDLEWARE=[])
    django.setup()
    global urlpatterns
    urlpatterns = [path("hello", lambda request: HttpResponse("of Django"))]
    application: Application = get_asgi_application()

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.get("/hello")).text == "of Django"
        assert (await client.post("/portico/trpc/user.initUser", json=ACCOUNT)).status_code == 200

    talk(ready.asgi(prefix="/portico", otherwise=application), work)


urlpatterns: list[Any] = []
