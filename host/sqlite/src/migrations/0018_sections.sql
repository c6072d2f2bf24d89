-- Sections of boards, sizes of items, notes, clocks, and short addresses.

ALTER TABLE board ADD COLUMN slug TEXT;
CREATE UNIQUE INDEX board_by_slug ON board (slug);

-- The sections of a board, in order. Items whose section has no row are in a last one without a name.
CREATE TABLE board_section (
    board_id  TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    name      TEXT,
    collapsed INTEGER NOT NULL CHECK (collapsed IN (0, 1)),
    PRIMARY KEY (board_id, position)
) STRICT, WITHOUT ROWID;

INSERT INTO board_section (board_id, position, name, collapsed) SELECT id, 0, NULL, 0 FROM board;

-- kind is NULL of apps and bookmarks, which app_id tells apart. content is the text of a note, or the time zone of a
-- clock.
ALTER TABLE board_item ADD COLUMN section INTEGER NOT NULL DEFAULT 0;
ALTER TABLE board_item ADD COLUMN size TEXT NOT NULL DEFAULT '1x1' CHECK (size IN ('1x1', '2x1', '2x2', 'wide'));
ALTER TABLE board_item ADD COLUMN kind TEXT CHECK (kind IN ('note', 'clock'));
ALTER TABLE board_item ADD COLUMN content TEXT;
