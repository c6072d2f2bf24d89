-- What the dashboard looks like, and the pictures that people upload.

-- Pictures of looks, and icons of apps and search engines. The id is the SHA-256 of the content.
CREATE TABLE picture (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    content_type text COLLATE "C" NOT NULL,
    uploader_id  text COLLATE "C" REFERENCES user_account ON DELETE SET NULL,
    uploaded_at  bigint NOT NULL,
    content      bytea NOT NULL
);

CREATE INDEX picture_by_uploader ON picture (uploader_id);

-- Pictures are compressed already.
ALTER TABLE picture ALTER COLUMN content SET STORAGE EXTERNAL;

-- One row, or none as long as nothing was set.
CREATE TABLE site (
    id           text COLLATE "C" NOT NULL PRIMARY KEY CHECK (id = 'site'),
    name         text COLLATE "C",
    logo_id      text COLLATE "C" REFERENCES picture,
    accent_color text COLLATE "C",
    wallpaper_id text COLLATE "C" REFERENCES picture,
    density      text COLLATE "C" NOT NULL CHECK (density IN ('icons', 'compact', 'comfortable')),
    tile_columns bigint,
    wide_screens boolean NOT NULL
);

CREATE INDEX site_by_logo ON site (logo_id);
CREATE INDEX site_by_wallpaper ON site (wallpaper_id);
