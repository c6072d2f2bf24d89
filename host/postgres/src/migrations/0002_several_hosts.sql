-- The oldest version whose hosts may still work on the database. Each connection reads it.
ALTER TABLE portico_version ADD COLUMN oldest integer NOT NULL DEFAULT 1;

-- What hosts must know of each other: see portico_storage::SharedRecords. Moments are milliseconds since 1970.
CREATE TABLE shared_record (
    kind    text COLLATE "C" NOT NULL,
    key     bytea NOT NULL,
    value   bytea NOT NULL,
    rank    bigint NOT NULL,
    ends_at bigint NOT NULL,
    PRIMARY KEY (kind, key)
);

CREATE INDEX shared_record_by_rank ON shared_record (kind, rank);
CREATE INDEX shared_record_by_end ON shared_record (ends_at);
