-- For whom an invite is, and which groups it gives; the browser and the address at which a session began.

ALTER TABLE invite ADD COLUMN note text COLLATE "C";

CREATE TABLE invite_group (
    invite_id text COLLATE "C" NOT NULL REFERENCES invite ON DELETE CASCADE,
    group_id  text COLLATE "C" NOT NULL REFERENCES user_group ON DELETE CASCADE,
    PRIMARY KEY (invite_id, group_id)
);

CREATE INDEX invite_group_by_group ON invite_group (group_id);

ALTER TABLE session ADD COLUMN browser text COLLATE "C", ADD COLUMN address text COLLATE "C";
