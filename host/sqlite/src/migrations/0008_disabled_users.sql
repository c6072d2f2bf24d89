-- A disabled user cannot sign in.
ALTER TABLE user ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1));
