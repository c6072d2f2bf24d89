-- Writing to the index of words costs more than all else that creating an app does, and little more
-- for many apps than for one. So the newest apps, fewer than 64, are not in it: a search reads their
-- names. With every 64th number all of them are taken in.
--
-- Numbers count up; one is used again only if it was the largest and its app was deleted.

CREATE TABLE app_search_state (
    -- There is one row.
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    -- Every app up to this number is in the index, and none beyond it.
    up_to INTEGER NOT NULL
) STRICT;

INSERT INTO app_search_state (id, up_to) SELECT 1, coalesce(max(number), 0) FROM app;

-- What the index is about.
CREATE VIEW app_indexed (number, name_key) AS
    SELECT number, name_key FROM app WHERE number <= (SELECT up_to FROM app_search_state);

DROP TRIGGER app_search_insert;
DROP TRIGGER app_search_update;
DROP TRIGGER app_search_delete;
DROP TABLE app_search;

CREATE VIRTUAL TABLE app_search USING fts5 (
    name_key, content = 'app_indexed', content_rowid = 'number', columnsize = 0,
    tokenize = 'trigram case_sensitive 1'
);

INSERT INTO app_search (rowid, name_key) SELECT number, name_key FROM app_indexed;

CREATE TRIGGER app_search_insert AFTER INSERT ON app
WHEN new.number % 64 = 0 OR new.number <= (SELECT up_to FROM app_search_state) BEGIN
    -- A number that is used again: the app itself.
    INSERT INTO app_search (rowid, name_key) SELECT new.number, new.name_key
        WHERE new.number <= (SELECT up_to FROM app_search_state);
    -- Otherwise all that are not in the index yet.
    INSERT INTO app_search (rowid, name_key) SELECT number, name_key FROM app
        WHERE number > (SELECT up_to FROM app_search_state) AND number <= new.number;
    UPDATE app_search_state SET up_to = new.number WHERE up_to < new.number;
END;

CREATE TRIGGER app_search_update AFTER UPDATE OF name_key ON app
WHEN old.name_key <> new.name_key AND old.number <= (SELECT up_to FROM app_search_state) BEGIN
    INSERT INTO app_search (app_search, rowid, name_key) VALUES ('delete', old.number, old.name_key);
    INSERT INTO app_search (rowid, name_key) VALUES (new.number, new.name_key);
END;

CREATE TRIGGER app_search_delete AFTER DELETE ON app
WHEN old.number <= (SELECT up_to FROM app_search_state) BEGIN
    INSERT INTO app_search (app_search, rowid, name_key) VALUES ('delete', old.number, old.name_key);
END;
