"""The contract's interface `storage` over the dashboard's own tables. wit/storage.wit says what each function
must do.

Everything here is synchronous. Portico calls it in a few threads, and each of them has its own connections. SQLite orders
the writers of all threads and processes. If a second write transaction begins in a thread while one is open (the storage
kit does that; a component cannot), it gets `Retry` at once, because it would wait for its own thread.

Everyone sees all apps here, so no function looks at the viewer.
"""

import hmac
import json
import sqlite3
import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

from portico_dashboard import (
    App,
    Caller,
    ConstraintViolated,
    Retry,
    StorageError,
    TooLarge,
    Unavailable,
    User,
    contract,
)

from .database import Connection, Database, Row, Value, hash_of

T = TypeVar("T")
RecordT = TypeVar("RecordT")


def refusal(error: Exception) -> StorageError:
    """Translates an error of the database for the component."""
    if isinstance(error, StorageError):
        return error
    name, text = getattr(error, "sqlite_errorname", ""), str(error)
    if name.startswith("SQLITE_BUSY"):
        return Retry()
    if name == "SQLITE_CONSTRAINT_FOREIGNKEY":
        return ConstraintViolated("reference")
    match text.partition("UNIQUE constraint failed: ")[2]:
        case "accounts.realm, accounts.login_key":
            return ConstraintViolated("user-name")
        case "accounts.uid" | "tiles.uid":
            return ConstraintViolated("id")
        case columns if columns.startswith("subjects."):
            return ConstraintViolated("identity")
    return Unavailable(f"{name} {text}")


#: Names of the contract, and this dashboard's names for them.
REALMS: dict[contract.Provider, str] = {"credentials": "local", "oidc": "sso", "ldap": "directory"}
THEMES: dict[contract.ColorScheme, str] = {"light": "day", "dark": "night", "auto": "system"}
PROVIDERS = {realm: provider for provider, realm in REALMS.items()}
COLOR_SCHEMES = {theme: scheme for scheme, theme in THEMES.items()}

#: To SQLite, -1 is no limit.
ALL = -1

#: The most bytes of text in an answer.
LARGEST_ANSWER = 100_000_000

#: The team that `grant_admin` makes accounts members of.
ADMINS = "admins"

USER = """
    SELECT uid, login, mail, mail_checked_at, avatar, realm, week_begins_on, shows_state, searches_in_new_tab,
        (SELECT uid FROM panels WHERE number = start_panel) AS panel,
        (SELECT uid FROM panels WHERE number = start_panel_small) AS panel_small,
        (SELECT uid FROM engines WHERE number = engine) AS engine
    FROM accounts"""
ACCOUNT = "SELECT uid, login, accounts.realm, blocked, secret, secret_version FROM accounts"
TILE = "SELECT uid, title, note, icon, link, probe FROM tiles"

#: Selects whether an account may view a panel. ?1 is the account's uid, ?2 the panel's.
VIEWABLE = """
    SELECT panels.number FROM panels LEFT JOIN accounts ON accounts.uid = ?1
    WHERE panels.uid = ?2 AND (
        open = 1 OR owner = accounts.number
        OR EXISTS (SELECT 1 FROM panel_accounts WHERE panel = panels.number AND account = accounts.number)
        OR EXISTS (
            SELECT 1 FROM panel_teams JOIN team_members USING (team)
            WHERE panel = panels.number AND account = accounts.number
        )
        OR EXISTS (
            SELECT 1 FROM team_members JOIN team_rights USING (team)
            WHERE account = accounts.number AND may IN ('admin', 'board-view-all', 'board-modify-all', 'board-full-all')
        )
    )"""


def person(row: Row) -> dict[str, Any]:
    """What identifies an account and shows it."""
    return {
        "id": row["uid"],
        "name": row["login"],
        "email": row["mail"],
        "email_verified": row["mail_checked_at"],
        "image": row["avatar"],
        "provider": PROVIDERS[row["realm"]],
    }


def listed_user(row: Row) -> contract.ListedUser:
    """A user in a list."""
    return contract.ListedUser(**person(row), disabled=row["blocked"] == 1)


def user(row: Row) -> User:
    """`types.user`."""
    return User(
        **person(row),
        home_board_id=row["panel"],
        mobile_home_board_id=row["panel_small"],
        first_day_of_week=row["week_begins_on"],
        ping_icons_enabled=row["shows_state"] == 1,
        default_search_engine_id=row["engine"],
        open_search_in_new_tab=row["searches_in_new_tab"] == 1,
    )


def app(row: Row) -> App:
    """`types.app`."""
    return App(
        id=row["uid"],
        name=row["title"],
        description=row["note"],
        icon_url=row["icon"],
        href=row["link"],
        ping_url=row["probe"],
    )


def tile(stored: contract.StoredApp) -> tuple[Value, ...]:
    """The values of an app's columns, with the uid last."""
    app = stored.app
    return (app.name, stored.name_key, app.description, app.icon_url, app.href, app.ping_url, app.id)


def number_of(db: Connection, table: str, uid: str | None) -> int | None:
    """The number of the row that a record refers to, or None."""
    if uid is None:
        return None
    row = db.first(f"SELECT number FROM {table} WHERE uid = ?", uid)
    if row is None:
        raise ConstraintViolated("reference")
    return int(row["number"])


#: Selects the accounts of a filter: ?1 to ?4 are the values of `filtered`.
MATCHING = """
    FROM accounts WHERE (?1 IS NULL OR realm = ?1) AND instr(login_key, ?2) > 0 AND (?3 IS NULL OR mail = ?3)
        AND (?4 IS NULL OR blocked = ?4)"""


def filtered(filter: contract.UserFilter) -> tuple[Value, ...]:
    """The values of a user filter."""
    return (
        filter.provider and REALMS[filter.provider],
        filter.name_contains or "",
        filter.email,
        filter.disabled,
    )


def limit_and_offset(slice: contract.Slice) -> tuple[int, int]:
    """The values of a slice."""
    return (ALL if slice.limit is None else slice.limit, slice.offset)


def within(rows: Generator[Row, None, None], record: Callable[[Row], RecordT]) -> list[RecordT]:
    """Rows as records, unless they have too much text."""
    bytes, found = 0, []
    with closing(rows):
        for row in rows:
            bytes += sum(len(value.encode()) for value in row if isinstance(value, str))
            if bytes > LARGEST_ANSWER:
                raise TooLarge
            found.append(record(row))
    return found


class Storage:
    """Begins the transactions of the component (`portico_dashboard.Storage`)."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._local = threading.local()

    @property
    def database(self) -> Database:
        """The connections of this thread."""
        if not hasattr(self._local, "database"):
            self._local.database = Database(self._file)
        found: Database = self._local.database
        return found

    def begin(self, access: contract.Access, caller: Caller) -> "Transaction":
        """The dashboard gives the id of the session as the context of a call."""
        return Transaction(self.database, access, caller.context or None)


class Transaction:
    """A transaction of the component. The methods are those of the contract (`portico_dashboard.Transaction`)."""

    def __init__(self, database: Database, access: contract.Access, session: str | None) -> None:
        """`session` is the uid of the login that the call uses."""
        self._writes = access == "write"
        if self._writes and database.writing:
            raise Retry
        self._database = database
        self._session = session
        #: Whether an operation failed. Everything after it is refused, the commit too.
        self._failed = False
        self._connection = database.writer if self._writes else database.take_reader()
        try:
            self._connection.run("BEGIN IMMEDIATE" if self._writes else "BEGIN")
        except sqlite3.Error as error:
            if not self._writes:
                database.give_back(self._connection)
            raise refusal(error) from error
        self.is_open = True
        if self._writes:
            database.writing = True

    def _end(self, how: str) -> None:
        if not self.is_open:
            return
        self.is_open = False
        try:
            self._connection.run(how)
        except sqlite3.Error as error:
            # A failed commit leaves the transaction open.
            if how == "COMMIT":
                self._connection.run("ROLLBACK")
            raise refusal(error) from error
        finally:
            if self._writes:
                self._database.writing = False
            else:
                self._database.give_back(self._connection)

    def commit(self) -> None:
        if self._failed:
            self._end("ROLLBACK")
            raise Unavailable("a call in this transaction failed before")
        self._end("COMMIT")

    def drop(self) -> None:
        """Rolls back. After a commit, this does nothing."""
        self._end("ROLLBACK")

    def _read(self, work: Callable[[Connection], T]) -> T:
        if not self.is_open:
            raise Unavailable("this transaction is over")
        if self._failed:
            raise Unavailable("a call in this transaction failed before")
        try:
            return work(self._connection)
        except (StorageError, sqlite3.Error, OverflowError) as error:
            self._failed = True
            refused = refusal(error)
            if refused is error:
                raise
            raise refused from error

    def _write(self, work: Callable[[Connection], T]) -> T:
        if not self._writes:
            raise Unavailable("a write in a read transaction")
        return self._read(work)

    def has_users(self) -> bool:
        return self._read(lambda db: db.first("SELECT 1 FROM accounts LIMIT 1") is not None)

    def get_user(self, id: str) -> User | None:
        row = self._read(lambda db: db.first(f"{USER} WHERE uid = ?", id))
        return row and user(row)

    def list_users(
        self, filter: contract.UserFilter, slice: contract.Slice, with_images: bool
    ) -> list[contract.ListedUser]:
        sql = f"""
            SELECT uid, login, mail, mail_checked_at, realm, blocked, {"avatar" if with_images else "NULL"} AS avatar
            {MATCHING} ORDER BY login_key, uid LIMIT ?5 OFFSET ?6"""
        values = (*filtered(filter), *limit_and_offset(slice))
        return self._read(lambda db: within(db.iterate(sql, *values), listed_user))

    def count_users(self, filter: contract.UserFilter) -> int:
        sql = f"SELECT count(*) AS count {MATCHING}"
        return int(self._read(lambda db: db.first(sql, *filtered(filter))["count"]))

    def get_account(self, key: contract.AccountKey) -> contract.Account | None:
        def find(db: Connection) -> Any:
            match key:
                case contract.AccountKeyId(id):
                    return db.first(f"{ACCOUNT} WHERE uid = ?", id)
                case contract.AccountKeyName(name):
                    sql = f"{ACCOUNT} WHERE realm = ? AND login_key = ?"
                    return db.first(sql, REALMS[name.provider], name.name_key)
                case contract.AccountKeySubject(subject):
                    join = "JOIN subjects ON account = number WHERE subjects.realm = ? AND subject = ?"
                    return db.first(f"{ACCOUNT} {join}", REALMS[subject.provider], subject.subject)

        row = self._read(find)
        if row is None:
            return None
        return contract.Account(
            id=row["uid"],
            name=row["login"],
            provider=PROVIDERS[row["realm"]],
            disabled=row["blocked"] == 1,
            password_hash=row["secret"],
            password_version=row["secret_version"],
        )

    def insert_user(self, user: contract.NewUser) -> None:
        new, created = user, user.user
        sql = """
            INSERT INTO accounts (uid, realm, login, login_key, mail, mail_checked_at, secret, theme, start_panel,
                start_panel_small, week_begins_on, shows_state, engine, searches_in_new_tab, avatar)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
        self._write(
            lambda db: db.run(
                sql,
                created.id,
                REALMS[created.provider],
                created.name,
                new.name_key,
                created.email,
                created.email_verified,
                new.password_hash,
                THEMES[new.color_scheme],
                number_of(db, "panels", created.home_board_id),
                number_of(db, "panels", created.mobile_home_board_id),
                created.first_day_of_week,
                created.ping_icons_enabled,
                number_of(db, "engines", created.default_search_engine_id),
                created.open_search_in_new_tab,
                created.image,
            )
        )

    def insert_identity(self, user_id: str, subject: contract.ProviderSubject) -> None:
        def insert(db: Connection) -> None:
            account = number_of(db, "accounts", user_id)
            sql = "INSERT INTO subjects (realm, subject, account) VALUES (?, ?, ?)"
            db.run(sql, REALMS[subject.provider], subject.subject, account)

        self._write(insert)

    def _set(self, id: str, columns: str, values: Callable[[Connection], list[Value]]) -> bool:
        """Sets columns of an account. Returns whether there is one."""
        sql = f"UPDATE accounts SET {columns} WHERE uid = ?"
        return self._write(lambda db: db.run(sql, *values(db), id) > 0)

    def set_profile(self, id: str, profile: contract.Profile) -> bool:
        values: list[Value] = [profile.name, profile.name_key, profile.email, profile.email_verified]
        return self._set(id, "login = ?, login_key = ?, mail = ?, mail_checked_at = ?", lambda db: values)

    def set_image(self, id: str, image: str | None) -> bool:
        return self._set(id, "avatar = ?", lambda db: [image])

    def set_home_boards(self, id: str, boards: contract.HomeBoards) -> bool:
        uids = (boards.home_board_id, boards.mobile_home_board_id)
        columns = "start_panel = ?, start_panel_small = ?"
        return self._set(id, columns, lambda db: [number_of(db, "panels", uid) for uid in uids])

    def set_search_preferences(self, id: str, preferences: contract.SearchPreferences) -> bool:
        engine, new_tab = preferences.default_search_engine_id, preferences.open_in_new_tab
        columns = "engine = ?, searches_in_new_tab = ?"
        return self._set(id, columns, lambda db: [number_of(db, "engines", engine), new_tab])

    def set_color_scheme(self, id: str, color_scheme: contract.ColorScheme) -> bool:
        return self._set(id, "theme = ?", lambda db: [THEMES[color_scheme]])

    def set_ping_icons_enabled(self, id: str, enabled: bool) -> bool:
        return self._set(id, "shows_state = ?", lambda db: [enabled])

    def set_first_day_of_week(self, id: str, day: int) -> bool:
        return self._set(id, "week_begins_on = ?", lambda db: [day])

    def set_disabled(self, id: str, disabled: bool) -> bool:
        def disable(db: Connection) -> bool:
            if disabled:
                db.run("DELETE FROM logins WHERE account = (SELECT number FROM accounts WHERE uid = ?)", id)
            return db.run("UPDATE accounts SET blocked = ? WHERE uid = ?", disabled, id) > 0

        return self._write(disable)

    def set_password_if(self, id: str, old: str | None, new: str) -> bool:
        def replace(db: Connection) -> bool:
            # IS, because the value may be null.
            sql = """
                UPDATE accounts SET secret = ?, secret_version = secret_version + 1
                WHERE uid = ? AND secret IS ?"""
            if db.run(sql, new, id, old) == 0:
                return False
            account = "(SELECT number FROM accounts WHERE uid = ?)"
            db.run(f"DELETE FROM logins WHERE account = {account} AND uid IS NOT ?", id, self._session)
            return True

        return self._write(replace)

    def rehash_password_if(self, id: str, old: str, new: str) -> bool:
        sql = "UPDATE accounts SET secret = ? WHERE uid = ? AND secret = ?"
        return self._write(lambda db: db.run(sql, new, id, old) > 0)

    def delete_user(self, id: str) -> bool:
        """The schema's cascades delete everything that belongs to it."""
        return self._write(lambda db: db.run("DELETE FROM accounts WHERE uid = ?", id) > 0)

    def has_another_admin(self, except_: str) -> bool:
        sql = """
            SELECT 1 FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
            WHERE may = 'admin' AND blocked = 0 AND uid <> ?"""
        return self._read(lambda db: db.first(sql, except_) is not None)

    def grant_admin(self, id: str) -> None:
        def grant(db: Connection) -> None:
            account = number_of(db, "accounts", id)
            sql = "INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
            db.run(sql, str(uuid.uuid4()), ADMINS)
            team = db.first("SELECT number FROM teams WHERE name = ?", ADMINS)["number"]
            db.run("INSERT INTO team_rights (team, may) VALUES (?, 'admin') ON CONFLICT DO NOTHING", team)
            sql = "INSERT INTO team_members (account, team) VALUES (?, ?) ON CONFLICT DO NOTHING"
            db.run(sql, account, team)

        self._write(grant)

    def add_to_group(self, user_id: str, group_id: str) -> bool:
        def add(db: Connection) -> bool:
            team = db.first("SELECT number FROM teams WHERE uid = ?", group_id)
            if team is None:
                return False
            account = number_of(db, "accounts", user_id)
            sql = "INSERT INTO team_members (account, team) VALUES (?, ?) ON CONFLICT DO NOTHING"
            db.run(sql, account, team["number"])
            return True

        return self._write(add)

    def has_invite(self, id: str, token: str, now: int) -> bool:
        row = self._read(lambda db: db.first("SELECT token_hash, ends_at FROM invitations WHERE uid = ?", id))
        if row is None:
            return False
        return hmac.compare_digest(row["token_hash"], hash_of(token)) and row["ends_at"] > now

    def take_invite(self, id: str, token: str, now: int) -> bool:
        sql = "DELETE FROM invitations WHERE uid = ?"
        return self._write(lambda db: self.has_invite(id, token, now) and db.run(sql, id) > 0)

    def can_view_board(self, user_id: str, board_id: str) -> bool:
        return self._read(lambda db: db.first(VIEWABLE, user_id, board_id) is not None)

    def has_search_engine(self, id: str) -> bool:
        return self._read(lambda db: db.first("SELECT 1 FROM engines WHERE uid = ?", id) is not None)

    def get_app(self, id: str, viewer: contract.Viewer) -> App | None:
        row = self._read(lambda db: db.first(f"{TILE} WHERE uid = ?", id))
        return row and app(row)

    def get_apps(self, ids: list[str], viewer: contract.Viewer) -> list[App]:
        sql = f"{TILE} WHERE uid IN (SELECT value FROM json_each(?))"
        return self._read(lambda db: within(db.iterate(sql, json.dumps(ids)), app))

    def list_apps(self, filter: contract.AppFilter, slice: contract.Slice) -> list[App]:
        sql = f"{TILE} WHERE instr(title_key, ?) > 0 ORDER BY title_key, uid LIMIT ? OFFSET ?"
        values = (filter.name_contains or "", *limit_and_offset(slice))
        return self._read(lambda db: within(db.iterate(sql, *values), app))

    def count_apps(self, filter: contract.AppFilter) -> int:
        sql = "SELECT count(*) AS count FROM tiles WHERE instr(title_key, ?) > 0"
        return int(self._read(lambda db: db.first(sql, filter.name_contains or "")["count"]))

    def insert_apps(self, apps: list[contract.StoredApp]) -> None:
        sql = (
            "INSERT INTO tiles (title, title_key, note, icon, link, probe, uid) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )

        def insert(db: Connection) -> None:
            for stored in apps:
                db.run(sql, *tile(stored))

        self._write(insert)

    def update_app(self, app: contract.StoredApp) -> bool:
        sql = """
            UPDATE tiles SET title = ?, title_key = ?, note = ?, icon = ?, link = ?, probe = ? WHERE uid = ?"""
        return self._write(lambda db: db.run(sql, *tile(app)) > 0)

    def delete_app(self, id: str) -> bool:
        """The schema's cascades remove it from the panels."""
        return self._write(lambda db: db.run("DELETE FROM tiles WHERE uid = ?", id) > 0)
