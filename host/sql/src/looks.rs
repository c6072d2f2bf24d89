//! Statements on what the dashboard looks like: one row, or none as long as nothing was set.

use portico_storage::{AppVisibility, Density, Looks, Result};

use crate::database::{Database, Row, invalid};
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;

declare! {
    GET = Sql::short(
        "SELECT name, logo_id, accent_color, wallpaper_id, density, tile_columns, wide_screens, app_visibility,
            start_board_id, ping_allow FROM ~site"
    ).alone();
    SET = Sql::short(
        "INSERT INTO ~site
            (id, name, logo_id, accent_color, wallpaper_id, density, tile_columns, wide_screens, app_visibility,
            start_board_id, ping_allow)
        VALUES ('site', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (id) DO UPDATE SET name = $1, logo_id = $2, accent_color = $3, wallpaper_id = $4,
            density = $5, tile_columns = $6, wide_screens = $7, app_visibility = $8, start_board_id = $9,
            ping_allow = $10"
    ).alone();
    GET_APP_VISIBILITY = Sql::short("SELECT app_visibility FROM ~site");
}

impl<D: Database> Runner<D> {
    pub(crate) async fn get_looks(&mut self) -> Result<Looks> {
        Ok(self.find(&GET, Vec::new(), looks).await?.unwrap_or_default())
    }

    /// Who sees which app, as it is stored.
    pub(crate) async fn get_app_visibility(&mut self) -> Result<AppVisibility> {
        let stored = self.find(&GET_APP_VISIBILITY, Vec::new(), |row| visibility(row, 0));
        Ok(stored.await?.unwrap_or_default())
    }

    pub(crate) async fn set_looks(&mut self, looks: &Looks) -> Result<()> {
        let values = vec![
            (&looks.name).into(),
            (&looks.logo).into(),
            (&looks.accent_color).into(),
            (&looks.wallpaper).into(),
            looks.density.name().into(),
            Value::Number(looks.columns.map(i64::from)),
            looks.wide_screens.into(),
            looks.app_visibility.name().into(),
            (&looks.start_board).into(),
            Value::Text(Some(looks.ping_allow.join(" "))),
        ];
        self.has_set_visibility = true;
        self.insert_row(&SET, values).await.map(drop)
    }
}

fn visibility(row: &dyn Row, at: usize) -> Result<AppVisibility> {
    AppVisibility::named(&row.text(at)?).ok_or_else(|| invalid("app visibility"))
}

fn looks(row: &dyn Row) -> Result<Looks> {
    let columns = row.get_number(5)?.map(u32::try_from);
    Ok(Looks {
        name: row.get_text(0)?,
        logo: row.get_text(1)?,
        accent_color: row.get_text(2)?,
        wallpaper: row.get_text(3)?,
        density: Density::named(&row.text(4)?).ok_or_else(|| invalid("density"))?,
        columns: columns.transpose().map_err(|_| invalid("number of columns"))?,
        wide_screens: row.bool(6)?,
        app_visibility: visibility(row, 7)?,
        start_board: row.get_text(8)?,
        ping_allow: row.text(9)?.split_ascii_whitespace().map(str::to_owned).collect(),
    })
}
