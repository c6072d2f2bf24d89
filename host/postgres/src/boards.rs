//! Statements on boards, their items and whom they are shared with.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::connection::Connection;
use super::groups::{named, text};
use super::query::{Result, Value, all, first, fold, run};
use super::values::unexpected;
use super::views::MAY_VIEW;
use portico_storage::{Board, BoardItem, BoardSummary, NamedShares, Shares};

/// In a write transaction the board is locked, so that it stays.
pub(super) async fn can_view(db: &Connection, user_id: &str, board_id: &str, locked: bool) -> Result<bool> {
    let may_view = &*MAY_VIEW;
    let locked = if locked { " FOR KEY SHARE" } else { "" };
    let sql = format!("SELECT 1 FROM board WHERE id = $2 AND {may_view}{locked}");
    Ok(first(db, &sql, &[&user_id, &board_id], |_| Ok(()))
        .await?
        .is_some())
}

pub(super) async fn insert(db: &Connection, new: &Board, name_key: &str) -> Result<bool> {
    let sql = "
        INSERT INTO board (id, name, name_key, is_public, creator_id) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (name_key) DO NOTHING";
    let board = &new.board;
    let values: [Value<'_>; 5] = [
        &board.id,
        &board.name,
        &name_key,
        &board.is_public,
        &board.creator_id,
    ];
    if run(db, sql, &values).await? == 0 {
        return Ok(false);
    }
    insert_items(db, new).await?;
    Ok(true)
}

/// No other transaction writes boards meanwhile, so the name stays free.
pub(super) async fn update(db: &Connection, new: &Board, name_key: &str) -> Result<bool> {
    let sql = "
        UPDATE board SET name = $2, name_key = $3, is_public = $4, creator_id = $5
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM board WHERE name_key = $3 AND id <> $1)";
    let board = &new.board;
    let values: [Value<'_>; 5] = [
        &board.id,
        &board.name,
        &name_key,
        &board.is_public,
        &board.creator_id,
    ];
    if run(db, sql, &values).await? == 0 {
        return Ok(false);
    }
    run(db, "DELETE FROM board_item WHERE board_id = $1", &[&board.id]).await?;
    insert_items(db, new).await?;
    Ok(true)
}

/// Two statements for any number of items.
async fn insert_items(db: &Connection, board: &Board) -> Result<()> {
    let place = |index: usize| i64::try_from(index).map_err(|_| unexpected("a position"));
    let (mut positions, mut app_ids) = (Vec::new(), Vec::new());
    let (mut item_positions, mut places, mut bookmarks) = (Vec::new(), Vec::new(), Vec::new());
    for (index, item) in board.items.iter().enumerate() {
        positions.push(place(index)?);
        match item {
            BoardItem::App { app_id } => app_ids.push(Some(app_id)),
            BoardItem::Bookmarks { app_ids: listed } => {
                app_ids.push(None);
                for (position, app_id) in listed.iter().enumerate() {
                    item_positions.push(place(index)?);
                    places.push(place(position)?);
                    bookmarks.push(app_id);
                }
            }
        }
    }
    let id = &board.board.id;
    let sql = "
        INSERT INTO board_item (board_id, position, app_id)
        SELECT $1, item.* FROM unnest($2::bigint[], $3::text[]) AS item";
    run(db, sql, &[id, &positions, &app_ids]).await?;
    let sql = "
        INSERT INTO board_item_app (board_id, item_position, position, app_id)
        SELECT $1, item.* FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS item";
    run(db, sql, &[id, &item_positions, &places, &bookmarks])
        .await
        .map(drop)
}

pub(super) async fn list(db: &Connection) -> Result<Vec<BoardSummary>> {
    let sql = "SELECT id, name, is_public, creator_id FROM board ORDER BY name_key, id";
    all(db, sql, &[], summary).await
}

/// The boards that this user may view; none: an anonymous caller.
pub(super) async fn list_visible(db: &Connection, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
    let may_view = &*MAY_VIEW;
    let sql =
        format!("SELECT id, name, is_public, creator_id FROM board WHERE {may_view} ORDER BY name_key, id");
    all(db, &sql, &[&user_id], summary).await
}

pub(super) async fn get(db: &Connection, id: &str) -> Result<Option<Board>> {
    let sql = "SELECT id, name, is_public, creator_id FROM board WHERE id = $1";
    let Some(board) = first(db, sql, &[&id], summary).await? else {
        return Ok(None);
    };

    let sql = "
        SELECT item_position, app_id FROM board_item_app WHERE board_id = $1
        ORDER BY item_position, position";
    let mut bookmarks = fold(
        db,
        sql,
        &[&id],
        BTreeMap::new(),
        |items: &mut BTreeMap<i64, Vec<_>>, row| {
            items.entry(row.try_get(0)?).or_default().push(row.try_get(1)?);
            Ok(())
        },
    )
    .await?;
    let sql = "SELECT position, app_id FROM board_item WHERE board_id = $1 ORDER BY position";
    let items = all(db, sql, &[&id], move |row| {
        Ok(match row.try_get(1)? {
            Some(app_id) => BoardItem::App { app_id },
            None => BoardItem::Bookmarks {
                app_ids: bookmarks.remove(&row.try_get(0)?).unwrap_or_default(),
            },
        })
    })
    .await?;
    Ok(Some(Board { board, items }))
}

pub(super) async fn shares(db: &Connection, id: &str) -> Result<Option<Shares>> {
    if !exists(db, id).await? {
        return Ok(None);
    }
    let users = "SELECT user_id FROM board_user WHERE board_id = $1 ORDER BY user_id";
    let groups = "SELECT group_id FROM board_group WHERE board_id = $1 ORDER BY group_id";
    Ok(Some(Shares {
        users: all(db, users, &[&id], text).await?,
        groups: all(db, groups, &[&id], text).await?,
    }))
}

pub(super) async fn named_shares(db: &Connection, id: &str) -> Result<Option<NamedShares>> {
    if !exists(db, id).await? {
        return Ok(None);
    }
    let users = "
        SELECT user_account.id, name FROM board_user JOIN user_account ON user_account.id = user_id
        WHERE board_id = $1 ORDER BY name_key, user_account.id";
    let groups = "
        SELECT user_group.id, name FROM board_group JOIN user_group ON user_group.id = group_id
        WHERE board_id = $1 ORDER BY name_key, user_group.id";
    Ok(Some(NamedShares {
        users: all(db, users, &[&id], |row| named(row, 0)).await?,
        groups: all(db, groups, &[&id], |row| named(row, 0)).await?,
    }))
}

pub(super) async fn share(db: &Connection, id: &str, users: &[String], groups: &[String]) -> Result<bool> {
    if !exists(db, id).await? {
        return Ok(false);
    }
    run(db, "DELETE FROM board_user WHERE board_id = $1", &[&id]).await?;
    let sql = "
        INSERT INTO board_user (board_id, user_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING";
    run(db, sql, &[&id, &users]).await?;
    run(db, "DELETE FROM board_group WHERE board_id = $1", &[&id]).await?;
    let sql = "
        INSERT INTO board_group (board_id, group_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING";
    run(db, sql, &[&id, &groups]).await?;
    Ok(true)
}

pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM board WHERE id = $1", &[&id]).await? > 0)
}

async fn exists(db: &Connection, id: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM board WHERE id = $1";
    Ok(first(db, sql, &[&id], |_| Ok(())).await?.is_some())
}

fn summary(row: &Row) -> Result<BoardSummary> {
    Ok(BoardSummary {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        is_public: row.try_get(2)?,
        creator_id: row.try_get(3)?,
    })
}
