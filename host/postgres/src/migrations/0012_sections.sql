-- Sections of boards, sizes of items, notes, clocks, and short addresses.

ALTER TABLE board ADD COLUMN slug text COLLATE "C";
CREATE UNIQUE INDEX board_by_slug ON board (slug);

-- The sections of a board, in order. Items whose section has no row are in a last one without a name.
CREATE TABLE board_section (
    board_id  text COLLATE "C" NOT NULL REFERENCES board ON DELETE CASCADE,
    position  bigint NOT NULL,
    name      text COLLATE "C",
    collapsed boolean NOT NULL,
    PRIMARY KEY (board_id, position)
);

INSERT INTO board_section (board_id, position, name, collapsed) SELECT id, 0, NULL, false FROM board;

-- kind is NULL of apps and bookmarks, which app_id tells apart. content is the text of a note, or the time zone of a
-- clock.
ALTER TABLE board_item ADD COLUMN section bigint NOT NULL DEFAULT 0;
ALTER TABLE board_item ADD COLUMN size text COLLATE "C" NOT NULL DEFAULT '1x1'
    CHECK (size IN ('1x1', '2x1', '2x2', 'wide'));
ALTER TABLE board_item ADD COLUMN kind text COLLATE "C" CHECK (kind IN ('note', 'clock'));
ALTER TABLE board_item ADD COLUMN content text COLLATE "C";
