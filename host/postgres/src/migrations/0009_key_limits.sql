-- API keys that may do less than their user. permissions has the names of the chosen ones, between spaces; NULL for all.

ALTER TABLE api_key ADD COLUMN permissions text COLLATE "C";
ALTER TABLE api_key ADD COLUMN read_only boolean NOT NULL DEFAULT false;
