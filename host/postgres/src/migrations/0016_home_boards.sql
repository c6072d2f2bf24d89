-- What people see first who have no home board of their own, and the pictures of boards.

-- id is that of the group whose members see the boards, or empty: everyone.
CREATE TABLE home_board (
    id                   text COLLATE "C" PRIMARY KEY,
    group_id             text COLLATE "C" REFERENCES user_group ON DELETE CASCADE,
    home_board_id        text COLLATE "C" REFERENCES board ON DELETE SET NULL,
    mobile_home_board_id text COLLATE "C" REFERENCES board ON DELETE SET NULL,
    CHECK (id = coalesce(group_id, ''))
);

CREATE INDEX home_board_by_group ON home_board (group_id);
CREATE INDEX home_board_by_home_board ON home_board (home_board_id);
CREATE INDEX home_board_by_mobile_home_board ON home_board (mobile_home_board_id);

-- The pictures that the extras of a board name, so that they stay while it does.
CREATE TABLE board_picture (
    board_id   text COLLATE "C" NOT NULL REFERENCES board ON DELETE CASCADE,
    picture_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (board_id, picture_id)
);

INSERT INTO board_picture (board_id, picture_id)
    SELECT board_extras.board_id, picture.id FROM picture JOIN board_extras
        ON strpos(board_extras.extras, '/api/pictures/' || picture.id) > 0
    WHERE strpos(board_extras.extras, '/api/pictures/') > 0;
