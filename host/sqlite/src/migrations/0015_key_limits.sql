-- API keys that may do less than their user. permissions has the names of the chosen ones, between spaces; NULL for all.

ALTER TABLE api_key ADD COLUMN permissions TEXT;
ALTER TABLE api_key ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1));
