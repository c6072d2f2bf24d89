-- Divides apps and users into ranges anew: in a migration, and for a file from elsewhere, whose ranges may be wrong.

INSERT OR REPLACE INTO range_state (id, most, numbered) VALUES (1, 8192, 1);

DELETE FROM app_range;
INSERT INTO app_range (first_key, first_id, number, records, version)
    SELECT iif(place = 0, '', name_key), iif(place = 0, '', id), place / 4096 + 1,
        min(4096, (SELECT count(*) FROM app) - place), 0
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM app)
    WHERE place % 4096 = 0;
INSERT INTO app_range (first_key, first_id, number, records, version)
    SELECT '', '', 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM app_range);
UPDATE range_state SET numbered = max(numbered, (SELECT max(number) FROM app_range));

DELETE FROM user_range;
INSERT INTO user_range (first_key, first_id, number, records, version)
    SELECT iif(place = 0, '', name_key), iif(place = 0, '', id), place / 4096 + 1,
        min(4096, (SELECT count(*) FROM user) - place), 0
    FROM (SELECT name_key, id, row_number() OVER (ORDER BY name_key, id) - 1 AS place FROM user)
    WHERE place % 4096 = 0;
INSERT INTO user_range (first_key, first_id, number, records, version)
    SELECT '', '', 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM user_range);
UPDATE range_state SET numbered = max(numbered, (SELECT max(number) FROM user_range));
