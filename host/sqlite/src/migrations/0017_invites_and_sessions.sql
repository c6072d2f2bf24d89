-- For whom an invite is, and which groups it gives; the browser and the address at which a session began.

ALTER TABLE invite ADD COLUMN note TEXT;

CREATE TABLE invite_group (
    invite_id TEXT NOT NULL REFERENCES invite ON DELETE CASCADE,
    group_id  TEXT NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (invite_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX invite_group_by_group ON invite_group (group_id);

ALTER TABLE session ADD COLUMN browser TEXT;
ALTER TABLE session ADD COLUMN address TEXT;
