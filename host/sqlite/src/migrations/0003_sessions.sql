-- A session ends at `ends_at` at the latest, and at `expires_at` unless it is used before: each
-- use, noted once a minute, moves that. `password_version` counts how often a password was set;
-- another hash of the same password leaves it as it is.

ALTER TABLE session ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0;
UPDATE session SET last_used_at = created_at, ends_at = expires_at;

ALTER TABLE user ADD COLUMN password_version INTEGER NOT NULL DEFAULT 0;
