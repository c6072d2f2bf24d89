"""The dashboard's own routes, and Portico at /portico: procedures at /portico/trpc, sign-in at /portico/session."""

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from portico_dashboard import Portico, PorticoError, UserCaller
from sqlalchemy import create_engine

from boards import Boards, prepare

LOG = logging.getLogger(__name__)
PUBLIC = Path(__file__).parent / "public"
DAY = 86_400_000


def dashboard(database: str, component: Path | None = None) -> tuple[FastAPI, Portico]:
    """The server, and its Portico, over the database at this URL."""
    engine = create_engine(database)
    prepare(engine)
    boards = Boards(engine)
    portico = Portico.open(engine, surroundings=boards, component=component)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        portico.close()
        engine.dispose()

    app = FastAPI(lifespan=lifespan)

    def caller(request: Request) -> UserCaller:
        """Who is signed in."""
        user = portico.caller_of(request.cookies, request.headers.get("authorization", "")).user
        if user is None:
            raise HTTPException(401, "Sign in first")
        return user

    def administrator(request: Request) -> UserCaller:
        """The same, if they are one."""
        user = caller(request)
        if "admin" not in user.permissions:
            raise HTTPException(403, "You may not do this")
        return user

    @app.get("/panels/{id}")
    def get_panel(id: str, request: Request) -> dict[str, object]:
        who = portico.caller_of(request.cookies)
        panel = boards.panel(id, who.user.id if who.user else None)
        if panel is None:
            raise HTTPException(404, "There is no such panel")
        title, ids = panel
        tiles = [{"id": app.id, "title": app.name, "icon": app.icon_url} for app in portico.apps.by_ids(who, ids)]
        return {"title": title, "tiles": tiles}

    @app.post("/panels", status_code=201)
    def post_panel(
        request: Request,
        title: Annotated[str, Body()],
        open: Annotated[bool, Body()],
        tiles: Annotated[list[str], Body()],
    ) -> dict[str, str]:
        return {"id": boards.add_panel(title, open, caller(request).id, tiles)}

    @app.post("/engines", status_code=201)
    def post_engine(
        request: Request, name: Annotated[str, Body()], url: Annotated[str, Body()]
    ) -> dict[str, str]:
        administrator(request)
        return {"id": boards.add_engine(name, url)}

    @app.post("/teams", status_code=201)
    def post_team(
        request: Request, name: Annotated[str, Body()], may: Annotated[list[str], Body()]
    ) -> dict[str, str]:
        administrator(request)
        return {"id": portico.people.create_group(None, name, may)}

    @app.post("/invitations", status_code=201)
    def post_invitation(request: Request, days: Annotated[int, Body(embed=True, gt=0)]) -> dict[str, str]:
        maker = administrator(request)
        invite = portico.people.create_invite(maker.id, int(time.time() * 1_000) + days * DAY)
        return {"id": invite.id, "token": invite.token}

    @app.exception_handler(PorticoError)
    async def refused(request: Request, failure: PorticoError) -> JSONResponse:
        """A refusal by Portico on the dashboard's own routes."""
        if failure.code == "internal":
            LOG.error("A request failed", exc_info=failure)
            return JSONResponse({"message": "Internal server error"}, 500)
        return JSONResponse({"message": failure.message}, failure.http_status)

    app.mount("/portico", portico.asgi())
    app.mount("/", StaticFiles(directory=PUBLIC))
    return app, portico
