//! Statements on boards, their items and whom they are shared with.

use std::collections::BTreeMap;

use portico_storage::{Board, BoardItem, BoardSummary, NamedShare, NamedShares, Result, Share, Shares};

use crate::database::{Database, Row};
use crate::groups::named;
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::Runner;
use crate::views::{may_change, may_view};

macro_rules! list {
    ($condition:expr) => {
        concat!(
            "SELECT board.id, board.name, board.is_public, board.creator_id FROM ~board AS board",
            $condition
        )
    };
}

declare! {
    /// In a write transaction the board is locked, so that it stays.
    CAN_VIEW = Sql::long(concat!(
        "SELECT 1 FROM ~board AS board WHERE board.id = $3 AND ", may_view!("board.id"), " [hold for KEY SHARE OF board]"
    )).alongside();
    CAN_CHANGE = Sql::long(concat!(
        "SELECT 1 FROM ~board AS board WHERE board.id = $2 AND ", may_change!("board.id")
    ));
    INSERT = Sql::short(
        "INSERT INTO ~board (id, name, name_key, is_public, creator_id) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (name_key) DO NOTHING"
    ).alone();
    /// No other transaction writes boards meanwhile, so the name stays free.
    UPDATE = Sql::short(
        "UPDATE ~board SET name = $2, name_key = $3, is_public = $4, creator_id = $5
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM ~board AS other WHERE other.name_key = $3 AND other.id <> $1)"
    ).alone();
    DELETE_ITEMS = Sql::short("DELETE FROM ~board_item WHERE board_id = $1").alone();
    LIST = Sql::long(list!(" ORDER BY board.name_key, board.id"));
    LIST_VISIBLE = Sql::long(list!(concat!(
        " WHERE ", may_view!("board.id"), " ORDER BY board.name_key, board.id"
    )));
    LIST_CHANGEABLE = Sql::long(list!(concat!(
        " WHERE ", may_change!("board.id"), " ORDER BY board.name_key, board.id"
    )));
    GET = Sql::long(list!(" WHERE board.id = $1"));
    LIST_ITEMS = Sql::long("SELECT position, app_id FROM ~board_item WHERE board_id = $1 ORDER BY position");
    LIST_BOOKMARKS = Sql::long(
        "SELECT item_position, app_id FROM ~board_item_app WHERE board_id = $1
        ORDER BY item_position, position"
    );
    pub(crate) EXISTS = Sql::short("SELECT 1 FROM ~board WHERE id = $1").alone();
    LIST_USERS = Sql::long("SELECT user_id, may_change FROM ~board_user WHERE board_id = $1 ORDER BY user_id");
    LIST_GROUPS = Sql::long(
        "SELECT group_id, may_change FROM ~board_group WHERE board_id = $1 ORDER BY group_id"
    );
    LIST_NAMED_USERS = Sql::long(
        "SELECT account.id, account.name, shared.may_change
        FROM ~board_user AS shared JOIN ~user_account AS account ON account.id = shared.user_id
        WHERE shared.board_id = $1 ORDER BY account.name_key, account.id"
    );
    LIST_NAMED_GROUPS = Sql::long(
        "SELECT named.id, named.name, shared.may_change
        FROM ~board_group AS shared JOIN ~user_group AS named ON named.id = shared.group_id
        WHERE shared.board_id = $1 ORDER BY named.name_key, named.id"
    );
    DELETE_USERS = Sql::unbounded("DELETE FROM ~board_user WHERE board_id = $1");
    DELETE_GROUPS = Sql::unbounded("DELETE FROM ~board_group WHERE board_id = $1");
    DELETE = Sql::unbounded("DELETE FROM ~board WHERE id = $1");
}

pub(crate) static INSERT_ITEMS: Insert = Insert {
    table: "board_item",
    columns: &[
        ("board_id", Column::Text),
        ("position", Column::Number),
        ("app_id", Column::Text),
    ],
    leaves_out_duplicates: false,
    lock: Lock::Alone,
};

pub(crate) static INSERT_BOOKMARKS: Insert = Insert {
    table: "board_item_app",
    columns: &[
        ("board_id", Column::Text),
        ("item_position", Column::Number),
        ("position", Column::Number),
        ("app_id", Column::Text),
    ],
    leaves_out_duplicates: false,
    lock: Lock::Alone,
};

pub(crate) static SHARE_WITH_USERS: Insert = Insert {
    table: "board_user",
    columns: &[
        ("board_id", Column::Text),
        ("user_id", Column::Text),
        ("may_change", Column::Bool),
    ],
    leaves_out_duplicates: true,
    lock: Lock::Alone,
};

pub(crate) static SHARE_WITH_GROUPS: Insert = Insert {
    table: "board_group",
    columns: &[
        ("board_id", Column::Text),
        ("group_id", Column::Text),
        ("may_change", Column::Bool),
    ],
    leaves_out_duplicates: true,
    lock: Lock::Alone,
};

impl<D: Database> Runner<D> {
    pub(crate) async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        let values = vec![user_id.into(), self.counts_permissions(), board_id.into()];
        self.exists(&CAN_VIEW, values).await
    }

    pub(crate) async fn can_change_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.exists(&CAN_CHANGE, vec![user_id.into(), board_id.into()])
            .await
    }

    pub(crate) async fn insert_board(&mut self, new: &Board, name_key: &str) -> Result<bool> {
        let created = self
            .create(&new.board.id, &INSERT, board_values(&new.board, name_key))
            .await?;
        if created {
            self.insert_items(new).await?;
        }
        Ok(created)
    }

    pub(crate) async fn update_board(&mut self, new: &Board, name_key: &str) -> Result<bool> {
        let updated = self.change(&UPDATE, board_values(&new.board, name_key)).await?;
        if updated {
            self.execute(&DELETE_ITEMS, vec![(&new.board.id).into()]).await?;
            self.insert_items(new).await?;
        }
        Ok(updated)
    }

    async fn insert_items(&mut self, board: &Board) -> Result<()> {
        let id: Value = (&board.board.id).into();
        let (mut items, mut bookmarks) = (Vec::new(), Vec::new());
        for (position, item) in (0_i64..).zip(&board.items) {
            let app = match item {
                BoardItem::App { app_id } => Some(app_id.as_str()),
                BoardItem::Bookmarks { app_ids } => {
                    for (place, app_id) in (0_i64..).zip(app_ids) {
                        bookmarks.push(vec![id.clone(), position.into(), place.into(), app_id.into()]);
                    }
                    None
                }
            };
            items.push(vec![id.clone(), position.into(), app.into()]);
        }
        self.insert(&INSERT_ITEMS, items).await?;
        self.insert(&INSERT_BOOKMARKS, bookmarks).await
    }

    pub(crate) async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        self.list(&LIST, Vec::new(), summary).await
    }

    pub(crate) async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
        let values = vec![user_id.into(), self.counts_permissions()];
        self.list(&LIST_VISIBLE, values, summary).await
    }

    pub(crate) async fn list_changeable_boards(&mut self, user_id: &str) -> Result<Vec<BoardSummary>> {
        self.list(&LIST_CHANGEABLE, vec![user_id.into()], summary).await
    }

    pub(crate) async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        let Some(board) = self.find(&GET, vec![id.into()], summary).await? else {
            return Ok(None);
        };
        let add = |items: &mut BTreeMap<i64, Vec<String>>, row: &dyn Row| {
            items.entry(row.number(0)?).or_default().push(row.text(1)?);
            Ok(())
        };
        let mut bookmarks = self
            .fold(&LIST_BOOKMARKS, vec![id.into()], BTreeMap::new(), add)
            .await?;
        let add = move |items: &mut Vec<BoardItem>, row: &dyn Row| {
            items.push(match row.get_text(1)? {
                Some(app_id) => BoardItem::App { app_id },
                None => BoardItem::Bookmarks {
                    app_ids: bookmarks.remove(&row.number(0)?).unwrap_or_default(),
                },
            });
            Ok(())
        };
        let items = self.fold(&LIST_ITEMS, vec![id.into()], Vec::new(), add).await?;
        Ok(Some(Board { board, items }))
    }

    pub(crate) async fn get_shares(&mut self, id: &str) -> Result<Option<Shares>> {
        if !self.exists(&EXISTS, vec![id.into()]).await? {
            return Ok(None);
        }
        Ok(Some(Shares {
            users: self.list(&LIST_USERS, vec![id.into()], share).await?,
            groups: self.list(&LIST_GROUPS, vec![id.into()], share).await?,
        }))
    }

    pub(crate) async fn get_named_shares(&mut self, id: &str) -> Result<Option<NamedShares>> {
        if !self.exists(&EXISTS, vec![id.into()]).await? {
            return Ok(None);
        }
        Ok(Some(NamedShares {
            users: self.list(&LIST_NAMED_USERS, vec![id.into()], named_share).await?,
            groups: self
                .list(&LIST_NAMED_GROUPS, vec![id.into()], named_share)
                .await?,
        }))
    }

    pub(crate) async fn share_board(&mut self, id: &str, shares: &Shares) -> Result<bool> {
        if !self.exists(&EXISTS, vec![id.into()]).await? {
            return Ok(false);
        }
        let row =
            |share: &Share| -> Vec<Value> { vec![id.into(), (&share.id).into(), share.may_change.into()] };
        self.execute(&DELETE_USERS, vec![id.into()]).await?;
        self.insert(&SHARE_WITH_USERS, shares.users.iter().map(row).collect())
            .await?;
        self.execute(&DELETE_GROUPS, vec![id.into()]).await?;
        self.insert(&SHARE_WITH_GROUPS, shares.groups.iter().map(row).collect())
            .await?;
        Ok(true)
    }

    pub(crate) async fn delete_board(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

fn board_values(board: &BoardSummary, name_key: &str) -> Vec<Value> {
    vec![
        (&board.id).into(),
        (&board.name).into(),
        name_key.into(),
        board.is_public.into(),
        (&board.creator_id).into(),
    ]
}

fn summary(row: &dyn Row) -> Result<BoardSummary> {
    Ok(BoardSummary {
        id: row.text(0)?,
        name: row.text(1)?,
        is_public: row.bool(2)?,
        creator_id: row.get_text(3)?,
    })
}

fn share(row: &dyn Row) -> Result<Share> {
    Ok(Share {
        id: row.text(0)?,
        may_change: row.bool(1)?,
    })
}

fn named_share(row: &dyn Row) -> Result<NamedShare> {
    Ok(NamedShare {
        named: named(row, 0)?,
        may_change: row.bool(2)?,
    })
}
