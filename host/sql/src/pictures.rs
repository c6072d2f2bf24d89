//! Statements on pictures.

use portico_model::Timestamp;
use portico_storage::{NewPicture, Picture, PictureCount, Result};

use crate::database::{Database, Row, invalid};
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::{millis, saturated, unsigned};

/// Nothing uses the picture. The lists do not depend on the picture, so a database reads each once.
macro_rules! unused {
    ($rest:literal) => {
        concat!(
            "'/api/pictures/' || id NOT IN (SELECT icon_url FROM ~app WHERE icon_url LIKE '/api/pictures/%')
            AND '/api/pictures/' || id NOT IN
                (SELECT icon_url FROM ~search_engine WHERE icon_url LIKE '/api/pictures/%')
            AND id NOT IN (SELECT logo_id FROM ~site WHERE logo_id IS NOT NULL)
            AND id NOT IN (SELECT wallpaper_id FROM ~site WHERE wallpaper_id IS NOT NULL)
            AND id NOT IN (SELECT picture_id FROM ~board_picture)
            AND ",
            $rest
        )
    };
}

macro_rules! count {
    ($where:expr) => {
        concat!(
            "SELECT count(*), CAST(coalesce(sum([bytes content]), 0) AS bigint) FROM ~picture WHERE ",
            $where
        )
    };
}

declare! {
    GET_SIZE = Sql::short("SELECT CAST([bytes content] AS bigint) FROM ~picture WHERE id = $1").alone();
    GET = Sql::short("SELECT content_type, content FROM ~picture WHERE id = $1").alone();
    INSERT = Sql::short(
        "INSERT INTO ~picture (id, content_type, uploader_id, uploaded_at, content) VALUES ($1, $2, $3, $4, $5)"
    ).alone();
    TOUCH = Sql::short("UPDATE ~picture SET uploaded_at = $2 WHERE id = $1").alone();
    COUNT = Sql::long(count!("1 = 1"));
    COUNT_UNUSED = Sql::long(count!(unused!("uploader_id = $1")));
    REMOVE_UNUSED = Sql::unbounded(concat!("DELETE FROM ~picture WHERE ", unused!("uploaded_at < $1")));
}

impl<D: Database> Runner<D> {
    /// No other transaction writes meanwhile, so a picture that is not there stays away.
    pub(crate) async fn put_picture(&mut self, new: &NewPicture) -> Result<bool> {
        let uploaded_at = self.check(millis(new.uploaded_at))?;
        if self
            .change(&TOUCH, vec![(&new.id).into(), uploaded_at.clone()])
            .await?
        {
            return Ok(false);
        }
        let values = vec![
            (&new.id).into(),
            (&new.picture.content_type).into(),
            (&new.uploader_id).into(),
            uploaded_at,
            new.picture.bytes[..].into(),
        ];
        self.create(&new.id, &INSERT, values).await
    }

    pub(crate) async fn get_picture(&mut self, id: &str) -> Result<Option<Picture>> {
        self.find(&GET, vec![id.into()], picture).await
    }

    pub(crate) async fn get_picture_size(&mut self, id: &str) -> Result<Option<u64>> {
        self.find(&GET_SIZE, vec![id.into()], |row| unsigned(row, 0))
            .await
    }

    pub(crate) async fn count_pictures(&mut self) -> Result<PictureCount> {
        Ok(self.find(&COUNT, Vec::new(), count).await?.unwrap_or_default())
    }

    pub(crate) async fn count_unused_pictures(&mut self, uploader_id: &str) -> Result<PictureCount> {
        let found = self.find(&COUNT_UNUSED, vec![uploader_id.into()], count).await?;
        Ok(found.unwrap_or_default())
    }

    pub(crate) async fn remove_unused_pictures(&mut self, before: Timestamp) -> Result<u64> {
        self.execute(&REMOVE_UNUSED, vec![saturated(before).into()]).await
    }
}

fn picture(row: &dyn Row) -> Result<Picture> {
    Ok(Picture {
        content_type: row.text(0)?,
        bytes: row.get_bytes(1)?.ok_or_else(|| invalid("picture"))?,
    })
}

fn count(row: &dyn Row) -> Result<PictureCount> {
    Ok(PictureCount {
        pictures: unsigned(row, 0)?,
        bytes: unsigned(row, 1)?,
    })
}
