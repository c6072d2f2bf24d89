"""The storage kit's way to dashboard/portico/storage.py: reads requests in JSON lines from standard
input and answers on standard output. storage-kit/README.md in the repository says how.

    cargo run -p portico-storage-kit -- run -- .venv/bin/python storage_kit.py
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboard.database import Database, create_tables, hash_of
from dashboard.portico.storage import COLOR_SCHEMES, Refusal, Transaction
from dashboard.portico.values import Record, Variant
from dashboard.sessions import begin

#: Parameters and fields of the contract that are variants.
VARIANTS = {"key", "viewer"}
#: Parameters that have another name here: `except` is a keyword of Python.
NAMES = {"except": "except_"}


def snake(name: str) -> str:
    """`email-verified` as `email_verified`."""
    return name.replace("-", "_")


def from_kit(value: Any, name: str = "") -> Any:
    """Converts a value of the named parameter from the kit's form to the component's."""
    if isinstance(value, list):
        return [from_kit(item) for item in value]
    if not isinstance(value, dict):
        return value
    if name in VARIANTS:
        [(tag, payload)] = value.items()
        return Variant(tag, from_kit(payload, tag))
    return Record(**{snake(key): from_kit(item, key) for key, item in value.items()})


def to_kit(value: Any) -> Any:
    """Converts an answer of storage to the kit's form."""
    if isinstance(value, list):
        return [to_kit(item) for item in value]
    if isinstance(value, Variant):
        return {value.tag: to_kit(value.payload)}
    if isinstance(value, Record):
        return {key.replace("_", "-"): to_kit(item) for key, item in value.__dict__.items()}
    return value


class Bridge:
    """The calls of the kit. Methods in lower case with underscores are the bridge's own calls."""

    def __init__(self, file: str) -> None:
        create_tables(file)
        self.database = Database(file)
        self.db = self.database.writer
        self.transactions: dict[str, Transaction] = {}
        #: The version of the user's password when a sign-in began.
        self.sign_ins: dict[str, int] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        call, parameters = snake(request["call"]), request["arguments"]
        try:
            if "transaction" in request:
                return {"ok": to_kit(self.in_transaction(request["transaction"], call, parameters))}
            own: Callable[..., Any] | None = getattr(Own, call, None)
            if own is None:
                return {"error": {"unsupported": f"{request['call']}: this dashboard has no such thing"}}
            return {"ok": own(self, **{snake(key): value for key, value in parameters.items()})}
        except Refusal as refusal:
            return {"error": to_kit(refusal.error)}

    def in_transaction(self, name: str, call: str, parameters: dict[str, Any]) -> Any:
        """A call of the contract."""
        if call == "begin":
            self.transactions[name] = Transaction(self.database, parameters["access"], parameters["session"])
            return None
        if call in ("commit", "drop"):
            return getattr(self.transactions.pop(name), call)()
        values = {NAMES.get(key, snake(key)): from_kit(value, key) for key, value in parameters.items()}
        return getattr(self.transactions[name], call)(**values)

    def number(self, table: str, uid: str | None) -> int | None:
        """The number of a row."""
        row = self.db.first(f"SELECT number FROM {table} WHERE uid = ?", uid)
        return None if row is None else int(row["number"])

    def column(self, sql: str, value: str | int) -> list[str]:
        """The first column of all rows."""
        return [row[0] for row in self.db.all(sql, value)]


class Own:
    """Operations outside the contract. Groups are teams here, and boards are panels."""

    @staticmethod
    def hello(on: Bridge) -> dict[str, Any]:
        return {"name": "python-dashboard", "apps-by-board": False}

    @staticmethod
    def put_group(on: Bridge, id: str, name: str, permissions: list[str], members: list[str]) -> None:
        sql = (
            "INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET name = excluded.name"
        )
        on.db.run(sql, id, name)
        team = on.number("teams", id)
        on.db.run("DELETE FROM team_rights WHERE team = ?", team)
        on.db.run("DELETE FROM team_members WHERE team = ?", team)
        for may in permissions:
            on.db.run("INSERT INTO team_rights (team, may) VALUES (?, ?)", team, may)
        for member in members:
            sql = "INSERT INTO team_members (account, team) VALUES (?, ?)"
            on.db.run(sql, on.number("accounts", member), team)

    @staticmethod
    def get_group(on: Bridge, id: str) -> dict[str, list[str]] | None:
        team = on.number("teams", id)
        if team is None:
            return None
        members = "SELECT uid FROM accounts JOIN team_members ON account = number WHERE team = ? ORDER BY uid"
        return {
            "permissions": on.column("SELECT may FROM team_rights WHERE team = ? ORDER BY may", team),
            "members": on.column(members, team),
        }

    @staticmethod
    def delete_group(on: Bridge, id: str) -> None:
        on.db.run("DELETE FROM teams WHERE uid = ?", id)

    @staticmethod
    def get_permissions(on: Bridge, user: str) -> list[str]:
        sql = """
            SELECT DISTINCT may FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
            WHERE uid = ? ORDER BY may"""
        return on.column(sql, user)

    @staticmethod
    def put_invite(on: Bridge, id: str, token: str, expires_at: int, creator: str | None) -> None:
        sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)"
        on.db.run(sql, id, hash_of(token), expires_at, on.number("accounts", creator))

    @staticmethod
    def delete_invite(on: Bridge, id: str) -> None:
        on.db.run("DELETE FROM invitations WHERE uid = ?", id)

    @staticmethod
    def put_board(
        on: Bridge,
        id: str,
        name: str,
        public: bool,
        creator: str | None,
        users: list[str],
        groups: list[str],
        apps: list[str],
    ) -> None:
        sql = """
            INSERT INTO panels (uid, title, open, owner) VALUES (?, ?, ?, ?)
            ON CONFLICT (uid) DO UPDATE SET title = excluded.title, open = excluded.open, owner = excluded.owner"""
        on.db.run(sql, id, name, public, on.number("accounts", creator))
        panel = on.number("panels", id)
        for table in ("panel_accounts", "panel_teams", "panel_tiles"):
            on.db.run(f"DELETE FROM {table} WHERE panel = ?", panel)
        for user in users:
            sql = "INSERT INTO panel_accounts (panel, account) VALUES (?, ?)"
            on.db.run(sql, panel, on.number("accounts", user))
        for group in groups:
            on.db.run("INSERT INTO panel_teams (panel, team) VALUES (?, ?)", panel, on.number("teams", group))
        for position, app in enumerate(apps):
            sql = "INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)"
            on.db.run(sql, panel, position, on.number("tiles", app))

    @staticmethod
    def get_board(on: Bridge, id: str) -> dict[str, Any] | None:
        sql = "SELECT number, (SELECT uid FROM accounts WHERE number = owner) AS creator FROM panels WHERE uid = ?"
        row = on.db.first(sql, id)
        if row is None:
            return None
        users = (
            "SELECT uid FROM accounts JOIN panel_accounts ON account = number WHERE panel = ? ORDER BY uid"
        )
        groups = "SELECT uid FROM teams JOIN panel_teams ON team = number WHERE panel = ? ORDER BY uid"
        apps = "SELECT uid FROM tiles JOIN panel_tiles ON tile = number WHERE panel = ? ORDER BY position"
        return {
            "creator": row["creator"],
            "users": on.column(users, row["number"]),
            "groups": on.column(groups, row["number"]),
            "apps": on.column(apps, row["number"]),
        }

    @staticmethod
    def delete_board(on: Bridge, id: str) -> None:
        on.db.run("DELETE FROM panels WHERE uid = ?", id)

    @staticmethod
    def put_search_engine(on: Bridge, id: str, name: str) -> None:
        sql = "INSERT INTO engines (uid, name, url) VALUES (?, ?, 'https://search.example/?q=%s')"
        on.db.run(sql, id, name)

    @staticmethod
    def delete_search_engine(on: Bridge, id: str) -> None:
        on.db.run("DELETE FROM engines WHERE uid = ?", id)

    @staticmethod
    def put_session(on: Bridge, id: str, user: str) -> None:
        ends_at = int(time.time() * 1_000) + 3_600_000
        sql = "INSERT INTO logins (uid, token_hash, account, ends_at) VALUES (?, ?, ?, ?)"
        on.db.run(sql, id, hash_of(id), on.number("accounts", user), ends_at)

    @staticmethod
    def get_sessions(on: Bridge, user: str) -> list[str]:
        sql = """
            SELECT logins.uid FROM logins JOIN accounts ON number = account
            WHERE accounts.uid = ? ORDER BY logins.uid"""
        return on.column(sql, user)

    @staticmethod
    def begin_sign_in(on: Bridge, id: str, user: str) -> None:
        row = on.db.first("SELECT secret_version FROM accounts WHERE uid = ?", user)
        on.sign_ins[id] = row["secret_version"] if row else 0

    @staticmethod
    def end_sign_in(on: Bridge, id: str, user: str) -> bool:
        # It has the connection of the writer that is open, and cannot wait for its end.
        if on.database.writing:
            raise Refusal(Variant("retry"))
        return begin(on.database, user, id, on.sign_ins.pop(id))

    @staticmethod
    def get_color_scheme(on: Bridge, user: str) -> str | None:
        row = on.db.first("SELECT theme FROM accounts WHERE uid = ?", user)
        return row and COLOR_SCHEMES[row["theme"]]


def main() -> None:
    """Answers until standard input ends."""
    with tempfile.TemporaryDirectory(prefix="python-dashboard-") as folder:
        bridge = Bridge(str(Path(folder) / "dashboard.db"))
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps({"id": request["id"], **bridge.answer(request)}), flush=True)


if __name__ == "__main__":
    main()
