-- Shares with a right to change the board, and links for a new password.

ALTER TABLE board_user ADD COLUMN may_change boolean NOT NULL DEFAULT false;
ALTER TABLE board_group ADD COLUMN may_change boolean NOT NULL DEFAULT false;

-- A link with which a user sets a new password, at most one for each user. It ends with the password that it is to
-- replace: once the user has another password_version, it is good for nothing. creator_id is NULL for the operator.
CREATE TABLE password_link (
    user_id          text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES user_account ON DELETE CASCADE,
    token_hash       bytea NOT NULL UNIQUE,
    password_version bigint NOT NULL,
    expires_at       bigint NOT NULL,
    creator_id       text COLLATE "C" REFERENCES user_account ON DELETE CASCADE
);

CREATE INDEX password_link_by_creator ON password_link (creator_id);
