-- Where in a long list a page begins, and how many records there are: without a pass over all names.
--
-- The order of names, (name_key, id), is divided into ranges. A range has the records from its first key and id on, up
-- to where the next range begins; the first one begins before every record. So that writers do not wait for each
-- other, they change no range: each adds a row to a table of changes for every record that comes or goes, and
-- some of them fold these rows into the ranges. One transaction folds at a time: it locks the first range, and
-- others leave it to that one.
--
-- In every snapshot a range contains as many records as it says, plus the changes from its first key and id on. This
-- stays true when a range is joined to the one before it, and when it is divided by what one statement counts.
--
-- Each change has a random number. The version of a range, plus the numbers of the changes from its first key and id
-- on, stands for the names that the range has in a snapshot: wherever it is the same, they are. Folding leaves this sum
-- as it is; where a range is joined or divided, another random number is added. So hosts can keep copies of names in
-- memory, writers need no common counter, and no number comes back after changes were lost: with a primary whose
-- standby had not got them, or when an earlier dump is restored.
--
-- What comes after this for each table of names is in ../ranges_of_table.sql.

CREATE TABLE range_state (
    -- There is one row.
    id         integer PRIMARY KEY CHECK (id = 1),
    -- A range with more records is divided.
    most       integer NOT NULL CHECK (most >= 2),
    -- Of so many statements that change names, one folds: which is left to chance.
    fold_every integer NOT NULL CHECK (fold_every >= 1)
);

INSERT INTO range_state VALUES (1, 8192, 128);

CREATE FUNCTION range_version() RETURNS bigint LANGUAGE sql VOLATILE
    AS 'SELECT hashtextextended(gen_random_uuid()::text, 0)';

-- A copy of the names also has the provider of each user, and whether the user is disabled.
CREATE FUNCTION user_account_range_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO user_account_range_change VALUES (new.name_key, new.id, 0);
    IF random() * (SELECT fold_every FROM range_state) < 1 THEN
        PERFORM user_account_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER user_account_range_kind AFTER UPDATE OF provider, disabled ON user_account
    FOR EACH ROW WHEN (old.provider <> new.provider OR old.disabled <> new.disabled)
    EXECUTE FUNCTION user_account_range_kind();

-- Also what a filter asks for, so that a pass over the names need not read the users.
DROP INDEX user_account_by_name;
CREATE INDEX user_account_by_name ON user_account (name_key, id) INCLUDE (provider, disabled);

