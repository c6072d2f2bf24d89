-- Everything that Portico keeps. The tables and columns of the PostgreSQL driver have the same names and equivalent types.
--
-- Ids are text. A name_key is how a name is compared: its bytes give the order. Moments are milliseconds
-- since 1970. Of secrets there is only the SHA-256. Every column that refers to another table stands first
-- in an index, or a deletion there would read the whole table.

PRAGMA application_id = 0x50727463; -- "Prtc"

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

-- password_version counts how often a password was set; another hash of the same password leaves it as it is. A
-- disabled user cannot sign in. The image may be large. It stands last, so that reading the rest does not pass through it.
CREATE TABLE user_account (
    id                       TEXT NOT NULL PRIMARY KEY,
    provider                 TEXT NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    name                     TEXT NOT NULL,
    name_key                 TEXT NOT NULL,
    email                    TEXT,
    email_verified           INTEGER,
    password_hash            TEXT,
    password_version         INTEGER NOT NULL DEFAULT 0,
    color_scheme             TEXT NOT NULL CHECK (color_scheme IN ('light', 'dark', 'auto')),
    home_board_id            TEXT REFERENCES board ON DELETE SET NULL,
    mobile_home_board_id     TEXT REFERENCES board ON DELETE SET NULL,
    first_day_of_week        INTEGER NOT NULL,
    ping_icons_enabled       INTEGER NOT NULL CHECK (ping_icons_enabled IN (0, 1)),
    default_search_engine_id TEXT REFERENCES search_engine ON DELETE SET NULL,
    open_search_in_new_tab   INTEGER NOT NULL CHECK (open_search_in_new_tab IN (0, 1)),
    disabled                 INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    image                    TEXT,
    UNIQUE (name_key, provider)
) STRICT;

-- Also what a filter asks for, so that a search need not read the users.
CREATE INDEX user_account_by_name ON user_account (name_key, id, provider, disabled);
-- A first sign-in by an identity provider looks for a user with the same email.
CREATE INDEX user_account_by_email ON user_account (email) WHERE email IS NOT NULL;
CREATE INDEX user_account_by_home_board ON user_account (home_board_id);
CREATE INDEX user_account_by_mobile_home_board ON user_account (mobile_home_board_id);
CREATE INDEX user_account_by_default_search_engine ON user_account (default_search_engine_id);

-- Which subject of a provider a user is, at most one of each. An index of PostgreSQL takes less than 2,704 bytes, and
-- a subject may have more: so its SHA-256 stands in the key.
CREATE TABLE identity (
    provider     TEXT NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    subject_hash BLOB NOT NULL,
    subject      TEXT NOT NULL,
    user_id      TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    PRIMARY KEY (provider, subject_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX identity_by_user ON identity (user_id, provider);

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
    user_id  TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (user_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX group_member_by_group ON group_member (group_id);

-- imported_hash is the hash of bcrypt of a key that was imported from another dashboard. Its first use replaces it by
-- secret_hash, which is the hash of no known secret until then.
CREATE TABLE api_key (
    id            TEXT NOT NULL PRIMARY KEY,
    secret_hash   BLOB NOT NULL UNIQUE,
    user_id       TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    name          TEXT,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    last_used_at  INTEGER,
    imported_hash TEXT
) STRICT;

CREATE INDEX api_key_by_user ON api_key (user_id);

-- A session ends at ends_at at the latest, and at expires_at unless it is used before: each use, noted
-- once a minute, moves that.
CREATE TABLE session (
    id           TEXT NOT NULL PRIMARY KEY,
    token_hash   BLOB NOT NULL UNIQUE,
    user_id      TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_by_end ON session (expires_at);

CREATE TABLE invite (
    id         TEXT NOT NULL PRIMARY KEY,
    token_hash BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    creator_id TEXT REFERENCES user_account ON DELETE CASCADE
) STRICT;

CREATE INDEX invite_by_creator ON invite (creator_id);

CREATE TABLE board (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    name_key   TEXT NOT NULL UNIQUE,
    is_public  INTEGER NOT NULL CHECK (is_public IN (0, 1)),
    creator_id TEXT REFERENCES user_account ON DELETE SET NULL
) STRICT;

CREATE INDEX board_by_creator ON board (creator_id);

-- One thing on a board: an app, which takes the item with it; without one, a list of bookmarks, which may
-- become empty and stays.
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
    user_id  TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    PRIMARY KEY (board_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_user_by_user ON board_user (user_id);

CREATE TABLE board_group (
    board_id TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    group_id TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (board_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_group_by_group ON board_group (group_id);

-- What clients of other dashboards keep about a user or a board, where Portico has no field for it: a text, which
-- Portico only keeps for them.
CREATE TABLE user_extras (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES user_account ON DELETE CASCADE,
    extras  TEXT NOT NULL
) STRICT;

CREATE TABLE board_extras (
    board_id TEXT NOT NULL PRIMARY KEY REFERENCES board ON DELETE CASCADE,
    extras   TEXT NOT NULL
) STRICT;

-- Who did what, when, and what came of it. Rows outlive everything that they are about: actor_id and target
-- refer to nothing. They are only ever added, and pruned by age and number.
--
-- Of a call with success (outcome 'OK') the row is written by the transaction of the change; so the indexes
-- are few. That of refusals costs a success nothing.
CREATE TABLE audit (
    number         INTEGER PRIMARY KEY,
    time           INTEGER NOT NULL,
    actor_id       TEXT,
    authentication TEXT NOT NULL,
    credential_id  TEXT,
    address        TEXT,
    request_id     TEXT NOT NULL,
    procedure      TEXT NOT NULL,
    provider       TEXT CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    target         TEXT,
    created        INTEGER NOT NULL,
    outcome        TEXT NOT NULL,
    times          INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (time);
CREATE INDEX audit_by_actor ON audit (actor_id, time) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_by_procedure ON audit (procedure, time);
CREATE INDEX audit_refusals ON audit (time, outcome) WHERE outcome <> 'OK';

CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN
    SELECT raise(ABORT, 'rows of the audit log are never changed');
END;
