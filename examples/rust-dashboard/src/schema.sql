-- The dashboard's own tables. They existed before Portico; what was added for Portico says so.
--
-- Names are compared by their *_key (the contract's name-key). Times are milliseconds since 1970. Only
-- the SHA-256 of a secret is stored.

CREATE TABLE IF NOT EXISTS pages (
    id    TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    open  INTEGER NOT NULL, -- for everyone to see
    owner TEXT REFERENCES people ON DELETE SET NULL
) STRICT;

CREATE TABLE IF NOT EXISTS engines (
    id   TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    url  TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS people (
    id               TEXT PRIMARY KEY,
    source           TEXT NOT NULL CHECK (source IN ('local', 'sso', 'directory')),
    login            TEXT NOT NULL,
    login_key        TEXT NOT NULL, -- for Portico; filled once by `Plugin::name_keys`
    mail             TEXT,
    mail_verified_at INTEGER,
    picture          TEXT,
    password         TEXT,
    password_version INTEGER NOT NULL DEFAULT 0, -- for Portico: how often the password was set
    disabled         INTEGER NOT NULL DEFAULT 0, -- for Portico
    look             TEXT NOT NULL CHECK (look IN ('day', 'night', 'system')),
    home             TEXT REFERENCES pages ON DELETE SET NULL,
    home_on_phone    TEXT REFERENCES pages ON DELETE SET NULL,
    week_begins_on   INTEGER NOT NULL,
    shows_pings      INTEGER NOT NULL,
    engine           TEXT REFERENCES engines ON DELETE SET NULL,
    opens_tabs       INTEGER NOT NULL,
    UNIQUE (source, login_key)
) STRICT;

-- For Portico: the subject by which an identity provider knows a person.
CREATE TABLE IF NOT EXISTS subjects (
    source  TEXT NOT NULL,
    subject TEXT NOT NULL,
    person  TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
    UNIQUE (source, subject),
    UNIQUE (person, source)
) STRICT;

-- Sessions.
CREATE TABLE IF NOT EXISTS visits (
    id         TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    person     TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
    ends_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS invitations (
    id         TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL,
    ends_at    INTEGER NOT NULL,
    made_by    TEXT REFERENCES people ON DELETE CASCADE
) STRICT;

CREATE TABLE IF NOT EXISTS teams (
    id   TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS team_rights (
    team TEXT NOT NULL REFERENCES teams ON DELETE CASCADE,
    may  TEXT NOT NULL,
    PRIMARY KEY (team, may)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS team_members (
    person TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
    team   TEXT NOT NULL REFERENCES teams ON DELETE CASCADE,
    PRIMARY KEY (person, team)
) STRICT, WITHOUT ROWID;

-- Portico calls them apps.
CREATE TABLE IF NOT EXISTS services (
    id        TEXT PRIMARY KEY,
    title     TEXT NOT NULL,
    title_key TEXT NOT NULL, -- for Portico
    notes     TEXT,
    icon      TEXT NOT NULL,
    link      TEXT,
    probe     TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS services_by_title ON services (title_key, id);

CREATE TABLE IF NOT EXISTS page_services (
    page     TEXT NOT NULL REFERENCES pages ON DELETE CASCADE,
    position INTEGER NOT NULL,
    service  TEXT NOT NULL REFERENCES services ON DELETE CASCADE,
    PRIMARY KEY (page, position)
) STRICT, WITHOUT ROWID;

-- The people and teams that a page is shared with.
CREATE TABLE IF NOT EXISTS page_people (
    page   TEXT NOT NULL REFERENCES pages ON DELETE CASCADE,
    person TEXT NOT NULL REFERENCES people ON DELETE CASCADE,
    PRIMARY KEY (page, person)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS page_teams (
    page TEXT NOT NULL REFERENCES pages ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES teams ON DELETE CASCADE,
    PRIMARY KEY (page, team)
) STRICT, WITHOUT ROWID;

-- Deleting a person, a team or a service searches for the rows that refer to it.
CREATE INDEX IF NOT EXISTS visits_of_person ON visits (person);
CREATE INDEX IF NOT EXISTS members_of_team ON team_members (team);
CREATE INDEX IF NOT EXISTS pages_of_service ON page_services (service);
