//! Statements on who sees which app, and why. Each list is the beginning of one, and its rows have the number of all.

use std::collections::BTreeMap;

use portico_storage::{AppBoard, AppBoards, First, FirstShares, Named, Result, SeenThrough, WhyViewed};

use crate::database::{Database, Row};
use crate::groups::named;
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::views::may_view;

/// The first with whom each board is shared: of `$table`, joined with `$names` by `$column`.
macro_rules! first_shares {
    ($table:literal, $names:literal, $column:literal) => {
        concat!(
            "SELECT ranked.board_id, ranked.id, ranked.name, ranked.total FROM (
                SELECT shared.board_id, named.id, named.name,
                    row_number() OVER (PARTITION BY shared.board_id ORDER BY named.name_key, named.id) AS place,
                    count(*) OVER (PARTITION BY shared.board_id) AS total
                FROM ~",
            $table,
            " AS shared JOIN ~",
            $names,
            " AS named ON named.id = shared.",
            $column,
            " WHERE [among shared.board_id $1]) AS ranked
            WHERE ranked.place <= $2 ORDER BY ranked.board_id, ranked.place"
        )
    };
}

declare! {
    LIST_BOARDS = Sql::long(
        "SELECT board.id, board.name, board.is_public, creator.id, creator.name, count(*) OVER (),
            count(CASE WHEN board.is_public THEN 1 END) OVER ()
        FROM ~board AS board LEFT JOIN ~user_account AS creator ON creator.id = board.creator_id
        WHERE board.id IN (SELECT item.board_id FROM ~board_item AS item WHERE item.app_id = $1
            UNION SELECT item.board_id FROM ~board_item_app AS item WHERE item.app_id = $1)
        ORDER BY board.name_key, board.id LIMIT $2"
    );
    LIST_USERS = Sql::long(first_shares!("board_user", "user_account", "user_id"));
    LIST_GROUPS = Sql::long(first_shares!("board_group", "user_group", "group_id"));
    /// `$3`: the apps. Why a board may be viewed is looked up only for the boards that are returned.
    LIST_REASONS = Sql::long(concat!(
        "SELECT ranked.app_id, ranked.id, ranked.name, ranked.total, ranked.creator_id,
            EXISTS (SELECT 1 FROM ~board_user AS shared WHERE shared.board_id = ranked.id AND shared.user_id = $1),
            through.id, through.name
        FROM (
            SELECT placed.app_id, board.id, board.name, board.creator_id,
                row_number() OVER (PARTITION BY placed.app_id ORDER BY board.name_key, board.id) AS place,
                count(*) OVER (PARTITION BY placed.app_id) AS total
            FROM (SELECT item.app_id, item.board_id FROM ~board_item AS item WHERE [among item.app_id $3]
                UNION SELECT item.app_id, item.board_id FROM ~board_item_app AS item WHERE [among item.app_id $3]) AS placed
                JOIN ~board AS board ON board.id = placed.board_id
            WHERE ", may_view!("board.id"), ") AS ranked
        LEFT JOIN ~user_group AS through ON through.id = (
            SELECT shared.group_id FROM ~board_group AS shared
                JOIN ~group_member AS member ON member.group_id = shared.group_id
                JOIN ~user_group AS named ON named.id = shared.group_id
            WHERE shared.board_id = ranked.id AND member.user_id = $1 ORDER BY named.name_key, named.id LIMIT 1)
        WHERE ranked.place <= $4 ORDER BY ranked.app_id, ranked.place"
    ));
    LIST_GROUPS_WITH = Sql::long(
        "SELECT named.id, named.name, count(*) OVER () FROM ~user_group AS named
        WHERE EXISTS (SELECT 1 FROM ~group_permission AS held
            WHERE held.group_id = named.id AND [among held.permission $1])
        ORDER BY named.name_key, named.id LIMIT $2"
    );
}

impl<D: Database> Runner<D> {
    pub(crate) async fn list_boards_with(&mut self, app_id: &str, most: u32) -> Result<AppBoards> {
        let add = |found: &mut AppBoards, row: &dyn Row| {
            found.boards.items.push(AppBoard {
                id: row.text(0)?,
                name: row.text(1)?,
                is_public: row.bool(2)?,
                creator: get_named(row, 3)?,
            });
            found.boards.count = row.number(5)?.unsigned_abs();
            found.public_count = row.number(6)?.unsigned_abs();
            Ok(())
        };
        let values = vec![app_id.into(), most.into()];
        self.fold(&LIST_BOARDS, values, AppBoards::default(), add).await
    }

    pub(crate) async fn list_first_shares(
        &mut self,
        board_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, FirstShares>> {
        let values = || vec![Value::Texts(board_ids.to_vec()), most.into()];
        let add_user = |found: &mut BTreeMap<String, FirstShares>, row: &dyn Row| {
            add(
                &mut found.entry(row.text(0)?).or_default().users,
                named(row, 1)?,
                row,
            )
        };
        let add_group = |found: &mut BTreeMap<String, FirstShares>, row: &dyn Row| {
            add(
                &mut found.entry(row.text(0)?).or_default().groups,
                named(row, 1)?,
                row,
            )
        };
        let found = self
            .fold(&LIST_USERS, values(), BTreeMap::new(), add_user)
            .await?;
        self.fold(&LIST_GROUPS, values(), found, add_group).await
    }

    pub(crate) async fn list_seen_through(
        &mut self,
        user_id: &str,
        app_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, First<SeenThrough>>> {
        let user = user_id.to_owned();
        let add_board = move |found: &mut BTreeMap<String, First<SeenThrough>>, row: &dyn Row| {
            let why = if row.get_text(4)?.as_ref() == Some(&user) {
                WhyViewed::Creator
            } else if row.bool(5)? {
                WhyViewed::User
            } else {
                get_named(row, 6)?.map_or(WhyViewed::Public, WhyViewed::Group)
            };
            let through = SeenThrough {
                board: named(row, 1)?,
                why,
            };
            add(found.entry(row.text(0)?).or_default(), through, row)
        };
        let values = vec![
            user_id.into(),
            self.counts_permissions(),
            Value::Texts(app_ids.to_vec()),
            most.into(),
        ];
        self.fold(&LIST_REASONS, values, BTreeMap::new(), add_board).await
    }

    pub(crate) async fn list_groups_with(
        &mut self,
        permissions: &[String],
        most: u32,
    ) -> Result<First<Named>> {
        let add = |found: &mut First<Named>, row: &dyn Row| {
            found.items.push(named(row, 0)?);
            found.count = row.number(2)?.unsigned_abs();
            Ok(())
        };
        let values = vec![Value::Texts(permissions.to_vec()), most.into()];
        self.fold(&LIST_GROUPS_WITH, values, First::default(), add).await
    }
}

/// Adds an item whose row has the number of all in its fourth column.
fn add<T>(first: &mut First<T>, item: T, row: &dyn Row) -> Result<()> {
    first.items.push(item);
    first.count = row.number(3)?.unsigned_abs();
    Ok(())
}

/// What has its id in this column and its name in the next, if it is there.
fn get_named(row: &dyn Row, at: usize) -> Result<Option<Named>> {
    match row.get_text(at)? {
        Some(id) => Ok(Some(Named {
            id,
            name: row.text(at + 1)?,
        })),
        None => Ok(None),
    }
}
