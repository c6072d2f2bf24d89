-- Shares with a right to change the board, and links for a new password.

ALTER TABLE board_user ADD COLUMN may_change INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1));
ALTER TABLE board_group ADD COLUMN may_change INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1));

-- A link with which a user sets a new password, at most one for each user. It ends with the password that it is to
-- replace: once the user has another password_version, it is good for nothing. creator_id is NULL for the operator.
CREATE TABLE password_link (
    user_id          TEXT NOT NULL PRIMARY KEY REFERENCES user_account ON DELETE CASCADE,
    token_hash       BLOB NOT NULL UNIQUE,
    password_version INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    creator_id       TEXT REFERENCES user_account ON DELETE CASCADE
) STRICT;

CREATE INDEX password_link_by_creator ON password_link (creator_id);
