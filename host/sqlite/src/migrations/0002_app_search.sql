-- Finding apps by a part of their name without reading every name.
--
-- The index refers to its rows by number, and VACUUM keeps a number only where it is the primary
-- key: so apps get one, and whatever refers to apps by id is made anew.

CREATE TABLE new_app (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    description TEXT,
    icon_url    TEXT NOT NULL,
    href        TEXT,
    ping_url    TEXT
) STRICT;

INSERT INTO new_app (id, name, name_key, description, icon_url, href, ping_url)
    SELECT id, name, name_key, description, icon_url, href, ping_url FROM app;
DROP TABLE app;
ALTER TABLE new_app RENAME TO app;

CREATE INDEX app_by_name ON app (name_key, id);

CREATE TABLE new_board_item (
    board_id TEXT NOT NULL REFERENCES board ON DELETE CASCADE,
    position INTEGER NOT NULL,
    app_id   TEXT REFERENCES app (id) ON DELETE CASCADE,
    PRIMARY KEY (board_id, position)
) STRICT, WITHOUT ROWID;

INSERT INTO new_board_item SELECT board_id, position, app_id FROM board_item;
DROP TABLE board_item;
ALTER TABLE new_board_item RENAME TO board_item;

CREATE INDEX board_item_by_app ON board_item (app_id);

CREATE TABLE new_board_item_app (
    board_id      TEXT NOT NULL,
    item_position INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    app_id        TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
    PRIMARY KEY (board_id, item_position, position),
    FOREIGN KEY (board_id, item_position) REFERENCES board_item ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

INSERT INTO new_board_item_app SELECT board_id, item_position, position, app_id FROM board_item_app;
DROP TABLE board_item_app;
ALTER TABLE new_board_item_app RENAME TO board_item_app;

CREATE INDEX board_item_app_by_app ON board_item_app (app_id);

-- Every three characters of a name-key in a row, and where they stand. It folds nothing: what is
-- equal is for the name-key to say.
CREATE VIRTUAL TABLE app_search USING fts5 (
    name_key, content = 'app', content_rowid = 'number', tokenize = 'trigram case_sensitive 1'
);

INSERT INTO app_search (rowid, name_key) SELECT number, name_key FROM app;

CREATE TRIGGER app_search_insert AFTER INSERT ON app BEGIN
    INSERT INTO app_search (rowid, name_key) VALUES (new.number, new.name_key);
END;

CREATE TRIGGER app_search_update AFTER UPDATE OF name_key ON app WHEN old.name_key <> new.name_key BEGIN
    INSERT INTO app_search (app_search, rowid, name_key) VALUES ('delete', old.number, old.name_key);
    INSERT INTO app_search (rowid, name_key) VALUES (new.number, new.name_key);
END;

CREATE TRIGGER app_search_delete AFTER DELETE ON app BEGIN
    INSERT INTO app_search (app_search, rowid, name_key) VALUES ('delete', old.number, old.name_key);
END;
