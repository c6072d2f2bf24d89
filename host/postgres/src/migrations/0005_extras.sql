-- What clients of other dashboards keep about a user or a board, where Portico has no field for it: a text, which
-- Portico only keeps for them.

CREATE TABLE user_extras (
    user_id text COLLATE "C" PRIMARY KEY REFERENCES user_account (id) ON DELETE CASCADE,
    extras  text NOT NULL
);

CREATE TABLE board_extras (
    board_id text COLLATE "C" PRIMARY KEY REFERENCES board (id) ON DELETE CASCADE,
    extras   text NOT NULL
);
