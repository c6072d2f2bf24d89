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
--
-- What comes after this for each table of names is in ../ranges_of_table.sql and ../fill_ranges.sql.

CREATE TABLE range_state (
    -- There is one row.
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    -- How many records a range may have.
    most     INTEGER NOT NULL CHECK (most BETWEEN 2 AND 65536),
    -- The largest number that a range has had.
    numbered INTEGER NOT NULL
) STRICT;

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
