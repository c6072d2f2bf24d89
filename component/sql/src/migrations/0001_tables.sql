-- The tables of users and apps, and of what a dashboard has besides: sessions, keys, groups, invites. They have the names
-- and columns of Portico's own databases, because the statements are the same; boards and search engines are the
-- dashboard's own, so nothing refers to them.
--
-- `~` is the prefix. In square brackets stands what each database writes in its own way (`migrations.rs`).

CREATE TABLE ~app (
    id          [text] NOT NULL PRIMARY KEY,
    name        [text] NOT NULL,
    name_key    [text] NOT NULL,
    description [text],
    icon_url    [text] NOT NULL,
    href        [text],
    ping_url    [text]
)[strict];

CREATE INDEX ~app_by_name ON ~app (name_key, id);

CREATE TABLE ~user_account (
    id                       [text] NOT NULL PRIMARY KEY,
    provider                 [text] NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    name                     [text] NOT NULL,
    name_key                 [text] NOT NULL,
    email                    [text],
    email_verified           [number],
    password_hash            [text],
    password_version         [number] NOT NULL DEFAULT 0,
    color_scheme             [text] NOT NULL CHECK (color_scheme IN ('light', 'dark', 'auto')),
    home_board_id            [text],
    mobile_home_board_id     [text],
    first_day_of_week        [number] NOT NULL,
    ping_icons_enabled       [truth] NOT NULL,
    default_search_engine_id [text],
    open_search_in_new_tab   [truth] NOT NULL,
    disabled                 [truth] NOT NULL DEFAULT [false],
    image                    [text],
    CONSTRAINT ~user_account_by_provider UNIQUE (name_key, provider)
)[strict];

CREATE INDEX ~user_account_by_name ON ~user_account (name_key, id, provider, disabled);

CREATE INDEX ~user_account_by_email ON ~user_account (email) WHERE email IS NOT NULL;

CREATE TABLE ~identity (
    provider     [text] NOT NULL CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    subject_hash [bytes] NOT NULL,
    subject      [text] NOT NULL,
    user_id      [text] NOT NULL REFERENCES ~user_account ON DELETE CASCADE,
    PRIMARY KEY (provider, subject_hash)
)[strict];

CREATE UNIQUE INDEX ~identity_by_user ON ~identity (user_id, provider);

CREATE TABLE ~user_group (
    id       [text] NOT NULL PRIMARY KEY,
    name     [text] NOT NULL,
    name_key [text] NOT NULL UNIQUE
)[strict];

CREATE TABLE ~group_permission (
    group_id   [text] NOT NULL REFERENCES ~user_group ON DELETE CASCADE,
    permission [text] NOT NULL,
    PRIMARY KEY (group_id, permission)
)[strict];

CREATE INDEX ~group_permission_by_permission ON ~group_permission (permission);

CREATE TABLE ~group_member (
    user_id  [text] NOT NULL REFERENCES ~user_account ON DELETE CASCADE,
    group_id [text] NOT NULL REFERENCES ~user_group ON DELETE CASCADE,
    PRIMARY KEY (user_id, group_id)
)[strict];

CREATE INDEX ~group_member_by_group ON ~group_member (group_id);

CREATE TABLE ~api_key (
    id            [text] NOT NULL PRIMARY KEY,
    secret_hash   [bytes] NOT NULL UNIQUE,
    user_id       [text] NOT NULL REFERENCES ~user_account ON DELETE CASCADE,
    name          [text],
    created_at    [number] NOT NULL,
    expires_at    [number],
    last_used_at  [number],
    imported_hash [text]
)[strict];

CREATE INDEX ~api_key_by_user ON ~api_key (user_id);

CREATE TABLE ~session (
    id           [text] NOT NULL PRIMARY KEY,
    token_hash   [bytes] NOT NULL UNIQUE,
    user_id      [text] NOT NULL REFERENCES ~user_account ON DELETE CASCADE,
    created_at   [number] NOT NULL,
    expires_at   [number] NOT NULL,
    last_used_at [number] NOT NULL,
    ends_at      [number] NOT NULL
)[strict];

CREATE INDEX ~session_by_user ON ~session (user_id);

CREATE INDEX ~session_by_end ON ~session (expires_at);

CREATE TABLE ~invite (
    id         [text] NOT NULL PRIMARY KEY,
    token_hash [bytes] NOT NULL,
    expires_at [number] NOT NULL,
    creator_id [text] REFERENCES ~user_account ON DELETE CASCADE
)[strict];

CREATE INDEX ~invite_by_creator ON ~invite (creator_id);
