-- What clients of other dashboards keep about a user or a board, where Portico has no field for it: a text, which
-- Portico only keeps for them.

CREATE TABLE user_extras (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
    extras  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE board_extras (
    board_id TEXT NOT NULL PRIMARY KEY REFERENCES board (id) ON DELETE CASCADE,
    extras   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
