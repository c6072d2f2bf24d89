-- What people see first who have no home board of their own, and the pictures of boards.

-- id is that of the group whose members see the boards, or empty: everyone.
CREATE TABLE home_board (
    id                   TEXT NOT NULL PRIMARY KEY CHECK (id = coalesce(group_id, '')),
    group_id             TEXT REFERENCES user_group ON DELETE CASCADE,
    home_board_id        TEXT REFERENCES board ON DELETE SET NULL,
    mobile_home_board_id TEXT REFERENCES board ON DELETE SET NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX home_board_by_group ON home_board (group_id);
CREATE INDEX home_board_by_home_board ON home_board (home_board_id);
CREATE INDEX home_board_by_mobile_home_board ON home_board (mobile_home_board_id);

-- The pictures that the extras of a board name, so that they stay while it does.
CREATE TABLE board_picture (
    board_id   TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    picture_id TEXT NOT NULL,
    PRIMARY KEY (board_id, picture_id)
) STRICT, WITHOUT ROWID;

INSERT INTO board_picture (board_id, picture_id)
    SELECT board_extras.board_id, picture.id FROM board_extras CROSS JOIN picture
        WHERE instr(board_extras.extras, '/api/pictures/') > 0
            AND instr(board_extras.extras, '/api/pictures/' || picture.id) > 0;
