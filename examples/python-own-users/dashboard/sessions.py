"""Sessions: the dashboard's own cookie. Portico identifies the user; the session remembers it."""

import secrets
import time
import uuid
from typing import Protocol

from portico_dashboard import ANONYMOUS, Caller, Portico, contract, signed_in
from starlette.responses import Response

from .database import Connection, Database, hash_of

COOKIE = "dashboard"
SECONDS = 30 * 86_400


class WithCookies(Protocol):
    """A request, Starlette's or Portico's."""

    @property
    def cookies(self) -> dict[str, str]: ...


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1_000)


def begin(database: Database, account: str, token: str, version: int) -> bool:
    """Begins a session, unless the account is blocked or gone, or its password was set after the one of this
    version was checked."""

    def insert(db: Connection) -> bool:
        db.run("DELETE FROM logins WHERE ends_at <= ?", now())
        sql = """
            INSERT INTO logins (uid, token_hash, account, ends_at)
            SELECT ?, ?, number, ? FROM accounts WHERE uid = ? AND blocked = 0 AND secret_version = ?"""
        ends_at = now() + SECONDS * 1_000
        return db.run(sql, str(uuid.uuid4()), hash_of(token), ends_at, account, version) > 0

    return database.write(insert)


class Sessions:
    """The rows of `logins`."""

    def __init__(self, database: Database, portico: Portico) -> None:
        self._database = database
        self._portico = portico

    def caller_of(self, request: WithCookies) -> Caller:
        """The caller, with their present permissions and the session as the context."""
        presented = request.cookies.get(COOKIE)
        if not presented:
            return ANONYMOUS
        sql = """
            SELECT logins.uid AS session, accounts.uid AS id, may
            FROM logins JOIN accounts ON accounts.number = logins.account
                LEFT JOIN team_members ON team_members.account = accounts.number LEFT JOIN team_rights USING (team)
            WHERE token_hash = ? AND ends_at > ?"""
        rows = self._database.writer.all(sql, hash_of(presented), now())
        if not rows:
            return ANONYMOUS
        permissions = list({row["may"] for row in rows if row["may"] is not None})
        return signed_in(rows[0]["id"], permissions, rows[0]["session"])

    async def sign_in(self, username: str, password: str) -> tuple[contract.SignedIn, str] | None:
        """Checks name and password with the component and begins a session. Returns its user and token, or None
        if the account has changed meanwhile. Raises `PorticoError`."""
        user = await self._portico.aio.sign_in.password(username, password)
        token = secrets.token_urlsafe(32)
        return (user, token) if begin(self._database, user.id, token, user.password_version) else None

    def remember(self, response: Response, token: str) -> None:
        """Sets the cookie. Behind TLS add `secure`."""
        response.set_cookie(COOKIE, token, max_age=SECONDS, httponly=True, samesite="lax")

    def sign_out(self, request: WithCookies, response: Response) -> None:
        """Ends the session of a request."""
        if presented := request.cookies.get(COOKIE):
            sql = "DELETE FROM logins WHERE token_hash = ?"
            self._database.write(lambda db: db.run(sql, hash_of(presented)))
        response.delete_cookie(COOKIE)
