-- The dashboard's own tables, which existed before Portico. Additions for Portico are marked.
--
-- Rows are numbered and refer to each other by number. Clients see the uid, which is text. Names are
-- compared by their *_key (the contract's name-key). Times are milliseconds since 1970. Secrets are
-- stored only as SHA-256.

CREATE TABLE IF NOT EXISTS panels (
    number INTEGER PRIMARY KEY,
    uid    TEXT NOT NULL UNIQUE,
    title  TEXT NOT NULL,
    open   INTEGER NOT NULL,
    owner  INTEGER REFERENCES accounts ON DELETE SET NULL
) STRICT;

CREATE TABLE IF NOT EXISTS engines (
    number INTEGER PRIMARY KEY,
    uid    TEXT NOT NULL UNIQUE,
    name   TEXT NOT NULL,
    url    TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS accounts (
    number             INTEGER PRIMARY KEY,
    uid                TEXT NOT NULL UNIQUE,
    realm              TEXT NOT NULL CHECK (realm IN ('local', 'sso', 'directory')),
    login              TEXT NOT NULL,
    login_key          TEXT NOT NULL, -- for Portico; filled once by the component's names.keys
    mail               TEXT,
    mail_checked_at    INTEGER,
    secret             TEXT,
    secret_version     INTEGER NOT NULL DEFAULT 0, -- for Portico; how often the password was set
    blocked            INTEGER NOT NULL DEFAULT 0, -- for Portico; whether the user is disabled
    theme              TEXT NOT NULL CHECK (theme IN ('day', 'night', 'system')),
    start_panel        INTEGER REFERENCES panels ON DELETE SET NULL,
    start_panel_small  INTEGER REFERENCES panels ON DELETE SET NULL,
    week_begins_on     INTEGER NOT NULL,
    shows_state        INTEGER NOT NULL,
    engine             INTEGER REFERENCES engines ON DELETE SET NULL,
    searches_in_new_tab INTEGER NOT NULL,
    avatar             TEXT,
    UNIQUE (realm, login_key)
) STRICT;

-- For Portico: the subject of an account at an identity provider.
CREATE TABLE IF NOT EXISTS subjects (
    realm   TEXT NOT NULL,
    subject TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    PRIMARY KEY (realm, subject),
    UNIQUE (account, realm)
) STRICT;

-- Sessions.
CREATE TABLE IF NOT EXISTS logins (
    uid        TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    account    INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    ends_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS invitations (
    uid        TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL,
    ends_at    INTEGER NOT NULL,
    made_by    INTEGER REFERENCES accounts ON DELETE CASCADE
) STRICT;

CREATE TABLE IF NOT EXISTS teams (
    number INTEGER PRIMARY KEY,
    uid    TEXT NOT NULL UNIQUE,
    name   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS team_rights (
    team      INTEGER NOT NULL REFERENCES teams ON DELETE CASCADE,
    may       TEXT NOT NULL,
    PRIMARY KEY (team, may)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS team_members (
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    team    INTEGER NOT NULL REFERENCES teams ON DELETE CASCADE,
    PRIMARY KEY (account, team)
) STRICT, WITHOUT ROWID;

-- The apps of Portico.
CREATE TABLE IF NOT EXISTS tiles (
    number    INTEGER PRIMARY KEY,
    uid       TEXT NOT NULL UNIQUE,
    title     TEXT NOT NULL,
    title_key TEXT NOT NULL, -- for Portico
    note      TEXT,
    icon      TEXT NOT NULL,
    link      TEXT,
    probe     TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS tiles_by_title ON tiles (title_key, uid);

CREATE TABLE IF NOT EXISTS panel_tiles (
    panel    INTEGER NOT NULL REFERENCES panels ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tile     INTEGER NOT NULL REFERENCES tiles ON DELETE CASCADE,
    PRIMARY KEY (panel, position)
) STRICT, WITHOUT ROWID;

-- With whom a panel is shared.
CREATE TABLE IF NOT EXISTS panel_accounts (
    panel   INTEGER NOT NULL REFERENCES panels ON DELETE CASCADE,
    account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
    PRIMARY KEY (panel, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS panel_teams (
    panel INTEGER NOT NULL REFERENCES panels ON DELETE CASCADE,
    team  INTEGER NOT NULL REFERENCES teams ON DELETE CASCADE,
    PRIMARY KEY (panel, team)
) STRICT, WITHOUT ROWID;
