-- What administrators set for the whole site: the board that people see first who are not signed in, and the hosts in private
-- networks that status checks may reach, as words between spaces.

ALTER TABLE site ADD COLUMN start_board_id TEXT REFERENCES board ON DELETE SET NULL;
ALTER TABLE site ADD COLUMN ping_allow TEXT NOT NULL DEFAULT '';
CREATE INDEX site_by_start_board ON site (start_board_id);
