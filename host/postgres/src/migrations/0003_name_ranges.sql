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

CREATE TABLE range_state (
    -- There is one row.
    id         integer PRIMARY KEY CHECK (id = 1),
    -- A range with more records is divided.
    most       integer NOT NULL CHECK (most >= 2),
    -- Of so many statements that change names, one folds: which is left to chance.
    fold_every integer NOT NULL CHECK (fold_every >= 1)
);

INSERT INTO range_state VALUES (1, 8192, 128);

CREATE TABLE app_range (
    first_key text COLLATE "C" NOT NULL,
    first_id  text COLLATE "C" NOT NULL,
    records   bigint NOT NULL,
    PRIMARY KEY (first_key, first_id)
) WITH (fillfactor = 50);

CREATE TABLE app_range_change (
    name_key text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    -- 1: the record came; -1: it went.
    records  integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO app_range (first_key, first_id, records)
    SELECT CASE place WHEN 0 THEN '' ELSE name_key END, CASE place WHEN 0 THEN '' ELSE id END,
        least(4096, (SELECT count(*) FROM app) - place)
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM app) AS numbered
    WHERE place % 4096 = 0;
INSERT INTO app_range (first_key, first_id, records) VALUES ('', '', 0) ON CONFLICT DO NOTHING;

CREATE FUNCTION app_range_fold() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone text[];
    range record;
    middle record;
    kept bigint;
    moved bigint;
BEGIN
    PERFORM FROM app_range WHERE first_key = '' AND first_id = '' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WITH taken AS (DELETE FROM app_range_change RETURNING name_key, id, records),
    sums AS (
        SELECT first_key, first_id, sum(taken.records) AS records
        FROM taken CROSS JOIN LATERAL (
            SELECT first_key, first_id FROM app_range
            WHERE (first_key, first_id) <= (taken.name_key, taken.id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        ) AS place
        GROUP BY first_key, first_id
    ),
    folded AS (
        UPDATE app_range SET records = app_range.records + sums.records FROM sums
        WHERE app_range.first_key = sums.first_key AND app_range.first_id = sums.first_id
    )
    SELECT array_agg(id) INTO gone FROM taken WHERE records < 0;
    -- A range without records, or that begins with what is gone, is joined to the one before it.
    FOR range IN
        SELECT first_key, first_id FROM app_range
        WHERE (records <= 0 OR first_id = ANY (gone)) AND (first_key, first_id) > ('', '')
    LOOP
        DELETE FROM app_range WHERE first_key = range.first_key AND first_id = range.first_id
            RETURNING records INTO moved;
        UPDATE app_range SET records = records + moved
        WHERE (first_key, first_id) = (
            SELECT first_key, first_id FROM app_range
            WHERE (first_key, first_id) < (range.first_key, range.first_id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        );
    END LOOP;
    LOOP
        SELECT first_key, first_id, records INTO range FROM app_range
            WHERE records > (SELECT most FROM range_state) LIMIT 1;
        EXIT WHEN NOT FOUND;
        SELECT name_key, id INTO middle FROM app
            WHERE (name_key, id) >= (range.first_key, range.first_id)
            ORDER BY name_key, id OFFSET range.records / 2 LIMIT 1;
        -- Changes that are not folded yet may leave too few.
        EXIT WHEN NOT FOUND OR EXISTS (
            SELECT FROM app_range
            WHERE (first_key, first_id) > (range.first_key, range.first_id)
                AND (first_key, first_id) <= (middle.name_key, middle.id)
        );
        SELECT (
            SELECT count(*) FROM app
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) - (
            SELECT coalesce(sum(records), 0) FROM app_range_change
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) INTO kept;
        UPDATE app_range SET records = kept WHERE first_key = range.first_key AND first_id = range.first_id;
        INSERT INTO app_range (first_key, first_id, records)
            VALUES (middle.name_key, middle.id, range.records - kept);
    END LOOP;
END
$$;

CREATE FUNCTION app_range_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
    every integer := (SELECT fold_every FROM range_state);
BEGIN
    INSERT INTO app_range_change SELECT name_key, id, 1 FROM changed;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added >= every OR random() * every < 1 THEN
        PERFORM app_range_fold();
    END IF;
    RETURN NULL;
END
$$;

-- A deletion folds at once, so that the name is nowhere any more.
CREATE FUNCTION app_range_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO app_range_change SELECT name_key, id, -1 FROM changed;
    IF FOUND THEN
        PERFORM app_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION app_range_rename() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO app_range_change VALUES (old.name_key, old.id, -1), (new.name_key, new.id, 1);
    IF random() * (SELECT fold_every FROM range_state) < 1 THEN
        PERFORM app_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER app_range_insert AFTER INSERT ON app REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION app_range_insert();
CREATE TRIGGER app_range_delete AFTER DELETE ON app REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION app_range_delete();
CREATE TRIGGER app_range_rename AFTER UPDATE OF name_key ON app
    FOR EACH ROW WHEN (old.name_key <> new.name_key) EXECUTE FUNCTION app_range_rename();

CREATE TABLE user_account_range (
    first_key text COLLATE "C" NOT NULL,
    first_id  text COLLATE "C" NOT NULL,
    records   bigint NOT NULL,
    PRIMARY KEY (first_key, first_id)
) WITH (fillfactor = 50);

CREATE TABLE user_account_range_change (
    name_key text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    -- 1: the record came; -1: it went.
    records  integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO user_account_range (first_key, first_id, records)
    SELECT CASE place WHEN 0 THEN '' ELSE name_key END, CASE place WHEN 0 THEN '' ELSE id END,
        least(4096, (SELECT count(*) FROM user_account) - place)
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM user_account) AS numbered
    WHERE place % 4096 = 0;
INSERT INTO user_account_range (first_key, first_id, records) VALUES ('', '', 0) ON CONFLICT DO NOTHING;

CREATE FUNCTION user_account_range_fold() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone text[];
    range record;
    middle record;
    kept bigint;
    moved bigint;
BEGIN
    PERFORM FROM user_account_range WHERE first_key = '' AND first_id = '' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WITH taken AS (DELETE FROM user_account_range_change RETURNING name_key, id, records),
    sums AS (
        SELECT first_key, first_id, sum(taken.records) AS records
        FROM taken CROSS JOIN LATERAL (
            SELECT first_key, first_id FROM user_account_range
            WHERE (first_key, first_id) <= (taken.name_key, taken.id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        ) AS place
        GROUP BY first_key, first_id
    ),
    folded AS (
        UPDATE user_account_range SET records = user_account_range.records + sums.records FROM sums
        WHERE user_account_range.first_key = sums.first_key AND user_account_range.first_id = sums.first_id
    )
    SELECT array_agg(id) INTO gone FROM taken WHERE records < 0;
    -- A range without records, or that begins with what is gone, is joined to the one before it.
    FOR range IN
        SELECT first_key, first_id FROM user_account_range
        WHERE (records <= 0 OR first_id = ANY (gone)) AND (first_key, first_id) > ('', '')
    LOOP
        DELETE FROM user_account_range WHERE first_key = range.first_key AND first_id = range.first_id
            RETURNING records INTO moved;
        UPDATE user_account_range SET records = records + moved
        WHERE (first_key, first_id) = (
            SELECT first_key, first_id FROM user_account_range
            WHERE (first_key, first_id) < (range.first_key, range.first_id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        );
    END LOOP;
    LOOP
        SELECT first_key, first_id, records INTO range FROM user_account_range
            WHERE records > (SELECT most FROM range_state) LIMIT 1;
        EXIT WHEN NOT FOUND;
        SELECT name_key, id INTO middle FROM user_account
            WHERE (name_key, id) >= (range.first_key, range.first_id)
            ORDER BY name_key, id OFFSET range.records / 2 LIMIT 1;
        -- Changes that are not folded yet may leave too few.
        EXIT WHEN NOT FOUND OR EXISTS (
            SELECT FROM user_account_range
            WHERE (first_key, first_id) > (range.first_key, range.first_id)
                AND (first_key, first_id) <= (middle.name_key, middle.id)
        );
        SELECT (
            SELECT count(*) FROM user_account
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) - (
            SELECT coalesce(sum(records), 0) FROM user_account_range_change
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) INTO kept;
        UPDATE user_account_range SET records = kept WHERE first_key = range.first_key AND first_id = range.first_id;
        INSERT INTO user_account_range (first_key, first_id, records)
            VALUES (middle.name_key, middle.id, range.records - kept);
    END LOOP;
END
$$;

CREATE FUNCTION user_account_range_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
    every integer := (SELECT fold_every FROM range_state);
BEGIN
    INSERT INTO user_account_range_change SELECT name_key, id, 1 FROM changed;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added >= every OR random() * every < 1 THEN
        PERFORM user_account_range_fold();
    END IF;
    RETURN NULL;
END
$$;

-- A deletion folds at once, so that the name is nowhere any more.
CREATE FUNCTION user_account_range_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO user_account_range_change SELECT name_key, id, -1 FROM changed;
    IF FOUND THEN
        PERFORM user_account_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION user_account_range_rename() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO user_account_range_change VALUES (old.name_key, old.id, -1), (new.name_key, new.id, 1);
    IF random() * (SELECT fold_every FROM range_state) < 1 THEN
        PERFORM user_account_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER user_account_range_insert AFTER INSERT ON user_account REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION user_account_range_insert();
CREATE TRIGGER user_account_range_delete AFTER DELETE ON user_account REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION user_account_range_delete();
CREATE TRIGGER user_account_range_rename AFTER UPDATE OF name_key ON user_account
    FOR EACH ROW WHEN (old.name_key <> new.name_key) EXECUTE FUNCTION user_account_range_rename();
