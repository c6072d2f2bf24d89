-- The ranges of the table {table}: a part of migration 3.

-- Hosts of version 2 go on meanwhile: what they write waits, so that each record is either counted here or by a trigger.
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE {table}_range (
    first_key text COLLATE "C" NOT NULL,
    first_id  text COLLATE "C" NOT NULL,
    number    bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    records   bigint NOT NULL,
    version   numeric NOT NULL DEFAULT range_version(),
    PRIMARY KEY (first_key, first_id)
) WITH (fillfactor = 50);

CREATE TABLE {table}_range_change (
    name_key text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    -- 1: the record came (or so many of its range); -1: it went; 0: it is of another kind.
    records  integer NOT NULL,
    version  bigint NOT NULL DEFAULT range_version()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO {table}_range (first_key, first_id, records)
    SELECT CASE place WHEN 0 THEN '' ELSE name_key END, CASE place WHEN 0 THEN '' ELSE id END,
        least(4096, (SELECT count(*) FROM {table}) - place)
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM {table}) AS numbered
    WHERE place % 4096 = 0;
INSERT INTO {table}_range (first_key, first_id, records) VALUES ('', '', 0) ON CONFLICT DO NOTHING;

CREATE FUNCTION {table}_range_fold() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone text[];
    range record;
    middle record;
    kept bigint;
    moved bigint;
BEGIN
    PERFORM FROM {table}_range WHERE first_key = '' AND first_id = '' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WITH taken AS (DELETE FROM {table}_range_change RETURNING name_key, id, records, version),
    sums AS (
        SELECT first_key, first_id, sum(taken.records) AS records, sum(taken.version) AS version
        FROM taken CROSS JOIN LATERAL (
            SELECT first_key, first_id FROM {table}_range
            WHERE (first_key, first_id) <= (taken.name_key, taken.id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        ) AS place
        GROUP BY first_key, first_id
    ),
    folded AS (
        UPDATE {table}_range
        SET records = {table}_range.records + sums.records, version = {table}_range.version + sums.version FROM sums
        WHERE {table}_range.first_key = sums.first_key AND {table}_range.first_id = sums.first_id
    )
    SELECT array_agg(id) INTO gone FROM taken WHERE records < 0;
    -- A range without records, or that begins with what is gone, is joined to the one before it.
    FOR range IN
        SELECT first_key, first_id FROM {table}_range
        WHERE (records <= 0 OR first_id = ANY (gone)) AND (first_key, first_id) > ('', '')
    LOOP
        DELETE FROM {table}_range WHERE first_key = range.first_key AND first_id = range.first_id
            RETURNING records INTO moved;
        UPDATE {table}_range SET records = records + moved, version = version + range_version()
        WHERE (first_key, first_id) = (
            SELECT first_key, first_id FROM {table}_range
            WHERE (first_key, first_id) < (range.first_key, range.first_id)
            ORDER BY first_key DESC, first_id DESC LIMIT 1
        );
    END LOOP;
    LOOP
        SELECT first_key, first_id, records INTO range FROM {table}_range
            WHERE records > (SELECT most FROM range_state) LIMIT 1;
        EXIT WHEN NOT FOUND;
        SELECT name_key, id INTO middle FROM {table}
            WHERE (name_key, id) >= (range.first_key, range.first_id)
            ORDER BY name_key, id OFFSET range.records / 2 LIMIT 1;
        -- Changes that are not folded yet may leave too few.
        EXIT WHEN NOT FOUND OR EXISTS (
            SELECT FROM {table}_range
            WHERE (first_key, first_id) > (range.first_key, range.first_id)
                AND (first_key, first_id) <= (middle.name_key, middle.id)
        );
        SELECT (
            SELECT count(*) FROM {table}
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) - (
            SELECT coalesce(sum(records), 0) FROM {table}_range_change
            WHERE (name_key, id) >= (range.first_key, range.first_id)
                AND (name_key, id) < (middle.name_key, middle.id)
        ) INTO kept;
        UPDATE {table}_range SET records = kept, version = version + range_version()
        WHERE first_key = range.first_key AND first_id = range.first_id;
        INSERT INTO {table}_range (first_key, first_id, records)
            VALUES (middle.name_key, middle.id, range.records - kept);
    END LOOP;
END
$$;

CREATE FUNCTION {table}_range_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added bigint := (SELECT count(*) FROM changed);
    every integer := (SELECT fold_every FROM range_state);
BEGIN
    IF added >= every THEN
        -- While this transaction may fold, no range changes: so one row is enough for all records of a range.
        PERFORM FROM {table}_range WHERE first_key = '' AND first_id = '' FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            INSERT INTO {table}_range_change
                SELECT first_key, first_id, count(*)
                FROM changed CROSS JOIN LATERAL (
                    SELECT first_key, first_id FROM {table}_range
                    WHERE (first_key, first_id) <= (changed.name_key, changed.id)
                    ORDER BY first_key DESC, first_id DESC LIMIT 1
                ) AS place
                GROUP BY first_key, first_id;
            PERFORM {table}_range_fold();
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO {table}_range_change SELECT name_key, id, 1 FROM changed;
    IF added >= every OR random() * every < 1 THEN
        PERFORM {table}_range_fold();
    END IF;
    RETURN NULL;
END
$$;

-- A deletion folds at once, so that the name is nowhere any more.
CREATE FUNCTION {table}_range_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {table}_range_change SELECT name_key, id, -1 FROM changed;
    IF FOUND THEN
        PERFORM {table}_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION {table}_range_rename() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {table}_range_change VALUES (old.name_key, old.id, -1), (new.name_key, new.id, 1);
    IF random() * (SELECT fold_every FROM range_state) < 1 THEN
        PERFORM {table}_range_fold();
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER {table}_range_insert AFTER INSERT ON {table} REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_range_insert();
CREATE TRIGGER {table}_range_delete AFTER DELETE ON {table} REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_range_delete();
CREATE TRIGGER {table}_range_rename AFTER UPDATE OF name_key ON {table}
    FOR EACH ROW WHEN (old.name_key <> new.name_key) EXECUTE FUNCTION {table}_range_rename();

