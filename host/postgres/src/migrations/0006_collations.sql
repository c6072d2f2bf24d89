-- Every text has the collation C, so that nothing is sorted or compared as the database's own collation says.

ALTER TABLE api_key ALTER COLUMN imported_hash TYPE text COLLATE "C";
ALTER TABLE user_extras
    ALTER COLUMN user_id TYPE text COLLATE "C",
    ALTER COLUMN extras TYPE text COLLATE "C";
ALTER TABLE board_extras
    ALTER COLUMN board_id TYPE text COLLATE "C",
    ALTER COLUMN extras TYPE text COLLATE "C";
