-- Who did what, when, and what came of it. Rows outlive everything that they are about: actor_id and
-- target refer to nothing. They are only ever added, and pruned by age and number.
--
-- Of a call with success (outcome 'OK') the row is written by the transaction of the change; so the
-- indexes are few. That of refusals costs a success nothing.

CREATE TABLE audit (
    number         INTEGER PRIMARY KEY,
    time           INTEGER NOT NULL,
    actor_id       TEXT,
    authentication TEXT NOT NULL,
    credential_id  TEXT,
    address        TEXT,
    request_id     TEXT NOT NULL,
    procedure      TEXT NOT NULL,
    provider       TEXT CHECK (provider IN ('credentials', 'oidc', 'ldap')),
    target         TEXT,
    created        INTEGER NOT NULL,
    outcome        TEXT NOT NULL,
    times          INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (time);
CREATE INDEX audit_by_actor ON audit (actor_id, time) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_by_procedure ON audit (procedure, time);
CREATE INDEX audit_refusals ON audit (time, outcome) WHERE outcome <> 'OK';

CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN
    SELECT raise(ABORT, 'rows of the audit log are never changed');
END;
