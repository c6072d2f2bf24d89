-- Second factors of users, and the recovery codes for when one is lost.

-- data is the secret of codes in Base32, or what a passkey is checked with. counter is the time step of the last code, or the
-- number of signatures of a passkey. handle is the id of a passkey's credential.
CREATE TABLE second_factor (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    kind         text COLLATE "C" NOT NULL CHECK (kind IN ('totp', 'passkey')),
    name         text COLLATE "C",
    handle       text COLLATE "C" UNIQUE,
    data         text COLLATE "C" NOT NULL,
    created_at   bigint NOT NULL,
    last_used_at bigint,
    counter      bigint
);

CREATE INDEX second_factor_by_user ON second_factor (user_id);

-- Those that are left. code_hash is the SHA-256 of a code of 80 random bits.
CREATE TABLE recovery_code (
    user_id   text COLLATE "C" NOT NULL REFERENCES user_account ON DELETE CASCADE,
    number    bigint NOT NULL,
    code_hash bytea NOT NULL,
    PRIMARY KEY (user_id, number)
);
