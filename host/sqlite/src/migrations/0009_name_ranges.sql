-- Where in a long list a page begins, how many records there are, and what a copy of the names in memory is good for:
-- without a pass over all names.
--
-- The order of names, (name_key, id), is divided into ranges. A range has the records from its first key and id on, up
-- to where the next range begins. The first range, which has the number 1, begins before every record and never
-- ends. A range with more records than `most` is divided in two; one that has none any more ends. No range begins
-- with the name of a record that is gone.
--
-- A range keeps its number, which no other gets. Its version grows with every change of what it contains: so a
-- number and a committed version stand for the same names for ever.

CREATE TABLE range_state (
    -- There is one row.
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    -- How many records a range may have.
    most     INTEGER NOT NULL CHECK (most BETWEEN 2 AND 65536),
    -- The largest number that a range has had.
    numbered INTEGER NOT NULL
) STRICT;

CREATE TABLE app_range (
    first_key TEXT NOT NULL,
    first_id  TEXT NOT NULL,
    number    INTEGER NOT NULL,
    records   INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    PRIMARY KEY (first_key, first_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER app_range_insert AFTER INSERT ON app BEGIN
    UPDATE app_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

CREATE TRIGGER app_range_delete AFTER DELETE ON app BEGIN
    UPDATE app_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM app_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE app_range SET (first_key, first_id) = (
        SELECT name_key, id FROM app WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
END;

CREATE TRIGGER app_range_rename AFTER UPDATE OF name_key ON app WHEN old.name_key <> new.name_key BEGIN
    UPDATE app_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM app_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE app_range SET (first_key, first_id) = (
        SELECT name_key, id FROM app WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
    UPDATE app_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM app_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

CREATE TRIGGER app_range_divide AFTER UPDATE OF records ON app_range
WHEN new.records > old.records AND new.records > (SELECT most FROM range_state) BEGIN
    UPDATE range_state SET numbered = numbered + 1;
    INSERT INTO app_range (first_key, first_id, number, records, version)
        SELECT name_key, id, (SELECT numbered FROM range_state), new.records - new.records / 2, 0 FROM app
        WHERE (name_key, id) >= (new.first_key, new.first_id)
        ORDER BY name_key, id LIMIT 1 OFFSET new.records / 2;
    UPDATE app_range SET records = new.records / 2, version = version + 1
    WHERE first_key = new.first_key AND first_id = new.first_id;
END;

CREATE TABLE user_range (
    first_key TEXT NOT NULL,
    first_id  TEXT NOT NULL,
    number    INTEGER NOT NULL,
    records   INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    PRIMARY KEY (first_key, first_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER user_range_insert AFTER INSERT ON user BEGIN
    UPDATE user_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

CREATE TRIGGER user_range_delete AFTER DELETE ON user BEGIN
    UPDATE user_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM user_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE user_range SET (first_key, first_id) = (
        SELECT name_key, id FROM user WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
END;

CREATE TRIGGER user_range_rename AFTER UPDATE OF name_key ON user WHEN old.name_key <> new.name_key BEGIN
    UPDATE user_range SET records = records - 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    DELETE FROM user_range WHERE records = 0 AND number > 1 AND (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (old.name_key, old.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
    UPDATE user_range SET (first_key, first_id) = (
        SELECT name_key, id FROM user WHERE (name_key, id) > (old.name_key, old.id)
        ORDER BY name_key, id LIMIT 1
    ) WHERE first_key = old.name_key AND first_id = old.id AND number > 1;
    UPDATE user_range SET records = records + 1, version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

-- A copy of the names also has the provider of each user, and whether the user is disabled.
CREATE TRIGGER user_range_change AFTER UPDATE OF provider, disabled ON user
WHEN old.provider <> new.provider OR old.disabled <> new.disabled BEGIN
    UPDATE user_range SET version = version + 1
    WHERE (first_key, first_id) = (
        SELECT first_key, first_id FROM user_range WHERE (first_key, first_id) <= (new.name_key, new.id)
        ORDER BY first_key DESC, first_id DESC LIMIT 1
    );
END;

-- Also what a filter asks for, so that a pass over the names need not read the users.
DROP INDEX user_by_name;
CREATE INDEX user_by_name ON user (name_key, id, provider, disabled);

CREATE TRIGGER user_range_divide AFTER UPDATE OF records ON user_range
WHEN new.records > old.records AND new.records > (SELECT most FROM range_state) BEGIN
    UPDATE range_state SET numbered = numbered + 1;
    INSERT INTO user_range (first_key, first_id, number, records, version)
        SELECT name_key, id, (SELECT numbered FROM range_state), new.records - new.records / 2, 0 FROM user
        WHERE (name_key, id) >= (new.first_key, new.first_id)
        ORDER BY name_key, id LIMIT 1 OFFSET new.records / 2;
    UPDATE user_range SET records = new.records / 2, version = version + 1
    WHERE first_key = new.first_key AND first_id = new.first_id;
END;
