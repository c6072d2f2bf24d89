-- The hash of bcrypt of an API key that was imported from another dashboard. Its first use replaces it by
-- secret_hash, which is the hash of no known secret until then.
ALTER TABLE api_key ADD COLUMN imported_hash TEXT;
