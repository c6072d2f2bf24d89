-- Everything that Portico keeps. The tables and columns of the SQLite driver have the same names and equivalent types.
--
-- Ids are text. A name_key is how a name is compared: its bytes give the order, so every text has the
-- collation "C". Moments are milliseconds since 1970. Of secrets there is only the SHA-256. Every column
-- that refers to another table stands first in an index, or a deletion there would read the whole table.

CREATE TABLE app (
    id          text COLLATE "C" NOT NULL PRIMARY KEY,
    name        text COLLATE "C" NOT NULL,
    name_key    text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    icon_url    text COLLATE "C" NOT NULL,
    href        text COLLATE "C",
    ping_url    text COLLATE "C"
);

CREATE INDEX app_by_name ON app (name_key, id);

CREATE TABLE search_engine (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    name_key     text COLLATE "C" NOT NULL UNIQUE,
    short        text COLLATE "C" NOT NULL,
    short_key    text COLLATE "C" NOT NULL UNIQUE,
    url_template text COLLATE "C" NOT NULL,
    icon_url     text COLLATE "C" NOT NULL,
    description  text COLLATE "C"
);

-- A user and a board may refer to each other; the references to boards are added below. password_version
-- counts how often a password was set; another hash of the same password leaves it as it is. A disabled user
-- cannot sign in.
CREATE TABLE user_account (
    id                       text COLLATE "C" NOT NULL PRIMARY KEY,
    provider                 text COLLATE "C" NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    name                     text COLLATE "C" NOT NULL,
    name_key                 text COLLATE "C" NOT NULL,
    email                    text COLLATE "C",
    email_verified           bigint,
    password_hash            text COLLATE "C",
    password_version         bigint NOT NULL DEFAULT 0,
    color_scheme             text COLLATE "C" NOT NULL CHECK (color_scheme IN ('light', 'dark', 'auto')),
    home_board_id            text COLLATE "C",
    mobile_home_board_id     text COLLATE "C",
    first_day_of_week        bigint NOT NULL,
    ping_icons_enabled       boolean NOT NULL,
    default_search_engine_id text COLLATE "C" REFERENCES search_engine ON DELETE SET NULL,
    open_search_in_new_tab   boolean NOT NULL,
    disabled                 boolean NOT NULL DEFAULT false,
    image                    text COLLATE "C",
    CONSTRAINT user_account_by_provider UNIQUE (name_key, provider)
);

-- Also what a filter asks for, so that a search need not read the users.
CREATE INDEX user_account_by_name ON user_account (name_key, id) INCLUDE (provider, disabled);
-- A first sign-in by an identity provider looks for a user with the same email.
CREATE INDEX user_account_by_email ON user_account (email) WHERE email IS NOT NULL;
CREATE INDEX user_account_by_home_board ON user_account (home_board_id);
CREATE INDEX user_account_by_mobile_home_board ON user_account (mobile_home_board_id);
CREATE INDEX user_account_by_default_search_engine ON user_account (default_search_engine_id);

-- Which subject of a provider a user is, at most one of each. An index of PostgreSQL takes less than 2,704 bytes, and
-- a subject may have more: so its SHA-256 stands in the key.
CREATE TABLE identity (
    provider     text COLLATE "C" NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    subject_hash bytea NOT NULL,
    subject      text COLLATE "C" NOT NULL,
    user_id      text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    PRIMARY KEY (provider, subject_hash)
);

CREATE UNIQUE INDEX identity_by_user ON identity (user_id, provider);

CREATE TABLE user_group (
    id       text COLLATE "C" NOT NULL PRIMARY KEY,
    name     text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE group_permission (
    group_id   text COLLATE "C" NOT NULL REFERENCES user_group ON DELETE CASCADE,
    permission text COLLATE "C" NOT NULL,
    PRIMARY KEY (group_id, permission)
);

CREATE INDEX group_permission_by_permission ON group_permission (permission);

CREATE TABLE group_member (
    user_id  text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    group_id text COLLATE "C" NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (user_id, group_id)
);

CREATE INDEX group_member_by_group ON group_member (group_id);

-- imported_hash is the hash of bcrypt of a key that was imported from another dashboard. Its first use replaces it by
-- secret_hash, which is the hash of no known secret until then.
CREATE TABLE api_key (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    secret_hash   bytea NOT NULL UNIQUE,
    user_id       text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    name          text COLLATE "C",
    created_at    bigint NOT NULL,
    expires_at    bigint,
    last_used_at  bigint,
    imported_hash text COLLATE "C"
);

CREATE INDEX api_key_by_user ON api_key (user_id);

-- A session ends at ends_at at the latest, and at expires_at unless it is used before: each use, noted
-- once a minute, moves that.
CREATE TABLE session (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash   bytea NOT NULL UNIQUE,
    user_id      text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL,
    last_used_at bigint NOT NULL,
    ends_at      bigint NOT NULL
);

CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_by_end ON session (expires_at);

CREATE TABLE invite (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash bytea NOT NULL,
    expires_at bigint NOT NULL,
    creator_id text COLLATE "C" REFERENCES user_account ON DELETE CASCADE
);

CREATE INDEX invite_by_creator ON invite (creator_id);

CREATE TABLE board (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    name_key   text COLLATE "C" NOT NULL UNIQUE,
    is_public  boolean NOT NULL,
    creator_id text COLLATE "C" REFERENCES user_account ON DELETE SET NULL
);

CREATE INDEX board_by_creator ON board (creator_id);

ALTER TABLE user_account
    ADD FOREIGN KEY (home_board_id) REFERENCES board ON DELETE SET NULL,
    ADD FOREIGN KEY (mobile_home_board_id) REFERENCES board ON DELETE SET NULL;

-- One thing on a board: an app, which takes the item with it; without one, a list of bookmarks, which may
-- become empty and stays.
CREATE TABLE board_item (
    board_id text COLLATE "C" NOT NULL REFERENCES board ON DELETE CASCADE,
    position bigint NOT NULL,
    app_id   text COLLATE "C" REFERENCES app ON DELETE CASCADE,
    PRIMARY KEY (board_id, position)
);

CREATE INDEX board_item_by_app ON board_item (app_id);

-- The apps in a list of bookmarks.
CREATE TABLE board_item_app (
    board_id      text COLLATE "C" NOT NULL,
    item_position bigint NOT NULL,
    position      bigint NOT NULL,
    app_id        text COLLATE "C" NOT NULL REFERENCES app ON DELETE CASCADE,
    PRIMARY KEY (board_id, item_position, position),
    FOREIGN KEY (board_id, item_position) REFERENCES board_item ON DELETE CASCADE
);

CREATE INDEX board_item_app_by_app ON board_item_app (app_id);

-- Whom a board is shared with.
CREATE TABLE board_user (
    board_id text COLLATE "C" NOT NULL REFERENCES board ON DELETE CASCADE,
    user_id  text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    PRIMARY KEY (board_id, user_id)
);

CREATE INDEX board_user_by_user ON board_user (user_id);

CREATE TABLE board_group (
    board_id text COLLATE "C" NOT NULL REFERENCES board ON DELETE CASCADE,
    group_id text COLLATE "C" NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (board_id, group_id)
);

CREATE INDEX board_group_by_group ON board_group (group_id);

-- What clients of other dashboards keep about a user or a board, where Portico has no field for it: a text, which
-- Portico only keeps for them.
CREATE TABLE user_extras (
    user_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES user_account ON DELETE CASCADE,
    extras  text COLLATE "C" NOT NULL
);

CREATE TABLE board_extras (
    board_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES board ON DELETE CASCADE,
    extras   text COLLATE "C" NOT NULL
);

-- Who did what, when, and what came of it. Rows outlive everything that they are about: actor_id and target
-- refer to nothing. They are only ever added, and pruned by age and number.
--
-- Of a call with success (outcome 'OK') the row is written by the transaction of the change; so the indexes
-- are few. That of refusals costs a success nothing.
CREATE TABLE audit (
    number         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time           bigint NOT NULL,
    actor_id       text COLLATE "C",
    authentication text COLLATE "C" NOT NULL,
    credential_id  text COLLATE "C",
    address        text COLLATE "C",
    request_id     text COLLATE "C" NOT NULL,
    procedure      text COLLATE "C" NOT NULL,
    provider       text COLLATE "C" CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    target         text COLLATE "C",
    created        bigint NOT NULL,
    outcome        text COLLATE "C" NOT NULL,
    times          bigint NOT NULL
);

CREATE INDEX audit_by_time ON audit (time, number);
CREATE INDEX audit_by_actor ON audit (actor_id, time, number) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_by_procedure ON audit (procedure, time, number);
CREATE INDEX audit_refusals ON audit (time, number, outcome) WHERE outcome <> 'OK';

CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of the audit log are never changed';
END
$$;

CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- What hosts must know of each other: see portico_storage::SharedRecords.
CREATE TABLE shared_record (
    kind    text COLLATE "C" NOT NULL,
    key     bytea NOT NULL,
    value   bytea NOT NULL,
    rank    bigint NOT NULL,
    ends_at bigint NOT NULL,
    PRIMARY KEY (kind, key)
);

CREATE INDEX shared_record_by_rank ON shared_record (kind, rank);
CREATE INDEX shared_record_by_end ON shared_record (ends_at);
