//! Statements on what clients store about users and boards.

use portico_storage::{ExtrasOf, Result, extras::pictures_in};

use crate::boards;
use crate::database::Database;
use crate::parameter::Column;
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::Runner;

declare! {
    HAS_USER = Sql::short("SELECT 1 FROM ~user_account WHERE id = $1").alone();
    GET_OF_USER = Sql::short("SELECT extras FROM ~user_extras WHERE user_id = $1").alone();
    SET_OF_USER = Sql::short(
        "INSERT INTO ~user_extras (user_id, extras) VALUES ($1, $2)
        ON CONFLICT (user_id) DO UPDATE SET extras = $2"
    ).alone();
    DELETE_OF_USER = Sql::short("DELETE FROM ~user_extras WHERE user_id = $1").alone();
    GET_OF_BOARD = Sql::short("SELECT extras FROM ~board_extras WHERE board_id = $1").alone();
    SET_OF_BOARD = Sql::short(
        "INSERT INTO ~board_extras (board_id, extras) VALUES ($1, $2)
        ON CONFLICT (board_id) DO UPDATE SET extras = $2"
    ).alone();
    DELETE_PICTURES = Sql::short("DELETE FROM ~board_picture WHERE board_id = $1").alone();
    DELETE_OF_BOARD = Sql::short("DELETE FROM ~board_extras WHERE board_id = $1").alone();
}

pub(crate) static INSERT_PICTURES: Insert = Insert {
    table: "board_picture",
    columns: &[("board_id", Column::Text), ("picture_id", Column::Text)],
    leaves_out_duplicates: false,
    lock: Lock::Alone,
};

impl<D: Database> Runner<D> {
    pub(crate) async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>> {
        let (sql, id) = match of {
            ExtrasOf::User(id) => (&GET_OF_USER, id),
            ExtrasOf::Board(id) => (&GET_OF_BOARD, id),
        };
        self.find(sql, vec![id.into()], |row| row.text(0)).await
    }

    /// No other transaction writes meanwhile, so the record stays.
    pub(crate) async fn set_extras(&mut self, of: &ExtrasOf, extras: Option<&str>) -> Result<bool> {
        let (has, set, delete, id) = match of {
            ExtrasOf::User(id) => (&HAS_USER, &SET_OF_USER, &DELETE_OF_USER, id),
            ExtrasOf::Board(id) => (&boards::EXISTS, &SET_OF_BOARD, &DELETE_OF_BOARD, id),
        };
        if !self.exists(has, vec![id.into()]).await? {
            return Ok(false);
        }
        match extras {
            Some(extras) => self.insert_row(set, vec![id.into(), extras.into()]).await?,
            None => self.execute(delete, vec![id.into()]).await?,
        };
        if let ExtrasOf::Board(id) = of {
            self.execute(&DELETE_PICTURES, vec![id.into()]).await?;
            let pictures = extras.map(pictures_in).unwrap_or_default();
            let rows = pictures
                .into_iter()
                .map(|picture| vec![id.into(), picture.into()]);
            self.insert(&INSERT_PICTURES, rows.collect()).await?;
        }
        Ok(true)
    }
}
