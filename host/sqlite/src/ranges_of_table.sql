-- The ranges of the table {table}: a part of migration 9.

CREATE TABLE {table}_range (
    first_key TEXT NOT NULL,
    first_id  TEXT NOT NULL,
    number    INTEGER NOT NULL,
    records   INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    PRIMARY KEY (first_key, first_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER {table}_range_insert AFTER INSERT ON {table} BEGIN
    UPDATE {table}_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

CREATE TRIGGER {table}_range_delete AFTER DELETE ON {table} BEGIN
    UPDATE {table}_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM {table}_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE {table}_range SET (first_key, first_id) = (
        SELECT name_key, id FROM {table} WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
END;

CREATE TRIGGER {table}_range_rename AFTER UPDATE OF name_key ON {table} WHEN old.name_key <> new.name_key BEGIN
    UPDATE {table}_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM {table}_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE {table}_range SET (first_key, first_id) = (
        SELECT name_key, id FROM {table} WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
    UPDATE {table}_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM {table}_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

CREATE TRIGGER {table}_range_divide AFTER UPDATE OF records ON {table}_range
WHEN new.records > old.records AND new.records > (SELECT most FROM range_state) BEGIN
    UPDATE range_state SET numbered = numbered + 1;
    INSERT INTO {table}_range (first_key, first_id, number, records, version)
        SELECT name_key, id, (SELECT numbered FROM range_state), new.records - new.records / 2, 0 FROM {table}
        WHERE (name_key, id) >= (new.first_key, new.first_id)
        ORDER BY name_key, id LIMIT 1 OFFSET new.records / 2;
    UPDATE {table}_range SET records = new.records / 2, version = version + 1
    WHERE first_key = new.first_key AND first_id = new.first_id;
END;

