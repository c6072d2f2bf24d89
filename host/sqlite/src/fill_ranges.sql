-- Divides the records of {table} into ranges anew: in a migration, and for a file from elsewhere, whose ranges may be wrong.

DELETE FROM {table}_range;
INSERT INTO {table}_range (first_key, first_id, number, records, version)
    SELECT iif(place = 0, '', name_key), iif(place = 0, '', id), place / 4096 + 1,
        min(4096, (SELECT count(*) FROM {table}) - place), 0
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM {table})
    WHERE place % 4096 = 0;
INSERT INTO {table}_range (first_key, first_id, number, records, version)
    SELECT '', '', 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM {table}_range);
UPDATE range_state SET numbered = max(numbered, (SELECT max(number) FROM {table}_range));

