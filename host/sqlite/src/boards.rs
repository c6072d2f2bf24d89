//! Statements on boards, their items and whom they are shared with.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, Row, params};

use super::groups::named;
use super::query::{self, all, first, run};
use super::views::MAY_VIEW;
use portico_storage::{Board, BoardItem, BoardSummary, NamedShares, Shares};

pub(super) fn can_view(db: &Connection, user_id: &str, board_id: &str) -> Result<bool> {
    let may_view = &*MAY_VIEW;
    let sql = format!("SELECT 1 FROM board WHERE id = ?2 AND {may_view}");
    query::exists(db, &sql, [user_id, board_id])
}

pub(super) fn insert(db: &Connection, new: &Board, name_key: &str) -> Result<bool> {
    let sql = "
        INSERT INTO board (id, name, name_key, is_public, creator_id) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (name_key) DO NOTHING";
    let board = &new.board;
    if run(
        db,
        sql,
        params![board.id, board.name, name_key, board.is_public, board.creator_id],
    )? == 0
    {
        return Ok(false);
    }
    insert_items(db, new)?;
    Ok(true)
}

pub(super) fn update(db: &Connection, new: &Board, name_key: &str) -> Result<bool> {
    let sql = "
        UPDATE OR IGNORE board SET name = ?2, name_key = ?3, is_public = ?4, creator_id = ?5 WHERE id = ?1";
    let board = &new.board;
    let values = params![board.id, board.name, name_key, board.is_public, board.creator_id];
    if run(db, sql, values)? == 0 {
        return Ok(false);
    }
    run(db, "DELETE FROM board_item WHERE board_id = ?1", [&board.id])?;
    insert_items(db, new)?;
    Ok(true)
}

/// How many items and bookmarks a board has.
pub(super) fn records(board: &Board) -> usize {
    let records = |item: &BoardItem| match item {
        BoardItem::App { .. } => 1,
        BoardItem::Bookmarks { app_ids } => 1 + app_ids.len(),
    };
    board.items.iter().map(records).sum()
}

fn insert_items(db: &Connection, board: &Board) -> Result<()> {
    let mut items = board.items.iter().enumerate();
    items.try_for_each(|(position, item)| insert_item(db, &board.board.id, position, item))
}

fn insert_item(db: &Connection, board_id: &str, position: usize, item: &BoardItem) -> Result<()> {
    let (app_id, bookmarks) = match item {
        BoardItem::App { app_id } => (Some(app_id), &[][..]),
        BoardItem::Bookmarks { app_ids } => (None, &app_ids[..]),
    };
    let sql = "INSERT INTO board_item (board_id, position, app_id) VALUES (?1, ?2, ?3)";
    run(db, sql, params![board_id, position as i64, app_id])?;
    for (place, app_id) in bookmarks.iter().enumerate() {
        let sql = "
            INSERT INTO board_item_app (board_id, item_position, position, app_id) VALUES (?1, ?2, ?3, ?4)";
        run(db, sql, params![board_id, position as i64, place as i64, app_id])?;
    }
    Ok(())
}

pub(super) fn list(db: &Connection) -> Result<Vec<BoardSummary>> {
    let sql = "SELECT id, name, is_public, creator_id FROM board ORDER BY name_key, id";
    all(db, sql, [], summary)
}

/// The boards that this user may view; none: an anonymous caller.
pub(super) fn list_visible(db: &Connection, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
    let may_view = &*MAY_VIEW;
    let sql =
        format!("SELECT id, name, is_public, creator_id FROM board WHERE {may_view} ORDER BY name_key, id");
    all(db, &sql, [user_id], summary)
}

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<Board>> {
    let sql = "SELECT id, name, is_public, creator_id FROM board WHERE id = ?1";
    let Some(board) = first(db, sql, [id], summary)? else {
        return Ok(None);
    };

    let sql = "
        SELECT item_position, app_id FROM board_item_app WHERE board_id = ?1
        ORDER BY item_position, position";
    let mut bookmarks = BTreeMap::<i64, Vec<String>>::new();
    for (position, app_id) in all(db, sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))? {
        bookmarks.entry(position).or_default().push(app_id);
    }
    let sql = "SELECT position, app_id FROM board_item WHERE board_id = ?1 ORDER BY position";
    let items = all(db, sql, [id], |row| {
        Ok(match row.get(1)? {
            Some(app_id) => BoardItem::App { app_id },
            None => BoardItem::Bookmarks {
                app_ids: bookmarks.remove(&row.get(0)?).unwrap_or_default(),
            },
        })
    })?;
    Ok(Some(Board { board, items }))
}

pub(super) fn shares(db: &Connection, id: &str) -> Result<Option<Shares>> {
    if !exists(db, id)? {
        return Ok(None);
    }
    let users = "SELECT user_id FROM board_user WHERE board_id = ?1 ORDER BY user_id";
    let groups = "SELECT group_id FROM board_group WHERE board_id = ?1 ORDER BY group_id";
    Ok(Some(Shares {
        users: all(db, users, [id], |row| row.get(0))?,
        groups: all(db, groups, [id], |row| row.get(0))?,
    }))
}

pub(super) fn named_shares(db: &Connection, id: &str) -> Result<Option<NamedShares>> {
    if !exists(db, id)? {
        return Ok(None);
    }
    let users = "
        SELECT user_account.id, name FROM board_user JOIN user_account ON user_account.id = user_id
        WHERE board_id = ?1 ORDER BY name_key, user_account.id";
    let groups = "
        SELECT user_group.id, name FROM board_group JOIN user_group ON user_group.id = group_id
        WHERE board_id = ?1 ORDER BY name_key, user_group.id";
    Ok(Some(NamedShares {
        users: all(db, users, [id], named)?,
        groups: all(db, groups, [id], named)?,
    }))
}

pub(super) fn share(db: &Connection, id: &str, users: &[String], groups: &[String]) -> Result<bool> {
    if !exists(db, id)? {
        return Ok(false);
    }
    run(db, "DELETE FROM board_user WHERE board_id = ?1", [id])?;
    for user_id in users {
        let sql = "INSERT INTO board_user (board_id, user_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        run(db, sql, [id, user_id])?;
    }
    run(db, "DELETE FROM board_group WHERE board_id = ?1", [id])?;
    for group_id in groups {
        let sql = "INSERT INTO board_group (board_id, group_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        run(db, sql, [id, group_id])?;
    }
    Ok(true)
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM board WHERE id = ?1", [id])? > 0)
}

fn exists(db: &Connection, id: &str) -> Result<bool> {
    query::exists(db, "SELECT 1 FROM board WHERE id = ?1", [id])
}

fn summary(row: &Row<'_>) -> Result<BoardSummary> {
    Ok(BoardSummary {
        id: row.get(0)?,
        name: row.get(1)?,
        is_public: row.get(2)?,
        creator_id: row.get(3)?,
    })
}
