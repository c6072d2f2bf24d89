"""The storage kit's way to dashboard/storage.py. storage-kit/README.md in the repository says how.

    cargo run -p portico-storage-kit -- run -- .venv/bin/python storage_kit.py
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from portico_dashboard import Retry
from portico_dashboard.storage_kit import run

from dashboard.database import Database, create_tables, hash_of
from dashboard.sessions import begin
from dashboard.storage import COLOR_SCHEMES, Storage


class Own:
    """What lies outside the contract. Groups are teams here, and boards are panels."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.db = database.writer
        #: The version of the user's password when a sign-in began.
        self.sign_ins: dict[str, int] = {}

    def number(self, table: str, uid: str | None) -> int | None:
        """The number of a row."""
        row = self.db.first(f"SELECT number FROM {table} WHERE uid = ?", uid)
        return None if row is None else int(row["number"])

    def column(self, sql: str, value: str | int) -> list[str]:
        """The first column of all rows."""
        return [row[0] for row in self.db.all(sql, value)]

    def hello(self) -> dict[str, Any]:
        return {"name": "python-own-users", "apps-by-board": False}

    def put_group(self, id: str, name: str, permissions: list[str], members: list[str]) -> None:
        sql = (
            "INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET name = excluded.name"
        )
        self.db.run(sql, id, name)
        team = self.number("teams", id)
        self.db.run("DELETE FROM team_rights WHERE team = ?", team)
        self.db.run("DELETE FROM team_members WHERE team = ?", team)
        for may in permissions:
            self.db.run("INSERT INTO team_rights (team, may) VALUES (?, ?)", team, may)
        for member in members:
            sql = "INSERT INTO team_members (account, team) VALUES (?, ?)"
            self.db.run(sql, self.number("accounts", member), team)

    def get_group(self, id: str) -> dict[str, list[str]] | None:
        team = self.number("teams", id)
        if team is None:
            return None
        members = "SELECT uid FROM accounts JOIN team_members ON account = number WHERE team = ? ORDER BY uid"
        return {
            "permissions": self.column("SELECT may FROM team_rights WHERE team = ? ORDER BY may", team),
            "members": self.column(members, team),
        }

    def delete_group(self, id: str) -> None:
        self.db.run("DELETE FROM teams WHERE uid = ?", id)

    def get_permissions(self, user: str) -> list[str]:
        sql = """
            SELECT DISTINCT may FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
            WHERE uid = ? ORDER BY may"""
        return self.column(sql, user)

    def put_invite(self, id: str, token: str, expires_at: int, creator: str | None) -> None:
        sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)"
        self.db.run(sql, id, hash_of(token), expires_at, self.number("accounts", creator))

    def delete_invite(self, id: str) -> None:
        self.db.run("DELETE FROM invitations WHERE uid = ?", id)

    def put_board(
        self,
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
        self.db.run(sql, id, name, public, self.number("accounts", creator))
        panel = self.number("panels", id)
        for table in ("panel_accounts", "panel_teams", "panel_tiles"):
            self.db.run(f"DELETE FROM {table} WHERE panel = ?", panel)
        for user in users:
            sql = "INSERT INTO panel_accounts (panel, account) VALUES (?, ?)"
            self.db.run(sql, panel, self.number("accounts", user))
        for group in groups:
            self.db.run("INSERT INTO panel_teams (panel, team) VALUES (?, ?)", panel, self.number("teams", group))
        for position, app in enumerate(apps):
            sql = "INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)"
            self.db.run(sql, panel, position, self.number("tiles", app))

    def get_board(self, id: str) -> dict[str, Any] | None:
        sql = "SELECT number, (SELECT uid FROM accounts WHERE number = owner) AS creator FROM panels WHERE uid = ?"
        row = self.db.first(sql, id)
        if row is None:
            return None
        users = (
            "SELECT uid FROM accounts JOIN panel_accounts ON account = number WHERE panel = ? ORDER BY uid"
        )
        groups = "SELECT uid FROM teams JOIN panel_teams ON team = number WHERE panel = ? ORDER BY uid"
        apps = "SELECT uid FROM tiles JOIN panel_tiles ON tile = number WHERE panel = ? ORDER BY position"
        return {
            "creator": row["creator"],
            "users": self.column(users, row["number"]),
            "groups": self.column(groups, row["number"]),
            "apps": self.column(apps, row["number"]),
        }

    def delete_board(self, id: str) -> None:
        self.db.run("DELETE FROM panels WHERE uid = ?", id)

    def put_search_engine(self, id: str, name: str) -> None:
        sql = "INSERT INTO engines (uid, name, url) VALUES (?, ?, 'https://search.example/?q=%s')"
        self.db.run(sql, id, name)

    def delete_search_engine(self, id: str) -> None:
        self.db.run("DELETE FROM engines WHERE uid = ?", id)

    def put_session(self, id: str, user: str) -> None:
        ends_at = int(time.time() * 1_000) + 3_600_000
        sql = "INSERT INTO logins (uid, token_hash, account, ends_at) VALUES (?, ?, ?, ?)"
        self.db.run(sql, id, hash_of(id), self.number("accounts", user), ends_at)

    def get_sessions(self, user: str) -> list[str]:
        sql = """
            SELECT logins.uid FROM logins JOIN accounts ON number = account
            WHERE accounts.uid = ? ORDER BY logins.uid"""
        return self.column(sql, user)

    def begin_sign_in(self, id: str, user: str) -> None:
        row = self.db.first("SELECT secret_version FROM accounts WHERE uid = ?", user)
        self.sign_ins[id] = row["secret_version"] if row else 0

    def end_sign_in(self, id: str, user: str) -> bool:
        # It has the connection of the writer that is open, and cannot wait for its end.
        if self.database.writing:
            raise Retry
        return begin(self.database, user, id, self.sign_ins.pop(id))

    def get_color_scheme(self, user: str) -> str | None:
        row = self.db.first("SELECT theme FROM accounts WHERE uid = ?", user)
        return row and COLOR_SCHEMES[row["theme"]]


def main() -> None:
    """Answers until standard input ends."""
    with tempfile.TemporaryDirectory(prefix="python-dashboard-") as folder:
        file = str(Path(folder) / "dashboard.db")
        create_tables(file)
        storage = Storage(file)
        own = Own(storage.database)
        names = [name for name in vars(Own) if not name.startswith("_") and name not in ("number", "column")]
        run(storage, {name.replace("_", "-"): getattr(own, name) for name in names})


if __name__ == "__main__":
    main()
