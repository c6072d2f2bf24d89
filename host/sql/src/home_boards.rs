//! Statements on the boards that people see first who have chosen none. Those that they have chosen are with users.

use portico_model::HomeBoards;
use portico_storage::driver::MOST_DEFAULT_HOMES;
use portico_storage::{DefaultHome, Result};

use crate::database::{Database, Row};
use crate::groups;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;

/// The key of the row of everyone. No group has it as its id.
const EVERYONE: &str = "";

declare! {
    LIST = Sql::long(
        "SELECT home_board_id, mobile_home_board_id, group_id FROM ~home_board
        WHERE home_board_id IS NOT NULL OR mobile_home_board_id IS NOT NULL ORDER BY id"
    );
    GET = Sql::short("SELECT home_board_id, mobile_home_board_id FROM ~home_board WHERE id = $1");
    LIST_OF_GROUPS = Sql::long(
        "SELECT home.home_board_id, home.mobile_home_board_id
        FROM ~group_member AS member
            JOIN ~home_board AS home ON home.group_id = member.group_id
            JOIN ~user_group AS named ON named.id = member.group_id
        WHERE member.user_id = $1 AND (home.home_board_id IS NOT NULL OR home.mobile_home_board_id IS NOT NULL)
        ORDER BY named.name_key, named.id LIMIT $2"
    );
    SET = Sql::short(
        "INSERT INTO ~home_board (id, group_id, home_board_id, mobile_home_board_id) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET home_board_id = $3, mobile_home_board_id = $4"
    ).alone();
    DELETE = Sql::short("DELETE FROM ~home_board WHERE id = $1").alone();
}

impl<D: Database> Runner<D> {
    pub(crate) async fn list_default_homes(&mut self) -> Result<Vec<DefaultHome>> {
        self.list(&LIST, Vec::new(), |row| {
            Ok(DefaultHome {
                group_id: row.get_text(2)?,
                boards: boards(row)?,
            })
        })
        .await
    }

    pub(crate) async fn list_default_homes_of(&mut self, user_id: Option<&str>) -> Result<Vec<HomeBoards>> {
        let mut homes = match user_id {
            Some(id) => {
                let values = vec![id.into(), i64::from(MOST_DEFAULT_HOMES).into()];
                self.list(&LIST_OF_GROUPS, values, boards).await?
            }
            None => Vec::new(),
        };
        let everyone = self.find(&GET, vec![EVERYONE.into()], boards).await?;
        homes.extend(everyone.filter(|boards| *boards != HomeBoards::default()));
        Ok(homes)
    }

    pub(crate) async fn set_default_home(&mut self, home: &DefaultHome) -> Result<bool> {
        if let Some(id) = &home.group_id
            && !self.exists(&groups::EXISTS_ALONE, vec![id.into()]).await?
        {
            return Ok(false);
        }
        let key = home.group_id.as_deref().unwrap_or(EVERYONE);
        if home.boards == HomeBoards::default() {
            self.execute(&DELETE, vec![key.into()]).await?;
            return Ok(true);
        }
        let values = vec![
            key.into(),
            (&home.group_id).into(),
            (&home.boards.home_board_id).into(),
            (&home.boards.mobile_home_board_id).into(),
        ];
        self.insert_row(&SET, values).await?;
        Ok(true)
    }
}

fn boards(row: &dyn Row) -> Result<HomeBoards> {
    Ok(HomeBoards {
        home_board_id: row.get_text(0)?,
        mobile_home_board_id: row.get_text(1)?,
    })
}
