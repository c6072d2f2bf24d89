-- What the dashboard looks like, and the pictures that people upload.

-- Pictures of looks, and icons of apps and search engines. The id is the SHA-256 of the content, which stands last, so that
-- reading the rest does not pass through it.
CREATE TABLE picture (
    id           TEXT NOT NULL PRIMARY KEY,
    content_type TEXT NOT NULL,
    uploader_id  TEXT REFERENCES user_account ON DELETE SET NULL,
    uploaded_at  INTEGER NOT NULL,
    content      BLOB NOT NULL
) STRICT;

CREATE INDEX picture_by_uploader ON picture (uploader_id);

-- One row, or none as long as nothing was set.
CREATE TABLE site (
    id           TEXT NOT NULL PRIMARY KEY CHECK (id = 'site'),
    name         TEXT,
    logo_id      TEXT REFERENCES picture,
    accent_color TEXT,
    wallpaper_id TEXT REFERENCES picture,
    density      TEXT NOT NULL CHECK (density IN ('icons', 'compact', 'comfortable')),
    tile_columns INTEGER,
    wide_screens INTEGER NOT NULL CHECK (wide_screens IN (0, 1))
) STRICT;

CREATE INDEX site_by_logo ON site (logo_id);
CREATE INDEX site_by_wallpaper ON site (wallpaper_id);
