-- The groups that a sign-in by a provider added and removed.

ALTER TABLE audit ADD COLUMN groups TEXT;
