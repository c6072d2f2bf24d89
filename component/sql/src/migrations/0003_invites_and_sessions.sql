-- The columns and the table that statements on invites and sessions name. `portico:sql/people` fills none of them.

ALTER TABLE ~invite ADD COLUMN note [text];

CREATE TABLE ~invite_group (
    invite_id [text] NOT NULL REFERENCES ~invite ON DELETE CASCADE,
    group_id  [text] NOT NULL REFERENCES ~user_group ON DELETE CASCADE,
    PRIMARY KEY (invite_id, group_id)
)[strict];

CREATE INDEX ~invite_group_by_group ON ~invite_group (group_id);

ALTER TABLE ~session ADD COLUMN browser [text];

ALTER TABLE ~session ADD COLUMN address [text];
