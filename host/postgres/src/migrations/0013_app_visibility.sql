-- Who sees which app, unless the operator has fixed it.

ALTER TABLE site ADD COLUMN app_visibility text COLLATE "C" NOT NULL DEFAULT 'everyone'
    CHECK (app_visibility IN ('everyone', 'boards'));
