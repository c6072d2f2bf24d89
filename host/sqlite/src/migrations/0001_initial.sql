-- Everything that Portico keeps.
--
-- Ids are text. A name_key is how a name is compared: its bytes give the order. Moments are
-- milliseconds since 1970. Of secrets there is only the SHA-256. Every column that refers to
-- another table stands first in an index, or a deletion there would read the whole table.

PRAGMA application_id = 0x50727463;

CREATE TABLE app (
    id          TEXT NOT NULL PRIMARY KEY,
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    description TEXT,
    icon_url    TEXT NOT NULL,
    href        TEXT,
    ping_url    TEXT
) STRICT;

CREATE INDEX app_by_name ON app (name_key, id);

CREATE TABLE search_engine (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    name_key     TEXT NOT NULL UNIQUE,
    short        TEXT NOT NULL,
    short_key    TEXT NOT NULL UNIQUE,
    url_template TEXT NOT NULL,
    icon_url     TEXT NOT NULL,
    description  TEXT
) STRICT;

-- The image may be large. It stands last, so that reading the rest does not pass through it.
CREATE TABLE user (
    id                       TEXT NOT NULL PRIMARY KEY,
    provider                 TEXT NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    name                     TEXT NOT NULL,
    name_key                 TEXT NOT NULL,
    email                    TEXT,
    email_verified           INTEGER,
    password_hash            TEXT,
    color_scheme             TEXT NOT NULL CHECK (color_scheme IN ('light', 'dark', 'auto')),
    home_board_id            TEXT REFERENCES board ON DELETE SET NULL,
    mobile_home_board_id     TEXT REFERENCES board ON DELETE SET NULL,
    first_day_of_week        INTEGER NOT NULL,
    ping_icons_enabled       INTEGER NOT NULL,
    default_search_engine_id TEXT REFERENCES search_engine ON DELETE SET NULL,
    open_search_in_new_tab   INTEGER NOT NULL,
    image                    TEXT,
    UNIQUE (provider, name_key)
) STRICT;

CREATE INDEX user_by_name ON user (name_key, id);
CREATE INDEX user_by_home_board ON user (home_board_id);
CREATE INDEX user_by_mobile_home_board ON user (mobile_home_board_id);
CREATE INDEX user_by_default_search_engine ON user (default_search_engine_id);

-- Which subject of a provider a user is.
CREATE TABLE identity (
    provider TEXT NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    subject  TEXT NOT NULL,
    user_id  TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identity_by_user ON identity (user_id);

CREATE TABLE user_group (
    id       TEXT NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE group_permission (
    group_id   TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    permission TEXT NOT NULL,
    PRIMARY KEY (group_id, permission)
) STRICT, WITHOUT ROWID;

CREATE INDEX group_permission_by_permission ON group_permission (permission);

CREATE TABLE group_member (
    user_id  TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (user_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX group_member_by_group ON group_member (group_id);

CREATE TABLE api_key (
    id           TEXT NOT NULL PRIMARY KEY,
    secret_hash  BLOB NOT NULL UNIQUE,
    user_id      TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
    name         TEXT,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE INDEX api_key_by_user ON api_key (user_id);

CREATE TABLE session (
    id         TEXT NOT NULL PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    user_id    TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_by_end ON session (expires_at);

CREATE TABLE invite (
    id         TEXT NOT NULL PRIMARY KEY,
    token_hash BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    creator_id TEXT REFERENCES user ON DELETE CASCADE
) STRICT;

CREATE INDEX invite_by_creator ON invite (creator_id);

CREATE TABLE board (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    name_key   TEXT NOT NULL UNIQUE,
    is_public  INTEGER NOT NULL,
    creator_id TEXT REFERENCES user ON DELETE SET NULL
) STRICT;

CREATE INDEX board_by_creator ON board (creator_id);

-- One thing on a board: an app, which takes the item with it; without one, a list of bookmarks,
-- which may become empty and stays.
CREATE TABLE board_item (
    board_id TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    position INTEGER NOT NULL,
    app_id   TEXT REFERENCES app ON DELETE CASCADE,
    PRIMARY KEY (board_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_item_by_app ON board_item (app_id);

-- The apps in a list of bookmarks.
CREATE TABLE board_item_app (
    board_id      TEXT NOT NULL,
    item_position INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    app_id        TEXT NOT NULL REFERENCES app ON DELETE CASCADE,
    PRIMARY KEY (board_id, item_position, position),
    FOREIGN KEY (board_id, item_position) REFERENCES board_item ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX board_item_app_by_app ON board_item_app (app_id);

-- Whom a board is shared with.
CREATE TABLE board_user (
    board_id TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    user_id  TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
    PRIMARY KEY (board_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_user_by_user ON board_user (user_id);

CREATE TABLE board_group (
    board_id TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (board_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_group_by_group ON board_group (group_id);
