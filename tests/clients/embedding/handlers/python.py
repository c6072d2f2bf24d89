"""`app.byId` as a dashboard in Python would write it by hand: FastAPI and SQLAlchemy, a session by its cookie, one statement
for the app. What ../speed.mjs compares examples/python-dashboard with. It makes an administrator, a session and an app
without a check.
"""

import hashlib
import json
import os
import secrets
import socket
import time
import uuid
from typing import Annotated, Any

import uvicorn
from fastapi import Body, Cookie, FastAPI, HTTPException
from fastapi.responses import JSONResponse
from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, create_engine, event, insert, select

METADATA = MetaData()
ACCOUNT = Table("account", METADATA, Column("id", String, primary_key=True), Column("name", String))
PERMISSION = Table(
    "permission",
    METADATA,
    Column("account", String, primary_key=True),
    Column("permission", String, primary_key=True),
)
SESSION = Table(
    "session",
    METADATA,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("account", String),
    Column("ends_at", Integer),
)
TEXTS = ["name", "description", "icon_url", "href", "ping_url"]
APP = Table("app", METADATA, Column("id", String, primary_key=True), *(Column(text, String) for text in TEXTS))
NAMES = {"id": "id", "icon_url": "iconUrl", "ping_url": "pingUrl"}

ENGINE = create_engine(f"sqlite:///{os.environ['DATA']}/handlers.db")


@event.listens_for(ENGINE, "connect")
def connected(connection: Any, record: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")


METADATA.create_all(ENGINE)
app = FastAPI()


def hash_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def caller_of(connection: Any, token: str | None) -> tuple[str, list[str]] | None:
    if token is None:
        return None
    query = (
        select(SESSION.c.account, PERMISSION.c.permission)
        .join(PERMISSION, PERMISSION.c.account == SESSION.c.account, isouter=True)
        .where(SESSION.c.token_hash == hash_of(token), SESSION.c.ends_at > int(time.time() * 1_000))
    )
    rows = connection.execute(query).all()
    return (rows[0].account, [row.permission for row in rows]) if rows else None


@app.get("/trpc/app.byId")
def by_id(input: str, session: Annotated[str | None, Cookie()] = None) -> JSONResponse:
    wanted = json.loads(input)
    if not isinstance(wanted, dict) or not isinstance(wanted.get("id"), str):
        raise HTTPException(400, "id must be a text")
    with ENGINE.connect() as connection:
        caller_of(connection, session)
        row = connection.execute(select(APP).where(APP.c.id == wanted["id"])).mappings().first()
    if row is None:
        raise HTTPException(404, "App not found")
    return JSONResponse({"result": {"data": {NAMES.get(key, key): value for key, value in row.items()}}})


@app.post("/trpc/user.initUser")
def init_user(username: Annotated[str, Body(embed=True)]) -> dict[str, Any]:
    id = str(uuid.uuid4())
    with ENGINE.begin() as connection:
        connection.execute(insert(ACCOUNT).values(id=id, name=username))
        connection.execute(insert(PERMISSION).values(account=id, permission="admin"))
    return {"result": {"data": id}}


@app.post("/session")
def begin_session(username: Annotated[str, Body(embed=True)]) -> JSONResponse:
    token = secrets.token_urlsafe(32)
    with ENGINE.begin() as connection:
        id = connection.execute(select(ACCOUNT.c.id).where(ACCOUNT.c.name == username)).scalar_one()
        ends_at = int(time.time() * 1_000) + 3_600_000
        connection.execute(insert(SESSION).values(token_hash=hash_of(token), account=id, ends_at=ends_at))
    response = JSONResponse({})
    response.set_cookie("session", token, httponly=True)
    return response


@app.post("/trpc/app.create")
def create(input: Annotated[dict[str, str], Body()]) -> dict[str, Any]:
    id = str(uuid.uuid4())
    columns = {column: input.get(NAMES.get(column, column)) for column in TEXTS}
    with ENGINE.begin() as connection:
        connection.execute(insert(APP).values(id=id, **columns))
    return {"result": {"data": {"id": id}}}


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run(sockets=[listener])
