-- Second factors of users, and the recovery codes for when one is lost.

-- data is the secret of codes in Base32, or what a passkey is checked with. counter is the time step of the last code, or the
-- number of signatures of a passkey. handle is the id of a passkey's credential.
CREATE TABLE second_factor (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    kind         TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
    name         TEXT,
    handle       TEXT UNIQUE,
    data         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    counter      INTEGER
) STRICT;

CREATE INDEX second_factor_by_user ON second_factor (user_id);

-- Those that are left. code_hash is the SHA-256 of a code of 80 random bits.
CREATE TABLE recovery_code (
    user_id   TEXT NOT NULL REFERENCES user_account ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    code_hash BLOB NOT NULL,
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;
