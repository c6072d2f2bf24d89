//! Statements on boards, what is on them and whom they are shared with.

use std::collections::{BTreeMap, BTreeSet};

use portico_storage::{
    Board, BoardItem, BoardSummary, NamedShare, NamedShares, PlacedItem, Result, Section, Share, Shares, Size,
};

use crate::database::{Database, Row};
use crate::groups::named;
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::Runner;
use crate::views::{may_change, may_view};

macro_rules! list {
    ($condition:expr) => {
        concat!(
            "SELECT board.id, board.name, board.slug, board.is_public, board.creator_id FROM ~board AS board",
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
        "INSERT INTO ~board (id, name, name_key, slug, is_public, creator_id) SELECT $1, $2, $3, $4, $5, $6
        WHERE NOT EXISTS (SELECT 1 FROM ~board AS other WHERE other.name_key = $3 OR other.slug = $4)"
    ).alone();
    /// No other transaction writes boards meanwhile, so name and slug stay free.
    UPDATE = Sql::short(
        "UPDATE ~board SET name = $2, name_key = $3, slug = $4, is_public = $5, creator_id = $6
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM ~board AS other
            WHERE (other.name_key = $3 OR other.slug = $4) AND other.id <> $1)"
    ).alone();
    DELETE_SECTIONS = Sql::short("DELETE FROM ~board_section WHERE board_id = $1").alone();
    DELETE_ITEMS = Sql::short("DELETE FROM ~board_item WHERE board_id = $1").alone();
    LIST = Sql::long(list!(" ORDER BY board.name_key, board.id"));
    LIST_VISIBLE = Sql::long(list!(concat!(
        " WHERE ", may_view!("board.id"), " ORDER BY board.name_key, board.id"
    )));
    LIST_VIEWED = Sql::long(concat!(
        "SELECT board.id FROM ~board AS board WHERE [among board.id $3] AND ", may_view!("board.id")
    ));
    LIST_CHANGEABLE = Sql::long(list!(concat!(
        " WHERE ", may_change!("board.id"), " ORDER BY board.name_key, board.id"
    )));
    GET = Sql::long(list!(" WHERE board.id = $1"));
    FIND = Sql::short("SELECT id FROM ~board WHERE slug = $1");
    LIST_SECTIONS = Sql::long(
        "SELECT name, collapsed FROM ~board_section WHERE board_id = $1 ORDER BY position"
    );
    LIST_ITEMS = Sql::long(
        "SELECT position, app_id, section, size, kind, content FROM ~board_item
        WHERE board_id = $1 ORDER BY position"
    );
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

pub(crate) static INSERT_SECTIONS: Insert = Insert {
    table: "board_section",
    columns: &[
        ("board_id", Column::Text),
        ("position", Column::Number),
        ("name", Column::Text),
        ("collapsed", Column::Bool),
    ],
    leaves_out_duplicates: false,
    lock: Lock::Alone,
};

/// The position counts through all sections, whose items follow each other.
pub(crate) static INSERT_ITEMS: Insert = Insert {
    table: "board_item",
    columns: &[
        ("board_id", Column::Text),
        ("position", Column::Number),
        ("section", Column::Number),
        ("size", Column::Text),
        ("kind", Column::Text),
        ("content", Column::Text),
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

/// The kinds of items that are not told by their apps.
const NOTE: &str = "note";
const CLOCK: &str = "clock";

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
            self.insert_content(new).await?;
        }
        Ok(created)
    }

    pub(crate) async fn update_board(&mut self, new: &Board, name_key: &str) -> Result<bool> {
        let updated = self.change(&UPDATE, board_values(&new.board, name_key)).await?;
        if updated {
            self.execute(&DELETE_ITEMS, vec![(&new.board.id).into()]).await?;
            self.execute(&DELETE_SECTIONS, vec![(&new.board.id).into()])
                .await?;
            self.insert_content(new).await?;
        }
        Ok(updated)
    }

    async fn insert_content(&mut self, board: &Board) -> Result<()> {
        let id: Value = (&board.board.id).into();
        let (mut sections, mut items, mut bookmarks) = (Vec::new(), Vec::new(), Vec::new());
        let mut positions = 0_i64..;
        for (number, section) in (0_i64..).zip(&board.sections) {
            sections.push(vec![
                id.clone(),
                number.into(),
                (&section.name).into(),
                section.collapsed.into(),
            ]);
            for (placed, position) in section.items.iter().zip(&mut positions) {
                let (kind, content, app) = match &placed.item {
                    BoardItem::App { app_id } => (None, None, Some(app_id.as_str())),
                    BoardItem::Bookmarks { app_ids } => {
                        for (place, app_id) in (0_i64..).zip(app_ids) {
                            bookmarks.push(vec![id.clone(), position.into(), place.into(), app_id.into()]);
                        }
                        (None, None, None)
                    }
                    BoardItem::Note { text } => (Some(NOTE), Some(text.as_str()), None),
                    BoardItem::Clock { time_zone } => (Some(CLOCK), time_zone.as_deref(), None),
                };
                items.push(vec![
                    id.clone(),
                    position.into(),
                    number.into(),
                    placed.size.name().into(),
                    kind.into(),
                    content.into(),
                    app.into(),
                ]);
            }
        }
        self.insert(&INSERT_SECTIONS, sections).await?;
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

    pub(crate) async fn list_viewed(
        &mut self,
        user_id: Option<&str>,
        board_ids: &[String],
    ) -> Result<BTreeSet<String>> {
        let ids = Value::Texts(board_ids.to_vec());
        let values = vec![user_id.into(), self.counts_permissions(), ids];
        let viewed = self.list(&LIST_VIEWED, values, |row| row.text(0)).await?;
        Ok(viewed.into_iter().collect())
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
        let add = |sections: &mut Vec<Section>, row: &dyn Row| {
            sections.push(Section {
                name: row.get_text(0)?,
                collapsed: row.bool(1)?,
                items: Vec::new(),
            });
            Ok(())
        };
        let sections = self.fold(&LIST_SECTIONS, vec![id.into()], Vec::new(), add);
        let mut sections = sections.await?;
        if sections.is_empty() {
            sections.push(Section::default());
        }
        let add = move |sections: &mut Vec<Section>, row: &dyn Row| {
            let item = match (row.get_text(1)?, row.get_text(4)?.as_deref()) {
                (Some(app_id), _) => BoardItem::App { app_id },
                (None, Some(NOTE)) => BoardItem::Note {
                    text: row.get_text(5)?.unwrap_or_default(),
                },
                (None, Some(CLOCK)) => BoardItem::Clock {
                    time_zone: row.get_text(5)?,
                },
                (None, _) => BoardItem::Bookmarks {
                    app_ids: bookmarks.remove(&row.number(0)?).unwrap_or_default(),
                },
            };
            let size = Size::of_name(&row.text(3)?).unwrap_or_else(|| item.default_size());
            let last = sections.len() - 1;
            let number = usize::try_from(row.number(2)?).map_or(last, |number| number.min(last));
            sections[number].items.push(PlacedItem { item, size });
            Ok(())
        };
        let sections = self.fold(&LIST_ITEMS, vec![id.into()], sections, add).await?;
        Ok(Some(Board { board, sections }))
    }

    pub(crate) async fn find_board(&mut self, slug: &str) -> Result<Option<String>> {
        self.find(&FIND, vec![slug.into()], |row| row.text(0)).await
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
        (&board.slug).into(),
        board.is_public.into(),
        (&board.creator_id).into(),
    ]
}

fn summary(row: &dyn Row) -> Result<BoardSummary> {
    Ok(BoardSummary {
        id: row.text(0)?,
        name: row.text(1)?,
        slug: row.get_text(2)?,
        is_public: row.bool(3)?,
        creator_id: row.get_text(4)?,
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
