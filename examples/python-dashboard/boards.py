"""What the dashboard has of its own: panels with apps on them, and search engines. Users, apps, groups, sessions and
invites are Portico's, in the same database."""

import uuid

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Engine,
    MetaData,
    String,
    Table,
    event,
    insert,
    or_,
    select,
)

METADATA = MetaData()

PANELS = Table(
    "panels",
    METADATA,
    Column("id", String, primary_key=True),
    Column("title", String, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("owner", String, nullable=False),
    # The ids of the apps, in order. Those of deleted apps stay here, and are not found.
    Column("apps", JSON, nullable=False),
)
ENGINES = Table(
    "engines",
    METADATA,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("url", String, nullable=False),
)


def prepare(engine: Engine) -> None:
    """Makes the tables. In SQLite readers do not wait for writers, and a commit survives a power cut."""
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def connected(connection: object, record: object) -> None:
            cursor = connection.cursor()  # type: ignore[attr-defined]
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.close()

    METADATA.create_all(engine)


class Boards:
    """Panels and search engines, and what Portico asks about them (`portico_dashboard.sql.Surroundings`)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def panel(self, id: str, user_id: str | None) -> tuple[str, list[str]] | None:
        """The title and the apps of a panel that this user may view."""
        visible = or_(PANELS.c.open, PANELS.c.owner == (user_id or ""))
        query = select(PANELS.c.title, PANELS.c.apps).where(PANELS.c.id == id, visible)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        return row and (row.title, row.apps)

    def add_panel(self, title: str, open: bool, owner: str, apps: list[str]) -> str:
        """Adds a panel, and returns its id."""
        id = str(uuid.uuid4())
        with self._engine.begin() as connection:
            connection.execute(insert(PANELS).values(id=id, title=title, open=open, owner=owner, apps=apps))
        return id

    def add_engine(self, name: str, url: str) -> str:
        """Adds a search engine, and returns its id."""
        id = str(uuid.uuid4())
        with self._engine.begin() as connection:
            connection.execute(insert(ENGINES).values(id=id, name=name, url=url))
        return id

    def can_view_board(self, user_id: str, board_id: str) -> bool:
        return self.panel(board_id, user_id) is not None

    def has_search_engine(self, id: str) -> bool:
        with self._engine.connect() as connection:
            return connection.execute(select(ENGINES.c.id).where(ENGINES.c.id == id)).first() is not None

    def visible_apps_of(self, user_id: str | None) -> None:
        """Everyone sees all apps."""
