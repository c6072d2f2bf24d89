"""The dashboard: its own pages, sessions and panels, and Portico's procedures at /trpc."""

import logging
import secrets
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TypeVar

from portico_dashboard import Portico, PorticoError, UserCaller
from pydantic import BaseModel, Field, StrictBool, StrictStr, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from . import icons
from .database import Connection, Database, create_tables, hash_of
from .sessions import Sessions, now
from .storage import VIEWABLE, Storage

LOG = logging.getLogger(__name__)
PUBLIC = Path(__file__).parent.parent / "public"
#: The most bytes of a body on the dashboard's own routes.
BODY = 1 << 20

Name = Annotated[StrictStr, Field(min_length=1)]


class Credentials(BaseModel):
    username: StrictStr
    password: StrictStr


class Panel(BaseModel):
    title: Name
    open: StrictBool
    tiles: list[StrictStr]


class Team(BaseModel):
    name: Name
    may: set[StrictStr]
    members: set[StrictStr]


class Invitation(BaseModel):
    days: Annotated[float, Field(gt=0, le=3_650)]


class Engine(BaseModel):
    name: Name
    url: Name


Shape = TypeVar("Shape", bound=BaseModel)


async def body_of(request: Request, shape: type[Shape]) -> Shape:
    """The body of a request."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY:
            raise HTTPException(413, f"A body has at most {BODY} bytes")
    try:
        return shape.model_validate_json(bytes(body))
    except ValidationError as error:
        # Without the input, which may be a secret.
        broken = [f"{'.'.join(map(str, rule['loc']))}: {rule['msg']}" for rule in error.errors()]
        raise HTTPException(400, "; ".join(broken)) from None


class Dashboard:
    """The state that the routes share."""

    def __init__(self, file: str, component: Path | None) -> None:
        self.database = Database(file)
        self.db = self.database.writer
        self.portico = Portico.open(storage=Storage(file), icons=icons, component=component)
        self.sessions = Sessions(self.database, self.portico)

    def signed_in(self, request: Request) -> UserCaller:
        """The caller."""
        caller = self.sessions.caller_of(request).user
        if caller is None:
            raise HTTPException(401, "Sign in first")
        return caller

    def administrator(self, request: Request) -> UserCaller:
        """The same, if they are one."""
        caller = self.signed_in(request)
        if "admin" not in caller.permissions:
            raise HTTPException(403, "You may not do this")
        return caller

    def number_of(self, table: str, uid: str) -> int:
        """The number of a row."""
        row = self.db.first(f"SELECT number FROM {table} WHERE uid = ?", uid)
        if row is None:
            raise HTTPException(404, "There is no such thing")
        return int(row["number"])

    async def begin_session(self, request: Request) -> Response:
        credentials = await body_of(request, Credentials)
        begun = await self.sessions.sign_in(credentials.username, credentials.password)
        if begun is None:
            raise HTTPException(401, "The account was changed just now: sign in again")
        user, token = begun
        response = JSONResponse({"user": {"id": user.id, "name": user.name}})
        self.sessions.remember(response, token)
        return response

    async def end_session(self, request: Request) -> Response:
        response = Response(status_code=204)
        self.sessions.sign_out(request, response)
        return response

    async def get_session(self, request: Request) -> Response:
        caller = self.signed_in(request)
        name = self.db.first("SELECT login FROM accounts WHERE uid = ?", caller.id)["login"]
        return JSONResponse({"user": {"id": caller.id, "name": name}, "permissions": caller.permissions})

    # Panels, teams and so on, which this dashboard already had. Only as much as an example needs.

    async def get_panel(self, request: Request) -> Response:
        caller = self.sessions.caller_of(request).user
        visible = self.db.first(VIEWABLE, caller.id if caller else "", request.path_params["uid"])
        if visible is None:
            raise HTTPException(404, "There is no such panel")
        title = self.db.first("SELECT title FROM panels WHERE number = ?", visible["number"])["title"]
        sql = """
            SELECT tiles.uid AS id, tiles.title, icon, link FROM panel_tiles JOIN tiles ON tiles.number = tile
            WHERE panel = ? ORDER BY position"""
        tiles = [dict(row) for row in self.db.all(sql, visible["number"])]
        return JSONResponse({"title": title, "tiles": tiles})

    async def post_panel(self, request: Request) -> Response:
        caller = self.signed_in(request)
        panel = await body_of(request, Panel)
        id = str(uuid.uuid4())

        def insert(db: Connection) -> None:
            sql = "INSERT INTO panels (uid, title, open, owner) VALUES (?, ?, ?, ?)"
            db.run(sql, id, panel.title, panel.open, self.number_of("accounts", caller.id))
            number = self.number_of("panels", id)
            for position, tile in enumerate(panel.tiles):
                sql = "INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)"
                db.run(sql, number, position, self.number_of("tiles", tile))

        self.database.write(insert)
        return JSONResponse({"id": id}, 201)

    async def post_team(self, request: Request) -> Response:
        self.administrator(request)
        team = await body_of(request, Team)
        id = str(uuid.uuid4())

        def insert(db: Connection) -> None:
            if db.first("SELECT 1 FROM teams WHERE name = ?", team.name):
                raise HTTPException(409, "There is a team of this name")
            db.run("INSERT INTO teams (uid, name) VALUES (?, ?)", id, team.name)
            number = self.number_of("teams", id)
            for right in team.may:
                db.run("INSERT INTO team_rights (team, may) VALUES (?, ?)", number, right)
            for member in team.members:
                sql = "INSERT INTO team_members (account, team) VALUES (?, ?)"
                db.run(sql, self.number_of("accounts", member), number)

        self.database.write(insert)
        return JSONResponse({"id": id}, 201)

    async def post_invitation(self, request: Request) -> Response:
        maker = self.administrator(request)
        invitation = await body_of(request, Invitation)
        id, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        ends_at = now() + round(invitation.days * 86_400_000)
        sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)"
        number = self.number_of("accounts", maker.id)
        self.database.write(lambda db: db.run(sql, id, hash_of(token), ends_at, number))
        return JSONResponse({"id": id, "token": token}, 201)

    async def post_engine(self, request: Request) -> Response:
        self.administrator(request)
        engine = await body_of(request, Engine)
        id = str(uuid.uuid4())
        sql = "INSERT INTO engines (uid, name, url) VALUES (?, ?, ?)"
        self.database.write(lambda db: db.run(sql, id, engine.name, engine.url))
        return JSONResponse({"id": id}, 201)


async def refused(request: Request, failure: Exception) -> Response:
    """Answers a refusal by the component on the dashboard's own routes."""
    if isinstance(failure, PorticoError) and failure.code != "internal":
        return JSONResponse({"message": failure.message}, failure.http_status)
    LOG.error("A request failed", exc_info=failure)
    return JSONResponse({"message": "Internal server error"}, 500)


async def http_error(request: Request, failure: Exception) -> Response:
    """Every refusal is JSON."""
    assert isinstance(failure, HTTPException)
    return JSONResponse({"message": failure.detail}, failure.status_code)


def application(file: str, component: Path | None = None) -> tuple[Starlette, Portico]:
    """The server, and its Portico. `file` is the database; created if missing."""
    create_tables(file)
    on = Dashboard(file, component)
    procedures = on.portico.trpc(on.sessions.caller_of)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        on.portico.close()

    server = Starlette(
        routes=[
            Route("/session", on.begin_session, methods=["POST"]),
            Route("/session", on.end_session, methods=["DELETE"]),
            Route("/session", on.get_session),
            Route("/panels/{uid}", on.get_panel),
            Route("/panels", on.post_panel, methods=["POST"]),
            Route("/teams", on.post_team, methods=["POST"]),
            Route("/invitations", on.post_invitation, methods=["POST"]),
            Route("/engines", on.post_engine, methods=["POST"]),
            Mount("/trpc", procedures),
            Mount("/", StaticFiles(directory=PUBLIC)),
        ],
        exception_handlers={PorticoError: refused, HTTPException: http_error, Exception: refused},
        lifespan=lifespan,
    )
    return server, on.portico
