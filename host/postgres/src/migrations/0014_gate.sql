-- The gate in front of apps: what is set of apps, and the passes of sessions.

-- addresses are URLs as words between spaces. is_open: the app passes for everyone while it is on a public board.
CREATE TABLE app_gate (
    app_id    text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES app ON DELETE CASCADE,
    addresses text COLLATE "C" NOT NULL,
    is_open   boolean NOT NULL
);

-- A pass is good as long as its session has the token_hash that is here as session_hash.
CREATE TABLE gate_pass (
    session_id   text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES session ON DELETE CASCADE,
    token_hash   bytea NOT NULL UNIQUE,
    session_hash bytea NOT NULL
);
